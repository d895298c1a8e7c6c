package flow_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/flow"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
)

func TestAnAnswerIsHeldAgainstWhatWasAskedFor(t *testing.T) {
	design := func(change func(*model.Outcome)) model.Outcome {
		o := model.Outcome{Title: "Greet", Summary: "It greets.", DesignDoc: "# Greet\n", TouchPaths: []string{"src/**"}}
		change(&o)
		return o
	}
	paths := func(p ...string) model.Outcome { return design(func(o *model.Outcome) { o.TouchPaths = p }) }
	type row struct {
		flow    model.Flow
		outcome model.Outcome
		changed bool
		field   string
		reason  string
	}
	must.Each(t, map[string]row{
		"a design":                    {model.FlowDesign, paths("src/**"), false, "", ""},
		"a design that names nothing": {model.FlowDesign, paths(), false, "", ""},
		"no document":                 {model.FlowDesign, design(func(o *model.Outcome) { o.DesignDoc = " \n" }), false, "design_doc_markdown", model.ReasonOutcome},
		"front matter only":           {model.FlowDesign, design(func(o *model.Outcome) { o.DesignDoc = "---\na: b\n---\n" }), false, "design_doc_markdown", model.ReasonOutcome},
		"no title":                    {model.FlowDesign, design(func(o *model.Outcome) { o.Title = " \u200b\u202e" }), false, "title", model.ReasonOutcome},
		"a path out of the tree":      {model.FlowDesign, paths("a", "../b"), false, "touch_paths[1]", model.ReasonOutcome},
		"too many paths":              {model.FlowDesign, paths(strings.Fields(strings.Repeat("a ", 201))...), false, "touch_paths", model.ReasonOutcome},
		"as many as may be":           {model.FlowDesign, paths(strings.Fields(strings.Repeat("a ", 200))...), false, "", ""},
		"a change":                    {model.FlowBugfix, model.Outcome{PRTitle: "x", CommitMessage: "Fix"}, true, "", ""},
		"a change without a message":  {model.FlowSmallJob, model.Outcome{}, true, "", ""},
		"nothing done":                {model.FlowImplementation, model.Outcome{PRTitle: "x"}, false, "commit_message", model.ReasonNoChange},
		"a message for nothing":       {model.FlowBugfix, model.Outcome{CommitMessage: "Fix"}, false, "commit_message", model.ReasonOutcome},
		"blocked":                     {model.FlowBugfix, model.Outcome{BlockedReason: "which?"}, false, "", ""},
		"a blocked design":            {model.FlowDesign, model.Outcome{BlockedReason: "which?"}, false, "", ""},
		"blocked by white space":      {model.FlowDesign, model.Outcome{BlockedReason: " "}, false, "design_doc_markdown", model.ReasonOutcome},
	}, func(t *testing.T, c row) {
		err := flow.Validate(c.flow, c.outcome, c.changed)
		if c.field == "" {
			require.NoError(t, err)
			return
		}
		var wrong *flow.Invalid
		require.ErrorAs(t, err, &wrong)
		assert.Equal(t, c.field, wrong.Field)
		assert.Equal(t, c.reason, wrong.Reason)
		assert.NotEmpty(t, wrong.Detail)
		assert.Equal(t, wrong.Field+": "+wrong.Detail, err.Error())
	})
}

func TestTouchPathsStayInTheTree(t *testing.T) {
	for _, p := range []string{"a", "src/**", "./src/", "**/*_test.go", "a/{b,c}/*.go", "docs/..x", ".github/workflows/*", ".gitignore", "a b", "x[ab]", "ä/日本", strings.Repeat("x", 500)} {
		assert.NoError(t, flow.Validate(model.FlowDesign, model.Outcome{Title: "x", DesignDoc: "x", TouchPaths: []string{p}}, false), "%q", p)
	}
	for p, detail := range map[string]string{
		"": "empty", " ": "empty", "\u200b": "empty", strings.Repeat("x", 501): "501 bytes; at most 500",
		"/etc": "absolute", "C:/x": "absolute", "c:x": "absolute",
		"..": "leaves", "../x": "leaves", "a/../../x": "leaves", "a/..": "leaves", "{a,..}/x": "leaves", "./../x": "leaves",
		`a\b`: "backslash", `..\x`: "backslash",
		".git": "git's own", "a/.GIT/config": "git's own", "{.git,a}/x": "git's own", ".git/": "git's own",
		"a\nb": "invisible character", "a\x00": "invisible character", "a\u202eb": "invisible character", "\xff": "invisible character", "a\u0085": "invisible character",
		"a//b": "not a path", ".": "not a path", "./": "not a path", "a/./b": "not a path",
		"[a": "not a glob", "{a": "not a glob",
	} {
		err := flow.Validate(model.FlowDesign, model.Outcome{Title: "x", DesignDoc: "x", TouchPaths: []string{p}}, false)
		assert.ErrorContains(t, err, detail, "%q", p)
	}
}

func TestABugFixComesWithATest(t *testing.T) {
	changed := []string{"a.go", "pkg/a_test.go"}
	assert.True(t, flow.Tested(changed, []string{"^x$", `_test\.go$`}))
	assert.False(t, flow.Tested(changed, []string{`^a_test\.go$`}), "the whole path is searched")
	assert.False(t, flow.Tested(nil, []string{"."}))
	assert.True(t, flow.Tested(nil, nil), "nothing is asked for")
	assert.False(t, flow.Tested(changed, []string{"("}))
}

func TestWhatADesignDidNotAnnounce(t *testing.T) {
	changed := []string{"z.txt", "src/a/b.go", "srcs/c.go", "docs/x.md", "docs/deep/y.md", "go.mod", "z.txt"}
	assert.Equal(t, []string{"docs/deep/y.md", "srcs/c.go", "z.txt"}, flow.Outside(changed, []string{"src/", "./go.mod", "docs/*.md"}))
	assert.Empty(t, flow.Outside(changed, []string{"**"}))
	assert.Empty(t, flow.Outside(changed, nil))
	assert.Equal(t, []string{"a"}, flow.Outside([]string{"a", "[x/y"}, []string{"[x"}), "what is no pattern is a path")
}
