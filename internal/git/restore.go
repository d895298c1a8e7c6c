package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Restore makes the checkout a clean one of branch at sha: what a merge or a rebase left half-done is dropped, untracked
// files are removed and ignored ones stay, submodules are not touched, and the credentials that actions/checkout left
// behind are taken out. Where the server's branch is not at sha it looks once more and then says ErrHeadMoved; a branch
// that is gone is ErrNoRef. The tip of base is fetched along with it where there is one. One network operation as a rule.
func (c *Checkout) Restore(ctx context.Context, branch, base, sha string) error {
	if !validRef("refs/heads/"+branch) || base != "" && !validRef("refs/heads/"+base) || !isSHA(sha) {
		return fmt.Errorf("restore branch %q at %q: not a branch and a commit id", branch, sha)
	}
	err := c.restore(ctx, branch, base, sha)
	if !c.broken(ctx, err) {
		return err
	}
	// What is wrong with the workspace is nothing that another run would find mended.
	c.opt.Log.Warn("workspace_damaged", "error", err)
	if err := c.leave(ctx); err != nil {
		return err
	}
	return c.restore(ctx, branch, base, sha)
}

// broken tells whether an error is that of a workspace which git cannot work with, not of the server or the run.
func (c *Checkout) broken(ctx context.Context, err error) bool {
	var failed *Error
	var astray *ErrLedAstray
	return !c.clone && ctx.Err() == nil && (errors.As(err, &astray) || errors.As(err, &failed) && failed.Failure == "")
}

// leave gives the workspace up for a clone of our own.
func (c *Checkout) leave(ctx context.Context) error {
	c.saved, c.linked, c.refs, c.boundary, c.carried, c.promisor = nil, nil, map[string]string{}, nil, nil, false
	c.started, c.branches = "", nil
	if err := c.start(ctx); err != nil {
		return err
	}
	return c.renew()
}

func (c *Checkout) restore(ctx context.Context, branch, base, sha string) error {
	again := c.saved != nil
	if err := errors.Join(c.putBack(), c.renew()); err != nil {
		return err
	}
	seen, err := c.fetchPull(ctx, branch, base)
	if err == nil && seen != sha {
		seen, err = c.fetchPull(ctx, branch, base)
	}
	if err != nil {
		return err
	}
	if seen != sha {
		return &ErrHeadMoved{Branch: branch, Want: sha, Seen: seen}
	}
	if err := c.prepare(ctx); err != nil {
		return err
	}
	if err := c.fillTree(ctx, sha); err != nil {
		return err
	}
	c.nameTips(ctx, branch, base, sha)
	if err := c.settle(ctx, "refs/heads/"+branch, sha, again); err != nil {
		return fmt.Errorf("restore %s at %s: %w", branch, sha, err)
	}
	return c.noteStart(ctx, sha)
}

// prepare takes the credentials and half-done states out of the checkout, and notes what must survive the agent.
func (c *Checkout) prepare(ctx context.Context) error {
	if err := c.strip(ctx); err != nil {
		return err
	}
	if err := c.forgetStates(); err != nil {
		return err
	}
	if err := c.save("exclude", "attributes", "sparse-checkout"); err != nil {
		return err
	}
	if err := c.carry(ctx); err != nil {
		return err
	}
	return c.renew()
}

// save notes the files that decide what git runs, and where it looks for objects and refs, with some of the info directory.
func (c *Checkout) save(info ...string) error {
	paths := []string{
		c.config, filepath.Join(c.gitDir, "config.worktree"), filepath.Join(c.gitDir, "commondir"),
		filepath.Join(c.objects, "info", "alternates"), filepath.Join(c.objects, "info", "http-alternates"),
	}
	for _, name := range info {
		paths = append(paths, filepath.Join(c.info, name))
	}
	saved := map[string][]byte{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("read %s: %w", filepath.Base(path), err)
		}
		saved[path] = text
	}
	c.saved, c.linked = saved, c.links()
	return nil
}

// carry notes the settings that decide how files look in the working tree, so that our own commands write and read them
// as the workflow's do. They are taken before the agent runs; what it sets later is not used.
func (c *Checkout) carry(ctx context.Context) error {
	list, err := c.settings(ctx, c.config)
	if err != nil {
		return err
	}
	// `git sparse-checkout` writes to the configuration of the worktree, which git reads after the other one.
	if slices.ContainsFunc(list, func(s setting) bool { return s.key == "extensions.worktreeconfig" && s.value == "true" }) {
		worktree, err := c.settings(ctx, filepath.Join(c.gitDir, "config.worktree"))
		if err != nil {
			return err
		}
		list = append(list, worktree...)
	}
	c.carried = nil
	for _, s := range list {
		switch {
		case strings.HasPrefix(s.key, "filter."), slices.Contains([]string{
			"core.autocrlf", "core.eol", "core.filemode", "core.symlinks", "core.ignorecase", "core.precomposeunicode",
			"core.sparsecheckout", "core.sparsecheckoutcone", "index.sparse",
		}, s.key):
			c.carried = append(c.carried, s)
		case strings.HasPrefix(s.key, "remote.") && strings.HasSuffix(s.key, ".promisor") && s.value == "true":
			c.promisor = true
		}
	}
	return nil
}

// putBack restores the files of the checkout's git directory that decide what git runs and ignores.
func (c *Checkout) putBack() error {
	if err := c.straight(); err != nil {
		return err
	}
	if _, err := os.Stat(c.gitDir); err != nil {
		return nil // nothing there to restore it in; whoever needs the checkout will say so
	}
	for _, path := range slices.Sorted(maps.Keys(c.saved)) {
		info, err := os.Lstat(path)
		if err == nil && info.Mode().IsRegular() {
			if now, err := os.ReadFile(path); err == nil && c.saved[path] != nil && bytes.Equal(now, c.saved[path]) {
				continue
			}
		}
		if c.saved[path] == nil && errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err := replaceFile(path, c.saved[path]); err != nil {
			return fmt.Errorf("restore configuration of the checkout: %w", err)
		}
	}
	return nil
}

// forgetStates ends whatever was going on in the checkout, as `git merge --quit` and its siblings do.
func (c *Checkout) forgetStates() error {
	names := []string{
		"MERGE_HEAD", "MERGE_MSG", "MERGE_MODE", "MERGE_RR", "MERGE_AUTOSTASH", "AUTO_MERGE", "SQUASH_MSG",
		"CHERRY_PICK_HEAD", "REVERT_HEAD", "REBASE_HEAD", "BISECT_START", "BISECT_LOG", "BISECT_EXPECTED_REV",
		"rebase-merge", "rebase-apply", "sequencer", "HEAD.lock",
	}
	errs := []error{os.RemoveAll(c.index + ".lock"), os.RemoveAll(c.shallow + ".lock"), os.RemoveAll(c.config + ".lock")}
	for _, name := range names {
		errs = append(errs, os.RemoveAll(filepath.Join(c.gitDir, name)))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("end what was going on in the checkout: %w", err)
	}
	return nil
}

// nameTips names the fetched tips as the agent expects them: origin/BRANCH, origin/BASE.
func (c *Checkout) nameTips(ctx context.Context, branch, base, sha string) {
	known := "update refs/remotes/origin/" + branch + " " + sha + "\n"
	if tip := c.refs[fetchedBase]; tip != "" && base != "" {
		known += "update refs/remotes/origin/" + base + " " + tip + "\n"
	}
	if _, err := c.insideTold(ctx, []byte(known), "update-ref", "--no-deref", "--stdin"); err != nil {
		c.opt.Log.Debug("tracking_refs_kept", "error", err) // a convenience for the agent, nothing depends on it
	}
}
