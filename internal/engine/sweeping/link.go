package sweeping

import (
	"context"
	"slices"
	"strconv"

	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/external"
	"github.com/mergexo/mergexo/internal/git/transport"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/model"
)

// link is a mirror of a fork's pull request that was made by other hands, and the comment that is to name it.
type link struct {
	pull   model.Pull
	marker model.ExternalMarker
	told   bool // conflicts are told on it from then on
}

// unlinked is the link that the pull request lacks: all but its mirror. ok is false where it lacks none.
func (p *reading) unlinked() (l link, ok bool) {
	pull := p.Snap.Pull
	if !pull.CrossRepo || !p.Settings.External.Enabled || p.State.External() != nil || p.State.Spoilt() != nil {
		return l, false
	}
	return link{pull: model.Pull{Number: pull.Number, URL: pull.URL}, told: p.Settings.Sweep.Conflicts == "tracked", marker: model.ExternalMarker{
		Repo: p.Event.Repo.String(), Number: pull.Number, State: model.ExternalLinked, Head: pull.HeadSHA, Tip: pull.HeadSHA, Base: pull.BaseRef,
		At: pull.CreatedAt.UTC(), Label: p.Settings.External.Label,
	}}, true
}

// link notes that a branch is the mirror of a pull request that lacks a link: by its name, and only where it has exactly the head.
func (f *scan) link(branch, sha string) {
	number, _, _ := transport.MirrorOf(branch)
	l, lacks := f.unlinked[number]
	if !lacks || l.marker.Head != sha {
		return
	}
	l.marker.Mirror = branch
	f.links = append(f.links, l)
	delete(f.unlinked, number)
	at := slices.IndexFunc(f.heads, func(h seen) bool { return h.Number == number })
	f.heads[at].told = f.heads[at].told || l.told
}

// heal links all mirrors to their pull requests, by their names and what was read of all of them together.
func (s *sweeper) heal(ctx context.Context) error {
	for _, l := range s.found.links {
		p := thread.New(s.World, swept(s.repo, l.pull.Number), &s.own, nil)
		p.Snap.Viewer = s.found.viewer
		token := journal.Token("external", string(l.marker.State), strconv.Itoa(l.pull.Number), l.marker.Head)
		_, err := p.Comment(ctx, token, journal.Body{Text: external.LinkedText(l.pull, l.marker), Kind: journal.KindExternal, Marker: l.marker}, nil)
		if fatal := ends(ctx, err); fatal != nil {
			return fatal
		}
		if err != nil { // the next sweep tries again
			s.Log.Warn("mirror_not_linked", "pr_number", l.pull.Number, "branch", l.marker.Mirror, "error", err)
		}
	}
	return nil
}
