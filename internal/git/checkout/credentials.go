package checkout

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/syntax"
)

// stripCredentials removes server credentials, left by actions/checkout and people, from the configuration of the checkout
// and its submodules: an Authorization header (up to v5), an include of a file in RUNNER_TEMP with one (since v6,
// https://github.com/actions/checkout/pull/2286), an ssh key, or a credential inside a URL. It takes the settings of the
// checkout that are left.
func stripCredentials(ctx context.Context, c *git.Checkout) error {
	if err := stripOthers(ctx, c); err != nil {
		return fmt.Errorf("take credentials out of the workspace: %w", err)
	}
	if c.OwnClone && c.Noted == nil { // its settings are ours
		return nil
	}
	files, err := configsOf(c.GitDir, filepath.Dir(c.Config))
	if err != nil {
		return err
	}
	var left []git.Setting
	for _, file := range append(files, c.Config) {
		if left, err = stripFile(ctx, c, file, func(named string) { deleteTemporary(c, named) }); err != nil {
			return fmt.Errorf("take credentials out of the checkout: %w", err)
		}
	}
	return git.TakeSettings(ctx, c, left)
}

// configsOf are the configurations of a working tree and of its submodules, beside the one that all working trees share.
func configsOf(gitDir, common string) ([]string, error) {
	files := []string{filepath.Join(gitDir, "config.worktree")}
	err := filepath.WalkDir(filepath.Join(common, "modules"), func(file string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() && entry.Name() == "config" {
			files = append(files, file)
		}
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("look for configurations of submodules: %w", err)
	}
	return files, nil
}

// Other checkouts are looked for so many directories below the workspace, as with src/github.com/owner/name, and in so many of them.
const (
	othersDepth = 6
	mostOthers  = 50_000
)

// stripOthers removes them from other checkouts in the workspace, such as one that actions/checkout was given a path for: whatever
// runs as another user can read those too.
func stripOthers(ctx context.Context, c *git.Checkout) error {
	if c.Opt.Workspace == "" || git.Personal(c) {
		return nil
	}
	found, err := filepath.Glob(filepath.Join(c.Opt.Temp, "git-credentials-*.config")) // since v6
	if err != nil {
		return err
	}
	for _, file := range found {
		deleteTemporary(c, file)
	}
	for _, gitDir := range othersIn(c) {
		files, _ := configsOf(gitDir, gitDir) // what cannot be listed has nothing of this user's
		for _, file := range append(files, filepath.Join(gitDir, "config")) {
			if err := stripOther(ctx, c, file); err != nil {
				return err
			}
		}
	}
	return nil
}

// othersIn are the git directories in the workspace that are not the checkout's own.
func othersIn(c *git.Checkout) (dirs []string) {
	top, looked := filepath.Clean(c.Opt.Workspace), 0
	_ = filepath.WalkDir(top, func(path string, entry fs.DirEntry, err error) error {
		switch rel, _ := filepath.Rel(top, path); {
		case err != nil || !entry.IsDir(): // what cannot be listed here has no checkout that this user made
			return nil
		case entry.Name() == ".git":
			if path != c.GitDir && path != filepath.Dir(c.Config) {
				dirs = append(dirs, path)
			}
			return fs.SkipDir
		case strings.Count(rel, string(filepath.Separator)) >= othersDepth-1 && rel != ".":
			return fs.SkipDir
		}
		if looked++; looked > mostOthers {
			c.Opt.Log.Warn("checkouts_not_looked_for", "workspace", top, "directories", looked)
			return fs.SkipAll
		}
		return nil
	})
	return dirs
}

// stripOther removes credentials from a configuration that may be anybody's: no file that it names is touched. One that git cannot
// read is left as it is, unless it has a secret of ours.
func stripOther(ctx context.Context, c *git.Checkout, file string) error {
	info, err := os.Lstat(file)
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	if _, err = git.ListSettings(ctx, c, file); err == nil {
		_, err = stripFile(ctx, c, file, func(string) {})
		return err
	}
	text, readErr := os.ReadFile(file)
	if readErr != nil || git.Redact(c, string(text)) != string(text) {
		return err
	}
	c.Opt.Log.Debug("configuration_unreadable", "file", file, "error", err)
	return nil
}

// stripFile returns the settings that are left. Of each file with a credential that they name, discard hears.
func stripFile(ctx context.Context, c *git.Checkout, file string, discard func(file string)) ([]git.Setting, error) {
	list, err := git.ListSettings(ctx, c, file)
	if err != nil {
		return nil, err
	}
	changed := false
	for _, s := range list {
		change := removalOf(s, discard)
		if change == nil {
			continue
		}
		// Exit code 5: already removed, since --unset-all removes every value of a key.
		if _, err := c.Inside(ctx, append([]string{"config", "--file", file}, change...)...); err != nil && git.ExitCode(err) != 5 {
			return nil, err
		}
		changed = true
		c.Opt.Log.Debug("credential_removed", "key", git.Redact(c, syntax.Clean(s.Key)))
	}
	if !changed {
		return list, nil
	}
	return git.ListSettings(ctx, c, file)
}

var keyFile = regexp.MustCompile(`-i "?([^" ]+)"?`)

// removalOf is the change of configuration that removes a credential; nil for other settings.
func removalOf(s git.Setting, discard func(file string)) []string {
	section, _, _ := strings.Cut(s.Key, ".")
	name := s.Key[strings.LastIndex(s.Key, ".")+1:]
	switch {
	case section == "http" && name == "extraheader", section == "credential":
		return []string{"--unset-all", s.Key}
	case (section == "includeif" || section == "include") && name == "path":
		if ok, _ := path.Match("git-credentials-*.config", path.Base(s.Value)); !ok {
			return nil
		}
		discard(s.Value)
		return []string{"--fixed-value", "--unset-all", s.Key, s.Value}
	case s.Key == "core.sshcommand":
		if m := keyFile.FindStringSubmatch(s.Value); m != nil {
			discard(m[1])
		}
		return []string{"--unset-all", s.Key}
	case section == "url" && strings.Contains(s.Key, "@") && strings.Contains(s.Key, "://"):
		return []string{"--unset-all", s.Key}
	case section == "remote" && (name == "url" || name == "pushurl") && git.IsHTTP(s.Value):
		if u, err := url.Parse(s.Value); err == nil && u.User != nil {
			u.User = nil
			return []string{"--fixed-value", "--replace-all", s.Key, u.String(), s.Value}
		}
	}
	return nil
}

// deleteTemporary deletes a file below Temp. In a container job the runner's directory has another name, so the file is
// also searched for by its base name.
func deleteTemporary(c *git.Checkout, file string) {
	for _, candidate := range []string{filepath.Clean(file), filepath.Join(c.Opt.Temp, filepath.Base(file))} {
		rel, err := filepath.Rel(c.Opt.Temp, candidate)
		if err != nil || rel == "." || rel == ".." || strings.HasPrefix(rel, "../") {
			continue
		}
		if info, err := os.Lstat(candidate); err == nil && info.Mode().IsRegular() {
			if err := os.Remove(candidate); err != nil {
				c.Opt.Log.Warn("credential_file_left", "file", candidate, "error", err)
			}
		}
	}
}
