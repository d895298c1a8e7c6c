package landing

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/git/fetch"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/git/transport"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/merge"
	"github.com/mergexo/mergexo/internal/model"
)

// Aboard is a request to merge that is in the merge train. What it lands stands on what others land, and the repository's own
// CI tests it.
type Aboard struct {
	g   *merger
	one *member
}

// Aboard is the request to merge the pull request, where it is open and of no group, or the try beside it; nil: there is none.
func (p *Request) Aboard() *Aboard {
	all := p.State.Requests()
	if len(all) == 0 || all[0].Marker.Leader != "" {
		return nil
	}
	return &Aboard{g: newMerger(p, *all[len(all)-1])}
}

// Comment is the comment of the request, and Marker its marker.
func (a *Aboard) Comment() int64 { return a.g.comment }

// Marker is the marker of the request.
func (a *Aboard) Marker() model.MergeMarker { return a.g.marker }

// Cancelled names who has taken the request back; "": nobody.
func (a *Aboard) Cancelled() string {
	if a.g.marker.Reason == model.CodeCancelled {
		return a.g.marker.By
	}
	return ""
}

// Ready evaluates all conditions of the request.
func (a *Aboard) Ready(ctx context.Context) (merge.Verdict, error) {
	v, err := a.g.Request.Ready(ctx, a.g.marker)
	if err != nil {
		return merge.Verdict{}, err
	}
	a.one = a.g.self(v.Way)
	return v, nil
}

// Hold has the comment of the request say what it waits for, as that of one that is in no train. Once nothing is in the way, the
// request joins the train again.
func (a *Aboard) Hold(ctx context.Context, v merge.Verdict) error {
	a.g.tried = false
	_, err := a.g.wait(ctx, v.Code, v.Reason, merge.WaitText(a.g.Snap.Pull, a.g.waiting(v), v))
	return told(err)
}

// Held is what the request waits for, where that is not its turn in the train; "": nothing.
func (a *Aboard) Held() string {
	m := a.g.marker
	if m.State != model.MergeWaiting || m.Reason == model.CodeTrain || m.Reason == model.CodeCancelled {
		return ""
	}
	return cmp.Or(m.Detail, string(m.Reason))
}

// Build makes the commits of the approved head on top of onto, with the checkout of home, and returns the last one. A *Failure
// says why that cannot be.
func (a *Aboard) Build(ctx context.Context, home *thread.Thread, onto string) (tip string, err error) {
	if a.one == nil {
		if v, err := a.Ready(ctx); err != nil {
			return "", err
		} else if v.Way.Strategy == "" {
			return "", &Failure{Failure: merge.Failure{Code: model.CodeStrategy, Detail: v.Reason}}
		}
	}
	m := a.one
	m.is.BaseSHA = "" // a car that this run built before may have stood on commits that the base does not have yet
	thread.Share(m.Thread, home)
	if err := findMergeBase(ctx, a.g, m); err != nil {
		return "", err
	}
	if err := m.buildOn(ctx, onto); err != nil {
		return "", err
	}
	a.g.marker.Strategy = m.way.Strategy // which the comment takes up as it tells of the car
	return m.made.Tip, nil
}

// Conflicts are where the approved head conflicts with a commit, and with what there; nil: it does not, or that cannot be told now.
func (a *Aboard) Conflicts(ctx context.Context, home *thread.Thread, onto string) *merge.Conflicts {
	_, err := a.Build(ctx, home, onto)
	if s := (*Failure)(nil); errors.As(err, &s) && s.conflict != nil {
		return a.one.conflicts(ctx, s.conflict)
	}
	return nil
}

// ByGitHub says that GitHub itself merges the request that was built, as the settings have it now.
func (a *Aboard) ByGitHub() bool { return a.one != nil && model.ByGitHub(a.one.way.Strategy) }

// titleAboard is the title that the merge train knows the head by from a request that this one takes the place of, whose car may be
// under test; "": there is none.
func titleAboard(p *Request, m model.MergeMarker) string {
	said := p.State.Merge()
	if said == nil || !said.Marker.Open() || said.Marker.Head != m.Head || said.Marker.Base != m.Base {
		return ""
	}
	return said.Marker.Title
}

// Landing is a car that lands: requests whose tips stand on one another, and the last of which was tested.
type Landing struct {
	Home *thread.Thread // with an open checkout that has the commits
	Base string         // branch
	From string         // where the base is, on which the first stands
	All  []*Aboard
	Tips []string // of each
	By   []Built  // how each was built, as the train recorded it; zero: it did not
	// Checks are those that have passed on the last tip.
	Checks []model.TrainCheck
}

// Land moves the heads of the pull requests to their tips, and then the base to the last of them, which it returns, or the
// commit that GitHub made. Nothing moves unless all conditions of all still hold: Unready is of the first that does not. A
// *Failure says why it did not happen, Outdated that the car has to be built again, and Foreign that it must not land.
func (l Landing) Land(ctx context.Context) (sha string, err error) {
	on := l.From
	for i, a := range l.All {
		if err := a.take(ctx, l.Home, on, l.Tips[i], l.By[i]); err != nil {
			return "", err
		}
		on = l.Tips[i]
	}
	for i, a := range l.All {
		a.one.car = &merge.Car{Tip: on, Checks: l.Checks}
		switch why := a.one.strayed(l.Tips[i]); {
		case a.ByGitHub() && why != "":
			return "", &Unready{Number: a.one.is.Number, Verdict: merge.Verdict{Code: model.CodeHeadMoved, Reason: why}}
		case a.one.way.Strategy == model.StrategyQueue:
			return "", &Unready{Number: a.one.is.Number, Verdict: merge.Verdict{Code: model.CodeStrategy, Reason: "the settings now leave the merge to GitHub's merge queue: repeat the command to put it there"}}
		case len(l.All) > 1 && a.ByGitHub():
			return "", &Apart{}
		}
	}
	if err := ctx.Err(); err != nil {
		return "", err
	}
	ctx = context.WithoutCancel(ctx)
	for _, a := range l.All {
		if err := a.announce(ctx); err != nil {
			return "", err
		}
	}
	var all []*member
	for _, a := range l.All {
		all = append(all, a.one)
	}
	last := all[len(all)-1]
	if last.way.Strategy == model.StrategyAPI { // GitHub takes no word about the base that it merges into: it is looked at just before
		at, err := transport.BranchTip(ctx, l.Home.Checkout, l.Base)
		if err == nil && at != l.From {
			err = failed(model.CodeBaseMoved, movedTo(l.Base, l.From, at))
		}
		if err != nil {
			return "", err
		}
	}
	if err := land(ctx, all); err != nil {
		return "", err
	}
	return last.is.Tip, l.showMerged(ctx)
}

// showMerged waits for GitHub to show all as merged that it can show so. What it does not show in time each request settles by
// itself.
func (l Landing) showMerged(ctx context.Context) error {
	var numbers []int
	for _, a := range l.All {
		if !merge.NeverShown(a.one.way.Strategy, a.one.Snap.Pull) {
			numbers = append(numbers, a.one.is.Number)
		}
	}
	if len(numbers) < 2 {
		return nil
	}
	all, _, err := l.Home.GitHub.Pulls.AwaitAll(ctx, l.Home.Event.Repo, numbers, badgeLimit, func(all map[int]model.PullNow) bool {
		return !slices.ContainsFunc(numbers, func(n int) bool { return all[n].State == model.PullOpen })
	})
	for _, a := range l.All {
		if all[a.one.is.Number].State == model.PullMerged {
			a.one.Snap.Pull.State = model.PullMerged
		}
	}
	return err
}

// take looks once more at all conditions of a request, and takes over what was built and tested for it.
func (a *Aboard) take(ctx context.Context, home *thread.Thread, on, tip string, by Built) error {
	v, err := a.Ready(ctx)
	if err != nil {
		return err
	}
	m := a.one
	if !v.Go {
		return &Unready{Number: m.is.Number, Verdict: v}
	}
	if a.g.marker.Tries() { // whatever the record says
		return &Unready{Number: m.is.Number, Verdict: merge.Verdict{Code: model.CodeStrategy, Reason: "it was only a try"}}
	}
	if err := halted(ctx, a.g); err != nil {
		if s := (*Failure)(nil); errors.As(err, &s) {
			return &Unready{Number: m.is.Number, Verdict: merge.Verdict{Wait: true, Code: s.Code, Reason: s.Detail}}
		}
		return err
	}
	thread.Share(m.Thread, home)
	if err := findMergeBase(ctx, a.g, m); err != nil {
		return err
	}
	head, _ := m.source()
	if err := fetch.Commits(ctx, m.Checkout, on, tip, head); err != nil { // in one go
		return failureOf(err, "")
	}
	if err := m.buildOn(ctx, on); err != nil {
		if old := a.outdated(by); old != nil && is[*Failure](err) { // which building it again tells
			return old
		}
		return err
	}
	if m.is.Tree, err = history.TreeOf(ctx, m.Checkout, tip); err != nil {
		return err
	}
	alike, err := m.makes(ctx, on, tip)
	if err != nil {
		return err
	}
	if !alike {
		return a.unlike(ctx, on, tip, by)
	}
	if err := m.adopt(ctx, on, tip); err != nil {
		return err
	}
	m.steers, err = steering(ctx, m.Checkout, m.Settings, on, tip)
	return err
}

// announce writes down what is about to land of a request, before anything moves.
func (a *Aboard) announce(ctx context.Context) error {
	g, m := a.g, a.one
	g.members = []*member{m}
	g.sign(&g.marker)
	k := &g.marker
	k.State, k.Strategy, k.Reason, k.Detail, k.Cause, k.Car = model.MergeRunning, m.way.Strategy, "", "", "", true
	if err := g.record(ctx); err != nil {
		return err
	}
	return g.lookAgain(ctx, g.marker.Claim) // whoever took it back meanwhile has said so in a comment of its own
}

// Finish says that the request has landed, and tidies up behind it.
func (a *Aboard) Finish(ctx context.Context) error {
	g := a.g
	if a.one != nil && a.one.is.Tip != "" {
		a.one.is.Landed = a.one.is.Tip
		g.members = []*member{a.one}
	} else if landed, err := landedBefore(ctx, g); err != nil || !landed {
		return err
	} else if m := g.own(); !m.foreign {
		m.car = &merge.Car{}
	}
	return told(g.finish(ctx))
}

// told leaves out the end of a step that only says how it ended.
func told(err error) error {
	if s := (*thread.Stop)(nil); errors.As(err, &s) {
		return nil
	}
	return err
}

// Fail ends the request, which did not land. The Stop is how a run ends that was about it.
func (a *Aboard) Fail(ctx context.Context, f merge.Failure) (*thread.Stop, error) {
	a.g.tried = true
	end, err := a.g.fail(ctx, &Failure{Failure: f})
	return end, told(err)
}

// Report ends a request that only tried.
func (a *Aboard) Report(ctx context.Context, text string) error {
	a.g.marker.Reason, a.g.marker.Detail = model.CodeTried, ""
	return bury(ctx, a.g, &Failure{Failure: merge.Failure{Code: model.CodeTried}}, text)
}

// Tell has the comment of the request say how it stands in the train. detail is the same in one line.
func (a *Aboard) Tell(ctx context.Context, record int64, detail, text string) error {
	a.g.tried, a.g.marker.Record = false, record
	_, err := a.g.wait(ctx, model.CodeTrain, detail, text)
	return told(err)
}

// Say posts a comment in the conversation of the request, unless one with this token is there by now: a run that is over may have
// posted it after this one read the conversation.
func (a *Aboard) Say(ctx context.Context, token, text string) error {
	if err := a.g.Read(ctx); err != nil {
		return err
	}
	if a.g.State.Tokens[token] != 0 {
		return nil
	}
	_, err := a.g.Thread.Comment(ctx, token, journal.Body{Text: text}, nil)
	return err
}

// Pull is the pull request of the request.
func (a *Aboard) Pull() model.Pull { return a.g.Snap.Pull }

// Reported are the checks of the head, as far as this run has read them; false: not all of them were.
func (a *Aboard) Reported() ([]model.Check, bool) {
	facts := a.g.MergeFacts
	if facts == nil {
		return nil, false
	}
	return facts.Checks, !facts.Partial && facts.ChecksHidden == (model.Hidden{})
}
