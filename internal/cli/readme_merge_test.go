package cli_test

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/golden"
)

// keepsTrue compares what the README shows below a line with what was said, or writes it there.
func keepsTrue(t *testing.T, below, said string) {
	t.Helper()
	const readme = "../../README.md"
	raw, err := os.ReadFile(readme)
	require.NoError(t, err)
	before, rest, ok := strings.Cut(string(raw), below+"\n\n```text\n")
	require.True(t, ok, below)
	shown, after, ok := strings.Cut("\n"+rest, "\n```\n")
	require.True(t, ok)
	if golden.Update() {
		require.NoError(t, os.WriteFile(readme, []byte(before+below+"\n\n```text\n"+said+"```\n"+after), 0o600))
		return
	}
	assert.Equal(t, strings.TrimPrefix(shown, "\n")+"\n", said)
}

var (
	commits = regexp.MustCompile(`\b[0-9a-f]{10}\b`)
	seconds = regexp.MustCompile(`\n  \|\n  \| <sub>[0-9]+ s</sub>| in [0-9]+ s\b`)
)

// asEver gives what changes from run to run the values that the README has: commits in the order of their appearance.
func asEver(said string, names ...string) string {
	known := map[string]string{}
	return commits.ReplaceAllStringFunc(seconds.ReplaceAllString(said, ""), func(sha string) string {
		if known[sha] == "" && len(known) < len(names) {
			known[sha] = names[len(known)]
		}
		return known[sha]
	})
}

// TestTheReadmeShowsAMerge merges a pull request in a sandbox, as a workflow would.
func TestTheReadmeShowsAMerge(t *testing.T) {
	h := newHub(t, "[agent]\nadapter = \"suggestion\"\n[merge]\ntests = [\"grep\", \"hello\", \"greeting.txt\"]\n")
	h.write("main", "later.txt", "later\n")
	h.api("alice", "POST", "/api/v3/repos/octo/widgets/pulls/1/reviews", map[string]any{"event": "APPROVE"})
	require.Equal(t, 0, program(t, h.env(), "run").exit, "what alice said before is answered")
	h.api("octo", "POST", "/api/v3/repos/octo/widgets/issues/1/comments", map[string]any{"body": "/mergexo merge"})
	var deliveries []struct{ Payload json.RawMessage }
	require.NoError(t, json.Unmarshal(h.raw("", "GET", "/_sandbox/deliveries", nil), &deliveries))
	require.NoError(t, os.WriteFile(h.payload, deliveries[len(deliveries)-1].Payload, 0o600))
	got := program(t, h.env(), "run")
	require.Equal(t, 0, got.exit, got.errout)
	keepsTrue(t, "A pull request by octo, approved by alice, whose base has a commit more by now:", asEver(got.out, "562c31ea82", "6bbfddcfdf", "92f0acc552"))
}

// TestTheReadmeShowsAMergeWithoutGitHub: the line is the README's own.
func TestTheReadmeShowsAMergeWithoutGitHub(t *testing.T) {
	y := newYard(t, nil)
	line := "merge --checkout ../widgets --branch fix --base main"
	got := program(t, y.env(), strings.Fields(strings.Replace(line, "../widgets", y.dir, 1))...)
	require.Equal(t, 0, got.exit, got.errout)
	keepsTrue(t, fmt.Sprintf("    go run ./cmd/mergexo %s", line), asEver(got.out, "8dcd1a0f3b", "c0558fbd3e", "2bc3b1d5f7", "e3627ad337", "975f93b849"))
}
