package leak

import (
	"context"
	"slices"
)

// worker scans one chunk after the other, and keeps its automatons.
type worker struct {
	s        *Scanner
	made     []*automaton  // by rule
	done     []int         // by rule: up to where its matches reach
	use      []application // by rule, in this text
	anywhere []int         // rules that look at all of the text
	over     *bool         // gitleaks passes over this file by its name
	given    int           // bytes given to package regexp
	lists    map[*allowlist]*automaton
}

// application says how a rule is applied to the text at hand.
type application uint8

const (
	undecided application = iota
	atKeywords
	notAtKeywords // or not at all
)

func newWorker(s *Scanner) *worker {
	n := len(s.rules)
	return &worker{s: s, made: make([]*automaton, n), done: make([]int, n), use: make([]application, n), lists: map[*allowlist]*automaton{}}
}

// worker takes an idle worker, or makes one.
func (s *Scanner) worker() *worker {
	select {
	case w := <-s.idle:
		return w
	default:
		return newWorker(s)
	}
}

// rest takes a worker back.
func (s *Scanner) rest(w *worker) {
	select {
	case s.idle <- w:
	default:
	}
}

// automaton is the worker's own for a rule.
func (w *worker) automaton(r *rule) (*automaton, error) {
	if w.made[r.index] == nil {
		a, err := newAutomaton(r.text, r.ahead == nil)
		if err != nil {
			return nil, err
		}
		w.made[r.index] = a
	}
	return w.made[r.index], nil
}

// chunk applies all rules to a chunk. In a binary file, in a name, and in a file that gitleaks passes over by its name,
// only those secrets count that tell what they are.
func (w *worker) chunk(ctx context.Context, c chunk, p Piece) ([]span, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	found, err := w.run(c.text, p.Path, p.Binary || p.isName())
	if err != nil {
		return nil, err
	}
	found = slices.DeleteFunc(found, func(m span) bool { // cut off here, whole in the next chunk or the one before
		return c.right && m.to == len(c.text) && m.from >= len(c.text)-overlap || c.left && m.from == 0 && m.to < overlap
	})
	hidden, err := w.decoded(c.text, p.Path, 0)
	if err != nil {
		return nil, err
	}
	found = append(found, hidden...)
	for i := range found {
		found[i].from += c.at
		found[i].to += c.at
	}
	return found, nil
}

// run applies all rules to a text. strict: only those secrets count that tell what they are.
func (w *worker) run(text, file string, strict bool) (out []span, err error) {
	clear(w.done)
	clear(w.use)
	w.anywhere, w.over = w.anywhere[:0], nil
	t := &task{worker: w, text: text, file: file, strict: strict}
	w.s.words.walk(text, func(word, end int) bool {
		for _, k := range w.s.about[word] {
			if err = t.keyword(k.rule, k.number, end-k.length); err != nil {
				return false
			}
		}
		return true
	})
	if err != nil {
		return nil, err
	}
	for _, r := range w.s.always {
		if _, err := t.decide(r); err != nil {
			return nil, err
		}
	}
	slices.Sort(w.anywhere)
	for _, i := range w.anywhere {
		if err := t.all(w.s.rules[i]); err != nil {
			return nil, err
		}
	}
	return t.found, nil
}

// task is one text to which rules are applied.
type task struct {
	*worker
	text, file string
	strict     bool
	found      []span
	asked      int // the first of what closes a value from there on is at closer
	closer     int
}

// open says that nothing closes a value within a distance. Then nothing has to be read, and for the next keyword it is
// known already.
func (t *task) open(from, most int) bool {
	next := func(at, limit int) int {
		for at < limit && !closers[t.text[at]] {
			at++
		}
		return at
	}
	switch {
	case t.closer < from:
		t.closer = next(from, len(t.text))
	case from < t.asked:
		if at := next(from, t.asked); at < t.asked {
			t.closer = at
		}
	}
	t.asked = from
	return t.closer-from > most
}

func (t *task) add(m span, ok bool) {
	if !ok {
		return
	}
	if m.certain = m.rule.certain(m.secret); !m.certain {
		if t.over == nil {
			over := t.s.passedOver(t.file)
			t.over = &over
		}
		if t.strict || *t.over {
			return
		}
	}
	t.found = append(t.found, m)
}

// decide says how a rule is applied, when its first keyword is met.
func (t *task) decide(r *rule) (application, error) {
	if u := t.use[r.index]; u != undecided {
		return u, nil
	}
	if err := r.ready(); err != nil {
		return 0, err
	}
	use := notAtKeywords
	switch {
	case t.strict && r.vague:
	case r.path != nil && !r.path.MatchString(t.file):
	case r.find != nil || r.pattern != nil && r.ahead != nil:
		use = atKeywords
	case r.pattern != nil:
		t.anywhere = append(t.anywhere, r.index)
	}
	t.use[r.index] = use
	return use, nil
}

// keyword applies a rule at one of its keywords.
func (t *task) keyword(r *rule, number, at int) error {
	use, err := t.decide(r)
	if err != nil || use != atKeywords {
		return err
	}
	if r.find != nil {
		if at < t.done[r.index] {
			return nil
		}
		if from, to := r.find(t.text, at, t.file); to > 0 {
			t.done[r.index] = max(to, at+1)
			t.add(span{rule: r, from: from, to: to, secret: t.text[from:to]}, true)
		}
		return nil
	}
	a, err := t.automaton(r)
	if err != nil {
		return err
	}
	for _, ahead := range r.ahead[number] {
		if from := at - ahead; from >= t.done[r.index] {
			t.at(r, a, from, ahead == 0 && len(r.Keywords[number]) >= 3)
		}
	}
	return nil
}

// at looks for a match that begins at an offset.
func (t *task) at(r *rule, a *automaton, from int, tells bool) {
	if r.closed && t.open(from, r.most) {
		return
	}
	limit := min(len(t.text), from+longest)
	matched, state, end := a.run(a.start(t.text, from), t.text, from, limit)
	if !matched {
		if tells && r.name == 0 && end-from >= leastPart && end < limit {
			t.add(t.joined(r, a, from, end))
		}
		return
	}
	if !r.follows(t.text, from) {
		return
	}
	end = min(a.death(state, t.text, end, limit)+1, len(t.text))
	expression, window := r.begins, from
	if from > 0 {
		expression, window = r.inside, from-1
	}
	t.given += end - window
	groups := expression.FindStringSubmatchIndex(t.text[window:end])
	if groups == nil {
		return
	}
	for i := range groups {
		if groups[i] >= 0 {
			groups[i] += window
		}
	}
	groups[0] = from
	t.add(t.match(r, t.text, t.file, groups))
}

// all looks for matches in all of the text.
func (t *task) all(r *rule) error {
	a, err := t.automaton(r)
	if err != nil {
		return err
	}
	for at := 0; at < len(t.text); {
		matched, _, end := a.run(a.start(t.text, at), t.text, at, len(t.text))
		if !matched {
			break
		}
		at = max(at, end) + 1
		window := max(0, t.done[r.index]-1, end-r.most-2) // with a byte before, which a pattern may ask for
		to := min(len(t.text), end+r.most+2)
		t.given += to - window
		groups := r.whole.FindStringSubmatchIndex(t.text[window:to])
		if groups == nil {
			continue
		}
		for i := range groups {
			if groups[i] >= 0 {
				groups[i] += window
			}
		}
		at = max(end, groups[1])
		if groups[0] == groups[1] {
			at++
		}
		t.add(t.match(r, t.text, t.file, groups))
	}
	return nil
}
