package git

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

	"github.com/mergexo/mergexo/internal/scratch"
)

// ErrNoWorkspace says why there is no workspace to test in.
type ErrNoWorkspace struct{ Why string }

func (e *ErrNoWorkspace) Error() string { return "no checkout of the workflow's to test in: " + e.Why }

// TestPlace is the runner's workspace while it is at a commit for tests to run in. Back has to be called.
type TestPlace struct {
	w       *Checkout
	objects string // where the commit is
	sha     string
	head    []byte // what HEAD, the index and the shallow file were
	index   []byte
	shallow []byte
	tree    string            // of the index as it was
	found   findings          // what the files were like
	aside   string            // directory of what was moved out of the way
	moved   map[string]string // path in the workspace -> name in aside
	order   []string          // of the moves
}

// findings are what a workspace has that its index does not tell.
type findings struct {
	gone, changed, untracked, ignored []string
}

// TestIn puts a workspace, which is a checkout of the same repository, at a commit that is here, for tests to run in it:
// HEAD, index and tracked files are exactly those of the commit, which is shown before anything runs; ignored files, such as
// what the workflow installed, stay; everything else is kept aside meanwhile. The commit's objects are only seen from there,
// and nothing that happens there gets into this checkout. Submodules are not touched. What the workflow left in the
// workspace to reach the server with is taken out of it, as Restore does.
//
// *ErrNoWorkspace where there is none. At most one network operation, in a partial clone.
func (c *Checkout) TestIn(ctx context.Context, workspace, sha string) (*TestPlace, error) {
	if !isSHA(sha) {
		return nil, fmt.Errorf("test %q in the workspace: not a commit id", sha)
	}
	if workspace == "" {
		return nil, &ErrNoWorkspace{"GITHUB_WORKSPACE is not set"}
	}
	if !c.clone || strings.Contains(c.objects, "\n") {
		return nil, errors.New("test in the workspace: the commit has to be in a clone of our own")
	}
	if err := c.fillTree(ctx, sha); err != nil {
		return nil, fmt.Errorf("test in the workspace: %w", err)
	}
	opt := c.opt
	opt.Workspace = workspace
	w, err := Open(ctx, opt)
	if err != nil {
		return nil, fmt.Errorf("test in the workspace: %w", err)
	}
	if w.clone {
		return nil, errors.Join(&ErrNoWorkspace{fmt.Sprintf("%s is no checkout of this repository", workspace)}, w.Close())
	}
	if err := os.Chmod(c.top, 0o711); err != nil { // as TestTree does: another user gets at the objects, and at nothing else
		return nil, errors.Join(fmt.Errorf("test in the workspace: %w", err), w.Close())
	}
	p := &TestPlace{w: w, objects: c.objects, sha: sha, moved: map[string]string{}}
	if err := p.note(ctx); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	if err := p.enter(ctx, c.boundary); err != nil {
		_, back := p.Back(context.WithoutCancel(ctx))
		return nil, errors.Join(fmt.Errorf("test in the workspace: %w", err), back)
	}
	return p, nil
}

// Dir is the workspace, and Env git's part of the environment of what runs there.
func (p *TestPlace) Dir() string   { return p.w.top }
func (p *TestPlace) Env() []string { return p.w.AgentEnv() }

// note remembers how the workspace is found. Nothing is changed but that no credential is left in it.
func (p *TestPlace) note(ctx context.Context) (err error) {
	w := p.w
	if err := errors.Join(w.strip(ctx), w.save("exclude", "attributes", "sparse-checkout"), w.renew()); err != nil {
		return fmt.Errorf("test in the workspace: %w", err)
	}
	p.shallow = w.boundary
	if p.head, err = os.ReadFile(filepath.Join(w.gitDir, "HEAD")); err == nil {
		p.index, err = os.ReadFile(w.index)
	}
	if err != nil {
		return &ErrNoWorkspace{"nothing is checked out there"}
	}
	copied := filepath.Join(w.own, "found-index")
	if err := w.copyIndex(copied); err != nil {
		return fmt.Errorf("test in the workspace: copy its index: %w", err)
	}
	out, err := w.treeWith(ctx, copied, nil, "write-tree", "--missing-ok")
	if err != nil {
		return &ErrNoWorkspace{"a merge is under way there"}
	}
	p.tree = line(out)
	if p.found, err = w.findings(ctx, copied); err != nil {
		return fmt.Errorf("test in the workspace: %w", err)
	}
	if p.aside, err = os.MkdirTemp(w.opt.Temp, "mergexo-aside-"); err != nil {
		return fmt.Errorf("test in the workspace: %w", err)
	}
	return nil
}

// findings looks at the files beside an index.
func (c *Checkout) findings(ctx context.Context, index string) (f findings, err error) {
	// Exit code 1: some files differ.
	if _, err := c.treeWith(ctx, index, nil, "update-index", "-q", "--refresh"); err != nil && exitCode(err) != 1 {
		return f, fmt.Errorf("compare files with the index: %w", err)
	}
	out, err := c.treeWith(ctx, index, nil, "diff-files", "-z", "--name-status", "--no-renames", "--ignore-submodules=all")
	if err != nil {
		return f, fmt.Errorf("look for changed files: %w", err)
	}
	part := fields(out)
	for i := 0; i+1 < len(part); i += 2 {
		if part[i] == "D" {
			f.gone = append(f.gone, part[i+1])
		} else {
			f.changed = append(f.changed, part[i+1])
		}
	}
	if f.untracked, err = c.others(ctx, index); err == nil {
		f.ignored, err = c.others(ctx, index, "--ignored")
	}
	return f, err
}

// others are the files that an index does not know: those that are ignored, or the rest. Of a repository among them the
// directory is named, with a slash behind it.
func (c *Checkout) others(ctx context.Context, index string, more ...string) ([]string, error) {
	out, err := c.treeWith(ctx, index, nil, append([]string{"ls-files", "-z", "--others", "--exclude-standard"}, more...)...)
	if err != nil {
		return nil, fmt.Errorf("look for new files: %w", err)
	}
	return fields(out), nil
}

// enter brings the workspace to the commit, and shows that it is there.
func (p *TestPlace) enter(ctx context.Context, boundary []byte) error {
	w := p.w
	if err := p.borrow(boundary); err != nil {
		return err
	}
	for _, path := range slices.Concat(p.found.changed, p.found.untracked) {
		if err := p.out(path); err != nil {
			return err
		}
	}
	out, err := w.ask(ctx, "diff-tree", "-r", "-z", "--name-only", "--no-renames", "--diff-filter=A", p.tree, p.sha+"^{tree}")
	if err != nil {
		return fmt.Errorf("look for new files of %s: %w", p.sha, err)
	}
	for _, path := range fields(out) { // an ignored file may stand where one of the commit's goes
		for end := 0; end < len(path); {
			i := strings.IndexByte(path[end:]+"/", '/')
			part := path[:end+i]
			end += i + 1
			if info, err := os.Lstat(filepath.Join(w.top, filepath.FromSlash(part))); err == nil && (!info.IsDir() || part == path) {
				if err := p.out(part); err != nil {
					return err
				}
			}
		}
	}
	if err := replaceFile(filepath.Join(w.gitDir, "HEAD"), []byte(p.sha+"\n")); err != nil {
		return err
	}
	if err := w.reset(ctx, p.sha); err != nil {
		return err
	}
	for { // what the commit does not ignore any more
		left, err := w.others(ctx, w.index)
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

// shown is an error unless HEAD and tracked files are those of the commit.
func (p *TestPlace) shown(ctx context.Context) error {
	head, err := p.w.inside(ctx, "rev-parse", "--verify", "HEAD^{commit}")
	if err == nil && line(head) != p.sha {
		err = fmt.Errorf("HEAD is %s", head)
	}
	if err != nil {
		return err
	}
	differ, err := p.differ(ctx)
	if err == nil && len(differ) > 0 {
		err = fmt.Errorf("%s differ from %s", quoted(differ), p.sha)
	}
	return err
}

// differ are the tracked files that are not those of the commit, by an index of our own.
func (p *TestPlace) differ(ctx context.Context) ([]string, error) {
	w := p.w
	index := filepath.Join(w.own, "place-index")
	if err := os.RemoveAll(index); err != nil {
		return nil, err
	}
	if _, err := w.treeWith(ctx, index, nil, "read-tree", "--reset", p.sha); err != nil {
		return nil, fmt.Errorf("read %s into an index: %w", p.sha, err)
	}
	f, err := w.findings(ctx, index)
	return slices.Sorted(slices.Values(slices.Concat(f.gone, f.changed))), err
}

// borrow lets the workspace see the objects of the commit, and where its history is cut off.
func (p *TestPlace) borrow(boundary []byte) error {
	w := p.w
	file := filepath.Join(w.objects, "info", "alternates")
	had := w.saved[file]
	if len(had) > 0 && had[len(had)-1] != '\n' {
		had = append(slices.Clone(had), '\n')
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	if err := replaceFile(file, append(slices.Clone(had), p.objects+"\n"...)); err != nil {
		return err
	}
	ends := slices.Concat(bytes.Fields(p.shallow), bytes.Fields(boundary))
	slices.SortFunc(ends, bytes.Compare)
	if ends = slices.CompactFunc(ends, bytes.Equal); len(ends) > 0 {
		w.boundary = append(bytes.Join(ends, []byte("\n")), '\n')
	}
	if err := replaceFile(w.shallow, w.boundary); err != nil {
		return err
	}
	return w.renew()
}

// out moves something out of the way.
func (p *TestPlace) out(path string) error {
	path = strings.TrimSuffix(path, "/")
	name := strconv.Itoa(len(p.order))
	if err := os.Rename(filepath.Join(p.w.top, filepath.FromSlash(path)), filepath.Join(p.aside, name)); err != nil {
		return fmt.Errorf("move %q aside: %w", path, err)
	}
	p.moved[path], p.order = name, append(p.order, path)
	return nil
}

// Back makes the workspace what it was, and says which tracked files of the commit were changed meanwhile. New files are gone
// then, ignored ones too; of ignored files that were there before, what was changed in them stays. Nothing else may be at work
// there any more.
func (p *TestPlace) Back(ctx context.Context) (changed []string, err error) {
	w := p.w
	err = w.putBack()
	if astray := (*ErrLedAstray)(nil); errors.As(err, &astray) { // the links are gone, and nothing has followed them
		w.opt.Log.Warn("workspace_led_astray", "error", err)
		err = w.putBack()
	}
	if err == nil {
		err = p.borrow(w.boundary)
	}
	if err == nil {
		if changed, err = p.differ(ctx); err == nil {
			err = p.unwind(ctx)
		}
	}
	if err != nil { // what was moved stays where it can be found
		return changed, errors.Join(fmt.Errorf("make the workspace what it was: %w; what was moved out of it is in %s", err, p.aside), w.Close())
	}
	return changed, errors.Join(os.RemoveAll(p.aside), w.Close())
}

// unwind puts index and files back, and shows that they are.
func (p *TestPlace) unwind(ctx context.Context) error {
	w := p.w
	if err := w.rebuildIndex(ctx, p.sha); err != nil {
		return err
	}
	if err := w.reset(ctx, p.tree); err != nil {
		return err
	}
	if err := w.removeUntracked(ctx); err != nil {
		return err
	}
	now, err := w.others(ctx, w.index, "--ignored")
	if err != nil {
		return err
	}
	kept := map[string]bool{}
	for _, path := range p.found.ignored {
		kept[path] = true
	}
	for _, path := range now {
		if !kept[path] {
			if err := w.remove(path); err != nil {
				return err
			}
		}
	}
	for _, path := range p.found.gone {
		if err := w.remove(path); err != nil {
			return err
		}
	}
	for _, path := range slices.Backward(p.order) {
		if err := p.in(path); err != nil {
			return err
		}
	}
	w.boundary = p.shallow
	err = errors.Join(replaceFile(w.index, p.index), replaceFile(filepath.Join(w.gitDir, "HEAD"), p.head), replaceFile(w.shallow, p.shallow), w.putBack(), w.renew())
	if err != nil {
		return err
	}
	f, err := w.findings(ctx, w.index)
	if err == nil && !(slices.Equal(f.gone, p.found.gone) && slices.Equal(f.changed, p.found.changed) && slices.Equal(f.untracked, p.found.untracked)) {
		err = errors.New("its files are others than before")
	}
	return err
}

// in moves something back to where it was. Others have worked there: what stands in its way is removed, and no link followed.
func (p *TestPlace) in(path string) error {
	for end := 0; ; {
		i := strings.IndexByte(path[end:], '/')
		if i < 0 {
			break
		}
		dir := filepath.Join(p.w.top, filepath.FromSlash(path[:end+i]))
		end += i + 1
		if info, err := os.Lstat(dir); err == nil && info.IsDir() {
			continue
		}
		if err := errors.Join(os.RemoveAll(dir), os.Mkdir(dir, 0o755)); err != nil {
			return err
		}
	}
	to := filepath.Join(p.w.top, filepath.FromSlash(path))
	if err := scratch.RemoveAll(to); err != nil {
		return err
	}
	return os.Rename(filepath.Join(p.aside, p.moved[path]), to)
}

// remove removes a file of the working tree, or a repository in it, which git has just found there by that path.
func (c *Checkout) remove(path string) error {
	root, err := os.OpenRoot(c.top)
	if err != nil {
		return err
	}
	err = root.RemoveAll(filepath.FromSlash(strings.TrimSuffix(path, "/")))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return errors.Join(err, root.Close())
}
