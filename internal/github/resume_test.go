package github

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
)

// A survey that was ended goes on behind the last page that was passed, and not behind one that was not.
func TestASurveyGoesOn(t *testing.T) {
	w := newWorld(t)
	numbers := w.pulls(120)
	enough := errors.New("enough")
	var passed []string
	survey := func(after string, most int) ([]int, error) {
		var got []int
		passed = nil
		q := SurveyQuery{Repo: widgets, After: after, Passed: func(cursor string) { passed = append(passed, cursor) }}
		return got, w.client("actions").Threads.Survey(t.Context(), q, func(s model.Snapshot) error {
			if len(got) == most {
				return enough
			}
			got = append(got, s.Pull.Number)
			return nil
		})
	}
	_, err := survey("", 70)
	assert.Equal(t, enough, err)
	require.Len(t, passed, 1)
	first := passed[0]

	w.as("octo", "PATCH", "pulls/150", map[string]any{"state": "closed"}) // the one that the cursor stands at
	c := w.client("actions")
	all := w.survey(c, SurveyQuery{After: first})
	assert.Equal(t, "0 REST, 2 GraphQL", calls(c))
	assert.Equal(t, numbers[50:], numbersOf(all))

	_ = must.Get(survey(first, 1000))(t)
	require.Len(t, passed, 2)
	assert.Equal(t, "", passed[1], "a later survey begins anew")
	assert.Equal(t, numbers[100:], numbersOf(w.survey(c, SurveyQuery{After: passed[0]})))
}

// A cursor that GitHub does not take begins from the start, and the log says so once.
func TestASurveyFromACursorThatIsNone(t *testing.T) {
	w := newWorld(t)
	assert.Equal(t, w.pulls(60), numbersOf(w.survey(w.client("actions"), SurveyQuery{After: "nonsense"})))

	bad := `{"data": null, "errors": [{"type": "INVALID_CURSOR_ARGUMENTS", "path": ["repository", "pullRequests"], "message": "` + "`x`" + ` does not appear to be a valid cursor."}]}`
	l := dial(t, Options{}, reply{200, bad, nil}, reply{200, `{"data": {"repository": {"pullRequests": {"nodes": []}}}}`, nil})
	require.NoError(t, l.Threads.Survey(t.Context(), SurveyQuery{Repo: widgets, After: "x"}, nil))
	assert.Len(t, l.seen, 2)
	assert.Equal(t, 1, strings.Count(l.log.String(), "survey_from_the_start"))

	l = dial(t, Options{}, reply{200, bad, nil})
	failure(t, l.Threads.Survey(t.Context(), SurveyQuery{Repo: widgets, After: "x"}, nil), Invalid)
	assert.Len(t, l.seen, 2, "and no further")
}
