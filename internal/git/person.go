package git

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Worktree is a working tree of the repository.
type Worktree struct {
	Top, GitDir string
	Index       string // replaces its own; "": its own
	// Differing are files that differ from the index though they are as git writes them: blobs and attributes disagree.
	Differing []string
}

// MainWorktree is the working tree of the checkout itself.
func MainWorktree(c *Checkout) Worktree { return Worktree{Top: c.Top, GitDir: c.GitDir} }

// Returns reports whether the operation in progress will return to a branch.
func (s Worktree) Returns(branch string) bool {
	for _, name := range []string{"rebase-merge/head-name", "rebase-apply/head-name", "BISECT_START"} {
		text, err := os.ReadFile(filepath.Join(s.GitDir, name))
		if err == nil && strings.TrimPrefix(strings.TrimSpace(string(text)), "refs/heads/") == branch {
			return true
		}
	}
	return false
}

// person is somebody working in a checkout on their own machine. Programs in their configuration run whenever they use git,
// so they run here too if needed: to reach the origin, and to write their files.
type person struct {
	env      []string  // their environment, as NAME=value
	settings []Setting // settings in their environment, and the checkout's settings for reaching the origin
	bare     string    // an empty directory as the working tree of a bare repository; "" if there is one
}

// reaching are the GIT_ variables about reaching a server, about a person's configuration, and about who commits.
var reaching = []string{
	"GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSH_VARIANT", "GIT_ASKPASS", "GIT_PROXY_COMMAND", "GIT_ALLOW_PROTOCOL",
	"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL",
}

// newPerson filters an environment: the language is ours, since git's output is parsed, and so are git's directories.
func newPerson(env []string, path string) *person {
	p := &person{}
	values := map[string]string{}
	for _, entry := range env {
		name, value, _ := strings.Cut(entry, "=")
		values[name] = value
		ours := strings.HasPrefix(name, "LC_") || slices.Contains([]string{"LANG", "LANGUAGE", "PATH", ""}, name)
		git := strings.HasPrefix(name, "GIT_") && !slices.Contains(reaching, name) &&
			!strings.HasPrefix(name, "GIT_SSL_") && !strings.HasPrefix(name, "GIT_HTTP_")
		if !ours && !git {
			p.env = append(p.env, entry)
		}
	}
	count, _ := strconv.Atoi(values["GIT_CONFIG_COUNT"]) // git-config(1), ENVIRONMENT
	for i := range min(count, 1000) {
		n := strconv.Itoa(i)
		if key, value := values["GIT_CONFIG_KEY_"+n], values["GIT_CONFIG_VALUE_"+n]; key != "" {
			p.settings = append(p.settings, Setting{key, value})
		}
	}
	// No terminal: nobody can be asked.
	p.env = append(p.env, "PATH="+path, "LANG=C.UTF-8", "LC_ALL=C.UTF-8", "GIT_TERMINAL_PROMPT=0", "GIT_NO_REPLACE_OBJECTS=1", "GIT_NO_LAZY_FETCH=1")
	return p
}

// reaches reports whether a setting of the checkout affects reaching its origin.
func reaches(s Setting) bool {
	section, _, _ := strings.Cut(s.Key, ".")
	name := s.Key[strings.LastIndex(s.Key, ".")+1:]
	switch section {
	case "http", "https", "credential", "ssh", "url", "protocol", "ftp":
		return true
	case "core":
		return slices.Contains([]string{"sshcommand", "askpass", "gitproxy"}, name)
	case "remote":
		return strings.HasPrefix(s.Key, "remote.origin.") &&
			slices.Contains([]string{"pushurl", "proxy", "proxyauthmethod", "uploadpack", "receivepack", "vcs"}, name)
	}
	return false
}

// asPerson runs a command that talks to the origin, in our own git directory, in the person's environment.
func asPerson(ctx context.Context, c *Checkout, stdin []byte, args ...string) ([]byte, error) {
	settings := append(slices.Clone(c.person.settings), Setting{"remote.origin.url", c.Opt.URL})
	env := slices.Concat(c.person.env, []string{"GIT_DIR=" + c.OwnDir, "GIT_OBJECT_DIRECTORY=" + c.Objects, "TMPDIR=" + c.Opt.Temp})
	return c.talk(ctx, Spec{Dir: c.OwnDir, Args: args, Stdin: stdin, alone: true}, env, settings, func(said string) string { return said })
}

// AsOwner runs a command in a working tree in the person's environment, without hooks and network.
func (c *Checkout) AsOwner(ctx context.Context, at Worktree, args ...string) ([]byte, error) {
	env := slices.Concat(c.person.env, []string{"GIT_DIR=" + at.GitDir, "GIT_WORK_TREE=" + at.Top, "GIT_LITERAL_PATHSPECS=1", "GIT_OPTIONAL_LOCKS=0"}, settingsEnv(c.person.settings))
	if at.Index != "" {
		env = append(env, "GIT_INDEX_FILE="+at.Index)
	}
	return c.Run(ctx, Spec{Dir: at.Top, Env: env, Args: Safely(args), alone: true})
}

// Personal reports whether the checkout is a person's, whose configuration and files stay theirs.
func Personal(c *Checkout) bool { return c.person != nil }
