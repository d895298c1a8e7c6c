package leak

import (
	"context"
	"errors"
	"math/rand/v2"
	"regexp"
	"regexp/syntax"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/zricethezav/gitleaks/v8/config"
)

// example writes something that an expression matches.
func example(random *rand.Rand, e *syntax.Regexp) string {
	var b strings.Builder
	times := func(least, most int) {
		for range least + random.IntN(min(most, least+20)-least+1) {
			b.WriteString(example(random, e.Sub[0]))
		}
	}
	switch e.Op {
	case syntax.OpLiteral:
		b.WriteString(string(e.Rune))
	case syntax.OpCharClass:
		i := 2 * random.IntN(len(e.Rune)/2)
		b.WriteRune(e.Rune[i] + random.Int32N(min(e.Rune[i+1], 126+e.Rune[i])-e.Rune[i]+1))
	case syntax.OpAnyChar:
		b.WriteString([]string{" ", "a", "\"", "é", "\n"}[random.IntN(5)])
	case syntax.OpAnyCharNotNL: // in some patterns it is a dot that was not quoted, and has to be one for the keyword
		b.WriteByte('.')
	case syntax.OpStar:
		times(0, 20)
	case syntax.OpPlus:
		times(1, 20)
	case syntax.OpQuest:
		times(0, 1)
	case syntax.OpRepeat:
		most := e.Max
		if most < 0 {
			most = e.Min + 20
		}
		times(e.Min, most)
	case syntax.OpAlternate:
		b.WriteString(example(random, e.Sub[random.IntN(len(e.Sub))]))
	case syntax.OpConcat, syntax.OpCapture:
		for _, sub := range e.Sub {
			b.WriteString(example(random, sub))
		}
	}
	return b.String()
}

// bare is a scanner without what patterns cannot say, so that it finds what patterns do.
func bare(t testing.TB) *Scanner {
	t.Helper()
	s, err := compile(config.DefaultConfig + ours)
	require.NoError(t, err)
	s.global = nil
	for _, r := range s.rules {
		r.Entropy, r.Allowlists, r.check = 0, nil, nil
	}
	return s
}

// Every pattern, gitleaks' and ours, finds by its automaton at its keyword what package regexp finds for it in all of a
// text of examples and near misses.
func TestTheShortWayFindsTheSame(t *testing.T) {
	s := bare(t)
	random := rand.New(rand.NewPCG(3, 4))
	byKeyword, everywhere := 0, 0
	for _, r := range s.rules {
		if r.Regex == "" || r.after != "" { // what comes after a command is looked for from its end
			continue
		}
		require.NoError(t, r.ready())
		if r.ahead != nil {
			byKeyword++
		} else {
			everywhere++
		}
		tree, err := syntax.Parse(r.Regex, syntax.Perl)
		require.NoError(t, err)
		var text strings.Builder
		for range 15 {
			one := example(random, tree)
			switch random.IntN(6) {
			case 0:
				one = one[:random.IntN(len(one)+1)]
			case 1:
				i := random.IntN(len(one))
				one = one[:i] + "é" + one[i:]
			}
			text.WriteString(one + []string{"", " ", "\n", ";", "\"", "x", "\n\n\n\n\n\n\n\n\n"}[random.IntN(7)])
		}
		text.WriteString("\n" + strings.Join(r.Keywords, "\n"))
		type match struct {
			from, to int
		}
		var want, got []match
		for _, groups := range regexp.MustCompile(r.Regex).FindAllStringSubmatchIndex(text.String(), -1) {
			at := r.group(groups)
			if at[1] == 0 {
				at = [2]int(groups[:2])
				whole := text.String()[at[0]:at[1]]
				at[1] -= len(whole) - len(strings.TrimRight(whole, "\n"))
			}
			want = append(want, match{at[0], at[1]})
		}
		w := newWorker(s)
		_, err = w.run("", "", false)
		require.NoError(t, err)
		task := &task{worker: w, text: text.String()}
		s.words.walk(task.text, func(word, end int) bool {
			for _, k := range s.about[word] {
				if k.rule == r {
					path := r.path
					r.path = nil
					require.NoError(t, task.keyword(r, k.number, end-k.length))
					r.path = path
				}
			}
			return true
		})
		if len(w.anywhere) > 0 {
			require.NoError(t, task.all(r))
		}
		for _, m := range task.found {
			if m.to-m.from == len(m.secret) { // else it was found in parts
				got = append(got, match{m.from, m.to})
			}
		}
		assert.Equal(t, want, got, "%s", r.ID)
		assert.NotEmpty(t, want, r.ID)
	}
	t.Log(byKeyword, everywhere)
	assert.Greater(t, byKeyword, 200)
	assert.Less(t, everywhere, 20, "a pattern that is tried everywhere takes time everywhere")
}

func TestEveryRuleAndListCanBeCompiled(t *testing.T) {
	s, err := New()
	require.NoError(t, err)
	lists := s.global
	for _, r := range s.rules {
		require.NoError(t, r.ready())
		lists = append(lists, r.Allowlists...)
	}
	for _, a := range lists {
		a.ready()
	}
}

func TestOurRulesAreInForce(t *testing.T) {
	s, err := New()
	require.NoError(t, err)
	theirs, err := load(config.DefaultConfig)
	require.NoError(t, err)
	mine, err := load(ours)
	require.NoError(t, err)
	byID := func(rules []*rule) map[string]*rule {
		out := map[string]*rule{}
		for _, r := range rules {
			out[r.ID] = r
		}
		return out
	}
	all, old := byID(s.rules), byID(theirs.Rules)
	for id, r := range byID(mine.Rules) {
		assert.Equal(t, r.Regex, all[id].Regex)
		if old[id] != nil {
			assert.NotEqual(t, old[id].Regex, r.Regex, "gitleaks knows this by now: drop ours")
		}
	}
	for id := range beyond {
		assert.Contains(t, all, id)
	}
	for id := range old {
		assert.Contains(t, all, id)
	}
}

func TestARuleWithoutKeywordsIsAlwaysApplied(t *testing.T) {
	s, err := compile("[[rules]]\nid = \"a\"\nregex = '''x[0-9]{4}'''\n")
	require.NoError(t, err)
	found, err := s.Scan(context.Background(), Piece{Path: "a", Line: 1, Text: []byte("y\nx1234\n")})
	require.NoError(t, err)
	require.Len(t, found, 1)
	assert.Equal(t, 2, found[0].Line)
}

func TestTheWordsOfAPanicAreNotRepeated(t *testing.T) {
	assert.Equal(t, "*errors.errorString", nameless(errors.New("what was read")))
	assert.Equal(t, "string", nameless("what was read"))
}

func TestRulesThatWouldNotBeFollowedAreRefused(t *testing.T) {
	rule := "[[rules]]\nid = \"a\"\nregex = '''a'''\nkeywords = [\"a\"]\n"
	for _, c := range []struct{ text, want string }{
		{rule + "novelty = true\n", "unknown setting rules.novelty"},
		{rule + "skipReport = true\n", "rule a depends on another one, which is not followed here"},
		{rule + "[[rules.required]]\nid = \"a\"\n", "rule a depends on another one, which is not followed here"},
		{rule + "[[rules.allowlists]]\ncondition = \"maybe\"\n", `rule a: unknown condition "maybe" of an allow list`},
		{rule + "[[rules.allowlists]]\nregexTarget = \"file\"\n", `rule a: unknown target "file" of an allow list`},
		{rule + "[[allowlists]]\ntargetRules = [\"a\"]\n", "an allow list is for the rule a only, which is not followed here"},
		{"[[rules]]\nid = \"a\"\n", "rule a has no pattern"},
		{"[[rules]\n", "toml"},
	} {
		_, err := load(c.text)
		assert.ErrorContains(t, err, c.want)
	}
	_, err := load(rule)
	assert.NoError(t, err)
	s, err := compile(strings.Replace(rule, "'''a'''", "'''('''", 1))
	require.NoError(t, err)
	_, err = s.Scan(context.Background(), Piece{Path: "x", Line: 1, Text: []byte("a")})
	assert.ErrorContains(t, err, "rule a: error parsing regexp: missing closing )")
}
