package needs

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/golden"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
)

func TestWhatAPullRequestWaitsFor(t *testing.T) {
	t.Parallel()
	merge := func(state model.MergeState, why model.MergeCode, head string) model.Status {
		return model.Status{Number: 7, Head: "a", State: model.StatusQueued, Merge: &model.MergeRequest{State: state, Reason: why, Head: head, URL: "m"}}
	}
	blocked := func(why string) model.Status {
		return model.Status{Number: 7, State: model.StatusBlocked, Block: &model.Blocked{Reason: why, Expected: "a", Observed: "b", URL: "b"}}
	}
	fork := func(state model.ExternalState, head string) *model.Posted[model.ExternalMarker] {
		return &model.Posted[model.ExternalMarker]{Marker: model.ExternalMarker{State: state, Head: head}, URL: "f"}
	}
	moved, off := fork(model.ExternalVoid, "b"), fork(model.ExternalVoid, "a")
	moved.Marker.Moved, off.Marker.Reason = "c", model.ExternalUnlabelled
	taken := merge(model.MergeWaiting, model.CodeApproval, "a")
	taken.State = model.StatusTaken
	given, asked := blocked(model.ReasonAgent), merge(model.MergeFailed, model.CodeConflict, "a")
	given.State, asked.State = model.StatusReleased, model.StatusReleased
	local, headless := blocked(model.ReasonRewrite), blocked(model.ReasonMarkerEdited)
	local.Block.Local, headless.Block.Expected = true, ""
	landing := merge(model.MergeFailed, model.CodeProtected, "b")
	landing.Merge.Tip = "a"
	for name, c := range map[string]struct {
		s    model.Status
		fork *model.Posted[model.ExternalMarker]
		kind model.NeedKind
		want string
	}{
		"nothing":                  {s: model.Status{State: model.StatusIdle}},
		"an agent failed":          {s: model.Status{State: model.StatusFailed}},
		"tests":                    {s: blocked(model.ReasonTests), kind: model.NeedBlock, want: "fix the required tests, or say how (an operator): /mergexo unblock"},
		"a question":               {s: blocked(model.ReasonAgent), kind: model.NeedBlock, want: "answer the agent's question (anybody with write access): a comment with the answer"},
		"a rewrite":                {s: blocked(model.ReasonRewrite), kind: model.NeedBlock, want: "restore the old history, or accept the new one (an operator): /mergexo unblock, or /mergexo unblock head_sha=b"},
		"a rewrite by the agent":   {s: local, kind: model.NeedBlock, want: "find out why the agent rewrote history in its checkout (an operator): /mergexo unblock"},
		"an edit":                  {s: blocked(model.ReasonMarkerEdited), kind: model.NeedBlock, want: "look at the comment that somebody edited (an operator): /mergexo unblock"},
		"an edit of the last head": {s: headless, kind: model.NeedBlock, want: "look at the comment that somebody edited (an operator): /mergexo unblock head_sha=b"},
		"a reason of later":        {s: blocked("x"), kind: model.NeedBlock, want: "decide about the block (an operator): /mergexo unblock"},
		"waits for an approval":    {s: merge(model.MergeWaiting, model.CodeApproval, "a"), kind: model.NeedMerge, want: "approve it (anybody with write access): an approving review"},
		"waits for checks":         {s: merge(model.MergeWaiting, model.CodeChecks, "a")},
		"refused":                  {s: merge(model.MergeFailed, model.CodeNoTests, "a"), kind: model.NeedMerge, want: "set a test command (or none) in [merge] tests (a maintainer): /mergexo merge"},
		"not set up for tests":     {s: merge(model.MergeFailed, model.CodeSetup, "a"), kind: model.NeedMerge, want: "set the command that prepares the tests in [merge] setup (a maintainer): /mergexo merge"},
		"refused on its way":       {s: landing, kind: model.NeedMerge, want: "let the token push, or merge it by hand (a maintainer): /mergexo merge"},
		"refused for a later code": {s: merge(model.MergeFailed, "LATER", "a"), kind: model.NeedMerge, want: "find out why it was not merged (an operator): /mergexo merge"},
		"only tried":               {s: merge(model.MergeFailed, model.CodeTried, "a")},
		"taken back":               {s: merge(model.MergeFailed, model.CodeCancelled, "a")},
		"merge of an earlier head": {s: merge(model.MergeFailed, model.CodeConflict, "b")},
		"merged":                   {s: merge(model.MergeDone, "", "a")},
		"taken over":               {s: taken},
		"released":                 {s: given},
		"released and refused":     {s: asked, kind: model.NeedMerge, want: "resolve the conflict with the base (the author): /mergexo merge"},
		"not evaluated":            {s: model.Status{Head: "a"}, fork: fork(model.ExternalFailed, "a"), kind: model.NeedFork, want: "find out why the evaluation failed (a maintainer): the label again"},
		"wanting":                  {s: model.Status{Head: "a"}, fork: fork(model.ExternalWanting, "a"), kind: model.NeedFork, want: "change what the evaluation asks for (the contributor): a push to the fork"},
		"of an earlier head":       {s: model.Status{Head: "a"}, fork: fork(model.ExternalFailed, "b")},
		"not accepted yet":         {s: model.Status{Head: "a"}, fork: fork(model.ExternalVoid, "a"), kind: model.NeedFork, want: "review its head as it is now (a maintainer): the label again"},
		"moved":                    {s: model.Status{Head: "a"}, fork: moved, kind: model.NeedFork, want: "review its head as it is now (a maintainer): the label again"},
		"moved and released":       {s: model.Status{Head: "a", State: model.StatusReleased}, fork: moved},
		"its label removed":        {s: model.Status{Head: "a"}, fork: off},
		"being evaluated":          {s: model.Status{Head: "a"}, fork: fork(model.ExternalLetIn, "a")},
	} {
		got := OfPull(c.s, c.fork)
		if c.want == "" {
			assert.Nil(t, got, name)
			continue
		}
		require.NotNil(t, got, name)
		assert.Equal(t, c.want, got.Todo(), name)
		assert.Equal(t, c.kind, got.Kind, name)
		assert.Equal(t, string(c.kind)[:1], got.URL, name)
	}
}

func TestWorkThatIsOnlyOnTheRunnerIsToBePushedFirst(t *testing.T) {
	t.Parallel()
	const first = "push the agent's work, which is only on the runner, in the git bundle /tmp/x.bundle; then "
	issue := model.Posted[model.IssueMarker]{}
	issue.Marker.Waiting, issue.Marker.Kept.Bundle = model.ReasonAgent, "/tmp/x.bundle"
	assert.Equal(t, first+"answer the agent's question (anybody with write access): a comment with the answer", OfIssue("", issue).Todo())
	s := model.Status{State: model.StatusBlocked, Bundle: "/tmp/x.bundle", Block: &model.Blocked{Reason: model.ReasonTests}}
	assert.Equal(t, first+"fix the required tests, or say how (an operator): /mergexo unblock", OfPull(s, nil).Todo())
	s = model.Status{State: model.StatusFailed, Bundle: "/tmp/x.bundle", LastTurn: &model.LastTurn{URL: "there"}}
	got := OfPull(s, nil)
	assert.Equal(t, first+"let the next attempt start (an operator): /mergexo retry", got.Todo())
	assert.Equal(t, []any{model.NeedBlock, "there"}, []any{got.Kind, got.URL})
	s.State = model.StatusClaimed
	assert.Nil(t, OfPull(s, nil), "an attempt is at work")
}

func TestWhatAnIssueWaitsFor(t *testing.T) {
	t.Parallel()
	said := model.Posted[model.IssueMarker]{URL: "there", UpdatedAt: time.Unix(1, 0)}
	said.Marker.Number, said.Marker.LastCheckpoint = 3, "c"
	for why, want := range map[string]string{
		model.ReasonAgent:        "answer the agent's question (anybody with write access): a comment with the answer",
		model.ReasonMarkerEdited: "look at the comment that somebody edited (an operator): /mergexo retry",
		"anything":               "say how to continue (anybody with write access): a comment, or /mergexo retry",
	} {
		said.Marker.Waiting = why
		got := OfIssue("Greet", said)
		assert.Equal(t, want, got.Todo())
		assert.Equal(t, model.Need{
			Kind: model.NeedIssue, Number: 3, Issue: 3, Title: "Greet", Headline: got.Headline, Reason: why, Who: got.Who, Next: got.Next, Observed: "c", Since: said.UpdatedAt, URL: "there",
		}, *got)
	}
}

// constants are the values of a file's constants with this prefix, one list for each declaration that has any.
func constants(t *testing.T, path, prefix string) (groups [][]string) {
	t.Helper()
	file := must.Get(parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution))(t)
	for _, d := range file.Decls {
		var group []string
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.CONST {
			for _, s := range g.Specs {
				c := s.(*ast.ValueSpec)
				if !strings.HasPrefix(c.Names[0].Name, prefix) {
					continue
				}
				value := must.Get(strconv.Unquote(c.Values[0].(*ast.BasicLit).Value))(t)
				group = append(group, value)
			}
		}
		if len(group) > 0 {
			groups = append(groups, group)
		}
	}
	return groups
}

// A new reason gets a row here, and a person decides who does what about it.
func TestEveryReasonHasItsTask(t *testing.T) {
	t.Parallel()
	reasons := constants(t, "../model/block.go", "Reason")
	require.Len(t, reasons, 2, "those of pull requests, and those that only issues have")
	assert.ElementsMatch(t, reasons[0], slices.Collect(maps.Keys(blocks)))
	assert.ElementsMatch(t, slices.Concat(reasons...), slices.Collect(maps.Keys(issues)))

	codes := constants(t, "../model/merge.go", "Code")
	require.Len(t, codes, 1)
	require.Contains(t, codes[0], "DIRTY_BASE")
	for _, value := range codes[0] {
		code := model.MergeCode(value)
		_, task := merges[code]
		assert.True(t, task || settled[code] || code.Retryable(), "%s: somebody has to do something, or it is over, or only time helps", code)
		assert.False(t, task && (settled[code] || code.Retryable()), code)
	}

	var b strings.Builder
	for _, kind := range []struct {
		name  string
		tasks map[string]task
	}{{"blocked pull requests", blocks}, {"issues", issues}, {"requests to merge", byText(merges)}, {"forks", byText(forks)}} {
		fmt.Fprintf(&b, "# %s\n\n", kind.name)
		for _, reason := range slices.Sorted(maps.Keys(kind.tasks)) {
			one := kind.tasks[reason]
			fmt.Fprintf(&b, "%s: %s\n", reason, model.Need{Headline: one.headline, Who: one.who, Next: one.next}.Todo())
		}
		b.WriteString("\n")
	}
	golden.Text(t, "tasks.txt", b.String())
}

func byText[K ~string](tasks map[K]task) map[string]task {
	out := map[string]task{}
	for reason, one := range tasks {
		out[string(reason)] = one
	}
	return out
}

// What to type can be told from what to do, for every task.
func TestCommandsAreToldApart(t *testing.T) {
	t.Parallel()
	for next, want := range map[string]string{
		"/mergexo unblock, or /mergexo unblock head_sha=b": "|/mergexo unblock|/mergexo unblock head_sha=b", "a comment, or /mergexo retry": "a comment|/mergexo retry",
		"a commit, or a rerun": "a commit, or a rerun", "the label": "the label", "": "",
	} {
		words, commands := model.Need{Next: next}.Ways()
		assert.Equal(t, want, strings.Join(append([]string{words}, commands...), "|"))
	}
	all := slices.Concat(slices.Collect(maps.Values(blocks)), slices.Collect(maps.Values(issues)), slices.Collect(maps.Values(merges)), slices.Collect(maps.Values(forks)))
	require.NotEmpty(t, all)
	for _, task := range all {
		words, commands := model.Need{Next: task.next}.Ways()
		assert.NotContains(t, words, "/mergexo")
		assert.NotEmpty(t, words+strings.Join(commands, ""))
		for _, c := range commands {
			assert.NotContains(t, c, ", or ")
		}
	}
}
