package cli_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// aForksPullRequest lets the pull request of a fork in, and sweeps.
func aForksPullRequest(t *testing.T) string {
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
	got := program(t, h.terminal("actions"), "sweep", "--only", "2").ok(t)
	said, _, ok := strings.Cut(got.out, "\nresult:")
	require.True(t, ok, got.out)
	return asEver(strings.TrimPrefix(said, "== #2\n\n"), "562c31ea82", "6bbfddcfdf", "92f0acc552")
}

// aMatrix is the work of a sweep after a comment that nobody heard.
func aMatrix(t *testing.T) string {
	h := newHub(t, "[agent]\nadapter = \"suggestion\"\n")
	got := program(t, h.terminal("actions"), "sweep", "--matrix").ok(t)
	return got.out
}

// aQuietSweep is what a second sweep says.
func aQuietSweep(t *testing.T) string {
	h := newHub(t, "[agent]\nadapter = \"suggestion\"\n")
	require.Equal(t, 0, program(t, h.terminal("actions"), "sweep").exit)
	return program(t, h.terminal("actions"), "sweep").out
}

// aStuckPull is what a command says of a pull request whose branch was rewritten, up to a line; "" for all.
func aStuckPull(until string, args ...string) func(*testing.T) string {
	return func(t *testing.T) string {
		t.Helper()
		h, old, head := blockedHub(t)
		said := atTerminal(t, append(h.terminal("carol"), "TERM=dumb"), args...).whole()
		if before, _, cut := strings.Cut(said, "\n"+until); until != "" && cut {
			said = before
		}
		was, is := strings.Repeat("0f105082fd", 4), strings.Repeat("dff0ae7d73", 4)
		said = strings.NewReplacer(old, was, old[:10], was[:10], head, is, head[:10], is[:10], h.url, "https://github.com").Replace(said)
		said = regexp.MustCompile(`  [0-9a-f]{10}  `).ReplaceAllStringFunc(said, func(column string) string {
			if sha := strings.TrimSpace(column); sha == was[:10] || sha == is[:10] {
				return column
			}
			return "  7fc055c2f2  " // where the pull request was when MergeXO took it
		})
		said = regexp.MustCompile(`20\d\d-\d\d-\d\d`).ReplaceAllString(said, "2026-11-24")
		return regexp.MustCompile(`(2026-11-24) \d\d:\d\d`).ReplaceAllString(said, "$1 09:30")
	}
}
