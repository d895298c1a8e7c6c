package doctor

import (
	"cmp"
	"strings"
)

// Deaf finds a required check that some workflow reports, but none of those that report it runs on a push to the branch, and
// gives its name and the file of one of them. "" twice: there is none, as far as the files tell.
func Deaf(files []File, branch string, required []string) (check, path string) {
	var workflows []*workflow
	for _, f := range files {
		if w, err := readWorkflow(f); err == nil {
			workflows = append(workflows, w)
		}
	}
	for _, name := range required {
		path, heard := "", false
		for _, w := range workflows {
			does, may := w.reports(name)
			if does {
				path = cmp.Or(path, w.path)
			}
			heard = heard || (does || may) && w.hearsPush(branch)
		}
		if path != "" && !heard {
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
