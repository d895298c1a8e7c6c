package turns

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mergexo/mergexo/internal/engine/effect"
	"github.com/mergexo/mergexo/internal/engine/redact"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/github"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/turn"
)

// How much of CI one turn is told of.
const maxFailures = 10 // workflow runs

// aboutFailures says that a turn that has not come to its end is about a workflow run.
func aboutFailures(p *Pull) bool {
	kind := ":" + string(model.KindActions) + ":"
	return slices.ContainsFunc(turn.Open(p.State), func(t model.Posted[model.TurnMarker]) bool {
		return slices.ContainsFunc(t.Marker.Events, func(e string) bool { return strings.Contains(e, kind) })
	})
}

// readFailures reads the workflow runs of the head where there is something to be known of them, and the logs of those that
// nobody has answered. Runs on other heads, and those that are green by now, are no longer feedback.
func (p *Pull) readFailures(ctx context.Context) error {
	policy := turn.CIPolicy{When: p.Settings.Feedback.CI, OwnPath: p.Run.Workflow, OwnRun: p.Run.ID}
	failing := slices.Contains([]string{"FAILURE", "ERROR"}, p.Snap.Pull.Rollup) // as GitHub sums up all checks of the head
	if policy.When == "never" || p.Snap.Pull.CrossRepo || !failing && !aboutFailures(p) || !turn.Tracked(p.Snap.Pull, p.State, p.Policy) {
		return nil
	}
	p.Due(model.DueCI, time.Time{})
	runs, err := runsOf(ctx, p.Thread)
	if err != nil {
		return err
	}
	p.Memory.Runs = runs
	failures := turn.Failures(runs, p.Snap.Pull.HeadSHA, p.Event.Number, policy)
	news := failures[:0:0]
	for _, f := range failures {
		if !p.State.Answered[f.Key(p.Event.Number)] {
			news = append(news, f)
		}
	}
	for _, f := range news[:min(len(news), maxFailures)] {
		at := slices.IndexFunc(runs, func(r model.CIRun) bool { return r.ID == f.ID })
		if runs[at].Jobs, err = redact.FailedJobs(ctx, p.Thread, f.ID); err != nil {
			return err
		}
	}
	p.Memory.FailedOn = p.Snap.Pull.HeadSHA
	p.Memory.Failures = turn.Failures(runs, p.Snap.Pull.HeadSHA, p.Event.Number, policy)
	thread.RecallFailures(p.Thread)
	return nil
}

// runsOf are the workflow runs on the head.
func runsOf(ctx context.Context, t *thread.Thread) ([]model.CIRun, error) {
	if t.Survey != nil {
		return t.Survey.RunsSeen(t.Snap.Pull.HeadSHA)
	}
	return t.GitHub.Actions.RunsOf(ctx, t.Event.Repo, t.Snap.Pull.HeadSHA)
}

// flaky blocks where a failure came again that the agent held to be a test's own.
func (p *Pull) flaky(ctx context.Context) error {
	mark, again := turn.Flaky(p.State, p.Snap.Failures, p.Snap.Pull.HeadSHA)
	if !again || p.State.Block != nil {
		return nil
	}
	return p.Block(ctx, model.BlockMarker{Reason: model.ReasonFlaky, Observed: p.Snap.Pull.HeadSHA}, turn.FlakyBlock(mark, p.Snap.Failures))
}

// incident has what failed run again and files the report of a test that fails by itself: each once, whatever died before.
func incident(ctx context.Context, p *Pull, o model.Outbox) (*model.FlakyMark, error) {
	mark := &model.FlakyMark{Head: p.Marker.Start}
	for _, r := range o.Reruns {
		again, err := runAgain(ctx, p, r)
		if err != nil {
			return nil, err
		}
		if again {
			mark.Runs = append(mark.Runs, r)
		}
	}
	issue, err := fileFlaky(ctx, p, o, len(mark.Runs) > 0)
	mark.Issue = issue
	return mark, err
}

// fileFlaky opens the issue, which says whether the failed jobs run again, unless a run that died has opened it. GitHub has no way to open one only once, so what we
// opened lately is read before, and after an answer that got lost.
func fileFlaky(ctx context.Context, p *Pull, o model.Outbox, again bool) (int, error) {
	token := journal.Token("flaky", p.Marker.Key)
	title, text := turn.FlakyIssue(*o.Flaky, p.Snap.Pull, p.Feedback, again)
	body, err := p.Codec.Encode(journal.Body{Text: text, Tokens: []string{token}})
	if err != nil {
		return 0, err
	}
	opening := effect.OpenIssue(p.Event.Number, token, title, body)
	made, err := thread.FindEffect(ctx, p.Thread, opening)
	if err != nil || made.Present {
		return made.Number, err
	}
	made, err = p.Apply(ctx, opening)
	switch k := github.KindOf(err); {
	case err == nil && !made.Present:
		p.Say(model.Saying{Where: fmt.Sprintf("issue #%d", made.Number), Text: title + "\n\n" + text})
	case k == github.Gone || k == github.Forbidden: // issues are off, or not the token's to open
		p.Log.Warn("flaky_not_filed", "pr_number", p.Event.Number, "error", err)
		return 0, nil
	}
	return made.Number, err
}

// runAgain has the failed jobs of a workflow run run once more, unless that was done, or the run is not about the head any
// more.
func runAgain(ctx context.Context, p *Pull, r model.Rerun) (bool, error) {
	if p.Snap.Pull.HeadSHA != p.Marker.Start {
		return false, nil
	}
	again := effect.Rerun(r, journal.Token("rerun", p.Marker.Key, strconv.FormatInt(r.Run, 10)))
	now, err := p.GitHub.Actions.Run(ctx, p.Event.Repo, r.Run)
	if err != nil || !now.Known {
		return false, err
	}
	if thread.Rerun(r, now) {
		thread.Noted(p.Thread, again.As, effect.Present)
		return true, nil
	}
	_, err = p.Apply(ctx, again)
	switch k := github.KindOf(err); {
	case k == github.Running:
		return true, nil
	case k == github.NoRerun, k == github.Forbidden:
		p.Log.Warn("not_run_again", "pr_number", p.Event.Number, "run", r.Run, "error", err)
		return false, nil
	}
	return err == nil, err
}
