package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
)

// gitDir is a bare repository of this run's own. git reaches the server through a proxy in this process, which has the
// tokens: no git process does.
type gitDir struct {
	w     *world
	dir   string
	proxy *http.Server
	at    string // where the proxy is, with a word in it that nobody else knows
}

func (w *world) newGit() (*gitDir, error) {
	g := &gitDir{w: w, dir: filepath.Join(w.dir, "git")}
	to, err := url.Parse(w.server)
	if err != nil {
		return nil, fmt.Errorf("GITHUB_SERVER_URL: %w", err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for git: %w", err)
	}
	secret := "/" + rand.Text() + "/"
	g.at = "http://" + l.Addr().String() + secret
	forward := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		kind, path, _ := strings.Cut(strings.TrimPrefix(r.In.URL.Path, secret), "/")
		r.SetURL(to)
		r.Out.URL.Path, r.Out.URL.RawPath = to.Path+"/"+path, ""
		for _, c := range w.callers() {
			if c.kind == kind {
				r.Out.SetBasicAuth("x-access-token", c.token)
			}
		}
	}}
	g.proxy = &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(out http.ResponseWriter, in *http.Request) {
		if !strings.HasPrefix(in.URL.Path, secret) {
			http.NotFound(out, in)
			return
		}
		forward.ServeHTTP(out, in)
	})}
	go func() { _ = g.proxy.Serve(l) }() // it ends with close, and git says when it is not there
	if _, err := g.run(context.Background(), "init", "-q", "--bare", g.dir); err != nil {
		return nil, err
	}
	return g, nil
}

func (g *gitDir) close() { _ = g.proxy.Close() }

// remote is the scratch repository as that kind of token reaches it.
func (g *gitDir) remote(c *caller) string { return g.at + c.kind + "/" + g.w.repo.String() }

// environment is what git and mergexo get: nothing of this process's own but where programs are.
func (g *gitDir) environment(more ...string) []string {
	return append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + g.w.dir, "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0",
		"GIT_AUTHOR_NAME=Live", "GIT_AUTHOR_EMAIL=live@example.com", "GIT_COMMITTER_NAME=Live", "GIT_COMMITTER_EMAIL=live@example.com",
		"GIT_AUTHOR_DATE=1700000000 +0000", "GIT_COMMITTER_DATE=1700000000 +0000", "LC_ALL=C"}, more...)
}

func (g *gitDir) run(ctx context.Context, args ...string) (string, error) {
	out, _, err := g.try(ctx, args...)
	return out, err
}

func (g *gitDir) try(ctx context.Context, args ...string) (out, said string, err error) {
	if args[0] != "init" {
		args = append([]string{"-C", g.dir}, args...)
	}
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Env = g.environment()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // the terminal's Ctrl-C is for this process, which cleans up with git
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err = cmd.Run(); err != nil {
		err = fmt.Errorf("git %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(stderr.String()))
	}
	return strings.TrimSpace(stdout.String()), stderr.String(), err
}

// base fetches the default branch and gives its commit.
func (g *gitDir) base(ctx context.Context) (string, error) {
	if _, err := g.run(ctx, "fetch", "-q", "--no-tags", g.remote(g.w.admin), "+refs/heads/"+g.w.main+":refs/base"); err != nil {
		return "", fmt.Errorf("fetch the default branch, which has to have a commit: %w", err)
	}
	return g.run(ctx, "rev-parse", "refs/base")
}

// commit makes a commit on a parent in which the files are as given.
func (g *gitDir) commit(ctx context.Context, parent, message string, files map[string]string) (string, error) {
	index := "GIT_INDEX_FILE=" + filepath.Join(g.w.dir, "index")
	plumb := func(in string, args ...string) (string, error) {
		cmd := exec.CommandContext(ctx, "git", append([]string{"-C", g.dir}, args...)...)
		cmd.Env, cmd.Stdin = g.environment(index), strings.NewReader(in)
		out, err := cmd.Output()
		if err != nil {
			return "", fmt.Errorf("git %s: %w", strings.Join(args, " "), err)
		}
		return strings.TrimSpace(string(out)), nil
	}
	if _, err := plumb("", "read-tree", parent); err != nil {
		return "", err
	}
	for name, text := range files {
		sha, err := plumb(text, "hash-object", "-w", "--stdin")
		if err == nil {
			_, err = plumb("", "update-index", "--add", "--cacheinfo", "100644,"+sha+","+name)
		}
		if err != nil {
			return "", err
		}
	}
	tree, err := plumb("", "write-tree")
	if err != nil {
		return "", err
	}
	return plumb("", "commit-tree", tree, "-p", parent, "-m", message)
}

// refused is what a refusal says of the reason; servers add to it what is only for the terminal.
var refused = regexp.MustCompile(`^(?:error: |fatal: |- |.*\bGH\d{3}\b|.*Repository policies)`)

// push pushes as that kind of token. The facts are the results of the refs, and the server's words where it refuses one.
func (g *gitDir) push(ctx context.Context, c *caller, how []string, specs ...string) (facts, error) {
	out, said, err := g.try(ctx, slices.Concat([]string{"push", "--porcelain"}, how, []string{g.remote(c)}, specs)...)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		return nil, err
	}
	refs, words := facts{}, []string{}
	for line := range strings.Lines(out) {
		if f := strings.Split(strings.TrimRight(line, "\n"), "\t"); len(f) == 3 {
			_, ref, _ := strings.Cut(f[1], ":")
			refs[ref] = pushWord(f[0], f[2])
		}
	}
	for line := range strings.Lines(said) {
		text, ours := strings.CutPrefix(strings.TrimSpace(line), "remote: ")
		if text = strings.TrimSpace(text); ours && refused.MatchString(text) && !slices.Contains(words, text) {
			words = append(words, text)
		}
	}
	if len(refs) == 0 {
		return facts{"failed": firstLine(said), "remote": words}, nil
	}
	f := facts{"refs": refs}
	if len(words) > 0 {
		f["remote"] = words
	}
	return f, nil
}

// pushWord is what git says of one ref: https://git-scm.com/docs/git-push#_output
func pushWord(flag, summary string) string {
	switch flag {
	case "!":
		return summary
	case "=":
		return "up to date"
	}
	return "ok"
}

// firstLine is the first line that says what went wrong.
func firstLine(said string) string {
	for line := range strings.Lines(said) {
		if strings.HasPrefix(line, "fatal: ") || strings.HasPrefix(line, "error: ") {
			return strings.TrimSpace(line)
		}
	}
	return strings.TrimSpace(said)
}

// place puts commits at refs, at most so many in one push, and takes nothing but success.
func (g *gitDir) place(ctx context.Context, refs map[string]string) error {
	var specs []string
	for ref, sha := range refs {
		specs = append(specs, "+"+sha+":"+ref)
	}
	slices.Sort(specs)
	size := 100
	if g.w.opts.pushLimit > 0 {
		size = g.w.opts.pushLimit
	}
	for some := range slices.Chunk(specs, size) {
		if _, err := g.run(ctx, append([]string{"push", "-q", g.remote(g.w.admin)}, some...)...); err != nil {
			return err
		}
	}
	return nil
}
