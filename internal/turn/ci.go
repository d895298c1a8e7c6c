package turn

import (
	"errors"

	"github.com/mergexo/mergexo/internal/model"
)

// CIPolicy is what the settings say about failed workflow runs, and which runs are our own.
type CIPolicy struct {
	When    string // never, first_fail or all_complete
	OwnPath string // of MergeXO's own workflow file; "" where that is not known
	OwnRun  int64  // id of the workflow run that this process is in; 0 in a terminal
}

// Failures are the failed workflow runs on the head of pull request number as feedback, oldest first. Of each workflow and
// event the newest run counts. Each has its run, with the failed jobs' logs cut to what a prompt takes.
func Failures(runs []model.CIRun, head string, number int, p CIPolicy) []model.Comment {
	return nil
}

// Carry gives a receipt what earlier ones say of failures that still stand on the same head: once reading stops at the new
// one, it alone tells that they were answered.
func Carry(m model.TurnMarker, st model.State, failures []model.Comment) model.TurnMarker {
	return m
}

// Flaky says that a run failed again whose failure was held to be a test's own, on the same head, and which receipt said so.
func Flaky(st model.State, failures []model.Comment, head string) (mark model.FlakyMark, again bool) {
	return mark, again
}

// FlakyIssue is the issue that reports a test as flaky. Its body is Markdown with words of the agent.
func FlakyIssue(f model.FlakyTest, p model.Pull, failures []model.Comment) (title, body string) {
	return "", ""
}

// FlakyBlock is what a block says of runs that failed again.
func FlakyBlock(mark model.FlakyMark, failures []model.Comment) string {
	return errors.New("not built yet").Error()
}
