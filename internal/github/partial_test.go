package github

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
)

// queries sets when the sandbox gives up on queries.
func (w *world) queries(limits map[string]any) {
	w.t.Helper()
	w.control("queries", limits)
}

// A part of an answer that ran into a limit is not a part that is not there: it is an error, also where a missing part is
// tolerated, and no pull request goes lost over it.
func TestAPartialAnswerHidesNoPullRequest(t *testing.T) {
	w := newWorld(t)
	w.pulls(3)
	inSurvey := func(at int, field string) []any { return []any{"repository", "pullRequests", "nodes", at, field} }
	inSnapshot := func(field string) []any { return []any{"repository", "issueOrPullRequest", field} }
	for _, field := range []string{"labelChanges", "closingIssuesReferences", "statusCheckRollup", "headRepository", "comments"} {
		c := w.client("actions")
		w.queries(map[string]any{"answer": "partial", "path": inSurvey(1, field)})
		assert.Equal(t, []int{101, 102, 103}, numbersOf(w.survey(c, SurveyQuery{})), "none of a page of one is the second: %s", field)
		w.queries(map[string]any{"answer": "partial", "path": inSurvey(0, field)})
		err := c.Threads.Survey(t.Context(), SurveyQuery{Repo: widgets}, func(model.Snapshot) error { return nil })
		failure(t, err, TooHeavy)
		w.queries(map[string]any{"answer": "partial", "path": inSnapshot(field)})
		e := fails(c.Threads.Snapshot(t.Context(), Query{Repo: widgets, Number: 102}))(t, TooHeavy)
		assert.Equal(t, "read octo/widgets#102: Resource limits for this query exceeded, however little it is asked for at once", e.Error(), field)
	}
	w.queries(map[string]any{})
	assert.Equal(t, []int{101, 102, 103}, numbersOf(w.survey(w.client("actions"), SurveyQuery{})))
}

// A part that the token may not see is tolerated only where it is itself what is null. One that cannot be null takes the
// pull request with it.
func TestAPartThatIsRefusedTakesNothingElseWithIt(t *testing.T) {
	w := newWorld(t)
	w.pulls(3)
	for _, kind := range []string{"FORBIDDEN", "INSUFFICIENT_SCOPES"} {
		refuse := func(path ...any) {
			w.queries(map[string]any{"answer": "partial", "type": kind, "message": "Resource not accessible by integration", "path": path})
		}
		refuse("repository", "pullRequests", "nodes", 1, "closingIssuesReferences")
		assert.Equal(t, []int{101, 102, 103}, numbersOf(w.survey(w.client("actions"), SurveyQuery{})), "it may be missing")

		refuse("repository", "pullRequests", "nodes", 1, "labelChanges") // which GitHub's schema has as never null
		err := w.client("actions").Threads.Survey(t.Context(), SurveyQuery{Repo: widgets}, func(model.Snapshot) error { return nil })
		failure(t, err, Forbidden)
		refuse("repository", "issueOrPullRequest", "labelChanges")
		_, err = w.client("actions").Threads.Snapshot(t.Context(), Query{Repo: widgets, Number: 102})
		assert.NotContains(t, failure(t, err, Forbidden).Error(), "does not exist")
	}
}

// Only what the token may not see and what is not there may be missing; anything else is a failure of the query.
func TestErrorsThatAreNotTolerated(t *testing.T) {
	const path = `"path": ["repository", "issueOrPullRequest", "closingIssuesReferences"]`
	pull := strings.Replace(emptyPull, `"headRef": null`, `"headRef": null, "closingIssuesReferences": null`, 1)
	for err, kind := range map[string]Kind{
		`{"type": "RESOURCE_LIMITS_EXCEEDED", ` + path + `, "message": "Resource limits for this query exceeded."}`: TooHeavy,
		`{"type": "INTERNAL", ` + path + `, "message": "oops"}`:                                                     Unavailable,
		`{` + path + `, "message": "Timeout on validation of query"}`:                                               Unavailable,
	} {
		l := dial(t, Options{}, graphAnswer(pull, err))
		_, got := l.read(t, Query{})
		failure(t, got, kind)
	}
	for _, kind := range []string{"FORBIDDEN", "INSUFFICIENT_SCOPES", "NOT_FOUND"} {
		l := dial(t, Options{}, graphAnswer(pull, `{"type": "`+kind+`", `+path+`, "message": "no"}`))
		_, got := l.read(t, Query{})
		require.NoError(t, got, kind)
	}
	// The whole answer is null, with an error deep in a part that may be missing.
	l := dial(t, Options{}, reply{200, `{"data": null, "errors": [{"type": "FORBIDDEN", ` + path + `, "message": "no"}]}`, nil})
	_, got := l.read(t, Query{})
	failure(t, got, Forbidden)
	l = dial(t, Options{}, reply{200, `{"data": {"repository": null}, "errors": [{"type": "RESOURCE_LIMITS_EXCEEDED", ` + path + `, "message": "no"}]}`, nil})
	_, got = l.read(t, Query{})
	failure(t, got, TooHeavy)
}
