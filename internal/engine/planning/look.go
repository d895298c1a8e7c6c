package planning

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/flow"
	"github.com/mergexo/mergexo/internal/github"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/roadmap"
)

// view is all that GitHub shows of a roadmap at one time, and what follows from it.
type view struct {
	branch   string
	dir      string // the tree of the file's directory
	file     roadmap.File
	pull     int // that merged the file first
	plan     roadmap.Plan
	problem  string // why nothing new begins
	closed   bool   // this run has closed the issue of the roadmap
	lost     bool   // somebody edited or deleted the comment that knew the issues
	step     roadmap.Step
	facts    []roadmap.Fact
	ids      map[int]int64 // of the issues, by number
	labelled map[int]bool  // those that have the label of a flow now
	subs     []roadmap.Sub
	pulls    map[int]standing // the newest pull request of each item, by its issue
	found    time.Time        // when everything was looked for
	began    map[int]bool     // items on which an agent has worked, or works
	edited   map[int]bool     // items whose text somebody changed
	held     map[int]bool     // items that were looked at before they begin, and whether somebody changed them who may not start an agent
}

// standing is how the newest pull request for an item stands.
type standing struct {
	number int
	design bool
	state  model.PullState
}

// look reads how the roadmap stands, and decides what is to be done.
func (p *Issue) look(ctx context.Context) (*view, error) {
	v := &view{ids: map[int]int64{}, labelled: map[int]bool{}, pulls: map[int]standing{}, began: map[int]bool{}, edited: map[int]bool{}, held: map[int]bool{}, found: p.Snap.ReadAt.UTC().Truncate(time.Second)}
	file := ""
	for _, f := range p.State.Flows {
		if f.Marker.Flow == model.FlowRoadmap && f.Marker.Status == model.PhaseDone {
			file, v.pull = f.Marker.Doc, f.Marker.Pull
		}
	}
	if s := p.State.Roadmap; s != nil {
		file, v.pull = s.Marker.File, cmp.Or(v.pull, s.Marker.Pull)
	}
	seen, err := p.GitHub.Issues.Roadmap(ctx, github.RoadmapQuery{Repo: p.Event.Repo, Number: p.Event.Number, Path: file, Dir: path.Clean(p.Settings.Roadmap.Dir)})
	if err != nil {
		return nil, err
	}
	p.noSubs = p.noSubs || seen.NoSubs
	v.branch, v.dir = seen.Branch, cmp.Or(seen.Dir, seen.SHA)
	if path.Dir(file) != path.Clean(p.Settings.Roadmap.Dir) { // somebody has moved it, or the setting
		v.dir = seen.SHA
	}
	v.file = roadmap.File{Page: p.Snap.Issue().URL, Path: file, Branch: seen.Branch}
	readPlan(p, v, seen.File)
	if err := p.findItems(ctx, v, seen.Subs); err != nil {
		return nil, err
	}
	if v.problem != "" && p.State.Roadmap == nil {
		for _, f := range v.facts {
			v.plan.Items = append(v.plan.Items, roadmap.Item{RoadmapItem: model.RoadmapItem{Key: f.Key, Title: f.Title}})
		}
	}
	if err := p.readRunning(ctx, v); err != nil {
		return nil, err
	}
	if err := p.decide(ctx, v); err != nil {
		return nil, err
	}
	p.summons = nil
	for _, r := range v.step.Rows {
		if r.State == model.ItemRunning && v.labelled[r.Fact.Issue] && !r.Fact.Closed && !v.began[r.Fact.Issue] && !r.Dropped {
			p.summons = append(p.summons, r.Fact.Issue)
		}
	}
	return v, nil
}

// decide finds what is to be done.
func (p *Issue) decide(ctx context.Context, v *view) (err error) {
	for again := true; again; {
		v.step = roadmap.Next(roadmap.Facts{Plan: v.plan, Known: v.facts, Most: p.Settings.Roadmap.MaxActive, Lost: v.lost, Reopened: wanted(p, v), Asked: func(f roadmap.Fact) bool {
			return p.State.Tokens[asks(p, f)] != 0
		}})
		if again, err = hold(ctx, p, v); err != nil {
			return err
		}
	}
	if v.problem != "" {
		v.undo()
	}
	return nil
}

// readPlan reads the file. Where it cannot be used, the items are those that the comment tells, and nothing is done about them.
func readPlan(p *Issue, v *view, text []byte) {
	plan, wrong := roadmap.Parse(text)
	switch {
	case text == nil:
		v.problem = roadmap.MissingText(v.file)
	case len(wrong) > 0:
		v.problem = roadmap.ProblemText(v.file, wrong)
	case plan.Issue != p.Event.Number:
		v.problem = fmt.Sprintf("the file says that it is the roadmap of #%d. Every roadmap needs its own file.", plan.Issue)
	default:
		v.plan = plan
		return
	}
	v.plan = roadmap.Plan{Issue: p.Event.Number}
	for _, e := range entries(p) {
		if !e.Dropped {
			v.plan.Items = append(v.plan.Items, roadmap.Item{RoadmapItem: model.RoadmapItem{Key: e.Key, Title: e.Key}})
		}
	}
}

// entries are the items as the comment tells them.
func entries(p *Issue) []model.RoadmapEntry {
	if p.State.Roadmap == nil {
		return nil
	}
	return p.State.Roadmap.Marker.Items
}

// findItems finds the issues of the items: among the sub-issues, by the numbers in the comment, and where an item has none, among
// all that were opened since the comment was written.
func (p *Issue) findItems(ctx context.Context, v *view, subs []github.ItemIssue) error {
	entries := entries(p)
	found := map[string]roadmap.Fact{}
	take := func(i github.ItemIssue, linked bool) {
		key, is := keyOf(p, i, entries)
		if first, twice := found[key]; !is || twice && first.Issue <= i.Number {
			return
		}
		found[key] = roadmap.Fact{Key: key, Issue: i.Number, Title: i.Title, Linked: linked || p.noSubs, Closed: i.State == "CLOSED", Completed: i.State == "CLOSED" && i.Reason == "COMPLETED", Labelled: asked(p, i.Labels)}
		v.edited[i.Number] = i.Edited
		v.ids[i.Number], v.labelled[i.Number] = i.ID, asked(p, i.Labels)
	}
	for _, i := range subs {
		v.subs = append(v.subs, roadmap.Sub{Number: i.Number, State: i.State, Reason: i.Reason})
		take(i, true)
	}
	var unseen []int
	for _, e := range entries {
		if _, seen := found[e.Key]; !seen && e.Issue != 0 {
			unseen = append(unseen, e.Issue)
		}
	}
	more, err := p.GitHub.Issues.ByNumber(ctx, p.Event.Repo, unseen)
	if err != nil {
		return err
	}
	for _, i := range more {
		take(i, false)
	}
	if slices.ContainsFunc(v.plan.Items, func(i roadmap.Item) bool { _, there := found[i.Key]; return !there && !roadmap.Told(entries, i.Key) }) && v.problem == "" {
		opened, err := p.GitHub.Issues.OpenedSince(ctx, p.Event.Repo, since(p), func(i github.ItemIssue) bool { _, is := keyOf(p, i, entries); return is })
		if err != nil {
			return err
		}
		for _, i := range opened {
			if !slices.ContainsFunc(subs, func(s github.ItemIssue) bool { return s.Number == i.Number }) {
				take(i, false)
			}
		}
	}
	v.lost = lost(p, len(found) > 0)
	roadmap.Remember(found, entries)
	for _, f := range found {
		v.facts = append(v.facts, f)
	}
	slices.SortFunc(v.facts, func(a, b roadmap.Fact) int { return a.Issue - b.Issue })
	return nil
}

// lost says that somebody edited or deleted the comment that knew the issues of the items, and that none was made since by a file that
// holds. The comment is posted before the first issue.
func lost(p *Issue, opened bool) bool {
	if s := p.State.Roadmap; s != nil {
		return s.Marker.Lost
	}
	return p.State.RoadmapLost || opened
}

// keyOf is the item that an issue of ours was opened for. The comment decides, as far as it tells; else the text that the issue was
// opened with does. What its body says now does not count, since more people may edit that than may merge a plan.
func keyOf(p *Issue, i github.ItemIssue, entries []model.RoadmapEntry) (key string, is bool) {
	if !i.Ours && !thread.IsTrusted(p.Thread, i.Author) {
		return "", false
	}
	for _, e := range entries {
		if e.Issue == i.Number {
			return e.Key, true
		}
	}
	m, is := p.Codec.Item(i.Posted, thread.Scope(p.Thread))
	return m.Key, is && m.Number == p.Event.Number && !roadmap.Told(entries, m.Key)
}

// wanted says that somebody has reopened the roadmap's issue since it was finished with all that the plan has. GitHub says of an open
// issue that it was reopened, and not when.
func wanted(p *Issue, v *view) bool {
	if !p.Snap.Issue().Reopened || v.lost {
		return p.Snap.Issue().Reopened
	}
	said := p.State.Roadmap
	return said != nil && said.Marker.Finished && !slices.ContainsFunc(v.plan.Items, func(i roadmap.Item) bool { return !roadmap.Told(said.Marker.Items, i.Key) })
}

// asked says that labels ask for a flow.
func asked(p *Issue, labels []string) bool {
	l := thread.LabelsOf(p.Settings.Labels)
	l.Ignore = ""
	_, _, ok := flow.Of(labels, l)
	return ok
}

// since is when the first issue can have been opened that the comment does not tell: the last time that everything was found.
// Without the comment it is when the plan was proposed.
func since(p *Issue) time.Time {
	if s := p.State.Roadmap; s != nil && !s.Marker.Found.IsZero() {
		return s.Marker.Found
	}
	var at time.Time
	for _, f := range p.State.Flows {
		if f.Marker.Flow == model.FlowRoadmap && f.Marker.Status == model.PhaseDone && at.IsZero() {
			at = f.At
		}
	}
	return at
}

// looked stands for what a sweep will see once everything is done.
func (v *view) looked(most int) string {
	return roadmap.Looked(v.dir, most, v.subs, func(issue int) (int, bool, bool) {
		s := v.pulls[issue]
		is := func(f roadmap.Fact) bool { return f.Issue == issue && f.Closed }
		if !v.labelled[issue] && !slices.ContainsFunc(v.facts, is) { // a sweep does not read it
			return 0, false, false
		}
		asks := slices.ContainsFunc(v.facts, func(f roadmap.Fact) bool { return f.Issue == issue && f.Asks != 0 })
		return s.number, s.number != 0 && s.state == model.PullOpen, asks
	})
}

// labelOf is the label that has an item of this flow begin.
func labelOf(p *Issue, f string) string {
	switch model.Flow(strings.TrimSpace(f)) {
	case model.FlowDesign:
		return p.Settings.Labels.Design
	case model.FlowBugfix:
		return p.Settings.Labels.Bugfix
	}
	return p.Settings.Labels.SmallJob
}
