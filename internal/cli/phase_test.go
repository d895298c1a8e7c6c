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
	assert.Contains(t, program(t, h.env(), "run", "--json", "--phase", "agent", "--bundle", dir).ok(t).out, `"result":"done"`)
	assert.NotContains(t, h.comments(), "MergeXO")
	program(t, h.env(), "run", "--json", "--phase", "apply", "--bundle", dir).ok(t)
	assert.Contains(t, h.comments(), "Answered 1 comment")

	dir = filepath.Join(t.TempDir(), "handed")
	assert.Contains(t, program(t, h.env(), "run", "--json", "--phase", "agent", "--bundle", dir).ok(t).out, `"result":"nothing"`)
	assert.FileExists(t, filepath.Join(dir, "outcome.json"), "it says so: nothing at all would mean that the job died")
}

func TestPartsThatDoNotFit(t *testing.T) {
	h := newHub(t, command(answers))
	full := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(full, "outcome.json"), []byte("{}"), 0o600))
	for says, line := range map[string]mistake{
		`mergexo: --phase: "push" is unknown; use one of agent, apply`:                        {args: []string{"--phase", "push"}},
		"mergexo: --phase agent needs a directory to hand its work over in: add --bundle DIR": {args: []string{"--phase", "agent"}},
		"mergexo: --bundle is for a run in two parts: add --phase agent or --phase apply":     {args: []string{"--bundle", full}},
		`is not empty ("outcome.json"): want a new directory for every run`:                   {args: []string{"--phase", "agent", "--bundle", full}},
		`mergexo: transcript-key (MERGEXO_TRANSCRIPT_KEY): it is a public key`:                {env: []string{"MERGEXO_TRANSCRIPT_KEY=age1xyz"}},
		`mergexo: MERGEXO_SESSIONS: want the absolute path of a directory, got "sessions"`:    {env: []string{"MERGEXO_SESSIONS=sessions"}},
	} {
		program(t, h.env(line.env...), append([]string{"run"}, line.args...)...).fails(t, 2, says)
	}
	assert.NotContains(t, h.comments(), "MergeXO")
}
