package cli_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/config"
	"github.com/mergexo/mergexo/internal/doctor"
	"github.com/mergexo/mergexo/internal/engine/thread"
)

// What init writes, people begin with: this repository begins with it too, and actionlint reads that copy.
func TestTheHouseHasTheWorkflowThatInitWrites(t *testing.T) {
	house, err := os.ReadFile("../../" + doctor.WorkflowPath)
	require.NoError(t, err)
	assert.Equal(t, string(house), doctor.Workflow(), "copy one of the two over the other: %s, internal/doctor/templates/mergexo.yml", doctor.WorkflowPath)
	assert.Equal(t, thread.SettingsPath, doctor.SettingsPath)
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
	got := programIn(t, below, "", nil, "init")
	require.Equal(t, 0, got.exit, got.errout)
	shows(t, "init/first.txt", dir, got.out)
	files := filesIn(t, dir)
	assert.Len(t, files, 3, "nothing is left lying about")
	assert.Equal(t, doctor.Workflow(), files[doctor.WorkflowPath])
	shows(t, "init/mergexo.toml", "", files[thread.SettingsPath])
	settings, err := config.Parse(files[thread.SettingsPath], thread.SettingsPath)
	require.NoError(t, err)
	assert.Equal(t, "suggestion", settings.Agent.Adapter)
	assert.Equal(t, []string{"agent/**"}, settings.Repo.Track)
	info, err := os.Stat(filepath.Join(dir, thread.SettingsPath))
	require.NoError(t, err)
	assert.Equal(t, fs.FileMode(0o644), info.Mode().Perm())

	got = programIn(t, dir, "", nil, "doctor")
	assert.Equal(t, 0, got.exit, got.out)
	shows(t, "doctor/fresh.txt", dir, withoutGit(got.out))

	// What is suggested works when it is taken.
	for _, comment := range []string{"# required_tests", "# adapter", "# command", "# pass_env"} {
		require.Contains(t, files[thread.SettingsPath], "\n"+comment)
	}
	taken := strings.NewReplacer("\nadapter = \"suggestion\"", "\n#", "\n# required_tests", "\nrequired_tests", "\n# adapter", "\nadapter", "\n# command", "\ncommand", "\n# pass_env", "\npass_env").Replace(files[thread.SettingsPath])
	settings, err = config.Parse(taken, thread.SettingsPath)
	require.NoError(t, err, taken)
	assert.Equal(t, []string{"make", "test"}, settings.Repo.RequiredTests)
	assert.Equal(t, []string{"scripts/my-agent"}, settings.Agent.Command)

	got = programIn(t, dir, "", nil, "init")
	require.Equal(t, 0, got.exit, "what is the same is no question: %s", got.errout)
	assert.Empty(t, got.errout)
	assert.Contains(t, got.out, "kept  .github/mergexo.toml, which is the same already\nkept  .github/workflows/mergexo.yml, which is the same already\n")
}

func TestInitForAnAgentInAJobOfItsOwn(t *testing.T) {
	dir := newRepository(t)
	got := programIn(t, dir, "", nil, "init", "--split")
	require.Equal(t, 0, got.exit, got.errout)
	shows(t, "init/split.txt", dir, got.out)
	files := filesIn(t, dir)
	assert.Len(t, files, 2)
	assert.Equal(t, doctor.SplitWorkflow(), files[doctor.WorkflowPath])

	got = programIn(t, dir, "", nil, "doctor")
	assert.Equal(t, 0, got.exit, got.out)
	shows(t, "doctor/split.txt", dir, withoutGit(got.out))

	got = programIn(t, dir, "n\n", nil, "init")
	assert.Equal(t, 0, got.exit, got.errout)
	assert.Contains(t, got.errout, doctor.WorkflowPath+" is there, with another text. Overwrite it? [y/N] ")
	assert.Equal(t, doctor.SplitWorkflow(), filesIn(t, dir)[doctor.WorkflowPath], "one form takes the other's place only when somebody says so")
	shows(t, "init/help.txt", "", programIn(t, dir, "", nil, "init", "--help").out)
}

// Artifact actions of version 4 and later, and those for Pages, do not run on GitHub Enterprise Server:
// https://github.com/actions/upload-artifact#ghes-support
func TestInitForGitHubEnterpriseServer(t *testing.T) {
	artifacts := regexp.MustCompile(`actions/(upload|download)-artifact@[0-9a-f]{40} # (v[0-9]+)`)
	for name, flags := range map[string][]string{"server": nil, "server_split": {"--split"}} {
		t.Run(name, func(t *testing.T) {
			dir := newRepository(t)
			got := programIn(t, dir, "", nil, append([]string{"init", "--ghes"}, flags...)...)
			require.Equal(t, 0, got.exit, got.errout)
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
			got = programIn(t, dir, "", nil, "doctor")
			assert.Equal(t, 0, got.exit, got.out)
		})
	}
}

func TestInitAsksBeforeItOverwrites(t *testing.T) {
	const mine, theirs = "# mine\n", "# theirs\n"
	for name, c := range map[string]struct {
		typed, flag  string
		exit         int
		toml, yml    bool // overwritten
		says, errout string
	}{
		"nobody answers":  {"", "", 2, false, false, "", "mergexo: .github/mergexo.toml is there and nobody answered, so nothing was written; give --force to overwrite it\n"},
		"one answer only": {"y\n", "", 2, false, false, "", "mergexo: .github/workflows/mergexo.yml is there and nobody answered, so nothing was written; give --force"},
		"no":              {"n\nno\n", "", 0, false, false, "kept  .github/mergexo.toml\nkept  .github/workflows/mergexo.yml\n", "[y/N]"},
		"nothing is no":   {"\n\n", "", 0, false, false, "kept  .github/mergexo.toml\n", "[y/N]"},
		"something else":  {"why\nyeah\n", "", 0, false, false, "kept  .github/mergexo.toml\n", "[y/N]"},
		"one of them":     {"n\ny\n", "", 0, false, true, "kept  .github/mergexo.toml\nwrote .github/workflows/mergexo.yml\n", "[y/N]"},
		"yes":             {" Yes \r\ny", "", 0, true, true, "wrote .github/mergexo.toml\nwrote .github/workflows/mergexo.yml\n", "[y/N]"},
		"by force":        {"", "--force", 0, true, true, "wrote .github/mergexo.toml\nwrote .github/workflows/mergexo.yml\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := newRepository(t)
			put(t, dir, thread.SettingsPath, mine)
			put(t, dir, doctor.WorkflowPath, theirs)
			args := []string{"init", "--dir", dir}
			if c.flag != "" {
				args = append(args, c.flag)
			}
			got := programIn(t, t.TempDir(), c.typed, nil, args...)
			assert.Equal(t, c.exit, got.exit, got.errout)
			assert.Contains(t, got.out, c.says)
			assert.Contains(t, got.errout, c.errout)
			files := filesIn(t, dir)
			assert.Len(t, files, 2)
			assert.Equal(t, c.toml, files[thread.SettingsPath] != mine)
			assert.Equal(t, c.yml, files[doctor.WorkflowPath] != theirs)
			if c.exit == 0 && c.flag == "" {
				assert.Contains(t, got.errout, ".github/mergexo.toml is there, with another text. Overwrite it? [y/N] ")
			}
		})
	}
}

func TestInitStaysInTheRepository(t *testing.T) {
	outside := t.TempDir()
	link := func(t *testing.T, to, dir, name string) {
		t.Helper()
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		require.NoError(t, os.Symlink(to, filepath.Join(dir, name)))
	}
	for name, c := range map[string]struct {
		prepare func(t *testing.T, dir string)
		says    string
	}{
		"a directory that leads out": {func(t *testing.T, dir string) { link(t, outside, dir, ".github") }, "path escapes from parent"},
		"a file that leads out":      {func(t *testing.T, dir string) { link(t, outside+"/x", dir, doctor.WorkflowPath) }, "path escapes from parent"},
		"a directory in its place":   {func(t *testing.T, dir string) { put(t, dir, thread.SettingsPath+"/x", "") }, ".github/mergexo.toml is not a file: move it away"},
		"a file in the way":          {func(t *testing.T, dir string) { put(t, dir, ".github", "") }, "not a directory"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := newRepository(t)
			c.prepare(t, dir)
			got := programIn(t, dir, "y\ny\n", nil, "init", "--force")
			assert.Equal(t, 2, got.exit)
			assert.Empty(t, got.out)
			assert.True(t, strings.HasPrefix(got.errout, "mergexo: "), got.errout)
			assert.Contains(t, got.errout, c.says)
			assert.Empty(t, filesIn(t, outside))
		})
	}
	for name, dir := range map[string]string{"no repository": t.TempDir(), "no directory": filepath.Join(t.TempDir(), "x")} {
		t.Run(name, func(t *testing.T) {
			got := programIn(t, t.TempDir(), "", nil, "init", "--dir", dir)
			assert.Equal(t, 2, got.exit)
			assert.Contains(t, got.errout, dir)
			assert.True(t, strings.HasPrefix(got.errout, "mergexo: "), got.errout)
		})
	}
	t.Run("a link within is followed by nobody", func(t *testing.T) {
		dir := newRepository(t)
		put(t, dir, "elsewhere.toml", "# mine\n")
		link(t, "../elsewhere.toml", dir, thread.SettingsPath)
		got := programIn(t, dir, "", nil, "init", "--force")
		require.Equal(t, 0, got.exit, got.errout)
		assert.Equal(t, "# mine\n", filesIn(t, dir)["elsewhere.toml"], "the link is replaced, and not what it leads to")
	})
}
