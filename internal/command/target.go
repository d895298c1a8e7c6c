package command

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mergexo/mergexo/internal/model"
)

// Target is the pull request that a command is about: Number, or the only open one of Issue. Problem tells people why there
// is none. All are empty for a command that is about no pull request (help).
type Target struct {
	Number  int
	Issue   int
	Problem string
}

// Target resolves the target of a command given on this thread. Another pull request than the thread's own is accepted only
// in the operations issue and in its source issue, so that a pull request's readers see everything that was decided about
// it.
func (p Policy) Target(c Command, thread model.Snapshot, number int) Target {
	operations := p.OperationsIssue != 0 && p.OperationsIssue == number
	switch {
	case c.Name == "help" || c.Problem != "":
		return Target{}
	case c.PR != 0 && c.Issue != 0:
		return Target{Problem: "`pr` and `issue` both name the target. Give only one of them."}
	case thread.IsPull() && !operations:
		return ownPull(c, thread.Pull)
	case c.PR != 0 && (operations || slices.Contains(thread.Of.OpenPulls(), c.PR)):
		return Target{Number: c.PR}
	case c.PR != 0:
		return Target{Problem: otherThread(c.PR, p)}
	case c.Issue != 0 && (operations || c.Issue == number):
		return Target{Issue: c.Issue}
	case c.Issue != 0:
		return Target{Problem: fmt.Sprintf("Ask about issue %d in its own conversation%s.", c.Issue, p.operations())}
	case operations:
		return Target{Problem: "In this issue, a command must name its pull request: `pr=NUMBER`."}
	}
	return OnlyPull(thread.Of, number)
}

func ownPull(c Command, pull model.Pull) Target {
	switch {
	case c.Issue != 0 && (pull.Issue == nil || pull.Issue.Number != c.Issue):
		return Target{Problem: fmt.Sprintf("Pull request %d does not come from issue %d; leave `issue` out to mean this pull request.", pull.Number, c.Issue)}
	case c.PR != 0 && c.PR != pull.Number:
		return Target{Problem: fmt.Sprintf("This is pull request %d; give the command in the conversation of pull request %d.", pull.Number, c.PR)}
	}
	return Target{Number: pull.Number}
}

func otherThread(pr int, p Policy) string {
	return fmt.Sprintf("Give the command in the conversation of pull request %d%s.", pr, p.operations())
}

func (p Policy) operations() string {
	if p.OperationsIssue == 0 {
		return ", or make this the operations issue with `[repo] operations_issue` in the settings"
	}
	return fmt.Sprintf(" or in the operations issue, #%d", p.OperationsIssue)
}

// OnlyPull is a pull request itself, or the one open pull request of an issue.
func OnlyPull(of model.Numbered, number int) Target {
	pulls := of.OpenPulls()
	switch len(pulls) {
	case 0:
		return Target{Problem: fmt.Sprintf("Issue %d has no open pull request that would close it.", number)}
	case 1:
		return Target{Number: pulls[0]}
	}
	return Target{Problem: fmt.Sprintf("Issue %d has several open pull requests: %s. Name one with `pr=NUMBER`.", number, named(pulls))}
}

func named(numbers []int) string {
	var out []string
	for _, n := range numbers {
		out = append(out, "#"+strconv.Itoa(n))
	}
	return strings.Join(out, ", ")
}

// Misplaced rejects a command without a target.
func Misplaced(c Case, problem string) Answer { return c.reject("%s", problem) }
