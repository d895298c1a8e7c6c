package turn_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
	"github.com/mergexo/mergexo/internal/turn"
)

func TestAnEndedCommentSaysSoFirst(t *testing.T) {
	const rest = "\n\nWhy.\n\n<!-- mergexo-action:1 -->\n<!-- mergexo-block:{\"a\":1} -->"
	type row struct {
		first string
		e     model.Ended
		want  string
	}
	must.Each(t, map[string]row{
		"unblocked": {"**Blocked: the history was rewritten**", model.Ended{Why: model.EndUnblocked, By: "ann"}, "**Unblocked by `ann`.** Before: Blocked: the history was rewritten"},
		"answered":  {"**The agent has a question** (`agent`), attempt 2", model.Ended{Why: model.EndAnswered}, "**Answered.** Before: The agent has a question (`agent`), attempt 2"},
		"expired":   {"**Blocked: today's budget is used up**", model.Ended{Why: model.EndExpired}, "**No longer blocked.** Before: Blocked: today's budget is used up"},
		"continued": {"**Waiting for a person: conflict**", model.Ended{Why: model.EndContinued}, "**Continued.** Before: Waiting for a person: conflict"},
		"told":      {"**Failed** after 3 attempts: 1 comment", model.Ended{Why: model.EndSuperseded}, ""},
		"not bold":  {"Blocked", model.Ended{Why: model.EndAnswered}, ""},
	}, func(t *testing.T, c row) {
		got, changed := turn.EndedBody(c.first+rest, c.e)
		assert.Equal(t, c.want != "", changed)
		if c.want == "" {
			c.want = c.first
		}
		assert.Equal(t, c.want+rest, got)
		_, again := turn.EndedBody(got, c.e)
		assert.False(t, again, "it is said once")
	})
}
