package workflow

import (
	"cmp"
	"slices"
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
	workflows := ReadAll(files)
	for _, name := range required {
		elsewhere, had := seen[name]
		if elsewhere {
			continue
		}
		path, heard, perhaps := "", false, false
		for _, w := range workflows {
			does, may := w.reports(name)
			if does {
				path = cmp.Or(path, w.Path)
			}
			perhaps = perhaps || may
			heard = heard || (does || may) && w.HearsPush(branch)
		}
		if path != "" && !heard || path == "" && !perhaps && !had && seen != nil {
			return name, path
		}
	}
	return "", ""
}

// reports tells whether a job of the workflow has a check of that name, or may have one. A matrix adds its values in brackets, a
// reusable workflow the names of its own jobs, and an expression may give any name.
// https://docs.github.com/actions/reference/workflows-and-actions/workflow-syntax#jobsjob_idname
func (w *Workflow) reports(check string) (does, may bool) {
	for _, j := range w.Jobs {
		name := cmp.Or(j.Name, j.ID)
		may = may || strings.Contains(name, "${{")
		does = does || name == check || strings.HasPrefix(check, name+" (") || j.Calls != "" && strings.HasPrefix(check, name+" / ")
	}
	return does, may
}

// ReportsAny reports whether a job of the workflow has one of these checks.
func (w *Workflow) ReportsAny(checks []string) bool {
	return slices.ContainsFunc(checks, func(name string) bool {
		does, _ := w.reports(name)
		return does
	})
}

// OfActions are the names of the required checks that jobs of GitHub Actions may have.
func OfActions(required []string) (names []string) {
	for _, r := range required {
		if name, own := CheckName(r); own {
			names = append(names, name)
		}
	}
	return names
}

// CheckName is the name of a required check, which may end in @APP, and whether a job of GitHub Actions may have it.
func CheckName(required string) (name string, own bool) {
	at := strings.LastIndexByte(required, '@')
	if at <= 0 {
		return required, true
	}
	app := required[at+1:]
	return required[:at], app == "" || app == "github-actions"
}

// Elsewhere are the required checks that other services report: by their App, or since no workflow has such a job.
func Elsewhere(files []File, required []string) []string {
	return slices.DeleteFunc(slices.Clone(required), func(r string) bool {
		name, own := CheckName(r)
		return own && (HasJob(files, name) || strings.HasSuffix(r, "@github-actions"))
	})
}

// HasJob reports whether some workflow has a job with a check of that name, or may have one.
func HasJob(files []File, check string) bool {
	return slices.ContainsFunc(ReadAll(files), func(w *Workflow) bool {
		does, may := w.reports(check)
		return does || may
	})
}
