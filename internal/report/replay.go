package report

import (
	"fmt"
	"io"
	"strings"
)

// Made is an event that a replay can make from nothing.
type Made struct {
	Event string `json:"event"`
	About string `json:"about"`
	Body  string `json:"body"` // the text that is said where no other is given
}

// MadeEvents lists them as a table, and how to ask for one.
func MadeEvents(w io.Writer, all []Made) error {
	rows := [][]string{{"EVENT", "WHAT HAPPENS", "TEXT"}}
	for _, m := range all {
		first, _, more := strings.Cut(plain(strings.TrimSpace(m.Body)), "\n")
		if more {
			first += " …"
		}
		rows = append(rows, []string{m.Event, m.About, first})
	}
	if err := table(w, rows); err != nil {
		return err
	}
	return text(w, "\nmergexo replay --make EVENT runs one of these; --body TEXT replaces its text.\n")
}

// Assumed says what a replay made up because its event does not tell it.
func Assumed(w io.Writer, all []string) error {
	for _, one := range all {
		if err := text(w, fmt.Sprintf("assumed: %s\n", oneLine(one))); err != nil {
			return err
		}
	}
	return nil
}
