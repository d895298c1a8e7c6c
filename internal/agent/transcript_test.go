package agent_test

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/agent"
	"github.com/mergexo/mergexo/internal/golden"
	"github.com/mergexo/mergexo/internal/must"
	"github.com/mergexo/mergexo/internal/sandbox/modelstub"
)

const (
	thread  = "01a1fea8-0000-7000-8000-000000000000"
	another = "01a1fea8-0000-7000-8000-000000000001"
	rollout = "2026/11/21/rollout-2026-11-21T16-50-55-" + thread + ".jsonl"
	project = "mergexo/" + thread + ".jsonl"
	roomy   = 64 << 20
)

// runner is one machine's turn of a session: its own checkout, HOME and sessions.
func runner(t *testing.T, r modelstub.Rig, sessions, handle, prompt string, script ...modelstub.Answer) (string, *modelstub.Stub) {
	t.Helper()
	s := modelstub.New(t, script...)
	opt := rigged(t, r, s)
	opt.Sessions = sessions
	req := feedback(prompt)
	req.Session = handle
	dir := checkout(t)
	out := must.Get(ask(t, opt, dir, req))(t)
	require.NoError(t, errors.Join(os.RemoveAll(dir), os.RemoveAll(opt.Temp))) // so is a runner when its job is done
	return out.Session, s
}

// zst is a zstd frame of raw blocks (RFC 8878, 3.1.1).
func zst(text []byte) []byte {
	out := binary.LittleEndian.AppendUint32([]byte{0x28, 0xb5, 0x2f, 0xfd, 0xa0}, uint32(len(text)))
	for {
		n := min(len(text), 100_000)
		head := uint32(n) << 3
		if n == len(text) {
			head |= 1
		}
		out = append(append(out, byte(head), byte(head>>8), byte(head>>16)), text[:n]...)
		if text = text[n:]; len(text) == 0 {
			return out
		}
	}
}

// lay writes files below the directory of sessions.
func lay(t *testing.T, sessions string, files map[string]string) {
	t.Helper()
	for at, text := range files {
		file := filepath.Join(sessions, at)
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o700))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	}
}

// laid reads them again, by their paths; what is no regular file is "?".
func laid(t *testing.T, sessions string) map[string]string {
	t.Helper()
	files := map[string]string{}
	require.NoError(t, filepath.WalkDir(sessions, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		at, _ := filepath.Rel(sessions, file)
		if files[at] = "?"; entry.Type().IsRegular() {
			text, err := os.ReadFile(file)
			files[at] = string(text)
			return err
		}
		return nil
	}))
	return files
}

func TestOnlyARegularFileIsATranscript(t *testing.T) {
	for name, plant := range map[string]func(t *testing.T, file, secret string) error{
		"a symbolic link":        func(_ *testing.T, file, secret string) error { return os.Symlink(secret, file) },
		"a symbolic link beside": func(_ *testing.T, file, _ string) error { return os.Symlink("../../../../claude/x/y.jsonl", file) },
		"a hard link":            func(_ *testing.T, file, secret string) error { return os.Link(secret, file) },
		"a FIFO":                 func(_ *testing.T, file, _ string) error { return syscall.Mkfifo(file, 0o600) },
		"a directory":            func(_ *testing.T, file, _ string) error { return os.Mkdir(file, 0o700) },
		"another session's": func(_ *testing.T, file, _ string) error {
			return os.WriteFile(strings.ReplaceAll(file, thread, another), nil, 0o600)
		},
		"a name that goes on":   func(_ *testing.T, file, _ string) error { return os.WriteFile(file+".jsonl", nil, 0o600) },
		"a day that leads away": func(t *testing.T, file, secret string) error { return linkAway(t, filepath.Dir(file), secret) },
		"a year that leads away": func(t *testing.T, file, secret string) error {
			return linkAway(t, filepath.Dir(filepath.Dir(filepath.Dir(file))), secret)
		},
		"a file deeper than that": func(_ *testing.T, file, _ string) error {
			return errors.Join(os.Mkdir(file, 0o700), os.WriteFile(file+"/"+filepath.Base(file), nil, 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			sessions, elsewhere := t.TempDir(), t.TempDir()
			lay(t, elsewhere, map[string]string{rollout: "secret", "21/" + filepath.Base(rollout): "secret", filepath.Base(rollout): "secret"})
			lay(t, sessions, map[string]string{"claude/x/y.jsonl": "secret"})
			file := filepath.Join(sessions, "codex", rollout)
			require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o700))
			require.NoError(t, plant(t, file, filepath.Join(elsewhere, rollout)))
			_, err := agent.ReadTranscript(sessions, "codex", thread, roomy)
			assert.Equal(t, agent.NoSession, failure(t, err).Kind)

			lay(t, sessions, map[string]string{"codex/2026/11/19/" + filepath.Base(rollout): "ours"})
			old := time.Now().Add(-time.Hour)
			require.NoError(t, os.Chtimes(filepath.Join(sessions, "codex/2026/11/19", filepath.Base(rollout)), old, old))
			files, err := agent.ReadTranscript(sessions, "codex", thread, roomy)
			if strings.Contains(name, "year") { // it leads away from that one too
				assert.Equal(t, agent.NoSession, failure(t, err).Kind)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, map[string][]byte{"2026/11/19/" + filepath.Base(rollout): []byte("ours")}, files, "it does not hide what is there")
		})
	}
}

// linkAway makes a directory a symbolic link to where secret lies, or to what is above it.
func linkAway(t *testing.T, dir, secret string) error {
	t.Helper()
	to := filepath.Dir(secret)
	if filepath.Base(dir) == "2026" {
		to = filepath.Dir(filepath.Dir(to))
	}
	return errors.Join(os.RemoveAll(dir), os.Symlink(to, dir))
}

func TestTheNewestTranscriptCounts(t *testing.T) {
	sessions := t.TempDir()
	for i, dir := range []string{"-work-b", "-work-a", "-work-c"} {
		at := filepath.Join("claude", dir, thread+".jsonl")
		lay(t, sessions, map[string]string{at: dir, filepath.Join("claude", dir, another+".jsonl"): "other"})
		when := time.Now().Add(-time.Duration(i) * time.Hour)
		require.NoError(t, os.Chtimes(filepath.Join(sessions, at), when, when))
	}
	files := must.Get(agent.ReadTranscript(sessions, "claude", thread+"/1/2/0.5", roomy))(t)
	assert.Equal(t, map[string][]byte{project: []byte("-work-b")}, files, "it is filed without the path of a checkout")
}

func TestATranscriptIsPutBackInPlaceOfWhatIsThere(t *testing.T) {
	sessions, elsewhere := t.TempDir(), t.TempDir()
	lay(t, elsewhere, map[string]string{"victim": "theirs"})
	victim := filepath.Join(elsewhere, "victim")
	lay(t, sessions, map[string]string{
		"codex/2026/11/20/rollout-2026-11-20T00-00-00-" + thread + ".jsonl.zst": "old", "codex/2026/11/20/rollout-2026-11-20T00-00-00-" + another + ".jsonl": "other",
		"codex/2026/11/21/notes": "kept", "codex/" + rollout + "/in/the/way": "x",
	})
	file := filepath.Join(sessions, "codex", rollout)
	require.NoError(t, os.Symlink(victim, file+".mergexo"))
	require.NoError(t, os.Symlink(victim, filepath.Join(sessions, "codex/2026/11/20/rollout-2026-11-20T00-00-01-"+thread+".jsonl")))
	require.NoError(t, agent.WriteTranscript(sessions, "codex", thread, map[string][]byte{rollout: []byte("new")}))
	want := map[string]string{
		"codex/2026/11/20/rollout-2026-11-20T00-00-00-" + another + ".jsonl": "other", "codex/2026/11/21/notes": "kept", "codex/" + rollout: "new",
	}
	assert.Equal(t, want, laid(t, sessions))
	assert.Equal(t, fs.FileMode(0o600), must.Get(os.Stat(file))(t).Mode())

	require.NoError(t, os.Remove(file))
	require.NoError(t, os.Symlink(victim, file))
	require.NoError(t, agent.WriteTranscript(sessions, "codex", thread, map[string][]byte{rollout: []byte("new")}))
	assert.Equal(t, want, laid(t, sessions))
	assert.Equal(t, map[string]string{"victim": "theirs"}, laid(t, elsewhere))

	require.NoError(t, agent.WriteTranscript(sessions, "claude", thread, map[string][]byte{project: []byte("new")}))
	assert.Equal(t, fs.ModeDir|0o700, must.Get(os.Stat(filepath.Join(sessions, "claude", "mergexo")))(t).Mode())
}

func TestWhatIsNotPutBackOrRead(t *testing.T) {
	sessions, elsewhere := t.TempDir(), t.TempDir()
	lay(t, sessions, map[string]string{"codex/" + rollout: "old"})
	before := laid(t, sessions)
	var lines []string
	refused := func(err error) {
		t.Helper()
		require.Error(t, err)
		lines = append(lines, err.Error())
	}
	for _, at := range []string{
		"../../x", "/etc/passwd", "2026/11/21/../../../x.jsonl", "x/" + rollout, project, "2026/11/21/rollout-..-" + thread + ".jsonl",
		strings.ReplaceAll(rollout, thread, another), rollout + "\n", strings.Replace(rollout, "2026/", `2026\`, 1), "",
	} {
		refused(agent.WriteTranscript(sessions, "codex", thread, map[string][]byte{at: []byte("new")}))
	}
	refused(agent.WriteTranscript(sessions, "codex", thread, map[string][]byte{rollout: nil, rollout + ".zst": nil}))
	refused(agent.WriteTranscript(sessions, "codex", thread, nil))
	refused(agent.WriteTranscript(sessions, "claude", thread, map[string][]byte{"-work-a/" + thread + ".jsonl": nil}))
	refused(agent.WriteTranscript(sessions, "command", thread, map[string][]byte{rollout: nil}))
	for _, handle := range []string{"", "../x", "--last", strings.ToUpper(thread), thread + "/x"} {
		refused(agent.WriteTranscript(sessions, "codex", handle, map[string][]byte{rollout: nil}))
		_, err := agent.ReadTranscript(sessions, "codex", handle, roomy)
		assert.Equal(t, agent.NoSession, failure(t, err).Kind)
	}
	assert.Equal(t, before, laid(t, sessions))

	for _, adapter := range []string{"command", "suggestion", "../codex", ""} {
		_, err := agent.ReadTranscript(sessions, adapter, thread, roomy)
		refused(err)
		assert.False(t, agent.HasTranscripts(adapter))
	}
	_, err := agent.ReadTranscript(sessions, "codex", thread, 2)
	refused(err)
	require.NoError(t, os.Truncate(filepath.Join(sessions, "codex", rollout), 1<<40)) // all of it a hole
	_, err = agent.ReadTranscript(sessions, "codex", thread, roomy)
	refused(err)
	for _, none := range []string{filepath.Join(sessions, "not there"), elsewhere} {
		_, err = agent.ReadTranscript(none, "codex", thread, roomy)
		assert.Equal(t, agent.NoSession, failure(t, err).Kind)
		refused(err)
	}

	require.NoError(t, os.Symlink(filepath.Join(sessions, "codex"), filepath.Join(elsewhere, "codex")))
	_, err = agent.ReadTranscript(elsewhere, "codex", thread, roomy)
	refused(err)
	require.NoError(t, os.RemoveAll(filepath.Join(sessions, "codex", "2026")))
	require.NoError(t, os.Symlink(elsewhere, filepath.Join(sessions, "codex", "2026")))
	refused(agent.WriteTranscript(sessions, "codex", thread, map[string][]byte{rollout: nil}))
	assert.Equal(t, map[string]string{"codex": "?"}, laid(t, elsewhere))
	golden.Text(t, "transcript.txt", strings.Join(lines, "\n"))
}

func TestAFullDirectoryIsNotSearchedForEver(t *testing.T) {
	t.Parallel()
	sessions := t.TempDir()
	lay(t, sessions, map[string]string{"codex/" + rollout: "ours"})
	dir := filepath.Join(sessions, "codex", "full")
	require.NoError(t, os.Mkdir(dir, 0o700))
	for i := range 20_000 {
		require.NoError(t, os.Symlink("x", filepath.Join(dir, strconv.Itoa(i))))
	}
	_, err := agent.ReadTranscript(sessions, "codex", thread, roomy)
	assert.EqualError(t, err, "look for session "+thread+" in the directory of codex: it has more than 20000 files: remove old ones")
}
