package doctor

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// right is one permission that the workflow's token needs.
type right struct {
	name, access string
	level        Level
	follows      string // what fails without it
	when         string // the condition under which it is needed; "": always
}

// Conditions under which a right is needed.
const (
	whenCI     = "ci"     // CI failures are feedback
	whenSummon = "summon" // a sweep without an agent starts runs that have one
)

// rights are what each phase needs.
var rights = map[phase][]right{
	wholeRun:   writeRights,
	applyPhase: writeRights,
	sweepPhase: writeRights,
	agentPhase: readRights,
	planPhase:  append(slices.Clone(readRights), checkRights...),
}

var readRights = []right{
	{"contents", "read", Problem, "MergeXO cannot fetch", ""},
	{"pull-requests", "read", Problem, "review comments cannot be read", ""},
	{"issues", "read", Problem, "the conversation cannot be read", ""},
	{"actions", "read", Warning, "MergeXO cannot see that a run died, and waits until its claim expires", ""},
}

// GraphQL's statusCheckRollup needs two rights: one for check runs, one for statuses.
// https://docs.github.com/en/rest/authentication/permissions-required-for-github-apps
var checkRights = []right{
	{"checks", "read", Warning, "a merge never sees its checks", ""},
	{"statuses", "read", Warning, "a merge never sees its statuses", ""},
}

var writeRights = append([]right{
	{"contents", "write", Problem, "MergeXO cannot push", ""},
	{"pull-requests", "write", Problem, "review comments cannot be answered", ""},
	{"issues", "write", Problem, "MergeXO cannot comment in the conversation", ""},
	{"actions", "read", Warning, "MergeXO cannot see that a run died, and waits until its claim expires", ""},
	// https://docs.github.com/en/rest/actions/workflow-runs#re-run-failed-jobs-from-a-workflow-run
	{"actions", "write", Warning, "failed jobs of a flaky test are not rerun", whenCI},
	// https://docs.github.com/en/rest/actions/workflows#create-a-workflow-dispatch-event
	{"actions", "write", Warning, "a sweep cannot start the agent", whenSummon},
}, checkRights...)

// rights are what a job needs under these settings; the higher access wins where a name occurs twice.
func (e *exam) rights(u use) []right {
	when := ""
	switch {
	case u.summons():
		when = whenSummon
	case e.readable() && e.Settings.CI != "never":
		when = whenCI
	}
	all := slices.DeleteFunc(slices.Clone(rights[u.phase]), func(r right) bool { return r.when != "" && r.when != when })
	return slices.DeleteFunc(slices.Clone(all), func(r right) bool {
		return r.when == "" && slices.ContainsFunc(all, func(s right) bool { return s.when != "" && s.name == r.name })
	})
}

// needed is a permissions block with everything that a job needs, as init writes it, whatever the settings make of it today.
func (e *exam) needed(u use) string {
	var each []string
	for _, r := range e.rights(u) {
		access := r.access
		if slices.ContainsFunc(rights[u.phase], func(s right) bool { return s.name == r.name && s.access == "write" }) {
			access = "write"
		}
		each = append(each, r.name+": "+access)
	}
	return "permissions: {" + strings.Join(each, ", ") + "}, below the job"
}

// permitted compares the permissions of a job's token with the rights that it needs.
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
	switch {
	case p.all == "write-all" && u.phase == agentPhase:
		return []Finding{problem("set "+e.needed(u), "%s: with write-all, %s", at, unprotected)}
	case p.all == "write-all":
		return []Finding{warn("list what is needed: "+e.needed(u), "%s: write-all gives the job more than it needs", at)}
	case u.ownToken() && u.phase != agentPhase:
		return []Finding{ok("%s: the action gets another token, so these apply only to the other steps", at)}
	}
	out := append(p.less(e, u, at), p.more(e, u, at)...)
	if u.ownToken() { // only an agent's job gets here
		out = append(out, warn("remove the token input in this job", "%s: the action gets another token in jobs.%s: the agent's job may write what that token may", u.at(u.s.line), u.j.id))
	}
	return orOK(out, "%s: what is needed, and nothing else", at)
}

// unprotected is the consequence of write access in the agent's job of a split workflow.
const unprotected = "the agent's job may write, so the split protects nothing"

// less finds missing permissions; the level is that of the worst one.
func (p *permissions) less(e *exam, u use, at string) []Finding {
	var names, follows []string
	level := Warning
	for _, r := range e.rights(u) {
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
	return []Finding{{Level: level, Text: fmt.Sprintf("%s lacks %s: %s", at, list(names), strings.Join(follows, "; ")), Fix: "set " + e.needed(u)}}
}

// access is what the block grants for a name: none if it is not listed.
func (p *permissions) access(name string) string {
	if p.all == "read-all" {
		return "read"
	}
	return p.each[name]
}

// more finds permissions that an agent's job should not have. In a split workflow it may write nothing on GitHub. A token
// for another service (id-token) is only a warning, since some agents reach their model with it.
func (p *permissions) more(e *exam, u use, at string) []Finding {
	var extra, writes []string
	for _, name := range slices.Sorted(maps.Keys(p.each)) {
		needed := slices.ContainsFunc(rights[u.phase], func(r right) bool { return r.name == name && r.access == "write" })
		switch {
		case p.each[name] != "write" || needed:
		case u.phase == agentPhase && name != "id-token":
			writes = append(writes, name)
		default:
			extra = append(extra, name)
		}
	}
	var out []Finding
	if len(writes) > 0 {
		out = append(out, problem("set "+e.needed(u), "%s: with %s: write, %s", at, list(writes), unprotected))
	}
	if len(extra) > 0 {
		out = append(out, warn("remove it, unless a step of this job needs it", "%s: %s: write is more than the action needs", at, list(extra)))
	}
	return out
}

// byDefault checks a job without permissions: its token has the repository's default.
func (u use) byDefault(e *exam) []Finding {
	at := fmt.Sprintf("%s: jobs.%s has no permissions", u.at(u.j.line), u.j.id)
	actions := e.Hub.Facts.Actions
	switch {
	case u.ownToken() && u.phase != agentPhase:
		return []Finding{warn("add `permissions: {}` below the job, with what its other steps need", "%s: the workflow's own token, which the action does not use, has what the repository's settings give", at)}
	case u.phase == agentPhase && actions.DefaultWrite:
		return []Finding{problem("add "+e.needed(u), "%s: as the repository's settings say, %s", at, unprotected)}
	case u.phase == planPhase && actions.Known && !actions.DefaultWrite:
		return []Finding{ok("%s: its token may only read, which is enough", at)}
	case u.phase == agentPhase:
		return []Finding{warn("add "+e.needed(u), "%s: its token gets the repository's default permissions, which may change", at)}
	case !actions.Known:
		return []Finding{warn("add "+e.needed(u), "%s: its token gets the repository's default permissions, which are read-only in new repositories", at)}
	case actions.DefaultWrite:
		return []Finding{warn("add "+e.needed(u), "%s: its token may write everything, as the repository's settings say", at)}
	}
	return []Finding{problem("add "+e.needed(u), "%s: its token may only read, as the repository's settings say", at)}
}
