// Package forks handles pull requests from forks. Once a label accepts one, it mirrors the commits, has programs evaluate and fix
// them, and requests the merge.
package forks

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mergexo/mergexo/internal/engine/effect"
	"github.com/mergexo/mergexo/internal/engine/landing"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/engine/work"
	"github.com/mergexo/mergexo/internal/external"
	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/transport"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/model"
)

// Pull is a pull request that may come from a fork, and then be let in.
type Pull struct {
	*work.Work
	Merging *landing.Request // which begins once it is in
}

// admission is the pull request of a fork on its way in: one label put on, for one head.
type admission struct {
	*Pull
	comment int64
	marker  model.ExternalMarker
}

// Continue takes the pull request of a fork as far as it goes without its merge, which then is a request like any other.
// The Stop says why nothing is done.
func (p *Pull) Continue(ctx context.Context) (*thread.Stop, error) {
	if !p.Snap.Pull.CrossRepo || !p.Settings.External.Enabled {
		return nil, nil
	}
	p.Due(model.DueReplies, time.Time{})
	if err := thread.GuardMarkers(ctx, p.Thread); err != nil {
		return nil, err
	}
	p.Due(model.DueExternal, time.Time{})
	facts := thread.ForkFacts(p.Thread, thread.Everybody)
	if external.Next(facts).Act != external.Nothing { // else nobody's right matters
		if err := thread.AskHost(ctx, p.Thread); err != nil {
			return nil, err
		}
		if err := thread.AskBranch(ctx, p.Thread); err != nil {
			return nil, err
		}
		facts = thread.ForkFacts(p.Thread, p.MayLetIn)
	}
	step := external.Next(facts)
	if external.LabelLeft(facts) && p.Snap.Pull.State == model.PullOpen {
		g := &admission{Pull: p, marker: p.State.External().Marker}
		return thread.End(model.ResultNothing, "%s", step.Why), g.takeOff(ctx)
	}
	if step.Act == external.Nothing {
		return thread.End(model.ResultNothing, "%s", step.Why), nil
	}
	p.Log.Info("external", "pr_number", p.Event.Number, "act", string(step.Act), "why", step.Why)
	return p.proceed(ctx, step)
}

// proceed does what the step says.
func (p *Pull) proceed(ctx context.Context, step external.Step) (*thread.Stop, error) {
	g := &admission{Pull: p, marker: step.Marker}
	g.marker.Repo, g.marker.Number = p.Event.Repo.String(), p.Event.Number
	if step.From != nil {
		g.comment = step.From.CommentID
	}
	if step.Act == external.Finish || step.Act == external.GoOn {
		g.marker = step.From.Marker
	}
	if _, asked := g.State.Commands[token(g, "merge")]; asked && step.Act == external.GoOn && g.marker.State == model.ExternalApproved {
		return nil, nil
	}
	if step.Act == external.GiveUp || step.Act == external.GoOn {
		if live, err := g.Busy(ctx, g.comment, step.From.Marker.Lease); err != nil || live {
			return thread.Taken(g.record().About, step.From.URL), err
		}
	}
	pull := p.Snap.Pull
	away := map[external.Act]func(model.Pull, model.ExternalMarker) string{
		external.Relabel: external.RelabelText, external.Void: external.VoidText, external.GiveUp: external.FailedText,
	}
	if text := away[step.Act]; text != nil { // to put the label on again is to look again
		if err := g.end(ctx, text(pull, step.Marker)); err != nil {
			return nil, err
		}
		if err := g.takeOff(ctx); err != nil || step.Act != external.Void {
			return thread.End(model.ResultNothing, "%s", step.Why), err
		}
		return thread.End(model.ResultNothing, "%s", step.Why), takeBack(ctx, g, step.From.Marker)
	}
	switch step.Act {
	case external.Finish:
		if err := g.close(ctx); err != nil {
			return nil, err
		}
		return thread.End(model.ResultDone, "%s", step.Why), nil
	case external.LetIn:
		if err := g.letIn(ctx); err != nil {
			return nil, err
		}
	}
	return g.goOn(ctx)
}

// Voided reads the pull request again, and says that what was let in is void where that is so by now. The Stop is nil where it
// is not.
func (p *Pull) Voided(ctx context.Context) (*thread.Stop, error) {
	if err := p.Read(ctx); err != nil {
		return nil, err
	}
	step := external.Next(thread.ForkFacts(p.Thread, p.MayLetIn))
	if step.Act != external.Void {
		return nil, nil
	}
	return p.proceed(ctx, step)
}

// token names what is said once of one letting in, whatever it comes to.
func token(g *admission, what string) string {
	m := g.marker
	return journal.Token("external", what, strconv.Itoa(g.Event.Number), m.Head, m.At.UTC().Format(time.RFC3339), m.Moved)
}

// record is the comment of the admission.
func (g *admission) record() thread.Record {
	rounds := time.Duration(2 * (g.Settings.Feedback.RepairRounds + 1))
	return thread.Record{
		Thread: g.Thread, Comment: &g.comment, Marker: &g.marker, Kind: journal.KindExternal, Token: token(g, "let_in"),
		About: fmt.Sprintf("pull request %d", g.Event.Number), Term: rounds*g.Settings.Agent.Timeout + thread.ClaimMargin,
	}
}

// letIn says that the pull request is let in, and claims the work on it. Of two runs that say so the first comment counts.
func (g *admission) letIn(ctx context.Context) error {
	name, _, err := g.mirror(ctx)
	if err != nil {
		return err
	}
	g.marker.Mirror, g.marker.Tip, g.marker.Attempt = name, g.marker.Head, 1
	g.comment = 0 // an earlier one says how something else ended
	g.record().Sign()
	return g.record().Claim(ctx, text(g))
}

// mirror is the name of the branch that has the head, or is to have it, and where it is now; "" for nowhere. A branch that
// has something else is somebody's, and is left alone.
func (g *admission) mirror(ctx context.Context) (name, at string, err error) {
	number, head := g.Event.Number, g.marker.Head
	refs, err := g.GitHub.Refs.List(ctx, g.Event.Repo, fmt.Sprintf("refs/heads/gh-pr-%d", number))
	if err != nil {
		return "", "", err
	}
	taken := map[string]string{}
	for _, ref := range refs {
		taken[strings.TrimPrefix(ref.Name, "refs/heads/")] = ref.SHA
	}
	name = transport.MirrorName(number, g.Snap.Pull.HeadRef, func(name string) bool { return taken[name] != "" && taken[name] != head })
	return name, taken[name], nil
}

// end says what it came to, which the rest of this run knows then.
func (g *admission) end(ctx context.Context, text string) error {
	g.marker.Reason = thread.Clip(g.marker.Reason)
	was := g.comment
	if err := g.record().End(ctx, token(g, string(g.marker.State)), text); err != nil || g.comment == was {
		return err
	}
	g.State.Externals = append(slices.Clone(g.State.Externals), model.Posted[model.ExternalMarker]{Marker: g.marker, CommentID: g.comment})
	return nil
}

// takeBack ends the request to merge what is void now. The comment that says so is that of the letting in.
func takeBack(ctx context.Context, g *admission, was model.ExternalMarker) error {
	said := g.State.Merge()
	if said == nil || !said.Marker.Open() || said.Marker.Mirror != was.Mirror {
		return nil
	}
	if err := landing.Supersede(ctx, g.Merging, *said, g.Snap.Pull.URL); err != nil {
		return err
	}
	return g.Read(ctx)
}

// takeOff takes the label off.
func (g *admission) takeOff(ctx context.Context) error {
	label := cmp.Or(g.marker.Label, g.Settings.External.Label)
	if !model.Named(g.Snap.Pull.Labels, label) {
		return nil
	}
	_, err := g.Apply(ctx, effect.Unlabel(g.Event.Number, label, token(g, "label")))
	return err
}

// close closes the pull request whose end is said. The label comes off with it: else it would be closed again whenever a
// person opens it.
func (g *admission) close(ctx context.Context) error {
	if _, err := g.Apply(ctx, effect.Close(g.Event.Number, token(g, "close"))); err != nil {
		return err
	}
	g.Snap.Pull.State = model.PullClosed
	dropMirror(ctx, g)
	return g.takeOff(ctx)
}

// dropMirror deletes the mirror of what is closed. Commits of ours that are nowhere else keep it.
func dropMirror(ctx context.Context, g *admission) {
	m := g.marker
	if m.Mirror == "" || m.Tip != m.Head {
		return
	}
	err := g.Open(ctx)
	if err == nil {
		_, err = g.Apply(ctx, effect.DeleteBranch(git.Ref{Name: "refs/heads/" + m.Mirror, SHA: m.Tip}, m.Mirror, token(g, "mirror")))
	}
	if err != nil {
		g.Log.Warn("mirror_kept", "pr_number", g.Event.Number, "branch", m.Mirror, "error", err)
	}
}
