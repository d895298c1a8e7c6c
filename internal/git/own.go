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
	"slices"
	"strings"
)

// Renew is to be called after others have run as our own user, before the next thing that matters: they can find our own git
// directory, and what is written there could name another server or a program. It starts that directory anew, and puts
// back the configuration of a checkout that is no person's. What was fetched and made stays. It fails with *ErrLedAstray where
// they left links. No network operation.
//
// What they did to the objects themselves stays, too. A push sends none in the place of another: the server names each by
// what is in it, and takes no commit without all that it needs.
func (c *Checkout) Renew() error {
	if err := c.putBack(); err != nil {
		return err
	}
	return c.renew()
}

// renew writes our own git directory anew from what we hold in memory. It is called once more after the agent ran, under
// a new name: what the agent could find and change is then no longer used.
func (c *Checkout) renew() error {
	dir, err := c.temporary("git")
	if err != nil {
		return fmt.Errorf("make git directory: %w", err)
	}
	files := map[string][]byte{
		"HEAD":   []byte("ref: refs/heads/none\n"),
		"config": c.ownConfig(),
	}
	var packed strings.Builder
	packed.WriteString("# pack-refs with: sorted\n")
	for _, name := range slices.Sorted(maps.Keys(c.refs)) {
		fmt.Fprintf(&packed, "%s %s\n", c.refs[name], name)
	}
	files["packed-refs"] = []byte(packed.String())
	if len(c.boundary) > 0 {
		files["shallow"] = c.boundary
	}
	for _, name := range []string{"exclude", "attributes", "sparse-checkout"} {
		if text := c.saved[filepath.Join(c.info, name)]; text != nil {
			files["info/"+name] = text
		}
	}
	for _, sub := range []string{"refs", "objects", "info"} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o700); err != nil {
			return fmt.Errorf("make git directory: %w", err)
		}
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			return fmt.Errorf("make git directory: %w", err)
		}
	}
	old := c.own
	c.own = dir
	if old != "" {
		if err := os.RemoveAll(old); err != nil {
			return fmt.Errorf("remove git directory: %w", err)
		}
	}
	return nil
}

// ownConfig is the whole configuration of our own git directory. core.commitGraph is off because a commit-graph file is
// believed over the commits themselves, and it lies among the objects that the agent can write.
func (c *Checkout) ownConfig() []byte {
	list := []setting{
		{"core.repositoryformatversion", "1"}, {"core.bare", "false"}, {"core.commitGraph", "false"}, {"core.splitIndex", "false"},
		{"core.logAllRefUpdates", "false"}, {"core.quotePath", "false"}, {"diff.renames", "false"}, {"log.showSignature", "false"},
		{"push.gpgSign", "false"}, {"push.followTags", "false"}, {"push.negotiate", "false"}, {"fetch.writeCommitGraph", "false"},
		{"fetch.recurseSubmodules", "false"}, {"fetch.prune", "false"}, {"fetch.pruneTags", "false"}, {"diff.ignoreSubmodules", "none"}, {"color.ui", "false"},
	}
	if c.person == nil { // whose helpers this would turn off
		list = append(list, setting{"credential.helper", ""})
	}
	return configText(append(list, c.carried...))
}

// configText writes settings as a configuration file has them.
func configText(list []setting) []byte {
	var text bytes.Buffer
	for _, s := range list {
		section, name := s.key[:strings.Index(s.key, ".")], s.key[strings.LastIndex(s.key, ".")+1:]
		if len(section)+1 < len(s.key)-len(name) {
			section += ` "` + quoteConfig(s.key[len(section)+1:len(s.key)-len(name)-1]) + `"`
		}
		fmt.Fprintf(&text, "[%s]\n\t%s = \"%s\"\n", section, name, quoteConfig(s.value))
	}
	return text.Bytes()
}

// quoteConfig escapes a value as git-config(1) says under "Syntax".
func quoteConfig(s string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`).Replace(s)
}

// takeShallow reads our own shallow file after a fetch and hands it to the checkout, whose objects have just changed. A person's
// stays as shallow as it is: none of its refs leads to what was fetched.
func (c *Checkout) takeShallow() error {
	now, err := os.ReadFile(filepath.Join(c.own, "shallow"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read shallow file: %w", err)
	}
	if bytes.Equal(now, c.boundary) {
		return nil
	}
	if c.boundary = now; c.person != nil {
		return nil
	}
	return replaceFile(c.shallow, now)
}

// replaceFile writes a file by renaming over it, so that a symbolic link in its place is replaced and not followed. No
// content at all removes it.
func replaceFile(path string, text []byte) error {
	if len(text) == 0 {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove %s: %w", filepath.Base(path), err)
		}
		return nil
	}
	file, err := os.CreateTemp(filepath.Dir(path), ".mergexo-")
	if err != nil {
		return fmt.Errorf("write %s: %w", filepath.Base(path), err)
	}
	_, err = file.Write(text)
	err = errors.Join(err, file.Chmod(0o644), file.Close())
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", filepath.Base(path), errors.Join(err, os.Remove(file.Name())))
	}
	return nil
}

// sameRepository compares two spellings of a repository's address: https, ssh and scp-like forms, with or without .git,
// whatever the case (GitHub's owner and repository names are case-insensitive). Ports count only between http forms.
func sameRepository(a, b string) bool {
	hostA, pathA := address(a)
	hostB, pathB := address(b)
	if pathA == "" || pathA != pathB {
		return false
	}
	if hostA == hostB {
		return true
	}
	if isHTTP(a) && isHTTP(b) {
		return false
	}
	nameA, _, _ := strings.Cut(hostA, ":")
	nameB, _, _ := strings.Cut(hostB, ":")
	return nameA == nameB
}

func isHTTP(s string) bool {
	return strings.HasPrefix(s, "https://") || strings.HasPrefix(s, "http://")
}

// address is host[:port] and owner/name of a remote's URL, in lower case; empty when it is a local path or unreadable.
func address(remote string) (host, path string) {
	host, path = spelled(remote)
	return host, strings.ToLower(path)
}

// spelled is address with the case of owner and name as it is written.
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
