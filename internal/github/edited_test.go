package github

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
)

// longAgo is a pull request with a comment of ada's, a draft of tri's, a review of more comments than a page holds, and more reviews
// than are read; and the time of the last of them.
func longAgo(w *world) (number int, first, draft, last map[string]any, at time.Time) {
	w.t.Helper()
	number = w.pull()
	review := func(login string, in map[string]any) map[string]any {
		w.tick()
		return w.as(login, "POST", fmt.Sprintf("pulls/%d/reviews", number), in)
	}
	line := func(body string) map[string]any { return map[string]any{"path": "a.txt", "line": 1, "body": body} }
	w.tick()
	head := w.tip("agent/7")
	one := line("first")
	one["commit_id"] = head
	first = w.as("ada", "POST", fmt.Sprintf("pulls/%d/comments", number), one)
	draft = review("tri", map[string]any{"comments": []any{line("drafted")}})
	for i := range 60 {
		review("octo", map[string]any{"event": "COMMENT", "body": fmt.Sprint("chatter ", i)})
	}
	var many []any
	for i := range 120 {
		many = append(many, line(fmt.Sprint("many ", i)))
	}
	many[119].(map[string]any)["body"] = "the last of many"
	return number, first, draft, review("octo", map[string]any{"event": "COMMENT", "comments": many}), w.tick()
}

func TestOldReviewCommentsThatChangedAreRead(t *testing.T) {
	w := newWorld(t)
	n, first, draft, long, at := longAgo(w)
	mark := model.Mark{At: at.Add(5 * time.Minute)}
	for range 5 {
		w.tick()
	}
	settled := func(model.Snapshot, []model.Comment) (model.Mark, bool) { return mark, true }
	beside := func(known model.Snapshot, edited bool) ([]string, string, model.Snapshot) {
		c := w.client("actions")
		snap := w.snapshot(c, Query{Number: n, Settled: settled, Edited: edited})
		var more []string
		for _, said := range snap.Comments {
			if old, _ := saidIn(known, said); old.Body != said.Body {
				more = append(more, said.Body)
			}
		}
		return more, calls(c), snap
	}
	_, called, known := beside(model.Snapshot{}, false)
	assert.Equal(t, "0 REST, 1 GraphQL", called)
	more, called, _ := beside(known, true)
	assert.Empty(t, more)
	assert.Equal(t, "1 REST, 1 GraphQL", called, "nothing changed")

	w.tick()
	w.as("ada", "PATCH", fmt.Sprintf("pulls/comments/%d", id(first)), map[string]any{"body": "first, edited by tri"})
	w.as("tri", "POST", fmt.Sprintf("pulls/%d/reviews/%d/events", n, id(draft)), map[string]any{"event": "COMMENT", "body": "submitted"})
	c := w.client("octo")
	all := w.snapshot(c, Query{Number: n})
	at120 := all.Comments[len(all.Comments)-1]
	require.Equal(t, []any{"the last of many", id(long)}, []any{at120.Body, at120.ReviewID})
	w.as("octo", "PATCH", fmt.Sprintf("pulls/comments/%d", at120.ID), map[string]any{"body": "the last, edited"})

	more, called, snap := beside(known, true)
	assert.ElementsMatch(t, []string{"first, edited by tri", "drafted", "submitted", "the last, edited"}, more)
	assert.Equal(t, "1 REST, 2 GraphQL", called)
	assert.False(t, snap.CommentsComplete)
	now := w.snapshot(w.client("actions"), Query{Number: n})
	for _, said := range snap.Comments {
		whole, found := saidIn(now, said)
		said.Resolved, said.ThreadNode, said.ResolvedBy = whole.Resolved, whole.ThreadNode, whole.ResolvedBy // its thread was not read
		assert.True(t, found)
		assert.Equal(t, whole, said)
	}

	mark.At = w.tick()
	mark.At = mark.At.Add(2 * time.Minute)
	for range 3 {
		w.tick()
	}
	more, called, _ = beside(known, true)
	assert.Empty(t, more, "all of it is settled")
	assert.Equal(t, "1 REST, 1 GraphQL", called)
}

func saidIn(s model.Snapshot, c model.Comment) (model.Comment, bool) {
	for _, one := range s.Comments {
		if one.Kind == c.Kind && one.ID == c.ID {
			return one, true
		}
	}
	return model.Comment{}, false
}

// One call tells of all pull requests of a survey, and one more for each where something changed.
func TestASurveySeesWhatChangedLately(t *testing.T) {
	w := newWorld(t)
	w.pulls(3)
	for range 12 {
		w.tick()
		for _, n := range []int{101, 102} {
			w.as("ada", "POST", fmt.Sprintf("pulls/%d/reviews", n), map[string]any{"event": "COMMENT", "body": "chatter"})
		}
	}
	survey := func(mark time.Time) (heard []string, called string) {
		c := w.client("actions")
		for _, s := range w.survey(c, SurveyQuery{Settled: func(model.Snapshot, []model.Comment) (model.Mark, bool) { return model.Mark{At: mark}, true }}) {
			for _, said := range s.Comments {
				if said.Body != "chatter" {
					heard = append(heard, fmt.Sprint(s.Number, " ", said.Body))
				}
			}
		}
		return heard, calls(c)
	}
	head := w.tip("agent/101")
	said := w.as("ada", "POST", "pulls/101/comments", map[string]any{"path": "changes/101.txt", "line": 1, "body": "line", "commit_id": head})
	for range 12 {
		w.tick()
		w.as("ada", "POST", "pulls/101/reviews", map[string]any{"event": "COMMENT", "body": "chatter"})
	}
	settled := w.tick()
	heard, called := survey(settled)
	assert.Empty(t, heard)
	assert.Equal(t, "1 REST, 1 GraphQL", called)
	heard, called = survey(settled.Add(time.Hour))
	assert.Empty(t, heard)
	assert.Equal(t, "0 REST, 1 GraphQL", called, "nobody asks what changed after a time that is not yet")

	w.tick()
	w.as("ada", "PATCH", fmt.Sprintf("pulls/comments/%d", id(said)), map[string]any{"body": "edited"})
	heard, called = survey(settled)
	assert.Equal(t, []string{"101 edited"}, heard)
	assert.Equal(t, "1 REST, 2 GraphQL", called)
}
