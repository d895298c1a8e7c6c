package cli_test

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/must"
)

// What a server may do to a run ends it with one line, which says what to do, and writes nothing before.
func TestWhatAServerMayDo(t *testing.T) {
	must.Each(t, map[string]unkind{
		"a permission to write": {"permissions", `{"permissions": {"contents": "write", "issues": "read", "pull-requests": "read"}}`, 2,
			"mergexo: comment on octo/widgets#1: Resource not accessible by integration (403); add `issues: write` or `pull-requests: write` to the job's `permissions` in the workflow's file, or use a token that has it", false},
		"a permission to read": {"permissions", `{"permissions": {"issues": "write", "pull-requests": "write"}}`, 2,
			"mergexo: read octo/widgets#1: Resource not accessible by integration (repository.defaultBranchRef); add `contents: read` to the job's `permissions` in the workflow's file, or use a token that has it", false},
		"no points left":       {"limits", `{"graphql": 1}`, 75, "rate limit of GitHub until 2", false},
		"a token that expired": {"tokens", `{"token": "sandbox-actions", "lives": "0s"}`, 2, "Bad credentials (401); set GITHUB_TOKEN", false},
		"an older server": {"schema", `{"without": ["PullRequest.closingIssuesReferences", "Issue.title"]}`, 2,
			"mergexo: read octo/widgets#1: Field 'closingIssuesReferences' doesn't exist on type 'PullRequest'; update GitHub Enterprise Server, whose GraphQL API is older than what MergeXO asks for", false},
		"a page of HTML": {"faults", `{"match": {"path": "/api/"}, "status": 200, "body": "<!DOCTYPE html>\n<html></html>"}`, 75, "the answer is a page of HTML, not JSON; try again later", false},
		"403 of git":     {"faults", `{"match": {"method": "GET", "path": "/octo/widgets*info/refs"}, "status": 403, "body": "Write access to repository not granted.", "times": 9}`, 2, "give the job `permissions: contents: write`", true},
		"a limit of git": {"faults", `{"match": {"method": "GET", "path": "/octo/widgets*info/refs"}, "status": 403, "headers": {"Retry-After": "60"}, "times": 9}`, 75, "429", true},
		"git, 403 late":  {"faults", `{"match": {"method": "POST", "path": "/octo/widgets*git-receive-pack"}, "status": 403, "times": 9}`, 2, "give the job `permissions: contents: write`", true},
	}, func(t *testing.T, c unkind) {
		t.Parallel()
		h := newHub(t, command(answers))
		h.api("octo", "PATCH", "/api/v3/repos/octo/widgets", map[string]any{"private": true})
		said, refs := h.comments(), h.refs()
		h.raw("", "PUT", "/_sandbox/"+c.set, json.RawMessage(c.to))
		got := program(t, h.env("GITHUB_RUN_ID=12", "GITHUB_RUN_ATTEMPT=1"), "run", "--json")
		h.raw("", "PUT", "/_sandbox/"+c.set, json.RawMessage(c.back()))
		require.Equal(t, c.exit, got.exit, got.errout)
		var lines []string
		for line := range strings.Lines(got.errout) {
			if strings.HasPrefix(line, "mergexo: ") {
				lines = append(lines, line)
			}
		}
		require.Len(t, lines, 1, got.errout)
		assert.Contains(t, lines[0], c.says)
		if !c.begins {
			assert.Equal(t, []string{said, refs}, []string{h.comments(), h.refs()}, "nothing was written")
		}
		program(t, h.env("GITHUB_RUN_ID=12", "GITHUB_RUN_ATTEMPT=2"), "run", "--json").ok(t)
		assert.Equal(t, 1, strings.Count(h.comments(), "Said."), "and nothing is lost")
	})
}

// unkind is what a server does to a run.
type unkind struct {
	set, to string // below /_sandbox/
	exit    int
	says    string
	begins  bool // the run has written something by then
}

// back is what takes it back.
func (c unkind) back() string {
	switch c.set {
	case "faults":
		return `[]`
	case "tokens":
		return `{"token": "sandbox-actions"}`
	}
	return `{}`
}

// refs are all of the repository, but for those by which GitHub tries whether a pull request can be merged.
func (h *hub) refs() string {
	h.t.Helper()
	cmd := exec.Command("git", "-c", "http.extraHeader=Authorization: Bearer sandbox-octo", "ls-remote", h.url+"/octo/widgets")
	out, err := cmd.CombinedOutput()
	require.NoError(h.t, err, "%s", out)
	return string(out)
}

// GitHub's clock may be an hour from ours.
func TestARunByAnotherClock(t *testing.T) {
	must.Each(t, map[string]time.Duration{"ahead": -time.Hour, "behind": time.Hour}, func(t *testing.T, behind time.Duration) {
		t.Parallel()
		h := newHub(t, command(answers))
		h.behind.Store(int64(behind))
		h.raw("", "PUT", "/_sandbox/limits", json.RawMessage(`{"graphql": 1}`))
		got := program(t, h.env(), "run", "--json").exits(t, 75)
		later := time.Now().Add(time.Hour - behind).UTC()
		assert.Contains(t, got.errout, "rate limit of GitHub until "+later.Format("2006-01-02T15:"), "as GitHub's clock has it")
		h.raw("", "PUT", "/_sandbox/limits", json.RawMessage(`{}`))
		program(t, h.env(), "run", "--json").ok(t)
		assert.Contains(t, h.comments(), "Said.")
	})
}
