package checkout

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/git/syntax"
	"github.com/mergexo/mergexo/internal/scratch"
)

// ErrNoWorkspace says why there is no workspace for tests.
type ErrNoWorkspace struct{ Why string }

func (e *ErrNoWorkspace) Error() string { return "no workflow checkout to test in: " + e.Why }

// Workspace is the runner's workspace while it is at a commit for tests. Call Back afterwards.
type Workspace struct {
	w       *git.Checkout
	objects string // has the commit
	sha     string
	head    []byte // HEAD, the index and the shallow file before
	index   []byte
	shallow []byte
	tree    string            // of the index before
	found   worktreeState     // the files before
	aside   string            // directory of files moved out of the way
	moved   map[string]string // path in the workspace -> name in aside
	order   []string          // of the moves
}

// InWorkspace puts a workspace, a checkout of the same repository, at a commit that is here, for tests: HEAD, index and
// tracked files are exactly the commit's, which is verified before anything runs; ignored files, such as what the workflow
// installed, stay; everything else is moved aside. The commit's objects are an alternate, and nothing in the workspace
// affects this checkout. Submodules are not touched. The workflow's credentials are removed from the workspace, as Restore
// does.
//
// *ErrNoWorkspace if there is none. At most one network operation, in a partial clone.
func InWorkspace(ctx context.Context, c *git.Checkout, workspace, sha string) (*Workspace, error) {
	if !syntax.IsSHA(sha) {
		return nil, fmt.Errorf("test %q in the workspace: not a commit id", sha)
	}
	if workspace == "" {
		return nil, &ErrNoWorkspace{"GITHUB_WORKSPACE is not set"}
	}
	if !c.OwnClone || strings.Contains(c.Objects, "\n") {
		return nil, errors.New("test in the workspace: the commit has to be in a clone of our own")
	}
	if err := history.FetchTree(ctx, c, sha); err != nil {
		return nil, fmt.Errorf("test in the workspace: %w", err)
	}
	opt := c.Opt
	opt.Workspace = workspace
	w, err := git.Open(ctx, opt)
	if err != nil {
		return nil, fmt.Errorf("test in the workspace: %w", err)
	}
	switch {
	case w.OwnClone:
		return nil, errors.Join(&ErrNoWorkspace{fmt.Sprintf("%s is not a checkout of this repository", workspace)}, w.Close())
	case git.Sparse(w):
		return nil, errors.Join(&ErrNoWorkspace{fmt.Sprintf("%s is a sparse checkout, which leaves out files of the commit", workspace)}, w.Close())
	}
	if err := os.Chmod(c.Top, 0o711); err != nil { // as in Make: another user can read the objects, and nothing else
		return nil, errors.Join(fmt.Errorf("test in the workspace: %w", err), w.Close())
	}
	p := &Workspace{w: w, objects: c.Objects, sha: sha, moved: map[string]string{}}
	if err := p.note(ctx); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	if err := p.enter(ctx, c.Boundary); err != nil {
		_, back := p.Back(context.WithoutCancel(ctx))
		return nil, errors.Join(fmt.Errorf("test in the workspace: %w", err), back)
	}
	return p, nil
}

// Dir is the workspace.
func (p *Workspace) Dir() string { return p.w.Top }

// note records the workspace's state. It changes nothing, except for removing credentials.
func (p *Workspace) note(ctx context.Context) (err error) {
	w := p.w
	if err := errors.Join(stripCredentials(ctx, w), w.Note("exclude", "attributes", "sparse-checkout"), git.NewOwnDir(w)); err != nil {
		return fmt.Errorf("test in the workspace: %w", err)
	}
	p.shallow = w.Boundary
	if p.head, err = os.ReadFile(filepath.Join(w.GitDir, "HEAD")); err == nil {
		p.index, err = os.ReadFile(w.Index)
	}
	if err != nil {
		return &ErrNoWorkspace{"nothing is checked out there"}
	}
	copied := filepath.Join(w.OwnDir, "found-index")
	if err := copyIndex(w.Index, copied); err != nil {
		return fmt.Errorf("test in the workspace: copy its index: %w", err)
	}
	out, err := w.TreeWith(ctx, copied, nil, "write-tree", "--missing-ok")
	if err != nil {
		return &ErrNoWorkspace{"a merge is in progress there"}
	}
	p.tree = syntax.Line(out)
	if p.found, err = compareFiles(ctx, w, copied); err != nil {
		return fmt.Errorf("test in the workspace: %w", err)
	}
	if p.aside, err = os.MkdirTemp(w.Opt.Temp, "mergexo-aside-"); err != nil {
		return fmt.Errorf("test in the workspace: %w", err)
	}
	return nil
}

// enter brings the workspace to the commit, and verifies that.
func (p *Workspace) enter(ctx context.Context, boundary []byte) error {
	w := p.w
	if err := p.shareObjects(boundary); err != nil {
		return err
	}
	for _, path := range slices.Concat(p.found.changed, p.found.untracked) {
		if err := p.out(path); err != nil {
			return err
		}
	}
	out, err := w.Ask(ctx, "diff-tree", "-r", "-z", "--name-only", "--no-renames", "--diff-filter=A", p.tree, p.sha+"^{tree}")
	if err != nil {
		return fmt.Errorf("look for new files of %s: %w", p.sha, err)
	}
	for _, path := range syntax.Fields(out) { // an ignored file may be in the way
		for end := 0; end < len(path); {
			i := strings.IndexByte(path[end:]+"/", '/')
			part := path[:end+i]
			end += i + 1
			if info, err := os.Lstat(filepath.Join(w.Top, filepath.FromSlash(part))); err == nil && (!info.IsDir() || part == path) {
				if err := p.out(part); err != nil {
					return err
				}
			}
		}
	}
	if err := git.ReplaceFile(filepath.Join(w.GitDir, "HEAD"), []byte(p.sha+"\n")); err != nil {
		return err
	}
	if err := rebuildIndex(ctx, w, p.sha); err != nil {
		return err
	}
	if err := putTree(ctx, w, p.sha, p.sha); err != nil {
		return err
	}
	for { // files that the commit no longer ignores
		left, err := otherFiles(ctx, w, w.Index)
		if err != nil || len(left) == 0 {
			return errors.Join(err, p.shown(ctx))
		}
		for _, path := range left {
			if err := p.out(path); err != nil {
				return err
			}
		}
	}
}

// shown is an error unless HEAD and tracked files are the commit's.
func (p *Workspace) shown(ctx context.Context) error {
	head, err := p.w.TipOf(ctx, "HEAD^{commit}")
	if err == nil && head != p.sha {
		err = fmt.Errorf("HEAD is %s", head)
	}
	if err != nil {
		return err
	}
	differ, err := p.differ(ctx)
	if err == nil && len(differ) > 0 {
		err = fmt.Errorf("%s differ from %s", syntax.Quoted(differ), p.sha)
	}
	return err
}

// differ are the tracked files that differ from the commit, by our own index.
func (p *Workspace) differ(ctx context.Context) ([]string, error) {
	w := p.w
	index := filepath.Join(w.OwnDir, "place-index")
	if err := os.RemoveAll(index); err != nil {
		return nil, err
	}
	if _, err := w.TreeWith(ctx, index, nil, "read-tree", "--reset", p.sha); err != nil {
		return nil, fmt.Errorf("read %s into an index: %w", p.sha, err)
	}
	f, err := compareFiles(ctx, w, index)
	differ := slices.DeleteFunc(slices.Concat(f.gone, f.changed), func(path string) bool { return sameAsNoted(ctx, w, path) != nil })
	return slices.Sorted(slices.Values(differ)), err
}

// shareObjects makes the commit's objects and shallow boundary visible in the workspace.
func (p *Workspace) shareObjects(boundary []byte) error {
	w := p.w
	file := filepath.Join(w.Objects, "info", "alternates")
	had := w.Noted[file]
	if len(had) > 0 && had[len(had)-1] != '\n' {
		had = append(slices.Clone(had), '\n')
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	if err := git.ReplaceFile(file, append(slices.Clone(had), p.objects+"\n"...)); err != nil {
		return err
	}
	ends := slices.Concat(bytes.Fields(p.shallow), bytes.Fields(boundary))
	slices.SortFunc(ends, bytes.Compare)
	if ends = slices.CompactFunc(ends, bytes.Equal); len(ends) > 0 {
		w.Boundary = append(bytes.Join(ends, []byte("\n")), '\n')
	}
	if err := git.ReplaceFile(w.Shallow, w.Boundary); err != nil {
		return err
	}
	return git.NewOwnDir(w)
}

// out moves a file out of the way.
func (p *Workspace) out(path string) error {
	path = strings.TrimSuffix(path, "/")
	name := strconv.Itoa(len(p.order))
	if err := os.Rename(filepath.Join(p.w.Top, filepath.FromSlash(path)), filepath.Join(p.aside, name)); err != nil {
		return fmt.Errorf("move %q aside: %w", path, err)
	}
	p.moved[path], p.order = name, append(p.order, path)
	return nil
}

// Back restores the workspace, and returns the commit's tracked files that were changed meanwhile. New files are removed,
// ignored ones too; changes to ignored files that existed before stay. Nothing may still be running there.
func (p *Workspace) Back(ctx context.Context) (changed []string, err error) {
	w := p.w
	err = w.PutBack()
	if unsafeDir := (*git.ErrUnsafeGitDir)(nil); errors.As(err, &unsafeDir) { // the links are removed, and were not followed
		w.Opt.Log.Warn("workspace_led_astray", "error", err)
		err = w.PutBack()
	}
	if err == nil {
		err = p.shareObjects(w.Boundary)
	}
	if err == nil {
		if changed, err = p.differ(ctx); err == nil {
			err = p.unwind(ctx)
		}
	}
	if err != nil { // what was moved aside stays there
		return changed, errors.Join(fmt.Errorf("restore the workspace: %w; what was moved out of it is in %s", err, p.aside), w.Close())
	}
	return changed, errors.Join(os.RemoveAll(p.aside), w.Close())
}

// unwind restores index and files, and verifies them.
func (p *Workspace) unwind(ctx context.Context) error {
	w := p.w
	if err := unlocked(w, func() error { return p.unwindFiles(ctx) }); err != nil {
		return err
	}
	for _, path := range slices.Backward(p.order) {
		if err := p.in(path); err != nil {
			return err
		}
	}
	w.Boundary = p.shallow
	err := errors.Join(git.ReplaceFile(w.Index, p.index), git.ReplaceFile(filepath.Join(w.GitDir, "HEAD"), p.head), git.ReplaceFile(w.Shallow, p.shallow), w.PutBack(), git.NewOwnDir(w))
	if err != nil {
		return err
	}
	copied := filepath.Join(w.OwnDir, "index-now")
	if err := copyIndex(w.Index, copied); err != nil {
		return err
	}
	f, err := compareFiles(ctx, w, copied)
	if err == nil && !(slices.Equal(f.gone, p.found.gone) && slices.Equal(f.changed, p.found.changed) && slices.Equal(f.untracked, p.found.untracked)) {
		err = errors.New("its files have changed")
	}
	return err
}

// unwindFiles restores the files that were not moved aside.
func (p *Workspace) unwindFiles(ctx context.Context) error {
	w := p.w
	if err := rebuildIndex(ctx, w, p.sha); err != nil {
		return err
	}
	if err := resetFiles(ctx, w, p.tree); err != nil {
		return err
	}
	if err := removeUntracked(ctx, w); err != nil {
		return err
	}
	now, err := otherFiles(ctx, w, w.Index, "--ignored")
	if err != nil {
		return err
	}
	kept := map[string]bool{}
	for _, path := range p.found.ignored {
		kept[path] = true
	}
	for _, path := range now {
		if !kept[path] {
			if err := removePath(w, path); err != nil {
				return err
			}
		}
	}
	for _, path := range p.found.gone {
		if err := removePath(w, path); err != nil {
			return err
		}
	}
	return nil
}

// in moves something back. Others have worked there: whatever is in the way is removed, and links are not followed.
func (p *Workspace) in(path string) error {
	for end := 0; ; {
		i := strings.IndexByte(path[end:], '/')
		if i < 0 {
			break
		}
		dir := filepath.Join(p.w.Top, filepath.FromSlash(path[:end+i]))
		end += i + 1
		if info, err := os.Lstat(dir); err == nil && info.IsDir() {
			continue
		}
		if err := errors.Join(os.RemoveAll(dir), os.Mkdir(dir, 0o755)); err != nil {
			return err
		}
	}
	to := filepath.Join(p.w.Top, filepath.FromSlash(path))
	if err := scratch.RemoveAll(to); err != nil {
		return err
	}
	return os.Rename(filepath.Join(p.aside, p.moved[path]), to)
}

// removePath removes a file of the working tree, or a repository in it, that git has just listed.
func removePath(c *git.Checkout, path string) error {
	root, err := os.OpenRoot(c.Top)
	if err != nil {
		return err
	}
	err = root.RemoveAll(filepath.FromSlash(strings.TrimSuffix(path, "/")))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return errors.Join(err, root.Close())
}
