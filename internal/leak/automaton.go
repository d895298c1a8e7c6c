package leak

import (
	"regexp/syntax"
	"slices"
	"unicode/utf8"
)

// mostStates limits an automaton's cached states; when it is reached, the cache is cleared.
const mostStates = 4096

// automaton reports whether a pattern matches at an offset, and where that is decided: a lazily built DFA that takes one
// table step per byte. Package regexp takes twenty to a hundred times as long, so it is only used where the automaton has
// seen a match, for bounds and groups.
//
// Non-ASCII bytes match one or more of any character in a class beyond ASCII, so the automaton may report a false match. It
// never misses one.
//
// An automaton is for one goroutine at a time.
type automaton struct {
	prog     *syntax.Prog
	floating bool       // a match may begin anywhere, not only where a run begins
	column   [256]uint8 // bytes that no instruction tells apart share a column
	sample   []int      // a byte for each column; the last one is the end of the text
	looks    bool       // it has instructions that look at what is before and behind

	table  []int32 // state+column: the next state, doubled, odd where a match ends before that byte; -1: not made yet
	states []nfa   // a state's number is its place here times the columns, which is where its row of the table begins
	ids    map[string]int32
	first  [4]int32 // by what is before
	set    set
	stack  []uint32
	steps  int // all bytes looked at
}

// nfa is a state as a set of instructions, with what is before it.
type nfa struct {
	pcs    []uint32
	before uint8
}

// What can precede an offset, as far as patterns ask.
const (
	beforeAll uint8 = iota
	beforeLine
	afterWord
	afterOther
)

var beforeRune = [...]rune{-1, '\n', 'a', ' '}

const (
	dead    = 0 // the state without any match
	high    = utf8.RuneSelf
	textEnd = -1
)

func newAutomaton(pattern string, floating bool) (*automaton, error) {
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil, err
	}
	prog, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return nil, err
	}
	a := &automaton{prog: prog, floating: floating, set: newSet(len(prog.Inst))}
	a.split()
	a.reset()
	return a, nil
}

// split assigns each byte its column.
func (a *automaton) split() {
	var tests []*syntax.Inst
	seen := map[string]bool{}
	for i := range a.prog.Inst {
		in := &a.prog.Inst[i]
		switch in.Op {
		case syntax.InstEmptyWidth:
			a.looks = true
		case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
			key := string(rune(in.Op)) + string(rune(in.Arg)) + string(in.Rune)
			if !seen[key] {
				seen[key] = true
				tests = append(tests, in)
			}
		}
	}
	columns := map[string]uint8{}
	for b := range 256 {
		key := "high"
		if b < high {
			same := make([]byte, len(tests), len(tests)+1)
			for i, in := range tests {
				if in.MatchRune(rune(b)) {
					same[i] = 1
				}
			}
			key = string(append(same, kind(b)))
		}
		c, ok := columns[key]
		if !ok {
			c = uint8(len(columns))
			columns[key] = c
			a.sample = append(a.sample, b)
		}
		a.column[b] = c
	}
	a.sample = append(a.sample, textEnd)
}

// kind classifies a byte for what follows it.
func kind(b int) uint8 {
	switch {
	case b == textEnd:
		return beforeAll
	case b == '\n':
		return beforeLine
	case b < high && syntax.IsWordChar(rune(b)):
		return afterWord
	}
	return afterOther
}

func (a *automaton) reset() {
	a.table, a.states, a.ids = a.table[:0], a.states[:0], map[string]int32{}
	a.first = [4]int32{-1, -1, -1, -1}
	a.id(nfa{}) // dead
}

// id gives the number of a state.
func (a *automaton) id(n nfa) int32 {
	key := make([]byte, 0, 1+2*len(n.pcs))
	key = append(key, n.before)
	for _, pc := range n.pcs {
		key = append(key, byte(pc), byte(pc>>8), byte(pc>>16))
	}
	if id, ok := a.ids[string(key)]; ok {
		return id
	}
	id := int32(len(a.table))
	a.ids[string(key)] = id
	a.states = append(a.states, n)
	for range a.sample {
		a.table = append(a.table, -1)
	}
	return id
}

// start is the state before anything is read at an offset.
func (a *automaton) start(text string, at int) int32 {
	before := beforeAll
	if at > 0 && a.looks {
		before = kind(int(text[at-1]))
	}
	if a.first[before] < 0 {
		n := nfa{before: before, pcs: []uint32{uint32(a.prog.Start)}}
		a.first[before] = a.id(n)
	}
	return a.first[before]
}

// step computes the table's entry for a state and a column.
func (a *automaton) step(state int32, column int) int32 {
	next, matched := a.follow(a.states[int(state)/len(a.sample)], a.sample[column])
	n := nfa{pcs: next}
	if a.looks {
		n.before = kind(a.sample[column])
	}
	if len(next) == 0 && (!a.floating || a.sample[column] == textEnd) {
		n.before = 0 // dead
	} else if len(a.states) >= mostStates {
		a.reset()
		return 2*a.id(n) + matched
	}
	to := 2*a.id(n) + matched
	a.table[int(state)+column] = to
	return to
}

// follow returns the instructions after a byte, and 1 if a match ends before it.
func (a *automaton) follow(from nfa, b int) (next []uint32, matched int32) {
	flags := syntax.EmptyOpContext(beforeRune[from.before], rune(b))
	a.set.clear()
	a.stack = append(a.stack[:0], from.pcs...)
	if a.floating {
		a.stack = append(a.stack, uint32(a.prog.Start))
	}
	for len(a.stack) > 0 {
		pc := a.stack[len(a.stack)-1]
		a.stack = a.stack[:len(a.stack)-1]
		if !a.set.add(pc) {
			continue
		}
		switch in := &a.prog.Inst[pc]; in.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			a.stack = append(a.stack, in.Out, in.Arg)
		case syntax.InstCapture, syntax.InstNop:
			a.stack = append(a.stack, in.Out)
		case syntax.InstEmptyWidth:
			if syntax.EmptyOp(in.Arg)&^flags == 0 {
				a.stack = append(a.stack, in.Out)
			}
		case syntax.InstMatch:
			matched = 1
		case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
			switch {
			case b == high && beyondASCII(in):
				next = append(next, in.Out, pc)
			case b != high && b != textEnd && in.MatchRune(rune(b)):
				next = append(next, in.Out)
			}
		}
	}
	slices.Sort(next)
	return slices.Compact(next), matched
}

// beyondASCII reports whether an instruction matches anything beyond ASCII.
func beyondASCII(in *syntax.Inst) bool {
	if in.Op == syntax.InstRuneAny || in.Op == syntax.InstRuneAnyNotNL {
		return true
	}
	last := in.Rune[len(in.Rune)-1]
	folds := len(in.Rune) == 1 && syntax.Flags(in.Arg)&syntax.FoldCase != 0 && (last|0x20 == 'k' || last|0x20 == 's')
	return last >= high || folds // the Kelvin sign and the long s are k and s in another case
}

// run continues from a state at an offset. It stops at the end of the first match (matched), when no match is possible
// (state is dead), or before the offset limit; end is where it stopped.
func (a *automaton) run(state int32, text string, at, limit int) (matched bool, after int32, end int) {
	begin := at
	for part := text[:limit]; at < len(part); at++ {
		c := int(a.column[part[at]])
		to := a.table[int(state)+c]
		if to < 0 {
			to = a.step(state, c)
		}
		state = to >> 1
		if to&1 != 0 || state == dead && !a.floating {
			a.steps += at - begin + 1
			return to&1 != 0, state, at
		}
	}
	a.steps += at - begin + 1
	if limit < len(text) {
		return false, state, limit
	}
	c := len(a.sample) - 1
	to := a.table[int(state)+c]
	if to < 0 {
		to = a.step(state, c)
	}
	return to&1 != 0, state, limit
}

// death is the maximum offset that a match starting here can reach, once one has been seen.
func (a *automaton) death(state int32, text string, at, limit int) int {
	for matched := true; matched && state != dead && at < limit; {
		matched, state, at = a.run(state, text, at+1, limit)
	}
	return at
}

// set is a set of small numbers that is cleared at once.
type set struct {
	mark []uint32
	now  uint32
}

func newSet(n int) set { return set{mark: make([]uint32, n)} }

func (s *set) clear() { s.now++ }

func (s *set) add(n uint32) bool {
	if s.mark[n] == s.now {
		return false
	}
	s.mark[n] = s.now
	return true
}
