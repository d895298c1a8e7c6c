package markdown_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/markdown"
)

func TestPrintable(t *testing.T) {
	for said, want := range map[string]string{
		"a\r\nb\rc\n":             "a\nb\nc\n",
		"a\tb\x00\x08\x7f\u0085c": "a\tbc",
		"\u202ea\u2066b\u200b":    "ab\u200b",
		"a\xffb":                  "a\uFFFDb",
		"\x1b[1;31mred\x1b[0m":    "red",
		"\u00e2\u0080\u009cA\u00e2\u0080\u009d and \u00e2\u0080\u009cB\u00e2\u0080\u009d": "\u00e2A\u00e2 and \u00e2B\u00e2", // quotation marks that were encoded twice
		"\x1b]8;;http://x\x07y\x1b": "y",
	} {
		assert.Equal(t, want, markdown.Printable(said), "%q", said)
		assert.Equal(t, want, markdown.Printable(want), "again it stays as it is")
	}
}
