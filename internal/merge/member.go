package merge

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
)

// Unreadable is the failure that part of a merge group cannot be read: a repository as owner/name, or a pull request as
// owner/name#number.
func Unreadable(name string) Failure {
	return Failure{Code: model.CodeMember, Detail: name + " does not exist, or the token may not see it", own: end{
		headline: "part of the group was not found", todo: "Fix the `Depends-on:` line or the `[[merge.group]]`, or let MergeXO's token read that repository.", then: thenAgain,
	}}
}

// MayNotCommand is the failure that the person who asked for a group's merge may not give commands in the repository of this
// member, owner/name#number.
func MayNotCommand(name, who string) Failure {
	return Failure{Code: model.CodeMember, Detail: fmt.Sprintf("%s: %s may not give commands there", name, who), own: end{
		headline: who + " may not merge all of the group", todo: allOrNone + " Somebody who may give commands in all of these repositories has to give this one.",
	}}
}

// QueueAlone is the failure that a pull request of a group would have to go through GitHub's merge queue.
func QueueAlone() Failure {
	return Failure{Code: model.CodeStrategy, Detail: "GitHub's merge queue cannot land several pull requests together: name another strategy"}
}

// Untestable is the failure that no test command is configured on the base branch, and none is found.
func Untestable(base string) Failure {
	return Failure{Code: model.CodeNoTests, Detail: fmt.Sprintf("[merge] tests names no command on %s, and none is detected there; MergeXO looks for %s", base, lookedFor)}
}

// end is the text of a failure.
func (f Failure) end(m model.MergeMarker) end {
	if f.own.headline != "" {
		return f.own
	}
	if f.Pull == nil {
		return endOf(f.kind(m), cmp.Or(f.Branch, m.Base))
	}
	e, link := endOf(f.kind(m), cmp.Or(f.Branch, f.Pull.BaseRef)), reference(f.Repo, f.Pull.Number, f.Pull.URL)
	switch f.Code {
	case model.CodeConflict:
		e.headline = fmt.Sprintf("%s conflicts with its base `%s`", link, markdown.Code(f.Pull.BaseRef))
	case model.CodeSquash:
		e.headline = fmt.Sprintf("%s conflicts with its base `%s`, even as one commit", link, markdown.Code(f.Pull.BaseRef))
	case model.CodeMember:
		e.headline = link + " is not ready"
		return e
	default:
		e.headline = link + ": " + e.headline
	}
	e.in = link
	return e
}

// reference links a pull request of any repository.
func reference(repo string, number int, url string) string {
	return fmt.Sprintf("[%s#%d](%s)", repo, number, url)
}

// page is the URL of a pull request of another repository on the same server as p.
func page(p model.Pull, repo string, number int) string {
	root := markdown.Repository(p.URL)
	for range 2 { // owner and name
		root = root[:max(0, strings.LastIndexByte(root, '/'))]
	}
	return fmt.Sprintf("%s/%s/pull/%d", root, repo, number)
}

// members lists the other pull requests of the group, each with what has landed and whether it leads.
func members(p model.Pull, m model.MergeMarker, leader string) []string {
	var list []string
	for _, other := range m.Members {
		url := page(p, other.Repo, other.Number)
		if strings.EqualFold(url, p.URL) {
			continue
		}
		var how []string
		if strings.EqualFold(leader, fmt.Sprintf("%s#%d", other.Repo, other.Number)) {
			how = append(how, "where it was requested")
		}
		if other.Landed != "" {
			how = append(how, "landed as "+markdown.Commit(url, other.Landed))
		}
		text := reference(other.Repo, other.Number, url)
		if len(how) > 0 {
			text += " (" + strings.Join(how, "; ") + ")"
		}
		list = append(list, text)
	}
	return list
}

// landed lists what has landed of a group.
func landed(p model.Pull, m model.MergeMarker) []string {
	var list []string
	for _, other := range m.Members {
		if other.Landed != "" {
			url := page(p, other.Repo, other.Number)
			list = append(list, fmt.Sprintf("%s as %s", reference(other.Repo, other.Number, url), markdown.Commit(url, other.Landed)))
		}
	}
	return list
}

var fullName = regexp.MustCompile(`^([A-Za-z0-9._-]+/[A-Za-z0-9._-]+)#([0-9]{1,9})$`)

// together lists the pull requests that land with this one. The leader is known where the members are not.
func together(p model.Pull, m model.MergeMarker) string {
	if p.URL == "" { // a merge without GitHub
		return ""
	}
	leader := cmp.Or(m.Leader, fmt.Sprintf("%s#%d", m.Repo, m.Number))
	if list := members(p, m, leader); len(list) > 0 {
		return "\n\nTogether with " + strings.Join(list, ", ") + "."
	}
	at := fullName.FindStringSubmatch(m.Leader)
	if at == nil {
		return ""
	}
	number, _ := strconv.Atoi(at[2])
	return fmt.Sprintf("\n\nIt lands together with others, as requested on %s.", reference(at[1], number, page(p, at[1], number)))
}
