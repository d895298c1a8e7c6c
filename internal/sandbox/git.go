package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
)

// zeroSHA is how git and GitHub write "no object".
const zeroSHA = "0000000000000000000000000000000000000000"

// gitEnv is an environment in which git depends on nobody's settings. Identities and dates come from the caller.
func gitEnv(extra ...string) []string {
	env := []string{
		"PATH=" + searchPath(), "HOME=/nonexistent", "LC_ALL=C", "TZ=UTC",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_TERMINAL_PROMPT=0", "GIT_NO_REPLACE_OBJECTS=1",
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*",
	}
	return append(env, extra...)
}

// searchPath is where git's own children (hooks, what packs objects) find programs: beside git, then where systems have them.
var searchPath = sync.OnceValue(func() string {
	path := "/usr/local/bin:/usr/bin:/bin"
	if git, err := exec.LookPath("git"); err == nil {
		path = filepath.Dir(git) + ":" + path
	}
	return path
})

// gitError is a git command that ended with an exit code.
type gitError struct {
	args   []string
	code   int
	stderr string
}

func (e *gitError) Error() string {
	return fmt.Sprintf("git %s: exit %d: %s", strings.Join(e.args, " "), e.code, strings.TrimSpace(e.stderr))
}

// exitCode is the exit code in err: 0 for nil, -1 where git did not even start.
func exitCode(err error) int {
	var ge *gitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &ge):
		return ge.code
	}
	return -1
}

// runGit runs git in dir and gives its standard output, also when it ends with an error.
func runGit(dir string, env []string, stdin []byte, args ...string) ([]byte, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = gitEnv(env...)
	if stdin != nil {
		cmd.Stdin = bytes.NewReader(stdin)
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var ee *exec.ExitError
	if errors.As(err, &ee) {
		err = &gitError{args: args, code: ee.ExitCode(), stderr: stderr.String()}
	} else if err != nil {
		err = fmt.Errorf("run git %s: %w", strings.Join(args, " "), err)
	}
	return stdout.Bytes(), err
}

// path is where a repository's objects are.
func (g gitStore) path(r *Repository) string {
	return filepath.Join(g.dir, "repositories", strconv.FormatInt(r.ID, 10)+".git")
}

// run runs git in a repository and gives its output without the last newline.
func (g gitStore) run(r *Repository, args ...string) (string, error) {
	out, err := runGit(g.path(r), nil, nil, args...)
	return strings.TrimSuffix(string(out), "\n"), err
}

// init makes the bare repository. Reads by any SHA and partial clones are allowed, as on GitHub. That refs/pull is
// read-only is left to the update hook: what receive.hideRefs refuses does not refuse the rest of an atomic push.
func (g gitStore) init(r *Repository) error {
	dir := g.path(r)
	if _, err := runGit(g.dir, nil, nil, "init", "-q", "--bare", "--template=", "--initial-branch="+r.DefaultBranch, dir); err != nil {
		return fmt.Errorf("create repository %s: %w", r.FullName(), err)
	}
	config := `[core]
	repositoryformatversion = 0
	bare = true
	logAllRefUpdates = false
	# While a push's objects are in quarantine, git takes this repository for an alternate of itself and lists its refs once more.
	alternateRefsCommand = true
[gc]
	auto = 0
[http]
	receivepack = true
[receive]
	advertiseAtomic = true
	autogc = false
	denyDeleteCurrent = refuse
[uploadpack]
	allowFilter = true
	allowAnySHA1InWant = true
[maintenance]
	auto = false
`
	if err := os.WriteFile(filepath.Join(dir, "config"), []byte(config), 0o644); err != nil {
		return fmt.Errorf("configure repository %s: %w", r.FullName(), err)
	}
	return g.writeHook(r)
}

// branchSHA is the tip of a branch, or "" when there is no such branch.
func (g gitStore) branchSHA(r *Repository, branch string) string { return r.Refs["refs/heads/"+branch] }

// memo remembers what git said about immutable objects, since the same question comes with every look at a pull request.
func memo[T any](s *core, key string, ask func() (T, error)) (T, error) {
	if v, ok := s.memos[key]; ok {
		return v.(T), nil
	}
	v, err := ask()
	if err != nil {
		return v, err
	}
	if len(s.memos) > mostFacts {
		clear(s.memos)
	}
	s.memos[key] = v
	return v, nil
}

// resolve turns a branch, a tag, a full ref or a SHA into a commit, or "" when there is none. Branches win over tags.
func (g gitStore) resolve(r *Repository, rev string) string {
	for _, ref := range []string{"refs/heads/" + rev, "refs/tags/" + rev, rev, "refs/" + rev} {
		if sha := r.Refs[ref]; sha != "" {
			return g.peel(r, sha)
		}
	}
	if rev == "HEAD" {
		return g.branchSHA(r, r.DefaultBranch)
	}
	if len(rev) >= 4 && isHex(rev) {
		return g.peel(r, rev)
	}
	return ""
}

// peel is the commit that an object names, or "" for none, or for an abbreviation of several. What an abbreviation means
// changes as objects come, so only whole names are remembered.
func (g gitStore) peel(r *Repository, sha string) string {
	ask := func() (string, error) {
		found, err := g.objects(r).find(sha + "^{commit}")
		return found.sha, err
	}
	if len(sha) == len(zeroSHA) {
		whole := ask
		ask = func() (string, error) { return memo(g.core, fmt.Sprint("peel ", r.ID, sha), whole) }
	}
	out, err := ask()
	if err != nil {
		return ""
	}
	return out
}

func isHex(s string) bool {
	return strings.Trim(s, "0123456789abcdef") == "" && len(s) <= 40
}

// noreply is the address that GitHub gives to commits that it makes for somebody.
func noreply(u *User) string { return fmt.Sprintf("%d+%s@users.noreply.github.com", u.ID, u.Login) }
