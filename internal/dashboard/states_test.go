package dashboard

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/needs"
)

var (
	mergeCodes = []model.MergeCode{
		"", model.CodeApproval, model.CodeStale, model.CodeChanges, model.CodeChecks, model.CodeChecksFailed, model.CodeDraft, model.CodeFrozen, model.CodeBlocked, model.CodeBusy,
		model.CodeTrain, model.CodeQueue, model.CodeConflict, model.CodeTests, model.CodeCancelled, model.CodeForbidden, "OF_LATER",
	}
	blockReasons = []string{"", model.ReasonRewrite, model.ReasonAgent, model.ReasonSecret, "of_later"}
	forkStates   = []model.ExternalState{"", model.ExternalLinked, model.ExternalLetIn, model.ExternalWanting, model.ExternalFailed, model.ExternalVoid}
)

// eachPull looks at pull requests in every state, with every request to merge, block and fork that it may have.
func eachPull(look func(name string, p model.BoardPull)) {
	for _, s := range append([]model.StatusState{"of_later"}, allStates()...) {
		for _, state := range []model.MergeState{"", model.MergeWaiting, model.MergeRunning, model.MergeDone, model.MergeFailed} {
			for _, code := range mergeCodes {
				for _, reason := range blockReasons {
					for _, external := range forkStates {
						p := pull(7, "Title", "agent/x", s, "a", "a")
						if state != "" {
							p.Merge = &model.MergeRequest{State: state, Reason: code, Head: p.Head, URL: p.URL + "#issuecomment-1"}
						}
						if reason != "" {
							p.Block = &model.Blocked{Number: 7, Reason: reason, URL: p.URL + "#issuecomment-2"}
						}
						if (p.State == model.StatusBlocked) != (p.Block != nil) && p.State != model.StatusReleased {
							continue
						}
						var fork *model.Posted[model.ExternalMarker]
						if external != "" {
							fork = &model.Posted[model.ExternalMarker]{Marker: model.ExternalMarker{State: external, Head: p.Head}, URL: p.URL + "#issuecomment-3"}
							p.External, p.ExternalURL = &fork.Marker, fork.URL
						}
						p.Need = needs.OfPull(p.Status, fork)
						look(fmt.Sprintln(s, state, code, reason, external), p)
					}
				}
			}
		}
	}
}

func allStates() []model.StatusState {
	var all []model.StatusState
	for _, s := range states {
		all = append(all, s.state)
	}
	return all
}

// agree says that the badge, the group and the list at the top tell the same of a row.
func agree(t *testing.T, name string, r *row) {
	t.Helper()
	waits := r.group == groupNeeds
	require.Equal(t, r.Need != nil, waits, "%s: the list at the top and the groups", name)
	badge := strings.HasPrefix(r.State.Word, "waits for a") || strings.HasPrefix(r.State.Word, "waits for the ") || r.State.Word == "blocked"
	require.Equal(t, waits, badge && r.State.Word != "waits for a turn", "%s: the badge says %s", name, r.State.Word)
	if waits {
		require.Contains(t, []string{"red", "amber"}, r.State.Class, name)
	}
}

// Whatever state a pull request is in: if the list at the top names it, its badge says for whom it waits, and only then.
func TestTheBadgeAgreesWithTheListAtTheTop(t *testing.T) {
	count := 0
	d := drawer{now: now}
	eachPull(func(name string, p model.BoardPull) {
		r := &row{Need: p.Need}
		r.stand(p)
		agree(t, name, r)
		count++
	})
	assert.Greater(t, count, 3000)
	for _, phase := range []model.Phase{"", model.PhaseStarted, model.PhasePlanned, model.PhaseDone, model.PhaseFailed, model.PhaseWaiting, "of_later"} {
		for _, waits := range []bool{true, false} {
			s := model.BoardIssue{Number: 7, Status: phase}
			if waits {
				m := model.Posted[model.IssueMarker]{}
				m.Marker.Waiting = model.ReasonTests
				s.Need = needs.OfIssue("Title", m)
			}
			agree(t, fmt.Sprint(phase, waits), d.issues([]model.BoardIssue{s})[0])
		}
	}
	fork := d.pulls(everything().Pulls)
	for _, r := range fork {
		if r.Number == 66 {
			assert.Equal(t, "waits for the contributor", r.State.Word)
		}
	}
}

// Each note that is about a comment links this comment.
func TestNotesLinkTheCommentThatTheyAreAbout(t *testing.T) {
	p := pull(7, "Title", "agent/x", model.StatusBlocked, "a", "a")
	p.URL = repoURL + "/pull/7"
	p.Block = &model.Blocked{Reason: model.ReasonSecret, URL: p.URL + "#issuecomment-1"}
	p.Failed, p.LastTurn = 2, &model.LastTurn{URL: p.URL + "#issuecomment-2"}
	p.Merge = &model.MergeRequest{State: model.MergeWaiting, URL: p.URL + "#issuecomment-3"}
	p.External, p.ExternalURL = &model.ExternalMarker{State: model.ExternalVoid}, p.URL+"#issuecomment-4"
	board := model.Board{Repo: model.Repo{Owner: "octo", Name: "widgets"}, URL: repoURL, At: now, Pulls: []model.BoardPull{p}}
	all, _ := elements(t, written(t, board))
	got := map[string]string{}
	for _, n := range all {
		if label := attribute(n, "aria-label"); strings.HasPrefix(label, "comment about ") {
			got[label] = attribute(n, "href")
		}
	}
	assert.Equal(t, map[string]string{
		"comment about the block": p.Block.URL, "comment about the last attempt": p.LastTurn.URL, "comment about the merge": p.Merge.URL, "comment about the fork": p.ExternalURL,
	}, got)
	for i := range 4 { // a link to another server is none, and the note stays
		board.Pulls[0].Block.URL, p.LastTurn.URL, p.Merge.URL, board.Pulls[0].ExternalURL = "https://evil.example/", "javascript:alert(1)", "//x", ""
		assert.Empty(t, drawer{now: now}.notes(board.Pulls[0])[i].URL)
	}
}

// A command stands on a line of its own, so that one click selects it and nothing else.
func TestEachCommandIsALineOfItsOwn(t *testing.T) {
	commands := 0
	for _, b := range []model.Board{everything(), {URL: repoURL, At: now}} {
		all, _ := elements(t, written(t, b))
		for _, n := range all {
			for c := range n.ChildNodes() {
				if !strings.Contains(c.Data, "/mergexo ") || c.FirstChild != nil || n.Data == "title" {
					continue
				}
				commands++
				assert.Equal(t, "bdi", n.Data, c.Data)
				assert.Equal(t, "command", attribute(n.Parent, "class"), c.Data)
				assert.True(t, strings.HasPrefix(c.Data, "/mergexo ") && !strings.Contains(c.Data, ", or "), c.Data)
			}
		}
	}
	assert.Equal(t, 5, commands, "unblock, twice for a rewrite, retry, adopt")
}

// The style hides what a filter does not show, so it knows every group.
func TestTheStyleKnowsEachFilter(t *testing.T) {
	for _, g := range groups {
		assert.Contains(t, style, fmt.Sprintf("body:has(#show-%s:checked) .group:not(.g-%[1]s, ", g.key))
		assert.Contains(t, style, fmt.Sprintf("body:has(#show-%s:checked) .list:not(:has(.g-%[1]s)) .none", g.key))
	}
	for _, b := range []model.Board{everything(), many(60)} {
		p := newPage(b)
		counts, sum := map[string]int{}, 0
		for _, f := range p.Filters {
			counts[f.Key] = f.Count
			if f.Key != "all" && f.Key != "checks" {
				sum += f.Count
			}
		}
		assert.Equal(t, len(b.Pulls)+len(b.Issues), counts["all"])
		assert.Equal(t, counts["all"], sum, "each row is in one group")
		assert.Equal(t, len(b.Needs()), counts[groupNeeds])
	}
}

// A file does not know when it is read, so it says how old things were when it was made.
func TestAgesAreThoseAtTheTimeOfThePage(t *testing.T) {
	d := drawer{now: now}
	for _, c := range []struct {
		at         time.Time
		human, age string
	}{
		{time.Time{}, "", ""}, {now, "20 Mar, 16:40 UTC", "under 1\u00a0min"}, {now.Add(time.Hour), "20 Mar, 17:40 UTC", ""}, {now.Add(-3 * time.Hour), "20 Mar, 13:40 UTC", "3\u00a0h"},
		{now.AddDate(0, 0, -2), "18 Mar, 16:40 UTC", "2\u00a0days"}, {now.AddDate(-1, 0, 0), "20 Mar 2025, 16:40 UTC", "12\u00a0months"},
	} {
		got := d.stamp(c.at)
		assert.Equal(t, []string{c.human, c.age}, []string{got.Human, got.Age}, c.at)
	}
	page := written(t, everything())
	for _, frozen := range []string{"just now", " ago", "ago<"} {
		assert.NotContains(t, page, frozen)
	}
	for _, want := range []string{
		`As of <time datetime="2026-03-20T16:40:00Z">20 Mar 2026, 16:40 UTC</time>`, "Changed <time datetime=\"2026-03-18T16:40:00Z\">18 Mar, 16:40 UTC</time> (age\u00a02\u00a0days)",
		"<bdi>Blocked since</bdi> <time datetime=\"2026-03-17T12:40:00Z\">17 Mar, 12:40 UTC</time> (age\u00a03\u00a0days)",
		"Since <time datetime=\"2026-03-20T16:28:00Z\">20 Mar, 16:28 UTC</time> (age\u00a012\u00a0min)",
	} {
		assert.Contains(t, page, want)
	}
}

func TestATrainSaysWhatLandedToday(t *testing.T) {
	for want, day := range map[string]model.TrainDay{"0": {}, "2": {Landed: 2}, "at least 30": {Landed: 30, More: true}} {
		assert.Equal(t, want, drawer{now: now}.trains(model.Board{Trains: []model.Train{{Today: day}}})[0].Today)
	}
	l := drawer{now: now, repo: repoURL}.trains(everything())[0]
	assert.Equal(t, "20 Mar, 16:41 UTC", l.Cars[0].ETA.Human, "of a car")
	assert.Equal(t, "20 Mar, 17:30 UTC", l.Waiting[0].ETA.Human, "of a request that waits")
	assert.Equal(t, "1\u00a0h 15\u00a0min", l.Landed[0].Took)
	assert.Equal(t, "1\u00a0h 15\u00a0min", l.Took, "the median")
	assert.Equal(t, []int{0, 6, 7, 12, 8, 0}, []int{l.Cars[0].Behind, l.Cars[1].Behind, l.Cars[2].Behind, l.Cars[3].Behind, l.Cars[4].Behind, l.Cars[5].Behind})
}

func TestFailedAndPendingChecksAreNamed(t *testing.T) {
	var all []model.Check
	for i := range 8 {
		all = append(all, model.Check{Name: fmt.Sprint("job ", i), State: model.CheckFailed})
	}
	all = append(all, model.Check{Name: "lint", State: model.CheckPending, URL: repoURL + "/runs/1"})
	server := everything()
	server.Pulls = server.Pulls[:1]
	server.Pulls[0].Checks, server.Pulls[0].MoreChecks = all, true
	_, text := elements(t, written(t, server))
	assert.Contains(t, text, "Failed: job 0, job 1, job 2, job 3, job 4 and 3 more")
	assert.Contains(t, text, "Pending: lint")
	assert.Contains(t, text, "There are more checks than this page reads.")
}

func TestARoadmapSaysWhatRunsAndWhatIsBlocked(t *testing.T) {
	t.Parallel()
	items := []model.RoadmapEntry{{Key: "a", Issue: 4, State: model.ItemDone, Pull: 9}, {Key: "b", Issue: 5, State: model.ItemRunning}, {Key: "c", Issue: 6, State: model.ItemWaiting}, {Key: "d", Issue: 7, State: model.ItemFailed, Dropped: true}}
	said := func(change func([]model.RoadmapEntry)) string {
		now := append([]model.RoadmapEntry{}, items...)
		change(now)
		issue := model.BoardIssue{Number: 2, Title: "Greet everywhere", URL: repoURL + "/issues/2", Flow: model.FlowRoadmap, Status: model.PhaseDone, Roadmap: now, RoadmapURL: repoURL + "/issues/2#issuecomment-1"}
		issue.Need = needs.OfRoadmap(issue.Title, model.Posted[model.RoadmapMarker]{Marker: model.RoadmapMarker{Number: 2, Items: now}, URL: issue.RoadmapURL})
		_, out, _ := strings.Cut(written(t, model.Board{URL: repoURL, Issues: []model.BoardIssue{issue}}), "<main>")
		return out
	}
	out := said(func([]model.RoadmapEntry) {})
	assert.Contains(t, out, "roadmap · 1 of 3 items done; 1 running: #5; 1 waiting for others")
	assert.Contains(t, out, "roadmap, in progress")
	out = said(func(i []model.RoadmapEntry) { i[1].State, i[2].State = model.ItemFailed, model.ItemBlocked })
	assert.Contains(t, out, "1 of 3 items done; 1 stopped: #5; 1 blocked because of #5")
	assert.Contains(t, out, "decide how the roadmap continues without #5")
	assert.Contains(t, out, "waits for an answer")
	out = said(func(i []model.RoadmapEntry) { i[1].State, i[2].State = model.ItemDone, model.ItemDone })
	assert.Contains(t, out, "3 of 3 items done")
	assert.NotContains(t, out, "roadmap, ")
}
