package doctor

import (
	"cmp"
	"strings"
)

// Reported are the names of the checks that heads of pull requests have had; true: of one that another service than GitHub
// Actions reports. nil: nobody has looked.
type Reported map[string]bool

// Deaf finds a required check that a push to the branch would not get: those that report it do not run there, or nothing does
// report it. path is the file of a workflow that does; "": none does. What another service reports is left alone, and so is
// what a head has had that no file tells of, since GitHub runs some workflows that have none. "" twice: there is no such check,
// as far as files and heads tell.
func Deaf(files []File, branch string, required []string, seen Reported) (check, path string) {
	workflows := parsed(files)
	for _, name := range required {
		elsewhere, had := seen[name]
		if elsewhere {
			continue
		}
		path, heard, perhaps := "", false, false
		for _, w := range workflows {
			does, may := w.reports(name)
			if does {
				path = cmp.Or(path, w.path)
			}
			perhaps = perhaps || may
			heard = heard || (does || may) && w.hearsPush(branch)
		}
		if path != "" && !heard || path == "" && !perhaps && !had && seen != nil {
			return name, path
		}
	}
	return "", ""
}

// reports says whether a job of the workflow has a check of that name, or may have one. A matrix adds its values in brackets, a
// reusable workflow the names of its own jobs, and an expression may give any name.
// https://docs.github.com/actions/reference/workflows-and-actions/workflow-syntax#jobsjob_idname
func (w *workflow) reports(check string) (does, may bool) {
	for _, j := range w.jobs {
		name := cmp.Or(j.name, j.id)
		may = may || strings.Contains(name, "${{")
		does = does || name == check || strings.HasPrefix(check, name+" (") || j.calls != "" && strings.HasPrefix(check, name+" / ")
	}
	return does, may
}
