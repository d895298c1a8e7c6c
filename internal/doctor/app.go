package doctor

import "strings"

// appSetUp checks that steps are given both halves of an App, and that the App at hand may do what a run needs.
// https://docs.github.com/en/apps/using-github-apps/reviewing-and-modifying-installed-github-apps
func appSetUp(e *exam) []Finding {
	out := differences("app", "")(e)
	for _, u := range e.allSteps() {
		if key := u.s.with["private-key"]; key != "" && !strings.Contains(key, "${{") {
			out = append(out, problem("generate another key for the App, delete this one, and pass the new one as ${{ secrets.MERGEXO_PRIVATE_KEY }}", "%s: private-key is in the file, where everybody can read it", u.at(u.s.line)))
		}
	}
	return append(out, installation(e.Hub.App)...)
}

// installation is about the App that this process was given.
func installation(a *App) []Finding {
	switch {
	case a == nil:
		return nil
	case a.Suspended:
		return []Finding{problem("unsuspend it at "+a.URL, "the App %s: its installation on %s is suspended", a.Slug, a.Account)}
	}
	var out []Finding
	for _, l := range a.Lacks {
		f := warn("add it to the App in its settings, under Permissions, and accept that at "+a.URL, "the App %s: its installation on %s lacks %s: %s", a.Slug, a.Account, l.Permission, l.Follows)
		if l.Required {
			f.Level = Problem
		}
		out = append(out, f)
	}
	return orOK(out, "the App %s: installed on %s, with all permissions that it needs", a.Slug, a.Account)
}
