package handoff

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/must"
)

// FuzzDecode takes the file system out of the way: what is accepted is in the format's own form, and what is refused is
// refused in one line by the name of a field.
func FuzzDecode(f *testing.F) {
	sha, key := strings.Repeat("a", 40), strings.Repeat("c", 64)
	turn := fmt.Sprintf(`"version":1,"repository":"octo/widgets","number":7,"turn_key":"%s","start":"%s","events":["7:review:11:2026-01-02T03:04:05Z"]`, key, sha)
	of := func(flow string) string {
		return fmt.Sprintf(`"version":1,"repository":"octo/widgets","number":7,"flow":"%s","turn_key":"%s","start":"%s"`, flow, key, sha)
	}
	for _, seed := range []string{
		`{` + turn + `,"ended":"planned","head":"` + sha + `","outcome":{"review_replies":[{"review_comment_id":11,"body":"x"}],"usage":{"cost_usd":0.5}},"notes":["n"]}`,
		`{` + turn + `,"ended":"planned","head":"` + strings.Repeat("b", 40) + `","bundle":{"sha256":"` + key + `","size":11},"outcome":{}}`,
		`{` + turn + `,"ended":"blocked","reason":"history_rewrite","observed":"` + strings.Repeat("b", 40) + `","outcome":{"session":"s"}}`,
		`{` + turn + `,"ended":"postponed","detail":"a limit","onto":"` + strings.Repeat("b", 40) + `","outcome":{"review_replies":null}}`,
		`{"version":1,"repository":"octo/widgets","number":7,"ended":"nothing","detail":"x","outcome":{}}`,
		`{` + of("bugfix") + `,"events":["7:issue:11:2026-01-02T03:04:05Z"],"ended":"planned","head":"` + sha + `","outcome":{"pr_title":"t","pr_summary":"s","commit_message":"m"}}`,
		`{` + of("design") + `,"ended":"planned","head":"` + sha + `","outcome":{"title":"t","summary":"s","touch_paths":["a"],"design_doc_markdown":"# d"}}`,
		`{` + of("implementation") + `,"ended":"blocked","reason":"agent_timeout","detail":"x","outcome":{"session":"s"}}`,
		`{` + of("") + `,"ended":"failed","detail":"x","outcome":{}}`, `{"flow":null,"outcome":{}}`, `{"Flow":"design","outcome":{"title":"x"}}`,
		`{"outcome":{"flaky_test_report":{"title":"t","summary":"s","relevant_log_url":"u"}}}`, `{"events":[`, "\xff{}", `[]`, `{}{}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		h, err := decode(in)
		if err == nil {
			err = h.validate()
		}
		if err != nil {
			var refused *Refusal
			require.ErrorAs(t, err, &refused)
			assert.NotEmpty(t, refused.What)
			assert.NotContains(t, err.Error(), "\n")
			assert.Less(t, len(err.Error()), 1000)
			return
		}
		text := must.Get(json.Marshal(h))(t)
		again := must.Get(decode(text))(t)
		require.NoError(t, again.validate())
		assert.Equal(t, string(text), string(must.Get(json.Marshal(again))(t)))
	})
}
