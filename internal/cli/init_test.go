package cli_test

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/mergexo/mergexo/internal/github/workflow"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/config"
	"github.com/mergexo/mergexo/internal/doctor"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/golden"
	"github.com/mergexo/mergexo/internal/must"
	"github.com/mergexo/mergexo/internal/turn"
)

// starting is the choice for the workflow to start with. This repository's own is identical, byte for byte.
var starting = doctor.Choice{CI: []string{"CI"}}

// What init writes, people begin with: this repository begins with it too, and actionlint reads that copy.
func TestTheHouseHasTheWorkflowThatInitWrites(t *testing.T) {
	golden.File(t, "../../../"+doctor.WorkflowPath, starting.Workflow())
	assert.Equal(t, thread.SettingsPath, doctor.SettingsPath)
	assert.Equal(t, turn.SetupAction, workflow.SetupPath)
}

// files are all files of a repository but git's own, by path.
func filesIn(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if d != nil && d.Name() == ".git" {
				return fs.SkipDir
			}
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(path)
		out[name] = string(text)
		return err
	}))
	return out
}

func TestInitAndDoctor(t *testing.T) {
	dir := newRepository(t)
	below := filepath.Join(dir, "a", "b")
	require.NoError(t, os.MkdirAll(below, 0o755))
	put(t, dir, "Makefile", "test := no\ntest: all\n\tgo test ./...\n")
	got := programIn(t, below, "", nil, "init", "--yes").ok(t)
	shows(t, "init/first.txt", dir, got.out)
	files := filesIn(t, dir)
	assert.Len(t, files, 4, "nothing is left lying about")
	shows(t, "init/mergexo.toml", "", files[thread.SettingsPath])
	shows(t, "init/mergexo.yml", "", files[doctor.WorkflowPath])
	shows(t, "init/setup.yml", "", files[workflow.SetupPath])
	settings := must.Get(config.Parse(files[thread.SettingsPath], thread.SettingsPath))(t)
	assert.Equal(t, "codex", settings.Agent.Adapter)
	assert.Equal(t, []string{"agent/**"}, settings.Repo.Track)
	assert.Equal(t, []string{"make", "test"}, settings.Repo.RequiredTests)
	assert.Equal(t, fs.FileMode(0o644), must.Get(os.Stat(filepath.Join(dir, thread.SettingsPath)))(t).Mode().Perm())

	shows(t, "doctor/fresh.txt", dir, withoutGit(programIn(t, dir, "", nil, "doctor").ok(t).out))

	// What is suggested works when it is taken.
	suggested := regexp.MustCompile(`(?m)^# (\w+ = )`).ReplaceAllString(files[thread.SettingsPath], "$1")
	require.NoError(t, must.Err(config.Parse(suggested, thread.SettingsPath)), suggested)

	got = programIn(t, dir, "", nil, "init").ok(t)
	assert.Empty(t, got.errout)
	assert.Contains(t, got.out, "kept  .github/mergexo.toml, which is unchanged\nkept  .github/workflows/mergexo.yml, which is unchanged\nkept  .github/mergexo/setup/action.yml, which is unchanged\n")
}

func TestInitNamesTheModulesThatItLeavesOut(t *testing.T) {
	dir := newRepository(t)
	for _, file := range []string{"go.mod", "tools/go.mod", "node_modules/x/go.mod"} {
		put(t, dir, file, "module x\n")
	}
	require.Equal(t, 0, programIn(t, dir, "", nil, "init", "--yes", "--agent", "suggestion").exit)
	assert.Contains(t, filesIn(t, dir)[thread.SettingsPath], "; detected from go.mod; not tested: tools/go.mod\n")
}

// What init writes works: doctor finds nothing to fix.
func TestWhatInitWritesWorks(t *testing.T) {
	const ci = "name: \"CI: all\"\non: [push, pull_request]\njobs: {}\n"
	for agent, key := range map[string]string{"codex": "OPENAI_API_KEY", "claude": "ANTHROPIC_API_KEY", "command": "", "suggestion": ""} {
		for form, flags := range map[string][]string{"one job": nil, "split": {"--split"}, "server": {"--ghes"}, "split server": {"--ghes", "--split"}} {
			if agent != "codex" && form != "one job" {
				continue // the form is not the agent's
			}
			t.Run(agent+" "+form, func(t *testing.T) {
				t.Parallel()
				dir := newRepository(t)
				put(t, dir, ".github/workflows/ci.yml", ci)
				put(t, dir, ".github/workflows/release.yaml", "name: Release\non: {push: {tags: [v1]}}\njobs: {}\n")
				put(t, dir, "scripts/agent", "#!/bin/sh\n")
				require.NoError(t, os.Chmod(filepath.Join(dir, "scripts/agent"), 0o755))
				programIn(t, dir, "", nil, append([]string{"init", "--yes", "--agent", agent, "--merge", "approval"}, flags...)...).ok(t)
				files := filesIn(t, dir)
				settings := must.Get(config.Parse(files[thread.SettingsPath], thread.SettingsPath))(t)
				assert.Equal(t, agent, settings.Agent.Adapter)
				assert.Equal(t, "approval", settings.Merge.Auto)
				assert.Equal(t, "all_complete", settings.Feedback.CI)
				jobs := files[doctor.WorkflowPath]
				assert.Contains(t, jobs, `workflows: ["CI: all"] #`)
				if key != "" {
					assert.Equal(t, 1, strings.Count(jobs, "          "+key+": ${{ secrets."+key+" }}\n"))
					assert.Contains(t, files[workflow.SetupPath], "    - run: npm install -g ")
				}
				got := programIn(t, dir, "", nil, "doctor").ok(t)
				assert.Contains(t, got.out, "\n0 to fix, ")
				for line := range strings.Lines(got.out) {
					if strings.HasPrefix(line, "  warn") {
						assert.True(t, agent == "suggestion" && strings.Contains(line, "no model will run") || strings.Contains(line, "[own-token]") || strings.Contains(line, "[tests]"), line)
					}
				}
			})
		}
	}
}

func TestInitForAnAgentInAJobOfItsOwn(t *testing.T) {
	dir := newRepository(t)
	programIn(t, dir, "", nil, "init", "--split", "--yes").ok(t)
	files := filesIn(t, dir)
	assert.Len(t, files, 3)
	shows(t, "init/split.yml", "", files[doctor.WorkflowPath])
	assert.Contains(t, files[doctor.WorkflowPath], "--phase agent")

	shows(t, "doctor/split.txt", dir, withoutGit(programIn(t, dir, "", nil, "doctor").ok(t).out))

	programIn(t, dir, "", nil, "init").ok(t)
	assert.Equal(t, files, filesIn(t, dir), "the form is read back from the files")
	shows(t, "init/help.txt", "", programIn(t, dir, "", nil, "init", "--help").out)
}

func TestInitAsks(t *testing.T) {
	world := func(t *testing.T) string {
		dir := newRepository(t)
		put(t, dir, ".github/workflows/a.yml", "name: CI\non: push\njobs: {}\n")
		put(t, dir, ".github/workflows/b.yml", "name: \"Nightly\\ttests\"\non: {schedule: [{cron: \"1 1 * * *\"}]}\njobs: {}\n")
		return dir
	}
	dir := world(t)
	shows(t, "init/questions.txt", dir, programIn(t, dir, "gpt\nclaude\n5\n1, 2\nme\nlabel\n", nil, "init").ok(t).errout)
	files := filesIn(t, dir)
	settings := must.Get(config.Parse(files[thread.SettingsPath], thread.SettingsPath))(t)
	assert.Equal(t, "claude", settings.Agent.Adapter)
	assert.Equal(t, "label", settings.Merge.Auto)
	assert.Contains(t, files[doctor.WorkflowPath], `workflows: [CI, "Nightly\ttests"] #`)

	type row struct {
		typed string
		args  []string
		says  string
	}
	must.Each(t, map[string]row{
		"nobody":               {"", nil, "nobody answered, so nothing was written; give --agent codex, claude, command or suggestion, and --yes for the other defaults"},
		"one answer":           {"codex\n", nil, "nobody answered"},
		"two answers":          {"codex\n\n", nil, "nobody answered"},
		"no such agent":        {"", []string{"--yes", "--agent", "gpt"}, `--agent: agent "gpt" is unknown; use one of claude, codex, command, suggestion`},
		"no such workflow":     {"", []string{"--yes", "--ci", "CD"}, `--ci: workflow "CD" is unknown; use one of CI, Nightly`},
		"no such merge":        {"", []string{"--yes", "--merge", "me"}, `--merge: "me" is unknown; use one of command, label, approval`},
		"a program of nobody":  {"", []string{"--yes", "--command", "x"}, "--command is for --agent command"},
		"none and another one": {"", []string{"--yes", "--ci", "none", "--ci", "CI"}, `--ci: none means no workflow: give it alone`},
	}, func(t *testing.T, c row) {
		dir := world(t)
		programIn(t, dir, c.typed, nil, append([]string{"init"}, c.args...)...).fails(t, 2, "mergexo: "+c.says)
		assert.Len(t, filesIn(t, dir), 2, "nothing was written")
	})
	dir = world(t)
	require.Equal(t, 0, programIn(t, dir, "", nil, "init", "--agent", "command", "--command", "bin/x", "--ci", "none", "--merge", "command").exit, "all is told, so nothing is asked")
	files = filesIn(t, dir)
	assert.NotContains(t, files[doctor.WorkflowPath], "workflow_run:")
	assert.Contains(t, files[thread.SettingsPath], `command = ["bin/x"]`)
}

// Artifact actions of version 4 and later, and those for Pages, do not run on GitHub Enterprise Server:
// https://github.com/actions/upload-artifact#ghes-support
func TestInitForGitHubEnterpriseServer(t *testing.T) {
	artifacts := regexp.MustCompile(`actions/(upload|download)-artifact@[0-9a-f]{40} # (v[0-9]+)`)
	for name, flags := range map[string][]string{"server": nil, "server_split": {"--split"}} {
		t.Run(name, func(t *testing.T) {
			dir := newRepository(t)
			programIn(t, dir, "", nil, append([]string{"init", "--ghes", "--yes", "--agent", "suggestion"}, flags...)...).ok(t)
			text := filesIn(t, dir)[doctor.WorkflowPath]
			shows(t, "init/"+name+".yml", "", text)
			used := artifacts.FindAllStringSubmatch(text, -1)
			assert.Len(t, used, strings.Count(text, "-artifact@"))
			for _, u := range used {
				assert.Equal(t, "v3", u[2], u[0])
			}
			for _, newer := range []string{"pages", "overwrite:", "pattern:", "merge-multiple:"} {
				assert.NotContains(t, text, newer, "what version 3 does not know")
			}
			programIn(t, dir, "", nil, "doctor").ok(t)
		})
	}
}

func TestInitAsksBeforeItOverwrites(t *testing.T) {
	const mine, theirs = "# mine\n", "# theirs\n"
	type row struct {
		typed, flag  string
		exit         int
		toml, yml    bool // overwritten
		says, errout string
	}
	must.Each(t, map[string]row{
		"nobody answers":  {"", "", 2, false, false, "", "mergexo: .github/mergexo.toml already exists and nobody answered, so nothing was written; give --force to overwrite it, or --yes to keep it\n"},
		"one answer only": {"y\n", "", 2, false, false, "", "mergexo: .github/workflows/mergexo.yml already exists and nobody answered, so nothing was written; give --force"},
		"no":              {"n\nno\n", "", 0, false, false, "kept  .github/mergexo.toml, whose content differs; mergexo doctor checks whether it works\nkept  .github/workflows/mergexo.yml, whose", "[y/N]"},
		"nothing is no":   {"\n\n", "", 0, false, false, "kept  .github/mergexo.toml, whose", "[y/N]"},
		"something else":  {"why\nyeah\n", "", 0, false, false, "kept  .github/mergexo.toml, whose", "[y/N]"},
		"one of them":     {"n\ny\n", "", 0, false, true, "whose content differs; mergexo doctor checks whether it works\nwrote .github/workflows/mergexo.yml\n", "[y/N]"},
		"yes":             {" Yes \r\ny", "", 0, true, true, "wrote .github/mergexo.toml\nwrote .github/workflows/mergexo.yml\n", "[y/N]"},
		"by --yes":        {"", "--yes", 0, false, false, "kept  .github/mergexo.toml, whose content differs", ""},
		"by force":        {"", "--force", 0, true, true, "wrote .github/mergexo.toml\nwrote .github/workflows/mergexo.yml\n", ""},
	}, func(t *testing.T, c row) {
		dir := newRepository(t, thread.SettingsPath, mine, doctor.WorkflowPath, theirs)
		args := []string{"init", "--dir", dir, "--agent", "suggestion", "--merge", "command"}
		if c.flag != "" {
			args = append(args, c.flag)
		}
		got := programIn(t, t.TempDir(), c.typed, nil, args...)
		assert.Equal(t, c.exit, got.exit, got.errout)
		assert.Contains(t, got.out, c.says)
		assert.Contains(t, got.errout, c.errout)
		files := filesIn(t, dir)
		delete(files, workflow.SetupPath)
		assert.Len(t, files, 2)
		assert.Equal(t, c.toml, files[thread.SettingsPath] != mine)
		assert.Equal(t, c.yml, files[doctor.WorkflowPath] != theirs)
		if c.exit == 0 && c.flag == "" {
			assert.Contains(t, got.errout, ".github/mergexo.toml already exists with different content: you changed it, or another version of mergexo wrote it. Overwrite it? [y/N] ")
		}
	})
}

func TestInitStaysInTheRepository(t *testing.T) {
	outside := t.TempDir()
	link := func(t *testing.T, to, dir, name string) {
		t.Helper()
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		require.NoError(t, os.Symlink(to, filepath.Join(dir, name)))
	}
	type row struct {
		prepare func(t *testing.T, dir string)
		says    string
	}
	must.Each(t, map[string]row{
		"a directory that leads out": {func(t *testing.T, dir string) { link(t, outside, dir, ".github") }, "path escapes from parent"},
		"a file that leads out":      {func(t *testing.T, dir string) { link(t, outside+"/x", dir, doctor.WorkflowPath) }, "path escapes from parent"},
		"a directory in its place":   {func(t *testing.T, dir string) { put(t, dir, thread.SettingsPath+"/x", "") }, ".github/mergexo.toml is not a file: move it away"},
		"a file in the way":          {func(t *testing.T, dir string) { put(t, dir, ".github", "") }, "not a directory"},
	}, func(t *testing.T, c row) {
		dir := newRepository(t)
		c.prepare(t, dir)
		got := programIn(t, dir, "y\ny\n", nil, "init", "--force", "--yes").exits(t, 2)
		assert.Empty(t, got.out)
		assert.True(t, strings.HasPrefix(got.errout, "mergexo: "), got.errout)
		assert.Contains(t, got.errout, c.says)
		assert.Empty(t, filesIn(t, outside))
	})
	bare := t.TempDir()
	gitIn(t, bare, "init", "-q", "--bare")
	programIn(t, bare, "", nil, "init", "--yes").fails(t, 2, bare+": no git repository with files: it is bare: clone it, and run init in the clone\n")
	must.Each(t, map[string]string{"no repository": t.TempDir(), "no directory": filepath.Join(t.TempDir(), "x")}, func(t *testing.T, dir string) {
		got := programIn(t, t.TempDir(), "", nil, "init", "--dir", dir).fails(t, 2, dir)
		assert.True(t, strings.HasPrefix(got.errout, "mergexo: "), got.errout)
	})
	t.Run("a link within is followed by nobody", func(t *testing.T) {
		dir := newRepository(t, "elsewhere.toml", "# mine\n")
		link(t, "../elsewhere.toml", dir, thread.SettingsPath)
		programIn(t, dir, "", nil, "init", "--force", "--yes").ok(t)
		assert.Equal(t, "# mine\n", filesIn(t, dir)["elsewhere.toml"], "the link is replaced, and not what it leads to")
	})
}

// Whoever interrupts a question gets the shell back.
func TestAQuestionCanBeInterrupted(t *testing.T) {
	dir := newRepository(t)
	cmd := mergexo(t, nil, "init")
	cmd.Dir = dir
	typed, err := cmd.StdinPipe() // stays open: somebody who does not type
	require.NoError(t, err)
	defer typed.Close()
	asked := must.Get(cmd.StderrPipe())(t)
	require.NoError(t, cmd.Start())
	require.NoError(t, must.Err(asked.Read(make([]byte, 1))))
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	text := must.Get(io.ReadAll(asked))(t)
	_ = cmd.Wait() // the exit code tells
	assert.Equal(t, 2, cmd.ProcessState.ExitCode())
	assert.Contains(t, string(text), "mergexo: nobody answered, so nothing was written")
	assert.Empty(t, filesIn(t, dir))
}
