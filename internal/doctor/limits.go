package doctor

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/model"
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
	return e.compared(out, "one run at a time for each pull request, and none cancelled")
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
	return e.compared(out, "each job has the permissions that it needs, and no others")
}

// unprotected is the consequence of write access in the agent's job of a split workflow.
const unprotected = "the agent's job may write, so the split protects nothing"

func (m match) permitted(e *exam) []Finding {
	u, want, agent := m.got, m.want.j.permissions, m.want.phase == agentPhase
	fix := "set permissions: {" + strings.Join(want.list(), ", ") + "} below jobs." + u.j.id
	switch {
	case agent && u.ownToken():
		return []Finding{problem("remove the token input in this job", "%s: jobs.%s gives the action another token: %s", u.at(u.s.line), u.j.id, unprotected)}
	case u.ownToken():
		return nil // those of the job are for its other steps
	}
	p := cmp.Or(u.j.permissions, u.w.permissions)
	if p == nil {
		return []Finding{u.byDefault(e.Hub.Facts.Actions, agent, fix)}
	}
	at := m.at(p.line) + ".permissions"
	var lacks, more, follows []string
	level := Warning
	for _, right := range want.list() {
		if name, access, _ := strings.Cut(right, ": "); p.access(name) != access && p.access(name) != "write" {
			worse, then := consequence("permissions", right)
			if lacks, follows = append(lacks, right), append(follows, then); worse == Problem {
				level = Problem
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.each)) {
		if p.each[name] == "write" && want.each[name] != "write" {
			more = append(more, name)
		}
	}
	if p.all == "write-all" {
		more = []string{"everything"}
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

// byDefault is about a job without permissions: its token has the repository's default.
func (u use) byDefault(actions model.ActionsRights, agent bool, fix string) Finding {
	f := warn(fix, "%s: jobs.%s has no permissions: its token gets the repository's default", u.at(u.j.line), u.j.id)
	switch {
	case actions.DefaultWrite && agent:
		f.Level, f.Text = Problem, f.Text+", with which "+unprotected
	case actions.DefaultWrite:
		f.Text += ", which may write everything"
	case actions.Known && !agent:
		f.Level, f.Text = Problem, f.Text+", which may only read"
	}
	return f
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
	return cmp.Or(strings.TrimSuffix(p.all, "-all"), p.each[name])
}
