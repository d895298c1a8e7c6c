package git

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// Recreate has to be called after others have run as our own user, before anything that matters: they can find our own git
// directory and make it name another server or a program. It recreates that directory, and restores the configuration of a
// checkout that is not a person's. Fetched and created objects stay. It fails with *ErrUnsafeGitDir on links that they
// left. No network operation.
//
// What they did to the objects themselves stays, too. But a push cannot replace an object: the server names each by its
// content, and accepts no commit with missing objects.
func (c *Checkout) Recreate() error {
	c.Committed = ""
	if err := c.PutBack(); err != nil {
		return err
	}
	return NewOwnDir(c)
}

// NewOwnDir writes our own git directory again, from memory and under a new name: after the agent ran, the directory that
// it could find and change is no longer used.
func NewOwnDir(c *Checkout) error {
	dir, err := c.Temporary("git")
	if err != nil {
		return fmt.Errorf("make git directory: %w", err)
	}
	files := map[string][]byte{
		"HEAD":   []byte("ref: refs/heads/none\n"),
		"config": configText(c),
	}
	var packed strings.Builder
	packed.WriteString("# pack-refs with: sorted\n")
	for _, name := range slices.Sorted(maps.Keys(c.Refs)) {
		fmt.Fprintf(&packed, "%s %s\n", c.Refs[name], name)
	}
	files["packed-refs"], files["shallow"] = []byte(packed.String()), c.Boundary
	for _, name := range []string{"exclude", "attributes", "sparse-checkout"} {
		files["info/"+name] = c.Noted[filepath.Join(c.Info, name)]
	}
	if err := writeDir(dir, 0o700, files); err != nil {
		return err
	}
	old := c.OwnDir
	c.OwnDir = dir
	if old != "" {
		if err := os.RemoveAll(old); err != nil {
			return fmt.Errorf("remove git directory: %w", err)
		}
	}
	return nil
}

// writeDir makes a git directory with these files, by their names in it (https://git-scm.com/docs/gitrepository-layout). Empty ones are
// left out.
func writeDir(dir string, mode fs.FileMode, files map[string][]byte) error {
	errs := []error{os.MkdirAll(filepath.Join(dir, "refs", "heads"), mode), os.MkdirAll(filepath.Join(dir, "objects"), mode)}
	for name, text := range files {
		if file := filepath.Join(dir, filepath.FromSlash(name)); len(text) > 0 {
			errs = append(errs, os.MkdirAll(filepath.Dir(file), mode), os.WriteFile(file, text, mode&0o666))
		}
	}
	return Wrap(errors.Join(errs...), "make git directory")
}

// Initialize makes a git directory as git init would, with further settings and files, among them HEAD. It returns all settings.
func Initialize(dir string, more []Setting, files map[string][]byte) ([]Setting, error) {
	if err := writeDir(dir, 0o755, files); err != nil {
		return nil, err
	}
	_, folded := os.Stat(filepath.Join(dir, "hEaD"))
	list := append([]Setting{
		{"core.repositoryformatversion", "0"}, {"core.bare", "false"}, {"core.filemode", "true"}, {"core.logallrefupdates", "true"},
		{"core.ignorecase", strconv.FormatBool(folded == nil)}, {"core.precomposeunicode", strconv.FormatBool(runtime.GOOS == "darwin")},
	}, more...)
	return list, Wrap(os.WriteFile(filepath.Join(dir, "config"), SettingsText(list), 0o644), "make git directory")
}

// PointHead makes a commit the HEAD of our own git directory, with which the index and the files are compared.
func PointHead(c *Checkout, sha string) error {
	return Wrap(os.WriteFile(filepath.Join(c.OwnDir, "HEAD"), []byte(sha+"\n"), 0o600), "write HEAD of the git directory")
}

// configText is the configuration of our own git directory. core.commitGraph is off because git trusts a commit-graph file
// more than the commits, and it is among the objects that the agent can write.
func configText(c *Checkout) []byte {
	list := []Setting{
		{"core.repositoryformatversion", "1"}, {"core.bare", "false"}, {"core.commitGraph", "false"}, {"core.splitIndex", "false"},
		{"core.logAllRefUpdates", "false"}, {"core.quotePath", "false"}, {"diff.renames", "false"}, {"log.showSignature", "false"},
		{"push.gpgSign", "false"}, {"push.followTags", "false"}, {"push.negotiate", "false"}, {"fetch.writeCommitGraph", "false"},
		{"fetch.recurseSubmodules", "false"}, {"fetch.prune", "false"}, {"fetch.pruneTags", "false"}, {"diff.ignoreSubmodules", "none"}, {"color.ui", "false"},
	}
	if c.person == nil { // it would disable a person's helpers
		list = append(list, Setting{"credential.helper", ""})
	}
	return SettingsText(append(list, c.settingsBefore...))
}

// SettingsText formats settings as a configuration file.
func SettingsText(list []Setting) []byte {
	var text bytes.Buffer
	for _, s := range list {
		section, name := s.Key[:strings.Index(s.Key, ".")], s.Key[strings.LastIndex(s.Key, ".")+1:]
		if len(section)+1 < len(s.Key)-len(name) {
			section += ` "` + quoteConfig(s.Key[len(section)+1:len(s.Key)-len(name)-1]) + `"`
		}
		fmt.Fprintf(&text, "[%s]\n\t%s = \"%s\"\n", section, name, quoteConfig(s.Value))
	}
	return text.Bytes()
}

// quoteConfig escapes a value as git-config(1) says under "Syntax".
func quoteConfig(s string) string { return configEscapes.Replace(s) }

var configEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`)

// TakeShallow reads our own shallow file after a fetch and copies it to the checkout, whose objects have just changed. A
// person's checkout keeps its own: none of its refs leads to what was fetched.
func TakeShallow(c *Checkout) error {
	now, err := os.ReadFile(filepath.Join(c.OwnDir, "shallow"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read shallow file: %w", err)
	}
	if bytes.Equal(now, c.Boundary) {
		return nil
	}
	if c.Boundary = now; c.person != nil {
		return nil
	}
	return ReplaceFile(c.Shallow, now)
}

// sameRepository compares two URLs of a repository: https, ssh and scp-like forms, with or without .git, ignoring case
// (GitHub's names ignore case). Ports count only between http forms.
func sameRepository(a, b string) bool {
	hostA, pathA := address(a)
	hostB, pathB := address(b)
	if pathA == "" || pathA != pathB {
		return false
	}
	if hostA == hostB {
		return true
	}
	if IsHTTP(a) && IsHTTP(b) {
		return false
	}
	nameA, _, _ := strings.Cut(hostA, ":")
	nameB, _, _ := strings.Cut(hostB, ":")
	return nameA == nameB
}

// IsHTTP reports whether a URL is a web server's.
func IsHTTP(s string) bool {
	return strings.HasPrefix(s, "https://") || strings.HasPrefix(s, "http://")
}

// address is host[:port] and owner/name of a remote's URL, in lower case; empty when it is a local path or unreadable.
func address(remote string) (host, path string) {
	host, path = spelled(remote)
	return host, strings.ToLower(path)
}

// spelled is address with the original case of owner and name.
func spelled(remote string) (host, path string) {
	if !strings.Contains(remote, "://") { // git@host:owner/name
		before, after, ok := strings.Cut(remote, ":")
		if !ok || strings.Contains(before, "/") {
			return "", ""
		}
		host, path = before[strings.LastIndex(before, "@")+1:], after
	} else {
		u, err := url.Parse(remote)
		if err != nil || u.Host == "" {
			return "", ""
		}
		host, path = u.Host, u.Path
		if port := u.Port(); u.Scheme == "https" && port == "443" || u.Scheme == "http" && port == "80" {
			host = u.Hostname()
		}
	}
	path = strings.TrimSuffix(strings.Trim(path, "/"), ".git")
	return strings.ToLower(host), path
}
