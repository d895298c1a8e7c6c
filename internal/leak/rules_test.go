package leak

import (
	"errors"
	"regexp"
	"testing"

	"github.com/BurntSushi/toml"
	"github.com/stretchr/testify/assert"
	"github.com/zricethezav/gitleaks/v8/config"

	"github.com/mergexo/mergexo/internal/must"
)

// gitleaks reads its settings by another library, which takes every name in another way than ours if it changes one.
func TestOurRulesAreInForceAndEverySettingIsRead(t *testing.T) {
	var theirs, mine config.ViperConfig
	for text, into := range map[string]*config.ViperConfig{config.DefaultConfig: &theirs, ours: &mine} {
		read := must.Get(toml.Decode(text, into))(t)
		assert.Empty(t, read.Undecoded())
	}
	s := must.Get(New())(t)
	all, old := s.rules, map[string]string{}
	for _, r := range theirs.Rules {
		old[r.ID] = r.Regex
		assert.True(t, all[r.ID].RuleID == r.ID, r.ID)
	}
	for _, r := range mine.Rules {
		assert.Equal(t, r.Regex, all[r.ID].Regex.String())
		assert.NotEqual(t, old[r.ID], r.Regex, "gitleaks knows this by now: drop ours")
	}
	for id := range beyond {
		assert.Contains(t, all, id)
	}
	assert.Len(t, all[generic].Allowlists, 4+len(ids))
}

func TestTheWordsOfAPanicAreNotRepeated(t *testing.T) {
	assert.Equal(t, "*errors.errorString", nameless(errors.New("what was read")))
	assert.Equal(t, "string", nameless("what was read"))
}

func TestAGroupThatIsNotInTheMatchIsNoSecret(t *testing.T) {
	r := config.Rule{RuleID: "optional", Regex: regexp.MustCompile(`key(=\w+)?;`), SecretGroup: 1}
	for text, want := range map[string]string{"key=value;": "=value", "key;": ""} {
		m, is := (&Scanner{}).match(text, r.Regex.FindStringSubmatchIndex(text), r, "a.txt")
		assert.Equal(t, want != "", is, text)
		assert.Equal(t, want, m.secret, text)
	}
}
