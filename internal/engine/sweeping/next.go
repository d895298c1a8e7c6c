package sweeping

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"

	"github.com/mergexo/mergexo/internal/config"
	"github.com/mergexo/mergexo/internal/engine/effect"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/github"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/turn"
)

// reading is one number as a sweep has read it.
type reading struct {
	*thread.Thread
	known thread.Survey // with the answers to what the next step depends on
	due   bool          // a visit has work there
}

// next has a run look at a number, and notes it as work if that run would ask or do anything. Where the answer to a question decides
// that is asked for many numbers at once, the number waits for it.
func (s *sweeper) next(ctx context.Context, f *scan, p *reading) error {
	probe := &effect.Probe{}
	w := *s.World
	w.Effects, w.Git.Opening, w.Claims, w.Log = probe, probe.Opening, maps.Clone(s.Claims), slog.New(slog.DiscardHandler)
	w.Random = func() string { return "surveyed" }
	var err error
	if w.GitHub, err = github.Closed(func() error { return probe.End("a question") }); err != nil {
		return err
	}
	t := *p.Thread
	t.World, t.Log, t.Report, t.Survey = &w, w.Log, &model.Report{}, &p.known
	p.known.Asks, p.known.End, p.known.Runs, p.known.Pulls = thread.Asks{}, probe.End, f.runs, f.pulls
	err = s.runner.Survey(ctx, &t)
	stop := (*thread.Stop)(nil)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case probe.Next() != "":
		p.due = p.known.Asks.None()
	case errors.As(err, &stop):
		p.due = stop.Agent
	case errors.Is(err, config.ErrInvalid):
		s.Log.Warn("left_out", p.NumberKey(), p.Event.Number, "error", err)
	default:
		p.due = err != nil
	}
	pending, strangers := p.pending()
	if p.known.Asks.Logins = append(p.known.Asks.Logins, strangers...); !p.known.Asks.None() {
		f.undecided = append(f.undecided, p)
		return nil
	}
	if p.due {
		f.work = append(f.work, model.Work{Number: p.Event.Number, IsIssue: !p.Snap.IsPull(), Why: []model.Reason{p.known.Due}, Since: p.known.Since})
	}
	f.tellPending(p.Event.Number, pending)
	return nil
}

// pending counts the feedback on a pull request that waits for an answer, whether or not it would be taken up now. strangers are the
// people whose rights decide about that and are not known.
func (p *reading) pending() (count int, strangers []string) {
	if g, unmet := model.Unmet(turn.Gates(p.Snap, p.State, p.Policy)); !p.Snap.IsPull() || unmet && (g.Name == turn.GateTracked || g.Name == model.GateOpen) {
		return 0, nil // people talk to each other
	}
	all := turn.Candidates(p.Snap, p.State, p.Policy)
	return len(turn.Allowed(all, p.Memory.Rights, p.Policy)), turn.UnknownRights(all, p.Memory.Rights, p.State.Settled, p.Policy)
}

// mostUndecided is how many numbers wait for answers at once, with all that was read of them.
const mostUndecided = 200

// takeIn is next for a number that was just read. Where many wait, those are decided that need nothing that is yet to be read.
func (s *sweeper) takeIn(ctx context.Context, f *scan, p *reading) error {
	if err := s.next(ctx, f, p); err != nil || len(f.undecided) < mostUndecided+f.late {
		return err
	}
	err := s.decideThose(ctx, f, func(p *reading) bool { return len(p.known.Asks.Pulls) == 0 && !p.known.Asks.Roadmap })
	f.late = len(f.undecided)
	return err
}

// decide finds the next step at every number that waits for answers, once all numbers were read.
func (s *sweeper) decide(ctx context.Context, f *scan) error {
	if err := s.decideThose(ctx, f, func(*reading) bool { return true }); err != nil {
		return err
	}
	f.people = slices.DeleteFunc(f.people, func(login string) bool { return f.rights[login] < model.PermissionWrite })
	return nil
}

// decideThose repeats the looks at some of the numbers that wait, until none of these does.
func (s *sweeper) decideThose(ctx context.Context, f *scan, which func(*reading) bool) error {
	for {
		var now []*reading
		rest := slices.DeleteFunc(f.undecided, func(p *reading) bool {
			is := which(p)
			if is {
				now = append(now, p)
			}
			return is
		})
		if f.undecided = rest; len(now) == 0 {
			return nil
		}
		if err := s.answer(ctx, f, now); err != nil {
			return err
		}
		for _, p := range now {
			thread.Fold(p.Thread)
			if err := s.next(ctx, f, p); err != nil {
				return err
			}
		}
	}
}

// answer asks each question once for all numbers that wait for its answer.
func (s *sweeper) answer(ctx context.Context, f *scan, list []*reading) error {
	var logins, heads []string
	var pulls, threads []int
	for _, p := range list {
		asks := p.known.Asks
		logins, pulls = append(logins, asks.Logins...), append(pulls, asks.Pulls...)
		if asks.Runs {
			heads = append(heads, p.Snap.Pull.HeadSHA)
		}
		if asks.Resolved {
			threads = append(threads, p.Event.Number)
		}
		if asks.Roadmap {
			changed := f.roadmapChanged(p)
			p.known.Roadmap = &changed
		}
	}
	if err := s.askRights(ctx, f, logins); err != nil {
		return err
	}
	if err := s.askRuns(ctx, f, heads); err != nil {
		return err
	}
	if err := s.askPulls(ctx, f, pulls); err != nil {
		return err
	}
	return s.askThreads(ctx, list, threads)
}

// askRights asks what people may do.
func (s *sweeper) askRights(ctx context.Context, f *scan, logins []string) error {
	slices.Sort(logins)
	logins = slices.DeleteFunc(slices.Compact(logins), func(login string) bool { _, known := f.rights[login]; return known })
	if len(logins) == 0 {
		return nil
	}
	got, err := s.GitHub.Repositories.Permissions(ctx, s.repo, logins)
	for _, login := range logins {
		f.rights[login] = got[login] // absent: none
	}
	return err
}

// askRuns asks for the workflow runs on heads.
func (s *sweeper) askRuns(ctx context.Context, f *scan, heads []string) error {
	if len(heads) == 0 {
		return nil
	}
	runs, err := s.GitHub.Actions.RunsOn(ctx, s.repo, heads)
	if github.KindOf(err) == github.Forbidden { // checks are not the token's to read: one by one, then
		runs, err = s.runsOf(ctx, heads)
	}
	for _, head := range heads {
		f.runs[head] = runs[head]
	}
	return err
}

// runsOf asks about each head by itself.
func (s *sweeper) runsOf(ctx context.Context, heads []string) (map[string][]model.CIRun, error) {
	runs := map[string][]model.CIRun{}
	for _, head := range heads {
		var err error
		if runs[head], err = s.GitHub.Actions.RunsOf(ctx, s.repo, head); err != nil {
			return nil, err
		}
	}
	return runs, nil
}

// askPulls asks how numbers stand that were not found open.
func (s *sweeper) askPulls(ctx context.Context, f *scan, numbers []int) error {
	states, err := states(ctx, s, slices.DeleteFunc(slices.Clone(numbers), func(n int) bool { return f.open[n] }))
	for _, n := range numbers {
		if f.pulls[n] = states[n]; f.open[n] {
			f.pulls[n] = model.PullRef{Number: n, State: model.PullOpen}
		}
	}
	return err
}

// askThreads asks which review threads of pull requests people have resolved.
func (s *sweeper) askThreads(ctx context.Context, list []*reading, numbers []int) error {
	if len(numbers) == 0 {
		return nil
	}
	by, err := s.GitHub.Threads.Resolved(ctx, s.repo, numbers)
	for _, p := range list {
		for i, c := range p.Snap.Comments {
			if login := by[c.Thread()]; p.known.Asks.Resolved && c.Kind == model.KindReview && login != "" {
				p.Snap.Comments[i].Resolved, p.Snap.Comments[i].ResolvedBy = true, login
			}
		}
		p.known.Resolved = p.known.Resolved || p.known.Asks.Resolved
	}
	return err
}
