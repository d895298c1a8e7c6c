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
		"a\U000e0068\U000e0069b\u00ad\u2060\U000e0101\u2028c":       "abc", // letters as tags, and others that have no shape
		"\u2764\ufe0f\u200d\U0001f525 and \u0645\u06cc\u200c\u0634": "\u2764\ufe0f\u200d\U0001f525 and \u0645\u06cc\u200c\u0634",
		"a\u200b\u200c\u200c\u200b\u200b\ufe0f\u200db":              "a\u200b\u200cb",
		"a\xffb":               "a\uFFFDb",
		"\x1b[1;31mred\x1b[0m": "red",
		"\u00e2\u0080\u009cA\u00e2\u0080\u009d and \u00e2\u0080\u009cB\u00e2\u0080\u009d": "\u00e2A\u00e2 and \u00e2B\u00e2", // quotation marks that were encoded twice
		"\x1b]8;;http://x\x07y\x1b": "y",
	} {
		assert.Equal(t, want, markdown.Printable(said), "%q", said)
		assert.Equal(t, want, markdown.Printable(want), "again it stays as it is")
	}
}
