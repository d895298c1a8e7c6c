package github

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/validator/rules"

	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
	"github.com/mergexo/mergexo/internal/sandbox"
)

// What is sent is valid GraphQL by GitHub's own schema.
func TestDocuments(t *testing.T) {
	schema := must.Get(gqlparser.LoadSchema(&ast.Source{Name: "sandbox.SDL", Input: sandbox.SDL()}))(t)
	all := Documents()
	all["enqueue"], all["dequeue"] = documents["enqueue"], documents["dequeue"]
	all["surveyissues alone"] = surveyIssuesDocument(nil, true)
	all["surveyissues without sub-issues"] = surveyIssuesDocument([]int{1}, false)
	all["roadmap without sub-issues"] = withFragments(queryText("roadmap", false))
	for name, document := range all {
		_, errs := gqlparser.LoadQueryWithRules(schema, document, rules.NewDefaultRules())
		assert.Empty(t, errs, "%s:\n%s", name, document)
	}
}

func TestSnapshot(t *testing.T) {
	w := newWorld(t)
	w.put("main", ".github/mergexo.toml", "[agent]\nadapter = \"suggestion\"\n")
	issue := w.as("ada", "POST", "issues", map[string]any{"title": "Wanted: a", "body": "Please", "labels": []string{"agent:bugfix"}})
	n := w.pull()
	w.as("octo", "PATCH", fmt.Sprintf("pulls/%d", n), map[string]any{"body": fmt.Sprintf("Fixes #%v", issue["number"])})
	w.as("octo", "POST", fmt.Sprintf("issues/%d/labels", n), map[string]any{"labels": []string{"agent:small-job"}})
	w.tick()
	w.as("actions", "POST", fmt.Sprintf("issues/%d/comments", n), map[string]any{"body": "ours"})
	at := w.tick()
	w.as("mallory", "POST", fmt.Sprintf("issues/%d/comments", n), map[string]any{"body": "a stranger"})
	reviewed := w.tick()
	w.as("ada", "POST", fmt.Sprintf("pulls/%d/reviews", n), map[string]any{"body": "Nearly", "event": "REQUEST_CHANGES",
		"comments": []any{map[string]any{"path": "a.txt", "line": 2, "body": "TWO"}}})

	c := w.client("actions")
	snap := w.snapshot(c, Query{Number: n, Author: "ada"})
	assert.Equal(t, "0 REST, 1 GraphQL", calls(c))

	assert.Equal(t, model.Actor{Login: "github-actions[bot]", ID: 41898282, Bot: true}, snap.Viewer)
	assert.Equal(t, "main", snap.DefaultBranch)
	assert.True(t, snap.IsPull())
	assert.Equal(t, map[string]model.Permission{"ada": model.PermissionWrite}, snap.Permissions)
	assert.True(t, snap.SettingsFound)
	assert.Equal(t, "[agent]\nadapter = \"suggestion\"\n", snap.Settings)
	assert.True(t, snap.CommentsComplete)
	assert.False(t, snap.ReadAt.IsZero())

	checkPull(t, snap.Pull, n)
	checkSaid(t, snap, at, reviewed)
}

func checkPull(t *testing.T, p model.Pull, n int) {
	t.Helper()
	assert.Equal(t, []any{n, "Add a", model.PullOpen, "octo", "main", "agent/7", true, false},
		[]any{p.Number, p.Title, p.State, p.Author.Login, p.BaseRef, p.HeadRef, p.HeadExists, p.CrossRepo})
	assert.Len(t, p.HeadSHA, 40)
	assert.Len(t, p.BaseSHA, 40)
	assert.Equal(t, []string{"agent:small-job"}, p.Labels)
	assert.Equal(t, []model.File{{Path: "a.txt", Change: "ADDED", Additions: 3}}, p.Files)
	assert.True(t, p.FilesComplete)
	require.NotNil(t, p.Issue)
	assert.Equal(t, []any{"Wanted: a", "ada", []string{"agent:bugfix"}}, []any{p.Issue.Title, p.Issue.Author.Login, p.Issue.Labels})
}

func checkSaid(t *testing.T, snap model.Snapshot, at, reviewed time.Time) {
	t.Helper()
	require.Equal(t, []string{"ours", "a stranger", "Nearly", "TWO"}, sortedBodies(snap.Comments))
	ours, stranger := snap.Comments[0], snap.Comments[1]
	assert.True(t, ours.Ours)
	assert.Equal(t, snap.Viewer, ours.Author)
	assert.Equal(t, model.KindIssue, ours.Kind)
	assert.False(t, stranger.Ours)
	assert.Equal(t, at, stranger.CreatedAt)
	assert.Equal(t, "mallory", stranger.Author.Login)
	for _, c := range snap.Comments[2:] {
		assert.Equal(t, reviewed, c.UpdatedAt)
		assert.Equal(t, "ada", c.Author.Login)
		assert.NotEmpty(t, c.URL)
		if c.Kind == model.KindReviewSummary {
			assert.Equal(t, "CHANGES_REQUESTED", c.ReviewState)
			continue
		}
		assert.Equal(t, model.KindReview, c.Kind)
		assert.Equal(t, []any{"a.txt", 2, "RIGHT", snap.Pull.HeadSHA}, []any{c.Path, c.Line, c.Side, c.CommitID})
		assert.NotZero(t, c.ReviewID)
		assert.Contains(t, c.DiffHunk, "+two")
	}
}

// sortedBodies leaves the order of what was said in the same second, in one review, aside.
func sortedBodies(comments []model.Comment) []string {
	out := bodies(comments)
	if len(out) == 4 && out[2] == "TWO" {
		out[2], out[3] = out[3], out[2]
	}
	return out
}

func TestThreads(t *testing.T) {
	w, n := newPull(t)
	first := w.as("ada", "POST", fmt.Sprintf("pulls/%d/comments", n), map[string]any{"path": "a.txt", "line": 1, "side": "RIGHT",
		"body": "why", "commit_id": w.as("ada", "GET", fmt.Sprintf("pulls/%d", n), nil)["head"].(map[string]any)["sha"]})
	w.tick()
	c := w.client("actions")
	made := must.Get(c.Comments.Reply(t.Context(), widgets, n, id(first), "because"))(t)
	assert.Equal(t, id(first), made.InReplyTo)
	assert.Equal(t, "github-actions[bot]", made.Author.Login)

	snap := w.snapshot(c, Query{Number: n})
	require.Equal(t, []string{"why", "because"}, bodies(snap.Comments), "a review without a text of its own says nothing")
	assert.Equal(t, id(first), snap.Comments[1].InReplyTo)
	assert.Equal(t, made.ID, snap.Comments[1].ID)
	assert.True(t, snap.Comments[1].Ours)
	assert.Equal(t, id(first), snap.Comments[0].Thread())
	assert.Equal(t, "RIGHT", snap.Comments[1].Side)
	assert.True(t, snap.ReviewsComplete)
	assert.False(t, snap.Comments[0].Resolved)
	w.control("threads", map[string]any{"comments": []int64{id(first)}, "by": "ada"})
	snap = w.snapshot(c, Query{Number: n})
	assert.Equal(t, []any{true, "ada"}, []any{snap.Comments[1].Resolved, snap.Comments[1].ResolvedBy}, "the whole thread is")
	other := w.as("ada", "POST", fmt.Sprintf("pulls/%d/comments", n), map[string]any{"path": "a.txt", "line": 1, "side": "RIGHT", "body": "and why", "commit_id": snap.Pull.HeadSHA})
	at := func() model.Comment {
		for _, said := range w.snapshot(c, Query{Number: n}).Comments {
			if said.ID == id(other) {
				return said
			}
		}
		return model.Comment{}
	}
	require.NoError(t, c.Pulls.ResolveThread(t.Context(), widgets, at().ThreadNode))
	require.NoError(t, c.Pulls.ResolveThread(t.Context(), widgets, at().ThreadNode), "twice is the same as once")
	assert.Equal(t, []any{true, ""}, []any{at().Resolved, at().ResolvedBy}, "by a bot")
	assert.Equal(t, NotFound, KindOf(c.Pulls.ResolveThread(t.Context(), widgets, "PRRT_gone")))
	fails(c.Comments.Reply(t.Context(), widgets, n, 999999, "where"))(t, NotFound)
}

func TestBothEndsOfACommentHaveASide(t *testing.T) {
	w := newWorld(t)
	w.put("main", "b.txt", "old1\nold2\nold3\n")
	n := w.pull()
	w.change("b.txt", "new1\nold1\nnew2\nold3\n")
	remark := func(more map[string]any) int64 {
		in := map[string]any{"path": "b.txt", "body": "why", "commit_id": w.as("ada", "GET", fmt.Sprintf("pulls/%d", n), nil)["head"].(map[string]any)["sha"]}
		maps.Copy(in, more)
		w.tick()
		return id(w.as("ada", "POST", fmt.Sprintf("pulls/%d/comments", n), in))
	}
	places := map[int64]model.Lines{
		remark(map[string]any{"start_line": 2, "start_side": "LEFT", "line": 3, "side": "RIGHT"}): {
			Line: 3, Side: "RIGHT", StartLine: 2, StartSide: "LEFT", OriginalLine: 3, OriginalStartLine: 2,
		},
		remark(map[string]any{"start_line": 1, "line": 3}):        {Line: 3, Side: "RIGHT", StartLine: 1, StartSide: "RIGHT", OriginalLine: 3, OriginalStartLine: 1},
		remark(map[string]any{"line": 2, "side": "LEFT"}):         {Line: 2, Side: "LEFT", OriginalLine: 2},
		remark(map[string]any{"subject_type": "file", "line": 1}): {Side: "RIGHT"},
	}
	where := func(s model.Snapshot) map[int64]model.Lines {
		got := map[int64]model.Lines{}
		for _, c := range s.Comments {
			if places[c.ID] != (model.Lines{}) {
				got[c.ID] = c.Lines
			}
		}
		return got
	}
	assert.Equal(t, places, where(w.snapshot(w.client("actions"), Query{Number: n})))

	var many []any
	for range 101 {
		many = append(many, map[string]any{"path": "b.txt", "line": 1, "body": "and this"})
	}
	w.as("ada", "POST", fmt.Sprintf("pulls/%d/reviews", n), map[string]any{"event": "COMMENT", "comments": many})
	c := w.client("actions")
	assert.Equal(t, places, where(w.snapshot(c, Query{Number: n, Settled: func(model.Snapshot, []model.Comment) (model.Mark, bool) { return model.Mark{}, true }})), "newer threads come first")
	assert.Equal(t, "0 REST, 2 GraphQL", calls(c))
	mark := model.Mark{At: w.tick()}
	c = w.client("actions")
	w.snapshot(c, Query{Number: n, Settled: func(model.Snapshot, []model.Comment) (model.Mark, bool) { return mark, true }})
	assert.Equal(t, "0 REST, 1 GraphQL", calls(c), "what is settled is not asked about")

	w.control("lag", map[string]any{"heads": 0, "merges": 0})
	w.change("b.txt", "all\nelse\n")
	for id, now := range where(w.snapshot(w.client("actions"), Query{Number: n})) {
		if places[id].StartLine != 0 {
			assert.Zero(t, now.Line)
			assert.Equal(t, places[id], model.Lines{Line: now.OriginalLine, Side: now.Side, StartLine: now.OriginalStartLine, StartSide: now.StartSide, OriginalLine: now.OriginalLine, OriginalStartLine: now.OriginalStartLine})
		}
	}
}

// change writes a file again on the branch of the pull request.
func (w *world) change(path, text string) {
	w.t.Helper()
	sha := w.as("octo", "GET", "contents/"+path+"?ref=agent/7", nil)["sha"]
	w.as("octo", "PUT", "contents/"+path, map[string]any{"branch": "agent/7", "message": "change " + path, "content": []byte(text), "sha": sha})
}

func TestEdits(t *testing.T) {
	w, n := newPull(t)
	said := w.as("actions", "POST", fmt.Sprintf("issues/%d/comments", n), map[string]any{"body": "ours"})
	c := w.client("actions")
	made := must.Get(c.Comments.Create(t.Context(), widgets, n, "second"))(t)
	assert.Equal(t, []any{"second", "github-actions[bot]", true, model.KindIssue}, []any{made.Body, made.Author.Login, made.Author.Bot, made.Kind})

	edited := w.tick()
	require.NoError(t, c.Comments.Edit(t.Context(), widgets, made.ID, "second, edited"))
	w.as("octo", "PATCH", fmt.Sprintf("issues/comments/%d", id(said)), map[string]any{"body": "ours, spoilt"})
	snap := w.snapshot(c, Query{Number: n})
	require.Equal(t, []string{"ours, spoilt", "second, edited"}, bodies(snap.Comments))
	spoilt, own := snap.Comments[0], snap.Comments[1]
	assert.Equal(t, []any{true, true, "octo"}, []any{spoilt.Ours, spoilt.EditedByOther, spoilt.Editor})
	assert.Equal(t, []any{true, false, "github-actions[bot]"}, []any{own.Ours, own.EditedByOther, own.Editor})
	assert.Equal(t, edited, own.UpdatedAt)

	require.NoError(t, c.Comments.Delete(t.Context(), widgets, made.ID))
	require.NoError(t, c.Comments.Delete(t.Context(), widgets, made.ID), "what is gone is deleted")
	failure(t, c.Comments.Edit(t.Context(), widgets, made.ID, "x"), NotFound)
	assert.Len(t, w.snapshot(c, Query{Number: n}).Comments, 1)
}

// However long the conversation is, only what is not settled is read.
func TestPaging(t *testing.T) {
	w, n := newPull(t)
	var times []time.Time
	var first map[string]any
	for i := range 250 {
		times = append(times, w.tick())
		made := w.as("ada", "POST", fmt.Sprintf("issues/%d/comments", n), map[string]any{"body": fmt.Sprint(i)})
		if i == 0 {
			first = made
		}
	}
	type row struct {
		settled  func(model.Snapshot, []model.Comment) (model.Mark, bool)
		requests int
		read     int
		complete bool
	}
	must.Each(t, map[string]row{
		"nothing is settled":   {nil, 3, 250, true},
		"no receipt is found":  {func(model.Snapshot, []model.Comment) (model.Mark, bool) { return model.Mark{At: time.Time{}}, false }, 3, 250, true},
		"all but the last ten": {func(model.Snapshot, []model.Comment) (model.Mark, bool) { return model.Mark{At: times[240]}, true }, 1, 100, false},
		"a page exactly":       {func(model.Snapshot, []model.Comment) (model.Mark, bool) { return model.Mark{At: times[151]}, true }, 1, 100, false},
		"one more":             {func(model.Snapshot, []model.Comment) (model.Mark, bool) { return model.Mark{At: times[149]}, true }, 2, 200, false},
		"known on the second page": {func(_ model.Snapshot, read []model.Comment) (model.Mark, bool) {
			return model.Mark{At: times[240]}, len(read) > 100
		}, 2, 200, false},
	}, func(t *testing.T, q row) {
		c := w.client("actions")
		snap := w.snapshot(c, Query{Number: n, Settled: q.settled})
		assert.Equal(t, fmt.Sprintf("0 REST, %d GraphQL", q.requests), calls(c))
		assert.Equal(t, q.read, len(snap.Comments))
		assert.Equal(t, q.complete, snap.CommentsComplete)
		assert.Equal(t, "249", snap.Comments[len(snap.Comments)-1].Body)
		assert.Equal(t, fmt.Sprint(250-q.read), snap.Comments[0].Body)
	})
	t.Run("an edit of an old comment is news", func(t *testing.T) {
		w.tick()
		w.as("ada", "PATCH", fmt.Sprintf("issues/comments/%d", id(first)), map[string]any{"body": "0, edited"})
		c := w.client("actions")
		snap := w.snapshot(c, Query{Number: n, Settled: func(model.Snapshot, []model.Comment) (model.Mark, bool) { return model.Mark{At: times[240]}, true }})
		assert.Equal(t, "0, edited", snap.Comments[0].Body)
		assert.Equal(t, "0 REST, 1 GraphQL", calls(c))
	})
}

// The comment that a trigger carries is read in the same request, however old it is, and counts once.
func TestNode(t *testing.T) {
	w, n := newPull(t)
	sha := w.as("ada", "GET", fmt.Sprintf("pulls/%d", n), nil)["head"].(map[string]any)["sha"]
	old := w.as("ada", "POST", fmt.Sprintf("pulls/%d/comments", n), map[string]any{"path": "a.txt", "line": 1, "body": "old line comment", "commit_id": sha})
	review := w.as("ada", "POST", fmt.Sprintf("pulls/%d/reviews", n), map[string]any{"body": "old review", "event": "COMMENT"})
	conversation := w.as("ada", "POST", fmt.Sprintf("issues/%d/comments", n), map[string]any{"body": "old comment"})
	elsewhere := w.as("ada", "POST", "issues", map[string]any{"title": "Another"})
	foreign := w.as("ada", "POST", fmt.Sprintf("issues/%v/comments", elsewhere["number"]), map[string]any{"body": "not here"})
	for i := range 110 {
		w.tick()
		w.as("ada", "POST", fmt.Sprintf("issues/%d/comments", n), map[string]any{"body": fmt.Sprint(i)})
	}
	for range 51 {
		w.tick()
		w.as("octo", "POST", fmt.Sprintf("pulls/%d/reviews", n), map[string]any{"body": "later", "event": "COMMENT"})
	}
	settled := func(model.Snapshot, []model.Comment) (model.Mark, bool) { return model.Mark{At: w.now}, true }
	for body, id := range map[string]string{"old line comment": node(old), "old review": node(review), "old comment": node(conversation)} {
		t.Run(body, func(t *testing.T) {
			c := w.client("actions")
			without := w.snapshot(c, Query{Number: n, Settled: settled})
			assert.False(t, slices.Contains(bodies(without.Comments), body))
			with := w.snapshot(c, Query{Number: n, Settled: settled, Node: id})
			require.Equal(t, len(without.Comments)+1, len(with.Comments))
			assert.Equal(t, body, with.Comments[0].Body)
			assert.Equal(t, "0 REST, 2 GraphQL", calls(c))
			full := w.snapshot(c, Query{Number: n, Node: id})
			assert.Equal(t, 164, len(full.Comments), "each once")
			assert.True(t, full.CommentsComplete)
			assert.True(t, slices.Contains(full.Comments, with.Comments[0]), "and the same, whichever way it was read")
		})
	}
	c := w.client("actions")
	for _, id := range []string{node(foreign), "IC_kwDO_gone", "nonsense"} {
		assert.False(t, slices.Contains(bodies(w.snapshot(c, Query{Number: n, Settled: settled, Node: id}).Comments), "not here"))
	}
}

func TestRights(t *testing.T) {
	w, n := newPull(t)
	c := w.client("actions")
	got := must.Get(c.Repositories.Permissions(t.Context(), widgets, []string{"Ada", "grace", "tri", "mallory", "octo", "nobody-at-all", "renovate[bot]", "a b", "ada"}))(t)
	assert.Equal(t, map[string]model.Permission{"ada": model.PermissionWrite, "grace": model.PermissionMaintain, "tri": model.PermissionTriage,
		"mallory": model.PermissionNone, "octo": model.PermissionAdmin, "nobody-at-all": model.PermissionNone,
		"renovate[bot]": model.PermissionNone, "a b": model.PermissionNone}, got)
	assert.Equal(t, "0 REST, 1 GraphQL", calls(c))

	snap := w.snapshot(c, Query{Number: n, Author: "renovate[bot]"})
	assert.Empty(t, snap.Permissions, "a bot's right is not asked for")
	snap = w.snapshot(c, Query{Number: n, Author: "mallory"})
	assert.Equal(t, map[string]model.Permission{"mallory": model.PermissionNone}, snap.Permissions)

	assert.Empty(t, must.Get(w.client("actions").Repositories.Permissions(t.Context(), widgets, nil))(t))
}

func TestWhatIsNotThere(t *testing.T) {
	w := newWorld(t)
	c := w.client("actions")
	stranger := must.Get(New(Options{APIURL: w.urls.API, Token: "nobody's"}))(t)
	fails(stranger.Threads.Snapshot(t.Context(), Query{Repo: widgets, Number: 1}))(t, Unauthorized)
	failure(t, stranger.Comments.Delete(t.Context(), widgets, 1), Unauthorized)

	issue := w.as("ada", "POST", "issues", map[string]any{"title": "An issue"})
	snap := w.snapshot(c, Query{Number: int(issue["number"].(float64))})
	assert.False(t, snap.IsPull())
	assert.Equal(t, []any{"main", "github-actions[bot]"}, []any{snap.DefaultBranch, snap.Viewer.Login})
}

func TestCompareAndRuns(t *testing.T) {
	w, n := newPull(t)
	c := w.client("actions")
	p := w.snapshot(c, Query{Number: n}).Pull
	w.put("main", "b.txt", "b\n")
	moved := w.snapshot(c, Query{Number: n}).Pull.BaseSHA
	for _, want := range []struct {
		base, head string
		relation   model.Relation
	}{
		{p.BaseSHA, p.BaseSHA, model.Identical},
		{p.BaseSHA, p.HeadSHA, model.Ahead},
		{p.HeadSHA, p.BaseSHA, model.Behind},
		{moved, p.HeadSHA, model.Diverged},
		{p.BaseSHA, "00000000000000000000000000000000deadbeef", model.Unknown},
	} {
		assert.Equal(t, want.relation, must.Get(c.Commits.Compare(t.Context(), widgets, want.base, want.head))(t))
	}

	w.control("runs/17", map[string]any{"status": "in_progress"})
	w.control("runs/18", map[string]any{"status": "completed", "conclusion": "cancelled", "attempt": 2})
	for run, want := range map[int64]model.RunState{17: {Known: true, Attempt: 1}, 18: {Known: true, Completed: true, Attempt: 2}, 19: {}} {
		got := must.Get(c.Actions.Run(t.Context(), widgets, run))(t)
		assert.Equal(t, want.Known, !got.Began.IsZero())
		got.Began = time.Time{}
		assert.Equal(t, want, got)
	}
}

// A write that took effect although its answer was lost is Unclear, and is there when one looks.
func TestALostAnswer(t *testing.T) {
	w, n := newPull(t)
	for i, fault := range []map[string]any{{"after": true, "status": 502}, {"after": true, "drop": true}} {
		fault["match"] = map[string]any{"method": "POST", "path": "/api/v3/"}
		fault["times"] = 1
		w.control("faults", fault)
		c := w.client("actions")
		fails(c.Comments.Create(t.Context(), widgets, n, "once"))(t, Unclear)
		assert.Equal(t, "1 REST, 0 GraphQL", calls(c))
		assert.Len(t, w.snapshot(c, Query{Number: n}).Comments, i+1)
	}
}

// A review of more comments than a page holds, and reviews beyond the newest fifty, are read to the end.
func TestLongReviews(t *testing.T) {
	w, n := newPull(t)
	var many []any
	for i := range 230 {
		many = append(many, map[string]any{"path": "a.txt", "line": 1 + i%3, "body": fmt.Sprint("line ", i)})
	}
	at := w.tick()
	w.as("ada", "POST", fmt.Sprintf("pulls/%d/reviews", n), map[string]any{"event": "COMMENT", "comments": many})
	for range 60 {
		w.tick()
		w.as("octo", "POST", fmt.Sprintf("pulls/%d/reviews", n), map[string]any{"body": "later", "event": "COMMENT"})
	}
	c := w.client("actions")
	snap := w.snapshot(c, Query{Number: n})
	assert.Equal(t, 290, len(snap.Comments))
	assert.True(t, snap.CommentsComplete)
	assert.Equal(t, "0 REST, 4 GraphQL", calls(c))

	c = w.client("actions")
	snap = w.snapshot(c, Query{Number: n, Settled: func(model.Snapshot, []model.Comment) (model.Mark, bool) {
		return model.Mark{At: at.Add(time.Second)}, true
	}})
	assert.Equal(t, 160, len(snap.Comments), "the long review was met on the second page and is settled")
	assert.False(t, snap.CommentsComplete)
	assert.Equal(t, "0 REST, 2 GraphQL", calls(c))
}
