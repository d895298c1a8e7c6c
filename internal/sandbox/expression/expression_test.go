package expression

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/must"
)

var contexts = Object{"github": Object{
	"event_name": "issue_comment", "actor": "ada",
	"event": Object{
		"sender": Object{"type": "Bot", "login": "x[bot]"}, "comment": Object{"body": "it's"}, "number": float64(7),
		"labels": []any{Object{"name": "agent:bugfix"}, Object{"name": "Urgent"}},
	},
}}

func TestConditions(t *testing.T) {
	for text, want := range map[string]string{
		"":     "true",
		"true": "true", "false": "false", "null": "false", "''": "false", "'false'": "true", "0": "false", "-1": "true", "0x0": "false", "NaN": "false",
		"github.event_name == 'ISSUE_COMMENT'":                           "true",
		"GitHub.Event.Sender.TYPE != 'Bot'":                              "false",
		"github.event.sender.type != 'Bot' || github.actor":              "true",
		"${{ github.event.sender.type == 'Bot' }}":                       "true",
		"github.event.comment == null":                                   "false",
		"github.event.review == null":                                    "true",
		"github.event.review.user.type == 'Bot'":                         "false",
		"github.event['comment'].body == 'it''s'":                        "true",
		"github.event.comment == github.event.comment":                   "false",
		"!github.event.review":                                           "true",
		"!!github.event.review":                                          "false",
		"!(true && false)":                                               "true",
		"1 < 2 && '2' >= 2 && 'a' < 'B' && !(1 <= 'x')":                  "true",
		"true == 1 && null == 0 && '' == 0":                              "true",
		"github.event.number == '7'":                                     "true",
		"contains(github.event.sender.login, '[BOT]')":                   "true",
		"endsWith(github.event.sender.login, '[bot]')":                   "true",
		"startsWith(github.event.sender.login, 'y')":                     "false",
		"contains(github.event.labels.*.name, 'urgent')":                 "true",
		"github.event.labels[1].name == 'urgent'":                        "true",
		"github.event.labels[9].name == null":                            "true",
		"contains(fromJSON('[\"ada\", \"bob\"]'), github.actor)":         "true",
		"fromJSON('{\"a\": {\"b\": 1}}').a.b == 1":                       "true",
		"join(github.event.labels.*.name, '-') == 'agent:bugfix-urgent'": "true",
		"format('{0}/{1}{{', 'a', 7) == 'a/7{'":                          "true",
		"always() && !failure() && !cancelled() && success()":            "true",
		"contains(vars.PEOPLE, github.actor)":                            "?",
		"vars.ON == 'yes'":                                               "?",
		"!vars.ON":                                                       "?",
		"github.workflow_sha == 'x'":                                     "?",
		"vars.ON && false":                                               "false",
		"false && vars.ON":                                               "false",
		"vars.ON || true":                                                "true",
		"true || vars.ON":                                                "true",
		"vars.ON && true":                                                "?",
		"vars.ON || false":                                               "?",
		"true && vars.ON":                                                "?",
		"hashFiles('**') == ''":                                          "?",
		"toJSON(github.event) == ''":                                     "?",
		"vars[github.actor] == 'x'":                                      "?",
		"github.event[vars.X] == 'x'":                                    "?",
		"${{ vars.A }} == 'x'":                                           "true",
		"${{ github.actor }} is nobody":                                  "true",
	} {
		met, known, err := Condition(text, contexts)
		require.NoError(t, err, text)
		got := "?"
		if known {
			got = map[bool]string{true: "true", false: "false"}[met]
		}
		assert.Equal(t, want, got, text)
	}
}

func TestTexts(t *testing.T) {
	for text, want := range map[string]string{
		"plain": "plain",
		"m-${{ github.event.number || 'sweep' }}":                       "m-7",
		"m-${{ github.event.issue.number || github.event.x || 'all' }}": "m-all",
		"${{ '}}' }}-${{ null }}-${{ true }}-${{ github.event }}":       "}}--true-Object",
		"${{ vars.X }}": "<?>", "${{ 1.50 }}": "1.5", "${{ github.event.labels }}": "Array",
	} {
		assert.Equal(t, want, must.Get(Text(text, contexts))(t, text), text)
	}
}

func TestMistakes(t *testing.T) {
	for text, says := range map[string]string{
		"a ==":                      "unexpected end of input",
		"a b":                       "remaining token",
		"'open":                     "end of string",
		"(a":                        "unexpected end of input",
		"a[1":                       "unexpected end of input",
		"f(a b)":                    "unexpected",
		"a.(b)":                     "unexpected",
		"\"a\" == b":                "unexpected character",
		"x ${{ a":                   "does not end",
		"x ${{ a b }}":              "remaining token",
		strings.Repeat("(", 30_000): "more than 21000 characters",
	} {
		_, _, err := Condition(text, contexts)
		assert.ErrorContains(t, err, says, text)
	}
}

// No text ends the program or runs for ever.
func FuzzCondition(f *testing.F) {
	f.Add("github.event.sender.type != 'Bot' || contains(github.event.labels.*.name, format('{0}', 1.5e3)) && !(a[0] <= b)")
	f.Fuzz(func(t *testing.T, text string) {
		_, known, err := Condition(text, contexts)
		require.False(t, known && err != nil)
	})
}
