package agent_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/agent"
	"github.com/mergexo/mergexo/internal/must"
)

// What an earlier agent has put in the place of a directory of ours gives the next one nothing else of ours.
func TestALinkInThePlaceOfADirectoryIsNotFollowed(t *testing.T) {
	if !rooted(t) {
		return
	}
	for level, uid := range map[agent.Level]int{agent.LevelUser: 0, agent.LevelNamespace: tenant()} {
		t.Run(string(level), func(t *testing.T) {
			m := machineOf(t, uid)
			ours := filepath.Join(filepath.Dir(m.opt.Temp), "ours")
			require.NoError(t, os.Mkdir(ours, 0o700))
			require.NoError(t, os.Lchown(ours, uid, uid))
			m.opt.Sessions = filepath.Join(filepath.Dir(m.opt.Temp), "sessions")
			require.NoError(t, os.Symlink(ours, m.opt.Sessions))
			said := m.run(`echo x > "$1/x" && echo wrote`, ours)
			assert.Equal(t, level, said.Level)
			assert.NotContains(t, said.Log, "wrote")
			assert.NoFileExists(t, filepath.Join(ours, "x"))
			if level == agent.LevelUser {
				assert.Contains(t, said.Error, "sessions is a symbolic link, which an agent can have put there: remove it")
			}
		})
	}
}

func TestSessionsAreNotWhereAnAgentCouldReplaceThem(t *testing.T) {
	opt := agent.Options{Adapter: "command", Command: []string{"true"}, Temp: t.TempDir()}
	opt.Sessions = filepath.Join(opt.Temp, "sessions")
	assert.ErrorContains(t, must.Err(agent.New(opt)), "keep them beside")
}

// A directory of the checkout is on PATH, and an earlier agent has made it a link to what is hidden.
func TestALinkOnPathShowsNothingThatIsHidden(t *testing.T) {
	if !rooted(t) {
		return
	}
	uid := tenant()
	m := machineOf(t, uid)
	hidden := filepath.Join(filepath.Dir(m.opt.Temp), "hidden")
	require.NoError(t, os.Mkdir(hidden, 0o755))                                               //nolint:gosec // that it is readable is the point
	require.NoError(t, os.WriteFile(filepath.Join(hidden, "key"), []byte("secret\n"), 0o644)) //nolint:gosec // as above
	bin := filepath.Join(m.dir, "bin")
	require.NoError(t, os.Symlink(hidden, bin))
	m.opt.Env[0] = "PATH=" + bin + ":/usr/bin:/bin"
	said := m.run(`cat "$1/key" bin/key; echo ran`, hidden)
	assert.Equal(t, agent.LevelNamespace, said.Level)
	assert.Contains(t, said.Log, "ran")
	assert.NotContains(t, said.Log, "secret")
}

// The directory of a runner is known by what it keeps there, whatever its work directory is called.
func TestTheRunnersOwnDirectoryIsHidden(t *testing.T) {
	if !rooted(t) {
		return
	}
	uid := tenant()
	m := machineOf(t, uid)
	runner, err := os.MkdirTemp("/srv", "mergexo-runner-") // which is not hidden by itself, as the temporary directory is
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, os.RemoveAll(runner)) })
	m.opt.Temp = filepath.Join(runner, "builds/_temp/temp")
	require.NoError(t, os.MkdirAll(m.opt.Temp, 0o755)) //nolint:gosec // the runner's is as open
	for name, text := range map[string]string{".runner": "{}", ".credentials_rsaparams": "secret\n"} {
		require.NoError(t, os.WriteFile(filepath.Join(runner, name), []byte(text), 0o644)) //nolint:gosec // that it is readable is the point
	}
	require.NoError(t, exec.Command("chown", "-R", strconv.Itoa(uid)+":"+strconv.Itoa(uid), runner).Run())
	said := m.run(`cat "$1/.credentials_rsaparams"; echo ran`, runner)
	assert.Contains(t, said.Log, "ran")
	assert.NotContains(t, said.Log, "secret")
}
