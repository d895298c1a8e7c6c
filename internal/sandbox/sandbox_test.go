package sandbox

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/must"
)

// town is a sandbox that listens, with all that a story needs to go on in it.
type town struct {
	t   testing.TB
	s   *Server
	dir string
	url string
}

func newTown(t testing.TB) *town {
	w := &town{t: t, dir: t.TempDir()}
	w.start()
	t.Cleanup(func() { require.NoError(t, w.s.Close()) })
	return w
}

// townWithClone is a town, and a clone of its repository that octo works in.
func townWithClone(t testing.TB) (*town, *clone) {
	t.Helper()
	w := newTown(t)
	return w, w.clone("octo")
}

func (w *town) start() {
	s := must.Get(New(Options{StateDir: w.dir}))(w.t)
	urls := must.Get(s.Start("127.0.0.1:0"))(w.t)
	w.s, w.url = s, urls.Server
}

// restart has another server go on with what this one has kept.
func (w *town) restart() {
	w.t.Helper()
	require.NoError(w.t, w.s.Close())
	w.start()
}

// answer is what came back.
type answer struct {
	t      testing.TB
	status int
	header http.Header
	body   []byte
}

func (a *answer) want(status int) *answer {
	a.t.Helper()
	require.Equal(a.t, status, a.status, "%s", a.body)
	return a
}

func (a *answer) obj() obj {
	a.t.Helper()
	var o obj
	require.NoError(a.t, json.Unmarshal(a.body, &o), "%s", a.body)
	return o
}

func (a *answer) list() []obj {
	a.t.Helper()
	var l []obj
	require.NoError(a.t, json.Unmarshal(a.body, &l), "%s", a.body)
	return l
}

// as sends a request as somebody; the path is below the API's root, or begins with /_sandbox/.
func (w *town) as(login, method, path string, body any) *answer {
	w.t.Helper()
	if !strings.HasPrefix(path, controlPrefix) {
		path = restPrefix + path
	}
	return w.request(login, method, path, body)
}

func (w *town) request(login, method, path string, body any) *answer {
	w.t.Helper()
	var data []byte
	if body != nil {
		data = must.Get(json.Marshal(body))(w.t)
	}
	req := must.Get(http.NewRequest(method, w.url+path, bytes.NewReader(data)))(w.t)
	if login != "" {
		req.Header.Set("Authorization", "Bearer sandbox-"+login)
	}
	resp := must.Get(http.DefaultClient.Do(req))(w.t)
	defer resp.Body.Close()
	return &answer{w.t, resp.StatusCode, resp.Header, must.Get(io.ReadAll(resp.Body))(w.t)}
}

// grant gives somebody a right in octo/widgets.
func (w *town) grant(login, permission string) {
	w.t.Helper()
	w.as("", "PUT", "/_sandbox/users/"+login, obj{"permission": permission}).want(200)
}

// clone is a checkout that somebody works in.
type clone struct {
	w     *town
	login string
	dir   string
}

func (w *town) clone(login string, args ...string) *clone {
	w.t.Helper()
	c := &clone{w, login, filepath.Join(w.t.TempDir(), "clone")}
	c.dir = w.t.TempDir()
	out, err := c.try(append(append([]string{"clone", "-q"}, args...), w.url+"/octo/widgets", c.dir)...)
	require.NoError(w.t, err, out)
	return c
}

// try runs git with the person's credential and gives all its output.
func (c *clone) try(args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = c.dir
	cmd.Env = append(identity(c.login, c.login+"@example.com", time.Unix(1_770_000_000, 0)), "PATH="+os.Getenv("PATH"), "HOME="+c.dir,
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_TERMINAL_PROMPT=0", "LC_ALL=C")
	if c.login != "" {
		cmd.Env = append(cmd.Env, "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=http.extraheader",
			"GIT_CONFIG_VALUE_0=Authorization: basic "+base64.StdEncoding.EncodeToString([]byte("x-access-token:sandbox-"+c.login)))
	}
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

// fails is what git says of a command that it does not carry out.
func (c *clone) fails(args ...string) string {
	c.w.t.Helper()
	out, err := c.try(args...)
	require.Error(c.w.t, err, out)
	return out
}

func (c *clone) git(args ...string) string {
	c.w.t.Helper()
	out, err := c.try(args...)
	require.NoError(c.w.t, err, "git %v: %s", args, out)
	return out
}

// commit writes a file and commits it.
func (c *clone) commit(name, text string) string {
	c.w.t.Helper()
	p := filepath.Join(c.dir, name)
	require.NoError(c.w.t, os.MkdirAll(filepath.Dir(p), 0o755))
	require.NoError(c.w.t, os.WriteFile(p, []byte(text), 0o644))
	c.git("add", "-A")
	c.git("commit", "-q", "-m", "Change "+name)
	return c.git("rev-parse", "HEAD")
}

// push makes a commit on the branch that is checked out, and pushes it.
func (c *clone) push(name, text string) string {
	c.w.t.Helper()
	sha := c.commit(name, text)
	c.git("push", "-q", "origin", "HEAD")
	return sha
}

// branch makes a branch with one commit and pushes it.
func (c *clone) branch(name, file, text string) string {
	c.w.t.Helper()
	c.git("checkout", "-q", "-B", name, "origin/main")
	sha := c.commit(file, text)
	c.git("push", "-q", "-f", "origin", name)
	return sha
}

const repoPath = "/repos/octo/widgets"

// pull opens a pull request.
func (w *town) pull(login, head string) int {
	w.t.Helper()
	o := w.as(login, "POST", repoPath+"/pulls", obj{"title": "Change " + head, "head": head, "base": "main", "body": "why"}).want(201).obj()
	return int(o["number"].(float64))
}

// delivered lists event and action of all deliveries since the last n.
func (w *town) delivered(after int) []string {
	w.t.Helper()
	var names []string
	for _, d := range w.as("", "GET", "/_sandbox/deliveries", nil).want(200).list()[after:] {
		name := d["event"].(string)
		if a, ok := d["payload"].(map[string]any)["action"].(string); ok {
			name += "." + a
		}
		names = append(names, name)
	}
	return names
}

func (w *town) deliveries() int {
	return len(w.as("", "GET", "/_sandbox/deliveries", nil).want(200).list())
}

// identity is the environment that makes git write commits as somebody at a time.
func identity(name, email string, t time.Time) []string {
	date := fmt.Sprintf("%d +0000", t.Unix())
	return []string{
		"GIT_AUTHOR_NAME=" + name, "GIT_AUTHOR_EMAIL=" + email, "GIT_AUTHOR_DATE=" + date,
		"GIT_COMMITTER_NAME=" + name, "GIT_COMMITTER_EMAIL=" + email, "GIT_COMMITTER_DATE=" + date,
	}
}
