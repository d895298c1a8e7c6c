package agent

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func FuzzSuggestions(f *testing.F) {
	for _, seed := range []string{"```suggestion\nx\n```", "~~~~ suggestion y\r\n```\r\n~~~~", "````\n```suggestion\n```\n````", "  ```suggestion\n   x", "```suggestion\n", "``` a`b\n```suggestion"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		found := suggestions(body)
		rows := strings.Split(body, "\n")
		total := 0
		for i, b := range found {
			assert.True(t, b.closed || i == len(found)-1, "only the last one can be without an end")
			total += len(b.lines) + 1
			for _, line := range b.lines {
				assert.NotContains(t, line, "\n")
				assert.Contains(t, body, line, "lines are the comment's own")
			}
		}
		assert.LessOrEqual(t, total, len(rows), "no line is used twice")

		fence := strings.Repeat("~", 3+strings.Count(body, "~"))
		whole := suggestions(fence + "suggestion\n" + body + "\n" + fence)
		var want []string
		for _, row := range rows {
			want = append(want, strings.TrimSuffix(row, "\r"))
		}
		assert.Equal(t, []block{{lines: want, closed: true}}, whole, "whatever stands in a longer fence is only text")
	})
}
