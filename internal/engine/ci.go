package engine

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mergexo/mergexo/internal/github"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/turn"
)

// How much of CI one turn is told of.
const (
	maxFailures = 10      // workflow runs
	maxJobs     = 5       // failed jobs of one of them
	maxLog      = 1 << 20 // bytes of the end of a job's log that are read
)

// failing says that GitHub's sum of all checks of the head is a failure.
func (p *pass) failing() bool {
	return slices.Contains([]string{"FAILURE", "ERROR"}, p.snap.Pull.Rollup)
}

// hearsFailures says that failures of CI are feedback here.
func (p *pass) hearsFailures() bool {
	return p.settings.Feedback.CI != "never" && p.snap.IsPull && !p.snap.Pull.CrossRepo
}

// ciPolicy says which workflow runs count.
func (p *pass) ciPolicy() turn.CIPolicy {
	return turn.CIPolicy{When: p.settings.Feedback.CI, OwnPath: p.Run.Workflow, OwnRun: p.Run.ID}
}

// aboutFailures says that a turn that has not come to its end is about a workflow run.
func (p *pass) aboutFailures() bool {
	kind := ":" + string(model.KindActions) + ":"
	return slices.ContainsFunc(turn.Open(p.state), func(t model.Said[model.TurnMarker]) bool {
		return slices.ContainsFunc(t.Marker.Events, func(e string) bool { return strings.Contains(e, kind) })
	})
}

// readFailures reads the workflow runs of the head where there is something to be known of them, and the logs of those that
// nobody has answered. Runs on other heads, and those that are green by now, are no feedback any more.
func (p *pass) readFailures(ctx context.Context) error {
	if !p.hearsFailures() || !p.failing() && !p.aboutFailures() || !turn.Tracked(p.snap.Pull, p.state, p.policy) {
		return nil
	}
	runs, err := p.GitHub.RunsOf(ctx, p.event.Repo, p.snap.Pull.HeadSHA)
	if err != nil {
		return err
	}
	p.memory.runs = runs
	policy := p.ciPolicy()
	failures := turn.Failures(runs, p.snap.Pull.HeadSHA, p.event.Number, policy)
	news := failures[:0:0]
	for _, f := range failures {
		if !p.state.Answered[f.Key(p.event.Number)] {
			news = append(news, f)
		}
	}
	for _, f := range news[:min(len(news), maxFailures)] {
		at := slices.IndexFunc(runs, func(r model.CIRun) bool { return r.ID == f.ID })
		if runs[at].Jobs, err = p.readJobs(ctx, f.ID); err != nil {
			return err
		}
	}
	p.memory.failedOn = p.snap.Pull.HeadSHA
	p.memory.failures = turn.Failures(runs, p.snap.Pull.HeadSHA, p.event.Number, policy)
	p.recallFailures()
	return nil
}

// readJobs reads the failed jobs of a workflow run with the end of their logs.
func (p *pass) readJobs(ctx context.Context, run int64) ([]model.CIJob, error) {
	jobs, err := p.GitHub.FailedJobs(ctx, p.event.Repo, run)
	if err != nil {
		return nil, err
	}
	for i := range jobs[:min(len(jobs), maxJobs)] {
		raw, cut, err := p.GitHub.JobLog(ctx, p.event.Repo, jobs[i].ID, maxLog)
		if k := github.KindOf(err); k == github.RateLimited || ctx.Err() != nil {
			return nil, err
		}
		if err != nil { // without it the name of the job and its step say something still
			p.Log.Warn("log_unknown", "pr_number", p.event.Number, "job", jobs[i].ID, "error", err)
			continue
		}
		jobs[i].Log, jobs[i].Cut = p.clean(ctx, turn.CleanLog(raw, cut)), cut
	}
	return jobs, nil
}

// recallFailures puts into a fresh reading what was found out about the workflow runs of its head.
func (p *pass) recallFailures() {
	if p.memory.failedOn == p.snap.Pull.HeadSHA {
		p.snap.Failures = p.memory.failures
	}
}

// flaky blocks where a failure came again that the agent held to be a test's own.
func (p *pass) flaky(ctx context.Context) error {
	mark, again := turn.Flaky(p.state, p.snap.Failures, p.snap.Pull.HeadSHA)
	if !again || p.state.Block != nil {
		return nil
	}
	return p.block(ctx, model.BlockMarker{Reason: model.ReasonFlaky, Observed: p.snap.Pull.HeadSHA}, turn.FlakyBlock(mark, p.snap.Failures))
}

// incident files the report of a test that fails by itself and has what failed run again: each once, whatever died before.
func (p *pass) incident(ctx context.Context, o model.Outbox) (*model.FlakyMark, error) {
	mark := &model.FlakyMark{Head: p.marker.Start}
	var err error
	if mark.Issue, err = p.fileFlaky(ctx, o); err != nil {
		return nil, err
	}
	for _, r := range o.Reruns {
		again, err := p.runAgain(ctx, r)
		if err != nil {
			return nil, err
		}
		if again {
			mark.Runs = append(mark.Runs, r)
		}
	}
	return mark, nil
}

// fileFlaky opens the issue, unless a run that died has opened it. GitHub has no way to open one only once, so what we
// opened lately is read before, and after an answer that got lost.
func (p *pass) fileFlaky(ctx context.Context, o model.Outbox) (int, error) {
	token := journal.Token("flaky", p.marker.Key)
	title, text := turn.FlakyIssue(*o.Flaky, p.snap.Pull, p.feedback)
	body, err := p.Codec.Encode(journal.Body{Text: text, Tokens: []string{token}})
	if err != nil {
		return 0, err
	}
	target := strconv.Itoa(p.event.Number)
	for sends := 1; ; sends++ {
		ours, err := p.GitHub.OurIssues(ctx, p.event.Repo)
		if err != nil {
			return 0, err
		}
		for _, issue := range ours { // on another head the same test is the same incident
			if p.Codec.HasToken(issue.Body, token) || issue.Open && issue.Title == title {
				p.applied("issue", target, token, "present")
				return issue.Number, nil
			}
		}
		if err := p.alive(); err != nil {
			return 0, err
		}
		number, _, err := p.GitHub.OpenIssue(ctx, p.event.Repo, title, body)
		if err == nil {
			p.applied("issue", target, token, "applied")
			p.say(model.Saying{Where: fmt.Sprintf("issue #%d", number), Text: title + "\n\n" + text})
			return number, nil
		}
		if k := github.KindOf(err); k == github.Gone || k == github.Forbidden { // issues are off, or not the token's to open
			p.Log.Warn("flaky_not_filed", "pr_number", p.event.Number, "error", err)
			return 0, nil
		} else if k != github.Unclear || sends == maxSends {
			return 0, err
		}
	}
}

// runAgain has the failed jobs of a workflow run run once more, unless that was done, or the run is not about the head any
// more.
func (p *pass) runAgain(ctx context.Context, r model.Rerun) (bool, error) {
	token, target := journal.Token("rerun", p.marker.Key, strconv.FormatInt(r.Run, 10)), strconv.FormatInt(r.Run, 10)
	if p.snap.Pull.HeadSHA != p.marker.Start {
		return false, nil
	}
	for sends := 1; ; sends++ {
		now, err := p.GitHub.Run(ctx, p.event.Repo, r.Run)
		if err != nil {
			return false, err
		}
		if !now.Known {
			return false, nil
		}
		if now.Attempt > r.Attempt || !now.Completed {
			p.applied("rerun", target, token, "present")
			return true, nil
		}
		if err := p.alive(); err != nil {
			return false, err
		}
		err = p.GitHub.RerunFailed(ctx, p.event.Repo, r.Run)
		switch k := github.KindOf(err); {
		case err == nil:
			p.applied("rerun", target, token, "applied")
			return true, nil
		case k == github.Running:
			return true, nil
		case k == github.NoRerun, k == github.Forbidden:
			p.Log.Warn("not_run_again", "pr_number", p.event.Number, "run", r.Run, "error", err)
			return false, nil
		case k != github.Unclear || sends == maxSends:
			return false, err
		}
	}
}
