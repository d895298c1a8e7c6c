package history

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/mergexo/mergexo/internal/git"
)

// Limits for what Verified copies.
const (
	maxVerified = 2 << 30 // bytes of the contents: GitHub takes no larger push
	maxTrees    = 1 << 30 // bytes of all else
	maxLinks    = 20_000  // commits between a known one and an older one that was merged
)

// ErrUnverified says that what a push would publish cannot be told for certain.
type ErrUnverified struct{ Detail string }

func (e *ErrUnverified) Error() string { return "the commits cannot be verified: " + e.Detail }

// Verified runs do with what Publishes gives, and with a repository of our own that has what EveryChange and Patches read of that,
// where somebody else can write to the objects of the checkout, or could. There an object can have another content than its name
// says, now one and then another; git does not look when it reads. In the repository git has named each by its content. What is not
// there under its true name is *ErrUnverified, or makes more new.
//
// About eight processes; the time grows with the number of directories of the trees.
func Verified(ctx context.Context, c *git.Checkout, from, to string, known []string, do func(own *git.Checkout, listed *Published) error) error {
	n, err := needed(ctx, c, from, to, known)
	if err != nil {
		return err
	}
	return git.InSeparateDir(c, false, func(own *git.Checkout) error {
		if err := copyObjects(ctx, c, own, n.ids); err != nil {
			return fmt.Errorf("copy what %s..%s needs: %w", from, to, err)
		}
		listed, err := n.list(ctx, own, from, to, known)
		if err != nil {
			return err
		}
		return do(own, listed)
	})
}

// list is what Publishes gives in the repository that has what is needed. It was given once, where the objects were copied from, so
// that what fails here are the objects.
func (n need) list(ctx context.Context, own *git.Checkout, from, to string, known []string) (*Published, error) {
	err := n.check(ctx, own)
	if err != nil {
		return nil, unverified(ctx, err)
	}
	own.Boundary = append([]byte(strings.Join(append(n.tops, n.merged...), "\n")+"\n"), n.shallow...) // their parents are not here
	if err := os.WriteFile(filepath.Join(own.OwnDir, "shallow"), own.Boundary, 0o600); err != nil {
		return nil, fmt.Errorf("write shallow file: %w", err)
	}
	listed, err := publishes(ctx, own, from, to, known, n.merged)
	return listed, unverified(ctx, err)
}

// unverified is what an error means that the objects are at fault for: git was not stopped, and the machine did not lack anything.
func unverified(ctx context.Context, err error) error {
	failed, lacks := (*git.Error)(nil), syscall.Errno(0)
	isGits := errors.As(err, &failed)
	if err == nil || ctx.Err() != nil || errors.As(err, &lacks) || isGits && (failed.Exit < 0 || failed.Failure == git.Exhausted) {
		return err
	}
	says := err.Error()
	if isGits {
		says = strings.ReplaceAll(strings.TrimSpace(failed.Stderr), "\n", "; ")
	}
	return &ErrUnverified{"objects of the checkout are missing or do not match their names: " + says}
}

// copyObjects copies objects without a look for differences between them, which would take long for large files.
func copyObjects(ctx context.Context, c, own *git.Checkout, ids []string) error {
	pack := []string{"-c", "pack.compression=0", "pack-objects", "--quiet", "--stdout", "--window=0", "--threads=1"}
	return c.Stream(ctx, git.Spec{
		Dir: c.OwnDir, Env: c.OwnEnv(), Stdin: []byte(strings.Join(ids, "\n") + "\n"), Args: git.Safely(pack),
	}, func(pack *bufio.Reader) error {
		_, err := own.Run(ctx, git.Spec{
			Dir: own.OwnDir, Env: own.OwnEnv(), Input: pack,
			Args: git.Safely([]string{"index-pack", "--stdin", "--max-input-size=" + strconv.Itoa(maxVerified+maxTrees)}),
		})
		return err
	})
}

// need is what Verified copies, as far as the objects of the checkout can be believed.
type need struct {
	tops   []string // the commits that the server has for certain
	merged []string // their ancestors that the published commits stand on, too
	links  []string // the commits between those
	ids    []string

	shallow []byte // the checkout's own boundary, which is not among the objects
}

// needed lists what is new; and what that stands on without files, but for those that are replaced or are there under another name.
func needed(ctx context.Context, c *git.Checkout, from, to string, known []string) (n need, err error) {
	n.tops, n.shallow = slices.Compact(slices.Sorted(slices.Values(append([]string{from}, known...)))), c.Boundary
	list := func(args ...string) []string {
		out, failed := c.Ask(ctx, append([]string{"rev-list"}, args...)...)
		if failed != nil && err == nil {
			err = fmt.Errorf("list objects of %s..%s: %w", from, to, failed)
		}
		return strings.Fields(string(out))
	}
	news := []string{"--objects", "--boundary", "--no-object-names", "--reverse", "--topo-order", "--no-commit-header", "--format=%m%H %T", to}
	for _, sha := range n.tops {
		news = append(news, "^"+sha)
	}
	words := list(news...)
	if err != nil { // which too many directories in each other can be the reason of
		return n, cmp.Or[error](git.CheckTreeLimits(ctx, c, to, n.tops...), err)
	}
	commits, trees := n.take(words)
	if len(commits) == 0 && !slices.Contains(n.tops, to) { // nothing is new, if that is true
		n.merged = append(n.merged, to)
	}
	listed, err := published(ctx, c, from, to, known, commits, trees)
	if err != nil {
		return n, err
	}
	n.ids = append(n.ids, commits...)
	for _, end := range n.merged {
		n.links = append(n.links, list(slices.Concat([]string{"--ancestry-path"}, n.tops, []string{"^" + end})...)...)
	}
	if len(n.links) > maxLinks {
		return n, &ErrUnverified{fmt.Sprintf("%d commits lie between what %s merges and what the server's branches have, over %d", len(n.links), to, maxLinks)}
	}
	roots := slices.Concat(n.tops, n.merged)
	n.ids = slices.Concat(n.ids, n.links, list(slices.Concat([]string{"--objects", "--no-walk", "--filter=blob:none", "--no-object-names"}, roots)...))
	total := int64(0)
	for id, size := range listed.sizes {
		if size >= 0 {
			n.ids = append(n.ids, id)
			total += size
		}
	}
	if total > maxVerified {
		return n, &ErrUnverified{fmt.Sprintf("%s..%s has %d bytes of changed files, over %d", from, to, total, maxVerified)}
	}
	slices.Sort(n.ids)
	n.ids = slices.Compact(n.ids)
	return n, err
}

// take sorts the words of git rev-list: new commits, each with its tree, commits at the boundary, and further objects.
func (n *need) take(words []string) (commits, trees []string) {
	for i := 0; i < len(words); i++ {
		switch id := words[i]; id[0] {
		case '>':
			commits, trees = append(commits, id[1:]), append(trees, words[i+1])
			i++
		case '-':
			if !slices.Contains(n.tops, id[1:]) {
				n.merged = append(n.merged, id[1:])
			}
			i++
		default:
			n.ids = append(n.ids, id)
		}
	}
	return commits, trees
}

// check makes sure, by commits that are what their names say, that what was merged are ancestors of what the server has. Else
// everything behind a commit that only looks like one would not be looked at.
func (n need) check(ctx context.Context, own *git.Checkout) error {
	if len(n.merged) == 0 {
		return nil
	}
	parents := map[string][]string{}
	err := own.Contents(ctx, slices.Concat(n.tops, n.links), func(id string, content io.Reader) error {
		in := bufio.NewScanner(io.LimitReader(content, maxOwnHeader))
		for in.Scan() {
			parent, is := strings.CutPrefix(in.Text(), "parent ")
			switch {
			case is:
				parents[id] = append(parents[id], parent)
			case !strings.HasPrefix(in.Text(), "tree "): // git takes no line behind the parents for one
				return nil
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("read history: %w", err)
	}
	seen := map[string]bool{}
	for next := slices.Clone(n.tops); len(next) > 0; {
		id := next[0]
		if next = next[1:]; !seen[id] {
			seen[id], next = true, append(next, parents[id]...)
		}
	}
	for _, id := range n.merged {
		if !seen[id] {
			return fmt.Errorf("read history: %s is no ancestor of what the server has", id)
		}
	}
	return nil
}

// maxOwnHeader is how many bytes of a commit are read for its parents.
const maxOwnHeader = 64 << 10
