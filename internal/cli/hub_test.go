package cli_test

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/git/gittest"
	"github.com/mergexo/mergexo/internal/must"
	"github.com/mergexo/mergexo/internal/sandbox"
)

// hubs are those that stories begin with, by their settings.
var hubs sync.Map // of func() hubAtRest

// hubAtRest is what a hub has left behind, which another one takes up at another address.
type hubAtRest struct {
	files fstest.MapFS
	url   string
}

// facts are what git said in any hub: most of them have the same commits.
var facts sandbox.Facts

// openHub serves what a directory holds, or a new sandbox. What it recorded under another address is its own now.
func openHub(t testing.TB, dir, was string) (h *hub, stop func()) {
	t.Helper()
	h = &hub{t: t}
	server := httptest.NewUnstartedServer(nil)
	h.url = "http://" + server.Listener.Addr().String()
	if was != "" {
		moveHub(t, dir, was, h.url)
	}
	s := gittest.Must(sandbox.New(sandbox.Options{StateDir: dir, Facts: &facts, Clock: func() time.Time { return time.Now().Add(-time.Duration(h.behind.Load())) }}))(t)
	s.SetOrigin(h.url)
	server.Config.Handler = h.noting(s)
	server.Start()
	stop = sync.OnceFunc(func() { server.Close(); require.NoError(t, s.Close()) })
	t.Cleanup(stop)
	return h, stop
}

// makeHub has people fill a hub, and stops it.
func makeHub(t testing.TB, settings string) hubAtRest {
	t.Helper()
	dir := t.TempDir()
	h, stop := openHub(t, dir, "")
	h.api("octo", "PUT", "/_sandbox/users/alice", map[string]any{"type": "User", "repository": "octo/widgets", "permission": "write"})
	if settings != "" {
		// What isolates has stories of its own, and not every machine on which these run can.
		h.write("main", ".github/mergexo.toml", strings.Replace(settings, "[agent]\n", "[agent]\nisolation = \"none\"\n", 1))
	}
	h.write("main", "greeting.txt", "hello\n")
	main := h.api("octo", "GET", "/api/v3/repos/octo/widgets/git/ref/heads/main", nil)["object"].(map[string]any)["sha"]
	h.api("octo", "POST", "/api/v3/repos/octo/widgets/git/refs", map[string]any{"ref": "refs/heads/agent/greet", "sha": main})
	h.write("agent/greet", "world.txt", "world\n")
	h.api("octo", "POST", "/api/v3/repos/octo/widgets/pulls", map[string]any{"title": "Greet", "head": "agent/greet", "base": "main"})
	h.api("alice", "POST", "/api/v3/repos/octo/widgets/issues/1/comments", map[string]any{"body": "Say more."})
	stop()
	return hubAtRest{gittest.FilesOf(t, dir), h.url}
}

// moveHub puts one address in the place of another one in all that a sandbox has written down.
func moveHub(t testing.TB, dir, from, to string) {
	t.Helper()
	files := must.Get(filepath.Glob(filepath.Join(dir, "*.json*")))(t)
	for _, file := range files {
		require.NoError(t, os.WriteFile(file, []byte(strings.ReplaceAll(text(t, file), from, to)), 0o600))
	}
}
