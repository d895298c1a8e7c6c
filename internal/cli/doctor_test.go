package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/doctor"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/golden"
	"github.com/mergexo/mergexo/internal/must"
)

// programIn runs mergexo in a directory, with somebody who types.
func programIn(t *testing.T, dir, typed string, env []string, args ...string) ran {
	t.Helper()
	cmd := mergexo(t, append([]string{"PATH=" + withGH(t) + ":" + os.Getenv("PATH")}, env...), args...)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(typed)
	return runs(t, cmd)
}

// withGH is a directory with a gh in it, whatever is installed.
func withGH(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "gh"), []byte("#!/bin/sh\n"), 0o755))
	return dir
}

func gitIn(t *testing.T, dir string, args ...string) {
	t.Helper()
	out, err := exec.CommandContext(context.Background(), "git", append([]string{"-C", dir}, args...)...).CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// newRepository is an empty git repository.
// newRepository is one with files, each a name and a text.
func newRepository(t *testing.T, files ...string) string {
	t.Helper()
	dir := must.Get(filepath.EvalSymlinks(t.TempDir()))(t)
	gitIn(t, dir, "init", "-q")
	for i := 0; i < len(files); i += 2 {
		put(t, dir, files[i], files[i+1])
	}
	return dir
}

func put(t *testing.T, dir, name, text string) {
	t.Helper()
	file := filepath.Join(dir, name)
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
	require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
}

// shows compares what people read with a golden file, in which DIR stands for the directory.
func shows(t *testing.T, name, dir, got string) {
	t.Helper()
	if dir != "" {
		got = strings.ReplaceAll(got, dir, "DIR")
	}
	golden.File(t, name, got)
}

// newClinic is a hub with everything in place, and what doctor needs to ask about it as octo.
func newClinic(t *testing.T) (*hub, []string) {
	t.Helper()
	h := newHub(t, "")
	h.write("main", thread.SettingsPath, "[agent]\nadapter = \"suggestion\"\n")
	h.write("main", doctor.WorkflowPath, starting.Workflow())
	for _, name := range []string{"agent:small-job", "agent:bugfix", "agent:design", "agent:roadmap"} {
		h.api("octo", "POST", "/api/v3/repos/octo/widgets/labels", map[string]any{"name": name, "color": "ededed"})
	}
	return h, h.terminal("octo")
}

func TestDoctorKnowsWhatForksAndCINeed(t *testing.T) {
	h := newHub(t, "[agent]\nadapter = \"suggestion\"\n[external]\nenabled = true\nevaluate = [\"scripts/evaluate\"]\n[feedback]\nci = \"first_fail\"\n")
	h.write("main", doctor.WorkflowPath, strings.NewReplacer("  workflow_run:\n    workflows: [CI] #", "  x-none: #", "actions: write", "actions: read").Replace(starting.Workflow()))
	got := programIn(t, t.TempDir(), "", h.terminal("octo"), "doctor").exits(t, 2)
	for _, line := range []string{
		`fix   .github/mergexo.toml: external.evaluate: "scripts/evaluate" is not in the repository`,
		"warn  .github/workflows/mergexo.yml: on lacks workflow_run: a failed CI run does not reach the agent",
		"jobs.mergexo.permissions lacks actions: write: failed jobs of a flaky test are not rerun",
		`fix   pull requests of forks: label "external:accept" is missing: none can be accepted`,
	} {
		assert.Contains(t, got.out, line)
	}
	h.write("main", "scripts/evaluate", "#!/bin/sh\n")
	h.api("octo", "POST", "/api/v3/repos/octo/widgets/labels", map[string]any{"name": "External:Accept", "color": "ededed"})
	got = programIn(t, t.TempDir(), "", h.terminal("octo"), "doctor")
	assert.Contains(t, got.out, `ok    .github/mergexo.toml: external.evaluate: "scripts/evaluate" exists`)
	assert.Contains(t, got.out, `ok    pull requests of forks: label "external:accept" is set up`)
}

func TestDoctorKnowsWhatAReviewerNeeds(t *testing.T) {
	h := newHub(t, "[agent]\nadapter = \"codex\"\n[review]\nadapter = \"claude\"\non = [\"bugfix\"]\nauto = \"label\"\n[merge]\nauto = \"label\"\n")
	h.write("main", doctor.WorkflowPath, starting.Workflow())
	got := programIn(t, t.TempDir(), "", h.terminal("octo"), "doctor").exits(t, 2)
	for _, line := range []string{
		`runs the reviewer "claude", but no step before it installs claude`, `runs the reviewer "claude", but no env there sets ANTHROPIC_API_KEY`,
		`labels: "agent:small-job", "agent:bugfix", "agent:design", "agent:roadmap", "agent:review" and "merge" are missing`,
	} {
		assert.Contains(t, got.out, line)
	}
}

func TestDoctorAsksGitHub(t *testing.T) {
	h, env := newClinic(t)
	got := programIn(t, t.TempDir(), "", env, "doctor").ok(t)
	assert.Empty(t, got.errout)
	assert.Equal(t, 1, programIn(t, t.TempDir(), "", env, "doctor", "--strict").exit, "no model will run")
	shows(t, "doctor/github.txt", "", withoutGit(got.out))

	shows(t, "doctor/github.json", "", indented(t, withoutGit(programIn(t, t.TempDir(), "", env, "doctor", "--json").ok(t).out)))

	// What a workflow's token is not shown is not guessed.
	got = programIn(t, t.TempDir(), "", append(env, "GITHUB_TOKEN=sandbox-actions", "GITHUB_ACTIONS=true", "MERGEXO_SIGNING_KEY=k"), "doctor").ok(t)
	assert.Contains(t, got.out, "opening pull requests by workflows: not checked: GitHub does not show it to this token")

	h.write("main", ".github/workflows/ci.yml", "on: [push, pull_request]\njobs: {}\n")
	h.api("octo", "PUT", "/api/v3/repos/octo/widgets/branches/main/protection", map[string]any{"enforce_admins": true, "required_pull_request_reviews": nil,
		"required_status_checks": map[string]any{"strict": true, "contexts": []string{"test"}}, "restrictions": nil})
	h.api("octo", "PUT", "/api/v3/repos/octo/widgets/actions/permissions/workflow", map[string]any{"can_approve_pull_request_reviews": false})
	shows(t, "doctor/trouble.txt", "", withoutGit(programIn(t, t.TempDir(), "", env, "doctor").exits(t, 2).out))
}

// withoutGit takes out the version of git, which is the machine's.
func withoutGit(out string) string {
	before, after, ok := strings.Cut(out, "git: version ")
	if !ok {
		return out
	}
	return before + "git: version 2.x" + strings.TrimLeft(after, "0123456789.")
}

func indented(t *testing.T, text string) string {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, json.Indent(&out, []byte(text), "", "  "))
	return out.String()
}

func TestDoctorLooksAtTheCheckout(t *testing.T) {
	h, env := newClinic(t)
	dir := filepath.Join(newRepository(t), "clone")
	gitIn(t, ".", "clone", "-q", h.url+"/octo/widgets", dir)
	named := env[1:] // without GITHUB_REPOSITORY: the remote says it
	got := programIn(t, filepath.Join(dir, ".github"), "", named, "doctor").ok(t)
	assert.Contains(t, got.out, "octo/widgets, with the files of "+dir)
	assert.Contains(t, got.out, "ok    settings and workflow are those on main")

	put(t, dir, doctor.WorkflowPath, strings.ReplaceAll(starting.Workflow(), "\n", "\r\n"))
	programIn(t, dir, "", named, "doctor").ok(t)

	put(t, dir, thread.SettingsPath, "[agent]\nadapter = \"command\"\ncommand = [\"scripts/agent\"]\npass_env = [\"KEY\"]\n[repo]\nrequired_tests = [\"sh\"]\n")
	require.NoError(t, os.Rename(filepath.Join(dir, doctor.WorkflowPath), filepath.Join(dir, ".github/workflows/agent.yaml")))
	shows(t, "doctor/checkout.txt", dir, withoutGit(programIn(t, t.TempDir(), "", named, "doctor", "--checkout", dir).exits(t, 2).out))

	put(t, dir, "scripts/agent", "#!/bin/sh\n")
	assert.Contains(t, programIn(t, dir, "", named, "doctor").out, `"scripts/agent" is not executable`)
	require.NoError(t, os.Chmod(filepath.Join(dir, "scripts/agent"), 0o755))
	got = programIn(t, dir, "", named, "doctor")
	assert.Contains(t, got.out, `agent.command: "scripts/agent" exists`)
	assert.Equal(t, 0, got.exit)

	// A checkout of something else is not what was asked about.
	programIn(t, dir, "", append(env, "GITHUB_REPOSITORY=octo/gadgets"), "doctor").fails(t, 2, "octo/gadgets")
}

func TestDoctorAsksNobodyAboutAnotherServersRepository(t *testing.T) {
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }))
	defer server.Close()
	dir := newRepository(t)
	gitIn(t, dir, "remote", "add", "origin", "https://elsewhere.example/octo/widgets")
	got := programIn(t, dir, "", []string{"GITHUB_TOKEN=secret-token", "GITHUB_API_URL=" + server.URL, "GITHUB_SERVER_URL=" + server.URL}, "doctor")
	assert.Equal(t, 2, got.exit, "there are no settings")
	assert.Contains(t, got.out, "the token: not checked, its remote origin is not at "+server.URL)
	assert.NotContains(t, got.out+got.errout, "secret-token")
	assert.Zero(t, asked)
}

func TestDoctorWithATokenThatIsNoGood(t *testing.T) {
	h, env := newClinic(t)
	dir := newRepository(t)
	require.Equal(t, 0, programIn(t, dir, "", nil, "init", "--yes", "--agent", "suggestion").exit)
	type row struct {
		env  []string
		exit int
		says string
	}
	must.Each(t, map[string]row{
		"wrong":         {append(env, "GITHUB_TOKEN=nonsense"), 2, "fix   the token: read octo/widgets: Bad credentials (401) [token]\n        set GITHUB_TOKEN"},
		"not a token":   {append(env, "GITHUB_TOKEN=a b"), 2, "fix   the token: open the connection: the token contains characters"},
		"blind":         {append(env, "GITHUB_REPOSITORY=octo/hidden"), 2, "fix   the token: read octo/hidden: Not Found (404) [token]\n        check the name"},
		"no such name":  {append(env, "GITHUB_REPOSITORY=widgets"), 2, `fix   the token: repository "widgets": want owner/name`},
		"a deaf server": {append(env, "GITHUB_API_URL=http://127.0.0.1:1"), 75, "-     the token: GitHub did not answer: read octo/widgets: "},
		"none":          {append(env, "GITHUB_TOKEN="), 0, "-     the token: none was given"},
	}, func(t *testing.T, c row) {
		got := programIn(t, dir, "", c.env, "doctor")
		assert.Equal(t, c.exit, got.exit, got.out+got.errout)
		assert.Contains(t, got.out, c.says)
		assert.Empty(t, got.errout)
		if c.exit != 0 { // without files to look at, nothing is left to tell
			got = programIn(t, t.TempDir(), "", c.env, "doctor", "--json")
			assert.Equal(t, c.exit, got.exit, got.errout)
			assert.Empty(t, got.out)
			assert.True(t, strings.HasPrefix(got.errout, "mergexo: "), got.errout)
		}
	})
	assert.NotContains(t, h.comments(), "mergexo")
}

func TestDoctorHasNothingToLookAt(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	mistakes(t, map[string]mistake{
		"nothing": {nil, []string{"doctor"}, "not in a git repository: run doctor in a checkout, or give --checkout DIR or GITHUB_REPOSITORY"},
		"a name only": {
			[]string{"GITHUB_REPOSITORY=octo/widgets"}, []string{"doctor"}, "found neither a checkout of octo/widgets nor a token for GitHub",
		},
		"no checkout":  {nil, []string{"doctor", "--checkout", t.TempDir()}, "is not in a git repository"},
		"no directory": {nil, []string{"doctor", "--checkout", file}, "--checkout: " + file + " is not a directory"},
		"an argument":  {nil, []string{"doctor", "now"}, `doctor takes no argument "now"`},
	})
}

// What is not as it should be on the disk is one clear finding, whatever it is.
func TestDoctorOnBadFiles(t *testing.T) {
	outside := t.TempDir()
	put(t, outside, "mergexo.yml", starting.Workflow())
	type row struct {
		spoil func(dir string)
		says  []string
	}
	must.Each(t, map[string]row{
		"a file for it": {func(dir string) {
			require.NoError(t, os.RemoveAll(filepath.Join(dir, ".github/workflows")))
			put(t, dir, ".github/workflows", "x")
		}, []string{"fix   .github/workflows: no workflow"}},
		"a binary":    {func(dir string) { put(t, dir, doctor.WorkflowPath, "\x7fELF\x00\xff") }, []string{"fix   .github/workflows/mergexo.yml: not text"}},
		"a huge file": {func(dir string) { put(t, dir, doctor.WorkflowPath, strings.Repeat("# more\n", 1<<18)) }, []string{"fix   .github/workflows/mergexo.yml: larger than 1 MiB"}},
		"a pipe": {func(dir string) {
			require.NoError(t, syscall.Mkfifo(filepath.Join(dir, ".github/workflows/x.yml"), 0o600))
		}, []string{"warn  .github/workflows/x.yml: not a file"}},
		"a way out": {func(dir string) {
			require.NoError(t, os.Symlink(outside+"/mergexo.yml", filepath.Join(dir, ".github/workflows/x.yml")))
		}, []string{"warn  .github/workflows/x.yml: cannot be read: path escapes from parent"}},
		"an unknown key":  {func(dir string) { put(t, dir, thread.SettingsPath, "[agent]\nadaptr = 1\n") }, []string{"fix   .github/mergexo.toml:2: agent.adaptr: unknown"}},
		"binary settings": {func(dir string) { put(t, dir, thread.SettingsPath, "\x00\x01") }, []string{"fix   .github/mergexo.toml: not text"}},
		"a directory": {func(dir string) {
			require.NoError(t, os.Remove(filepath.Join(dir, thread.SettingsPath)))
			put(t, dir, thread.SettingsPath+"/x", "")
		}, []string{"fix   .github/mergexo.toml: a directory, not a file"}},
		"a program outside": {func(dir string) {
			put(t, dir, thread.SettingsPath, "[agent]\nadapter = \"command\"\ncommand = [\"../agent\"]\n[repo]\nrequired_tests = [\"/opt/nothing\"]\n[merge]\ntests = [\"no-such-program\"]\n")
		},
			[]string{`fix   .github/mergexo.toml: agent.command: "../agent" is not in the repository`, `-     .github/mergexo.toml: repo.required_tests: whether "/opt/nothing" exists on the runner cannot be checked`, `warn  .github/mergexo.toml: merge.tests: "no-such-program" is not on the PATH`}},
	}, func(t *testing.T, c row) {
		dir := newRepository(t)
		require.Equal(t, 0, programIn(t, dir, "", nil, "init", "--yes", "--agent", "suggestion").exit)
		c.spoil(dir)
		got := programIn(t, dir, "", nil, "doctor", "--strict")
		assert.NotEqual(t, 0, got.exit, got.out)
		for _, says := range c.says {
			assert.Contains(t, got.out, "  "+says)
		}
		assert.Empty(t, got.errout)
	})
}

// What the settings ask for exists, or doctor says so: people, programs within a script, secrets, the version of MergeXO. A rule that
// the settings ignore is counted.
func TestDoctorFindsWhatDoesNotExist(t *testing.T) {
	h := newHub(t, "[agent]\nadapter = \"suggestion\"\n[repo]\noperators = [\"octo\", \"octpo\"]\nrequired_tests = [\"sh\", \"-c\", \"X=1 no-such-tool ci && . venv && other-tool\"]\n[doctor]\nignore = [\"settings\"]\n[[tests]]\npaths = [\"web/**\"]\nrun = \"no-such-runner web\"\n")
	h.write("main", doctor.WorkflowPath, strings.ReplaceAll(starting.Workflow(), "mergexo/mergexo@", "octo/mergexo@"))
	h.api("", "POST", "/_sandbox/repositories", map[string]any{"full_name": "octo/mergexo"})
	h.store("MERGEXO_SIGNING_KY", "x")
	env := h.terminal("octo")
	got := programIn(t, t.TempDir(), "", env, "doctor").exits(t, 2)
	shows(t, "doctor/missing.txt", "", withoutGit(got.out))
	h.store("MERGEXO_SIGNING_KEY", "x")
	got = programIn(t, t.TempDir(), "", env, "doctor")
	assert.Contains(t, got.out, "ok    .github/workflows/mergexo.yml: the secrets and variables that it names are stored\n")
}

func TestDoctorWithoutGit(t *testing.T) {
	dir := newRepository(t)
	require.Equal(t, 0, programIn(t, dir, "", nil, "init", "--yes", "--agent", "suggestion").exit)
	got := programIn(t, dir, "", []string{"PATH=" + t.TempDir()}, "doctor").exits(t, 2)
	assert.Contains(t, got.out, "  fix   git: not on PATH [git]\n")
	assert.Contains(t, got.out, `  warn  .github/mergexo.toml: agent.adapter is "suggestion": no model will run`)
}
