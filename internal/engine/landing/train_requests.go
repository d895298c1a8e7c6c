package landing

import (
	"context"
	"slices"

	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/github"
	"github.com/mergexo/mergexo/internal/merge"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/train"
)

// requests are those that may have to join the train. What the record knows is opened only where the run is about it, or where it
// is no longer a request.
func (l *line) requests(ctx context.Context) ([]train.Request, error) {
	queued := map[int]bool{}
	for _, r := range l.manifest.Queue {
		queued[r.Number] = r.Held == "" // one that is held may be asked for again
		if l.All && !slices.Contains(l.Asked, r.Number) {
			if _, err := l.open(ctx, r.Number); err != nil {
				return nil, err
			}
		}
	}
	var out []train.Request
	for _, number := range l.Asked {
		if queued[number] && (l.Self == nil || l.Self.Event.Number != number) {
			continue
		}
		a, err := l.open(ctx, number)
		if err != nil {
			return nil, err
		}
		if a != nil && a.g.marker.Base == l.Base && a.g.marker.Reason == model.CodeTrain {
			out = append(out, trainRequest(number, a))
		}
	}
	return out, nil
}

// open gives the request of a pull request; nil: none is open.
func (l *line) open(ctx context.Context, number int) (*aboard, error) {
	if a, known := l.opened[number]; known {
		return a, nil
	}
	t := l.Self
	own := t != nil && t.Event.Number == number
	if !own {
		t = thread.Another(l.home, model.Event{Name: "train", Repo: l.Repo, Number: number}, nil)
		if l.found { // its base may be gone, or another one by now: that is told, and holds up nobody
			t.Fallback = &l.settings
		}
	}
	if !own || l.looked {
		t.MergeFacts = nil
		switch err := l.begin(ctx, t); {
		case github.KindOf(err) == github.NotFound: // its author's account is gone, for one
			l.opened[number] = nil
			return nil, nil
		case err != nil:
			return nil, err
		}
	}
	if l.ruled {
		t.Demands = map[string][]model.Demand{l.Base: l.demands}
	}
	a := aboardOf(l.Of(t))
	if a != nil && a.g.marker.Base == l.Base {
		l.Seen = max(l.Seen, a.g.marker.Record)
	}
	l.opened[number] = a
	return a, nil
}

// trainRequest is a request as the train knows it.
func trainRequest(number int, a *aboard) train.Request {
	m := a.g.marker
	r := train.Request{Number: number, Head: m.Head, Token: m.Command, Comment: a.g.comment, By: m.By, At: max(m.At.Unix(), m.Approved.Unix()), Needs: merge.DependsOf(a.g.Snap.Pull).On}
	if w := m.Train; w != nil {
		r.Priority, r.Solo, r.Now, r.Try = w.Priority, w.Solo, w.Now, w.Try
	}
	r.ByGitHub = model.ByGitHub(m.Strategy)
	r.Made = train.Made(m.Tips(), a.g.Snap.Pull.HeadSHA) // an earlier landing may have moved the head
	return r
}
