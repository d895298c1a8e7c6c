package git

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/mergexo/mergexo/internal/git/syntax"
)

// ErrNoRepository means that a directory is not in a git working tree.
var ErrNoRepository = errors.New("no git repository")

// ErrBare means that a directory is a bare repository, which is also an ErrNoRepository.
var ErrBare = fmt.Errorf("%w with files: it is bare", ErrNoRepository)

// Place is what git knows about a directory, without changes or network.
type Place struct {
	Version string // of git, as "2.39.5"
	Top     string // of the working tree: an absolute path
	Origin  string // URL of the remote origin; "" if there is none
}

// Look asks git, found in path, about a directory. Outside a working tree it is ErrNoRepository, with Version set.
func Look(ctx context.Context, dir, path string) (Place, error) {
	dir, err := directory(dir)
	if err != nil {
		return Place{}, err
	}
	c, err := onlooker(dir, path)
	if err != nil {
		return Place{}, err
	}
	ask := func(args ...string) (string, error) {
		out, err := c.Run(ctx, Spec{Dir: dir, Env: c.Env(), Args: Safely(args)})
		return syntax.Line(out), err
	}
	said, err := ask("version")
	if err != nil {
		return Place{}, err
	}
	p := Place{Version: versionOf(said)}
	if p.Top, err = ask("rev-parse", "--path-format=absolute", "--show-toplevel"); err != nil {
		if ctx.Err() != nil || ExitCode(err) < 0 {
			return p, err
		}
		if isBare(dir) {
			return p, fmt.Errorf("%s: %w", dir, ErrBare)
		}
		return p, fmt.Errorf("%s: %w", dir, ErrNoRepository)
	}
	if p.Origin, err = ask("config", "--get", "remote.origin.url"); err != nil && ExitCode(err) != 1 {
		return p, fmt.Errorf("read the remote origin: %w", err)
	}
	return p, nil
}

// directory is the absolute path of a directory.
func directory(dir string) (string, error) {
	at, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("resolve %s: %w", dir, err)
	}
	if info, err := os.Stat(at); err != nil || !info.IsDir() {
		return "", fmt.Errorf("%s: not a directory", at)
	}
	return at, nil
}

// onlooker runs git, found in path, in a directory. It commits nothing; clock and directories are what every git process needs.
func onlooker(dir, path string) (c *Checkout, err error) {
	c = &Checkout{Opt: Options{Path: path, Temp: dir, Now: func() time.Time { return time.Unix(0, 0) }}, OwnDir: dir}
	c.program, err = find("git", path)
	return c, err
}

// Diff is the unified diff from a file of the working tree to a text. git is found in path.
func (p Place) Diff(ctx context.Context, path, name, text string) (string, error) {
	c, err := onlooker(p.Top, path)
	if err != nil {
		return "", err
	}
	var out bytes.Buffer
	args := Safely([]string{"diff", "--no-index", "--no-color", "--no-ext-diff", "--no-textconv", "--text", "-U3", "--", name, "-"})
	_, err = c.Run(ctx, Spec{Dir: p.Top, Env: c.Env(), Args: args, Stdin: []byte(text), Output: &out})
	if err != nil && ExitCode(err) != 1 { // 1: they differ
		return "", fmt.Errorf("compare %s: %w", name, err)
	}
	_, hunks, _ := strings.Cut(out.String(), "\n@@")
	return fmt.Sprintf("--- a/%[1]s\n+++ b/%[1]s\n@@%[2]s", name, hunks), nil
}

// Merge brings into a text what another process changed from base to its own text; clean is false where both changed the same
// lines. git is found in path, and gets its files in dir.
func (p Place) Merge(ctx context.Context, path, dir, text, base, other string) (merged string, clean bool, err error) {
	c, err := onlooker(p.Top, path)
	if err != nil {
		return "", false, err
	}
	files := []string{filepath.Join(dir, "text"), filepath.Join(dir, "base"), filepath.Join(dir, "other")}
	for i, content := range []string{text, base, other} {
		if err := os.WriteFile(files[i], []byte(content), 0o600); err != nil {
			return "", false, fmt.Errorf("merge texts: %w", err)
		}
	}
	var out bytes.Buffer
	_, err = c.Run(ctx, Spec{Dir: p.Top, Env: c.Env(), Args: Safely(append([]string{"merge-file", "-p"}, files...)), Output: &out})
	if n := ExitCode(err); err != nil && (n < 1 || n > 127) { // up to that, it is the number of conflicts
		return "", false, fmt.Errorf("merge texts: %w", err)
	}
	return out.String(), err == nil, nil
}

// isBare goes by what git looks for itself: https://git-scm.com/docs/gitrepository-layout
func isBare(dir string) bool {
	for _, name := range []string{"HEAD", "objects", "refs"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			return false
		}
	}
	return filepath.Base(dir) != ".git"
}

// versionOf is the number in "git version 2.39.5 (Apple Git-154)".
func versionOf(said string) string {
	words := strings.Fields(said)
	if len(words) < 3 {
		return ""
	}
	return words[2]
}

// Sibling is the URL of a repository on the checkout's server, however a remote names it, or .gitmodules relative to the checkout's
// repository. Other URLs and local paths have none.
func Sibling(c *Checkout, remote string) (address string, ok bool) {
	if strings.HasPrefix(remote, ".") {
		remote, _ = url.JoinPath(c.Opt.URL, remote) // what is no path is nowhere
	}
	name, ok := Named(remote, c.site)
	return c.site + name, ok
}

// Beside is what a URL means that is relative to the repository's own (gitmodules(5)), without a credential.
func Beside(c *Checkout, relative string) string {
	address := cmp.Or(c.address, c.Opt.URL)
	if u, err := url.Parse(address); err == nil && strings.Contains(address, "://") {
		if IsHTTP(address) {
			u.User = nil
		}
		return u.JoinPath(relative).String()
	}
	if host, dir, scp := strings.Cut(address, ":"); scp && !strings.Contains(host, "/") {
		return host + ":" + path.Join(dir, relative)
	}
	return path.Join(address, relative)
}

// Named is owner/name of a remote's URL if it is on the server; other URLs and local paths have none.
func Named(remote, server string) (name string, ok bool) {
	_, path := spelled(remote)
	return path, strings.Count(path, "/") == 1 && sameRepository(remote, strings.TrimRight(server, "/")+"/"+path)
}
