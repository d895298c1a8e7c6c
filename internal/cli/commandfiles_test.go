package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/must"
)

func TestWhatAnAgentTellsTheRunnerIsTakenBack(t *testing.T) {
	dir := t.TempDir()
	// It finds the files as anybody does who looks for them, and speaks to the steps behind it.
	h := newHub(t, command(`for f in `+dir+`/*_*; do printf 'LD_PRELOAD=/tmp/x.so\nBASH_ENV<<E\n/tmp/x\n' >> $f; done
		rm `+dir+`/removed_state; rm `+dir+`/linked_path; ln -s /etc/passwd `+dir+`/linked_path; `+answers))
	env := h.env("GITHUB_ACTIONS=true", "GITHUB_RUN_ID=12")
	before := map[string]string{
		"set_env": "KEPT=1\n", "linked_path": "/opt/bin\n", "file_output": "earlier=1\n", "removed_state": "s=1\n", "file_summary": "# Before\n",
	}
	for name, text := range before {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o640))
	}
	for variable, name := range map[string]string{
		"GITHUB_ENV": "set_env", "GITHUB_PATH": "linked_path", "GITHUB_OUTPUT": "file_output", "GITHUB_STATE": "removed_state", "GITHUB_STEP_SUMMARY": "file_summary",
	} {
		env = append(env, variable+"="+filepath.Join(dir, name))
	}
	got := program(t, env, "run").exits(t, 1)
	for _, said := range []string{"GITHUB_ENV (LD_PRELOAD, BASH_ENV)", "GITHUB_PATH (it was replaced by something that is no file)", "GITHUB_OUTPUT (LD_PRELOAD, BASH_ENV)", "GITHUB_STATE (it was removed)", "GITHUB_STEP_SUMMARY (40 bytes)"} {
		assert.Contains(t, got.errout, said)
	}
	for name, was := range before {
		now := text(t, filepath.Join(dir, name))
		assert.Equal(t, os.FileMode(0o640), must.Get(os.Lstat(filepath.Join(dir, name)))(t).Mode(), name)
		assert.NotContains(t, now, "BASH_ENV<<", name)
		switch name {
		case "file_output":
			assert.Regexp(t, `^earlier=1\nresult=failed\n`, now)
		case "file_summary":
			assert.Regexp(t, `^# Before\n`, now)
		default:
			assert.Equal(t, was, now, name)
		}
	}
}

// A run that ends with its caller's mistake says so all the same.
func TestWhatAnAgentTellsTheRunnerIsNamedBesideAMistake(t *testing.T) {
	file := filepath.Join(t.TempDir(), "set_env")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	h := newHub(t, command(`echo LD_PRELOAD=/tmp/x.so >> `+file+`; `+answers))
	h.raw("", "PUT", "/_sandbox/faults", json.RawMessage(`[{"match": {"method": "POST", "path": "/octo/widgets*git-receive-pack"}, "status": 403, "times": 9}]`))
	got := program(t, h.env("GITHUB_ACTIONS=true", "GITHUB_RUN_ID=12", "GITHUB_ENV="+file), "run").exits(t, 2)
	assert.Regexp(t, `(?m)^mergexo: .*403`, got.errout)
	assert.Contains(t, got.errout, "runner's files: GITHUB_ENV (LD_PRELOAD)")
	assert.Empty(t, text(t, file))
}

// The tests of a merge speak to the runner as an agent does.
func TestWhatTheTestsOfAMergeTellTheRunnerIsTakenBack(t *testing.T) {
	dir := t.TempDir()
	output, path := filepath.Join(dir, "file_output"), filepath.Join(dir, "linked_path")
	require.NoError(t, os.WriteFile(output, []byte("earlier=1\n"), 0o600))
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	y := newYard(t, map[string]string{".github/mergexo.toml": "[merge]\ntests = [\"sh\", \"-c\", \"echo result=done >> " + output + "; echo /tmp/x >> " + path + "\"]\n"})
	program(t, y.env("GITHUB_ACTIONS=true", "GITHUB_OUTPUT="+output, "GITHUB_PATH="+path), "merge", "--checkout", y.dir, "--branch", "fix").fails(t, 1, "removed what an agent or a test wrote to the runner's files: GITHUB_PATH (7 bytes); GITHUB_OUTPUT (result)")
	assert.Regexp(t, `^earlier=1\nresult=failed\n`, text(t, output))
	assert.Empty(t, text(t, path))
}
