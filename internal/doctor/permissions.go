package doctor

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// right is one thing that the workflow's token has to be allowed.
type right struct {
	name, access string
	level        Level
	follows      string // when it is not
}

var rights = []right{
	{"contents", "write", Problem, "nothing can be pushed"},
	{"pull-requests", "write", Problem, "review comments cannot be answered"},
	{"issues", "write", Problem, "nothing can be said in the conversation"},
	{"actions", "read", Warning, "a dead run's claim is waited out, since nobody can see that it is dead"},
}

const fixRights = "permissions: {contents: write, pull-requests: write, issues: write, actions: read}, below the job"

// permitted compares what a job's token may do with what is needed.
func permitted(e *exam) []Finding {
	var out []Finding
	for _, u := range e.jobs() {
		out = append(out, u.permitted(e)...)
	}
	return out
}

func (u use) permitted(e *exam) []Finding {
	p, where := u.j.permissions, fmt.Sprintf("jobs.%s.permissions", u.j.id)
	if p == nil {
		p, where = u.w.permissions, "permissions"
	}
	if p == nil {
		return u.byDefault(e)
	}
	at := u.at(p.line) + ": " + where
	if p.all == "write-all" {
		return []Finding{warn("name what is needed: "+fixRights, "%s: write-all gives the job more than it needs", at)}
	}
	if u.ownToken() {
		return []Finding{ok("%s: the action is given another token, so these are for the other steps only", at)}
	}
	return orOK(append(p.less(at), p.more(at)...), "%s: what is needed and no more", at)
}

// less finds what is missing: as bad as the worst of it.
func (p *permissions) less(at string) []Finding {
	var names, follows []string
	level := Warning
	for _, r := range rights {
		if has := p.access(r.name); has == r.access || has == "write" {
			continue
		}
		names, follows = append(names, r.name+": "+r.access), append(follows, r.follows)
		if r.level == Problem {
			level = Problem
		}
	}
	if len(names) == 0 {
		return nil
	}
	return []Finding{{Level: level, Text: fmt.Sprintf("%s lacks %s: %s", at, list(names), strings.Join(follows, "; ")), Fix: "have " + fixRights}}
}

// access is what the block gives for one name: what it does not name is none.
func (p *permissions) access(name string) string {
	if p.all == "read-all" {
		return "read"
	}
	return p.each[name]
}

// more finds what an agent's job should not have.
func (p *permissions) more(at string) []Finding {
	var extra []string
	for _, name := range slices.Sorted(maps.Keys(p.each)) {
		needed := slices.ContainsFunc(rights, func(r right) bool { return r.name == name && r.access == "write" })
		if p.each[name] == "write" && !needed {
			extra = append(extra, name)
		}
	}
	if len(extra) == 0 {
		return nil
	}
	return []Finding{warn("take it out, unless a step of this job needs it", "%s: %s: write is more than the action needs", at, list(extra))}
}

// byDefault is about a job without permissions, whose token has what the repository's settings give to all.
func (u use) byDefault(e *exam) []Finding {
	at := fmt.Sprintf("%s: jobs.%s has no permissions", u.at(u.j.line), u.j.id)
	actions := e.Hub.Facts.Actions
	switch {
	case u.ownToken():
		return []Finding{warn("add `permissions: {}` below the job, with what its other steps need", "%s: the workflow's own token, which the action does not use, has what the repository's settings give", at)}
	case !actions.Known:
		return []Finding{warn("add "+fixRights, "%s: its token has what the repository's settings give, for new repositories to read only", at)}
	case actions.DefaultWrite:
		return []Finding{warn("add "+fixRights, "%s: its token may write everything, as the repository's settings say", at)}
	}
	return []Finding{problem("add "+fixRights, "%s: its token may only read, as the repository's settings say", at)}
}
