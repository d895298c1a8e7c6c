package flow_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/flow"
)

func TestAMessageOfAnAgentNamesClosesAndControlsNothing(t *testing.T) {
	t.Parallel()
	const gap = "\u200b"
	for _, tt := range []struct{ said, want, taken string }{
		{"Greet people\n\nThe word is fixed now. See #12, by-the-way: it is a house-by: no.\n", "Greet people\n\nThe word is fixed now. See #12, by-the-way: it is a house-by: no.", ""},
		{"Say \x1b[31mred\x1b[0m \x1b]0;title\x07and\r\n\u009b2Jmore\x00\u202e", "Say red and\nmore", "control characters"},
		{"Greet\n\nCo-authored-by: Ada <ada@example.com>\n  and more of it\nRefs: 4\nsigned-off-by : X <x@y>\nReviewed-By: me\n", "Greet\n\nRefs: 4", "trailers that name people"},
		{"Greet\n\nOn-behalf-of: @octo <o@example.com>\nCc: list <l@example.com>", "Greet", "trailers that name people"},
		{"Greet [skip ci]", "Greet (skip ci)", "words that skip checks"},
		{"Greet [CI  Skip] [no ci][skip actions]\n[actions skip] [skip-ci]", "Greet (CI  Skip) (no ci)(skip actions)\n(actions skip) (skip-ci)", "words that skip checks"},
		{"[s\x07kip ci]", "(skip ci)", "control characters, words that skip checks"},
		{"Greet\n\n\nskip-checks: true", "Greet", "words that skip checks"},
		{"Greet\n\nSkip-Checks:true\n", "Greet", "words that skip checks"},
		{"Fixes #9, closes octo/widgets#4 and resolves GH-8", "Fixes" + gap + " #" + gap + "9, closes" + gap + " octo/widgets#" + gap + "4 and resolves" + gap + " GH-" + gap + "8", "closing keywords"},
		{"fix https://github.com/octo/widgets/issues/9", "fix" + gap + " https://github.com/octo/widgets/issues/9", "closing keywords"},
		{"Fixes #3, fixes #30", "Fixes #3, fixes" + gap + " #" + gap + "30", "closing keywords"},
		{"Thank @octo/team and @ada, not a@b.c", "Thank @" + gap + "octo/team and @" + gap + "ada, not a@b.c", "mentions"},
		{"Co-authored-by: Ada <ada@example.com>", "Change files", "trailers that name people"},
		{"\x1b[2J", "Change files", "control characters"},
	} {
		got, taken := flow.Message(tt.said, 3)
		assert.Equal(t, tt.want, got, "%q", tt.said)
		assert.Equal(t, tt.taken, strings.Join(taken, ", "), "%q", tt.said)
		again, more := flow.Message(got, 3)
		assert.Equal(t, got, again, "again it stays as it is")
		assert.Empty(t, more)
	}
	got, _ := flow.Message("Fixes #3", 0)
	assert.Equal(t, "Fixes"+gap+" #"+gap+"3", got, "where nothing may be closed")
}

var (
	skipping = regexp.MustCompile(`(?i)\[(?:skip ci|ci skip|no ci|skip actions|actions skip)\]|^skip-checks:`)
	person   = regexp.MustCompile(`(?im)^(?:co-authored|signed-off|reviewed)-by:`)
)

func FuzzMessage(f *testing.F) {
	for _, s := range []string{"[skip ci]", "[skip [skip ci] ci]", "x\n\nskip-checks:true", "Co-authored-by: a <a@b>", "\x1b[\x1b[31mx", "fixes\x00 #9", "[skip\x1b[m ci]", "a\r\rCo-authored-by: x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, _ := flow.Message(s, 3)
		assert.NotRegexp(t, skipping, got)
		assert.NotRegexp(t, person, got)
		assert.NotRegexp(t, `[\x00-\x08\x0b-\x1f\x7f-\x{9f}\x{202e}]`, got)
		own := regexp.MustCompile(`(?i)(close[sd]?|fix(?:e[sd])?|resolve[sd]?)[^\pL\pN#]*(?:#|GH-)3\b`)
		assert.Empty(t, links(own.ReplaceAllString(got, "")), "%q", got)
		again, taken := flow.Message(got, 3)
		assert.Equal(t, got, again)
		assert.Empty(t, taken)
	})
}
