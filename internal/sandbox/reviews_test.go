package sandbox

import (
	"fmt"
	"strings"
	"testing"
	"time"

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

func TestReplies(t *testing.T) {
	w, _, pull := reviewTown(t)
	first := w.remark("rita", pull, obj{"path": "verse.txt", "line": 6}).want(201).obj()
	replies := fmt.Sprintf("%s/comments/%d/replies", pull, id(first))
	before := w.deliveries()
	reply := w.as("actions", "POST", replies, obj{"body": "because"}).want(201).obj()
	require.EqualValues(t, first["id"], reply["in_reply_to_id"])
	require.Equal(t, first["diff_hunk"], reply["diff_hunk"])
	require.NotEqual(t, first["pull_request_review_id"], reply["pull_request_review_id"])
	require.Equal(t, []string{"pull_request_review.submitted", "pull_request_review_comment.created"}, w.delivered(before))
	w.as("actions", "POST", fmt.Sprintf("%s/comments/%d/replies", pull, id(reply)), obj{"body": "x"}).want(422)
	w.as("actions", "POST", pull+"/comments/7/replies", obj{"body": "x"}).want(404)
	w.as("actions", "POST", replies, obj{"body": ""}).want(422)
	other := w.as("rita", "POST", pull+"/comments", obj{"body": "ok", "in_reply_to": id(reply)}).want(201).obj()
	require.EqualValues(t, first["id"], other["in_reply_to_id"])
	require.Len(t, w.as("", "GET", pull+"/comments", nil).list(), 3)
	require.Len(t, w.as("", "GET", pull+"/comments?sort=created&direction=desc", nil).list(), 3)
	require.Len(t, w.as("", "GET", repoPath+"/pulls/comments", nil).list(), 3)

	w.as("rita", "DELETE", fmt.Sprintf("%s/pulls/comments/%d", repoPath, id(first)), nil).want(204)
	require.Len(t, w.as("", "GET", pull+"/comments", nil).list(), 2)
	w.as("actions", "POST", replies, obj{"body": "x"}).want(404)
}

func TestReviews(t *testing.T) {
	w, _, pull := reviewTown(t)
	w.as("octo", "POST", pull+"/reviews", obj{"event": "APPROVE"}).want(422)
	w.as("rita", "POST", pull+"/reviews", obj{"event": "COMMENT"}).want(422)
	w.as("rita", "POST", pull+"/reviews", obj{"event": "SHOUT", "body": "x"}).want(422)
	bad := w.as("rita", "POST", pull+"/reviews", obj{"event": "COMMENT", "comments": []obj{{"path": "verse.txt", "line": 12, "body": "x"}}}).want(422)
	require.Contains(t, string(bad.body), "Pull request review thread line must be part of the diff")
	require.Empty(t, w.as("", "GET", pull+"/reviews", nil).list(), "a refused review leaves nothing")

	v := w.as("rita", "POST", pull+"/reviews", obj{"event": "REQUEST_CHANGES", "body": "no", "comments": []obj{
		{"path": "verse.txt", "line": 6, "body": "a"}, {"path": "new.txt", "line": 1, "body": "b"},
	}}).want(200).obj()
	require.Equal(t, "CHANGES_REQUESTED", v["state"])
	at := fmt.Sprintf("%s/reviews/%d", pull, id(v))
	require.Len(t, w.as("", "GET", at+"/comments", nil).want(200).list(), 2)
	w.as("stranger", "PUT", at, obj{"body": "mine"}).want(403)
	require.Equal(t, "no!", w.as("rita", "PUT", at, obj{"body": "no!"}).want(200).obj()["body"])
	require.Equal(t, "DISMISSED", w.as("octo", "PUT", at+"/dismissals", obj{"message": "done"}).want(200).obj()["state"])
	w.as("octo", "DELETE", at, nil).want(422)

	draft := w.as("rita", "POST", pull+"/reviews", obj{"body": "later", "comments": []obj{{"path": "verse.txt", "line": 6, "body": "c"}}}).want(200).obj()
	require.Equal(t, "PENDING", draft["state"])
	at = fmt.Sprintf("%s/reviews/%d", pull, id(draft))
	w.as("octo", "GET", at, nil).want(404)
	require.Len(t, w.as("octo", "GET", pull+"/reviews", nil).list(), 1)
	require.Len(t, w.as("octo", "GET", pull+"/comments", nil).list(), 2)
	w.as("rita", "POST", pull+"/reviews", obj{"body": "second"}).want(422)
	now := time.Now().Add(time.Hour)
	w.s.SetClock(now)
	later := pull + "/comments?sort=updated&direction=desc&since=" + stamp(now)
	require.Empty(t, w.as("octo", "GET", later, nil).list())
	require.Equal(t, "COMMENTED", w.as("rita", "POST", at+"/events", obj{"event": "COMMENT"}).want(200).obj()["state"])
	require.Len(t, w.as("octo", "GET", pull+"/comments", nil).list(), 3)
	require.Len(t, w.as("octo", "GET", later, nil).list(), 1, "it is updated when it is first to be seen")
	require.Equal(t, "APPROVED", w.as("rita", "POST", pull+"/reviews", obj{"event": "APPROVE"}).want(200).obj()["state"])
}

func TestFilesOfAPullRequest(t *testing.T) {
	w, c := townWithClone(t)
	c.commit("old name.txt", verse)
	c.push("gone.txt", "x\n")
	c.git("checkout", "-q", "-b", "x")
	c.git("mv", "old name.txt", "new name.txt")
	c.git("rm", "-q", "gone.txt")
	c.commit("bin.dat", "a\x00b")
	c.push("sub/ü.txt", "no newline")
	files := map[string]obj{}
	for _, f := range w.as("", "GET", pullPath(w.pull("octo", "x"))+"/files", nil).want(200).list() {
		files[f["filename"].(string)] = f
	}
	require.Len(t, files, 4)
	require.Equal(t, "renamed", files["new name.txt"]["status"])
	require.Equal(t, "old name.txt", files["new name.txt"]["previous_filename"])
	require.Equal(t, "removed", files["gone.txt"]["status"])
	require.EqualValues(t, 1, files["gone.txt"]["deletions"])
	require.NotContains(t, files["bin.dat"], "patch")
	require.Equal(t, "@@ -0,0 +1 @@\n+no newline\n\\ No newline at end of file", files["sub/ü.txt"]["patch"])
}
