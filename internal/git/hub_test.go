package git_test

import (
	"context"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/sandbox/smarthttp"
)

const token = "s3cret-token-of-the-run"

// hub is a server with one repository, octo/widgets, over smart HTTP, and a person's clone of it.
type hub struct {
	t      testing.TB
	bare   string
	dev    string
	url    string
	mu     sync.Mutex
	public bool // whether reading needs no credential
	refuse func(http.ResponseWriter, *http.Request) bool
}

// newHub gives a copy of the first one that was made.
func newHub(t testing.TB) *hub {
	t.Helper()
	root := t.TempDir()
	h := &hub{t: t, bare: filepath.Join(root, "octo", "widgets.git"), dev: filepath.Join(root, "dev")}
	require.NoError(t, os.CopyFS(root, firstHub(t)))
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	h.url = server.URL + "/octo/widgets"
	return h
}

var hubs struct {
	sync.Once
	files fstest.MapFS
}

// firstHub is what the directory of a hub holds at first. The clone's origin is at a relative path.
func firstHub(t testing.TB) fs.FS {
	t.Helper()
	hubs.Do(func() {
		root := t.TempDir()
		h := &hub{t: t, bare: filepath.Join(root, "octo", "widgets.git"), dev: filepath.Join(root, "dev")}
		h.git(root, "init", "-q", "--bare", "--template=", "--initial-branch=main", h.bare)
		for _, name := range []string{"http.receivepack", "uploadpack.allowAnySHA1InWant", "uploadpack.allowFilter", "core.logAllRefUpdates"} {
			h.git(h.bare, "config", name, "true")
		}
		require.NoError(t, os.Mkdir(filepath.Join(h.bare, "hooks"), 0o755))
		h.git(root, "init", "-q", "--template=", "--initial-branch=main", h.dev)
		h.git(h.dev, "remote", "add", "origin", "../octo/widgets.git")
		h.commit("main", "start", map[string]string{"README.md": "widgets\n", ".gitignore": "*.log\n"})
		hubs.files = filesOf(t, root)
	})
	return hubs.files
}

// filesOf reads a directory, with the directories in it that hold nothing.
func filesOf(t testing.TB, dir string) fstest.MapFS {
	t.Helper()
	files := fstest.MapFS{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		f := &fstest.MapFile{Mode: info.Mode()}
		if !d.IsDir() {
			f.Data, err = os.ReadFile(path)
		}
		files[filepath.ToSlash(path[len(dir)+1:])] = f
		return err
	}))
	return files
}

// behave changes how the server answers: whether reading needs no credential, and a function that may answer a request
// itself, which it says with true.
func (h *hub) behave(public bool, refuse func(http.ResponseWriter, *http.Request) bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.public, h.refuse = public, refuse
}

func (h *hub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	public, refuse := h.public, h.refuse
	h.mu.Unlock()
	if refuse != nil && refuse(w, r) {
		return
	}
	_, password, _ := r.BasicAuth()
	if password != token && (!public || strings.Contains(r.URL.String(), "receive-pack")) {
		w.Header().Set("WWW-Authenticate", `Basic realm="hub"`)
		http.Error(w, "who are you", http.StatusUnauthorized)
		return
	}
	service := strings.TrimPrefix(filepath.Base(r.URL.Path), "git-")
	if service == "refs" {
		service = strings.TrimPrefix(r.URL.Query().Get("service"), "git-")
	}
	smarthttp.Serve(w, r, service, h.bare, []string{
		"PATH=" + os.Getenv("PATH"), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
	})
}

// git runs git as the people and the server do.
func (h *hub) git(dir string, args ...string) string {
	h.t.Helper()
	out, err := h.try(dir, args...)
	require.NoError(h.t, err, "git %v: %s", args, out)
	return strings.TrimSpace(out)
}

func (h *hub) try(dir string, args ...string) (string, error) {
	return h.with(dir, nil, args...)
}

// with runs git with more environment, as an agent does with AgentEnv.
func (h *hub) with(dir string, env []string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + h.t.TempDir(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=Dev", "GIT_AUTHOR_EMAIL=dev@example.com", "GIT_AUTHOR_DATE=@1700000000 +0200",
		"GIT_COMMITTER_NAME=Dev", "GIT_COMMITTER_EMAIL=dev@example.com", "GIT_COMMITTER_DATE=@1700000000 +0200", "GIT_MERGE_AUTOEDIT=no",
	}, env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// commit makes a commit on top of a branch of the server, which it creates from main when it is new. A nil map makes an
// empty commit; an empty text deletes the file.
func (h *hub) commit(branch, message string, files map[string]string) string {
	h.t.Helper()
	if _, err := h.try(h.dev, "rev-parse", "-q", "--verify", "refs/heads/"+branch); err == nil {
		h.git(h.dev, "checkout", "-q", branch)
	} else if branch != "main" {
		h.git(h.dev, "checkout", "-q", "-b", branch, "main")
	}
	write(h.t, h.dev, files)
	h.git(h.dev, "add", "-A")
	h.git(h.dev, "commit", "-q", "--allow-empty", "-m", message)
	h.git(h.dev, "push", "-q", "-f", "origin", branch)
	return h.git(h.dev, "rev-parse", "HEAD")
}

// grow puts n empty commits on a branch, quickly, and returns its new tip.
func (h *hub) grow(branch string, n int) string {
	h.t.Helper()
	var stream strings.Builder
	for i := range n {
		fmt.Fprintf(&stream, "commit refs/heads/%s\ncommitter Dev <dev@example.com> %d +0200\ndata 5\nmore\n\n", branch, 1700000001+i)
		if i == 0 {
			fmt.Fprintf(&stream, "from refs/heads/%s^0\n", branch)
		}
	}
	h.git(h.dev, "checkout", "-q", "--detach")
	cmd := exec.Command("git", "fast-import", "--quiet")
	cmd.Dir, cmd.Stdin = h.dev, strings.NewReader(stream.String())
	out, err := cmd.CombinedOutput()
	require.NoError(h.t, err, string(out))
	h.git(h.dev, "push", "-q", "-f", "origin", branch)
	return h.git(h.dev, "rev-parse", branch)
}

// tip is where a ref of the server is; "" when it is not there.
func (h *hub) tip(ref string) string {
	out, err := h.try(h.bare, "rev-parse", "-q", "--verify", ref)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(out)
}

// workspace is what actions/checkout leaves: a clone over HTTP with the credential in its configuration.
func (h *hub) workspace(branch string, more ...string) string {
	h.t.Helper()
	dir := filepath.Join(h.t.TempDir(), "widgets")
	args := append([]string{"-c", "http.extraheader=" + header, "clone", "-q", "--branch", branch}, more...)
	h.git(filepath.Dir(dir), append(args, h.url, dir)...)
	h.git(dir, "config", "http."+strings.TrimSuffix(h.url, "octo/widgets")+".extraheader", header)
	return dir
}

// header is base64 of x-access-token and the token, as actions/checkout writes it.
const header = "AUTHORIZATION: basic eC1hY2Nlc3MtdG9rZW46czNjcmV0LXRva2VuLW9mLXRoZS1ydW4="

// open opens the hub's repository; workspace may be empty.
func (h *hub) open(workspace string, adjust ...func(*git.Options)) *git.Checkout {
	h.t.Helper()
	opt := git.Options{
		URL: h.url, Token: token, Workspace: workspace, Temp: h.t.TempDir(), Path: os.Getenv("PATH"),
		Identity: git.Identity{Name: "MergeXO", Email: "mergexo@example.com"},
		Now:      func() time.Time { return time.Unix(1800000000, 0) },
	}
	for _, change := range adjust {
		change(&opt)
	}
	c, err := git.Open(context.Background(), opt)
	require.NoError(h.t, err)
	h.t.Cleanup(func() { require.NoError(h.t, c.Close()) })
	return c
}

// agent runs git in the checkout as an agent would.
func (h *hub) agent(c *git.Checkout, args ...string) string {
	h.t.Helper()
	out, err := h.with(c.Dir(), c.AgentEnv(), args...)
	require.NoError(h.t, err, "agent's git %v: %s", args, out)
	return strings.TrimSpace(out)
}

func write(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		file := filepath.Join(dir, name)
		if text == "" {
			require.NoError(t, os.Remove(file))
			continue
		}
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	}
}

func read(t testing.TB, parts ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(parts...))
	require.NoError(t, err)
	return string(text)
}
