// Package git is the only place that runs git. After an agent has worked in a checkout nothing in that checkout's .git
// can be trusted: its configuration names programs that git would run. So everything that matters happens in a bare git
// directory of our own, with a configuration that we wrote, which shares only the objects, the index and the files with
// the checkout. No git has the credential: what talks to the server talks to a relay in our own process, which adds it and
// lets through only the operation at hand.
//
// An own clone is a bounded shallow one and not a partial one (--filter=blob:none): a partial clone fetches what it
// lacks at the moment something looks at it, which would be a network operation that nobody counted, made by an agent
// that has no credential for it.
package git

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/mergexo/mergexo/internal/scratch"
)

// Identity is the committer and author of what we commit.
type Identity struct{ Name, Email string }

func (i Identity) String() string { return i.Name + " <" + i.Email + ">" }

// Options say where the repository is and what may be used to work on it.
type Options struct {
	URL       string         // https URL of the repository on its server (SERVER_URL/owner/repo)
	Token     string         // credential for URL; "" is anonymous
	Workspace string         // GITHUB_WORKSPACE or ""
	Temp      string         // RUNNER_TEMP or the system's temporary directory
	Scratch   *scratch.Space // of this process; nil: nobody removes what is left in Temp when it is killed
	Identity  Identity
	Now       func() time.Time
	Log       *slog.Logger // nil: nothing is logged
	Path      string       // PATH of the git child
	// Network is how the server is reached from this machine, as NAME=value: proxy and certificate settings. No child gets
	// them.
	Network []string
}

// Checkout is one working copy together with our own git directory for it. It is not safe for concurrent use.
type Checkout struct {
	opt     Options
	program string // git itself, found in opt.Path
	site    string // scheme and host of URL with a final slash
	basic   string // base64 of the credential, "" when anonymous

	top     string // working tree
	gitDir  string // the checkout's git directory
	config  string // the checkout's configuration file
	objects string
	index   string
	shallow string // path of the checkout's shallow file
	info    string // path of the checkout's info directory
	clone   bool   // we made the checkout; Close removes it

	own      string            // our own bare git directory
	refs     map[string]string // refs of our own directory: what we know the server has
	boundary []byte            // content of our own shallow file
	carried  []setting         // settings of the checkout that decide how files look, taken before the agent ran
	promisor bool              // the workspace is a partial clone
	theirs   []string          // commits and tags that the workspace had of the server when it was opened
	branch   string            // local branch of the last Restore or Begin, a full name; "" when it had to detach HEAD
	started  string            // commit of the last Restore or Begin
	branches map[string]string // local branches of the checkout and their tips at that time
	saved    map[string][]byte // files of the checkout's git directory as they were before the agent ran; nil: absent
	linked   []string          // symbolic links of the checkout's git directory as they were before the agent ran

	person *person // whose checkout it is and how that person reaches the origin; nil: a workspace or a clone of our own

	calls int
}

// Open takes the workspace when it is a checkout of URL's repository, whatever spelling its origin has, and else starts
// an own clone below Temp, which the first Restore fills. It makes no network call. Close removes what it made.
func Open(ctx context.Context, opt Options) (*Checkout, error) {
	server, err := url.Parse(opt.URL)
	if err != nil || server.Host == "" || server.User != nil {
		return nil, fmt.Errorf("repository URL %q: want https://HOST/OWNER/NAME without a credential", opt.URL)
	}
	if opt.Now == nil || opt.Temp == "" {
		return nil, errors.New("open checkout: a clock and a temporary directory are needed")
	}
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	if opt.Path == "" {
		opt.Path = "/usr/local/bin:/usr/bin:/bin"
	}
	c := &Checkout{opt: opt, site: server.Scheme + "://" + server.Host + "/", refs: map[string]string{}}
	if opt.Token != "" {
		c.basic = base64.StdEncoding.EncodeToString([]byte("x-access-token:" + opt.Token))
	}
	if c.program, err = find("git", opt.Path); err != nil {
		return nil, err
	}
	if c.opt.Temp, err = filepath.Abs(opt.Temp); err != nil {
		return nil, fmt.Errorf("resolve temporary directory: %w", err)
	}
	if err := c.renew(); err != nil {
		return nil, err
	}
	if err := c.occupy(ctx); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// occupy decides where the working tree is and takes over what our own directory needs of it.
func (c *Checkout) occupy(ctx context.Context) error {
	ok, err := c.adopt(ctx)
	if err != nil {
		return err
	}
	if !ok {
		if err := c.start(ctx); err != nil {
			return err
		}
	}
	if ok {
		if c.theirs, err = c.tracked(ctx); err != nil {
			return err
		}
	}
	if err := c.readBoundary(); err != nil {
		return err
	}
	if head, err := c.inside(ctx, "rev-parse", "--verify", "--quiet", "HEAD^{commit}"); err == nil {
		c.refs[haveHead] = line(head)
	}
	return c.renew()
}

// readBoundary reads where the history of the checkout is cut off.
func (c *Checkout) readBoundary() (err error) {
	if c.boundary, err = os.ReadFile(c.shallow); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read shallow file: %w", err)
	}
	return nil
}

// adopt looks at the workspace; false means that it is not a checkout of this repository.
func (c *Checkout) adopt(ctx context.Context) (bool, error) {
	if c.opt.Workspace == "" {
		return false, nil
	}
	top, err := filepath.Abs(c.opt.Workspace)
	if err != nil {
		return false, fmt.Errorf("resolve workspace: %w", err)
	}
	// Only a .git right here counts: git would look further up, and find somebody else's repository.
	if _, err := os.Lstat(filepath.Join(top, ".git")); err != nil {
		return false, nil
	}
	c.top = top
	if err := c.locate(ctx); err != nil {
		c.opt.Log.Debug("workspace_unusable", "error", err)
		return false, nil
	}
	origin, err := c.inside(ctx, "config", "--get", "remote.origin.url")
	if err != nil || !sameRepository(line(origin), c.opt.URL) {
		return false, nil
	}
	return true, c.carry(ctx)
}

// start makes an empty clone of our own.
func (c *Checkout) start(ctx context.Context) error {
	top, err := c.temporary("checkout")
	if err != nil {
		return fmt.Errorf("make directory for an own clone: %w", err)
	}
	c.top, c.clone = top, true
	init := spec{dir: top, env: c.env(), args: []string{"init", "-q", "--template=", "--initial-branch=mergexo", top}}
	if _, err := c.run(ctx, init); err != nil {
		return fmt.Errorf("start an own clone: %w", err)
	}
	if err := c.locate(ctx); err != nil {
		return err
	}
	for _, kv := range [][2]string{{"remote.origin.url", c.opt.URL}, {"remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*"}} {
		if _, err := c.inside(ctx, "config", kv[0], kv[1]); err != nil {
			return fmt.Errorf("name origin of an own clone: %w", err)
		}
	}
	return nil
}

// locate asks git where the parts of the checkout are, so that linked worktrees and .git files work as well. What it
// finds is kept: later the agent may have moved things.
func (c *Checkout) locate(ctx context.Context) error {
	out, err := c.run(ctx, spec{dir: c.top, env: c.env("GIT_CEILING_DIRECTORIES=" + filepath.Dir(c.top)), args: []string{
		"-c", "safe.directory=*", "rev-parse", "--path-format=absolute", "--is-inside-work-tree", "--absolute-git-dir", "--git-common-dir",
		"--git-path", "objects", "--git-path", "index", "--git-path", "shallow", "--git-path", "info",
	}})
	if err != nil {
		return fmt.Errorf("find git directory of %s: %w", c.top, err)
	}
	part := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(part) != 7 || part[0] != "true" {
		return fmt.Errorf("find git directory of %s: unexpected answer %q", c.top, out)
	}
	c.gitDir, c.config = part[1], filepath.Join(part[2], "config")
	c.objects, c.index, c.shallow, c.info = part[3], part[4], part[5], part[6]
	return nil
}

// Dir is the working tree: an absolute path.
func (c *Checkout) Dir() string { return c.top }

// Objects is the directory of the checkout's objects, which trees for tests only see from there.
func (c *Checkout) Objects() string { return c.objects }

// NetworkCalls counts the fetches, pushes and ls-remotes so far, whether they succeeded or not.
func (c *Checkout) NetworkCalls() int { return c.calls }

// Close puts back the configuration that the agent may have changed, for the steps that come after us, and removes our
// own git directory and our own clone. It may be called twice.
func (c *Checkout) Close() error {
	var errs []error
	if c.clone && c.top != "" {
		errs = append(errs, os.RemoveAll(c.top))
	} else {
		errs = append(errs, c.putBack())
	}
	if c.own != "" {
		errs = append(errs, os.RemoveAll(c.own))
	}
	if c.person != nil && c.person.bare != "" {
		errs = append(errs, os.RemoveAll(c.person.bare))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("close checkout: %w", err)
	}
	return nil
}

// AgentEnv is git's part of the environment of an agent: no credential, no hooks, nothing of the machine's own
// configuration, our identity, and no transport but the local file system, so that a fetch or push fails at once and
// says why.
func (c *Checkout) AgentEnv() []string {
	who := c.opt.Identity
	env := []string{
		"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0", "GIT_NO_LAZY_FETCH=1",
		"GIT_AUTHOR_NAME=" + who.Name, "GIT_AUTHOR_EMAIL=" + who.Email,
		"GIT_COMMITTER_NAME=" + who.Name, "GIT_COMMITTER_EMAIL=" + who.Email,
	}
	return append(env, settingsEnv([]setting{
		{"core.hooksPath", "/dev/null"}, {"core.fsmonitor", "false"}, {"core.askPass", ""}, {"credential.helper", ""},
		{"protocol.allow", "never"}, {"protocol.file.allow", "always"},
		{"commit.gpgSign", "false"}, {"tag.gpgSign", "false"}, {"gc.auto", "0"}, {"maintenance.auto", "false"},
		{"safe.directory", c.top}, {"advice.detachedHead", "false"},
	})...)
}

// temporary makes a directory below Temp for a purpose, which is one word.
func (c *Checkout) temporary(purpose string) (string, error) {
	return c.opt.Scratch.Make(c.opt.Temp, purpose, c.opt.Log)
}
