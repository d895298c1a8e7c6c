package doctor

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/nearest"
)

// FailOn reads the action's input fail-on: the results that fail the step. Words are separated by commas, spaces or line breaks, and
// may be in either case.
func FailOn(value string) ([]model.Result, error) {
	const none = "none"
	known := []string{string(model.ResultFailed), string(model.ResultBlocked), string(model.ResultRetry), none}
	var results []model.Result
	for _, word := range strings.FieldsFunc(value, func(r rune) bool { return r == ',' || unicode.IsSpace(r) }) {
		switch lower := strings.ToLower(word); {
		case !slices.Contains(known, lower):
			return nil, fmt.Errorf("fail-on: %s is unknown%s", quote(word), nearest.Hint(word, known))
		case lower != none:
			results = append(results, model.Result(lower))
		}
	}
	return results, nil
}

// failOn checks what steps name as the results that fail them.
func failOn(e *exam) {
	for _, u := range e.allSteps() {
		value := u.s.With["fail-on"]
		if _, err := FailOn(value); err != nil && !strings.Contains(value, "${{") {
			e.problem("name any of failed, blocked and retry, or none", "%s: the step fails: %v", u.at(u.s.Line), err)
		}
	}
}
