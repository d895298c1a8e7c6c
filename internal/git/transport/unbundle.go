package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/git/syntax"
	"github.com/mergexo/mergexo/internal/model"
)

// ReadBundle imports the commits of an untrusted bundle into the checkout, or refuses it with *ErrBundle and imports
// nothing. The pack is unpacked and checked in a quarantine beside the checkout's objects, which it can only read, and
// moved there at the end. Then the following holds:
//
//   - head is there with all that is reachable from it, and descends from start;
//   - it builds on nothing but start, its ancestors, and what branches of the server had that were fetched by their names;
//   - git's own checks find every new object well-formed, and no commit, listing or allocation passes the limits;
//   - no object came in that the commits do not need, and no ref, configuration or other file was changed.
//
// ReadBundle does not evaluate what is in the commits. Network operations only if the history is too short.
func ReadBundle(ctx context.Context, c *git.Checkout, file, start, head string) error {
	if !syntax.IsSHA(start) || !syntax.IsSHA(head) {
		return fmt.Errorf("read bundle for %q..%q: not commit ids", start, head)
	}
	b, err := openBundle(file)
	if err != nil {
		return err
	}
	defer b.file.Close()
	if b.head != head {
		return refuse(BundleHead, "it holds %s, want %s", b.head, head)
	}
	if err := history.FetchTree(ctx, c, start); err != nil {
		return err
	}
	for _, need := range b.needs {
		if err := checkPrerequisite(ctx, c, need, start); err != nil {
			return err
		}
	}
	dir, err := os.MkdirTemp(c.Objects, "tmp_objdir-bundle-") // git's own cleanup knows a quarantine by this prefix
	if err != nil {
		return fmt.Errorf("make quarantine: %w", err)
	}
	err = readQuarantined(ctx, c, dir, b, start)
	return errors.Join(err, os.RemoveAll(dir))
}

// checkPrerequisite refuses a prerequisite that is neither start, nor its ancestor, nor part of a ref of the server.
func checkPrerequisite(ctx context.Context, c *git.Checkout, need, start string) error {
	for _, tip := range append([]string{start}, history.FetchedTips(c)...) {
		relation, err := history.Relate(ctx, c, need, tip)
		if none := (*git.ErrNoRef)(nil); errors.As(err, &none) && none.Ref == need {
			break // a server has all ancestors of its commits
		}
		if err != nil {
			return err
		}
		if relation == model.Identical || relation == model.Ahead {
			return nil
		}
	}
	return refuse(BundlePrerequisite, "%s is in none of the branches that it may build on", need)
}

// readQuarantined unpacks into dir, checks, and admits the pack.
func readQuarantined(ctx context.Context, c *git.Checkout, dir string, b *bundle, start string) error {
	if err := errors.Join(git.ShareObjects(c, dir), os.Mkdir(filepath.Join(dir, "pack"), 0o755)); err != nil {
		return fmt.Errorf("make quarantine: %w", err)
	}
	inside := *c // the same repository, as seen from the quarantine
	inside.Objects = dir
	name, err := unpack(ctx, &inside, b)
	if err != nil {
		return err
	}
	here, err := inside.Present(ctx, b.head)
	if err != nil {
		return err
	}
	if !here {
		return refuse(BundleHead, "%s is not in it, or not a commit", b.head)
	}
	if err := checkObjects(ctx, &inside, b, name); err != nil {
		return err
	}
	relation, err := history.Relation(ctx, &inside, start, b.head)
	if err == nil && relation == model.Unknown {
		if err = history.Deepen(ctx, c, append([]string{start}, b.needs...)...); err == nil {
			inside.Boundary = c.Boundary
			relation, err = history.Relation(ctx, &inside, start, b.head)
		}
	}
	if err != nil {
		return err
	}
	if relation != model.Ahead {
		return refuse(BundleRewrite, "%s does not descend from %s (%s)", b.head, start, relation)
	}
	return admitPack(c, dir, name)
}

// admitPack moves a checked pack to the checkout's objects: the index last, since it makes the pack visible to git.
func admitPack(c *git.Checkout, dir, name string) error {
	if name == "" {
		return nil
	}
	to := filepath.Join(c.Objects, "pack")
	if err := os.MkdirAll(to, 0o755); err != nil {
		return fmt.Errorf("take bundle in: %w", err)
	}
	for _, ext := range []string{".pack", ".idx"} {
		if err := os.Rename(filepath.Join(dir, "pack", name+ext), filepath.Join(to, name+ext)); err != nil {
			return fmt.Errorf("take bundle in: %w", err)
		}
	}
	return nil
}

// unpack makes git read the pack into the quarantine, check every object, and name what is missing. It returns the name of
// its files, "" for an empty pack.
func unpack(ctx context.Context, c *git.Checkout, b *bundle) (name string, err error) {
	if b.objects == 0 {
		return "", nil
	}
	if _, err := b.file.Seek(b.pack, io.SeekStart); err != nil {
		return "", fmt.Errorf("read bundle: %w", err)
	}
	out, err := c.Run(ctx, git.Spec{
		Dir: c.OwnDir, Env: c.OwnEnv("GIT_ALLOC_LIMIT=" + strconv.Itoa(maxInflated)), Input: b.file,
		Args: git.Safely([]string{
			"-c", "core.bigFileThreshold=16m", "-c", "pack.writeReverseIndex=false", "index-pack", "--stdin",
			"--strict=badFilemode=error", "--max-input-size=" + strconv.Itoa(MaxBundle),
		}),
	})
	if err != nil {
		return "", indexPackError(ctx, err)
	}
	sum, ok := strings.CutPrefix(strings.TrimSuffix(string(out), "\n"), "pack\t")
	if !ok || !syntax.IsSHA(sum) { // a further line names a missing .gitmodules file
		return "", refuse(BundleIncomplete, "a .gitmodules file is missing")
	}
	return "pack-" + sum, nil
}

var (
	fsckWords    = regexp.MustCompile(`(?m)object ([0-9a-f]{40}): ([a-zA-Z]+):`)
	missingWords = regexp.MustCompile(`did not receive expected object ([0-9a-f]{40})`)
)

// indexPackError parses why index-pack refused a pack. An unknown message counts as corrupt.
func indexPackError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return err
	}
	said, found := git.StderrOf(err), refuse(BundleCorrupt, "git cannot read its pack")
	has := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(said, w) })
	}
	if m := fsckWords.FindStringSubmatch(said); m != nil {
		found = refuse(BundleMalformed, "object %s: %s", m[1], m[2])
	} else if m := missingWords.FindStringSubmatch(said); m != nil {
		found = refuse(BundleIncomplete, "object %s is missing", m[1])
	} else if has("unresolved delta") {
		found = refuse(BundleIncomplete, "its pack needs objects that are not in it")
	} else if has("attempting to allocate", "exceeds maximum allowed size") {
		found = refuse(BundleTooLarge, "an object over %d MiB", maxInflated>>20)
	} else if has("fsck error", "too-short tree", "malformed mode", "empty filename", "bogus commit", "fatal: invalid ", "Not all child objects") {
		found = refuse(BundleMalformed, "an object is not what it or another one says")
	}
	found.Err = err
	return found
}

// checkObjects compares the pack's objects with those of the new commits: they must be the same.
func checkObjects(ctx context.Context, c *git.Checkout, b *bundle, name string) error {
	packed, err := measurePack(ctx, c, name)
	if err != nil {
		return err
	}
	var limits *git.ErrTreeLimits
	if err := git.CheckTreeLimits(ctx, c, b.head, b.needs...); errors.As(err, &limits) {
		return refuse(BundleTooLarge, "%s", limits)
	} else if err != nil {
		return err
	}
	args := []string{"rev-list", "--objects", "--no-object-names", b.head}
	for _, need := range b.needs {
		args = append(args, "^"+need)
	}
	out, err := c.Ask(ctx, args...)
	if git.ExitCode(err) > 0 && ctx.Err() == nil {
		return &ErrBundle{BundleIncomplete, "an object of its commits is missing", err}
	}
	if err != nil {
		return fmt.Errorf("follow the commits of a bundle: %w", err)
	}
	for row := range strings.Lines(string(out)) {
		id := strings.TrimSuffix(row, "\n")
		if !packed[id] {
			return refuse(BundleIncomplete, "object %s is neither in it nor part of what it builds on", id)
		}
		delete(packed, id)
	}
	for id := range packed {
		return refuse(BundleStray, "object %s is not needed by its commits (%d such objects)", first(packed, id), len(packed))
	}
	return nil
}

// first is the smallest of some IDs, so that the same bundle always gives the same error.
func first(ids map[string]bool, low string) string {
	for id := range ids {
		low = min(low, id)
	}
	return low
}

// measurePack lists the objects of a quarantined pack and refuses any that is too large, or no commit, tree or blob.
func measurePack(ctx context.Context, c *git.Checkout, name string) (map[string]bool, error) {
	packed := map[string]bool{}
	if name == "" {
		return packed, nil
	}
	idx, err := os.ReadFile(filepath.Join(c.Objects, "pack", name+".idx"))
	if err != nil {
		return nil, fmt.Errorf("read index of a bundle: %w", err)
	}
	out, err := c.Tell(ctx, idx, "show-index")
	if err != nil {
		return nil, fmt.Errorf("list objects of a bundle: %w", err)
	}
	var ids []string
	for row := range strings.Lines(string(out)) {
		if part := strings.Fields(row); len(part) > 1 {
			ids = append(ids, part[1])
		}
	}
	found, err := git.Inspect(ctx, c, ids...)
	limits := map[string]int64{"commit": maxCommit, "tree": maxTree, "blob": MaxBundle}
	for i, one := range found {
		switch limit, ok := limits[one.Kind]; {
		case one.ID == "":
			return nil, fmt.Errorf("measure objects of a bundle: %s is not here", ids[i])
		case !ok:
			return nil, refuse(BundleStray, "object %s is a %s", one.ID, one.Kind)
		case one.Size > limit:
			return nil, refuse(BundleTooLarge, "%s %s has %d bytes, at most %d", one.Kind, one.ID, one.Size, limit)
		}
		packed[one.ID] = true
	}
	return packed, git.Wrap(err, "measure objects of a bundle")
}
