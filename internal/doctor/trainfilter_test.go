package doctor

import (
	"strings"
	"testing"

	"github.com/mergexo/mergexo/internal/github/workflow"
	"github.com/mergexo/mergexo/internal/must"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func hear(t *testing.T, text string) (e TrainEdit, needed bool) {
	t.Helper()
	return HearTrain(must.Get(workflow.Read(workflow.File{Path: "ci.yml", Text: text}))(t))
}

// Where the filter for the train belongs, in all the ways that people write a list. ++ stands where it comes in; without one, a
// person has to write it.
func TestHowAWorkflowComesToHearTheTrain(t *testing.T) {
	const jobs = "\njobs: {test: {}}\n"
	for name, c := range map[string]struct{ text, more, why string }{
		"brackets":                   {"on:\n  push:\n    branches: [main++] # the default\n  pull_request:\n" + jobs, `, "mergexo/train/**"`, ""},
		"brackets in quotes":         {"on:\n  push:\n    branches: ['main', 'release/**'++ ]" + jobs, `, 'mergexo/train/**'`, ""},
		"brackets and lines":         {"on:\n  push:\n    branches: [\n      main,\n      \"v*\"++\n    ]" + jobs, `, "mergexo/train/**"`, ""},
		"all in one line":            {"on: {push: {branches: [main++]}, pull_request: }" + jobs, `, "mergexo/train/**"`, ""},
		"a list":                     {"on:\n  push:\n    branches:\n      - main\n      # two\n      - 'v2' # old++\n    paths: [x]\n  pull_request:\n" + jobs, "\n      - 'mergexo/train/**'", ""},
		"a list, not indented":       {"on:\n  push:\n    branches:\n    -   main++\n\n  pull_request:\n" + jobs, "\n    -   \"mergexo/train/**\"", ""},
		"a list at the end":          {"jobs: {test: {}}\non:\n  push:\n    branches:\n      - main++", "\n      - \"mergexo/train/**\"", ""},
		"other line ends":            {"on:\r\n  push:\r\n    branches:\r\n      - main++\r\njobs: {}\r\n", "\r\n      - \"mergexo/train/**\"", ""},
		"one branch":                 {"on:\n  push:\n    branches: ++main++ # only\n" + jobs, "", ""}, // see below
		"quoted on":                  {"\"on\":\n  push:\n    branches: [main++]" + jobs, `, "mergexo/train/**"`, ""},
		"other letters":              {"name: Prüfung\non:\n  push: {x: ü, branches: [main++]}" + jobs, `, "mergexo/train/**"`, ""},
		"taken back before":          {"on:\n  push:\n    branches: ['**', '!mergexo/**'++]" + jobs, `, 'mergexo/train/**'`, ""},
		"no push":                    {"on: # when\n++  pull_request:\n    types: [opened]" + jobs, "  push:\n    branches: [\"mergexo/train/**\"]\n", ""},
		"a comma at the end":         {"on:\n  push:\n    branches: [main++, ]" + jobs, `, "mergexo/train/**"`, ""},
		"a comment in it":            {"on:\n  push:\n    branches: [main++ # x\n      ]" + jobs, `, "mergexo/train/**"`, ""},
		"merged from elsewhere":      {"x: &x {push: {branches: [main]}}\non: {<<: *x, pull_request: }" + jobs, "", "not written in a way"},
		"escapes":                    {"on:\n  push:\n    branches: [\"m\\x61in\"]" + jobs, "", "not written in a way"},
		"nothing in it":              {"on:\n  push:\n    branches: []\n  pull_request:" + jobs, "", "not written in a way"},
		"only tags":                  {"on:\n  push:\n    tags: [v1]\n  pull_request:" + jobs, "", "not written in a way"},
		"branches-ignore":            {"on:\n  push:\n    branches-ignore: ['mergexo/**']" + jobs, "", "branches-ignore"},
		"a word":                     {"on: pull_request" + jobs, "", "not written in a way"},
		"words":                      {"on: [pull_request, issues]" + jobs, "", "not written in a way"},
		"shared":                     {"on:\n  push:\n    branches: &b [main]\n  pull_request:\n    branches: *b" + jobs, "", "not written in a way"},
		"borrowed":                   {"on:\n  pull_request:\n    branches: &b [main]\n  push:\n    branches: *b" + jobs, "", "not written in a way"},
		"more than one line":         {"on:\n  push:\n    branches:\n      - >-\n        main" + jobs, "", "not written in a way"},
		"it asks for a push":         {"on:\n  push:\n    branches: [main]\njobs: {a: {if: \"github.event_name == 'push'\"}}\n", "", "github.event_name"},
		"one group for all branches": {"on:\n  push:\n    branches: [main]\nconcurrency: {group: ci, cancel-in-progress: true}" + jobs, "", "concurrency.group"},
		"one group of a job":         {"on:\n  push:\n    branches: [main]\njobs: {a: {concurrency: \"${{ github.workflow }}-${{ github.head_ref }}\"}}\n", "", "concurrency.group"},
		"a group for each branch":    {"on:\n  push:\n    branches: [main++]\nconcurrency: {group: \"${{ github.workflow }}-${{ github.head_ref || github.ref }}\", cancel-in-progress: true}" + jobs, `, "mergexo/train/**"`, ""},
		"a group for each run":       {"on:\n  push:\n    branches: [main++]\nconcurrency: \"${{ github.head_ref || github.run_id }}\"" + jobs, `, "mergexo/train/**"`, ""},
		"a secret on pushes only":    {"on:\n  push:\n    branches: [main]\njobs: {a: {steps: [{run: publish, env: {T: \"${{ secrets.NPM }}\"}}]}}\n", "", "runs on no pull request"},
		"it writes on pushes only":   {"on:\n  push:\n    branches: [main]\npermissions: {contents: write}" + jobs, "", "runs on no pull request"},
		"a secret on all":            {"on:\n  push:\n    branches: [main++]\n  pull_request:\npermissions: {contents: read}\njobs: {a: {steps: [{run: cover, env: {T: \"${{ secrets.COV }}\"}}]}}\n", `, "mergexo/train/**"`, ""},
		"a job for pushes":           {"on:\n  push:\n    branches: [main]\n  pull_request:\njobs: {a: {}, b: {if: \"!github.event.pull_request\"}}\n", "", "an if: that holds"},
		"a step for branches":        {"on:\n  push:\n    branches: [main]\n  pull_request:\njobs: {a: {steps: [{run: publish, if: \"startsWith(github.ref, 'refs/heads/')\"}]}}\n", "", "an if: that holds"},
		"a job for the default":      {"on:\n  push:\n    branches: [main++]\n  pull_request:\njobs: {a: {if: \"!github.event.pull_request.draft\"}, b: {if: \"github.ref == 'refs/heads/main'\"}}\n", `, "mergexo/train/**"`, ""},
		"it deploys":                 {"on:\n  push:\n    branches: [main]\njobs: {a: {environment: production}}\n", "", "an environment"},
	} {
		t.Run(name, func(t *testing.T) {
			was, now := strings.ReplaceAll(c.text, "++", ""), strings.Replace(c.text, "++", c.more, 1)
			if name == "one branch" {
				now = strings.Replace(strings.Replace(c.text, "++", "[", 1), "++", `, "mergexo/train/**"]`, 1)
			}
			e, needed := hear(t, was)
			require.True(t, needed)
			if c.why != "" {
				assert.Empty(t, e.Text)
				assert.Contains(t, e.Why, c.why)
				assert.NotEmpty(t, e.Lines)
				return
			}
			require.Equal(t, now, e.Text, e.Why)
			_, needed = hear(t, e.Text)
			assert.False(t, needed, "it hears the train now")
		})
	}
	for name, text := range map[string]string{
		"all pushes":     "on: push\njobs: {}\n",
		"all branches":   "on: {push: {branches: ['**']}}\njobs: {}\n",
		"others ignored": "on: {push: {branches-ignore: [docs]}}\njobs: {}\n",
	} {
		_, needed := hear(t, text)
		assert.False(t, needed, name)
	}
}

// What a person has to write is there in full.
func TestTheLinesThatAPersonWrites(t *testing.T) {
	for text, want := range map[string]string{
		"on: pull_request\njobs: {}\n":                                             "on:\n  push:\n    branches: [\"mergexo/train/**\"]",
		"on:\n  push:\n    branches: [main, 'v*', ]\njobs: {}\n":                   "on:\n  push:\n    branches: [main, \"v*\", \"mergexo/train/**\"]",
		"on:\n  push:\n    branches-ignore: ['mergexo/**', docs]\njobs: {a: {}}\n": "on:\n  push:\n    branches-ignore: [docs]",
	} {
		e, needed := hear(t, text)
		require.True(t, needed)
		assert.Equal(t, want, strings.Join(e.Lines, "\n"))
	}
}
