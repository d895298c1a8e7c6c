package thread

import (
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

// of are those that a repository had.
func (n *Names) of(repo model.Repo) (formerly []string) {
	if n == nil {
		return nil
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for name, now := range n.now {
		if strings.EqualFold(now, repo.String()) {
			formerly = append(formerly, name)
		}
	}
	slices.Sort(formerly)
	return formerly
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

// LearnNames asks GitHub about the repositories that markers of ours here name in the place of this one, each once a run, and folds
// again where it was called so.
func LearnNames(ctx context.Context, t *Thread) error {
	if len(t.State.Elsewhere) == 0 {
		return nil
	}
	ask := t.Names.asks(t.State.Elsewhere)
	for _, name := range ask[:min(len(ask), maxNames)] {
		owner, rest, _ := strings.Cut(name, "/")
		now, err := t.GitHub.Repositories.NameNow(ctx, model.Repo{Owner: owner, Name: rest})
		if err != nil {
			return err
		}
		t.Names.learn(name, now)
		t.Log.Info("repository_named", "was", name, "now", now)
	}
	if len(ask) > 0 {
		t.Fold()
	}
	return nil
}
