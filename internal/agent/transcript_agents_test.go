//go:build agents

package agent_test

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/agent"
	"github.com/mergexo/mergexo/internal/must"
	"github.com/mergexo/mergexo/internal/sandbox/modelstub"
)

func TestASessionIsGoneOnWithOnAnotherRunner(t *testing.T) {
	each(t, func(t *testing.T, r modelstub.Rig) {
		a := t.TempDir()
		first, _ := runner(t, r, a, "", "first question", r.Run("echo an output; seq 1 60000"), r.Done(greeted))
		files := must.Get(agent.ReadTranscript(a, r.Adapter, first, roomy))(t)
		require.Len(t, files, 1)
		require.NoError(t, os.RemoveAll(a))

		b := filepath.Join(t.TempDir(), "not", "there", "yet")
		require.NoError(t, agent.WriteTranscript(b, r.Adapter, first, files))
		second, s := runner(t, r, b, first, "second question", r.Done(greeted))
		for _, known := range []string{"first question", "an output", "Greet louder", "second question"} {
			assert.Contains(t, s.Asked(0), known)
		}
		assert.Equal(t, first[:36], second[:36])
		longer := must.Get(agent.ReadTranscript(b, r.Adapter, second, roomy))(t)
		assert.Equal(t, slices.Collect(maps.Keys(files)), slices.Collect(maps.Keys(longer)))

		// A runner that was there at the first turn and not at the second.
		require.NoError(t, agent.WriteTranscript(a, r.Adapter, first, files))
		require.NoError(t, agent.WriteTranscript(a, r.Adapter, second, longer))
		third, s := runner(t, r, a, second, "third question", r.Done(greeted))
		for _, known := range []string{"first question", "second question", "third question"} {
			assert.Contains(t, s.Asked(0), known)
		}
		assert.Equal(t, first[:36], third[:36])
	})
}

func TestWhatIsPutBackIsWhatClaudeGoesOnWith(t *testing.T) {
	t.Parallel()
	r, sessions, s := modelstub.Claude(), t.TempDir(), modelstub.New(t)
	s.Play(r.Done(greeted))
	opt, dir := rigged(t, r, s), checkout(t)
	opt.Sessions = sessions
	out := must.Get(ask(t, opt, dir, feedback("first question")))(t)
	files := must.Get(agent.ReadTranscript(sessions, "claude", out.Session, roomy))(t)
	found := must.Get(filepath.Glob(filepath.Join(sessions, "claude", "*", out.Session[:36]+".jsonl")))(t)
	require.Len(t, found, 1)

	// It has filed the old state by the path of this very checkout, where it looks first.
	assert.Equal(t, regexp.MustCompile(`[^a-zA-Z0-9]`).ReplaceAllString(dir, "-"), filepath.Base(filepath.Dir(found[0])))
	for at, text := range files {
		files[at] = []byte(strings.ReplaceAll(string(text), "first question", "newer question"))
	}
	require.NoError(t, agent.WriteTranscript(sessions, "claude", out.Session, files))
	assert.NoFileExists(t, found[0])
	req := feedback("second question")
	req.Session = out.Session
	s.Play(r.Done(greeted))
	_ = must.Get(ask(t, opt, dir, req))(t)
	assert.Contains(t, s.Asked(0), "newer question")
	assert.NotContains(t, s.Asked(0), "first question")
}

func TestCodexGoesOnWithWhatItHasPackedItself(t *testing.T) {
	t.Parallel()
	r, a, b := modelstub.Codex(), t.TempDir(), t.TempDir()
	handle, _ := runner(t, r, a, "", "first question", r.Done(greeted))
	for at, text := range must.Get(agent.ReadTranscript(a, "codex", handle, roomy))(t) { // as it does with old sessions
		plain := filepath.Join(a, "codex", at)
		require.NoError(t, errors.Join(os.WriteFile(plain+".zst", zst(text), 0o600), os.Remove(plain)))
	}
	require.NoError(t, agent.WriteTranscript(b, "codex", handle, must.Get(agent.ReadTranscript(a, "codex", handle, roomy))(t)))
	_, s := runner(t, r, b, handle, "second question", r.Done(greeted))
	assert.Contains(t, s.Asked(0), "first question")
}
