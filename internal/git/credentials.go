package git

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
)

// strip takes out of the checkout's configuration, and that of its submodules, what actions/checkout and people leave
// there to reach the server with: an Authorization header (up to v5), an include of a file in RUNNER_TEMP that has it
// (since v6, https://github.com/actions/checkout/pull/2286), an ssh key, or a credential inside a URL.
func (c *Checkout) strip(ctx context.Context) error {
	files := []string{c.config, filepath.Join(c.gitDir, "config.worktree")}
	modules := filepath.Join(filepath.Dir(c.config), "modules")
	err := filepath.WalkDir(modules, func(file string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() && entry.Name() == "config" {
			files = append(files, file)
		}
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("look for configurations of submodules: %w", err)
	}
	for _, file := range files {
		if err := c.stripFile(ctx, file); err != nil {
			return fmt.Errorf("take credentials out of the checkout: %w", err)
		}
	}
	return nil
}

func (c *Checkout) stripFile(ctx context.Context, file string) error {
	list, err := c.settings(ctx, file)
	if err != nil {
		return err
	}
	for _, s := range list {
		change := c.unwanted(s)
		if change == nil {
			continue
		}
		// Exit code 5: an earlier round removed it already, since --unset-all takes every value of a key.
		if _, err := c.inside(ctx, append([]string{"config", "--file", file}, change...)...); err != nil && exitCode(err) != 5 {
			return err
		}
		c.opt.Log.Debug("credential_removed", "key", c.redact(clean(s.key)))
	}
	return nil
}

var keyFile = regexp.MustCompile(`-i "?([^" ]+)"?`)

// unwanted says how to change the configuration so that a setting no longer gives a credential away; nil for settings
// that do not. The files that hold the credential are deleted when they lie in the runner's temporary directory.
func (c *Checkout) unwanted(s setting) []string {
	section, _, _ := strings.Cut(s.key, ".")
	name := s.key[strings.LastIndex(s.key, ".")+1:]
	switch {
	case section == "http" && name == "extraheader", section == "credential":
		return []string{"--unset-all", s.key}
	case (section == "includeif" || section == "include") && name == "path":
		if ok, _ := path.Match("git-credentials-*.config", path.Base(s.value)); !ok {
			return nil
		}
		c.deleteTemporary(s.value)
		return []string{"--fixed-value", "--unset-all", s.key, s.value}
	case s.key == "core.sshcommand":
		if m := keyFile.FindStringSubmatch(s.value); m != nil {
			c.deleteTemporary(m[1])
		}
		return []string{"--unset-all", s.key}
	case section == "url" && strings.Contains(s.key, "@") && strings.Contains(s.key, "://"):
		return []string{"--unset-all", s.key}
	case section == "remote" && (name == "url" || name == "pushurl") && isHTTP(s.value):
		if u, err := url.Parse(s.value); err == nil && u.User != nil {
			u.User = nil
			return []string{"--fixed-value", "--replace-all", s.key, u.String(), s.value}
		}
	}
	return nil
}

// deleteTemporary deletes a file below Temp. In a container job the runner's directory has another name, so the file is
// looked for by its own name too.
func (c *Checkout) deleteTemporary(file string) {
	for _, candidate := range []string{filepath.Clean(file), filepath.Join(c.opt.Temp, filepath.Base(file))} {
		rel, err := filepath.Rel(c.opt.Temp, candidate)
		if err != nil || rel == "." || rel == ".." || strings.HasPrefix(rel, "../") {
			continue
		}
		if info, err := os.Lstat(candidate); err == nil && info.Mode().IsRegular() {
			if err := os.Remove(candidate); err != nil {
				c.opt.Log.Warn("credential_file_left", "file", candidate, "error", err)
			}
		}
	}
}

// settings lists a configuration file without what it includes; nothing when there is no such file.
func (c *Checkout) settings(ctx context.Context, file string) ([]setting, error) {
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	out, err := c.inside(ctx, "config", "--file", file, "--no-includes", "--null", "--list")
	if err != nil {
		return nil, fmt.Errorf("read configuration of the checkout: %w", err)
	}
	var list []setting
	for _, entry := range fields(out) {
		key, value, ok := strings.Cut(entry, "\n")
		if !ok {
			value = "true" // a key without a value
		}
		list = append(list, setting{key, value})
	}
	return list, nil
}
