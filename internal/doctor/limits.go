package doctor

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// concurrent compares the limits of a workflow and its jobs: one run at a time for a pull request, and none cancelled.
func concurrent(e *exam) []Finding {
	var out []Finding
	seen := map[*workflow]bool{}
	for _, m := range e.matches {
		if w := m.got.w; !seen[w] {
			seen[w] = true
			out = append(out, limits(m.want.w.concurrency, w.concurrency, w.path, "concurrency of the workflow")...)
		}
		if m.got.j.concurrency == nil && m.got.w.concurrency != nil && m.want.w.concurrency == nil {
			continue // one finding is enough
		}
		out = append(out, limits(m.want.j.concurrency, m.got.j.concurrency, m.got.at(m.got.j.line), "concurrency of jobs."+m.got.j.id)...)
	}
	if e.want == nil {
		return nil
	}
	return orOK(out, "%s: one run at a time for each pull request, and none cancelled", e.files())
}

func limits(want, got *concurrency, at, of string) []Finding {
	fix := asInit
	if want != nil && len(want.group) < 200 {
		fix = "set concurrency: {group: \"" + want.group + "\", cancel-in-progress: false}"
	}
	if got != nil {
		path, _, _ := strings.Cut(at, ":")
		at = place(path, got.line)
	}
	switch {
	case want == nil && got == nil:
		return nil
	case want == nil:
		return []Finding{differs("concurrency", at+":", "has "+of+", where mergexo init writes none", "remove it")}
	case got == nil:
		return []Finding{differs("concurrency", at+":", "lacks "+of, fix)}
	}
	var out []Finding
	should, _ := canonical(want.group)
	is, err := canonical(got.group)
	switch {
	case err != nil:
		out = append(out, problem("fix it: GitHub rejects the whole workflow", "%s: %s: %s", at, of, err))
	case is != should:
		out = append(out, differs("concurrency", at+":", of+" has another group than in the workflow that mergexo init writes", fix))
	}
	if got.cancel != "" && !strings.EqualFold(got.cancel, "false") {
		out = append(out, differs("concurrency", at+":", of+" has cancel-in-progress: "+got.cancel, "set it to false: the next run handles what the others were for"))
	}
	return out
}

// permitted compares the permissions of each job's token.
func permitted(e *exam) []Finding {
	var out []Finding
	for _, m := range e.matches {
		out = append(out, m.permitted(e)...)
	}
	if e.want == nil {
		return nil
	}
	return orOK(out, "%s: each job has the permissions that it needs, and no others", e.files())
}

// unprotected is the consequence of write access in the agent's job of a split workflow.
const unprotected = "the agent's job may write, so the split protects nothing"

func (m match) permitted(e *exam) []Finding {
	u, want := m.got, m.want.j.permissions
	fix := "set permissions: {" + strings.Join(want.list(), ", ") + "} below jobs." + u.j.id
	agent := m.want.phase == agentPhase
	if agent && u.ownToken() {
		return []Finding{problem("remove the token input in this job", "%s: jobs.%s gives the action another token: %s", u.at(u.s.line), u.j.id, unprotected)}
	}
	p := cmp.Or(u.j.permissions, u.w.permissions)
	if p == nil {
		return u.byDefault(e, fix, agent)
	}
	at := fmt.Sprintf("%s: jobs.%s.permissions", u.at(p.line), u.j.id)
	if u.ownToken() {
		return nil // these are for the other steps
	}
	if p.all == "write-all" {
		p.each = map[string]string{"everything": "write"}
	}
	var lacks, more []string
	level, follows := Warning, []string{}
	for _, right := range want.list() {
		name, access, _ := strings.Cut(right, ": ")
		if has := p.access(name); has == access || has == "write" || p.all == "write-all" {
			continue
		}
		worse, then := consequence("permissions", right)
		lacks, follows = append(lacks, right), append(follows, then)
		level = cmp.Or(map[bool]Level{true: Problem}[worse == Problem], level)
	}
	for _, name := range slices.Sorted(maps.Keys(p.each)) {
		if p.each[name] == "write" && want.each[name] != "write" {
			more = append(more, name)
		}
	}
	var out []Finding
	if len(lacks) > 0 {
		out = append(out, Finding{Level: level, Text: fmt.Sprintf("%s lacks %s: %s", at, list(lacks), strings.Join(follows, "; ")), Fix: fix})
	}
	switch {
	case len(more) > 0 && agent && !slices.Equal(more, []string{"id-token"}): // with which some agents reach their model
		out = append(out, problem(fix, "%s has %s: write: %s", at, list(more), unprotected))
	case len(more) > 0:
		out = append(out, warn("remove it, unless a step of this job needs it", "%s has %s: write, which is more than MergeXO needs", at, list(more)))
	}
	return out
}

// byDefault checks a job without permissions: its token has the repository's default.
func (u use) byDefault(e *exam, fix string, agent bool) []Finding {
	actions := e.Hub.Facts.Actions
	f := warn(fix, "%s: jobs.%s has no permissions: its token gets the repository's default", u.at(u.j.line), u.j.id)
	switch {
	case u.ownToken():
		return nil
	case actions.DefaultWrite && agent:
		f.Level, f.Text = Problem, f.Text+", with which "+unprotected
	case actions.DefaultWrite:
		f.Text += ", which may write everything"
	case actions.Known && !agent:
		f.Level, f.Text = Problem, f.Text+", which may only read"
	}
	return []Finding{f}
}

// list is a block as people write it.
func (p *permissions) list() (all []string) {
	for _, name := range slices.Sorted(maps.Keys(p.each)) {
		all = append(all, name+": "+p.each[name])
	}
	return all
}

// access is what the block grants for a name: none if it is not listed.
func (p *permissions) access(name string) string {
	if p.all == "read-all" {
		return "read"
	}
	return p.each[name]
}
