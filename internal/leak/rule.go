package leak

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
)

// rule is one of gitleaks' or ours. Compilation is lazy.
type rule struct {
	ID, Description string
	Path, Regex     string
	SecretGroup     int
	Entropy         float64
	Keywords, Tags  []string
	AllowList       *allowlist // the older way to write them
	Allowlists      []*allowlist
	Required        []struct{ ID string }
	SkipReport      bool

	more
	after string // a word that must precede a match, in the lines before it
	index int
	once  sync.Once
	err   error
	path  *regexp.Regexp
	*pattern
}

// pattern is a rule's expression, compiled.
type pattern struct {
	text   string         // the expression without the lazy rest of a name that it begins with
	name   int            // how long that rest may be
	ahead  [][]int        // how far before each keyword matches begin, most first; nil: keywords do not say where
	most   int            // how long a match may be
	closed bool           // a match ends with what closes a value
	inside *regexp.Regexp // the match behind one character
	begins *regexp.Regexp // the match at the beginning of a text
	whole  *regexp.Regexp // the match anywhere
}

// How gitleaks begins patterns of values that only their name classifies. The rest of that name is lazy and comes first, so
// a match is found without it, and the name can be read backwards from there.
var prefixes = []struct {
	text, becomes string
	name          int
}{
	{`(?i)[\w.-]{0,50}?`, `(?i)`, 50},
	{`[\w.-]{0,50}?(?i:[\w.-]{0,50}?`, `(?i:`, 100},
}

// How gitleaks requires a command before its argument, on the same line or the five after it. Scanning on from every
// command is not linear; so the argument is found first, and the command backwards.
var commands = []struct {
	text, word string
	keywords   []string
}{
	{`\bcurl\b(?:.*?|.*?(?:[\r\n]{1,2}.*?){1,5})`, "curl", []string{"-h", "--header"}},
	{`\bcurl\b(?:.*|.*(?:[\r\n]{1,2}.*){1,5})`, "curl", []string{"-u", "--user"}},
}

const (
	commandLines = 6
	commandBytes = 2 << 10
)

// follows reports whether the rule's command precedes a match.
func (r *rule) follows(text string, at int) bool {
	if r.after == "" {
		return true
	}
	before := text[max(0, at-commandBytes):at]
	i := strings.LastIndex(before, r.after)
	return i >= 0 && strings.Count(before[i:], "\n") < commandLines
}

// closing is how gitleaks ends the patterns of values: with one of closers, or the end of the text.
const closing = `(?:[\x60'"\s;]|\\[nr]|$)`

var closers = func() (set [256]bool) {
	for _, c := range []byte("`'\"\t\n\f\r ;\\") {
		set[c] = true
	}
	return set
}()

const (
	longest  = 8 << 10 // of what has no other limit, only this much of a match is looked at
	farAhead = 12      // a keyword that may be farther behind the beginning of a match does not say where that is
)

// ready compiles the rule.
func (r *rule) ready() error {
	r.once.Do(func() {
		if r.Path != "" {
			if r.path, r.err = regexp.Compile(r.Path); r.err != nil {
				return
			}
		}
		if r.Regex != "" {
			r.pattern, r.err = newPattern(r.Regex, r.Keywords)
		}
	})
	if r.err != nil {
		return fmt.Errorf("rule %s: %w", r.ID, r.err)
	}
	return nil
}

func newPattern(text string, keywords []string) (*pattern, error) {
	p := &pattern{text: text}
	for _, prefix := range prefixes {
		if rest, ok := strings.CutPrefix(text, prefix.text); ok {
			p.text, p.name = prefix.becomes+rest, prefix.name
		}
	}
	tree, err := syntax.Parse(p.text, syntax.Perl)
	if err != nil {
		return nil, err
	}
	prog, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return nil, err
	}
	p.most, p.closed = min(atMost(tree), longest), strings.HasSuffix(text, closing)
	p.ahead = ahead(prog, keywords)
	if p.ahead == nil {
		p.whole, err = regexp.Compile(p.text)
		return p, err
	}
	if p.inside, err = regexp.Compile(`\A(?s:.)(?:` + p.text + `)`); err != nil {
		return nil, err
	}
	p.begins, err = regexp.Compile(`\A(?:` + p.text + `)`)
	return p, err
}

// atMost is how many bytes an expression matches at most.
func atMost(e *syntax.Regexp) int {
	switch e.Op {
	case syntax.OpLiteral:
		return len(string(e.Rune))
	case syntax.OpCharClass:
		return len(string(e.Rune[max(0, len(e.Rune)-1):]))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return 4
	case syntax.OpCapture, syntax.OpQuest:
		return atMost(e.Sub[0])
	case syntax.OpStar, syntax.OpPlus:
		return longest
	case syntax.OpRepeat:
		if e.Max < 0 {
			return longest
		}
		return min(longest, e.Max*atMost(e.Sub[0]))
	}
	n := 0
	for _, sub := range e.Sub {
		if e.Op == syntax.OpAlternate {
			n = max(n, atMost(sub))
		} else {
			n += atMost(sub)
		}
	}
	return n
}

// ahead tells how far before a keyword a match can begin, when every match has a keyword at its beginning or soon after:
// every way into the pattern is followed until a keyword stands there. nil: there is one without.
func ahead(prog *syntax.Prog, keywords []string) [][]int {
	f := finder{prog: prog, keywords: keywords, found: make([][]int, len(keywords)), budget: 20_000}
	if len(keywords) == 0 || !f.follow(uint32(prog.Start), nil) {
		return nil
	}
	for _, at := range f.found {
		slices.Sort(at)
		slices.Reverse(at)
	}
	return f.found
}

// finder follows a pattern from its beginning.
type finder struct {
	prog     *syntax.Prog
	keywords []string
	found    [][]int
	budget   int
}

// follow reads on from an instruction, after some bytes; 0 is a byte that may be many.
func (f *finder) follow(pc uint32, read []byte) bool {
	if f.budget--; f.budget < 0 {
		return false
	}
	switch in := &f.prog.Inst[pc]; in.Op {
	case syntax.InstAlt, syntax.InstAltMatch:
		return f.follow(in.Out, read) && f.follow(in.Arg, read)
	case syntax.InstCapture, syntax.InstNop, syntax.InstEmptyWidth:
		return f.follow(in.Out, read)
	case syntax.InstRuneAnyNotNL: // a dot in a name that its author forgot to quote
		return f.read(in.Out, read, '.')
	case syntax.InstRune, syntax.InstRune1:
		few := few(in)
		if few == nil {
			return f.read(in.Out, read, 0)
		}
		for _, b := range few {
			if !f.read(in.Out, read, b) {
				return false
			}
		}
		return true
	case syntax.InstFail:
		return true
	}
	return false
}

func (f *finder) read(pc uint32, read []byte, b byte) bool {
	read = append(read[:len(read):len(read)], b)
	for n, k := range f.keywords {
		if at := len(read) - len(k); at >= 0 && string(read[at:]) == k {
			if !slices.Contains(f.found[n], at) {
				f.found[n] = append(f.found[n], at)
			}
			return true
		}
	}
	return len(read) < farAhead+len(slices.MaxFunc(f.keywords, func(a, b string) int { return len(a) - len(b) })) && f.follow(pc, read)
}

// few are the bytes that an instruction reads, in lower case, when they are few and ASCII.
func few(in *syntax.Inst) []byte {
	var out []byte
	for b := range byte(high) {
		if !in.MatchRune(rune(b)) {
			continue
		}
		if 'A' <= b && b <= 'Z' {
			b += 'a' - 'A'
		}
		if !slices.Contains(out, b) {
			out = append(out, b)
		}
		if len(out) > 3 {
			return nil
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// certain says that a secret found by the rule is one wherever it stands: it names its issuer, or what it is. Very short
// keywords tell nothing: "s." or "ey" are anywhere.
func (r *rule) certain(secret string) bool {
	if r.vague || r.find != nil || r.check != nil {
		return !r.vague
	}
	secret = strings.ToLower(secret)
	return slices.ContainsFunc(r.Keywords, func(w string) bool { return len(w) >= 3 && strings.Contains(secret, w) })
}

// allowlist says which matches are no secrets.
type allowlist struct {
	Description                        string
	Condition                          string // "OR" (any of what follows) unless it is "AND"
	TargetRules                        []string
	Commits, Paths, Regexes, StopWords []string
	RegexTarget                        string // what the patterns are for: "match", "line", or the secret

	once           sync.Once
	paths, regexes *regexp.Regexp
	stop           *words
}

func (a *allowlist) valid() error {
	switch {
	case !slices.Contains([]string{"", "AND", "&&", "OR", "||"}, strings.ToUpper(a.Condition)):
		return fmt.Errorf("unknown condition %q of an allow list", a.Condition)
	case !slices.Contains([]string{"", "secret", "match", "line"}, a.RegexTarget):
		return fmt.Errorf("unknown target %q of an allow list", a.RegexTarget)
	}
	return nil
}

// ready compiles the list.
func (a *allowlist) ready() *allowlist {
	a.once.Do(func() {
		if len(a.Paths) > 0 {
			a.paths = regexp.MustCompile(anyOf(a.Paths))
		}
		if len(a.Regexes) > 0 {
			a.regexes = regexp.MustCompile(anyOf(a.Regexes))
		}
		if len(a.StopWords) > 0 {
			list := make([]string, len(a.StopWords))
			for i, w := range a.StopWords {
				list[i] = strings.ToLower(w)
			}
			slices.Sort(list)
			a.stop = newWords(slices.Compact(list))
		}
	})
	return a
}

// anyOf is a pattern for what one of several matches.
func anyOf(patterns []string) string { return "(?:" + strings.Join(patterns, ")|(?:") + ")" }

func (a *allowlist) all() bool {
	return slices.Contains([]string{"AND", "&&"}, strings.ToUpper(a.Condition))
}

func (a *allowlist) path(file string) bool {
	a.ready()
	return a.paths != nil && a.paths.MatchString(file)
}

func (a *allowlist) regex(text string) bool {
	a.ready()
	return a.regexes != nil && a.regexes.MatchString(text)
}

func (a *allowlist) word(secret string) bool {
	a.ready()
	return a.stop != nil && a.stop.in(secret)
}
