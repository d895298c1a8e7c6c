package thread

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/mergexo/mergexo/internal/model"
)

// maxNames is about how many names that a number's markers name GitHub is asked.
const maxNames = 5

// Names are names of repositories, in lower case, and what GitHub says they are called now: a repository that was renamed or
// transferred still has the comments in which it is called otherwise.
type Names struct {
	mu  sync.Mutex
	now map[string]string
}

// NewNames knows of none.
func NewNames() *Names { return &Names{now: map[string]string{}} }

// Of are those that a repository has had, or has now where this one is old.
func (n *Names) Of(repo model.Repo) (others []string) {
	if n == nil {
		return nil
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	present := cmp.Or(n.now[strings.ToLower(repo.String())], repo.String())
	for name, now := range n.now {
		if strings.EqualFold(now, present) {
			others = append(others, name)
		}
	}
	slices.Sort(others)
	return others
}

// asks are those of some names that are not known.
func (n *Names) asks(names []string) []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { _, known := n.now[strings.ToLower(name)]; return known })
}

func (n *Names) learn(name, now string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.now[strings.ToLower(name)] = now
}

// Learn asks GitHub about repositories that markers name in the place of the one at hand, each once a run. It says whether that is
// one of them.
func Learn(ctx context.Context, w *World, repo model.Repo, elsewhere []string) (news bool, err error) {
	if len(elsewhere) == 0 {
		return false, nil
	}
	if w.Names == nil {
		w.Names = NewNames()
	}
	ask := w.Names.asks(elsewhere)
	if len(ask) == 0 {
		return false, nil
	}
	for _, name := range append(w.Names.asks([]string{repo.String()}), ask[:min(len(ask), maxNames)]...) {
		owner, rest, _ := strings.Cut(name, "/")
		now, err := w.GitHub.Repositories.NameNow(ctx, model.Repo{Owner: owner, Name: rest})
		if err != nil {
			return false, err
		}
		w.Names.learn(name, now)
		w.Log.Info("repository_named", "was", name, "now", now)
	}
	known := w.Names.Of(repo)
	return slices.ContainsFunc(ask, func(name string) bool { return slices.Contains(known, strings.ToLower(name)) }), nil
}

// LearnNames is Learn about what was read of a thread, whose state is folded again where it makes a difference.
func LearnNames(ctx context.Context, t *Thread) error {
	news, err := Learn(ctx, t.World, t.Event.Repo, t.State.Elsewhere)
	if news {
		t.Fold()
	}
	return err
}
