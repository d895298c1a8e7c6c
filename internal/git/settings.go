package git

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/git/syntax"
)

// ListSettings lists a configuration file without includes; nothing if there is no such file.
func ListSettings(ctx context.Context, c *Checkout, file string) ([]Setting, error) {
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	out, err := c.Inside(ctx, "config", "--file", file, "--no-includes", "--null", "--list")
	return SettingsIn(out), Wrap(err, "read configuration of the checkout")
}

// SettingsIn reads what git config --null --list prints.
func SettingsIn(out []byte) []Setting {
	var list []Setting
	for _, entry := range syntax.Fields(out) {
		key, value, ok := strings.Cut(entry, "\n")
		if !ok {
			value = "true" // a key without a value
		}
		list = append(list, Setting{key, value})
	}
	return list
}

// ReadSettings records the settings that affect files in the working tree, so that our own commands write and read them as
// the workflow does. They are read before the agent runs; its later changes are ignored. Of filters, only those of Git LFS are
// run, and git fails on the files of others.
func ReadSettings(ctx context.Context, c *Checkout) error {
	list, err := ListSettings(ctx, c, c.Config)
	if err != nil {
		return err
	}
	return TakeSettings(ctx, c, list)
}

// TakeSettings is ReadSettings for a configuration that is listed already.
func TakeSettings(ctx context.Context, c *Checkout, list []Setting) error {
	// `git sparse-checkout` writes to the worktree's configuration, which git reads last.
	if slices.ContainsFunc(list, func(s Setting) bool { return s.Key == "extensions.worktreeconfig" && s.Value == "true" }) {
		worktree, err := ListSettings(ctx, c, filepath.Join(c.GitDir, "config.worktree"))
		if err != nil {
			return err
		}
		list = append(list, worktree...)
	}
	c.settingsBefore = nil
	_, noLFS := find("git-lfs", c.Opt.Path)
	var failing []Setting // which come last, and so count
	for _, s := range list {
		switch {
		case strings.HasPrefix(s.Key, "filter.") && !safeFilter(s):
			driver := s.Key[:strings.LastIndex(s.Key, ".")]
			failing = append(failing, Setting{driver + ".clean", "exit 1"}, Setting{driver + ".smudge", "exit 1"}, Setting{driver + ".required", "true"})
			c.Opt.Log.Debug("filter_not_run", "setting", syntax.Clean(s.Key))
		case noLFS != nil && strings.HasPrefix(s.Key, "filter.lfs."): // git would fail; what it does not clean is no longer pushed
		case strings.HasPrefix(s.Key, "filter."), slices.Contains([]string{
			"core.autocrlf", "core.eol", "core.filemode", "core.symlinks", "core.ignorecase", "core.precomposeunicode",
			"core.sparsecheckout", "core.sparsecheckoutcone", "index.sparse",
		}, s.Key):
			c.settingsBefore = append(c.settingsBefore, s)
		case strings.HasPrefix(s.Key, "remote.") && strings.HasSuffix(s.Key, ".promisor") && s.Value == "true":
			c.Partial = true
		case strings.HasPrefix(s.Key, "remote.") && strings.HasSuffix(s.Key, ".partialclonefilter") && strings.Contains(s.Value, "tree:"):
			c.Treeless = true
		}
	}
	c.settingsBefore = append(c.settingsBefore, failing...)
	return nil
}

// lfsCommand is a command line that `git lfs install` writes
// (https://github.com/git-lfs/git-lfs/blob/main/lfs/attribute.go).
var lfsCommand = regexp.MustCompile(`^git[- ]lfs (clean|smudge|filter-process)( --skip)?( --)?( %f)?$`)

// safeFilter reports whether git may have a filter's setting. git runs a filter in the working tree with our own rights, on
// files that an agent has written: a script of the tree, or `python -m` with a module's name, would be the agent's program. In
// place of the others git fails: what a filter takes out of a file, or encrypts, must not be published as it is.
func safeFilter(s Setting) bool {
	switch s.Key[strings.LastIndex(s.Key, ".")+1:] {
	case "clean", "smudge", "process":
		return s.Value == "" || lfsCommand.MatchString(s.Value)
	}
	return true
}

// Sparse reports whether the working tree was sparse before anybody else worked there.
func Sparse(c *Checkout) bool {
	return slices.Contains(c.settingsBefore, Setting{"core.sparsecheckout", "true"})
}
