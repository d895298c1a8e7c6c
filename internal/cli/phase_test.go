package cli_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestARunInTwoParts(t *testing.T) {
	h := newHub(t, command(answers))
	dir := filepath.Join(t.TempDir(), "handed")
	got := program(t, h.env(), "run", "--json", "--phase", "agent", "--bundle", dir).ok(t)
	assert.Contains(t, got.out, `"result":"done"`)
	assert.NotContains(t, h.comments(), "MergeXO")
	program(t, h.env(), "run", "--json", "--phase", "apply", "--bundle", dir).ok(t)
	assert.Contains(t, h.comments(), "Answered 1 comment")

	dir = filepath.Join(t.TempDir(), "handed")
	got = program(t, h.env(), "run", "--json", "--phase", "agent", "--bundle", dir).ok(t)
	assert.Contains(t, got.out, `"result":"nothing"`)
	assert.FileExists(t, filepath.Join(dir, "outcome.json"), "it says so: nothing at all would mean that the job died")
}

func TestPartsThatDoNotFit(t *testing.T) {
	h := newHub(t, command(answers))
	full := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(full, "outcome.json"), []byte("{}"), 0o600))
	for says, args := range map[string][]string{
		`mergexo: --phase: "push" is unknown; use one of agent, apply`:                        {"--phase", "push"},
		"mergexo: --phase agent needs a directory to hand its work over in: add --bundle DIR": {"--phase", "agent"},
		"mergexo: --bundle is for a run in two parts: add --phase agent or --phase apply":     {"--bundle", full},
		`is not empty ("outcome.json"): want a new directory for every run`:                   {"--phase", "agent", "--bundle", full},
		`mergexo: transcript-key (MERGEXO_TRANSCRIPT_KEY): it is a public key`:                {},
		`mergexo: MERGEXO_SESSIONS: want the absolute path of a directory, got "sessions"`:    {"--verbose"},
	} {
		var more []string
		switch len(args) {
		case 0:
			more = append(more, "MERGEXO_TRANSCRIPT_KEY=age1xyz")
		case 1:
			more = append(more, "MERGEXO_SESSIONS=sessions")
		}
		program(t, h.env(more...), append([]string{"run"}, args...)...).fails(t, 2, says)
	}
	assert.NotContains(t, h.comments(), "MergeXO")
}
