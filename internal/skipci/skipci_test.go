package skipci_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/skipci"
)

func TestWordsThatStartNoWorkflow(t *testing.T) {
	for message, says := range map[string]string{
		"Greet [skip ci]":                   "[skip ci]",
		"Greet\n\nwip [CI Skip] more\n":     "[CI Skip]",
		"Greet [no ci]":                     "[no ci]",
		"[actions skip] Greet":              "[actions skip]",
		"Greet\n\n\nskip-checks: true\n":    "skip-checks: true",
		"Greet\n\n\nskip-checks:true":       "skip-checks:true",
		"Greet (skip ci)":                   "",
		"Greet [skip  ci]":                  "", // GitHub knows one spelling
		"Greet\n\n    skip-checks: true":    "",
		"Greet, and say skip-checks: true.": "",
	} {
		assert.Equal(t, says, skipci.In(message), message)
		assert.NotRegexp(t, `\[.*\]`, skipci.Disarmed(message))
	}
}
