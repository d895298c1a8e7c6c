package report

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/mergexo/mergexo/internal/model"
)

// Results writes the reports of a sweep as one object.
func Results(w io.Writer, all []model.Report) error {
	if all == nil {
		all = []model.Report{}
	}
	for i := range all {
		if all[i].Effects == nil {
			all[i].Effects = []model.Effect{}
		}
	}
	return Object(w, map[string]any{"results": all})
}

// SweepAccount writes what a sweep did as plain text for a terminal: the account of every number, the sweep's own last.
func SweepAccount(w io.Writer, all []model.Report) error {
	for _, r := range all {
		what := "the repository"
		switch {
		case r.Number != 0 && r.IsIssue:
			what = fmt.Sprintf("issue #%d", r.Number)
		case r.Number != 0:
			what = fmt.Sprintf("#%d", r.Number)
		}
		if _, err := fmt.Fprintf(w, "== %s\n\n", what); err != nil {
			return fmt.Errorf("write account: %w", err)
		}
		if err := Account(w, r); err != nil {
			return err
		}
		if _, err := fmt.Fprintln(w); err != nil {
			return fmt.Errorf("write account: %w", err)
		}
	}
	return nil
}

// MatrixOutput appends the step outputs matrix and work to the file at path, as Outputs does: the job matrix as JSON on one
// line, and whether there is any work, since Actions refuses a matrix without a job. Nothing in it is anybody's text.
func MatrixOutput(path string, m model.Matrix) error {
	raw, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("encode the matrix: %w", err)
	}
	return appendTo(path, fmt.Sprintf("matrix=%s\nwork=%t\n", raw, len(m.Include) > 0))
}
