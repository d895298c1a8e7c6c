package merge

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/treepath"
)

// maxSteering is how many files of one kind are named.
const maxSteering = 5

// steering are the files that decide over code, people and runs of a repository.
var steering = []struct{ glob, what string }{
	{".github/mergexo.toml", "MergeXO's settings"}, {treepath.Workflows + "/**", "workflows"}, {".github/actions/**", "actions"},
	{".github/mergexo/**", "what MergeXO's jobs install"}, {treepath.Owners, "code owners"}, {".gitmodules", "submodules"},
}

// SteeringNotes tells people which of some changed files decide over the repository itself, in one sentence without its
// end; none where none does.
func SteeringNotes(paths []string) []string {
	var kinds []string
	for _, s := range steering {
		list := slices.DeleteFunc(slices.Clone(paths), func(p string) bool { return treepath.Matched(p, []string{s.glob}) == "" })
		if len(list) == 0 {
			continue
		}
		more := ""
		if n := len(list) - maxSteering; n > 0 {
			list, more = list[:maxSteering], fmt.Sprintf(" and %d more", n)
		}
		kinds = append(kinds, fmt.Sprintf("%s (%s%s)", s.what, strings.Join(list, ", "), more))
	}
	if len(kinds) == 0 {
		return nil
	}
	return []string{"It changes files that control this repository: " + strings.Join(kinds, ", ")}
}

// steeringGate keeps nothing from being merged: it is there for people to see before they approve.
func steeringGate(p model.Pull) (finding, bool) {
	told := SteeringNotes(p.Paths())
	switch {
	case len(told) > 0:
		return find(GateSteering, "", true, "%s; check them before you approve", strings.ToLower(told[0][:1])+told[0][1:]), true
	case len(p.Files) > 0 && !p.FilesComplete:
		return find(GateSteering, "", true, "none among the first %d of its files; the merge checks all of them", len(p.Files)), true
	}
	return finding{}, false
}
