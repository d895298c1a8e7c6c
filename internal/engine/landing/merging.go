package landing

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/git/merging"
	"github.com/mergexo/mergexo/internal/git/transport"
	"github.com/mergexo/mergexo/internal/merge"
	"github.com/mergexo/mergexo/internal/model"
)

// Request holds what a run knows about the requests to merge a pull request.
type Request struct {
	*thread.Thread
	asked   bool         // for a merge, by a command
	Landed  bool         // this run has merged the pull request
	Refused *thread.Stop // why the requested merge is impossible
	// Voided reads the pull request again. It returns a Stop if it is a fork's and its acceptance has become void, and otherwise nil.
	Voided func(context.Context) (*thread.Stop, error)
	queue  *model.QueueView // where it stands in GitHub's merge queue, as read last
	// grouped says that it lands with others, for which there is no train: they are tested here, and nothing else tests them.
	grouped bool
	// Train is the base whose merge train has the request, or had it when the run began; "": no train.
	Train string
}

// merger brings one request to merge to its end, which is on the base branch or in words that say why not.
type merger struct {
	*Request
	comment int64
	heading string // the first paragraph of its comment: what was asked, and by whom
	text    string // what the comment says below it
	marker  model.MergeMarker
	members []*member // that land together, in their order
	began   time.Time
	tried   bool // this run has begun to merge
	builds  int  // of this run
	lost    bool // the request is another run's by now, or nobody's
}

// member is one pull request that lands.
type member struct {
	*Request
	at      place
	command string // that asked for it
	own     bool   // the request stands on it
	way     merge.Way
	title   string // that its commits are named by; "": that of the pull request
	is      model.MergeMember
	head    string // what its branch is at: the approved head, or a tip of ours
	known   []string
	div     history.Divergence
	made    merging.Merged
	tests   merge.TestRun
	car     *merge.Car // that it came by; nil: by none
	lock    *transport.Lock
	// mirror is the branch that lands in place of the head, by its full name; the zero value: the head itself does.
	mirror  git.Ref
	foreign bool      // somebody else has merged it
	closed  bool      // GitHub did not show it as merged
	badge   time.Time // since when GitHub is waited for to show it as merged; zero: it is not
	notes   []string  // what else people should know
	steers  []string  // what lands of the files that decide over the repository
}

func newMerger(p *Request, said model.Posted[model.MergeMarker]) *merger {
	heading, text, _ := strings.Cut(said.Text, "\n\n")
	return &merger{Request: p, comment: said.CommentID, heading: heading, text: text, marker: said.Marker, began: p.Now()}
}

// advance takes the request as far as it goes now, again where other settings apply by then.
func (g *merger) advance(ctx context.Context) (*thread.Stop, error) {
	for {
		end, err := advanceOnce(ctx, g)
		if s := (*Failure)(nil); !errors.As(err, &s) || !s.again {
			return end, err
		}
		for _, m := range g.members { // as before another build: its tests may have changed what is read of the checkout
			thread.UseOwnClone(m.Thread)
		}
	}
}

func advanceOnce(ctx context.Context, g *merger) (*thread.Stop, error) {
	if done, err := landedBefore(ctx, g); done || err != nil {
		return g.ended(ctx, err)
	}
	if g.marker.State == model.MergeRunning && len(g.marker.Members) > 0 { // what has landed of a group is not asked about again
		return g.ended(ctx, g.run(ctx, wayBegun(g)))
	}
	if err := untilIdle(ctx, g.Request); err != nil {
		return nil, err
	}
	v, err := g.Evaluate(ctx, g.marker, "")
	if err != nil {
		return g.ended(ctx, err)
	}
	if !v.Go || v.Way.Strategy != model.StrategyQueue {
		if away, err := leaveQueue(ctx, g); away != nil || err != nil {
			return away, err
		}
	}
	switch {
	case v.Wait:
		return g.wait(ctx, v.Code, v.Reason, merge.WaitText(g.Snap.Pull, waiting(g, v), v))
	case !v.Go:
		return g.ended(ctx, &Failure{Failure: merge.Failure{Code: v.Code, Detail: v.Reason}})
	case v.Way.Train:
		alone, err := inNoGroup(ctx, g)
		if err != nil || alone {
			return board(ctx, g, v, err)
		}
		g.grouped = true
		return advanceOnce(ctx, g)
	case g.marker.Tries():
		return g.ended(ctx, noTry())
	case v.Way.Strategy == model.StrategyQueue:
		return throughQueue(ctx, g, v)
	}
	return g.ended(ctx, g.run(ctx, v.Way))
}

// noTry is for a try that no train would test: then nothing but a landing would be left of it.
func noTry() *Failure {
	return &Failure{Failure: merge.Failure{Code: model.CodeStrategy, Detail: "a try is for the merge train, and no train tests this pull request: it is in a group, or the settings have changed"}}
}

// wayBegun is how a group lands that a run has begun to merge.
func wayBegun(g *merger) merge.Way {
	g.grouped = true
	way, err := merge.ChooseFor(policy(g.Request), g.Snap.Pull, model.MergeFacts{}, g.marker)
	if err != nil {
		return merge.Way{Strategy: g.marker.Strategy}
	}
	return way
}

// inNoGroup says that the pull request lands without others of a group, which are tested here.
func inNoGroup(ctx context.Context, g *merger) (bool, error) {
	list, err := linkedPulls(ctx, g)
	return len(list) < 2, err
}

// board has the request wait in the merge train.
func board(ctx context.Context, g *merger, v merge.Verdict, err error) (*thread.Stop, error) {
	if err != nil {
		return g.ended(ctx, err)
	}
	g.Request.Train = g.marker.Base
	if g.marker.State == model.MergeWaiting && g.marker.Reason == model.CodeTrain {
		return thread.End(model.ResultNothing, "%s", merge.ShortLine(g.Event.Number, model.CodeTrain, g.marker.Detail)), nil
	}
	g.marker.Strategy, g.marker.Approved = v.Way.Strategy, v.Approved
	g.marker.Title = cmp.Or(g.marker.Title, g.Snap.Pull.Title) // a car from before it waited may be on its way
	return g.wait(ctx, model.CodeTrain, "it joins the merge train of "+g.marker.Base, merge.TrainText(g.Snap.Pull, g.marker, merge.Place{Try: v.Try}))
}

// waiting is the marker with what it waits for.
func waiting(g *merger, v merge.Verdict) model.MergeMarker {
	m := g.marker
	m.Reason, m.Detail = v.Code, thread.Clip(v.Reason)
	return m
}

// untilIdle waits for a turn that is at work on the same pull request, as long as a lock is waited for. Whoever evaluates the request
// sees who is at work.
func untilIdle(ctx context.Context, p *Request) error {
	again := func(ctx context.Context, rest time.Duration) error {
		if err := p.GitHub.Pause(ctx, rest); err != nil {
			return err
		}
		p.Liveness = nil
		return p.Read(ctx)
	}
	return whileBusy(ctx, p.Settings.Merge.LockTimeout, again, func() (bool, error) {
		live, err := thread.LiveTurn(ctx, p.Thread)
		return live != nil, err
	})
}

// The pauses in which something is waited for that another run does.
const (
	firstPause   = 500 * time.Millisecond
	longestPause = 5 * time.Second
)

// whileBusy looks again, with pauses that grow, while another run is at something, and no longer than limit. The error is that of the
// last look.
func whileBusy(ctx context.Context, limit time.Duration, pause func(context.Context, time.Duration) error, busy func() (bool, error)) error {
	for rest := firstPause; ; rest = min(2*rest, longestPause) {
		is, err := busy()
		if !is || rest > limit {
			return err
		}
		if err := pause(ctx, rest); err != nil {
			return err
		}
		limit -= rest
	}
}

// claim makes the request this run's, under the lock. A command that begins at once was posted as claimed. Between the look
// and the edit somebody may have ended the request, so that it is looked at again behind it.
func (g *merger) claim(ctx context.Context, way merge.Way) error {
	if g.Claims[g.marker.Claim] {
		return nil
	}
	if err := lookAgain(ctx, g, g.marker.Claim); err != nil {
		return err
	}
	sign(g.Request, &g.marker)
	g.marker.State, g.marker.Strategy, g.marker.Reason, g.marker.Detail, g.marker.Cause = model.MergeRunning, way.Strategy, "", "", ""
	if err := g.edit(ctx, merge.RunningText(g.Snap.Pull, g.marker, g.Settings.Merge.Attempts)); err != nil {
		return err
	}
	return lookAgain(ctx, g, g.marker.Claim)
}

// lookAgain reads the pull request again, and ends the run where the request is not what it was: over, taken back, replaced,
// or claimed by another run than the one with this claim.
func lookAgain(ctx context.Context, g *merger, claim string) error {
	if err := g.Read(ctx); err != nil {
		return err
	}
	now := standing(g)
	g.lost = now == nil || !now.Marker.Open() || now.Marker.Claim != claim
	switch {
	case now == nil:
		return thread.End(model.ResultRetry, "the request to merge pull request %d was replaced or deleted in the meantime", g.Event.Number)
	case !now.Marker.Open():
		return thread.End(model.ResultNothing, "the request to merge pull request %d is over, see %s", g.Event.Number, now.URL)
	case now.Marker.Reason == model.CodeCancelled && len(now.Marker.Members) > 0:
		return thread.End(model.ResultRetry, "the request to merge pull request %d was cancelled, but the comment does not say yet which part of its group has landed", g.Event.Number)
	case now.Marker.Reason == model.CodeCancelled:
		g.marker.State, g.marker.Reason = model.MergeFailed, model.CodeCancelled
		return cmp.Or(g.edit(ctx, merge.CancelText(g.Snap.Pull, g.marker, now.Marker.Detail)),
			error(thread.End(model.ResultNothing, "the request to merge pull request %d was cancelled", g.Event.Number)))
	case now.Marker.Claim != claim:
		return thread.End(model.ResultRetry, "another run is merging pull request %d, see %s", g.Event.Number, now.URL)
	}
	return nil
}

// standing is the request as it was read last; nil: it is not there, or another one has taken its place.
func standing(g *merger) *model.Posted[model.MergeMarker] {
	is := func(m model.Posted[model.MergeMarker]) bool { return m.CommentID == g.comment }
	at := slices.IndexFunc(g.State.Merges, is)
	if at < 0 || slices.ContainsFunc(g.State.Replaced(), is) {
		return nil
	}
	return &g.State.Merges[at]
}

// run prepares, tests and lands all members, again where a base moved meanwhile, as often as the settings allow.
func (g *merger) run(ctx context.Context, way merge.Way) (err error) {
	if g.marker.Tries() {
		return noTry()
	}
	g.tried = true
	if err := thread.ReadMergeFacts(ctx, g.Thread); err != nil {
		return err
	}
	if err := gather(ctx, g, way); err != nil {
		return err
	}
	if !g.Settings.Merge.Tests.None {
		if err := thread.Isolate(ctx, g.World, g.Settings); err != nil {
			return err
		}
	}
	defer func() { g.unlock(context.WithoutCancel(ctx)) }()
	if err := g.lock(ctx); err != nil {
		return err
	}
	if err := g.claim(ctx, way); err != nil {
		return err
	}
	for _, m := range g.members {
		thread.ClearWorkspace(m.Thread)
	}
	return landAll(ctx, g, g)
}

// steps are those of a landing that differ with who asked for it.
type steps interface {
	prepare(ctx context.Context, m *member) error // makes the commits that would land
	test(ctx context.Context, m *member) error
	begin(ctx context.Context) error // all is tested, and nothing has moved
}

// landAll builds, tests and lands all members, again where a base moved meanwhile, as often as the settings allow.
func landAll(ctx context.Context, g *merger, s steps) error {
	for {
		err := landOnce(ctx, g, s)
		g.builds++
		f := (*Failure)(nil)
		if !errors.As(err, &f) || f.Code != model.CodeBaseMoved {
			return err
		}
		if g.builds >= g.Settings.Merge.Attempts {
			f.again = false
			return err
		}
		g.Log.Info("merge_base_moved", g.NumberKey(), g.Event.Number, "base", g.marker.Base, "build", g.builds)
		if f.again {
			return err
		}
	}
}

// landOnce builds, tests and lands everything once.
func landOnce(ctx context.Context, g *merger, s steps) error {
	left := slices.DeleteFunc(slices.Clone(g.members), func(m *member) bool { return m.is.Landed != "" })
	for _, part := range []func(context.Context, *member) error{s.prepare, s.test} {
		for _, m := range left {
			if err := part(ctx, m); err != nil {
				return of(g, m, err)
			}
		}
	}
	// From here on nothing is left half-way because of a cancelled run.
	if err := ctx.Err(); err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx)
	if err := s.begin(ctx); err != nil {
		return err
	}
	for _, m := range left {
		if err := requested(g).Alive(); err != nil {
			return err
		}
		if err := land(ctx, []*member{m}); err != nil {
			return of(g, m, err)
		}
		m.is.Landed = m.is.Tip
		if len(g.members) == 1 {
			return nil
		}
		listMembers(g) // a run that goes on from here knows it
		if err := g.edit(ctx, merge.RunningText(g.Snap.Pull, g.marker, g.Settings.Merge.Attempts)); err != nil {
			return err
		}
	}
	return nil
}

// begin writes down what is about to land, and looks once more at all that may have changed meanwhile.
func (g *merger) begin(ctx context.Context) error {
	if err := g.record(ctx); err != nil {
		return err
	}
	return g.confirm(ctx)
}

// of names the member that a failure is about, where there are several.
func of(g *merger, m *member, err error) error {
	s := (*Failure)(nil)
	if len(g.members) > 1 && errors.As(err, &s) {
		if !isSelf(g, m) && s.Pull == nil {
			s.Pull, s.Repo = &m.Snap.Pull, m.is.Repo
		}
	}
	return err
}

func isSelf(g *merger, m *member) bool { return m.Request == g.Request }

// own is the member that the request stands on.
func (g *merger) own() *member {
	for _, m := range g.members {
		if isSelf(g, m) {
			return m
		}
	}
	return nil
}

// ended says how the request ended.
func (g *merger) ended(ctx context.Context, err error) (*thread.Stop, error) {
	s := (*Failure)(nil)
	switch {
	case err == nil:
		return nil, g.finish(ctx)
	case errors.As(err, &s) && s.again:
		return nil, err
	case errors.As(err, &s) && ctx.Err() == nil:
		return g.fail(ctx, s)
	}
	release(ctx, g, err)
	return nil, err
}
