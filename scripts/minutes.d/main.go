// Command minutes.d implements scripts/minutes: it counts the jobs and minutes of GitHub Actions that a workflow costs. It
// evaluates the triggers, conditions and schedules of the file, and so provides the figures of the manual.
package main

import (
	"fmt"
	"os"

	"github.com/mergexo/mergexo/internal/doctor"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "minutes:", err)
		os.Exit(1)
	}
}

// run prints the tables for the workflow in a file, or else for the one that init writes.
func run(files []string) error {
	text := []byte(doctor.Choice{CI: []string{"CI"}, Seldom: true}.Workflow())
	if len(files) > 0 {
		var err error
		if text, err = os.ReadFile(files[0]); err != nil {
			return err
		}
	}
	w, err := read(text)
	if err != nil {
		return err
	}
	events, err := eventTable(w)
	if err != nil {
		return err
	}
	totals, err := totalTable(w)
	if err != nil {
		return err
	}
	fmt.Printf("%s\n%s", events, totals)
	return nil
}
