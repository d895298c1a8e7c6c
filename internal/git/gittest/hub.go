package gittest

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
	"github.com/mergexo/mergexo/internal/git/checkout"
	"github.com/mergexo/mergexo/internal/must"
	"github.com/mergexo/mergexo/internal/sandbox/smarthttp"
)

const Token = "s3cret-token-of-the-run"

// Hub is a server with one repository, octo/widgets, over smart HTTP, and a person's clone of it.
type Hub struct {
	T      testing.TB
	Bare   string
	Dev    string
	Url    string
	mu     sync.Mutex
	public bool // whether reading needs no credential
	refuse func(http.ResponseWriter, *http.Request) bool
}

// NewHub gives a copy of the first one that was made.
func NewHub(t testing.TB) *Hub {
	t.Helper()
	root := t.TempDir()
	h := &Hub{T: t, Bare: filepath.Join(root, "octo", "widgets.git"), Dev: filepath.Join(root, "dev")}
	require.NoError(t, os.CopyFS(root, firstHub(t)))
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	h.Url = server.URL + "/octo/widgets"
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
		h := &Hub{T: t, Bare: filepath.Join(root, "octo", "widgets.git"), Dev: filepath.Join(root, "dev")}
		h.Git(root, "init", "-q", "--bare", "--template=", "--initial-branch=main", h.Bare)
		for _, name := range []string{"http.receivepack", "uploadpack.allowAnySHA1InWant", "uploadpack.allowFilter", "core.logAllRefUpdates"} {
			h.Git(h.Bare, "config", name, "true")
		}
		require.NoError(t, os.Mkdir(filepath.Join(h.Bare, "hooks"), 0o755))
		h.Git(root, "init", "-q", "--template=", "--initial-branch=main", h.Dev)
		h.Git(h.Dev, "remote", "add", "origin", "../octo/widgets.git")
		h.Commit("main", "start", map[string]string{"README.md": "widgets\n", ".gitignore": "*.log\n"})
		hubs.files = FilesOf(t, root)
	})
	return hubs.files
}

// FilesOf reads a directory, with the directories in it that hold nothing.
func FilesOf(t testing.TB, dir string) fstest.MapFS {
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

// Behave changes how the server answers: whether reading needs no credential, and a function that may answer a request
// itself, which it says with true.
func (h *Hub) Behave(public bool, refuse func(http.ResponseWriter, *http.Request) bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.public, h.refuse = public, refuse
}

func (h *Hub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	public, refuse := h.public, h.refuse
	h.mu.Unlock()
	if refuse != nil && refuse(w, r) {
		return
	}
	_, password, _ := r.BasicAuth()
	if password != Token && (!public || strings.Contains(r.URL.String(), "receive-pack")) {
		w.Header().Set("WWW-Authenticate", `Basic realm="hub"`)
		http.Error(w, "who are you", http.StatusUnauthorized)
		return
	}
	service := strings.TrimPrefix(filepath.Base(r.URL.Path), "git-")
	if service == "refs" {
		service = strings.TrimPrefix(r.URL.Query().Get("service"), "git-")
	}
	smarthttp.Serve(w, r, service, h.Bare, []string{
		"PATH=" + os.Getenv("PATH"), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
	})
}

// Git runs git as the people and the server do.
func (h *Hub) Git(dir string, args ...string) string {
	h.T.Helper()
	out, err := h.Try(dir, args...)
	require.NoError(h.T, err, "git %v: %s", args, out)
	return strings.TrimSpace(out)
}

func (h *Hub) Try(dir string, args ...string) (string, error) {
	return h.With(dir, nil, args...)
}

// With runs git with more environment, as an agent does with AgentEnv.
func (h *Hub) With(dir string, env []string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + h.T.TempDir(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=Dev", "GIT_AUTHOR_EMAIL=dev@example.com", "GIT_AUTHOR_DATE=@1700000000 +0200",
		"GIT_COMMITTER_NAME=Dev", "GIT_COMMITTER_EMAIL=dev@example.com", "GIT_COMMITTER_DATE=@1700000000 +0200", "GIT_MERGE_AUTOEDIT=no",
	}, env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// Commit makes a commit on top of a branch of the server, which it creates from main when it is new. A nil map makes an
// empty commit; an empty text deletes the file.
func (h *Hub) Commit(branch, message string, files map[string]string) string {
	h.T.Helper()
	h.on(branch)
	Write(h.T, h.Dev, files)
	h.Git(h.Dev, "add", "-A")
	return h.push(branch, message)
}

// Raw is Commit with contents that git stores as they are, whatever attributes say.
func (h *Hub) Raw(branch, message string, files map[string]string) string {
	h.T.Helper()
	h.on(branch)
	Write(h.T, h.Dev, files)
	for name := range files {
		id := h.Git(h.Dev, "hash-object", "-w", "--no-filters", name)
		h.Git(h.Dev, "update-index", "--add", "--cacheinfo", "100644,"+id+","+name)
	}
	return h.push(branch, message)
}

// on checks a branch of the server out.
func (h *Hub) on(branch string) {
	h.T.Helper()
	if _, err := h.Try(h.Dev, "rev-parse", "-q", "--verify", "refs/heads/"+branch); err == nil {
		h.Git(h.Dev, "checkout", "-q", branch)
	} else if branch != "main" {
		h.Git(h.Dev, "checkout", "-q", "-b", branch, "main")
	}
}

// push commits what is staged, and pushes it.
func (h *Hub) push(branch, message string) string {
	h.T.Helper()
	h.Git(h.Dev, "commit", "-q", "--allow-empty", "-m", message)
	h.Git(h.Dev, "push", "-q", "-f", "origin", branch)
	return h.Git(h.Dev, "rev-parse", "HEAD")
}

// Grow puts n empty commits on a branch, quickly, and returns its new tip.
func (h *Hub) Grow(branch string, n int) string {
	h.T.Helper()
	var stream strings.Builder
	for i := range n {
		fmt.Fprintf(&stream, "commit refs/heads/%s\ncommitter Dev <dev@example.com> %d +0200\ndata 5\nmore\n\n", branch, 1700000001+i)
		if i == 0 {
			fmt.Fprintf(&stream, "from refs/heads/%s^0\n", branch)
		}
	}
	h.Git(h.Dev, "checkout", "-q", "--detach")
	cmd := exec.Command("git", "fast-import", "--quiet")
	cmd.Dir, cmd.Stdin = h.Dev, strings.NewReader(stream.String())
	out, err := cmd.CombinedOutput()
	require.NoError(h.T, err, string(out))
	h.Git(h.Dev, "push", "-q", "-f", "origin", branch)
	return h.Git(h.Dev, "rev-parse", branch)
}

// Tip is where a ref of the server is; "" when it is not there.
func (h *Hub) Tip(ref string) string {
	out, err := h.Try(h.Bare, "rev-parse", "-q", "--verify", ref)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(out)
}

// Workspace is what actions/checkout leaves: a clone over HTTP with the credential in its configuration.
func (h *Hub) Workspace(branch string, more ...string) string {
	h.T.Helper()
	dir := filepath.Join(h.T.TempDir(), "widgets")
	args := append([]string{"-c", "http.extraheader=" + Header, "clone", "-q", "--branch", branch}, more...)
	h.Git(filepath.Dir(dir), append(args, h.Url, dir)...)
	h.Git(dir, "config", "http."+strings.TrimSuffix(h.Url, "octo/widgets")+".extraheader", Header)
	return dir
}

// Header is base64 of x-access-token and the token, as actions/checkout writes it.
const Header = "AUTHORIZATION: basic eC1hY2Nlc3MtdG9rZW46czNjcmV0LXRva2VuLW9mLXRoZS1ydW4="

// Open opens the hub's repository; workspace may be empty.
func (h *Hub) Open(workspace string, adjust ...func(*git.Options)) *git.Checkout {
	h.T.Helper()
	opt := git.Options{
		URL: h.Url, Token: Token, Workspace: workspace, Temp: h.T.TempDir(), Path: os.Getenv("PATH"),
		Identity: git.Identity{Name: "MergeXO", Email: "mergexo@example.com"},
		Now:      func() time.Time { return time.Unix(1800000000, 0) },
	}
	for _, change := range adjust {
		change(&opt)
	}
	c, err := git.Open(context.Background(), opt)
	require.NoError(h.T, err)
	h.T.Cleanup(func() { require.NoError(h.T, c.Close()) })
	return c
}

// Restored is Open with a branch restored.
func (h *Hub) Restored(branch, base, sha, workspace string, change ...func(*git.Options)) *git.Checkout {
	h.T.Helper()
	c := h.Open(workspace, change...)
	require.NoError(h.T, checkout.Restore(Ctx, c, branch, base, sha))
	return c
}

// Agent runs git in the checkout as an agent would.
func (h *Hub) Agent(c *git.Checkout, args ...string) string {
	h.T.Helper()
	out, err := h.With(c.Dir(), c.AgentEnv(), args...)
	require.NoError(h.T, err, "agent's git %v: %s", args, out)
	return strings.TrimSpace(out)
}

func Write(t testing.TB, dir string, files map[string]string) {
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

func Read(t testing.TB, parts ...string) string {
	t.Helper()
	return string(must.Get(os.ReadFile(filepath.Join(parts...)))(t))
}
