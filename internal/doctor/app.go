package doctor

import "strings"

// appSetUp checks that steps are given both halves of an App, and that the App at hand may do what a run needs.
// https://docs.github.com/en/apps/using-github-apps/reviewing-and-modifying-installed-github-apps
func appSetUp(e *exam) {
	e.differ()
	for _, u := range e.allSteps() {
		if key := u.s.With["private-key"]; key != "" && !strings.Contains(key, "${{") {
			e.problem("generate another key for the App, delete this one, and pass the new one as ${{ secrets.MERGEXO_PRIVATE_KEY }}",
				"%s: private-key is in the file, where everybody can read it", u.at(u.s.Line))
		}
	}
	a := e.Hub.App // nil: this process was given none
	if a == nil {
		return
	}
	before := len(e.found)
	if a.Suspended {
		e.problem("unsuspend it at "+a.URL, "the App %s: its installation on %s is suspended", a.Slug, a.Account)
	}
	for _, l := range a.Lacks {
		level := Warning
		if l.Required {
			level = Problem
		}
		e.report(level, "add it to the App in its settings, under Permissions, and accept that at "+a.URL, "the App %s: its installation on %s lacks %s: %s", a.Slug, a.Account, l.Permission, l.Follows)
	}
	if len(e.found) == before {
		e.ok("the App %s: installed on %s, with all permissions that it needs", a.Slug, a.Account)
	}
}
