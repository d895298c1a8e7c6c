package leak

// words finds any of many words in one pass over a text, ignoring ASCII case, with an Aho-Corasick automaton. Its table has
// a column per letter that occurs in a word instead of 256: a library with byte columns takes 20 times the memory, most of
// what a scanner once took.
type words struct {
	column [256]uint8 // 0: a byte that is in no word
	width  int
	next   []uint16 // next[state*width+column]
	word   []int32  // the word that ends in a state, or -1
	suffix []uint16 // the state of the longest proper suffix in which a word ends, 0 for none
}

// newWords makes the automaton. The words are lower-case, non-empty and distinct.
func newWords(list []string) *words {
	w := &words{width: 1}
	letters := 1
	for _, s := range list {
		for i := range len(s) {
			letters++
			if w.column[s[i]] == 0 {
				w.column[s[i]] = uint8(w.width)
				w.width++
			}
		}
	}
	for c := byte('A'); c <= 'Z'; c++ {
		w.column[c] = w.column[c+'a'-'A']
	}
	w.next = make([]uint16, 0, letters*w.width)
	w.add()
	for n, s := range list {
		state := 0
		for i := range len(s) {
			at := state*w.width + int(w.column[s[i]])
			if w.next[at] == 0 {
				w.next[at] = uint16(w.add())
			}
			state = int(w.next[at])
		}
		w.word[state] = int32(n)
	}
	w.link()
	return w
}

func (w *words) add() int {
	w.next = append(w.next, make([]uint16, w.width)...)
	w.word = append(w.word, -1)
	w.suffix = append(w.suffix, 0)
	return len(w.word) - 1
}

// link fills in the failure transitions: breadth first, so that shorter states are complete.
func (w *words) link() {
	fail := make([]uint16, len(w.word))
	queue := []int{0}
	for len(queue) > 0 {
		state := queue[0]
		queue = queue[1:]
		for c := range w.width {
			at := state*w.width + c
			to, other := int(w.next[at]), uint16(0)
			if state != 0 {
				other = w.next[int(fail[state])*w.width+c]
			}
			if to == 0 {
				w.next[at] = other
				continue
			}
			fail[to] = other
			w.suffix[to] = other
			if w.word[other] < 0 {
				w.suffix[to] = w.suffix[other]
			}
			queue = append(queue, to)
		}
	}
}

// walk calls found with every occurrence of a word, its number and end offset, ordered by the latter, until found returns
// false.
func (w *words) walk(text string, found func(word, end int) bool) {
	state := 0
	for i := range len(text) {
		state = int(w.next[state*w.width+int(w.column[text[i]])])
		for s := state; s != 0; s = int(w.suffix[s]) {
			if n := w.word[s]; n >= 0 && !found(int(n), i+1) {
				return
			}
		}
	}
}

// in reports whether any of the words is in the text.
func (w *words) in(text string) bool {
	any := false
	w.walk(text, func(int, int) bool { any = true; return false })
	return any
}
