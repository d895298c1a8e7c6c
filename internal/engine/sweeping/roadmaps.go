package sweeping

import (
	"cmp"
	"path"
	"slices"

	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/roadmap"
)

// noteItem notes the newest pull request for an item of a roadmap, or that it waits for a person.
func (f *scan) noteItem(p *reading) {
	n := len(p.State.Flows)
	if n == 0 || p.Snap.Issue().Item == "" {
		return
	}
	if m := p.State.Flows[n-1].Marker; m.Status == model.PhaseDone {
		f.receipts[p.Snap.Issue().Number] = m.Pull
	} else if m.Asks() {
		f.asks[p.Snap.Issue().Number] = true
	}
}

// roadmapChanged reports whether a roadmap, its items or their pull requests are not what its comment was made from. It costs no call:
// all of that is in the survey.
func (f *scan) roadmapChanged(p *reading) bool {
	said := p.State.Roadmap
	subs, seen := f.roadmaps.Subs[p.Event.Number]
	if said == nil || said.Marker.Unfinished || !seen {
		return true
	}
	var now []roadmap.Sub
	told := map[int]int{} // by the comment, the pull requests of closed items, whose issues no sweep reads
	for _, s := range subs {
		now = append(now, roadmap.Sub{Number: s.Number, State: s.State, Reason: s.Reason})
		at := slices.IndexFunc(said.Marker.Items, func(e model.RoadmapEntry) bool { return e.Issue == s.Number })
		if s.State == "CLOSED" && at >= 0 {
			told[s.Number] = said.Marker.Items[at].Pull
		}
	}
	dir := cmp.Or(f.roadmaps.Dir, f.tip)
	if path.Dir(said.Marker.File) != path.Clean(f.base.Roadmap.Dir) {
		dir = f.tip
	}
	looked := roadmap.Looked(dir, f.base.Roadmap.MaxActive, now, func(issue int) (int, bool, bool) {
		pull, closed := told[issue]
		if !closed {
			pull = f.receipts[issue]
		}
		return pull, f.open[pull], f.asks[issue] || f.asks[pull]
	})
	return looked != said.Marker.Looked
}
