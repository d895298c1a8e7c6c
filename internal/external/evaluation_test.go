package external_test

import (
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/external"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
)

func TestWhatAnEvaluationSays(t *testing.T) {
	t.Parallel()
	for out, want := range map[string]model.EvaluationResult{
		`{"verdict": "approve"}`: {Verdict: "approve"},
		"\n\uFEFF {\"reason\": \" x \", \"verdict\": \"approve\"}\r\n": {Verdict: "approve", Reason: "x"},
		`{"verdict": "reject", "reason": "a\nb <!-- é"}`:               {Verdict: "reject", Reason: "a\nb <!-- é"},
		`{"verdict": "fix", "reason": "tabs"}`:                         {Verdict: "fix", Reason: "tabs"},
	} {
		assert.Equal(t, want, must.Get(external.ParseEvaluation([]byte(out)))(t, out))
	}
	long := must.Get(external.ParseEvaluation([]byte(`{"verdict": "reject", "reason": "` + strings.Repeat("ä", 10_000) + `"}`)))(t)
	assert.Equal(t, strings.Repeat("ä", 2_000)+" [...]", long.Reason)
}

func TestWhatIsNoVerdict(t *testing.T) {
	t.Parallel()
	for out, want := range map[string]string{
		"":                              "the answer: empty; want one JSON object",
		"  \uFEFF ":                     "the answer: empty",
		"LGTM @everyone\n::error::x":    `the answer: not JSON: invalid character 'L' at start of value; want one JSON object {"verdict": "approve", "reject" or "fix", "reason": "..."} and nothing else, got "LGTM @everyone\n::error::x"`,
		`{"verdict": "approve"`:         "the answer: not JSON: it ends in the middle",
		`{"verdict": "approve"} thanks`: `the answer: it continues after the JSON value: "thanks"`,
		`{"verdict": "approve"}{"verdict": "reject"}`: "the answer: it continues after",
		"```json\n{\"verdict\": \"approve\"}\n```":    "the answer: not JSON",
		`["approve"]`:                           "the answer: want an object, got a list",
		`null`:                                  "the answer: want an object, got null",
		`{}`:                                    "verdict: it is missing",
		`{"verdict": true}`:                     "verdict: want a string, got a boolean",
		`{"verdict": null}`:                     "verdict: want a string, got null",
		`{"verdict": "approve", "reason": 3}`:   "reason: want a string, got a number",
		`{"verdict": "approve", "merge": true}`: `the answer: unknown field "merge"`,
		`{"verdict": "approve", "Verdict": "reject"}`:      `the answer: unknown field "Verdict"`,
		`{"verdict": "reject", "verdict": "approve"}`:      "verdict: it occurs twice",
		`{"verdict": "APPROVE"}`:                           `verdict: "APPROVE" is unknown; want one`,
		`{"verdict": "reject"}`:                            "reason: a reject needs one",
		`{"verdict": "fix", "reason": " \n "}`:             "reason: a fix needs one",
		"{\"verdict\": \"approve\", \"reason\": \"\xff\"}": `the answer: not JSON: invalid UTF-8; want`,
		strings.Repeat(" {", 40_000):                       "the answer has 79999 bytes, over 65536",
	} {
		got, err := external.ParseEvaluation([]byte(out))
		require.ErrorContains(t, err, want, out)
		assert.Zero(t, got)
		assert.Less(t, len(err.Error()), 400)
		assert.NotContains(t, err.Error(), "\n")
	}
}

// FuzzEvaluation holds that no output is taken for more than it says, and that what it is refused with is one line.
func FuzzEvaluation(f *testing.F) {
	for _, s := range []string{`{"verdict": "approve", "reason": "x"}`, `{"verdict": "fix"}`, "\uFEFF{}", "", "\x00", `{"verdict": "reject", "reason": "\u0000\ud800"}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, out []byte) {
		j, err := external.ParseEvaluation(out)
		if err != nil {
			require.Zero(t, j)
			require.Less(t, len(err.Error()), 1000)
			for _, r := range err.Error() {
				require.True(t, unicode.IsPrint(r), "%q", err.Error())
			}
			return
		}
		require.Contains(t, []string{model.VerdictApprove, model.VerdictReject, model.VerdictFix}, j.Verdict)
		require.True(t, j.Verdict == model.VerdictApprove || j.Reason != "")
		require.LessOrEqual(t, len(j.Reason), 4_100)
	})
}
