package cli_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/cli"
	"github.com/mergexo/mergexo/internal/must"
)

const pull7 = "../../scripts/events/pull_request_review_comment.json"

// madeEvents are calls of replay, by the file that shows what it prints.
var madeEvents = map[string][]string{
	"list.txt":           {"--list"},
	"merge.txt":          {"--make", "issue_comment", "--body", "/mergexo merge"},
	"merge_dry.txt":      {"--make", "issue_comment", "--dry-run"},
	"issues.txt":         {"--make", "issues"},
	"roadmap.txt":        {"--make", "roadmap"},
	"train.txt":          {"--make", "workflow_run"},
	"review.txt":         {"--make", "pull_request_review"},
	"review_asked.txt":   {"--make", "issue_comment", "--body", "/mergexo review"},
	"review_comment.txt": {"--make", "pull_request_review_comment"},
	"file_dry.txt":       {"--event", pull7, "--dry-run"},
}

// Events made from nothing lead to the same commits and the same words each time.
func TestReplayMakesEventsFromNothing(t *testing.T) {
	for file, args := range madeEvents {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			got := program(t, nil, append([]string{"replay"}, args...)...).ok(t)
			shows(t, "replay/"+file, "", got.errout+got.out)
		})
	}
}

func TestReplayReadsAnEventFromAPipe(t *testing.T) {
	payload := text(t, pull7)
	fromFile := program(t, nil, "replay", "--event", pull7, "--dry-run")
	assert.Equal(t, fromFile.out, programIn(t, t.TempDir(), payload, nil, "replay", "--event", "/dev/stdin", "--dry-run").ok(t).out)
}

func TestTheListOfEventsIsForProgramsToo(t *testing.T) {
	var all struct {
		Events []struct{ Event, About, Body string }
	}
	require.NoError(t, json.Unmarshal([]byte(program(t, nil, "replay", "--list", "--json").out), &all))
	require.NotEmpty(t, all.Events)
	var made []string
	for _, args := range madeEvents {
		if args[0] == "--make" && !slices.Contains(made, args[1]) {
			made = append(made, args[1])
		}
	}
	var listed []string
	for _, one := range all.Events {
		assert.NotEmpty(t, one.About)
		listed = append(listed, one.Event)
	}
	assert.ElementsMatch(t, made, listed, "each is made above")
	first := all.Events[0]
	got := program(t, nil, "replay", "--make", first.Event, "--body", first.Body, "--json").ok(t)
	assert.Equal(t, "done", object(t, got)["result"], first.Event)
}

func TestReplayRefusesWhatItCannotRead(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
		return filepath.Join(dir, name)
	}
	mistakes(t, map[string]mistake{
		"nothing":                         {nil, []string{"replay"}, "replay needs --event FILE, a webhook payload, or --make EVENT; mergexo replay --list shows what can be made"},
		"an empty file":                   {nil, []string{"replay", "--event", file("empty", "")}, "payload"},
		"a directory":                     {nil, []string{"replay", "--event", dir}, "is a directory"},
		"a list":                          {nil, []string{"replay", "--event", file("list", "[1]")}, "payload"},
		"half a payload":                  {nil, []string{"replay", "--event", file("half", `{"comment": {"id": 1}, "issue": {"number": 7}`)}, "payload"},
		"a payload of another type":       {nil, []string{"replay", "--event", file("typed", `{"action": "created", "comment": 7, "issue": {"number": "7"}, "repository": {"full_name": "octo/widgets"}}`)}, "issue"},
		"labels that are no list":         {nil, []string{"replay", "--event", file("labels", `{"action": "labeled", "issue": {"number": 7, "labels": 5}, "repository": {"full_name": "octo/widgets"}}`)}, filepath.Join(dir, "labels") + ": payload: issue.labels: want a list, got a number\n"},
		"no name of a branch":             {nil, []string{"replay", "--event", file("branch", `{"action": "labeled", "issue": {"number": 7}, "repository": {"full_name": "octo/widgets", "default_branch": "ma in"}}`)}, filepath.Join(dir, "branch") + `: payload: repository.default_branch: want the name of a branch, got the string "ma in"`},
		"an event without a maker":        {nil, []string{"replay", "--make", "schedule"}, `--make: event "schedule" is unknown; use one of issue_comment, issues, pull_request_review, pull_request_review_comment, roadmap, workflow_run`},
		"a text for an event without one": {nil, []string{"replay", "--make", "workflow_run", "--body", "x"}, "--body: the event workflow_run has no text"},
		"an empty text":                   {nil, []string{"replay", "--make", "issues", "--body", " "}, "--body: want a text, got nothing"},
		"a text for a file":               {nil, []string{"replay", "--event", pull7, "--body", "x"}, "--body is the text of an event that --make makes"},
		"both":                            {nil, []string{"replay", "--event", pull7, "--make", "issues"}, "--make invents its event and its repository: remove --event"},
		"made and live":                   {nil, []string{"replay", "--make", "issues", "--live"}, "remove --live"},
		"listed and made":                 {nil, []string{"replay", "--list", "--make", "issues"}, "--list only lists: remove --make"},
		"dry and applied":                 {nil, []string{"replay", "--event", pull7, "--live", "--apply", "--dry-run"}, "choose one"},
	})
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
	files := must.Get(filepath.Glob("../github/testdata/events/*.json"))(t)
	require.GreaterOrEqual(t, len(files), 8)
	for _, file := range files {
		replays(t, strings.TrimSuffix(filepath.Base(file), ".json"), file) // one after the other: the command line library has globals
	}
}
