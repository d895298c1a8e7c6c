package config

import (
	"errors"
	"fmt"
	"strings"
)

// ErrInvalid matches every error of this package: settings that a person has to correct.
var ErrInvalid = errors.New("invalid settings")

// Problem is one mistake in a settings file.
type Problem struct {
	Line  int    // from 1; 0 if the file itself is the problem
	Key   string // "merge.rule.branch"; empty where it is not about a key
	Text  string
	place string // the key with the index of its table
}

// Error lists all problems of a settings file by line.
type Error struct {
	Source   string
	Problems []Problem
	missing  bool // the file
}

// Error is one line for each problem: "SOURCE:LINE: KEY: TEXT".
func (e *Error) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		at := e.Source
		if p.Line > 0 {
			at = fmt.Sprintf("%s:%d", e.Source, p.Line)
		}
		if p.Key != "" {
			at += ": " + p.Key
		}
		lines[i] = at + ": " + p.Text
	}
	return strings.Join(lines, "\n")
}

// Is makes every Error an ErrInvalid.
func (e *Error) Is(target error) bool { return target == ErrInvalid }

// Usage marks errors that the caller can fix.
func (e *Error) Usage() bool { return true }

// Lack is an ErrInvalid where the settings are right, but this run lacks what they need.
type Lack struct {
	Source, Key string // what needs it
	Missing     string // with code in backticks, as the others
	Why         string
	Command     string // that provides it; "": none
	Fix         string // what else is to be done
}

func (e *Lack) Error() string {
	run := ""
	if e.Command != "" {
		run = "run " + e.Command + ", and "
	}
	return strings.ReplaceAll(fmt.Sprintf("%s: %s: %s, and %s: %s%s", e.Source, e.Key, e.Missing, e.Why, run, e.Fix), "`", "")
}

// Is makes every Lack an ErrInvalid.
func (e *Lack) Is(target error) bool { return target == ErrInvalid }

// Usage marks errors that the caller can fix.
func (e *Lack) Usage() bool { return true }

// Minimal is the smallest settings file that works, suggested if there is none.
const Minimal = `[agent]
adapter = "command"
command = ["./agent"]
`

// Missing is the error for a missing settings file, with a file that would do.
func Missing(source string) error {
	text := "does not exist; commit one to the base branch, at least:\n\n" + strings.TrimRight(indent(Minimal), "\n")
	return &Error{Source: source, Problems: []Problem{{Text: text}}, missing: true}
}

// IsMissing reports whether an error comes from Missing.
func IsMissing(err error) bool {
	e := (*Error)(nil)
	return errors.As(err, &e) && e.missing
}

func indent(s string) string {
	return "    " + strings.ReplaceAll(strings.TrimRight(s, "\n"), "\n", "\n    ")
}
