package git

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/mergexo/internal/git/syntax"
	"github.com/mergexo/mergexo/internal/scratch"
)

// LocalOptions select a person's checkout.
type LocalOptions struct {
	Dir     string // in a working tree, or a bare repository
	Temp    string
	Scratch *scratch.Space // of this process; nil: what a killed run leaves in Temp is not removed
	Path    string         // PATH for git
	Now     func() time.Time
	Log     *slog.Logger // nil: nothing is logged
	// Env is the person's environment, as NAME=value: HOME, SSH_AUTH_SOCK, GIT_SSH_COMMAND, proxies. Only the processes
	// that talk to the origin, or read and write the checkout's files, get it; of the GIT_ variables they get only those
	// about reaching a server.
	Env []string
	// Local says that the origin is never contacted; it may be missing.
	Local bool
}

// ErrNoIdentity says that a checkout has no committer identity.
type ErrNoIdentity struct{ Dir string }

func (e *ErrNoIdentity) Error() string {
	return fmt.Sprintf("%s has no user.name and user.email: set them with git config --global user.name and git config --global user.email", e.Dir)
}

// ErrNoOrigin says that a checkout has no remote named origin.
type ErrNoOrigin struct{ Dir string }

func (e *ErrNoOrigin) Error() string {
	return fmt.Sprintf("%s has no remote origin: add it with git remote add origin URL, or work on its own branches with --local", e.Dir)
}

// OpenLocal opens a person's checkout: a working tree, a linked one, or a bare repository. It changes nothing in it, apart
// from adding objects and what LandLocal and MoveLocal do. Network operations reach the origin as the person would. Errors
// are ErrNoRepository, *ErrNoIdentity, *ErrNoOrigin or *Error. It makes no network call.
func OpenLocal(ctx context.Context, opt LocalOptions) (*Checkout, error) {
	if opt.Now == nil || opt.Temp == "" {
		return nil, errors.New("open checkout: a clock and a temporary directory are needed")
	}
	c := &Checkout{Opt: Options{Temp: opt.Temp, Scratch: opt.Scratch, Now: opt.Now, Log: opt.Log, Path: opt.Path}, Refs: map[string]string{}, Trees: map[string]string{}, calls: new(int)}
	c.person = newPerson(opt.Env, opt.Path)
	return open(c, func() error { return attach(ctx, c, opt) })
}

// attach finds the checkout's parts, origin and identity.
func attach(ctx context.Context, c *Checkout, opt LocalOptions) error {
	if err := locateAny(ctx, c, opt.Dir); err != nil {
		return err
	}
	if err := ReadSettings(ctx, c); err != nil {
		return err
	}
	if err := identify(ctx, c, opt.Dir); err != nil {
		return err
	}
	err := findOrigin(ctx, c, opt.Dir)
	if none := (*ErrNoOrigin)(nil); opt.Local && (err == nil || errors.As(err, &none)) {
		c.Opt.URL, err = "", nil // it is never contacted
	}
	if err != nil {
		return err
	}
	return takeState(ctx, c)
}

// locateAny is locate for any place in a repository. A bare one gets an empty directory as its working tree.
func locateAny(ctx context.Context, c *Checkout, dir string) error {
	dir, err := directory(dir)
	if err != nil {
		return err
	}
	// As the person: git refuses somebody else's repository unless the person's own configuration allows it.
	ask := func(args ...string) (string, error) {
		out, err := c.Run(ctx, Spec{Dir: dir, Env: slices.Concat(c.person.env, settingsEnv(c.person.settings)), Args: append([]string{"rev-parse", "--path-format=absolute"}, args...), alone: true})
		return strings.TrimSuffix(string(out), "\n"), err
	}
	bare, err := ask("--is-bare-repository")
	if err != nil {
		if ctx.Err() != nil || ExitCode(err) < 0 || strings.Contains(StderrOf(err), "dubious ownership") {
			return err
		}
		return fmt.Errorf("%s: %w", dir, ErrNoRepository)
	}
	if bare == "true" {
		if c.Top, err = c.Temporary("empty"); err != nil {
			return fmt.Errorf("make an empty directory: %w", err)
		}
		c.person.bare = c.Top
	} else if c.Top, err = ask("--show-toplevel"); err != nil {
		return fmt.Errorf("%s: %w", dir, ErrNoRepository) // inside a git directory
	}
	said, err := ask(append(slices.Clone(parts), "--show-object-format")...)
	if err != nil {
		return err
	}
	format, err := take(c, said)
	if err == nil && format != "sha1" {
		err = fmt.Errorf("%s is a SHA-256 repository, and MergeXO merges only SHA-1 ones, as GitHub has them: use git merge", dir)
	}
	return err
}

// identify asks git for the committer of a commit in the checkout: git knows the order of the sources (git-commit(1), COMMIT
// INFORMATION), and drops what no name may have.
func identify(ctx context.Context, c *Checkout, dir string) error {
	out, err := c.AsOwner(ctx, MainWorktree(c), "var", "GIT_COMMITTER_IDENT")
	if strings.Contains(StderrOf(err), "tell me who you are") {
		return &ErrNoIdentity{Dir: dir}
	}
	if err != nil {
		return fmt.Errorf("read identity: %w", err)
	}
	name, rest, _ := strings.Cut(syntax.Line(out), " <")
	email, _, _ := strings.Cut(rest, "> ")
	c.Opt.Identity = Identity{Name: name, Email: email}
	return nil
}

// TakenThere is where an origin on this machine has a branch checked out and refuses pushes to it (git-config(1),
// receive.denyCurrentBranch); "": nowhere, or the origin is elsewhere.
func TakenThere(ctx context.Context, c *Checkout, branch string) string {
	dir := strings.TrimPrefix(c.Opt.URL, "file://")
	ask := func(args ...string) string { // what git cannot say here, the push says
		out, _ := c.Run(ctx, Spec{Dir: dir, Env: slices.Concat(c.person.env, settingsEnv(c.person.settings)), Args: Safely(args), alone: true})
		return string(out)
	}
	if !filepath.IsAbs(dir) || slices.Contains([]string{"ignore", "warn", "false", "updateinstead"}, strings.ToLower(syntax.Line([]byte(ask("config", "receive.denyCurrentBranch"))))) {
		return ""
	}
	for entry := range strings.SplitSeq(ask("worktree", "list", "--porcelain"), "\n\n") {
		if top, rest, _ := strings.Cut(entry, "\n"); slices.Contains(strings.Split(rest, "\n"), "branch refs/heads/"+branch) {
			return strings.TrimPrefix(top, "worktree ")
		}
	}
	return ""
}

// findOrigin reads the origin's address, and the checkout's settings for reaching it.
func findOrigin(ctx context.Context, c *Checkout, dir string) error {
	out, err := c.AsOwner(ctx, MainWorktree(c), "config", "--null", "--list", "--local", "--includes")
	if err != nil {
		return fmt.Errorf("read configuration of the checkout: %w", err)
	}
	home := filepath.Dir(c.Config) // of a bare repository
	if c.person.bare == "" {
		home = c.Top
	}
	for _, s := range SettingsIn(out) {
		switch {
		case s.Key == "remote.origin.url" && c.Opt.URL == "":
			c.Opt.URL = s.Value
		case s.Key == "remote.origin.pushurl":
			c.person.settings = append(c.person.settings, Setting{s.Key, absolute(s.Value, home)})
		case reaches(s):
			c.person.settings = append(c.person.settings, s)
		}
	}
	if c.address = home; c.Opt.URL == "" {
		return &ErrNoOrigin{Dir: dir}
	}
	c.Opt.URL = absolute(c.Opt.URL, home)
	c.address = c.Opt.URL
	return nil
}

// absolute makes an origin's path independent of the current directory: a relative one starts at the working tree, or at a
// bare repository.
func absolute(address, home string) string {
	before, _, colon := strings.Cut(address, ":")
	if strings.Contains(address, "://") || colon && !strings.Contains(before, "/") || filepath.IsAbs(address) || strings.HasPrefix(address, "~") {
		return address
	}
	return filepath.Join(home, address)
}
