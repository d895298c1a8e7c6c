package turn_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/golden"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
	"github.com/mergexo/mergexo/internal/turn"
)

// failedMerge is a merge of the head that failed in its tests.
func failedMerge(change func(*model.Posted[model.MergeMarker])) model.Posted[model.MergeMarker] {
	m := model.Posted[model.MergeMarker]{
		Marker:    model.MergeMarker{State: model.MergeFailed, Reason: model.CodeTests, Head: head, Base: "main"},
		CommentID: 44, At: noon, UpdatedAt: noon, URL: "https://github.com/octo/widgets/pull/7#issuecomment-44", Text: "**Not merged: the tests before the merge failed** (`PRE_MERGE_FAILED`)",
	}
	change(&m)
	return m
}

func TestWhichFailedMergesAreFeedbackAndWhichAreTold(t *testing.T) {
	other, tip := strings.Repeat("d", 40), strings.Repeat("e", 40)
	type posted = model.Posted[model.MergeMarker]
	type row struct {
		change         func(*posted)
		later          []posted
		feedback, told bool
	}
	must.Each(t, map[string]row{
		"tests":              {func(*posted) {}, nil, true, true},
		"a conflict":         {func(m *posted) { m.Marker.Reason = model.CodeConflict }, nil, true, true},
		"a tip of that head": {func(m *posted) { m.Marker.Head, m.Marker.Tip, m.Marker.Was = other, tip, []string{head} }, nil, true, true},
		"another head":       {func(m *posted) { m.Marker.Head = other }, nil, false, false},
		"an approval":        {func(m *posted) { m.Marker.Reason = model.CodeApproval }, nil, false, true},
		"a group":            {func(m *posted) { m.Marker.Members = make([]model.MergeMember, 2) }, nil, false, true},
		"cancelled":          {func(m *posted) { m.Marker.Reason = model.CodeCancelled }, nil, false, false},
		"replaced":           {func(m *posted) { m.Marker.Reason = model.CodeReplaced }, nil, false, false},
		"in progress":        {func(m *posted) { m.Marker.State = model.MergeRunning }, nil, false, false},
		"asked for again":    {func(*posted) {}, []posted{failedMerge(func(m *posted) { m.CommentID, m.Marker.State = 45, model.MergeWaiting })}, false, true},
		"failed again":       {func(m *posted) { m.CommentID = 43 }, []posted{failedMerge(func(*posted) {})}, true, true},
	}, func(t *testing.T, c row) {
		s, st := snapshot(), model.State{Merges: append([]posted{failedMerge(c.change)}, c.later...)}
		s.Failures = turn.MergeFailures(st)
		got := turn.Candidates(s, st, turn.Policy{Merges: true})
		assert.Equal(t, c.feedback, len(got) == 1)
		assert.Equal(t, c.told, turn.Request(s, turn.Ask{State: st}).Failed != nil)
		assert.Empty(t, turn.Candidates(s, st, turn.Policy{}))
		if len(got) == 0 {
			return
		}
		assert.Equal(t, "7:merge:44:"+noon.Format(time.RFC3339), got[0].Key(7))
		assert.Equal(t, got, turn.Allowed(got, nil, turn.Policy{}), "nobody's right is asked about")
		assert.Empty(t, turn.UnknownRights(got, nil, model.Mark{}, turn.Policy{}))
		st.Answered = map[string]bool{got[0].Key(7): true}
		assert.Empty(t, turn.Candidates(s, st, turn.Policy{Merges: true}))
	})
}

func TestAFailedMergeAsPeopleReadOfIt(t *testing.T) {
	s := snapshot()
	failure := turn.MergeFailures(model.State{Merges: []model.Posted[model.MergeMarker]{failedMerge(func(*model.Posted[model.MergeMarker]) {})}})[0]
	m := model.TurnMarker{Start: head, Planned: head, Head: head, Attempt: 1, Events: []string{failure.Key(7)}}
	golden.Text(t, "claim_merge.md", turn.ClaimText(s.Pull, []model.Comment{failure, failed(ciRun(5))[0], said(1, "alice", "OWNER", "x")}, m))
	golden.Text(t, "receipt_merge.md", turn.ReceiptText(s.Pull, []turn.Answer{{Feedback: failure}}, model.Outbox{Comment: "It was the base."}, m))
	assert.Contains(t, turn.ReceiptText(s.Pull, nil, model.Outbox{}, m), "**Answered 1 failed merge**", "its comment was deleted")
}

func TestALongFailedMergeIsCutWithANotice(t *testing.T) {
	st := model.State{Merges: []model.Posted[model.MergeMarker]{failedMerge(func(m *model.Posted[model.MergeMarker]) { m.Text = strings.Repeat("x", 30_000) })}}
	c := said(1, "alice", "OWNER", "x")
	text := turn.Request(snapshot(c), turn.Ask{Feedback: []model.Comment{c}, State: st, Boundary: "BOUNDARY"}).Prompt
	assert.Contains(t, text, "# The last merge of this head failed\n\n<<<BOUNDARY\ncode: PRE_MERGE_FAILED\n\n"+strings.Repeat("x", 20_000)+"\nBOUNDARY>>>\n[cut: the first 20000 of 30000 characters are shown]\n")
}

// What the comment of a failed merge says is what package merge's golden files say.
func TestAnAgentReadsWhatHappenedAndNotWhatOnlyPeopleCanDo(t *testing.T) {
	files := must.Get(filepath.Glob("../merge/testdata/failure*.md"))(t)
	read := 0
	for _, file := range files {
		all := must.Get(os.ReadFile(file))(t)
		for _, text := range strings.Split(string(all), "\n\n---\n\n") {
			if !strings.HasPrefix(text, "**Not merged: ") || !strings.Contains(text, "Requested") {
				continue
			}
			st := model.State{Merges: []model.Posted[model.MergeMarker]{failedMerge(func(m *model.Posted[model.MergeMarker]) { m.Text = "`/mergexo merge` by olga\n\n" + text })}}
			told := turn.Request(snapshot(), turn.Ask{State: st}).Failed.Text
			assert.Contains(t, told, "**Not merged: ")
			assert.NotRegexp(t, "(?i)nor the branch was changed|repeat the command|again\\.|git push|strategy=|To restore", told)
			assert.Equal(t, strings.Contains(text, "<<<<<<< main"), strings.Contains(told, ">>>>>>> agent/greet"))
			assert.Equal(t, strings.Contains(text, "FAIL: TestGreet"), strings.Contains(told, "make: *** [test] Error 2"))
			read++
		}
	}
	assert.Greater(t, read, 50)
}
