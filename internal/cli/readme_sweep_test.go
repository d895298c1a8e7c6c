package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestTheReadmeShowsAForksPullRequest lets the pull request of a fork in, and sweeps.
func TestTheReadmeShowsAForksPullRequest(t *testing.T) {
	h := newHub(t, "[agent]\nadapter = \"suggestion\"\n[merge]\ntests = [\"grep\", \"hello\", \"greeting.txt\"]\n[external]\nenabled = true\nevaluate = [\"sh\", \"scripts/evaluate\"]\n")
	h.behind.Store(int64(time.Minute)) // so that the label is put on after the last push, without a doubt
	h.write("main", "scripts/evaluate", "#!/bin/sh\ncat >/dev/null; echo '{\"verdict\": \"approve\", \"reason\": \"It greets, and does nothing else.\"}'\n")
	h.api("octo", "PATCH", "/api/v3/repos/octo/widgets/pulls/1", map[string]any{"state": "closed"})
	h.api("octo", "PUT", "/_sandbox/users/mallory", map[string]any{"type": "User", "repository": "octo/widgets", "permission": "none"})
	h.api("mallory", "POST", "/api/v3/repos/octo/widgets/forks", map[string]any{})
	h.api("mallory", "PUT", "/api/v3/repos/mallory/widgets/contents/hi.txt", map[string]any{"message": "Say hi", "branch": "main", "content": "aGkK"})
	h.api("mallory", "POST", "/api/v3/repos/octo/widgets/pulls", map[string]any{"title": "Say hi", "head": "mallory:main", "base": "main"})
	h.behind.Store(0)
	h.raw("octo", "POST", "/api/v3/repos/octo/widgets/issues/2/labels", map[string]any{"labels": []string{"external:accept"}})
	got := program(t, h.terminal("actions"), "sweep", "--only", "2")
	require.Equal(t, 0, got.exit, got.errout)
	said, _, ok := strings.Cut(got.out, "\nresult:")
	require.True(t, ok, got.out)
	t.Log(said)
	keepsTrue(t, "and this is what becomes of it:", asEver(strings.TrimPrefix(said, "== #2\n\n"), "562c31ea82", "6bbfddcfdf", "92f0acc552"))
}

// TestTheReadmeShowsASweep sweeps a repository in which a trigger was lost, in one process and as jobs.
func TestTheReadmeShowsASweep(t *testing.T) {
	h := newHub(t, "[agent]\nadapter = \"suggestion\"\n")
	env := h.terminal("actions")
	matrix := program(t, env, "sweep", "--matrix")
	require.Equal(t, 0, matrix.exit, matrix.errout)
	keepsTrue(t, "    mergexo sweep --matrix", matrix.out)
	require.Equal(t, 0, program(t, env, "sweep").exit)
	quiet := program(t, env, "sweep")
	keepsTrue(t, "    mergexo sweep", quiet.out)
}

// TestTheReadmeShowsADashboard: the picture is there, and it is the one that the dashboard's own test makes.
func TestTheReadmeShowsADashboard(t *testing.T) {
	raw, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	const picture = "internal/dashboard/testdata/dashboard.png"
	assert.Contains(t, string(raw), "]("+picture+")")
	assert.FileExists(t, filepath.Join("../..", picture))
}
