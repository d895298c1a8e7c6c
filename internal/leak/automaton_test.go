package leak

import (
	"context"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// How often a byte is looked at, at most, by automata and by package regexp, whatever the text is. What each look costs is
// for scripts/bench.
const (
	mostLooks    = 60
	mostPatterns = 6
)

// work is how many bytes automata and patterns have looked at: that is what time goes into.
func (w *worker) work() (automata, patterns int) {
	for _, a := range slices.AppendSeq(slices.Clone(w.made), maps.Values(w.lists)) {
		if a != nil {
			automata += a.steps
		}
	}
	return automata, w.given
}

func TestWorkGrowsWithTheTextAndNoFaster(t *testing.T) {
	const size = 256 << 10
	s, err := New()
	require.NoError(t, err)
	for name, text := range hostile(t) {
		all := fill(text, size)
		w := newWorker(s)
		for _, at := range bounds(all) {
			_, err := w.chunk(context.Background(), cut(all, at), Piece{Path: "a.yaml", Line: 1})
			require.NoError(t, err)
		}
		automata, patterns := w.work()
		assert.Less(t, float64(automata)/size, float64(mostLooks), "%s: by automata", name)
		assert.Less(t, float64(patterns)/size, float64(mostPatterns), "%s: by patterns", name)
	}
}

func TestNothingIsCompiledForAnInnocentText(t *testing.T) {
	s := bare(t)
	_, err := s.Scan(context.Background(), Piece{Path: "README.md", Line: 1, Text: []byte("Steer coding agents from GitHub.\n")})
	require.NoError(t, err)
	var compiled []string
	for _, r := range s.rules {
		if r.pattern != nil {
			compiled = append(compiled, r.ID)
		}
	}
	assert.LessOrEqual(t, len(compiled), 1, "%v", compiled)
}

func TestTheRestOfAPieceIsLeftWhenEnoughWasFound(t *testing.T) {
	s, err := New()
	require.NoError(t, err)
	text := fill("ghp_"+"x7Kq9vT2mZ4bN8cR1dF6gH3jL5pS0wY9aE2u\n", 4<<20)
	found, err := s.Scan(context.Background(), Piece{Path: "a", Line: 1, Text: text})
	require.NoError(t, err)
	require.Len(t, found, enough)
	assert.Equal(t, 1, found[0].Line)
	sparse := fill("ghp_"+"x7Kq9vT2mZ4bN8cR1dF6gH3jL5pS0wY9aE2u"+strings.Repeat(".", 8<<10)+"\n", 4<<20)
	some, err := s.Scan(context.Background(), Piece{Path: "a", Line: 1, Text: sparse})
	require.NoError(t, err)
	require.Len(t, some, enough, "few in each chunk")
	assert.Equal(t, enough, found[enough-1].Line, "the first ones, in order, however many looked")
	all, err := s.All(context.Background(), Piece{Path: "a", Line: 1, Text: text})
	require.NoError(t, err)
	assert.Len(t, all, strings.Count(string(text), "\n"), "whoever takes them out has to know every one")
}

func TestWords(t *testing.T) {
	w := newWords([]string{"he", "she", "his", "hers", "s"})
	type hit struct{ word, end int }
	var got []hit
	w.walk("uSHErs", func(word, end int) bool { got = append(got, hit{word, end}); return true })
	assert.Equal(t, []hit{{4, 2}, {1, 4}, {0, 4}, {3, 6}, {4, 6}}, got)
	assert.True(t, w.in("..HIS"))
	assert.False(t, w.in("h\u017fe"))

	random := rand.New(rand.NewPCG(1, 2))
	letters := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = "abAB"[random.IntN(4)]
		}
		return string(b)
	}
	for range 200 {
		var list []string
		for range 1 + random.IntN(6) {
			if word := strings.ToLower(letters(1 + random.IntN(5))); !slices.Contains(list, word) {
				list = append(list, word)
			}
		}
		text := letters(30)
		var want, got []hit
		for end := range len(text) + 1 {
			for n, word := range list {
				if strings.HasSuffix(strings.ToLower(text[:end]), word) {
					want = append(want, hit{n, end})
				}
			}
		}
		newWords(list).walk(text, func(word, end int) bool { got = append(got, hit{word, end}); return true })
		assert.ElementsMatch(t, want, got, "%v in %s", list, text)
	}
}

// FuzzAutomaton compares the automaton with package regexp: it sees every match, and in ASCII no other.
func FuzzAutomaton(f *testing.F) {
	for _, seed := range [][2]string{
		{`a{2,5}b`, "xaaaab"}, {`\bkey\b`, "my key"}, {`(?i)k(?:\s|$)`, "K"}, {`^a|b$`, "ab"}, {`(?m)^a$`, "b\na\n"}, {`[^a]\B.`, "é1"}, {`(?s:.){0,3}?z`, "\xff\xffz"}, {``, ""},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, expression, text string) {
		want, err := regexp.Compile(expression)
		if err != nil || len(expression) > 40 || len(text) > 200 || strings.Contains(expression, `\Q`) {
			return
		}
		for _, floating := range []bool{true, false} {
			a, err := newAutomaton(expression, floating)
			require.NoError(t, err)
			matched, _, end := a.run(a.start(text, 0), text, 0, len(text))
			at := want.FindStringIndex(text)
			if !floating {
				at = regexp.MustCompile(`\A(?:` + expression + `)`).FindStringIndex(text)
			}
			if at != nil {
				assert.True(t, matched)
				assert.LessOrEqual(t, end, at[1])
			} else if strings.Trim(text, "\x00\x01\x02\x03\x04\x05\x06\x07\x08\t\n\v\f\r\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f !\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~\x7f") == "" {
				assert.False(t, matched)
			}
		}
	})
}

func TestWhetherSomethingClosesAValueIsRightInAnyOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	text := make([]byte, 400)
	for i := range text {
		text[i] = 'a'
		if random.IntN(15) == 0 {
			text[i] = ';'
		}
	}
	asked := &task{text: string(text)}
	for range 2000 {
		from, most := random.IntN(len(text)), random.IntN(30)
		until := strings.IndexByte(string(text[from:])+";", ';')
		assert.Equal(t, until > most, asked.open(from, most), "%d %d", from, most)
	}
}
