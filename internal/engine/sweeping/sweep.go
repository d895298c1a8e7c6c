// Package sweeping finds what lost events and dead runs left behind in a repository, and has each number continue. It also
// reports conflicts and rewritten histories, and deletes refs that nobody needs.
//
// A number goes this way in a sweep:
//
//	sweeping.Sweep                   sweeps a repository
//	sweeping.sweeper.scan            reads a little about every number
//	sweeping.sweeper.next            has a run look at one, up to its first effect or question
//	sweeping.sweeper.decide          asks what many numbers need, in one call each, and repeats these looks
//	sweeping.sweeper.keepPlace       keeps the place that it got to for the next sweep
//	sweep.Order                      orders the work; a pure function
//	sweeping.sweeper.heal            links the mirrors of forks that somebody else made
//	sweeping.sweeper.visitAll        visits each for one turn, then again
//	sweeping.sweeper.visit           visits one number
//	engine.Engine.step               continues as for an event
package sweeping

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/git/transport"
	"github.com/mergexo/mergexo/internal/github"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/sweep"
)

// Options say what of a repository is swept.
type Options struct {
	// Only are the numbers to be swept, and Repository what is the whole repository's. Neither: everything that is due.
	Only       []int
	Repository bool
	// Plan finds out what is due, and does nothing about it.
	Plan bool
}

func (o Options) all() bool { return len(o.Only) == 0 && !o.Repository }

// Swept is the result of a sweep.
type Swept struct {
	// Results are the reports of what was worked at, in that order. The last one, with number 0, is the sweep's own: what was
	// done about the repository as a whole, and all calls that belong to no other.
	Results []model.Report
	// Work is what was found to be done, in the order of work.
	Work  []model.Work
	Board model.Board
}

// Result is how the whole sweep ended: failed where anything did, retry where something is left for the next one, and
// blocked pull requests are no failure of a sweep.
func (s Swept) Result() model.Result {
	result := model.ResultNothing
	for _, r := range s.Results {
		switch {
		case r.Result == model.ResultFailed:
			return model.ResultFailed
		case r.Result == model.ResultDone && result == model.ResultNothing:
			result = model.ResultDone
		case r.Number == 0 && r.Result == model.ResultRetry:
			result = model.ResultRetry
		}
	}
	return result
}

// Runner works at the numbers that a sweep finds, and ends its reports.
type Runner interface {
	// Survey looks at a thread that has a survey as a run of its number would. The error is how that run ended.
	Survey(ctx context.Context, t *thread.Thread) error
	// Task is the work at the number of an event.
	Task(ev model.Event) Task
	// Train takes the merge train of a base branch further; asked are all pull requests whose requests are in it, and seen is the
	// greatest count of its record that they name.
	Train(ctx context.Context, repo model.Repo, base string, asked []int, seen int64, rep *model.Report) error
	// Trains are the merge trains as they are now: that of a base, or of all where it is empty.
	Trains(ctx context.Context, repo model.Repo, base string) ([]model.Train, error)
	// Conclude puts the end of a run into its report. It gives back the error that is the caller's to fix.
	Conclude(err error, rep *model.Report) error
}

// Task is the work at one number in a sweep.
type Task interface {
	// Turn takes the number as far as one turn goes, behind what that wants to be done first. again says that it may have more
	// to be done.
	Turn(ctx context.Context, rep *model.Report) (again bool, t *thread.Thread, err error)
	// Leave ends the work.
	Leave()
}

// sweeper is one sweep over a repository.
type sweeper struct {
	*thread.World
	runner Runner
	repo   model.Repo
	opt    Options
	found  *scan
	own    model.Report // with number 0
	swept  Swept
	// planEnd is where a dry run ended what it tells of a train; nil where it did not.
	planEnd error
	// counted are the calls that are in some report: REST and GraphQL.
	counted [2]int
	// onlooks says that the token need not be the one that the work is done with.
	onlooks bool
	beside  []string // accounts with which MergeXO has worked here, found by who only looks
}

// Sweep finds everything in a repository that a lost trigger or a dead run left behind, and has it taken up in the order of
// model.Reasons. A number that has nothing to be done costs no call of its own. The error is for what the caller did wrong.
func Sweep(ctx context.Context, w *thread.World, runner Runner, repo model.Repo, opt Options) (Swept, error) {
	thread.Begins(w)
	began := w.Now()
	s := &sweeper{World: w, runner: runner, repo: repo, opt: opt, own: model.Report{Result: model.ResultNothing, Effects: []model.Effect{}}}
	err := error(thread.End(model.ResultNothing, "the agent phase does not sweep: a sweep starts a run for each number that needs an agent"))
	if w.Phase.Writes() {
		err = s.run(ctx)
	}
	count(s, &s.own)
	s.own.DurationMS = w.Now().Sub(began).Milliseconds()
	last := thread.IsLast(err)
	err = runner.Conclude(err, &s.own)
	if s.own.Result == model.ResultNothing && thread.Changed(s.own.Effects) && !last {
		s.own.Result = model.ResultDone
	}
	s.swept.Results = append(s.swept.Results, s.own)
	return s.swept, err
}

// Board reads all that status, blocked list and the dashboard show, and changes nothing. Who conflicts with whom is what the
// last sweep has said. What could be read of a repository only in part is an error.
func Board(ctx context.Context, w *thread.World, runner Runner, repo model.Repo) (model.Board, error) {
	s := &sweeper{World: w, runner: runner, repo: repo, opt: Options{Plan: true}, onlooks: true}
	f, _, err := s.scan(ctx)
	if err == nil && len(f.people) > 0 { // what they did with their own tokens counts, now that their rights are known
		s.beside = f.people
		f, _, err = s.scan(ctx)
	}
	if err = cmp.Or(err, f.cut); err != nil {
		return model.Board{}, err
	}
	f.board.Left = len(f.work)
	var bases []string // whose merge train has a record
	for _, ref := range f.refs {
		if base, is := transport.TrainBase(ref.Name); is {
			bases = append(bases, base)
		}
	}
	f.board.Trains, err = s.trains(ctx, bases)
	return f.board, err
}

// count adds to a report the calls since the last counting.
func count(s *sweeper, rep *model.Report) {
	rest, graphql := s.GitHub.Calls()
	rep.Calls.REST += rest - s.counted[0]
	rep.Calls.GraphQL += graphql - s.counted[1]
	s.counted = [2]int{rest, graphql}
}

func (s *sweeper) run(ctx context.Context) error {
	only := make([]model.Work, len(s.opt.Only))
	for i, n := range s.opt.Only {
		only[i] = model.Work{Number: n}
	}
	if !s.opt.all() && !s.opt.Repository {
		_, err := s.visitAll(ctx, only, len(only))
		return err
	}
	_, places, err := s.scan(ctx)
	s.keepPlace(ctx, places)
	if err != nil {
		return err
	}
	s.swept.Board, s.swept.Work = s.found.board, sweep.Order(s.found.work)
	if s.opt.Plan {
		return nil
	}
	if err := s.heal(ctx); err != nil {
		return err
	}
	most := len(only)
	if s.opt.all() {
		only = slices.DeleteFunc(slices.Clone(s.swept.Work), func(w model.Work) bool { return w.Number == 0 })
		most = s.found.base.Sweep.MaxItems
	}
	left, err := s.visitAll(ctx, only, most)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(s.swept.Work, func(w model.Work) bool { return w.Number == 0 }) {
		if err := s.repository(ctx); err != nil {
			return err
		}
	}
	if s.found.cut != nil {
		return s.found.cut
	}
	if left > 0 {
		why := fmt.Sprintf("[sweep] max_items is %d", most)
		s.leaveTo(left, why)
		return thread.End(model.ResultRetry, "%d more need work, left for the next sweep: %s", left, why)
	}
	return s.planEnd
}

// visit is one number that is being worked at.
type visit struct {
	model.Work
	Task
	report model.Report
	turns  int
}

// visitAll works at numbers in their order, each for one turn, and then at those that have more to be done, until nothing is
// left or so many numbers were moved on; it says how many have more to be done. What fails at one number is told in its report, and the
// others go on; only what would stop them too ends the sweep.
func (s *sweeper) visitAll(ctx context.Context, work []model.Work, most int) (left int, err error) {
	queue := make([]*visit, 0, len(work))
	for _, w := range work {
		queue = append(queue, &visit{Work: w, Task: s.runner.Task(swept(s.repo, w.Number)),
			report: model.Report{Result: model.ResultNothing, Number: w.Number, Effects: []model.Effect{}}})
	}
	all := slices.Clone(queue)
	defer func() {
		for _, v := range all {
			v.Leave()
			if v.turns > 0 {
				s.swept.Results = append(s.swept.Results, v.report)
			}
		}
	}()
	for moved := 0; len(queue) > 0 && moved < most; {
		v := queue[0]
		queue = queue[1:]
		before := len(v.report.Effects)
		again, err := s.visit(ctx, v)
		if err != nil {
			s.leaveTo(len(queue)+1, err.Error())
			return 0, err
		}
		if len(v.report.Effects) > before && v.turns == 1 { // what cannot be moved keeps nobody from their turn
			moved++
		}
		if again {
			queue = append(queue, v)
		}
	}
	return len(queue), nil
}

func (s *sweeper) leaveTo(n int, why string) { s.swept.Board.Left, s.swept.Board.LeftWhy = n, why }

// visit takes one number as far as one turn goes. The error is what ends the sweep.
func (s *sweeper) visit(ctx context.Context, v *visit) (again bool, err error) {
	count(s, &s.own)
	began := s.Now()
	s.Number = v.Number
	v.turns++
	again, t, err := v.Turn(ctx, &v.report)
	if s.found != nil {
		s.found.refresh(t)
	}
	count(s, &v.report)
	v.report.DurationMS += s.Now().Sub(began).Milliseconds()
	fatal := ends(ctx, err)
	if n := (*thread.Stop)(nil); errors.As(err, &n) && n.Agent {
		_, failed := thread.StartRun(ctx, t, t.Snap.DefaultBranch, v.Number) // agents have a job of their own, and this one has none
		fatal = ends(ctx, failed)
	}
	if thread.HadDone(&v.report, err) {
		err = nil
	}
	s.conclude(v, err)
	return again && err == nil, fatal
}

// conclude puts the end of a visit into its report.
func (s *sweeper) conclude(v *visit, err error) {
	rep := &v.report
	mistake := s.runner.Conclude(err, rep)
	rep.Mistaken = mistake != nil
	if github.KindOf(mistake) == github.NotFound { // it was deleted or transferred meanwhile
		rep.Result, rep.Reason, rep.Mistaken = model.ResultNothing, mistake.Error(), false
	}
	if rep.Result == model.ResultNothing && thread.Changed(rep.Effects) && !thread.IsLast(err) {
		rep.Result, rep.Reason = model.ResultDone, ""
	}
}

// swept is the event that a sweep makes of a number.
func swept(repo model.Repo, number int) model.Event {
	return model.Event{Name: "schedule", Repo: repo, Number: number}
}

// ends is what would stop every other number, too: nil where it would not.
func ends(ctx context.Context, err error) error {
	switch k := github.KindOf(err); {
	case err == nil:
		return nil
	case ctx.Err() != nil, thread.Outlives(err), k == github.RateLimited, k == github.Unauthorized, k == github.Outdated, k == github.Expired, errors.Is(err, thread.ErrUsage):
		return err
	}
	return nil
}
