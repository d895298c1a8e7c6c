package dashboard

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
	"github.com/mergexo/mergexo/internal/needs"
)

const repoURL = "https://github.com/octo/widgets"

var now = time.Date(2026, 3, 20, 16, 40, 0, 0, time.UTC)

// sha makes a head of its name.
func sha(name string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(name)))[:40] }

func ago(days, hours int) time.Time {
	return now.Add(-time.Duration(days*24+hours) * time.Hour)
}

// took makes one turn.
func took(kind string, phase model.Phase, from, to string, began time.Time, minutes int, usd float64) model.BoardTurn {
	t := model.BoardTurn{Kind: kind, Phase: string(phase), Began: began, CostUSD: usd}
	if from != "" {
		t.From = sha(from)
	}
	if to != "" {
		t.To = sha(to)
	}
	if minutes > 0 {
		t.Ended = began.Add(time.Duration(minutes) * time.Minute)
	}
	id := sha(kind + from + to + began.String())[:7]
	t.URL, t.RunURL = repoURL+"/pull/1#issuecomment-"+id, repoURL+"/actions/runs/"+id
	return t
}

func pull(n int, title, branch string, state model.StatusState, accepted, head string, turns ...model.BoardTurn) model.BoardPull {
	p := model.BoardPull{
		Status: model.Status{
			Number: n, Title: title, URL: fmt.Sprintf("%s/pull/%d", repoURL, n), Branch: branch, State: state, Head: sha(head), Accepted: sha(accepted),
		},
		Author: "mergexo[bot]", Base: "main", Opened: ago(14-n%9, n%7), Updated: ago(n%4, n%11), CI: "SUCCESS", Turns: turns,
	}
	return p
}

// sample is a repository at work as the engine has read it. TestTheBoardOfARepositoryAtWork of package engine writes the file.
func sample(t *testing.T) model.Board {
	t.Helper()
	raw := must.Get(os.ReadFile(filepath.Join("testdata", "board.json")))(t)
	var b model.Board
	require.NoError(t, json.Unmarshal(raw, &b))
	require.NotEmpty(t, b.Pulls)
	return b
}

// everything is a made-up repository with every state in it, and with texts that are hard to show.
func everything() model.Board {
	b := model.Board{
		Repo: model.Repo{Owner: "octo", Name: "widgets"}, URL: repoURL, At: now, Pulls: append(samplePressing(), sampleCalm()...), Issues: sampleIssues(),
		Conflicts: []model.BoardConflict{
			{Number: 41, With: 0, Paths: []string{"internal/cache/cache.go", "internal/cache/evict.go"}},
			{Number: 41, With: 52, Paths: []string{"internal/cache/cache.go"}}, {Number: 52, With: 41, Paths: []string{"internal/cache/cache.go"}},
			{Number: 58, With: 66, Paths: []string{"docs/design/retries.md", "internal/client/retry.go", "internal/client/retry_test.go"}},
			{Number: 52, With: 66, Paths: []string{"go.mod"}},
		},
		Trains: []model.Train{sampleTrain()}, Untracked: 7, Left: 3, LeftWhy: "the rate limit comes back at 17:02 UTC",
	}
	return withNeeds(b)
}

func samplePressing() []model.BoardPull {
	blocked := pull(41, "Evict by weight and not by count", "agent/bugfix/38-evict", model.StatusBlocked, "41b", "41x",
		took("flow", model.PhaseDone, "m1", "41a", ago(12, 3), 22, 0.84), took("turn", model.PhaseDone, "41a", "41b", ago(10, 5), 9, 0.31),
		took("turn", model.PhaseFailed, "41b", "", ago(4, 2), 30, 0.92))
	blocked.Turns[2].Reason = "agent_timeout"
	blocked.Issue, blocked.CI, blocked.Failed = 38, "FAILURE", 1
	blocked.LastTurn = &model.LastTurn{Phase: model.PhaseFailed, At: ago(4, 2), URL: blocked.URL + "#issuecomment-40"}
	blocked.Checks = []model.Check{
		{Name: "test (linux)", State: model.CheckFailed, URL: repoURL + "/actions/runs/1/job/1"}, {Name: "elsewhere", State: model.CheckFailed, URL: "https://ci.example.com/1"},
		{Name: "lint", State: model.CheckPending, URL: repoURL + "/actions/runs/1/job/2"},
	}
	blocked.Block = &model.Blocked{Number: 41, Issue: 38, Reason: model.ReasonRewrite, Expected: sha("41b"), Observed: sha("41x"), Since: ago(3, 4), URL: blocked.URL + "#issuecomment-41"}
	secret := pull(44, "Read the license key from the settings", "agent/small/43-license", model.StatusBlocked, "44a", "44a",
		took("flow", model.PhaseDone, "m1", "44a", ago(6, 1), 12, 0.40), took("turn", model.PhaseFailed, "44a", "", ago(5, 20), 4, 0.11))
	secret.Turns[1].Reason = model.ReasonSecret
	secret.Block = &model.Blocked{Number: 44, Reason: model.ReasonSecret, Since: ago(5, 20), URL: secret.URL + "#issuecomment-44"}
	failed := pull(47, "Keep the order of headers", "agent/bugfix/45-headers", model.StatusFailed, "47a", "47a",
		took("flow", model.PhaseDone, "m2", "47a", ago(5, 2), 15, 0.55), took("turn", model.PhaseFailed, "47a", "", ago(1, 3), 2, 0.05),
		took("turn", model.PhaseFailed, "47a", "", ago(0, 9), 2, 0.06))
	failed.Turns[1].Reason, failed.Turns[2].Reason, failed.Failed, failed.CI = "tests_failed", "tests_failed", 2, "ERROR"
	claimed := pull(52, "Count what the cache holds", "agent/design/50-cache-metrics", model.StatusClaimed, "52c", "52d",
		took("flow", model.PhaseDone, "m2", "52a", ago(9, 1), 35, 1.62), took("turn", model.PhaseDone, "52a", "52b", ago(8, 7), 11, 0.44),
		took("turn", model.PhaseDone, "52b", "52b", ago(7, 2), 3, 0.07), took("turn", model.PhaseDone, "52b", "52c", ago(2, 6), 14, 0.61),
		took("turn", model.PhaseStarted, "52d", "", now.Add(-7*time.Minute), 0, 0))
	claimed.CI, claimed.Pending, claimed.Issue = "PENDING", 3, 50
	merging := pull(58, "Retry with jitter", "agent/impl/49-retries", model.StatusMerging, "58c", "58c",
		took("flow", model.PhaseDone, "m3", "58a", ago(7, 4), 41, 2.05), took("turn", model.PhaseDone, "58a", "58b", ago(5, 8), 16, 0.73),
		took("turn", model.PhaseDone, "58b", "58c", ago(1, 1), 8, 0.29), took("merge", model.Phase(model.MergeRunning), "58c", "", now.Add(-2*time.Minute), 0, 0))
	merging.Merge = &model.MergeRequest{State: model.MergeRunning, Head: sha("58c"), By: "mona", Since: ago(0, 1), URL: merging.URL + "#issuecomment-58"}
	return []model.BoardPull{blocked, secret, failed, claimed, merging}
}

func sampleCalm() []model.BoardPull {
	pending := pull(60, "Say which file is missing", "agent/small/59-missing", model.StatusPending, "60a", "60a", took("flow", model.PhaseDone, "m3", "60a", ago(3, 5), 6, 0.18))
	pending.Pending = 1
	queued := pull(61, "Drop Go 1.23", "agent/small/57-go", model.StatusQueued, "61b", "61b",
		took("flow", model.PhaseDone, "m3", "61a", ago(3, 1), 7, 0.22), took("turn", model.PhaseDone, "61a", "61b", ago(2, 1), 5, 0.15),
		took("merge", model.Phase(model.MergeFailed), "61b", "", ago(1, 0), 12, 0), took("merge", model.Phase(model.MergeWaiting), "61b", "", ago(0, 3), 0, 0))
	queued.Merge = &model.MergeRequest{State: model.MergeWaiting, Reason: model.CodeChecks, Head: sha("61b"), By: "hubot", Since: ago(0, 3), URL: queued.URL + "#issuecomment-61"}
	fork := pull(66, "Fix a typo in retries <script>alert(1)</script> & more", "patch-1", model.StatusIdle, "66a", "66a")
	fork.Author, fork.CI = "newcomer", ""
	fork.External = &model.ExternalMarker{State: model.ExternalWanting, Head: sha("66a"), By: "mona", Reason: "the test does not fail without the change", Evaluated: true}
	fork.ExternalURL = fork.URL + "#issuecomment-66"
	idle := pull(67, "A very long title that says in great detail what this pull request is about, why it came to be, and which of the many ways to do it was taken", "agent/small/64-a-long-branch-name-without-any-place-to-break-it-apart", model.StatusIdle, "67b", "67b",
		took("flow", model.PhaseDone, "m4", "67a", ago(2, 4), 10, 0.37), took("turn", model.PhaseDone, "67a", "67b", ago(1, 7), 4, 0.12))
	paused := pull(68, "Speak IPv6", "agent/impl/55-ipv6", model.StatusPaused, "68a", "68a", took("flow", model.PhaseDone, "m4", "68a", ago(2, 9), 48, 2.71))
	taken := pull(69, "Rename the flag", "agent/small/65-flag", model.StatusTaken, "69a", "69b", took("flow", model.PhaseDone, "m4", "69a", ago(1, 15), 5, 0.14))
	var turns []model.BoardTurn
	for i := range 15 {
		turns = append(turns, took("turn", model.PhaseDone, fmt.Sprint("70-", i), fmt.Sprint("70-", i+1), ago(13-i%13, i), 3+i*2%11, 0.1+float64(i%5)/10))
	}
	busy := pull(70, "Port the parser", "agent/impl/33-parser", model.StatusIdle, "70-15", "70-15", turns...)
	merged := pull(71, "Name the unit of the timeout", "agent/small/70-unit", model.StatusMerged, "71b", "71b",
		took("flow", model.PhaseDone, "m4", "71a", ago(1, 12), 6, 0.2), took("merge", model.PhaseDone, "71a", "71b", ago(0, 5), 3, 0))
	released := pull(72, "Try another allocator", "agent/design/40-alloc", model.StatusReleased, "72a", "72a", took("flow", model.PhaseDone, "m4", "72a", ago(11, 12), 19, 0.9))
	return []model.BoardPull{pending, queued, fork, idle, paused, taken, busy, merged, released}
}

func sampleIssues() []model.BoardIssue {
	issue := func(n int, title string, flow model.Flow, status model.Phase, turns ...model.BoardTurn) model.BoardIssue {
		return model.BoardIssue{Number: n, Title: title, URL: fmt.Sprintf("%s/issues/%d", repoURL, n), Flow: flow, Status: status, Turns: turns}
	}
	waiting := issue(39, "Timeouts are not told apart", model.FlowBugfix, model.PhaseWaiting,
		took("flow", model.PhaseFailed, "m1", "", ago(9, 9), 30, 1.1), took("flow", model.PhaseWaiting, "m2", "i39", ago(4, 9), 21, 0.77))
	waiting.Waiting = model.ReasonTests
	done := issue(50, "Metrics for the cache", model.FlowDesign, model.PhaseDone, took("flow", model.PhaseDone, "m2", "52a", ago(9, 1), 35, 1.62))
	done.Pull = 52
	done.Turns[0] = samplePressing()[3].Turns[0] // as the pull request tells it: it counts once
	return []model.BoardIssue{
		waiting, done, issue(73, "Log the version at the start", model.FlowSmallJob, model.PhaseStarted, took("flow", model.PhaseStarted, "m5", "", now.Add(-time.Minute), 0, 0)),
		issue(74, "Support proxies", model.FlowDesign, ""),
	}
}

// many is a repository with n pull requests, a tenth of which conflict with the next one.
func many(n int) model.Board {
	b := model.Board{Repo: model.Repo{Owner: "octo", Name: "many"}, URL: repoURL, At: now}
	for i := range n {
		p := pull(i+1, fmt.Sprintf("Change number %d of many", i+1), fmt.Sprintf("agent/small/%d-change", i+1), states[i%len(states)].state, fmt.Sprint(i, "e"), fmt.Sprint(i, "e"))
		for _, step := range []string{"a", "b", "c", "d", "e"} {
			p.Turns = append(p.Turns, took("turn", model.PhaseDone, fmt.Sprint(i, string(step[0]-1)), fmt.Sprint(i, step), ago(i%28, i%20), 1+i%30, float64(i%7)/4))
		}
		if p.State == model.StatusBlocked {
			p.State = model.StatusIdle
		}
		if i%10 == 0 {
			p.State, p.Block = model.StatusBlocked, &model.Blocked{Number: i + 1, Reason: model.ReasonAttempts, Since: ago(1, i%20), URL: p.URL + "#issuecomment-1"}
			b.Conflicts = append(b.Conflicts, model.BoardConflict{Number: i + 1, With: i + 2, Paths: []string{"go.mod", "go.sum"}})
		}
		b.Pulls = append(b.Pulls, p)
	}
	return withNeeds(b)
}

// withNeeds adds what waits for a person, by the one function that tells it everywhere.
func withNeeds(b model.Board) model.Board {
	for i := range b.Pulls {
		p := &b.Pulls[i]
		var fork *model.Posted[model.ExternalMarker]
		if p.External != nil {
			fork = &model.Posted[model.ExternalMarker]{Marker: *p.External, UpdatedAt: p.Updated, URL: p.URL + "#issuecomment-2"}
		}
		if p.State != model.StatusMerged {
			p.Need = needs.OfPull(p.Status, fork)
		}
	}
	for i := range b.Issues {
		if s := &b.Issues[i]; s.Status == model.PhaseWaiting {
			m := model.Posted[model.IssueMarker]{URL: s.Turns[len(s.Turns)-1].URL, UpdatedAt: s.Turns[len(s.Turns)-1].Ended}
			m.Marker.Number, m.Marker.Waiting = s.Number, s.Waiting
			s.Need = needs.OfIssue(s.Title, m)
		}
	}
	return b
}

// sampleTrain has a car of each look, who waits, and what landed.
func sampleTrain() model.Train {
	car := func(n int, state string, members ...int) model.TrainCar {
		c := model.TrainCar{Number: n, State: state, Members: members, On: sha("main"), Since: now.Add(-12 * time.Minute)}
		if state != "building" {
			c.Tip, c.Branch = sha(fmt.Sprint("car", n)), fmt.Sprint("mergexo/train/main/", n)
		}
		return c
	}
	check := func(name string, state model.CheckState) model.TrainCheck {
		return model.TrainCheck{Name: name, State: state, URL: repoURL + "/actions/runs/8/job/1"}
	}
	landing, green, testing, red, building, tried := car(6, "landing", 55), car(7, "green", 52), car(12, "testing", 42, 43), car(8, "red", 41, 47), car(9, "building", 58), car(10, "testing", 66)
	landing.ETA = now.Add(time.Minute)
	green.Behind, green.Checks, green.ETA = 6, []model.TrainCheck{check("test (linux)", model.CheckPassed), check("lint", model.CheckPassed)}, now.Add(2*time.Minute)
	testing.Behind, testing.Checks, testing.ETA = 7, []model.TrainCheck{check("test (linux)", model.CheckPending), {Name: "lint", State: model.CheckExpected}}, now.Add(8*time.Minute)
	red.Behind, red.Failed = 12, []model.TrainCheck{check("test (linux)", model.CheckFailed), {Name: "elsewhere", State: model.CheckFailed, URL: "https://ci.example.com/1"}}
	red.Why = "a check has failed"
	building.Behind = 8
	tried.Try = true
	return model.Train{
		Base: "main", Cars: []model.TrainCar{landing, green, testing, red, building, tried}, Today: model.TrainDay{Landed: 1, MedianSeconds: 75 * 60},
		Queue: []model.TrainPlace{{Position: 1, Number: 55, Car: 6, ETA: now.Add(time.Minute)}, {Position: 6, Number: 60, ETA: now.Add(50 * time.Minute)}, {Position: 7, Number: 61, Why: "it has the label mergexo:freeze"}},
		Landed: []model.TrainLanding{
			{Number: 39, SHA: sha("landed"), Asked: now.Add(-95 * time.Minute), At: now.Add(-20 * time.Minute)},
			{Number: 37, SHA: sha("landed before"), At: now.Add(-50 * time.Hour)},
		},
	}
}
