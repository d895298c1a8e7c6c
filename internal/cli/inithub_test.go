package cli_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mergexo/mergexo/internal/github/workflow"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/doctor"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/must"
)

const rightsOfWorkflows = "/api/v3/repos/octo/widgets/actions/permissions/workflow"

// newField is a hub on which nothing is set up, and a checkout of its repository.
func newField(t *testing.T) (h *hub, dir string) {
	t.Helper()
	h = newHub(t, "")
	h.api("octo", "PUT", rightsOfWorkflows, map[string]any{"can_approve_pull_request_reviews": false})
	return h, newRepository(t)
}

// onGitHub runs init --github as somebody. What it prints has no port in it.
func (h *hub) onGitHub(dir, login string, args ...string) ran {
	h.t.Helper()
	t := h.t.(*testing.T)
	got := programIn(t, dir, "", h.terminal(login), append([]string{"init", "--github", "--yes"}, args...)...)
	hide := strings.NewReplacer(strings.TrimPrefix(h.url, "http://"), "ghe.example", dir, "DIR")
	return ran{got.exit, hide.Replace(got.out), hide.Replace(got.errout)}
}

// secrets are the values of the repository's secrets, which only the sandbox gives.
func (h *hub) secrets() map[string]any {
	return h.api("", "GET", "/_sandbox/secrets/octo/widgets", nil)
}

// store makes a secret as gh does.
func (h *hub) store(name, value string) {
	h.t.Helper()
	require.NoError(h.t, storeSecret(h.t.Context(), h.url+"/api/v3", name, value))
}

// writes are the requests of the API that were no reads, of a kind.
func (h *hub) writes(path string) (n int) {
	h.t.Helper()
	var calls []struct{ Method, Path string }
	require.NoError(h.t, json.Unmarshal(h.raw("", "GET", "/_sandbox/calls", nil), &calls))
	for _, c := range calls {
		if c.Method != "GET" && strings.HasPrefix(c.Path, "/api/v3/repos/octo/widgets"+path) {
			n++
		}
	}
	return n
}

func TestInitSetsUpGitHub(t *testing.T) {
	h, dir := newField(t)
	got := h.onGitHub(dir, "octo").ok(t)
	shows(t, "init/github.txt", "", got.out)
	assert.True(t, h.api("octo", "GET", rightsOfWorkflows, nil)["can_approve_pull_request_reviews"].(bool))
	key := h.secrets()["MERGEXO_SIGNING_KEY"]
	assert.Regexp(t, `^[0-9a-f]{64}$`, key)
	assert.NotContains(t, got.out+got.errout, key)
	var labels []struct{ Name string }
	require.NoError(t, json.Unmarshal(h.raw("octo", "GET", "/api/v3/repos/octo/widgets/labels", nil), &labels))
	assert.Len(t, labels, 9+5, "those that every repository begins with, and ours")

	// Run again, nothing is made twice, and the list is shorter with everything that was done.
	before := h.writes("")
	got = h.onGitHub(dir, "octo").ok(t)
	assert.Equal(t, before, h.writes(""))
	shows(t, "init/github_again.txt", "", got.out)
	h.store("CODEX_API_KEY", "sk-1")
	assert.Contains(t, h.onGitHub(dir, "octo").out, "gh secret set OPENAI_API_KEY", "the workflow names this one")
	files := filesIn(t, dir)
	put(t, dir, doctor.WorkflowPath, strings.ReplaceAll(files[doctor.WorkflowPath], "OPENAI_API_KEY", "CODEX_API_KEY"))
	files = filesIn(t, dir)
	for _, name := range []string{thread.SettingsPath, doctor.WorkflowPath, workflow.SetupPath} {
		h.write("main", name, files[name])
	}
	assert.Contains(t, h.onGitHub(dir, "octo").out, "\nNothing is left to do. Add the label agent:small-job to an issue.\n")
	assert.Equal(t, key, h.secrets()["MERGEXO_SIGNING_KEY"])
	programIn(t, dir, "", h.terminal("octo"), "doctor").ok(t)
}

func TestInitMakesTheLabelsOfTheSettings(t *testing.T) {
	h, dir := newField(t)
	put(t, dir, thread.SettingsPath, "[agent]\nadapter = \"suggestion\"\n[review]\nauto = \"label\"\nlabel = \"look\"\n[merge]\nauto = \"label\"\n")
	got := h.onGitHub(dir, "octo").ok(t)
	assert.Contains(t, got.out, "created the label look\n")
	assert.Contains(t, got.out, "created the label merge\n")
}

func TestInitTellsWhatATokenMayNot(t *testing.T) {
	h, dir := newField(t)
	h.api("octo", "PUT", "/_sandbox/users/bob", map[string]any{"type": "User", "repository": "octo/widgets", "permission": "read"})
	got := h.onGitHub(dir, "bob", "--merge", "label").ok(t)
	shows(t, "init/github_reader.txt", "", got.out)
	assert.Empty(t, h.secrets())
	got = h.onGitHub(dir, "alice") // may write, and is no administrator
	require.Equal(t, 0, got.exit, got.errout)
	shows(t, "init/github_writer.txt", "", got.out)
	assert.Contains(t, h.onGitHub(dir, "octo").ok(t).out, "workflows of octo/widgets may open pull requests now\n")
}

func TestInitChoosesAStrategyThatTheBranchAccepts(t *testing.T) {
	h, dir := newField(t)
	const repo = "/api/v3/repos/octo/widgets"
	h.api("octo", "PATCH", repo, map[string]any{"allow_merge_commit": false, "allow_rebase_merge": false})
	h.onGitHub(dir, "octo").ok(t)
	assert.Contains(t, filesIn(t, dir)[thread.SettingsPath], "strategy = \"squash\"           # ")

	h.api("octo", "PUT", repo+"/branches/main/protection", map[string]any{"enforce_admins": true, "required_status_checks": nil, "restrictions": nil,
		"required_pull_request_reviews": map[string]any{"required_approving_review_count": 1}})
	got := h.onGitHub(dir, "octo").ok(t)
	assert.Contains(t, got.out, `Make merging possible: main accepts changes only by pull request (branch protection). In .github/mergexo.toml, [merge] strategy is "squash": set it to "api", which lets GitHub merge`, "--yes keeps the file")
	got = h.onGitHub(dir, "octo", "--force").ok(t)
	shows(t, "init/github_protected.txt", "", got.out)
	assert.Contains(t, filesIn(t, dir)[thread.SettingsPath], "strategy = \"api\"              # ")
	assert.NotContains(t, got.out, "[merge] strategy")
	got = h.onGitHub(dir, "alice", "--force") // who is no administrator
	require.Equal(t, 0, got.exit, got.errout)
	assert.Contains(t, got.out, `Check that main accepts [merge] strategy "api". Some of its rules were not read: GitHub does not show it to this token`)
}

// Wherever init dies, it goes on from there.
func TestInitGoesOnAfterAnInterruption(t *testing.T) {
	for name, path := range map[string]string{"labels": "/labels", "setting": "/actions/permissions/workflow", "signing key": "/actions/secrets/MERGEXO_SIGNING_KEY"} {
		for _, after := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				h, dir := newField(t)
				method := map[bool]string{true: "POST", false: "PUT"}[path == "/labels"]
				h.raw("", "PUT", "/_sandbox/faults", []map[string]any{{"match": map[string]any{"method": method, "path": "/api/v3/repos/octo/widgets" + path}, "drop": true, "after": after, "times": 1}})
				h.onGitHub(dir, "octo").fails(t, 75, "; run mergexo init --github again, it continues from here\n")
				key := h.secrets()["MERGEXO_SIGNING_KEY"]
				h.onGitHub(dir, "octo").ok(t)
				if key != nil {
					assert.Equal(t, key, h.secrets()["MERGEXO_SIGNING_KEY"], "made once")
				}
				shows(t, "init/github_again.txt", "", h.onGitHub(dir, "octo").out)
			})
		}
	}
}

func TestInitOnGitHubNeedsARepositoryAndAToken(t *testing.T) {
	h, dir := newField(t)
	env := h.terminal("octo")
	without := func(name string) (kept []string) {
		for _, e := range env {
			if !strings.HasPrefix(e, name+"=") {
				kept = append(kept, e)
			}
		}
		return kept
	}
	type row struct {
		env  []string
		exit int
		says string
	}
	must.Each(t, map[string]row{
		"no token":      {without("GITHUB_TOKEN"), 2, "no token: run export GITHUB_TOKEN=$(gh auth token"},
		"a wrong token": {append(env, "GITHUB_TOKEN=nonsense"), 2, "401"},
		"no origin":     {without("GITHUB_REPOSITORY"), 2, "the remote origin is not a repository at "},
		"not there":     {append(env, "GITHUB_REPOSITORY=octo/nothing"), 2, "404"},
		"no answer":     {append(env, "GITHUB_API_URL=http://127.0.0.1:1/api/v3"), 75, "run mergexo init --github again"},
	}, func(t *testing.T, c row) {
		got := programIn(t, dir, "", c.env, "init", "--github", "--yes")
		assert.Equal(t, c.exit, got.exit, got.errout)
		assert.Contains(t, got.errout, c.says)
		assert.Equal(t, 1, strings.Count(got.errout, "\n"), got.errout)
		assert.Empty(t, filesIn(t, dir), "nothing was written")
	})
	h.api("octo", "PATCH", "/api/v3/repos/octo/widgets", map[string]any{"private": true})
	gitIn(t, dir, "remote", "add", "origin", h.url+"/octo/widgets.git")
	programIn(t, dir, "", without("GITHUB_REPOSITORY"), "init", "--github", "--yes").ok(t)
}

func TestInitLetsAPrivateRepositorySweepSeldom(t *testing.T) {
	h, dir := newField(t)
	h.api("octo", "PATCH", "/api/v3/repos/octo/widgets", map[string]any{"private": true})
	got := h.onGitHub(dir, "octo", "--agent", "suggestion").ok(t)
	assert.Contains(t, got.out, "\nthe sweep runs every six hours; GitHub bills about 120 minutes a month for it, because octo/widgets is private\n")
	cron := func() []string {
		return regexp.MustCompile(`cron: ("[^"]*")`).FindStringSubmatch(filesIn(t, dir)[doctor.WorkflowPath])
	}
	assert.Equal(t, `"17 6,12,18 * * *"`, cron()[1])
	require.Equal(t, 0, programIn(t, dir, "", nil, "init", "--yes", "--force").exit)
	assert.Equal(t, `"17 6,12,18 * * *"`, cron()[1], "without GitHub nobody knows better")

	assert.NotContains(t, h.onGitHub(dir, "octo", "--force", "--ghes").ok(t).out, "the sweep runs")
	assert.Equal(t, `"17 1-23 * * *"`, cron()[1], "a server of one's own bills nothing")

	require.NoError(t, os.Remove(filepath.Join(dir, doctor.WorkflowPath)))
	h.api("octo", "PATCH", "/api/v3/repos/octo/widgets", map[string]any{"private": false})
	got = h.onGitHub(dir, "octo", "--force").ok(t)
	assert.Contains(t, got.out, "\nthe sweep runs every hour; GitHub bills no minutes for it, because octo/widgets is public\n")
	assert.Equal(t, `"17 1-23 * * *"`, cron()[1])
}

// The pull request that installs MergeXO goes to a branch without settings. Its run says so, and does not fail.
func TestARunWithoutSettingsIsNotRed(t *testing.T) {
	h := newHub(t, "")
	before := h.comments()
	env := h.env("GITHUB_ACTIONS=true", "GITHUB_EVENT_NAME=pull_request", "GITHUB_EVENT_PATH="+h.sentBy("pull_request", "octo"))
	got := program(t, env, "run").ok(t)
	assert.Contains(t, got.out, "result: nothing, main:.github/mergexo.toml: does not exist; commit one to the base branch")
	assert.Contains(t, got.errout, "::notice::mergexo: nothing to do: main:.github/mergexo.toml: does not exist; commit one to the base branch")
	assert.Equal(t, before, h.comments())

	got = program(t, slices.DeleteFunc(env, func(e string) bool { return e == "GITHUB_ACTIONS=true" }), "run")
	assert.Equal(t, 2, got.exit, "at a terminal somebody has to know: %s", got.errout)
}

// What init meets in repositories as people have them.
func TestInitOnGitHubMeets(t *testing.T) {
	const repo = "/api/v3/repos/octo/widgets"
	path := func(name string) string { // with git, and without gh
		found := must.Get(exec.LookPath(name))(t)
		dir := t.TempDir()
		require.NoError(t, os.Symlink(found, filepath.Join(dir, name)))
		return "PATH=" + dir
	}
	type row struct {
		login, says, never string
		prepare            func(h *hub) (env []string)
	}
	must.Each(t, map[string]row{
		"a fork as the clone": {"alice", "alice/widgets is a fork of octo/widgets, and is what this sets up. For the other one, run GITHUB_REPOSITORY=octo/widgets mergexo init --github\n", "", func(h *hub) []string {
			h.api("alice", "POST", repo+"/forks", nil)
			return []string{"GITHUB_REPOSITORY=alice/widgets"}
		}},
		"an organization that forbids pull requests": {"octo", "Have an owner of octo allow that workflows open pull requests, at http://ghe.example/organizations/octo/settings/actions; or use a GitHub App:\n       mergexo init --github --app\n", "gh api", func(h *hub) []string {
			raw := h.api("octo", "GET", repo, nil)
			raw["owner"].(map[string]any)["type"] = "Organization"
			body := must.Get(json.Marshal(raw))(h.t)
			h.raw("", "PUT", "/_sandbox/faults", []map[string]any{
				{"match": map[string]any{"method": "GET", "path": repo}, "status": 200, "body": string(body), "headers": map[string]string{"Content-Type": "application/json"}, "times": 9},
				{"match": map[string]any{"method": "PUT", "path": rightsOfWorkflows}, "status": 409, "body": `{"message": "Conflict"}`, "times": 9},
			})
			return nil
		}},
		"secrets of the organization": {"octo", "Commit the files", "gh secret set OPENAI_API_KEY", func(h *hub) []string {
			h.raw("", "PUT", "/_sandbox/faults", []map[string]any{{"match": map[string]any{"method": "GET", "path": repo + "/actions/organization-secrets"}, "status": 200,
				"body": `{"total_count": 1, "secrets": [{"name": "OPENAI_API_KEY"}]}`, "headers": map[string]string{"Content-Type": "application/json"}, "times": 9}})
			return nil
		}},
		"no gh": {"octo", "\ngh is not installed on this machine: get it at https://cli.github.com, or do the same on GitHub's pages.\n", "", func(*hub) []string { return []string{path("git")} }},
	}, func(t *testing.T, c row) {
		h, dir := newField(t)
		env := append(h.terminal(c.login), c.prepare(h)...)
		got := programIn(t, dir, "", env, "init", "--github", "--yes").ok(t)
		said := strings.ReplaceAll(got.errout+got.out, strings.TrimPrefix(h.url, "http://"), "ghe.example")
		assert.Contains(t, said, c.says)
		if c.never != "" {
			assert.NotContains(t, said, c.never)
		}
	})
}
