package cli_test

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/flow"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/report"
)

// recorded is an output that a test holds in a file already.
func recorded(name string) func(*testing.T) string {
	return func(t *testing.T) string {
		t.Helper()
		return read(t, "internal/cli/testdata/"+name)
	}
}

// replayed is what a replay prints on its standard output.
func replayed(args ...string) func(*testing.T) string {
	return func(t *testing.T) string {
		t.Helper()
		got := program(t, nil, append([]string{"replay"}, args...)...).ok(t)
		assert.Regexp(t, `^(assumed: [^\n]*\n)+$`, got.errout)
		return got.out
	}
}

var (
	commits = regexp.MustCompile(`\b[0-9a-f]{10}\b`)
	seconds = regexp.MustCompile(`\n  \|\n  \| This took [0-9]+ s\.?| in [0-9]+ s\b`)
)

// asEver gives what changes from run to run the values that the manual has: commits in the order of their appearance.
func asEver(said string, names ...string) string {
	known := map[string]string{}
	return commits.ReplaceAllStringFunc(seconds.ReplaceAllString(said, ""), func(sha string) string {
		if known[sha] == "" && len(known) < len(names) {
			known[sha] = names[len(known)]
		}
		return known[sha]
	})
}

// aMergeWithoutGitHub is what mergexo merge says in a clone.
func aMergeWithoutGitHub(t *testing.T) string {
	y := newYard(t, nil)
	got := program(t, y.env(), "merge", "--checkout", y.dir, "--branch", "fix", "--base", "main").ok(t)
	return asEver(got.out, "8dcd1a0f3b", "c0558fbd3e", "2bc3b1d5f7", "e3627ad337", "975f93b849")
}

// anAgentThatIsStuck is a comment on an issue, as a terminal shows it.
func anAgentThatIsStuck(t *testing.T) string {
	const branch = "agent/bugfix/12-greet-in-french"
	issue := model.Issue{Number: 12, URL: "https://github.com/octo/widgets/issues/12"}
	marker := model.IssueMarker{Flow: model.FlowBugfix, Branch: branch, Base: "main"}
	marker.Attempt, marker.RunURL = 1, "https://github.com/octo/widgets/actions/runs/5"
	text := flow.StopText(issue, marker, flow.Stop{
		Reason: model.ReasonAgent, Detail: "Bonjour or salut? The tests have one, the handbook has the other.", Kept: model.Kept{Branch: branch, SHA: strings.Repeat("c2f9a17b30", 4)},
	})
	var said bytes.Buffer
	require.NoError(t, report.Account(&said, model.Report{Said: []model.Saying{{Where: "comment on #12", Text: text}}}))
	shown, _, ok := strings.Cut(said.String(), "\n\nresult:")
	require.True(t, ok)
	return shown + "\n"
}
