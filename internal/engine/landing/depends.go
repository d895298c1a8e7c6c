package landing

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/config"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/github"
	"github.com/mergexo/mergexo/internal/merge"
	"github.com/mergexo/mergexo/internal/model"
)

// mostNamed bounds how many pull requests are looked at that depend on one another.
const mostNamed = 50

// readDepends asks how the pull requests stand that the text names as what has to land first: in one call, and in one more for each
// that is open, and for what that names in turn. What is in the merge train, the train holds until then.
func readDepends(ctx context.Context, p *Request, m model.MergeMarker) error {
	facts, own, said := p.MergeFacts, p.Event.Number, merge.DependsOf(p.Snap.Pull)
	if p.Snap.Pull.State != model.PullOpen || facts.Depends != nil || m.Reason == model.CodeTrain || m.State == model.MergeRunning {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(said.Others)) {
		if !slices.ContainsFunc(p.Settings.Merge.Groups, func(g config.Group) bool {
			return model.Named(g.Repositories, p.Event.Repo.String()) && model.Named(g.Repositories, name)
		}) {
			said.Unread = append(said.Unread, fmt.Sprintf("Depends-on: %s#%d", name, said.Others[name]))
		}
	}
	facts.Unread = said.Unread[:min(len(said.Unread), mostNamed)]
	now, err := p.GitHub.Pulls.AllNow(ctx, p.Event.Repo, said.On)
	if err != nil {
		return err
	}
	var all []int
	paths := map[int]string{} // that lead to each from here
	follow := func(from int, on []int) {
		for _, n := range on {
			path := strings.TrimPrefix(fmt.Sprintf("%s, #%d depends on #%d", paths[from], from, n), ", ")
			if n == own {
				facts.Cycle = path
			} else if paths[n] == "" {
				paths[n], all = path, append(all, n)
			}
		}
	}
	follow(own, said.On)
	for i, direct := 0, len(all); i < min(len(all), mostNamed); i++ {
		d := model.Dependence{Number: all[i], State: now[all[i]].State}
		if d.State == model.PullOpen || i >= direct {
			t := thread.New(p.World, model.Event{Name: p.Event.Name, Repo: p.Event.Repo, Number: d.Number}, &model.Report{}, nil)
			if err := t.Read(ctx); err != nil && github.KindOf(err) != github.NotFound {
				return err
			}
			if asks := t.State.Merge(); t.Snap.Pull.State == model.PullOpen {
				d.Asked = asks != nil && asks.Marker.Open() && !asks.Marker.Tries()
				follow(d.Number, merge.DependsOf(t.Snap.Pull).On)
			}
		}
		if i < direct {
			facts.Depends = append(facts.Depends, d)
		}
	}
	return nil
}
