package merging

import (
	"context"
	"fmt"
	"strings"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/git/syntax"
)

// told is what a commit says, but for when it was made and by whom it was committed.
type told struct {
	tree, author, message string
	parents               []string
}

// Alike pairs the commits of two histories on top of base, where they have the same trees, authors and messages in the same shape; nil:
// they have not. Two builds of one request are alike, and differ in their times. What one of them has beside that, such as a commit
// whose changes the next one takes back, is a difference although the last trees are equal.
func Alike(ctx context.Context, c *git.Checkout, base, a, b string) (map[string]string, error) {
	pairs := map[string]string{}
	if a == b {
		return pairs, nil
	}
	first, err := since(ctx, c, base, a, 0)
	if err != nil {
		return nil, err
	}
	second, err := since(ctx, c, base, b, len(first)+1) // a longer history differs, however long it is
	if err != nil || len(first) != len(second) {
		return nil, err
	}
	type pair struct{ a, b string }
	seen := map[pair]bool{}
	for todo := []pair{{a, b}}; len(todo) > 0; {
		p := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if p.a == p.b || seen[p] {
			continue
		}
		seen[p], pairs[p.a] = true, p.b
		one, in := first[p.a]
		other, too := second[p.b]
		if !in || !too || one.tree != other.tree || one.author != other.author || one.message != other.message || len(one.parents) != len(other.parents) {
			return nil, nil
		}
		for i := range one.parents {
			todo = append(todo, pair{one.parents[i], other.parents[i]})
		}
	}
	return pairs, nil
}

// since are the commits that a commit has and base has not, at most most; 0: all.
func since(ctx context.Context, c *git.Checkout, base, tip string, most int) (map[string]told, error) {
	if !syntax.IsSHA(base) || !syntax.IsSHA(tip) {
		return nil, fmt.Errorf("compare commits of %q..%q: not commit ids", base, tip)
	}
	var limit []string
	if most > 0 {
		limit = []string{fmt.Sprintf("--max-count=%d", most)}
	}
	found, err := history.Log(ctx, c, "%H%n%T%n%P%n%an <%ae>%n%B", []string{tip, "^" + base}, limit...)
	all := map[string]told{}
	for _, part := range found {
		all[part[0]] = told{tree: part[1], parents: strings.Fields(part[2]), author: part[3], message: strings.TrimRight(part[4], "\n")}
	}
	return all, git.Wrap(err, "compare commits of %s..%s", base, tip)
}
