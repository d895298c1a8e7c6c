package cli_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/cli"
	"github.com/mergexo/mergexo/internal/flow"
	"github.com/mergexo/mergexo/internal/golden"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/report"
)

// shown is a replay that the README shows: the file of its event, and every byte of the output.
var shown = regexp.MustCompile("(?m)^    go run \\./cmd/mergexo replay --event (\\S+)$(?s:.*?)```text\n((?s:.*?))```\n")

// TestTheReadmeShowsWhatReallyHappens runs the README's replays and compares every byte of their output.
func TestTheReadmeShowsWhatReallyHappens(t *testing.T) {
	const readme = "../../README.md"
	raw, err := os.ReadFile(readme)
	require.NoError(t, err)
	text := string(raw)
	all := shown.FindAllStringSubmatch(text, -1)
	require.Len(t, all, 3)
	for _, one := range all {
		got := program(t, nil, "replay", "--event", "../../"+one[1])
		require.Equal(t, 0, got.exit, got.errout)
		assert.Empty(t, got.errout)
		if golden.Update() {
			text = strings.Replace(text, one[0], strings.TrimSuffix(one[0], one[2]+"```\n")+got.out+"```\n", 1)
		} else {
			assert.Equal(t, one[2], got.out, one[1])
		}
	}
	if golden.Update() {
		require.NoError(t, os.WriteFile(readme, []byte(text), 0o600))
	}
}

// stuck is what the README shows of a comment on an issue whose agent got stuck.
var stuck = regexp.MustCompile("(?ms)(comment says where and why:\n\n```text\n)(.*?)(^```$)")

// TestTheReadmeShowsTheCommentOfAnAgentThatIsStuck compares every byte of it with what such a comment says in a terminal.
func TestTheReadmeShowsTheCommentOfAnAgentThatIsStuck(t *testing.T) {
	const readme, branch = "../../README.md", "agent/bugfix/12-greet-in-french"
	raw, err := os.ReadFile(readme)
	require.NoError(t, err)
	issue := model.Issue{Number: 12, URL: "https://github.com/octo/widgets/issues/12"}
	marker := model.IssueMarker{Flow: model.FlowBugfix, Branch: branch, Base: "main"}
	marker.Attempt, marker.RunURL = 1, "https://github.com/octo/widgets/actions/runs/5"
	text := flow.StopText(issue, marker, flow.Stop{
		Reason: model.ReasonAgent, Detail: "Bonjour or salut? The tests have one, the handbook has the other.", Kept: model.Kept{Branch: branch, SHA: strings.Repeat("c2f9a17b30", 4)},
	})
	var said bytes.Buffer
	require.NoError(t, report.Account(&said, model.Report{Said: []model.Saying{{Where: "comment on #12", Text: text}}}))
	shows, _, ok := strings.Cut(said.String(), "\n\nresult:")
	require.True(t, ok)
	shows += "\n"
	if golden.Update() {
		require.NoError(t, os.WriteFile(readme, []byte(stuck.ReplaceAllString(string(raw), "${1}"+strings.ReplaceAll(shows, "$", "$$")+"${3}")), 0o600))
		return
	}
	parts := stuck.FindStringSubmatch(string(raw))
	require.NotNil(t, parts)
	assert.Equal(t, parts[2], shows)
}

// diagnosis is what the README shows of mergexo doctor, indented as part of a list.
var diagnosis = regexp.MustCompile("(?s)(   ```text\n)(   settings.*?|)(   ```\n)")

// TestTheReadmeShowsWhatTheDoctorSays sets up a repository with mergexo init and compares what mergexo doctor says of it.
func TestTheReadmeShowsWhatTheDoctorSays(t *testing.T) {
	const readme = "../../README.md"
	raw, err := os.ReadFile(readme)
	require.NoError(t, err)
	dir := t.TempDir()
	for _, args := range [][]string{{"init", "-q", "-b", "main", dir}, {"-C", dir, "remote", "add", "origin", "https://github.com/octo/widgets"}} {
		out, err := exec.CommandContext(t.Context(), "git", args...).CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	require.Equal(t, 0, program(t, nil, "init", "--dir", dir).exit)
	got := program(t, nil, "doctor", "--checkout", dir)
	require.Equal(t, 0, got.exit, got.out+got.errout)
	_, said, ok := strings.Cut(got.out, "\n\n") // the first line names the directory
	require.True(t, ok)
	said = regexp.MustCompile(`(?m)^.+$`).ReplaceAllString(said, "   $0")
	version := regexp.MustCompile(`version [0-9.]+`)
	said = version.ReplaceAllString(said, "version 2.39.5")
	if golden.Update() {
		require.NoError(t, os.WriteFile(readme, []byte(diagnosis.ReplaceAllString(string(raw), "${1}"+said+"${3}")), 0o600))
		return
	}
	parts := diagnosis.FindStringSubmatch(string(raw))
	require.NotNil(t, parts)
	assert.Equal(t, parts[2], said)
}

// replays replays an example in this process: there are hundreds of them, and no token is about. It gives the report.
func replays(t *testing.T, name, file string) string {
	t.Helper()
	var out, errout bytes.Buffer
	exit := cli.Main([]string{"mergexo", "replay", "--event", file, "--name", name, "--json"}, cli.Streams{Out: &out, Err: &errout})
	assert.Equal(t, 0, exit, "%s\n%s", file, errout.String())
	return out.String()
}

func TestReplayOfAnExampleOfEveryEvent(t *testing.T) {
	files, err := filepath.Glob("../github/testdata/events/*.json")
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(files), 8)
	for _, file := range files {
		replays(t, strings.TrimSuffix(filepath.Base(file), ".json"), file) // one after the other: the command line library has globals
	}
}
