package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/config"
	"github.com/mergexo/mergexo/internal/engine/effect"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/github"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
)

// views makes threads from random numbers, by all that decides about the next step on a pull request.
type views struct{ *rand.Rand }

func (v views) often(of int) bool { return v.IntN(of) > 0 }

func pick[T any](v views, list ...T) T { return list[v.IntN(len(list))] }

var viewed = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// people are those of the threads, with their rights.
var people = map[string]model.Permission{"alice": model.PermissionWrite, "carol": model.PermissionAdmin, "eve": model.PermissionNone, "rita": model.PermissionRead}

func (v views) login() string { return pick(v, "alice", "carol", "eve", "rita") }

func (v views) time() time.Time { return viewed.Add(-time.Duration(v.IntN(600)) * time.Minute) }

func (v views) lease() model.Lease {
	return model.Lease{Claim: pick(v, "", "mine", "other"), Run: int64(v.IntN(3)), RunAttempt: 1, Expires: viewed.Add(time.Duration(v.IntN(60)-30) * time.Minute)}
}

func posted[M any](v views, id int64, m M) model.Posted[M] {
	return model.Posted[M]{Marker: m, CommentID: id, At: v.time(), UpdatedAt: v.time(), URL: fmt.Sprintf("https://github.com/octo/widgets/pull/7#issuecomment-%d", id), Text: "Asked.\n\nIt waits."}
}

func (v views) comment(id int64) model.Comment {
	at := v.time()
	body := pick(v, "please add a comma", "/mergexo pause", "/mergexo merge", "/mergexo review", "thanks", "> quoted", "")
	return model.Comment{
		Kind: pick(v, model.KindIssue, model.KindIssue, model.KindReview, model.KindReview), ID: id, Author: model.Actor{Login: v.login()},
		Association: pick(v, "NONE", "MEMBER", "COLLABORATOR"), CreatedAt: at, UpdatedAt: at,
		Body: body, Posted: body,
	}
}

var labels = []string{"agent:ignore", "mergexo:freeze", "merge", "mergexo:merge", "mergexo:review", "agent:small-job", "agent:design", "agent:roadmap", "external:approved"}

// pull is a pull request.
func (v views) pull() model.Pull {
	p := model.Pull{
		Number: 7, Title: "Greet", State: pick(v, model.PullOpen, model.PullOpen, model.PullOpen, model.PullMerged, model.PullClosed), Draft: !v.often(5),
		Author: model.Actor{Login: v.login()}, BaseRef: "main", HeadRef: pick(v, "agent/small/2-greet", "topic", "agent/design/2-greet"), HeadSHA: strings.Repeat("b", 40),
		BaseSHA: strings.Repeat("a", 40), HeadExists: v.often(9), CrossRepo: !v.often(5), CreatedAt: v.time(), Rollup: pick(v, "", "SUCCESS", "FAILURE", "PENDING"),
		Opinions: pick(v, "", "x"), Body: pick(v, "", "", "Depends-on: #3", "Depends-on: words"),
	}
	for _, label := range labels {
		if v.IntN(12) == 0 {
			p.Labels = append(p.Labels, label)
			p.LabelChanges = append(p.LabelChanges, model.LabelChange{Label: label, On: true, By: model.Actor{Login: v.login()}, At: v.time()})
		}
	}
	if !v.often(4) {
		p.Issue = &model.Issue{Number: 2, Labels: pick(v, nil, []string{"agent:ignore"})}
	}
	return p
}

// state is what was folded.
func (v views) state() model.State {
	s := model.State{Keys: map[string]bool{}, Answered: map[string]bool{}, Commands: map[string]model.Verdict{}, Tokens: map[string]int64{}, Accepted: pick(v, "", strings.Repeat("b", 40), strings.Repeat("c", 40))}
	if v.often(3) {
		p := posted(v, 101, model.PRMarker{Number: 7, Issue: pick(v, 0, 2), Flow: pick(v, "", "design")})
		s.Tracked = &p
	}
	if v.IntN(8) == 0 {
		p := posted(v, 102, model.BlockMarker{Reason: pick(v, model.ReasonAgent, model.ReasonRewrite, model.ReasonBudget)})
		s.Block = &p
	}
	if v.IntN(8) == 0 {
		p := posted(v, 103, model.CommandMarker{Command: "pause", By: "carol"})
		s.Paused = &p
	}
	for n := v.IntN(3); n > 0; n-- {
		m := model.TurnMarker{Lease: v.lease(), Number: 7, Key: fmt.Sprint("t", n), Start: strings.Repeat("b", 40), Planned: pick(v, "", strings.Repeat("b", 40), strings.Repeat("d", 40))}
		m.Phase, m.Events, m.Attempt = pick(v, model.PhaseStarted, model.PhasePlanned, model.PhaseFailed, model.PhaseDone), []string{pick(v, "7:issue:1:x", "7:actions:5")}, v.IntN(4)
		s.Turns = append(s.Turns, posted(v, int64(110+n), m))
	}
	for n := v.IntN(9) - 6; n > 0; n-- {
		m := model.MergeMarker{Lease: v.lease(), Number: 7, Head: strings.Repeat("b", 40), Base: "main", By: "carol", Command: fmt.Sprint("m", n)}
		m.State = pick(v, model.MergeWaiting, model.MergeRunning, model.MergeFailed, model.MergeDone)
		m.Reason = pick(v, "", model.CodeApproval, model.CodeChecks, model.CodeBlocked, model.CodeDepends, model.CodeTrain, model.CodeCancelled, model.CodeMember, model.CodeBusy)
		m.Leader = pick(v, "", "", "", "octo/client#1")
		if m.Tip = pick(v, "", strings.Repeat("d", 40)); m.State == model.MergeDone && v.IntN(3) == 0 {
			m.Badge = v.time()
		}
		s.Merges = append(s.Merges, posted(v, int64(120+n), m))
	}
	if v.IntN(3) == 0 {
		s.Reviews = append(s.Reviews, posted(v, 130, model.ReviewMarker{Lease: v.lease(), Number: 7, Command: pick(v, "r", "auto"), Head: strings.Repeat("b", 40), State: pick(v, model.ReviewRunning, model.ReviewDone, model.ReviewFailed), Attempt: v.IntN(4)}))
	}
	if v.IntN(4) == 0 {
		m := model.ExternalMarker{Lease: v.lease(), Number: 7, Head: strings.Repeat("b", 40), Label: "external:approved", At: v.time(), Mirror: "gh-pr-7", Tip: strings.Repeat("b", 40)}
		m.State = pick(v, model.ExternalApproved, model.ExternalLinked, model.ExternalVoid)
		s.Externals = append(s.Externals, posted(v, 140, m))
	}
	if v.IntN(30) == 0 {
		p := posted(v, 150, model.ConflictMarker{Number: 7})
		s.Conflicts = &p
	}
	if v.IntN(40) == 0 {
		s.Surplus = []int64{151}
	}
	if v.IntN(12) == 0 {
		s.Distrusted = []model.Distrust{{CommentID: 152, Spoilt: true, At: v.time()}}
	}
	if v.IntN(12) == 0 {
		s.Foreign = []model.Foreign{{Author: model.Actor{Login: v.login()}}}
	}
	return s
}

func (v views) settings() config.Settings {
	s := config.Defaults()
	s.Agent.Adapter, s.Agent.Command = pick(v, "", "command"), []string{"agent"}
	s.Merge.Auto, s.Review.Auto = pick(v, config.AutoNever, config.AutoLabel, config.AutoApproval), pick(v, config.AutoNever, config.AutoLabel, config.AutoReady)
	s.Merge.AutoLabel, s.Review.Label = "mergexo:merge", "mergexo:review"
	s.External.Enabled = v.often(3)
	return s
}

// thread is a pull request as a run or a survey has read it, in a world that asks and changes nothing.
func (v views) thread(w *thread.World) *thread.Thread {
	t := thread.New(w, model.Event{Name: "schedule", Repo: model.Repo{Owner: "octo", Name: "widgets"}, Number: 7}, &model.Report{}, thread.NewMemory(people))
	t.Settings, t.State, t.ReadAt = v.settings(), v.state(), viewed
	t.Policy = thread.PolicyOf(t.Settings)
	t.Snap.Pull, t.Snap.ReadAt, t.Snap.DefaultBranch, t.Snap.SettingsFound = v.pull(), viewed, "main", true
	t.Snap.Viewer, t.Snap.CommentsComplete = model.Actor{Login: "mergexo[bot]", ID: 9, Bot: true}, true
	for n := v.IntN(4); n > 0; n-- {
		t.Snap.Comments = append(t.Snap.Comments, v.comment(int64(n)))
	}
	return t
}

// step is the first step of a run on the thread of a seed, "" if the run ends by itself. A survey has the answers to all that it asks.
func step(t *testing.T, seed uint64, surveyed bool) (next string, ended error) {
	t.Helper()
	probe := &effect.Probe{}
	log := slog.New(slog.DiscardHandler)
	e := &Engine{World: thread.World{Effects: probe, Log: log, Now: func() time.Time { return viewed }, Random: func() string { return "name" }, Run: thread.Run{ID: 1, Attempt: 1}, Lookup: func(string) (string, bool) { return "", false }}}
	e.GitHub, e.Git.Opening = must.Get(github.Closed(func() error { return probe.End("a question") }))(t), probe.Opening
	v := views{rand.New(rand.NewPCG(seed, 1))}
	at := v.thread(&e.World)
	at.Survey = &thread.Survey{End: probe.End, Resolved: true, Runs: map[string][]model.CIRun{at.Snap.Pull.HeadSHA: nil}, Pulls: map[int]model.PullRef{3: {Number: 3, State: pick(v, model.PullOpen, model.PullMerged)}}}
	if !surveyed {
		at.Survey = nil
		p := topicsOf(at)
		p.task = newTask(at.Event)
		if ended = thread.CheckIdentity(context.Background(), at); ended == nil {
			ended = thread.Tidy(context.Background(), at)
		}
		if ended == nil {
			_, ended = p.act(context.Background())
		}
	} else {
		ended = e.Survey(context.Background(), at)
		require.True(t, at.Survey.Asks.None(), "seed %d asks %+v, to which it has the answers", seed, at.Survey.Asks)
	}
	return probe.Next(), ended
}

// generated is how many threads are looked at.
var generated uint64 = 10_000

// A survey comes to an end for every pull request, and where it finds nothing, a run that may ask changes nothing before it asks.
func TestASurveyLeavesOutNothingThatARunWouldDo(t *testing.T) {
	t.Parallel()
	idle := 0
	for seed := range generated {
		next, ended := step(t, seed, true)
		if next != "" {
			continue
		}
		idle++
		stop := (*thread.Stop)(nil)
		require.True(t, errors.As(ended, &stop) || errors.Is(ended, config.ErrInvalid) || errors.Is(ended, thread.ErrIdentity), "seed %d ends without a reason: %v", seed, ended)
		whole, _ := step(t, seed, false)
		require.Contains(t, []string{"", "a question", "a checkout"}, whole, "seed %d: a run acts, and the survey has found nothing: %v", seed, ended)
	}
	require.Greater(t, idle, int(generated/20))
}
