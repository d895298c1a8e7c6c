package history

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/relay"
	"github.com/mergexo/mergexo/internal/git/syntax"
)

// depth is a shallow checkout's initial history, in commits.
const depth = 50

// DeepenBy is by how many commits deepen deepens a shallow history, step by step, before it fetches everything.
var deepenBy = []int{200, 2000}

// command starts every fetch: it only fetches what it is asked for.
var command = []string{"fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance", "--no-recurse-submodules"}

// Order is what one fetch is to get: refs or commits (from) into refs of our own directory (to), or objects by their ids.
type Order struct {
	Wants    [][2]string
	IDs      []string
	Options  []string
	Settings []string // of git: -c NAME=value
}

// Do makes the fetch, and takes over where the history ends then. *ErrNoRef names what the server does not have.
func (o Order) Do(ctx context.Context, c *git.Checkout) error {
	named, err := o.send(ctx, c)
	return errors.Join(missing(c, err, named), git.TakeShallow(c))
}

// send is the network operation. The error is git's own.
func (o Order) send(ctx context.Context, c *git.Checkout) (named []string, err error) {
	args, named, stdin := slices.Concat(o.Settings, command, o.Options), o.IDs, []byte(nil)
	if len(o.IDs) > 0 { // there may be very many
		args, stdin = append(args, "--stdin"), git.Rows(o.IDs)
	}
	args = append(args, "origin")
	for _, want := range o.Wants {
		args, named = append(args, "+"+want[0]+":"+want[1]), append(named, want[0])
	}
	_, err = c.Network(ctx, relay.Fetching, stdin, args...)
	return named, err
}

// Fetch fetches refs or commits (from) into refs of our own directory (to), in one network operation.
func Fetch(ctx context.Context, c *git.Checkout, options []string, wants ...[2]string) error {
	if err := (Order{Wants: wants, Options: options}).Do(ctx, c); err != nil {
		return err
	}
	return readFetched(ctx, c, wants)
}

// readFetched records the commits that were fetched.
func readFetched(ctx context.Context, c *git.Checkout, wants [][2]string) error {
	refs, tips := make([]string, len(wants)), make([]string, len(wants))
	for i, want := range wants {
		if refs[i] = want[1]; strings.HasPrefix(want[0], "refs/heads/") { // nothing but a commit
			text, _ := os.ReadFile(filepath.Join(c.OwnDir, want[1])) // where git has written one
			tips[i] = syntax.Line(text)
		}
	}
	var err error
	if slices.Contains(tips, "") {
		tips, err = c.Peel(ctx, refs...)
	}
	if err != nil {
		return fmt.Errorf("read what was fetched: %w", err)
	}
	for i, want := range wants {
		if !syntax.IsSHA(tips[i]) { // git says best why
			_, err := c.Ask(ctx, "rev-parse", "--verify", want[1]+"^{commit}")
			return fmt.Errorf("read what was fetched of %s: %w", want[0], cmp.Or(err, errors.New("it leads to no commit")))
		}
		c.Refs[want[1]] = tips[i]
	}
	return nil
}

var missingRef = regexp.MustCompile(`(?:couldn't find remote ref|not our ref|unadvertised object|no such remote ref) (.+)`)

// missing turns git's message about a missing remote ref into ErrNoRef with the requested name: the message has been
// escaped for terminals, by git and by us.
func missing(c *git.Checkout, err error, named []string) error {
	if m := missingRef.FindStringSubmatch(git.StderrOf(err)); m != nil {
		for _, name := range named {
			if strings.TrimSpace(m[1]) == strings.TrimSpace(syntax.Clean(git.Redact(c, name))) {
				return &git.ErrNoRef{Ref: name}
			}
		}
	}
	return err
}

// Bounded is the option that keeps a fetch from getting all history: none if the checkout is complete, else at least the
// current depth, since --depth also shortens.
func Bounded(ctx context.Context, c *git.Checkout, add int) []string {
	if len(c.Boundary) == 0 && len(c.Refs) > 0 {
		return nil
	}
	n := depth
	for _, tip := range slices.Compact(slices.Sorted(maps.Values(c.Refs))) {
		if out, err := c.Ask(ctx, "rev-list", "--count", "--first-parent", tip); err == nil {
			if count, err := strconv.Atoi(syntax.Line(out)); err == nil {
				n = max(n, count+depth/5)
			}
		}
	}
	return []string{"--depth=" + strconv.Itoa(n+add)}
}

// FetchBranches fetches the head of branch and, if the server has it, the tip of base; normally one network operation. It
// returns the head.
func FetchBranches(ctx context.Context, c *git.Checkout, branch, base string) (string, error) {
	wants := [][2]string{{"refs/heads/" + branch, git.FetchedHead}}
	if base != "" && base != branch {
		wants = append(wants, [2]string{"refs/heads/" + base, git.FetchedBase})
	}
	limit := Bounded(ctx, c, 0)
	err := Fetch(ctx, c, limit, wants...)
	var none *git.ErrNoRef
	if len(wants) == 2 && errors.As(err, &none) && none.Ref == wants[1][0] {
		delete(c.Refs, git.FetchedBase)
		err = Fetch(ctx, c, limit, wants[0])
	}
	if err != nil {
		return "", fmt.Errorf("fetch %s: %w", branch, err)
	}
	return c.Refs[git.FetchedHead], nil
}

// FetchRef fetches a ref with as much history as the checkout has. ErrNoRef if the server does not have it. One network
// operation.
func FetchRef(ctx context.Context, c *git.Checkout, ref string) (sha string, err error) {
	if !syntax.ValidRef(ref) {
		return "", fmt.Errorf("fetch %q: not a full ref name", ref)
	}
	sum := sha256.Sum256([]byte(ref))
	to := "refs/fetched/ref-" + hex.EncodeToString(sum[:8])
	if err := Fetch(ctx, c, Bounded(ctx, c, 0), [2]string{ref, to}); err != nil {
		return "", fmt.Errorf("fetch %s: %w", ref, err)
	}
	return c.Refs[to], nil
}

// RemoteRefs reads the server's refs by full name; a missing one is missing in the result. Without names it reads all. One
// network operation.
func RemoteRefs(ctx context.Context, c *git.Checkout, refs ...string) (map[string]string, error) {
	for _, ref := range refs {
		if !syntax.ValidRef(ref) {
			return nil, fmt.Errorf("read remote ref %q: not a full ref name", ref)
		}
	}
	args := []string{"ls-remote", "--quiet", "--refs", "origin"}
	if len(refs) < 100 { // the server sends all either way, and git compares each with each
		args = append(args, refs...)
	}
	out, err := c.Network(ctx, relay.Listing, nil, args...)
	if err != nil {
		return nil, fmt.Errorf("read remote refs: %w", err)
	}
	asked, found := map[string]bool{}, map[string]string{}
	for _, ref := range refs {
		asked[ref] = true
	}
	for row := range bytes.Lines(out) {
		sha, ref, ok := bytes.Cut(bytes.TrimSuffix(row, []byte("\n")), []byte("\t"))
		// ls-remote matches the end of a name; only the full name was asked for.
		if ok && (len(refs) == 0 || asked[string(ref)]) {
			found[string(ref)] = string(sha)
		}
	}
	return found, nil
}

// deepen fetches step by step until the question is settled, or nothing is missing.
func deepen(ctx context.Context, c *git.Checkout, shas []string, settled func() (bool, error)) error {
	_, err := DeepenUntil(ctx, c, func() ([]string, error) {
		if done, err := settled(); err != nil || done {
			return nil, err
		}
		return wanted(ctx, c, shas)
	}, func(step, ids []string) error {
		if len(c.Boundary) == 0 {
			step = nil
		}
		return git.Wrap(Fetch(ctx, c, step, ByID(ids...)...), "deepen history")
	})
	return err
}

// DeepenUntil has get fetch more and more of the history of what open names, until that is nothing, or all history is here. left is what
// is open then.
func DeepenUntil(ctx context.Context, c *git.Checkout, open func() ([]string, error), get func(options, shas []string) error) (left []string, err error) {
	steps := make([][]string, 0, len(deepenBy)+1)
	for _, add := range deepenBy {
		steps = append(steps, Bounded(ctx, c, add))
	}
	for _, step := range append(steps, []string{"--unshallow"}) {
		shas, err := open()
		if err != nil || len(shas) == 0 {
			return nil, err
		}
		if err := get(step, shas); err != nil {
			return nil, err
		}
	}
	return open()
}

// wanted is what to ask the server for to deepen the commits' history: missing commits, those that came from the server,
// and for local ones the head and the base that came from there.
func wanted(ctx context.Context, c *git.Checkout, shas []string) ([]string, error) {
	var ask []string
	for _, sha := range shas {
		here, err := c.Present(ctx, sha)
		if err != nil {
			return nil, err
		}
		switch {
		case here && len(c.Boundary) == 0: // with all its history
		case !here || fetched(ctx, c, sha):
			ask = append(ask, sha)
		case c.Refs[git.FetchedHead] == "": // no Restore, so no agent ran: the workspace came with it
			ask = append(ask, sha)
		default:
			ask = append(ask, c.Refs[git.FetchedHead])
			if base := c.Refs[git.FetchedBase]; base != "" {
				ask = append(ask, base)
			}
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(ask))), nil
}

// ByID lists commits for Fetch, each with the ref to fetch it into.
func ByID(shas ...string) (wants [][2]string) {
	for _, sha := range shas {
		wants = append(wants, [2]string{sha, "refs/fetched/sha-" + sha})
	}
	return wants
}

// fetched reports whether a commit is part of what a fetch got.
func fetched(ctx context.Context, c *git.Checkout, sha string) bool {
	for _, ref := range slices.Sorted(maps.Keys(c.Refs)) {
		if !strings.HasPrefix(ref, "refs/fetched/") {
			continue
		}
		if _, err := c.Ask(ctx, "merge-base", "--is-ancestor", sha, c.Refs[ref]); err == nil {
			return true
		}
	}
	return false
}

// FetchCommits fetches missing commits by ID, with as much history as the checkout has of others. *ErrNoRef names one that the
// server does not serve. One network operation, none if all are here.
func FetchCommits(ctx context.Context, c *git.Checkout, shas ...string) error {
	for _, sha := range shas {
		if !syntax.IsSHA(sha) {
			return fmt.Errorf("fetch commit %q: not a commit id", sha)
		}
	}
	found, err := c.Peel(ctx, shas...)
	if err != nil {
		return err
	}
	wants := ByID(slices.DeleteFunc(slices.Clone(shas), func(sha string) bool { return slices.Contains(found, sha) })...)
	if len(wants) == 0 {
		return nil
	}
	err = Fetch(ctx, c, append(Bounded(ctx, c, 0), Filtered(c)...), wants...)
	if none := (*git.ErrNoRef)(nil); errors.As(err, &none) {
		return none
	}
	return git.Wrap(err, "fetch commits")
}
