package sweeping

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/mergexo/mergexo/internal/engine/effect"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/git/merging"
	"github.com/mergexo/mergexo/internal/git/transport"
	"github.com/mergexo/mergexo/internal/github"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/lineage"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/sweep"
)

// matrixRefs is where a sweep leaves word of the state that it has looked at last, as the name of a ref: the next one sees
// by the list of refs alone that nothing has changed, and fetches nothing.
const matrixRefs = hiddenRefs + "radar/"

// maxPairs is how many pairs of pull requests one sweep holds against each other.
const maxPairs = 5000

// wholeWork finds what is due for the whole repository.
func (s *sweeper) wholeWork(ctx context.Context, f *scan) error {
	var why []model.Reason
	if len(f.links) > 0 {
		why = append(why, model.DueLink)
	}
	if len(f.trains) > 0 {
		why = append(why, model.DueTrain)
	}
	if len(f.heads) > 0 && !slices.ContainsFunc(f.refs, func(r model.Ref) bool { return r.Name == matrixRefs+f.fingerprint() }) {
		why = append(why, model.DueConflicts)
	}
	var err error
	if f.leftovers, err = s.leftovers(ctx, f); err != nil {
		return err
	}
	if len(f.leftovers) > 0 {
		why = append(why, model.DueCleanUp)
	}
	if len(why) > 0 {
		f.work = append(f.work, model.Work{Why: why})
	}
	return nil
}

// fingerprint is a name for all that the conflict matrix and the guard of histories look at.
func (f *scan) fingerprint() string {
	parts := []string{"radar", "1"}
	heads := slices.SortedFunc(slices.Values(f.heads), func(a, b seen) int { return a.Number - b.Number }) // a sweep may begin in the middle
	for _, h := range heads {
		parts = append(parts, strconv.Itoa(h.Number), h.SHA, h.Base, h.baseSHA, strconv.FormatBool(h.told))
	}
	return journal.Token(parts...)
}

// leftovers are the refs that nobody needs. How numbers stand that are not open is asked only where they have any.
func (s *sweeper) leftovers(ctx context.Context, f *scan) ([]model.Ref, error) {
	var ask []int
	sweep.Leftovers(f.refs, func(number int) (model.PullState, bool) {
		if !f.open[number] {
			ask = append(ask, number)
		}
		return model.PullOpen, true
	})
	states, err := states(ctx, s, ask)
	if err != nil {
		return nil, err
	}
	gone := sweep.Leftovers(f.refs, func(number int) (model.PullState, bool) {
		if f.open[number] {
			return model.PullOpen, true
		}
		ref, known := states[number]
		return ref.State, known
	})
	for _, ref := range f.refs { // of a turn that has its receipt, the stage was only left behind
		if rest, staged := strings.CutPrefix(ref.Name, hiddenRefs+"turn/"); staged && f.done[rest[strings.LastIndexByte(rest, '/')+1:]] {
			gone = append(gone, ref)
		}
	}
	return gone, nil
}

// repository does what is the whole repository's: heads that are not what was accepted, conflicts, refs that are left.
func (s *sweeper) repository(ctx context.Context) error {
	f := s.found
	for _, base := range slices.Sorted(maps.Keys(f.trains)) {
		switch err := s.runner.Train(ctx, s.repo, base, f.trains[base], f.counts[base], &s.own); {
		case ends(ctx, err) != nil:
			return err
		case thread.IsLast(err):
			s.planEnd = cmp.Or(s.planEnd, err)
		case err != nil:
			s.Log.Warn("train_not_advanced", "base", base, "error", err)
		}
	}
	shown, err := s.trains(ctx, slices.Collect(maps.Keys(f.trains)))
	if ends(ctx, err) != nil {
		return err
	} else if err != nil {
		s.Log.Warn("train_not_shown", "error", err)
	}
	s.swept.Board.Trains = shown
	matrix := slices.ContainsFunc(f.work, func(w model.Work) bool { return w.Number == 0 && slices.Contains(w.Why, model.DueConflicts) })
	p := anyThread(s)
	defer p.Close()
	if err := p.Open(ctx); err != nil {
		return err
	}
	if matrix {
		if err := s.conflictMatrix(ctx, p); err != nil {
			return err
		}
	}
	return s.cleanUp(ctx, p)
}

// trains reads the merge trains of bases by name, up to the first that cannot be read.
func (s *sweeper) trains(ctx context.Context, bases []string) (all []model.Train, err error) {
	for _, base := range slices.Sorted(slices.Values(bases)) {
		some, err := s.runner.Trains(ctx, s.repo, base)
		if err != nil {
			return all, err
		}
		all = append(all, some...)
	}
	return all, nil
}

// anyThread is a thread that is about no number, for its checkout.
func anyThread(s *sweeper) *thread.Thread {
	p := thread.New(s.World, swept(s.repo, 0), &s.own, nil)
	p.Snap.Viewer = s.found.viewer
	return p
}

// conflictMatrix finds who conflicts with whom and whose history was rewritten, says so where it is news, and leaves word that this
// state was looked at.
func (s *sweeper) conflictMatrix(ctx context.Context, p *thread.Thread) error {
	f := s.found
	heads := make([]merging.PullHead, len(f.heads))
	for i, h := range f.heads {
		heads[i] = h.PullHead
	}
	found, err := merging.FindConflicts(ctx, p.Checkout, heads, maxPairs)
	if err != nil {
		return err
	}
	if found.Unlooked > 0 {
		s.Log.Warn("pairs_not_looked_at", "pairs", found.Unlooked)
	}
	f.board.Conflicts = nil
	for _, c := range found.Conflicts {
		f.board.Conflicts = append(f.board.Conflicts, model.BoardConflict{Number: c.Number, With: c.With, Paths: c.Paths})
	}
	s.swept.Board.Conflicts = f.board.Conflicts
	if err := s.guardHeads(ctx, p, found.Gone); err != nil {
		return err
	}
	for i := range f.heads {
		f.heads[i].baseSHA = cmp.Or(found.Bases[f.heads[i].Base], f.heads[i].baseSHA)
	}
	whole, failed := len(found.Gone) == 0, error(nil)
	for _, h := range f.heads {
		if slices.Contains(found.Gone, h.Number) || found.Bases[h.Base] == "" || !h.told && h.sticky == nil {
			continue
		}
		m := marker(s.repo, f.heads, h, found)
		if found.Unlooked > 0 { // what was not looked at is not gone
			m = sweep.Kept(h.sticky, m, func(number int) bool { return f.open[number] })
		}
		if !h.told {
			m.Paths, m.With = nil, nil
		}
		if sweep.Sticky(h.sticky, m) != sweep.None {
			err := s.tellConflicts(ctx, p, m)
			if fatal := ends(ctx, err); fatal != nil {
				return fatal
			}
			switch { // what is wrong with one pull request keeps no other from being told
			case ownAffair(err):
				s.Log.Warn("left_out", "pr_number", h.Number, "error", err)
			case err != nil:
				failed = cmp.Or(failed, err)
			}
		}
	}
	if failed != nil { // the next sweep tries again
		return failed
	}
	if !whole { // somebody pushed meanwhile: the next sweep looks at what is there then
		return nil
	}
	return s.leaveWord(ctx, p)
}

// marker is what conflicts with one of the heads.
func marker(repo model.Repo, heads []seen, h seen, found merging.Matrix) model.ConflictMarker {
	m := model.ConflictMarker{Repo: repo.String(), Number: h.Number, Head: h.SHA, Base: h.Base, BaseSHA: found.Bases[h.Base]}
	for _, c := range found.Conflicts {
		switch {
		case c.Number == h.Number && c.With == 0:
			m.Paths = c.Paths
		case c.Number == h.Number:
			m.With = with(m.With, heads, c.With, c.Paths)
		case c.With == h.Number:
			m.With = with(m.With, heads, c.Number, c.Paths)
		}
	}
	slices.SortFunc(m.With, func(a, b model.ConflictWith) int { return a.Number - b.Number })
	return m
}

// with adds a pull request that another one conflicts with, unless it was closed while others were visited.
func with(all []model.ConflictWith, heads []seen, number int, paths []string) []model.ConflictWith {
	at := slices.IndexFunc(heads, func(h seen) bool { return h.Number == number })
	if at < 0 {
		return all
	}
	return append(all, model.ConflictWith{Number: number, Head: heads[at].SHA, Paths: paths})
}

// guardHeads takes every pull request in turn whose head may not descend from the last accepted one. Git tells without the
// network for almost all of them; the pull request's own turn then makes sure.
func (s *sweeper) guardHeads(ctx context.Context, p *thread.Thread, gone []int) error {
	var work []model.Work
	for _, h := range s.found.heads {
		if h.accepted == "" || slices.Contains(gone, h.Number) {
			continue
		}
		descends := false
		for _, was := range append([]string{h.accepted}, h.tips...) {
			relation, err := history.Relation(ctx, p.Checkout, was, h.SHA)
			descends = descends || err == nil && lineage.Decide(relation) == lineage.Pass
		}
		if !descends {
			work = append(work, model.Work{Number: h.Number, Why: []model.Reason{model.DueHead}})
		}
	}
	_, err := s.visitAll(ctx, work, len(work))
	return err
}

// tellConflicts brings the comment on conflicts of one pull request up to date, by what is there now: somebody may have closed it
// meanwhile, or another sweep may have said it.
func (s *sweeper) tellConflicts(ctx context.Context, at *thread.Thread, m model.ConflictMarker) error {
	rep := &model.Report{Result: model.ResultNothing, Number: m.Number, Effects: []model.Effect{}}
	p := thread.New(s.World, swept(s.repo, m.Number), rep, nil)
	defer p.Close()
	if err := p.Begin(ctx); errors.Is(err, thread.ErrIdentity) { // which the visit of this number tells
		return nil
	} else if err != nil {
		return skipGone(err)
	}
	act := sweep.Sticky(p.State.Conflicts, m)
	if p.Snap.Pull.State != model.PullOpen && act != sweep.Delete || p.Snap.Pull.HeadSHA != m.Head {
		return nil
	}
	id, err := int64(0), error(nil)
	if p.State.Conflicts != nil {
		id = p.State.Conflicts.CommentID
	}
	r := thread.Record{
		Thread: p, Comment: &id, Marker: &m, Kind: journal.KindConflicts, Token: journal.Token("conflicts", strconv.Itoa(m.Number)),
		About: fmt.Sprintf("the conflicts of pull request %d", m.Number),
	}
	switch act {
	case sweep.None:
		return nil
	case sweep.Delete:
		err = p.Remove(ctx, id, r.Token)
	case sweep.Edit:
		err = r.Write(ctx, sweep.ConflictText(p.Snap.Pull.URL, m, culprits(ctx, s, at, m)))
	case sweep.Post:
		err = r.Claim(ctx, sweep.ConflictText(p.Snap.Pull.URL, m, culprits(ctx, s, at, m)))
	}
	rep.Result = model.ResultDone
	s.swept.Results = append(s.swept.Results, *rep)
	return skipGone(err)
}

// skipGone forgives that something was deleted meanwhile.
func skipGone(err error) error {
	if k := github.KindOf(err); k == github.NotFound || k == github.Gone {
		return nil
	}
	return err
}

// culprits are the commits on the base that are in the way, and the pull requests that they came with. What cannot be found
// out is left out.
func culprits(ctx context.Context, s *sweeper, p *thread.Thread, m model.ConflictMarker) []sweep.Culprit {
	var out []sweep.Culprit
	var shas []string
	for _, path := range m.Paths[:min(len(m.Paths), maxCulprits)] {
		commits, err := merging.Culprits(ctx, p.Checkout, m.BaseSHA, m.Head, []string{path})
		if err != nil || len(commits) == 0 {
			s.Log.Debug("culprit_unknown", "pr_number", m.Number, "path", path, "error", err)
			continue
		}
		out, shas = append(out, sweep.Culprit{Path: path, Commit: commits[0]}), append(shas, commits[0].SHA)
	}
	if len(shas) == 0 {
		return nil
	}
	pulls, err := s.GitHub.Pulls.OfCommits(ctx, s.repo, shas)
	if err != nil {
		s.Log.Debug("pulls_of_culprits_unknown", "error", err)
	}
	for i := range out {
		if of := pulls[out[i].Commit.SHA]; len(of) > 0 {
			out[i].Pull = of[0].Number
		}
	}
	return out
}

// maxCulprits is for how many paths of a conflict a culprit is named.
const maxCulprits = 5

// leaveWord notes that the state of this sweep was looked at, in place of all earlier ones.
func (s *sweeper) leaveWord(ctx context.Context, p *thread.Thread) error {
	f := s.found
	name := matrixRefs + f.fingerprint()
	if _, err := p.Apply(ctx, effect.PlaceRef(name, f.tip, false)); err != nil && github.KindOf(err) != github.RefExists {
		return err
	}
	for _, ref := range f.refs {
		if strings.HasPrefix(ref.Name, matrixRefs) && ref.Name != name {
			f.leftovers = append(f.leftovers, ref)
		}
	}
	return nil
}

// cleanUp deletes what nobody needs.
func (s *sweeper) cleanUp(ctx context.Context, p *thread.Thread) error {
	f := s.found
	var locks []git.Ref // of merges. Whether one is over its own commit tells.
	for _, ref := range f.refs {
		if strings.HasPrefix(ref.Name, hiddenRefs+"lock/") {
			locks = append(locks, git.Ref(ref))
		}
	}
	gone, err := transport.LapsedLocks(ctx, p.Checkout, locks)
	if err != nil {
		return err
	}
	for _, ref := range f.leftovers {
		gone = append(gone, git.Ref(ref))
	}
	if len(gone) == 0 {
		return nil
	}
	_, err = p.Apply(ctx, effect.CleanUp(gone))
	return err
}
