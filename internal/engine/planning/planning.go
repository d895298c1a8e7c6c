// Package planning carries out a merged roadmap. It opens an issue for each item, labels it once everything that it needs is
// done, and keeps a comment on the roadmap's issue up to date.
package planning

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"time"

	"github.com/mergexo/mergexo/internal/engine/effect"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/git/transport"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/roadmap"
)

// Issue is the issue of a roadmap.
type Issue struct {
	*thread.Thread
	lock    *transport.Lock
	noSubs  bool        // the server has no sub-issues
	writes  []time.Time // that create content, by this look
	stopped bool        // at the limit of an hour
	summons []int       // items that were labeled and that no agent has begun
}

// Continue takes the roadmap as far as it goes now. What it opened in an earlier run is recognized by its token, so that every step
// may be repeated.
func (p *Issue) Continue(ctx context.Context) error {
	defer unlock(ctx, p)
	if p.Survey != nil {
		since := time.Time{}
		if p.State.Roadmap != nil {
			since = p.State.Roadmap.UpdatedAt
		}
		p.Due(model.DueRoadmap, since)
		if changed, err := p.Survey.RoadmapChanged(); !changed || err != nil {
			return cmp.Or(err, error(thread.End(model.ResultNothing, "the roadmap of issue %d is as it was", p.Event.Number)))
		}
	}
	v, err := p.look(ctx)
	if err != nil {
		return err
	}
	if v.problem == "" && (v.creates() || v.lost) {
		if v, err = alone(ctx, p); err != nil {
			return err
		}
	}
	if v.problem == "" {
		if err := p.announce(ctx, v); err != nil {
			return err
		}
		if err := p.act(ctx, v); err != nil {
			return err
		}
	}
	if err := p.show(ctx, v); err != nil {
		return err
	}
	unlock(ctx, p)
	if p.stopped {
		return thread.End(model.ResultRetry, "the roadmap of issue %d has more issues to open than GitHub allows in an hour; the next run continues", p.Event.Number)
	}
	if err := p.finish(ctx, v); err != nil {
		return err
	}
	if err := summon(ctx, p, v); err != nil {
		return err
	}
	if thread.Changed(p.Report.Effects) {
		p.Report.Result, p.Report.Reason = model.ResultDone, ""
		return nil
	}
	return thread.End(model.ResultNothing, "the roadmap of issue %d is up to date", p.Event.Number)
}

// creates says that issues have to be opened.
func (v *view) creates() bool {
	return slices.ContainsFunc(v.step.Acts, func(a roadmap.Act) bool { return a.Kind == roadmap.Create })
}

// lease is how long a run may take for the opening of issues.
const lease = 30 * time.Minute

// alone takes the lock under which issues are opened, and looks again: another run may have opened some since.
func alone(ctx context.Context, p *Issue) (*view, error) {
	if err := p.Open(ctx); err != nil {
		return nil, err
	}
	hold := transport.Lease{Holder: thread.Holder(p.Thread), Until: p.ServerNow().Add(lease), URL: p.Run.URL}
	gone := func(holder string) (bool, error) { return thread.HolderGone(ctx, p.Thread, holder) }
	var err error
	p.lock, err = thread.TakeLock(ctx, p.Thread, fmt.Sprintf("mergexo/roadmap/%d", p.Event.Number), hold, gone) // beside those of branches
	if locked := (*transport.ErrLocked)(nil); errors.As(err, &locked) {
		return nil, thread.End(model.ResultRetry, "another run is opening the issues of the roadmap of issue %d, until %s at most", p.Event.Number, locked.Until.UTC().Format(time.RFC3339))
	}
	if err != nil {
		return nil, err
	}
	if err := p.Read(ctx); err != nil {
		return nil, err
	}
	return p.look(ctx)
}

func unlock(ctx context.Context, p *Issue) {
	if p.lock == nil {
		return
	}
	if _, err := p.Apply(context.WithoutCancel(ctx), effect.Unlock(p.lock)); err != nil {
		p.Log.Warn("lock_left", "issue_number", p.Event.Number, "error", err)
	}
	p.lock = nil
}

// announce posts the comment before the first issue is opened. So where there are issues and no comment, somebody has deleted it.
func (p *Issue) announce(ctx context.Context, v *view) error {
	if p.State.Roadmap != nil || !v.creates() {
		return nil
	}
	planned := *v
	planned.step.Rows = slices.Clone(v.step.Rows)
	planned.undo()
	m := marker(p, &planned)
	m.Unfinished = true
	return write(ctx, p, m, roadmap.Text(planned.plan, planned.step, planned.file, planned.problem))
}

// marker is what the comment keeps for the next run. Until the issue is closed that is to be closed, there is something left to do.
func marker(p *Issue, v *view) model.RoadmapMarker {
	finished := v.closed || wanted(p, v) || v.finishes() && !p.Snap.Issue().Reopened
	return model.RoadmapMarker{
		Repo: p.Event.Repo.String(), Number: p.Event.Number, File: v.file.Path, Pull: v.pull, Items: v.step.Entries(), Found: v.found,
		Looked: v.looked(p.Settings.Roadmap.MaxActive), Unfinished: p.stopped || v.finishes(), Lost: v.lost && v.problem != "",
		Finished: finished && v.step.Over,
	}
}

// write brings the comment to what the marker says.
func write(ctx context.Context, p *Issue, m model.RoadmapMarker, text string) error {
	said := model.Posted[model.RoadmapMarker]{}
	if p.State.Roadmap != nil {
		said = *p.State.Roadmap
	}
	said.Marker = m
	r := thread.Record{
		Thread: p.Thread, Comment: &said.CommentID, Marker: &said.Marker, Kind: journal.KindRoadmap,
		Token: journal.Token("roadmap", strconv.Itoa(p.Event.Number)), About: fmt.Sprintf("the roadmap of issue %d", p.Event.Number),
	}
	err := r.Write(ctx, text)
	p.State.Roadmap = &said
	return err
}

// show brings the comment on the roadmap's issue up to date.
func (p *Issue) show(ctx context.Context, v *view) error {
	m, text := marker(p, v), roadmap.Text(v.plan, v.step, v.file, v.problem)
	if said := p.State.Roadmap; said != nil {
		now := m
		now.Found = said.Marker.Found
		if v.problem != "" {
			m.Found = now.Found
		}
		body, err := p.Codec.Encode(journal.Body{Text: text})
		if err != nil || said.Text == journal.Text(body) && reflect.DeepEqual(said.Marker, now) {
			return err
		}
	}
	return write(ctx, p, m, text)
}

// finishes says that the issue of the roadmap has to be closed.
func (v *view) finishes() bool {
	return v.problem == "" && !v.closed && slices.ContainsFunc(v.step.Acts, func(a roadmap.Act) bool { return a.Kind == roadmap.Finish })
}

// finish closes the issue of a roadmap whose items are all done. One that was reopened before counts as finished only after that, since
// a run that finds it open cannot tell whether it was closed in between.
func (p *Issue) finish(ctx context.Context, v *view) error {
	if !v.finishes() {
		return nil
	}
	_, err := p.Apply(ctx, effect.CloseIssue(p.Event.Number, true, token(p, "finish", "")))
	if err != nil || !p.Snap.Issue().Reopened {
		return err
	}
	v.closed = true
	return p.show(ctx, v)
}

func token(p *Issue, kind, key string) string {
	return journal.Token("roadmap_"+kind, strconv.Itoa(p.Event.Number), key)
}

// summon has the items begin that were labeled: in runs of their own where the workflow can be started, and else in this one,
// one after the other. A label that is put on with a workflow's token starts nothing by itself:
// https://docs.github.com/actions/security-for-github-actions/security-guides/automatic-token-authentication#using-the-github_token-in-a-workflow
func summon(ctx context.Context, p *Issue, v *view) error {
	for _, number := range p.summons {
		cause := "roadmap item " + strconv.Itoa(number)
		if slices.Contains(p.Memory.Followed, cause) {
			continue
		}
		if started, err := thread.StartRun(ctx, p.Thread, v.branch, number); err != nil {
			return err
		} else if !started {
			return thread.Follow(p.Thread, number, cause)
		}
	}
	return nil
}
