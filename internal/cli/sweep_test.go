package cli_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/must"
)

// swept reads what a sweep prints as JSON: the result of each number, 0 for the repository's own.
func swept(t *testing.T, got ran) map[int]string {
	t.Helper()
	results, ok := object(t, got)["results"].([]any)
	require.True(t, ok, got.out)
	out := map[int]string{}
	for _, one := range results {
		r := one.(map[string]any)
		assert.IsType(t, []any{}, r["effects"])
		out[int(r["number"].(float64))] = fmt.Sprint(r["result"], " ", r["exit"])
	}
	return out
}

// atWork is what the runner gives a step, with files for its outputs and its summary.
func (h *hub) atWork(event, payload string) (env []string, output, summary string) {
	h.t.Helper()
	dir := h.t.TempDir()
	output, summary = filepath.Join(dir, "output"), filepath.Join(dir, "summary")
	require.NoError(h.t, os.WriteFile(filepath.Join(dir, "event.json"), []byte(payload), 0o600))
	return h.env("GITHUB_EVENT_NAME="+event, "GITHUB_EVENT_PATH="+filepath.Join(dir, "event.json"), "GITHUB_ACTIONS=true", "GITHUB_RUN_ID=12",
		"GITHUB_OUTPUT="+output, "GITHUB_STEP_SUMMARY="+summary, "MERGEXO_FAIL_ON=failed"), output, summary
}

// steady is an output without what differs from run to run: commits, keys of turns, times.
func steady(out string) string {
	out = regexp.MustCompile(`\d+ GitHub calls and \d+ git network operations in all`).ReplaceAllString(out, "CALLS in all")
	return regexp.MustCompile(`\b[0-9a-f]{64}\b|\b[0-9a-f]{10}\b`).ReplaceAllString(regexp.MustCompile(`  \|\n  \| This took [0-9]+ s\.?\n`).ReplaceAllString(out, ""), "SHA")
}

func TestASweepAtATerminal(t *testing.T) {
	h := newHub(t, command(answers))
	got := program(t, h.terminal("actions"), "sweep", "--dry-run").ok(t)
	shows(t, "sweep/dry.txt", "", steady(got.out))
	assert.NotContains(t, h.comments(), "MergeXO")

	shows(t, "sweep/work.txt", "", steady(program(t, h.terminal("actions"), "sweep").ok(t).out))
	assert.Contains(t, h.comments(), "Answered 1 comment")

	got = program(t, h.terminal("actions"), "sweep").ok(t)
	shows(t, "sweep/quiet.txt", "", got.out)
	assert.Empty(t, got.errout)
	assert.Equal(t, map[int]string{0: "nothing 0"}, swept(t, program(t, h.terminal("actions"), "sweep", "--json")))
}

func TestASweepWithAnotherToken(t *testing.T) {
	h := newHub(t, command(answers))
	require.Equal(t, 0, program(t, h.terminal("actions"), "sweep").exit)
	before := h.comments()
	got := program(t, h.terminal("octo"), "sweep", "--json").exits(t, 2)
	assert.Equal(t, map[int]string{1: "failed 2", 0: "nothing 0"}, swept(t, got))
	assert.Contains(t, got.errout, "mergexo: #1: MergeXO used another account here before: github-actions[bot] wrote as MergeXO at ")
	assert.Contains(t, got.errout, `but this token belongs to octo: nothing is done here (mergexo help ci: "After a change of the token")`)
	assert.Equal(t, before, h.comments())

	got = program(t, h.terminal("octo"), "sweep", "--only", "1").exits(t, 2)
	assert.Equal(t, before, h.comments())
}

func TestASweepOnTheSchedule(t *testing.T) {
	for event, payload := range map[string]string{
		"schedule": `{"schedule": "17 * * * *"}`, "workflow_dispatch": `{"inputs": null, "ref": "refs/heads/main", "workflow": "x", "repository": {"full_name": "octo/widgets"}}`,
	} {
		t.Run(event, func(t *testing.T) {
			h := newHub(t, command(answers))
			env, output, summary := h.atWork(event, payload)
			assert.Equal(t, map[int]string{0: "nothing 0", 1: "done 0"}, swept(t, program(t, env, "run", "--json").ok(t)))
			assert.Contains(t, text(t, summary), "### MergeXO: sweep of octo/widgets")
			assert.Equal(t, "result=done\npr=\nturn-key=\nhead-sha=\nblocked-reason=\n", text(t, output))
			assert.Contains(t, h.comments(), "Answered 1 comment")
		})
	}
	h := newHub(t, command(answers))
	env, _, summary := h.atWork("workflow_dispatch", `{"inputs": {"number": "1"}, "ref": "refs/heads/main", "workflow": "x", "repository": {"full_name": "octo/widgets"}}`)
	assert.EqualValues(t, 1, object(t, program(t, env, "run", "--json").ok(t))["number"], "by hand with a number: that one")
	assert.NotContains(t, text(t, summary), "sweep of")
}

func TestASweepAsJobsBesideEachOther(t *testing.T) {
	h := newHub(t, command(answers)+"[sweep]\nmax_parallel = 3\n")
	h.api("octo", "PATCH", "/api/v3/repos/octo/widgets/pulls/1", map[string]any{"title": "x\nwork=false\nmatrix=[]\n::set-output name=matrix::[]"})
	h.api("alice", "POST", "/api/v3/repos/octo/widgets/issues/1/comments", map[string]any{"body": "y\nmatrix<<EOF\n[]\nEOF"})
	env, output, _ := h.atWork("schedule", `{"schedule": "17 * * * *"}`)
	got := program(t, env, "sweep", "--matrix").ok(t)
	const matrix = `{"include":[{"group":"1","only":"1","why":"feedback"},{"group":"repository","only":"repository","why":"conflicts"}]}`
	assert.Equal(t, matrix+"\n", got.out)
	assert.Equal(t, "matrix="+matrix+"\nwork=true\nmax-parallel=3\n", text(t, output), "and no output that somebody else has thought of")
	assert.NotContains(t, h.comments(), "MergeXO", "a plan writes nothing")

	env, output, summary := h.atWork("schedule", `{"schedule": "17 * * * *"}`)
	assert.Equal(t, map[int]string{0: "nothing 0", 1: "done 0"}, swept(t, program(t, env, "sweep", "--json", "--only", "1").ok(t)))
	assert.Contains(t, text(t, output), "result=done\n")
	assert.Contains(t, text(t, summary), "#1", "what an event's run would say")
	assert.NotContains(t, text(t, summary), "sweep of", "of a repository at which nobody has looked")

	env, _, _ = h.atWork("schedule", `{"schedule": "17 * * * *"}`)
	program(t, env, "sweep", "--only", "repository").ok(t)

	env, output, _ = h.atWork("schedule", `{"schedule": "17 * * * *"}`)
	assert.Equal(t, `{"include":[]}`+"\n", program(t, env, "sweep", "--matrix").ok(t).out)
	assert.Equal(t, "matrix={\"include\":[]}\nwork=false\nmax-parallel=20\n", text(t, output), "nobody asks how many jobs there may be of none")
}

func TestAPlanNeedsNoSettings(t *testing.T) {
	must.Each(t, map[string]string{
		"a server that is down": `"status": 503`, "a limit": `"status": 429, "headers": {"Retry-After": "7200"}`,
	}, func(t *testing.T, fault string) {
		h := newHub(t, command(answers)+"[sweep]\nmax_parallel = 3\n")
		h.raw("", "PUT", "/_sandbox/faults", json.RawMessage(`{"match": {"path": "/api/v3/repos/octo/widgets/contents/.github/mergexo.toml"}, "times": 99, `+fault+`}`))
		env, output, _ := h.atWork("schedule", `{"schedule": "17 * * * *"}`)
		got := program(t, env, "sweep", "--matrix").ok(t)
		assert.Contains(t, got.out, `{"include":[{"group":"1",`)
		assert.Contains(t, text(t, output), "work=true\nmax-parallel=20\n")
		assert.Contains(t, got.errout, "default_max_parallel")
	})
}

// The first number fails, and what the sweep does about the whole repository is refused.
func TestASweepThatEndsWithAMistakeTellsWhatItDid(t *testing.T) {
	sweeps := func(args ...string) (ran, string) {
		h := newHub(t, command("exit 1"))
		h.raw("", "PUT", "/_sandbox/faults", json.RawMessage(`{"match": {"method": "POST", "path": "/api/v3/repos/octo/widgets/git/refs"}, "status": 404, "times": 9}`))
		env, _, summary := h.atWork("schedule", `{"schedule": "17 * * * *"}`)
		got := program(t, env, append([]string{"sweep"}, args...)...).exits(t, 2)
		assert.Regexp(t, `(?m)^mergexo: .*404`, got.errout)
		return got, text(t, summary)
	}
	got, summary := sweeps("--json")
	assert.Equal(t, map[int]string{0: "failed 2", 1: "failed 1"}, swept(t, got))
	assert.Regexp(t, `(?m)^\| \[#1\]\(.*\) \| failed \|`, summary)
	assert.Regexp(t, `(?m)^\| repository \| failed \| .*404`, summary)

	got, _ = sweeps()
	assert.Contains(t, got.out, "== #1\n")
	assert.NotContains(t, got.out, "404", "standard error says that")
}

func TestHowASweepEnds(t *testing.T) {
	type row struct {
		settings, fault string
		env             []string
		args            []string
		exit            int
		says            string
		results         map[int]string
	}
	must.Each(t, map[string]row{
		"an agent that fails":          {command("exit 1"), "", nil, nil, 1, "mergexo: #1: ", map[int]string{0: "nothing 0", 1: "failed 1"}},
		"an agent that has a question": {command(`cat >/dev/null; echo '{"blocked_reason": "Which one?"}'`), "", nil, nil, 0, "", map[int]string{0: "nothing 0", 1: "blocked 3"}},
		"a limit": {command(answers), `{"match": {"path": "/api/graphql"}, "status": 429, "headers": {"Retry-After": "7200"}, "times": 9}`, nil, nil, 75,
			"mergexo: ", map[int]string{0: "retry 75"}},
		"a limit of a plan": {command(answers), `{"match": {"path": "/api/graphql"}, "status": 429, "headers": {"Retry-After": "7200"}, "times": 9}`, nil, []string{"--matrix"}, 75,
			"mergexo: ", map[int]string{0: "retry 75"}},
		"no token":                   {command(answers), "", []string{"GITHUB_TOKEN="}, nil, 2, "mergexo: no token", map[int]string{0: "failed 2"}},
		"a number that is not there": {command(answers), "", nil, []string{"--only", "99"}, 0, "", map[int]string{0: "nothing 0", 99: "nothing 0"}},
		"no settings":                {"", "", nil, nil, 0, "", nil},
	}, func(t *testing.T, c row) {
		h := newHub(t, c.settings)
		if c.fault != "" {
			h.raw("", "PUT", "/_sandbox/faults", json.RawMessage(c.fault))
		}
		got := program(t, append(h.terminal("actions"), c.env...), append([]string{"sweep", "--json"}, c.args...)...)
		assert.Equal(t, c.exit, got.exit, got.out+got.errout)
		if c.results != nil {
			assert.Equal(t, c.results, swept(t, got))
		}
		if c.says != "" {
			assert.Regexp(t, "(?m)^"+c.says, got.errout)
		}
	})
}

func TestWhatASweepIsAskedForInVain(t *testing.T) {
	h := newHub(t, command(answers))
	full := filepath.Join(t.TempDir(), "page.html")
	env := h.terminal("actions")
	mistakes(t, map[string]mistake{
		"no number":            {env, []string{"sweep", "--only", "x"}, `mergexo: --only: "x": want numbers of pull requests or issues such as 7,9, or "repository"`},
		"no number in between": {env, []string{"sweep", "--only", "7,,9"}, `mergexo: --only: "7,,9": want numbers`},
		"a negative number":    {env, []string{"sweep", "--only=-1"}, `mergexo: --only: "-1": want numbers`},
		"nothing":              {env, []string{"sweep", "--only", ""}, `mergexo: --only: "": want numbers`},
		"a plan of one":        {env, []string{"sweep", "--matrix", "--only", "7"}, `mergexo: --matrix lists all work: remove --only`},
		"a page of one":        {env, []string{"sweep", "--html", full, "--only", "7"}, `mergexo: --html shows the whole repository, of which --only sees nothing: use mergexo status`},
		"no such directory":    {env, []string{"sweep", "--html", "/nowhere/page.html"}, `mergexo: --html: /nowhere is not a directory`},
		"a directory":          {env, []string{"sweep", "--html", filepath.Dir(full)}, `is not a file`},
		"an argument":          {env, []string{"sweep", "7"}, `mergexo: sweep takes no argument "7"`},
		"no repository":        {env, []string{"sweep", "--repo", "octo"}, `mergexo: --repo: repository "octo": want owner/name`},
	})
	assert.NoFileExists(t, full)
	assert.NotContains(t, h.comments(), "MergeXO", "nothing was done before it was noticed")
}

func TestTheDashboardIsWrittenWholeOrNotAtAll(t *testing.T) {
	h := newHub(t, command(answers))
	page := filepath.Join(t.TempDir(), "page.html")
	whole := func() {
		t.Helper()
		assert.True(t, strings.HasSuffix(strings.TrimSpace(text(t, page)), "</html>"))
		assert.Contains(t, text(t, page), "octo/widgets")
		assert.Len(t, must.Get(os.ReadDir(filepath.Dir(page)))(t), 1, "no half of another one beside it")
	}
	require.Equal(t, 0, program(t, h.terminal("actions"), "sweep", "--html", page).exit)
	whole()
	assert.Equal(t, os.FileMode(0o644), must.Get(os.Stat(page))(t).Mode().Perm())

	require.NoError(t, os.WriteFile(page, []byte("an older one"), 0o600))
	assert.Equal(t, 2, program(t, append(h.terminal("actions"), "GITHUB_TOKEN=nonsense"), "status", "--html", page).exit)
	assert.Equal(t, "an older one", text(t, page))
	assert.Empty(t, program(t, h.terminal("octo"), "status", "--html", page).ok(t).out)
	whole()
	assert.Equal(t, 2, program(t, h.terminal("octo"), "status", "--html", page, "--pr", "1").exit)
}
