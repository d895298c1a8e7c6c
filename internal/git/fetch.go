package git

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/mergexo/mergexo/internal/model"
)

// depth is how many commits of history a shallow checkout gets at first; deepenBy is what Deepen adds, step by step,
// before it asks for everything.
const depth = 50

var deepenBy = []int{200, 2000}

// Refs of our own directory: what a fetch got. They are flat, so that branch names never stand in each other's way.
const (
	fetchedHead = "refs/fetched/head"
	fetchedBase = "refs/fetched/base"
	haveHead    = "refs/have/head"
)

// fetch gets refs or commits (from) into refs of our own directory (to), in one network operation.
func (c *Checkout) fetch(ctx context.Context, options []string, wants ...[2]string) error {
	args := []string{"fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance", "--no-recurse-submodules"}
	args = append(args, options...)
	args = append(args, "origin")
	for _, want := range wants {
		args = append(args, "+"+want[0]+":"+want[1])
	}
	_, err := c.network(ctx, fetching, nil, args...)
	if err := errors.Join(c.missing(err, wants), c.takeShallow()); err != nil {
		return err
	}
	for _, want := range wants {
		out, err := c.ask(ctx, "rev-parse", "--verify", want[1]+"^{commit}")
		if err != nil {
			return fmt.Errorf("read what was fetched of %s: %w", want[0], err)
		}
		c.refs[want[1]] = line(out)
	}
	return nil
}

var missingRef = regexp.MustCompile(`(?:couldn't find remote ref|not our ref|unadvertised object|no such remote ref) (.+)`)

// missing turns git's words for a ref that the server does not have into ErrNoRef, with the name as it was asked for:
// what git says has gone through its terminal-safe spelling, and ours.
func (c *Checkout) missing(err error, wants [][2]string) error {
	if err == nil {
		return nil
	}
	if m := missingRef.FindStringSubmatch(stderrOf(err)); m != nil {
		for _, want := range wants {
			if strings.TrimSpace(m[1]) == strings.TrimSpace(clean(c.redact(want[0]))) {
				return &ErrNoRef{Ref: want[0]}
			}
		}
	}
	return err
}

// bounded is the option that keeps a fetch from getting all history: none where the checkout has all of it already, else
// at least as deep as what is here, since --depth also shortens.
func (c *Checkout) bounded(ctx context.Context, add int) []string {
	if len(c.boundary) == 0 && len(c.refs) > 0 {
		return nil
	}
	n := depth
	for _, tip := range slices.Compact(slices.Sorted(maps.Values(c.refs))) {
		if out, err := c.ask(ctx, "rev-list", "--count", "--first-parent", tip); err == nil {
			if count, err := strconv.Atoi(line(out)); err == nil {
				n = max(n, count+depth/5)
			}
		}
	}
	return []string{"--depth=" + strconv.Itoa(n+add)}
}

// fetchPull gets the head of branch and, where the server has it, the tip of base; normally one network operation. It
// returns the head.
func (c *Checkout) fetchPull(ctx context.Context, branch, base string) (string, error) {
	wants := [][2]string{{"refs/heads/" + branch, fetchedHead}}
	if base != "" && base != branch {
		wants = append(wants, [2]string{"refs/heads/" + base, fetchedBase})
	}
	limit := c.bounded(ctx, 0)
	err := c.fetch(ctx, limit, wants...)
	var none *ErrNoRef
	if len(wants) == 2 && errors.As(err, &none) && none.Ref == wants[1][0] {
		delete(c.refs, fetchedBase)
		err = c.fetch(ctx, limit, wants[0])
	}
	if err != nil {
		return "", fmt.Errorf("fetch %s: %w", branch, err)
	}
	return c.refs[fetchedHead], nil
}

// FetchRef gets what a ref of the server points to, and its history as far as the checkout goes back. ErrNoRef when the
// server does not have it. One network operation.
func (c *Checkout) FetchRef(ctx context.Context, ref string) (sha string, err error) {
	if !validRef(ref) {
		return "", fmt.Errorf("fetch %q: not a full ref name", ref)
	}
	sum := sha256.Sum256([]byte(ref))
	to := "refs/fetched/ref-" + hex.EncodeToString(sum[:8])
	if err := c.fetch(ctx, c.bounded(ctx, 0), [2]string{ref, to}); err != nil {
		return "", fmt.Errorf("fetch %s: %w", ref, err)
	}
	return c.refs[to], nil
}

// Remote reads refs of the server, by their full names; a name that is absent there is absent in the answer. Without
// names it reads all. One network operation.
func (c *Checkout) Remote(ctx context.Context, refs ...string) (map[string]string, error) {
	for _, ref := range refs {
		if !validRef(ref) {
			return nil, fmt.Errorf("read remote ref %q: not a full ref name", ref)
		}
	}
	args := []string{"ls-remote", "--quiet", "--refs", "origin"}
	if len(refs) < 100 { // the server sends all either way, and git compares each with each
		args = append(args, refs...)
	}
	out, err := c.network(ctx, listing, nil, args...)
	if err != nil {
		return nil, fmt.Errorf("read remote refs: %w", err)
	}
	asked, found := map[string]bool{}, map[string]string{}
	for _, ref := range refs {
		asked[ref] = true
	}
	for row := range bytes.Lines(out) {
		sha, ref, ok := bytes.Cut(bytes.TrimSuffix(row, []byte("\n")), []byte("\t"))
		// ls-remote matches the end of a name; only the whole name was asked for.
		if ok && (len(refs) == 0 || asked[string(ref)]) {
			found[string(ref)] = string(sha)
		}
	}
	return found, nil
}

// Deepen fetches the history that is missing to relate the first of the given commits to each other one: some hundred
// commits, then some thousand, then all. Commits that are not here are fetched too; the server is never asked for one
// that was made here. At most three network operations, none when nothing is missing. ErrNoRef names a commit that the
// server does not give out.
func (c *Checkout) Deepen(ctx context.Context, shas ...string) error {
	for _, sha := range shas {
		if !isSHA(sha) {
			return fmt.Errorf("deepen history: %q is not a commit id", sha)
		}
	}
	return c.deepen(ctx, shas, func() (bool, error) { return c.related(ctx, shas) })
}

// deepen fetches step by step until what is asked is settled, or nothing is missing.
func (c *Checkout) deepen(ctx context.Context, shas []string, settled func() (bool, error)) error {
	steps := make([][]string, 0, len(deepenBy)+1)
	for _, add := range deepenBy {
		steps = append(steps, c.bounded(ctx, add))
	}
	for _, step := range append(steps, []string{"--unshallow"}) {
		if done, err := settled(); err != nil || done {
			return err
		}
		wants, err := c.wanted(ctx, shas)
		if err != nil || len(wants) == 0 {
			return err
		}
		if len(c.boundary) == 0 {
			step = nil
		}
		if err := c.fetch(ctx, step, wants...); err != nil {
			return fmt.Errorf("deepen history: %w", err)
		}
	}
	return nil
}

// wanted says what to ask the server for so that the history of the commits gets deeper: those that are missing here,
// those that came from there, and, for the ones made here, the head and the base that came from there.
func (c *Checkout) wanted(ctx context.Context, shas []string) ([][2]string, error) {
	var ask []string
	for _, sha := range shas {
		here, err := c.present(ctx, sha)
		if err != nil {
			return nil, err
		}
		switch {
		case here && len(c.boundary) == 0: // and all its history
		case !here || c.fetched(ctx, sha):
			ask = append(ask, sha)
		case c.refs[fetchedHead] == "": // nothing was restored, so no agent ran: the workspace came with it
			ask = append(ask, sha)
		default:
			ask = append(ask, c.refs[fetchedHead])
			if base := c.refs[fetchedBase]; base != "" {
				ask = append(ask, base)
			}
		}
	}
	var wants [][2]string
	for _, sha := range slices.Compact(slices.Sorted(slices.Values(ask))) {
		wants = append(wants, [2]string{sha, "refs/fetched/sha-" + sha})
	}
	return wants, nil
}

// fetched tells whether a commit is part of what a fetch got.
func (c *Checkout) fetched(ctx context.Context, sha string) bool {
	for _, ref := range slices.Sorted(maps.Keys(c.refs)) {
		if !strings.HasPrefix(ref, "refs/fetched/") {
			continue
		}
		if _, err := c.ask(ctx, "merge-base", "--is-ancestor", sha, c.refs[ref]); err == nil {
			return true
		}
	}
	return false
}

// related tells whether the first commit's relation to each other one can be told.
func (c *Checkout) related(ctx context.Context, shas []string) (bool, error) {
	if len(shas) == 1 {
		here, err := c.present(ctx, shas[0])
		return here && len(c.boundary) == 0, err
	}
	for i := 1; i < len(shas); i++ {
		relation, err := c.Relation(ctx, shas[0], shas[i])
		if err != nil || relation == model.Unknown {
			return false, err
		}
	}
	return len(shas) > 0, nil
}

// fillTree gets the blobs of a commit's tree that a partial clone lacks, in one network operation; none for others.
func (c *Checkout) fillTree(ctx context.Context, sha string) error {
	if !c.promisor {
		return nil
	}
	out, err := c.ask(ctx, "rev-list", "--objects", "--no-walk", "--missing=print", sha)
	if err != nil {
		return fmt.Errorf("list missing files: %w", err)
	}
	var absent []string
	for row := range strings.Lines(string(out)) {
		if id, ok := strings.CutPrefix(row, "?"); ok {
			absent = append(absent, strings.TrimSpace(id))
		}
	}
	return c.fetchObjects(ctx, absent)
}

// ErrPartial says that a shallow or partial clone lacks what is needed, and that its origin is not to be asked for it.
var ErrPartial = errors.New("the checkout is not whole")

// fetchObjects gets objects of a partial clone by their ids, in one network operation; none for no objects.
func (c *Checkout) fetchObjects(ctx context.Context, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	if c.opt.URL == "" {
		return fmt.Errorf("%w: it is a partial clone that lacks files, and with --local its origin is not asked for them; merge without it", ErrPartial)
	}
	args := []string{"-c", "fetch.negotiationAlgorithm=noop", "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance", "--no-recurse-submodules", "--filter=blob:none", "--stdin", "origin"}
	if _, err := c.network(ctx, fetching, []byte(strings.Join(ids, "\n")+"\n"), args...); err != nil {
		return fmt.Errorf("fetch missing files: %w", err)
	}
	return nil
}

// validRef accepts full ref names that can stand in a refspec
// (https://git-scm.com/docs/git-check-ref-format has the rules; the server enforces the rest of them).
func validRef(ref string) bool {
	rest, ok := strings.CutPrefix(ref, "refs/")
	if !ok || rest == "" || strings.Contains(ref, "..") || strings.Contains(ref, "@{") || strings.HasSuffix(ref, "/") {
		return false
	}
	return !strings.ContainsFunc(ref, func(r rune) bool { return r <= ' ' || r == 0x7f || strings.ContainsRune(`:?*[\^~`, r) })
}

var shaPattern = regexp.MustCompile(`^(?:[0-9a-f]{40}|[0-9a-f]{64})$`)

// isSHA accepts a full object id, so that nothing else can be taken for an option or a revision expression.
func isSHA(s string) bool { return shaPattern.MatchString(s) }
