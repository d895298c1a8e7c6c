// Package report writes what a run shows besides its comments: the JSON object, step outputs, the job summary, annotations, the
// log and a replay's account. It decides nothing.
//
// All of it is in one package because of one rule: text of an agent or a user never becomes a workflow command, a step output or
// a terminal sequence.
package report

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/mergexo/mergexo/internal/model"
)

// JSON writes r as one object on one line. Every field is present, lists are never null.
func JSON(w io.Writer, r model.Report) error {
	if r.Effects == nil {
		r.Effects = []model.Effect{}
	}
	return Object(w, r)
}

// outputValueLimit bounds one step output, in bytes; GitHub takes 1 MB for all of them.
const outputValueLimit = 4096

// pull returns the number of the pull request that a run handled or opened; 0 for none.
func pull(r model.Report) int {
	if r.IsIssue || r.Opened.Number != 0 {
		return r.Opened.Number
	}
	return r.Number
}

// reached returns the head of that pull request.
func reached(r model.Report) string {
	if r.Opened.Number != 0 {
		return r.Opened.HeadSHA
	}
	return r.HeadSHA
}

// Outputs appends the step outputs result, pr, turn-key, head-sha and blocked-reason to the file at path, the one that
// GITHUB_OUTPUT names; with an empty path it does nothing. A value is one line by construction: line breaks and other
// control characters in it become spaces, so that none can begin an output of its own. The form is NAME=VALUE, which
// has no delimiter that a value could contain: go-githubactions writes a fixed one, and panics where the file cannot
// be written.
//
// https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands#setting-an-output-parameter
func Outputs(path string, r model.Report) error {
	number := ""
	if n := pull(r); n != 0 {
		number = strconv.Itoa(n)
	}
	var b strings.Builder
	for _, o := range []struct{ name, value string }{
		{"result", string(r.Result)},
		{"pr", number},
		{"turn-key", r.TurnKey},
		{"head-sha", reached(r)},
		{"blocked-reason", r.BlockedReason},
	} {
		fmt.Fprintf(&b, "%s=%s\n", o.name, cut(oneLine(o.value), outputValueLimit))
	}
	return appendTo(path, b.String())
}

// appendTo appends to the file of the step outputs; with an empty path it does nothing.
func appendTo(path, text string) error {
	if path == "" {
		return nil
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("open step outputs: %w", err)
	}
	if _, err := f.WriteString(text); err != nil {
		_ = f.Close()
		return fmt.Errorf("write step outputs: %w", err)
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("close step outputs: %w", err)
	}
	return nil
}
