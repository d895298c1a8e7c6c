package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
)

// within holds a command's review to its calls.
func (w *world) within(rep model.Report) {
	w.t.Helper()
	require.Equal(w.t, model.ResultDone, rep.Result, rep.Reason)
	assert.LessOrEqual(w.t, rep.Calls.REST+rep.Calls.GraphQL, 7)
}

// GitHub does not know which issue a design is for.
func TestAReviewOfADesignReadsItsIssueAlong(t *testing.T) {
	w := newWorld(t)
	w.open("alice", "Greet in French", "People in France read this.")
	w.head = fmt.Sprintf("agent/design/%d-greet-in-french", w.number)
	w.branch(w.head)
	w.write("octo", w.head, "docs/design/2-greet.md", "# Greeting\n")
	w.number = int(w.api("octo", "POST", w.path("/pulls"), object{"title": "Design", "body": "Refs #2", "head": w.head, "base": "main"})["number"].(float64))
	w.finds([]model.Finding{found("docs/design/2-greet.md", 1, model.Must, "Say what follows.")})
	w.within(w.orders("carol", "/mergexo review"))
	assert.Contains(t, w.asked(), "People in France read this.")
	assert.Contains(t, w.reviewed(), "**must:** Say what follows.")
}

func TestAReviewAsksAlongForTheRightsOfThoseWhoSettledFindings(t *testing.T) {
	w := newWorld(t, `allowed_users = ["carol"]`) // else what others say is feedback, too
	w.finds([]model.Finding{
		found("greeting.txt", 1, model.Must, "The greeting is too informal for people."), found("greeting.txt", 2, model.Must, "Nobody reads this second line at all."),
	})
	w.within(w.orders("carol", "/mergexo review"))
	for i, login := range []string{"alice", "eve"} {
		w.api(login, "POST", w.pull(fmt.Sprintf("/comments/%d/replies", w.lineComments()[i].id())), object{"body": "Won't do, we like it."})
	}
	w.write("alice", w.head, "more.txt", "more\n")
	w.finds(nil)
	w.within(w.orders("carol", "/mergexo review"))
	assert.Equal(t, 1, strings.Count(w.asked(), "Settled. "), "a stranger's word settles nothing")
}
