package sandbox

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const verse = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\neleven\ntwelve\n"

// reviewTown has a pull request that changes line 6 of a file that main has, and adds another.
func reviewTown(t *testing.T) (w *town, c *clone, pull string) {
	w = newTown(t)
	c = w.clone("octo")
	c.push("verse.txt", verse)
	c.git("checkout", "-q", "-b", "x")
	c.commit("verse.txt", strings.Replace(verse, "six\n", "SIX\n", 1))
	c.push("new.txt", "a\nb\n")
	return w, c, pullPath(w.pull("octo", "x"))
}

func (w *town) remark(login, pull string, in obj) *answer {
	if in["commit_id"] == nil {
		in["commit_id"] = w.as(login, "GET", pull, nil).obj()["head"].(obj)["sha"]
	}
	if in["body"] == nil {
		in["body"] = "why?"
	}
	return w.as(login, "POST", pull+"/comments", in)
}

func TestReviewCommentsStandInTheDiff(t *testing.T) {
	w, _, pull := reviewTown(t)
	c := w.remark("rita", pull, obj{"path": "verse.txt", "line": 6, "side": "RIGHT"}).want(201).obj()
	require.Equal(t, "@@ -3,7 +3,7 @@ two\n three\n four\n five\n-six\n+SIX", c["diff_hunk"])
	require.EqualValues(t, 5, c["position"])
	require.EqualValues(t, 6, c["line"])
	left := w.remark("rita", pull, obj{"path": "verse.txt", "line": 6, "side": "LEFT"}).want(201).obj()
	require.Equal(t, "@@ -3,7 +3,7 @@ two\n three\n four\n five\n-six", left["diff_hunk"])
	many := w.remark("rita", pull, obj{"path": "verse.txt", "start_line": 4, "line": 7}).want(201).obj()
	require.EqualValues(t, 4, many["start_line"])
	require.Equal(t, "RIGHT", many["start_side"])
	byPosition := w.remark("rita", pull, obj{"path": "verse.txt", "position": 4}).want(201).obj()
	require.Equal(t, "LEFT", byPosition["side"])
	require.EqualValues(t, 6, byPosition["line"])
	file := w.remark("rita", pull, obj{"path": "new.txt", "subject_type": "file"}).want(201).obj()
	require.Equal(t, "file", file["subject_type"])
	require.Nil(t, file["line"])

	for field, in := range map[string]obj{
		"pull_request_review_thread.line must be part of the diff": {"path": "verse.txt", "line": 12, "side": "RIGHT"},
		`"pull_request_review_thread.path"`:                        {"path": "nope.txt", "line": 1},
		"must precede the end line":                                {"path": "verse.txt", "line": 6, "start_line": 6},
		"commit_id is not part of the pull request":                {"path": "verse.txt", "line": 6, "commit_id": strings.Repeat("1", 40)},
		"\\\"path\\\" wasn't supplied":                             {"line": 6},
	} {
		require.Contains(t, string(w.remark("rita", pull, in).want(422).body), field)
	}
	gone := obj{"event": "COMMENT", "body": "No line, either.", "commit_id": strings.Repeat("1", 40)}
	require.Contains(t, string(w.as("rita", "POST", pull+"/reviews", gone).want(422).body), "Commit is not part of the pull request")
	require.Len(t, w.as("", "GET", pull+"/reviews", nil).list(), 5, "each single comment has a review of its own")
}

func TestACommentIsOutdatedWhenItsLineIsGone(t *testing.T) {
	w, c, pull := reviewTown(t)
	on := w.remark("rita", pull, obj{"path": "verse.txt", "line": 6}).want(201).obj()
	below := w.remark("rita", pull, obj{"path": "verse.txt", "line": 8}).want(201).obj()
	path := func(o obj) string { return fmt.Sprintf("%s/pulls/comments/%d", repoPath, id(o)) }

	moved := "zero\n" + strings.Replace(verse, "six\n", "SIX\n", 1)
	head := c.push("verse.txt", moved)
	o := w.as("", "GET", path(on), nil).obj()
	require.EqualValues(t, 7, o["line"], "a line above moves it down")
	require.EqualValues(t, 6, o["original_line"])
	require.Equal(t, head, o["commit_id"])
	require.EqualValues(t, 9, w.as("", "GET", path(below), nil).obj()["line"])

	c.push("verse.txt", strings.Replace(moved, "SIX\n", "Six\n", 1))
	o = w.as("", "GET", path(on), nil).obj()
	require.Nil(t, o["line"])
	require.Nil(t, o["position"])
	require.Equal(t, on["diff_hunk"], o["diff_hunk"])
	require.Equal(t, on["original_commit_id"], o["commit_id"])
	require.EqualValues(t, 9, w.as("", "GET", path(below), nil).obj()["line"])

	c.push("verse.txt", "zero\n"+verse)
	require.Nil(t, w.as("", "GET", path(below), nil).obj()["line"], "the line is there, the diff is not")
}
