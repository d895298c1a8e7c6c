package cli_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// blockedHub has pull request 1 blocked after its branch was rewritten. It gives the head that was accepted and the one
// that is there.
func blockedHub(t *testing.T) (h *hub, old, head string) {
	h = newHub(t, command(answers))
	h.api("octo", "PUT", "/_sandbox/users/carol", map[string]any{"type": "User", "repository": "octo/widgets", "permission": "maintain"})
	require.Equal(t, 0, program(t, h.env(), "run").exit)
	ref := func(name string) string {
		return h.api("octo", "GET", "/api/v3/repos/octo/widgets/git/ref/heads/"+name, nil)["object"].(map[string]any)["sha"].(string)
	}
	old, head = ref("agent/greet"), ref("main")
	commit := h.api("octo", "GET", "/api/v3/repos/octo/widgets/git/commits/"+old, nil)
	head = h.api("octo", "POST", "/api/v3/repos/octo/widgets/git/commits", map[string]any{"message": "Anew", "tree": commit["tree"].(map[string]any)["sha"], "parents": []string{head}})["sha"].(string)
	h.api("octo", "PATCH", "/api/v3/repos/octo/widgets/git/refs/heads/agent/greet", map[string]any{"sha": head, "force": true})
	h.api("alice", "POST", "/api/v3/repos/octo/widgets/issues/1/comments", map[string]any{"body": "Still there?"})
	require.Equal(t, 3, program(t, h.env(), "run").exit)
	return h, old, head
}

// terminal is the environment of a person's terminal.
func (h *hub) terminal(login string) []string {
	return []string{"GITHUB_REPOSITORY=octo/widgets", "GITHUB_API_URL=" + h.url + "/api/v3", "GITHUB_GRAPHQL_URL=" + h.url + "/api/graphql", "GITHUB_SERVER_URL=" + h.url, "GITHUB_TOKEN=sandbox-" + login}
}

func object(t *testing.T, got ran) map[string]any {
	t.Helper()
	var o map[string]any
	require.NoError(t, json.Unmarshal([]byte(got.out), &o), "%s%s", got.out, got.errout)
	return o
}

func TestOperatorsAtATerminal(t *testing.T) {
	h, old, head := blockedHub(t)
	var list []any
	for _, login := range []string{"actions", "carol"} {
		list = object(t, program(t, h.terminal(login), "blocked", "list", "--json"))["blocked"].([]any)
		require.Len(t, list, 1, login)
		b := list[0].(map[string]any)
		assert.Equal(t, []any{1.0, 0.0, "history_rewrite", old, head}, []any{b["number"], b["issue"], b["reason"], b["expected"], b["observed"]})
		assert.Regexp(t, `^20\d\d-\d\d-\d\dT`, b["since"])
		assert.Contains(t, b["url"], "/pull/1#issuecomment-")
	}
	got := program(t, h.terminal("carol"), "blocked", "list").ok(t)
	assert.Regexp(t, `(?m)^#1 +blocked +restore the old history, or accept the new one +an operator +20\d\d-\d\d-\d\d$`, got.out, "not cut in a pipe")
	todo := "Expected " + old[:10] + ", found " + head[:10] + ".\n  Who: an operator. Next: comment on #1:\n    /mergexo unblock\n    /mergexo unblock head_sha=" + head + "\n  " + h.url
	assert.Contains(t, got.out, todo)
	got = program(t, h.terminal("carol"), "status")
	assert.Regexp(t, `(?m)^#1 +blocked +restore the old history, or accept the new one +an operator `, got.out, "the same list")
	assert.Regexp(t, `1 comment without an answer; last turn done 20`, got.out)
	assert.Contains(t, got.out, todo)
	assert.Equal(t, list, object(t, program(t, h.terminal("carol"), "status", "--json"))["needs"])
	status := object(t, program(t, h.terminal("carol"), "status", "--pr", "1", "--json"))
	assert.Equal(t, list, status["needs"])
	one := status["pull_requests"].([]any)[0].(map[string]any)
	assert.Equal(t, []any{"blocked", old, head}, []any{one["state"], one["accepted"], one["head"]})
	got = program(t, h.terminal("carol"), "why", "--pr", "1")
	assert.Regexp(t, `^#1: No turn starts here: .*blocked \(history_rewrite\), see http`, got.out)
	assert.NotContains(t, got.out, "EVIDENCE")
	got = program(t, h.terminal("carol"), "why", "--pr", "1", "--all")
	assert.Regexp(t, `(?m)^not blocked +NO +blocked \(history_rewrite\), see http`, got.out)
	assert.Regexp(t, `(?m)^to be merged +MET +EVIDENCE`, got.out)
	why := object(t, program(t, h.terminal("carol"), "why", "--pr", "1", "--json"))
	assert.Equal(t, list[0], why["pull_request"].(map[string]any)["need"])
	assert.NotEmpty(t, why["conditions"])
	assert.NotEmpty(t, why["merge_conditions"])

	got = program(t, h.terminal("actions"), "blocked", "reset", "--pr", "1").fails(t, 3, "mergexo: pull request 1 stays blocked: The last accepted head "+old[:10]+" is not part of the branch, which is at "+head[:10]+".\n")
	assert.Contains(t, got.errout, "\n  |   git push --force-with-lease=agent/greet:"+head+" origin "+old+":refs/heads/agent/greet\n")
	assert.NotRegexp(t, "[`*]|\\]\\(", got.errout, "Markdown is for GitHub")
	got = program(t, h.terminal("actions"), "blocked", "reset", "--pr", "1", "--json").fails(t, 3, "mergexo: pull request 1 stays blocked")
	assert.Equal(t, "blocked", object(t, got)["result"])
	assert.NotRegexp(t, "[`*]|\\]\\(", object(t, got)["reason"])
	got = program(t, h.terminal("actions"), "blocked", "reset", "--all", "--dry-run", "--head-sha", head).ok(t)
	assert.Contains(t, got.out, "would comment on #1")
	done := object(t, program(t, h.terminal("actions"), "blocked", "reset", "--all", "--yes", "--head-sha", head, "--json"))
	assert.Equal(t, []any{"done", 0.0, 1.0}, []any{done["result"], done["exit"], done["number"]})
	assert.Len(t, done["results"], 1)
	effects := done["effects"].([]any)
	require.Len(t, effects, 2)
	assert.Equal(t, []any{"comment", "minimize"}, []any{effects[0].(map[string]any)["kind"], effects[1].(map[string]any)["kind"]}, "the block is hidden")
	assert.Equal(t, "Nothing is waiting for a person.\n", program(t, h.terminal("actions"), "blocked", "list").out)
	missing := program(t, h.terminal("actions"), "blocked", "reset", "--pr", "99", "--json").fails(t, 2, "mergexo: ")
	assert.Equal(t, []any{2.0, 2.0}, []any{object(t, missing)["exit"], object(t, missing)["results"].([]any)[0].(map[string]any)["exit"]})
	nothing := object(t, program(t, h.terminal("actions"), "blocked", "reset", "--all", "--yes", "--json"))
	assert.Equal(t, []any{"nothing", 0.0}, []any{nothing["result"], nothing["exit"]})
}

func TestAPersonsResetIsACommandOfThatPerson(t *testing.T) {
	h, _, head := blockedHub(t)
	got := program(t, h.terminal("carol"), "blocked", "reset", "--pr", "1", "--head-sha", head).ok(t)
	assert.Contains(t, got.out, "carol gave the command on pull request 1: /mergexo unblock head_sha="+head)
	program(t, h.env(), "run").ok(t)
	assert.Equal(t, "Nothing is waiting for a person.\n", program(t, h.terminal("carol"), "blocked", "list").out)
}

func TestWhatOperatorsGetWrong(t *testing.T) {
	h := newHub(t, command(answers))
	octo := h.terminal("octo")
	mistakes(t, map[string]mistake{
		"nothing to reset":           {octo, []string{"blocked", "reset"}, "needs --pr NUMBER, or --all --yes"},
		"both":                       {octo, []string{"blocked", "reset", "--pr", "1", "--all"}, "not both"},
		"all without yes":            {octo, []string{"blocked", "reset", "--all"}, "add --yes"},
		"no SHA":                     {octo, []string{"blocked", "reset", "--pr", "1", "--head-sha", "HEAD"}, `--head-sha: want 7 to 40 hexadecimal digits, got "HEAD"`},
		"no number":                  {octo, []string{"status", "--pr", "-1"}, "--pr: want the number of a pull request, got -1"},
		"a number that is not there": {octo, []string{"status", "--pr", "99"}, "octo/widgets#99 does not exist"},
		"why without a number":       {octo, []string{"why"}, "why needs --pr NUMBER"},
		"a repository of that name":  {octo, []string{"status", "--repo", "octo"}, `--repo: repository "octo": want owner/name`},
		"one that is not there":      {octo, []string{"status", "--repo", "octo/gone"}, "repository octo/gone does not exist"},
		"no token":                   {append(octo, "GITHUB_TOKEN="), []string{"status"}, "mergexo: no token"},
		"no repository":              {append(octo, "GITHUB_REPOSITORY="), []string{"status"}, "which repository?"},
	})
	program(t, octo, "blocked", "reset", "--pr", "99").fails(t, 2, "octo/widgets#99 does not exist")
	issue := int(h.api("octo", "POST", "/api/v3/repos/octo/widgets/issues", map[string]any{"title": "An issue"})["number"].(float64))
	for _, args := range [][]string{{"status", "--pr"}, {"blocked", "reset", "--pr"}} {
		got := program(t, h.terminal("octo"), append(args, fmt.Sprint(issue))...)
		assert.Equal(t, 2, got.exit, args)
		assert.Contains(t, got.errout, "is an issue; name the pull request that closes it")
	}
	got := program(t, h.terminal("octo"), "why", "--pr", fmt.Sprint(issue)).ok(t)
	assert.Equal(t, fmt.Sprintf("issue #%d: has not begun; issue %d has no label that starts an agent\n", issue, issue), got.out)
	got = program(t, append(h.terminal("octo"), "GITHUB_TOKEN=nonsense"), "blocked", "list", "--json").exits(t, 2)
	assert.Equal(t, "failed", object(t, got)["result"])
}

func TestTheRepositoryIsThatOfTheClone(t *testing.T) {
	h := newHub(t, command(answers))
	dir := filepath.Join(t.TempDir(), "clone")
	gitIn(t, ".", "clone", "-q", h.url+"/octo/widgets.git", dir)
	t.Chdir(dir)
	got := program(t, append(h.terminal("octo"), "GITHUB_REPOSITORY="), "status").ok(t)
	assert.Regexp(t, `(?m)^#1 +pending +- [^#]*\n#1 Greet\n.* 1 comment without an answer$`, got.out)
}
