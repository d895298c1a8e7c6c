package cli_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/must"
)

// mistake is a command line that ends at once, and a part of what it is told.
type mistake struct {
	env, args []string
	says      string
}

// mistakes runs each in a directory of its own. It ends with exit code 2 and one line, and prints nothing else.
func mistakes(t *testing.T, rows map[string]mistake) {
	t.Helper()
	t.Run("mistakes", func(t *testing.T) {
		for name, m := range rows {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				got := programIn(t, t.TempDir(), "", m.env, m.args...).fails(t, 2, m.says)
				assert.Regexp(t, `^mergexo: [^\n]*\n$`, got.errout)
				assert.Empty(t, got.out)
			})
		}
	})
}

// Each of these is one clear line, with nothing before or after it: what is wrong, and what to do.
func TestMistakesAreOneClearLine(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	clone := filepath.Join(dir, "clone")
	gitIn(t, dir, "init", "-q", "-b", "main", clone)
	gitIn(t, clone, "remote", "add", "origin", "https://github.com/octo/widgets")
	gitIn(t, clone, "config", "user.name", "Nina")
	gitIn(t, clone, "config", "user.email", "nina@example.com")
	file := func(name, text string) string {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
		return filepath.Join(dir, name)
	}
	event := must.Get(filepath.Abs("../../scripts/events/issue_comment.json"))(t)
	notJSON, nothing := file("notes.txt", "hello\n"), file("empty.json", "{}")
	labels := file("labels.json", `{"action": "labeled", "issue": {"number": 7, "labels": 5}, "repository": {"full_name": "octo/widgets"}}`)
	const unreachable = "dial tcp 127.0.0.1:1: connect: connection refused; check the network, and GITHUB_API_URL if it is set, or try again later"
	offline := []string{"GITHUB_TOKEN=x", "GITHUB_API_URL=http://127.0.0.1:1", "GITHUB_GRAPHQL_URL=http://127.0.0.1:1/graphql"}
	type row struct {
		env  []string
		args []string
		exit int
		want string
	}
	must.Each(t, map[string]row{
		"an event that is not JSON":  {nil, []string{"replay", "--event", notJSON}, 2, notJSON + ": payload: line 1, column 1: invalid character 'h' looking for beginning of value; want a file with a webhook payload, one JSON object"},
		"an event without a key":     {nil, []string{"replay", "--event", nothing}, 2, nothing + ": its keys do not show which event it is: name it with --name or GITHUB_EVENT_NAME"},
		"a seed that is not JSON":    {nil, []string{"sandbox", "--state", filepath.Join(dir, "state"), "--seed", notJSON}, 2, notJSON + ": payload: line 1, column 1: invalid character 'h' looking for beginning of value; want a file with a webhook payload, one JSON object"},
		"a seed of another shape":    {nil, []string{"sandbox", "--state", filepath.Join(dir, "state"), "--seed", labels}, 2, labels + ": payload: issue.labels: want a list, got a number"},
		"an event that is unnamed":   {[]string{"GITHUB_EVENT_PATH=" + nothing, "GITHUB_TOKEN=x"}, []string{"run"}, 2, nothing + ": its keys do not show which event it is: name it with --name or GITHUB_EVENT_NAME"},
		"a checkout of no clone":     {nil, []string{"replay", "--event", event, "--checkout", dir}, 2, "--checkout: " + dir + " is not in a git repository: give a directory in a clone"},
		"a checkout that is missing": {nil, []string{"replay", "--event", event, "--checkout", "/nowhere"}, 2, "--checkout: /nowhere is not a directory"},
		"almost a command":           {nil, []string{"blokced"}, 2, `unknown command "blokced"; did you mean blocked?`},
		"almost a subcommand":        {nil, []string{"blocked", "lst"}, 2, `unknown command "lst"; did you mean list?`},
		"almost a flag":              {nil, []string{"status", "--jsno"}, 2, `unknown flag --jsno; did you mean --json?; see mergexo status --help`},
		"a flag of nothing":          {nil, []string{"status", "--quickly"}, 2, `unknown flag --quickly; see mergexo status --help`},
		"help of nothing":            {nil, []string{"help", "foo"}, 2, `no command or topic "foo"; mergexo help lists them`},
		"help of almost a topic":     {nil, []string{"help", "agent"}, 2, `no command or topic "agent"; did you mean mergexo help agents?`},
		"help of almost a setting":   {nil, []string{"help", "merge.rule.stratgy"}, 2, `no command or topic "merge.rule.stratgy"; did you mean mergexo help merge.rule.strategy?`},
		"help of nothing below":      {nil, []string{"help", "blocked", "lst"}, 2, `unknown command "lst"; did you mean list?`},
		"help below a leaf":          {nil, []string{"help", "run", "now"}, 2, `run has no command "now"; see mergexo run --help`},
		"no network":                 {offline, []string{"status", "--repo", "octo/widgets"}, 75, "list the refs refs/mergexo/ of octo/widgets: " + unreachable},
		"no network, why":            {offline, []string{"why", "--repo", "octo/widgets", "--pr", "1"}, 75, "read octo/widgets#1: " + unreachable},
		"no network, log":            {offline, []string{"log", "--repo", "octo/widgets"}, 75, "read the comments of octo/widgets: " + unreachable},
		"no network, sweep":          {offline, []string{"sweep", "--repo", "octo/widgets"}, 75, "list the refs refs/mergexo/ of octo/widgets: " + unreachable},
		"no network, run":            {append(slices.Clone(offline), "GITHUB_EVENT_NAME=issue_comment", "GITHUB_EVENT_PATH="+event), []string{"run"}, 75, "read octo/widgets#7: " + unreachable},
		"a merge of no clone":        {nil, []string{"merge", "--checkout", dir, "--branch", "fix"}, 2, dir + ": no git repository: give --checkout DIR, a directory in a clone"},
		"a strategy, before a base":  {nil, []string{"merge", "--checkout", clone, "--branch", "fix", "--strategy", "fast"}, 2, `strategy "fast" is unknown; use one of rebase, squash, no-ff, cherry-pick, frontmatter-union, api, github-queue`},
		"almost a strategy":          {nil, []string{"merge", "--checkout", clone, "--branch", "fix", "--strategy", "rebas"}, 2, `strategy "rebas" is unknown; did you mean rebase?`},
		"almost an agent":            {nil, []string{"init", "--dir", clone, "--agent", "codx"}, 2, `--agent: agent "codx" is unknown; did you mean codex?`},
		"an agent of nothing":        {nil, []string{"init", "--dir", clone, "--agent", "hal"}, 2, `--agent: agent "hal" is unknown; use one of claude, codex, command, suggestion`},
		"almost what merges":         {nil, []string{"init", "--dir", clone, "--agent", "codex", "--merge", "lable"}, 2, `--merge: "lable" is unknown; did you mean label?`},
		"almost an event to make":    {nil, []string{"replay", "--make", "isues"}, 2, `--make: event "isues" is unknown; did you mean issues?`},
		"almost a phase":             {nil, []string{"run", "--phase", "aply"}, 2, `--phase: "aply" is unknown; did you mean apply?`},
		"almost a color":             {nil, []string{"status", "--color", "alway"}, 2, `--color: "alway" is unknown; did you mean always?`},
		"a base that is not known":   {nil, []string{"merge", "--checkout", clone, "--branch", "fix"}, 2, "the checkout does not say what the origin's default branch is: name the branch to merge into with --base"},
	}, func(t *testing.T, tt row) {
		t.Parallel()
		got := programIn(t, dir, "", tt.env, tt.args...)
		assert.Equal(t, tt.exit, got.exit)
		assert.Equal(t, "mergexo: "+tt.want+"\n", got.errout)
		if tt.args[0] == "run" || tt.args[0] == "sweep" { // tell what they did, and the reason is above
			assert.NotContains(t, got.out, unreachable)
		} else {
			assert.Empty(t, got.out)
		}
	})
	within := filepath.Join(clone, "deep", "er")
	require.NoError(t, os.MkdirAll(within, 0o700))
	got := programIn(t, dir, "", nil, "replay", "--event", event, "--checkout", within)
	assert.NotContains(t, got.errout, "is not in a git repository")
	assert.NotContains(t, got.errout, "does not appear to be", "the whole clone is taken")
}

func TestHelpIsTheHelpOfTheCommandAtAnyDepth(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"", "status", "blocked", "blocked reset", "completion zsh"} {
		want := program(t, nil, append(strings.Fields(path), "--help")...)
		require.Equal(t, 0, want.exit, path)
		for _, help := range []string{"help", "h"} {
			assert.Equal(t, want, program(t, nil, append([]string{help}, strings.Fields(path)...)...), path)
		}
	}
}
