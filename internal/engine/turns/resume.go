package turns

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/engine/work"
	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/checkout"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/git/merging"
	"github.com/mergexo/mergexo/internal/lineage"
	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
)

// Earlier returns the newest attempt that left work: one that this claim replaces, or one that ended with a stop or a block. The
// zero value means none.
func Earlier(p *Attempt) model.Unfinished {
	for _, t := range slices.Backward(p.Marker.Tries) {
		if t.Kept.Left() && !p.Afresh {
			return model.Unfinished{Try: t, Events: p.Marker.Events}
		}
	}
	if u := p.State.Unfinished; u != nil && !p.Afresh {
		return *u
	}
	return model.Unfinished{}
}

// resume puts the work of the newest earlier attempt on top of the head, wherever it is kept. If it cannot, a note says that the
// agent starts over, and how to use the work.
func resume(ctx context.Context, p *Attempt) error {
	t := Earlier(p)
	if !t.Kept.Left() || t.Kept.Branch == p.Snap.Pull.HeadRef {
		return nil
	}
	why, err := putOnTop(ctx, p, t)
	if err != nil || why == "" {
		return err
	}
	p.Log.Info("work_not_resumed", p.NumberKey(), p.Event.Number, "turn_key", p.Marker.Key, "checkpoint", t.Kept.SHA, "reason", why)
	how := fmt.Sprintf("git fetch origin %s && git cherry-pick %s..FETCH_HEAD", t.Kept.SHA, markdown.Short(cmp.Or(t.Kept.Base, work.Base(p.Work))))
	switch {
	case t.Kept.Bundle != "":
		how = markdown.Rescue(t.Kept.Bundle)
	case t.Kept.Bundled():
		how = markdown.Unhide(t.Kept.Branch, true)
	}
	work.Note(p.Work, fmt.Sprintf("the agent started over, without the work of an earlier attempt (%s): %s; to use that work: %s", markdown.Short(t.Kept.SHA), why, how))
	return nil
}

// putOnTop is resume; why says what is in the way.
func putOnTop(ctx context.Context, p *Attempt, t model.Unfinished) (why string, err error) {
	base, known := cmp.Or(t.Kept.Base, work.Base(p.Work)), history.FetchedTips(p.Checkout)
	heard := func(key string) bool { return slices.Contains(p.Marker.Events, key) }
	if p.Issue == nil && !slices.ContainsFunc(t.Events, heard) {
		return "the comments that it is about were changed or deleted", nil
	}
	if t.Kept.Bundled() && t.Kept.Bundle == "" {
		return "no branch may hold it", nil
	}
	sha, err := fetchKept(ctx, p, t.Try)
	if git.IsNoRef(err) {
		return "GitHub does not have it", nil
	}
	var grown, part model.Relation
	from := base
	if sha != t.Kept.SHA && !t.Kept.Saved() {
		from = t.Kept.SHA
	}
	if err == nil {
		grown, err = thread.RelationIn(ctx, p.Checkout, from, sha)
	}
	if err == nil {
		part, err = thread.RelationIn(ctx, p.Checkout, sha, work.Base(p.Work))
	}
	switch {
	case err == nil && lineage.Decide(grown) != lineage.Pass:
		return "its history was rewritten", nil
	case err != nil || lineage.Decide(part) == lineage.Pass:
		return "", err
	}
	found, err := work.InspectBeyond(ctx, p.Work, base, sha, append(known, base))
	if err != nil || found.Reason != "" {
		return found.Detail, err
	}
	p.TakenUp, err = checkout.ReplayOrMerge(ctx, p.Checkout, base, sha, work.Base(p.Work), fmt.Sprintf("Merge branch '%s'", p.Snap.Pull.HeadRef))
	if conflict := (*merging.ErrConflict)(nil); errors.As(err, &conflict) {
		return "it conflicts with what is on the branch now", nil
	}
	return "", err
}

// fetchKept fetches the work of an earlier attempt, with what people have added to its branch, and returns its tip.
func fetchKept(ctx context.Context, p *Attempt, t model.Try) (sha string, err error) {
	if t.Kept.Bundle != "" { // somebody may have pushed it by now
		return t.Kept.SHA, history.FetchCommits(ctx, p.Checkout, t.Kept.SHA)
	}
	sha, err = history.FetchRef(ctx, p.Checkout, t.Kept.Ref())
	if err == nil && t.Kept.Saved() {
		return checkout.Flatten(ctx, p.Checkout, sha, work.CheckpointMessage(p.About()))
	}
	return sha, err
}

// Supersede notes that head contains the work that this attempt continued. The branch of that work is deleted once a comment
// names the head.
func Supersede(ctx context.Context, p *Attempt, head string) {
	at := slices.IndexFunc(p.Marker.Tries, func(t model.Try) bool { return t.Kept.Left() && t.Kept == Earlier(p).Kept })
	if p.TakenUp == "" || head == "" || at < 0 || p.Marker.Tries[at].Kept.Hidden() {
		return
	}
	if relation, err := history.Relation(ctx, p.Checkout, p.TakenUp, head); err == nil && lineage.Decide(relation) == lineage.Pass {
		k := &p.Marker.Tries[at].Kept
		p.Inherited = append(p.Inherited, git.Ref{Name: k.Ref(), SHA: k.SHA})
		*k = model.Kept{SHA: head}
	}
}
