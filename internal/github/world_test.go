package github

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
	"github.com/mergexo/mergexo/internal/sandbox"
)

// world is a sandbox with people in it, and a pull request of octo's.
type world struct {
	t    *testing.T
	s    *sandbox.Server
	urls sandbox.URLs
	now  time.Time
	made map[string]time.Time // labels
}

func newWorld(t *testing.T) *world {
	t.Helper()
	s := must.Get(sandbox.New(sandbox.Options{StateDir: t.TempDir()}))(t)
	t.Cleanup(func() { assert.NoError(t, s.Close()) })
	w := &world{t: t, s: s, urls: must.Get(s.Start("127.0.0.1:0"))(t), now: noon, made: map[string]time.Time{}}
	w.tick()
	for login, right := range map[string]string{"ada": "write", "grace": "maintain", "tri": "triage", "mallory": "none"} {
		w.control("users/"+login, map[string]any{"permission": right})
	}
	return w
}

// newPull is a world with a pull request.
func newPull(t *testing.T) (*world, int) {
	t.Helper()
	w := newWorld(t)
	return w, w.pull()
}

// tick lets a minute pass.
func (w *world) tick() time.Time {
	w.now = w.now.Add(time.Minute)
	w.s.SetClock(w.now)
	return w.now
}

func (w *world) send(method, url, login string, in any) map[string]any {
	w.t.Helper()
	body := must.Get(json.Marshal(in))(w.t)
	req := must.Get(http.NewRequestWithContext(w.t.Context(), method, url, bytes.NewReader(body)))(w.t)
	if login != "" {
		req.Header.Set("Authorization", "Bearer sandbox-"+login)
	}
	resp := must.Get(http.DefaultClient.Do(req))(w.t)
	defer resp.Body.Close()
	raw := must.Get(io.ReadAll(resp.Body))(w.t)
	require.Less(w.t, resp.StatusCode, 300, "%s %s: %s", method, url, raw)
	var out map[string]any
	_ = json.Unmarshal(raw, &out) // lists and nothing are of no interest
	return out
}

func (w *world) control(path string, in any) { w.send("PUT", w.urls.Server+"/_sandbox/"+path, "", in) }

// as does something by REST in octo/widgets; what it answers with is returned.
func (w *world) as(login, method, path string, in any) map[string]any {
	w.t.Helper()
	return w.send(method, w.urls.API+"/repos/octo/widgets/"+path, login, in)
}

func id(o map[string]any) int64 { return int64(o["id"].(float64)) }

func node(o map[string]any) string { return o["node_id"].(string) }

func (w *world) put(branch, path, text string) {
	w.t.Helper()
	w.as("octo", "PUT", "contents/"+path, map[string]any{"branch": branch, "message": "put " + path, "content": base64.StdEncoding.EncodeToString([]byte(text))})
}

// pull opens a pull request of octo's from agent/7 that adds a.txt with three lines.
func (w *world) pull() int {
	w.t.Helper()
	main := w.tip("main")
	w.as("octo", "POST", "git/refs", map[string]any{"ref": "refs/heads/agent/7", "sha": main})
	w.put("agent/7", "a.txt", "one\ntwo\nthree\n")
	made := w.as("octo", "POST", "pulls", map[string]any{"title": "Add a", "body": "Text", "head": "agent/7", "base": "main"})
	return int(made["number"].(float64))
}

func (w *world) client(login string) *Client {
	w.t.Helper()
	return must.Get(New(Options{APIURL: w.urls.API, GraphQLURL: w.urls.GraphQL, Token: "sandbox-" + login}))(w.t)
}

func (w *world) snapshot(c *Client, q Query) model.Snapshot {
	w.t.Helper()
	q.Repo = widgets
	return must.Get(c.Threads.Snapshot(w.t.Context(), q))(w.t)
}

func calls(c *Client) string {
	rest, graphql := c.Calls()
	return fmt.Sprintf("%d REST, %d GraphQL", rest, graphql)
}

func bodies(comments []model.Comment) []string {
	var out []string
	for _, c := range comments {
		out = append(out, c.Body)
	}
	return out
}

// fails checks how a call failed.
func fails[T any](_ T, err error) func(*testing.T, Kind) *Error {
	return func(t *testing.T, kind Kind) *Error {
		t.Helper()
		return failure(t, err, kind)
	}
}
