package history

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/syntax"
)

// maxVerified limits the pack that Verified makes, in bytes.
const maxVerified = 1 << 30

// Verified runs do with a repository of our own that has what Publishes, EveryChange and Patches read for the same commits,
// while somebody else can write to the objects of the checkout. There an object can have another content than its name says,
// now one and then another; git does not look when it reads. The repository has what it has by its content. What is not there
// under its true name is missing, which is an error of do.
//
// known are the given known commits, and those that the published ones stand on. Five processes; the time grows with the number
// of directories of the trees.
func Verified(ctx context.Context, c *git.Checkout, from, to string, known []string, do func(own *git.Checkout, known []string) error) error {
	ids, roots, err := needed(ctx, c, from, to, known)
	if err != nil {
		return err
	}
	return git.InSeparateDir(c, false, func(own *git.Checkout) error {
		err := c.Stream(ctx, git.Spec{
			Dir: c.OwnDir, Env: c.OwnEnv(), Stdin: []byte(strings.Join(ids, "\n") + "\n"), Args: git.Safely([]string{"pack-objects", "--quiet", "--stdout"}),
		}, func(pack *bufio.Reader) error {
			_, err := own.Run(ctx, git.Spec{
				Dir: own.OwnDir, Env: own.OwnEnv(), Input: pack,
				Args: git.Safely([]string{"index-pack", "--stdin", "--max-input-size=" + strconv.Itoa(maxVerified)}),
			})
			return err
		})
		if err != nil {
			return fmt.Errorf("copy what %s..%s needs: %w", from, to, err)
		}
		own.Boundary = []byte(strings.Join(roots, "\n") + "\n") // their parents are not here
		if err := os.WriteFile(filepath.Join(own.OwnDir, "shallow"), own.Boundary, 0o600); err != nil {
			return fmt.Errorf("write shallow file: %w", err)
		}
		return do(own, roots)
	})
}

// needed lists the objects for Verified: all that is new; and what it stands on without files, but for those that are replaced.
func needed(ctx context.Context, c *git.Checkout, from, to string, known []string) (ids, roots []string, err error) {
	listed, err := Publishes(ctx, c, from, to, known)
	if err != nil {
		return nil, nil, err
	}
	lines := func(args ...string) []string {
		out, failed := c.Ask(ctx, append([]string{"rev-list"}, args...)...)
		if failed != nil && err == nil {
			err = fmt.Errorf("list objects of %s..%s: %w", from, to, failed)
		}
		return strings.Fields(string(out))
	}
	const bare = "--no-object-names"
	roots = append([]string{from}, known...)
	limits := []string{to}
	for _, sha := range roots {
		limits = append(limits, "^"+sha)
	}
	for _, row := range lines(append([]string{"--objects", "--boundary", bare}, limits...)...) {
		if root, ok := strings.CutPrefix(row, "-"); ok {
			if !slices.Contains(roots, root) {
				roots = append(roots, root)
			}
			continue
		}
		ids = append(ids, row)
	}
	ids = append(ids, lines(append([]string{"--objects", "--no-walk", "--filter=blob:none", bare}, roots...)...)...)
	for _, s := range listed.steps {
		for _, id := range s.before {
			if syntax.IsSHA(id) && listed.sizes[id] >= 0 {
				ids = append(ids, id)
			}
		}
	}
	slices.Sort(ids)
	slices.Sort(roots)
	return slices.Compact(ids), slices.Compact(roots), err
}
