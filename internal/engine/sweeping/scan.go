package sweeping

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/mergexo/internal/config"
	"github.com/mergexo/mergexo/internal/engine/effect"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/git/merging"
	"github.com/mergexo/mergexo/internal/github"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/needs"
	"github.com/mergexo/mergexo/internal/train"
	"github.com/mergexo/mergexo/internal/turn"
)

// scan is what a sweep knows of a repository: little of each number, since there may be thousands.
type scan struct {
	refs      []model.Ref  // hidden ones of ours, and branches that may be
	unlinked  map[int]link // of forks' pull requests of which no comment says that there is a mirror
	links     []link       // of those that have one
	heads     []seen
	open      map[int]bool                // numbers of open pull requests and issues that were read
	late      int                         // of those that wait, how many need what is read last
	undecided []*reading                  // that wait for answers
	rights    map[string]model.Permission // of people, by lower-case login
	runs      map[string][]model.CIRun
	pulls     map[int]model.PullRef
	work      []model.Work
	board     model.Board
	base      config.Settings // of the default branch
	viewer    model.Actor
	tip       string           // of the default branch; "" in a repository without a commit
	leftovers []model.Ref      // that nobody needs
	cut       error            // why not all pull requests were read
	invalid   error            // of the settings of the default branch
	cursor    string           // behind the last page that was read whole
	trains    map[string][]int // bases with a merge train, and the pull requests whose requests are in it
	counts    map[string]int64 // of the records of those trains, as the comments of the requests name them
	roadmaps  github.RoadmapsSeen
	asks      map[int]bool    // items of roadmaps and pull requests that wait for a person
	receipts  map[int]int     // the newest pull request of each item of a roadmap, by its issue
	done      map[string]bool // keys of turns with a receipt
	people    []string        // who may write and speaks as MergeXO under another account
	altered   int             // edited comments of outsiders whose first text was asked for
	unread    []int           // pull requests that are not ours by what was read, and have older comments
}

// seen is what the conflict matrix and the guard of histories have to know of an open pull request.
type seen struct {
	merging.PullHead
	baseSHA  string
	accepted string // "" where nothing is
	tips     []string
	told     bool // conflicts are told on it
	sticky   *model.Posted[model.ConflictMarker]
}

// scan reads the private refs, all open pull requests and the issues that may concern us, and finds what is due. The effects keep
// the place that it got to.
func (s *sweeper) scan(ctx context.Context) (*scan, []effect.Effect, error) {
	f := &scan{rights: map[string]model.Permission{}, runs: map[string][]model.CIRun{}, pulls: map[int]model.PullRef{}, unlinked: map[int]link{}, open: map[int]bool{}, done: map[string]bool{}, trains: map[string][]int{}, counts: map[string]int64{}, receipts: map[int]int{}, asks: map[int]bool{}, base: config.Defaults()}
	s.found = f
	f.board = model.Board{Repo: s.repo, URL: s.ServerURL + "/" + s.repo.String(), At: s.Now().UTC()}
	var err error
	if f.refs, err = s.GitHub.Refs.List(ctx, s.repo, hiddenRefs); err != nil {
		return f, nil, err
	}
	for _, read := range []func(context.Context, *scan) error{s.readPulls, s.readFurther, s.readIssues} {
		err := read(ctx, f)
		if github.KindOf(err) == github.RateLimited && len(f.open) > 0 { // what was read is worked at anyway
			f.cut, err = cmp.Or(f.cut, err), nil
		}
		if err = cmp.Or(err, f.invalid); err != nil {
			return f, nil, err
		}
	}
	if err := s.decide(ctx, f); err != nil {
		return f, nil, err
	}
	if f.cut != nil {
		return f, f.places(), nil
	}
	return f, f.places(), s.wholeWork(ctx, f)
}

// hiddenRefs is where all refs of ours are that are no branches.
const hiddenRefs = "refs/mergexo/"

// resumeRefs is where a sweep that had to stop early leaves the cursor that the next one goes on from.
const resumeRefs = hiddenRefs + "sweep/after/"

// readIssues reads the issues with a label of ours, and the branches that may be ours.
func (s *sweeper) readIssues(ctx context.Context, f *scan) error {
	l := f.base.Labels
	q := github.IssueSurveyQuery{Repo: s.repo, Roadmap: l.Roadmap, RoadmapDir: path.Clean(f.base.Roadmap.Dir), Roadmaps: &f.roadmaps, Labels: []string{l.Design, l.Roadmap, l.Bugfix, l.SmallJob}, Closed: recentlyClosed, ClosedSince: s.Now().Add(-recently), Also: f.also(s.lot), NoMirrors: len(f.unlinked) == 0, Posted: f.posted, Settled: s.settled(ctx, func(p *reading, _ []model.Comment, _ bool) bool {
		return !p.Snap.IsPull() && p.Snap.Issue().Closed
	})}
	branches, err := s.GitHub.Threads.SurveyIssues(ctx, q, func(snap model.Snapshot) error {
		p, err := s.reading(ctx, snap)
		if err != nil {
			return err
		}
		f.noteDone(p.State)
		if snap.IsPull() {
			return s.configured(p, func() error { return s.takeIn(ctx, f, p) })
		}
		if snap.Issue().Closed { // only what is left of it goes
			return nil
		}
		f.open[snap.Number] = true
		f.people = append(f.people, thread.ForeignPeople(p.State)...)
		f.noteItem(p)
		return s.configured(p, func() error {
			if row, ours := boardIssue(p.Thread, nextAtIssue(p.Thread)); ours {
				f.board.Issues = append(f.board.Issues, row)
			}
			return s.takeIn(ctx, f, p)
		})
	})
	f.refs = append(f.refs, branches...)
	for _, ref := range branches {
		name := strings.TrimPrefix(ref.Name, "refs/heads/")
		if base, is := train.BaseOf(name); is && f.trains[base] == nil {
			f.trains[base] = []int{}
		}
		f.link(name, ref.SHA)
	}
	return err
}

// recentlyClosed is how many pull requests are looked at that are no longer open, and more where more were closed recently:
// a run may have died between its merge and what it had to say of that.
const (
	recentlyClosed = 20
	recently       = 6 * time.Hour
)

// reservedPoints of the hour's GraphQL points are left by the reading for the work.
const reservedPoints = 200

// reading is the thread of a number that a survey has read.
func (s *sweeper) reading(ctx context.Context, snap model.Snapshot) (*reading, error) {
	p := &reading{Thread: thread.New(s.World, swept(s.repo, snap.Number), &model.Report{}, thread.NewMemory(s.found.rights))}
	p.Onlooks, p.Beside = s.onlooks, s.beside
	thread.Take(p.Thread, snap)
	return p, thread.LearnNames(ctx, p.Thread)
}

// settled is a query's Settled, by which a conversation that has had enough is not read to its end.
func (s *sweeper) settled(ctx context.Context, enough func(p *reading, read []model.Comment, settled bool) bool) func(model.Snapshot, []model.Comment) (model.Mark, bool) {
	return func(snap model.Snapshot, read []model.Comment) (model.Mark, bool) {
		p, err := s.reading(ctx, snap)
		if err != nil { // which the reading of what is found here meets again
			return model.Mark{}, false
		}
		if snap.IsPull() {
			_ = thread.Configure(p.Thread) // for the bots that it names; settings that do not hold are told of below
		}
		mark, settled := thread.Settled(p.Thread, snap, read)
		if enough(p, read, settled) {
			return ahead(s), true
		}
		return mark, settled
	}
}

// configured looks at a number whose base branch has settings. What does not hold there is that branch's own affair.
func (s *sweeper) configured(p *reading, look func() error) error {
	if !p.Snap.SettingsFound {
		return nil
	}
	err := thread.Configure(p.Thread)
	if ownAffair(err) {
		s.Log.Warn("left_out", p.NumberKey(), p.Event.Number, "error", err)
		return nil
	}
	if err != nil {
		return err
	}
	return look()
}

// ownAffair says that an error is about the settings of one pull request's base, or that they leave it out.
func ownAffair(err error) bool {
	leaves := (*thread.Stop)(nil)
	return errors.Is(err, config.ErrInvalid) || errors.As(err, &leaves) && leaves.Result == model.ResultNothing && !thread.IsLast(err)
}

// readPulls reads all open pull requests, from where the last sweep had to stop, and around.
func (s *sweeper) readPulls(ctx context.Context, f *scan) error {
	staged := f.staged()
	q := github.SurveyQuery{Repo: s.repo, Began: s.begun, Reserve: reservedPoints, After: f.resume(), Passed: func(cursor string) { f.cursor = cursor }, Posted: f.posted, Settled: s.settled(ctx, func(p *reading, read []model.Comment, settled bool) bool { // what people say among each other
		pull := p.Snap.Pull
		return !settled && !turn.Tracked(pull, p.State, p.Policy) && !slices.ContainsFunc(read, isOurs) && !slices.Contains(staged, pull.Number)
	})}
	read := func(snap model.Snapshot) error {
		if f.open[snap.Pull.Number] {
			return errAround
		}
		f.open[snap.Pull.Number] = true
		return s.readPull(ctx, f, snap)
	}
	err := s.GitHub.Threads.Survey(ctx, q, read)
	if err != nil || q.After == "" {
		return err
	}
	q.After = ""
	if err := s.GitHub.Threads.Survey(ctx, q, read); !errors.Is(err, errAround) {
		return err
	}
	return nil
}

// begun takes what a survey tells of the repository itself: who we are there, and the settings of the default branch.
func (s *sweeper) begun(snap model.Snapshot) {
	f := s.found
	f.viewer, f.tip = snap.Viewer, snap.DefaultSHA
	settings, err := config.ParseWithoutAgent(snap.Settings, snap.DefaultBranch+":"+thread.SettingsPath)
	switch {
	case snap.SettingsFound && err != nil:
		f.invalid = err
	case snap.SettingsFound:
		f.base = settings
	}
}

// errAround ends the reading of a sweep that began in the middle.
var errAround = errors.New("this pull request was read already")

// readPull takes what a sweep has to know of one open pull request.
func (s *sweeper) readPull(ctx context.Context, f *scan, snap model.Snapshot) error {
	p, err := s.reading(ctx, snap)
	if err != nil {
		return err
	}
	pull := snap.Pull
	head := seen{PullHead: merging.PullHead{Number: pull.Number, Ref: thread.HeadRef(p.Thread), SHA: pull.HeadSHA, Base: pull.BaseRef}, baseSHA: pull.BaseSHA, sticky: p.State.Conflicts}
	f.noteDone(p.State)
	for _, m := range p.State.Requests() {
		if m.Marker.Reason == model.CodeTrain {
			base := m.Marker.Base
			f.trains[base], f.counts[base] = append(f.trains[base], pull.Number), max(f.counts[base], m.Marker.Record)
		}
	}
	f.asks[pull.Number] = p.State.Block != nil && p.State.Block.Marker.Until.IsZero()
	tracked, configured := false, false
	err = s.configured(p, func() error {
		configured = true
		tracked = turn.Tracked(pull, p.State, p.Policy) || p.State.External() != nil
		head.told = p.Settings.Sweep.Conflicts == "all" || tracked && p.Settings.Sweep.Conflicts == "tracked"
		if tracked && p.State.Block == nil && !pull.CrossRepo && p.State.Accepted != pull.HeadSHA {
			head.accepted, head.tips = p.State.Accepted, slices.Clone(p.State.MergeTips)
		}
		if l, lacks := p.unlinked(); lacks {
			f.unlinked[pull.Number] = l
		}
		return nil
	})
	f.people = append(f.people, thread.ForeignPeople(p.State)...)
	if row := needs.PullRow(thread.PullStatus(p.Thread, nil), p.Snap.Pull, p.State); tracked || row.Need != nil || row.Merge != nil && row.Merge.Open() {
		f.board.Pulls = append(f.board.Pulls, row)
	} else {
		f.board.Untracked++
		if !snap.Floor.IsZero() && !slices.ContainsFunc(snap.Comments, isOurs) {
			f.unread = append(f.unread, pull.Number)
		}
	}
	f.heads = append(f.heads, head)
	if c := p.State.Conflicts; c != nil { // what was said last; the conflict matrix may know better
		f.board.Conflicts = append(f.board.Conflicts, saidConflicts(c.Marker)...)
	}
	if err != nil || !configured {
		return err
	}
	return s.takeIn(ctx, f, p)
}

// noteDone notes the turns that have their receipts.
func (f *scan) noteDone(st model.State) {
	for _, t := range st.Turns {
		if t.Marker.Phase == model.PhaseDone {
			f.done[t.Marker.Key] = true
		}
	}
}

// refresh brings what is known of a pull request up to where a visit has taken it.
func (f *scan) refresh(p *thread.Thread) {
	if made := p.Report.Opened; made.Number != 0 {
		i := slices.IndexFunc(f.heads, func(h seen) bool { return h.Number == made.Number })
		if i < 0 {
			i = len(f.heads)
			f.open[made.Number] = true
			f.heads = append(f.heads, seen{PullHead: merging.PullHead{Number: made.Number, Ref: fmt.Sprintf("refs/pull/%d/head", made.Number), SHA: made.HeadSHA, Base: made.BaseRef}})
		}
		f.heads[i].told = f.base.Sweep.Conflicts != "never"
	}
	at := slices.IndexFunc(f.heads, func(h seen) bool { return h.Number == p.Event.Number })
	switch pull := p.Snap.Pull; {
	case at < 0:
	case pull.State != model.PullOpen:
		f.heads = slices.Delete(f.heads, at, at+1)
		delete(f.open, pull.Number)
	default:
		h := &f.heads[at]
		h.SHA = cmp.Or(p.Report.HeadSHA, h.SHA)
		h.told = h.told || p.State.External() != nil && p.Settings.Sweep.Conflicts == "tracked"
		if h.accepted = p.State.Accepted; p.State.Block != nil || pull.CrossRepo || h.accepted == pull.HeadSHA || h.SHA != pull.HeadSHA {
			h.accepted = "" // it is what it should be, or somebody was told
		}
	}
}

// states asks how numbers stand, and nothing where there are none.
func states(ctx context.Context, s *sweeper, numbers []int) (map[int]model.PullRef, error) {
	if len(numbers) == 0 {
		return nil, nil
	}
	slices.Sort(numbers)
	return s.GitHub.Threads.States(ctx, s.repo, slices.Compact(numbers))
}

// saidConflicts are what the comment of a pull request says that it conflicts with. Of two that conflict with each other the
// later one says so.
func saidConflicts(m model.ConflictMarker) []model.BoardConflict {
	var out []model.BoardConflict
	if len(m.Paths) > 0 {
		out = append(out, model.BoardConflict{Number: m.Number, Paths: m.Paths})
	}
	for _, w := range m.With {
		if w.Number < m.Number {
			out = append(out, model.BoardConflict{Number: m.Number, With: w.Number, Paths: w.Paths})
		}
	}
	return out
}
