package git

import (
	"context"
	"slices"
	"strconv"
	"strings"
)

// person is whoever works in a checkout on a machine of their own. What their configuration names is run for them when
// they use git themselves, so it is run here too where it is needed: to reach the origin, and to write their files.
type person struct {
	env      []string  // of their programs, as NAME=value
	settings []setting // what their environment sets, and what of the checkout's configuration says how the origin is reached
	bare     string    // an empty directory in place of a working tree; "" where there is one
}

// reaching are the names that begin with GIT_ and say how a server is reached, and where a person's configuration is.
var reaching = []string{
	"GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSH_VARIANT", "GIT_ASKPASS", "GIT_PROXY_COMMAND", "GIT_ALLOW_PROTOCOL",
	"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM",
}

// newPerson sorts an environment: the language is ours, since what git says is read, and so is where git works.
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
			p.settings = append(p.settings, setting{key, value})
		}
	}
	// No terminal: it asks nobody.
	p.env = append(p.env, "PATH="+path, "LANG=C.UTF-8", "LC_ALL=C.UTF-8", "GIT_TERMINAL_PROMPT=0", "GIT_NO_REPLACE_OBJECTS=1", "GIT_NO_LAZY_FETCH=1")
	return p
}

// reaches tells whether a setting of the checkout's own configuration says how its origin is reached.
func reaches(s setting) bool {
	section, _, _ := strings.Cut(s.key, ".")
	name := s.key[strings.LastIndex(s.key, ".")+1:]
	switch section {
	case "http", "https", "credential", "ssh", "url", "protocol", "ftp":
		return true
	case "core":
		return slices.Contains([]string{"sshcommand", "askpass", "gitproxy"}, name)
	case "remote":
		return strings.HasPrefix(s.key, "remote.origin.") &&
			slices.Contains([]string{"pushurl", "proxy", "proxyauthmethod", "uploadpack", "receivepack", "vcs"}, name)
	}
	return false
}

// asPerson runs a command that talks to the origin, in our own git directory, as the person would.
func (c *Checkout) asPerson(ctx context.Context, stdin []byte, args ...string) ([]byte, error) {
	settings := append(slices.Clone(c.person.settings), setting{"remote.origin.url", c.opt.URL})
	env := concat(c.person.env, []string{"GIT_DIR=" + c.own, "GIT_OBJECT_DIRECTORY=" + c.objects, "TMPDIR=" + c.opt.Temp})
	return c.talk(ctx, spec{dir: c.own, args: args, stdin: stdin, alone: true}, env, settings)
}

// desk runs a command in a working tree as the person would, with the hooks off and away from the network.
func (c *Checkout) desk(ctx context.Context, at seat, args ...string) ([]byte, error) {
	env := concat(c.person.env, []string{"GIT_DIR=" + at.gitDir, "GIT_WORK_TREE=" + at.top, "GIT_LITERAL_PATHSPECS=1", "GIT_OPTIONAL_LOCKS=0"}, settingsEnv(c.person.settings))
	if at.index != "" {
		env = append(env, "GIT_INDEX_FILE="+at.index)
	}
	return c.run(ctx, spec{dir: at.top, env: env, args: concat(shield, offline, args), alone: true})
}
