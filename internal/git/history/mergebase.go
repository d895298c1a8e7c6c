package history

import (
	"context"
	"fmt"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/syntax"
)

// Divergence is how two branches of the server relate.
type Divergence struct {
	BaseSHA, HeadSHA string
	// MergeBase is their merge base; if there are several best ones, the first that git names. "" if they are Unrelated.
	MergeBase string
	Unrelated bool // for certain
}

// FetchMergeBase fetches the tip of a base branch and of a head, which is a full ref name: refs/heads/x or, for a fork's
// pull request, refs/pull/7/head. It fetches just enough history to be certain of their merge base, the head's own commits,
// and the origins of merges among these. In a partial clone that goes for files, too: see FillMerge. *ErrNoRef names a
// missing ref. One network operation as a rule, at most three more if the merge base is far away, and one for the files of
// a partial clone.
func FetchMergeBase(ctx context.Context, c *git.Checkout, base, head string) (Divergence, error) {
	if !syntax.ValidRef("refs/heads/"+base) || !syntax.ValidRef(head) || head == "refs/heads/"+base {
		return Divergence{}, fmt.Errorf("fetch %q for a merge into %q: not a ref and another branch", head, base)
	}
	var met Divergence
	err := git.OrInClone(ctx, c, func() (err error) {
		met, err = tryFetchMergeBase(ctx, c, base, head)
		return err
	})
	if err != nil {
		return Divergence{}, fmt.Errorf("fetch for a merge: %w", err)
	}
	return met, nil
}

func tryFetchMergeBase(ctx context.Context, c *git.Checkout, base, head string) (Divergence, error) {
	wants := [][2]string{{"refs/heads/" + base, git.FetchedBase}, {head, git.FetchedHead}}
	if err := Fetch(ctx, c, append(Bounded(ctx, c, 0), Filtered(c)...), wants...); err != nil {
		return Divergence{}, err
	}
	met, err := FindMergeBase(ctx, c, c.Refs[git.FetchedBase], c.Refs[git.FetchedHead])
	if err != nil {
		return Divergence{}, err
	}
	return met, FillMerge(ctx, c, met)
}

// FindMergeBase finds the merge base of two tips, and fetches missing history for that.
func FindMergeBase(ctx context.Context, c *git.Checkout, base, head string) (Divergence, error) {
	return meet(ctx, c, base, head, WholeMergeBase)
}

// meet finds a merge base by one of the functions below, with the history that the answer needs.
func meet(ctx context.Context, c *git.Checkout, base, head string, ask func(ctx context.Context, c *git.Checkout, base, head string) (string, bool, error)) (Divergence, error) {
	met := Divergence{BaseSHA: base, HeadSHA: head}
	known := false
	err := deepen(ctx, c, []string{base, head}, func() (_ bool, err error) {
		met.MergeBase, known, err = ask(ctx, c, base, head)
		return known, err
	})
	if err == nil && !known {
		err = fmt.Errorf("find merge base of %s and %s: history is missing", base, head)
	}
	met.Unrelated = met.MergeBase == ""
	return met, err
}

// WholeMergeBase is MergeBase; known reports whether all commits of the head that the base lacks are here, too, with the merge
// bases of merges among them.
func WholeMergeBase(ctx context.Context, c *git.Checkout, base, head string) (sha string, known bool, err error) {
	sha, known, err = MergeBase(ctx, c, base, head)
	if err != nil || !known || len(c.Boundary) == 0 || sha == head {
		return sha, known, err
	}
	if hidden, err := cutOff(ctx, c, head, base); err != nil || hidden {
		return sha, false, err
	}
	merges, err := Nodes(ctx, c, []string{head, "^" + base}, "--merges")
	for _, one := range merges {
		if _, known, err := MergeBase(ctx, c, one.Parents[0], one.Parents[1]); err != nil || !known {
			return sha, false, err
		}
	}
	return sha, err == nil, err
}

// KnownMergeBase is the first of KnownMergeBases.
func KnownMergeBase(ctx context.Context, c *git.Checkout, base, head string) (string, error) {
	found, err := KnownMergeBases(ctx, c, base, head)
	if err != nil {
		return "", err
	}
	return found[0], nil
}

// KnownMergeBases are the best merge bases, at least one, of a base and a head that are here with the history between them.
// *ErrUnrelated if they have none.
func KnownMergeBases(ctx context.Context, c *git.Checkout, base, head string) ([]string, error) {
	if !syntax.IsSHA(base) || !syntax.IsSHA(head) {
		return nil, fmt.Errorf("find merge base of %q and %q: not commit ids", base, head)
	}
	found, known, err := MergeBases(ctx, c, base, head)
	switch {
	case err != nil:
		return nil, err
	case !known:
		return nil, fmt.Errorf("find merge base of %s and %s: history is missing", base, head)
	case len(found) == 0:
		return nil, &ErrUnrelated{Base: base, Head: head}
	}
	return found, nil
}

// ErrUnrelated says that two commits have no common history.
type ErrUnrelated struct{ Base, Head string }

func (e *ErrUnrelated) Error() string {
	return fmt.Sprintf("%s and %s have no common ancestor", e.Head, e.Base)
}
