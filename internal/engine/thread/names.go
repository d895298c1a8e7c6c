package thread

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/model"
)

// maxNames bounds how many names of repositories are looked up for one reading of a conversation.
const maxNames = 5

// Formerly lists the other names of a repository that were asked about, in lower case: earlier ones, and the present one if repo
// is an earlier one. Comments of a repository that was renamed or transferred still have the name of their time.
func Formerly(w *World, repo model.Repo) (names []string) {
	present := cmp.Or(w.Names[strings.ToLower(repo.String())], repo.String())
	for name, now := range w.Names {
		if strings.EqualFold(now, present) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Learn asks GitHub about other repositories that markers name, each once a run. news reports whether any of them is repo under
// another name.
func Learn(ctx context.Context, w *World, repo model.Repo, elsewhere []string) (news bool, err error) {
	unknown := func(names []string) []string {
		return slices.DeleteFunc(slices.Clone(names), func(name string) bool { _, known := w.Names[strings.ToLower(name)]; return known })
	}
	ask := unknown(elsewhere)
	if len(ask) == 0 {
		return false, nil
	}
	if w.Names == nil {
		w.Names = map[string]string{}
	}
	for _, name := range append(unknown([]string{repo.String()}), ask[:min(len(ask), maxNames)]...) {
		owner, rest, _ := strings.Cut(name, "/")
		now, err := w.GitHub.Repositories.NameNow(ctx, model.Repo{Owner: owner, Name: rest})
		if err != nil {
			return false, err
		}
		w.Names[strings.ToLower(name)] = now
		if now != "" { // else the name is whatever somebody wrote
			w.Log.Info("repository_named", "was", name, "now", now)
		}
	}
	known := Formerly(w, repo)
	return slices.ContainsFunc(ask, func(name string) bool { return slices.Contains(known, strings.ToLower(name)) }), nil
}

// LearnNames calls Learn with the names in the markers of a thread, and derives the state again if that makes a difference.
func LearnNames(ctx context.Context, t *Thread) error {
	news, err := Learn(ctx, t.World, t.Event.Repo, t.State.Elsewhere)
	if news {
		Fold(t)
	}
	return err
}
