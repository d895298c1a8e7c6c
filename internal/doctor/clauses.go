package doctor

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// clause is one of the conditions that an if: joins by &&. Clauses that mean the same have one key, however they are written. parts are
// what it joins by ||.
type clause struct {
	text, key string
	parts     []clause
}

func clauseOf(n node) clause {
	c := clause{text: n.text(false), key: n.text(true)}
	if n.op != "||" {
		c.parts = []clause{c}
		return c
	}
	for _, k := range n.kids {
		c.parts = append(c.parts, clauseOf(k))
	}
	return c
}

// clauses are the conditions of an if:, which stands with or without ${{ }} around it. Those that always hold are left out.
func clauses(text string) ([]clause, error) {
	if inner, ok := strings.CutPrefix(strings.TrimSpace(text), "${{"); ok {
		text = strings.TrimSuffix(inner, "}}")
	}
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	n, err := parse(text)
	if err != nil {
		return nil, err
	}
	all := []node{n}
	if n.op == "&&" {
		all = n.kids
	}
	var out []clause
	for _, n := range all {
		if c := clauseOf(n); c.key != "true" && c.key != "success()" {
			out = append(out, c)
		}
	}
	return out, nil
}

// constant reports whether a condition is text with expressions in it: GitHub takes such a text for true.
// https://docs.github.com/en/actions/how-tos/write-workflows/choose-when-workflows-run/control-jobs-with-conditions
func constant(condition string) bool {
	inner, ok := strings.CutPrefix(strings.TrimSpace(condition), "${{")
	whole := ok && strings.HasSuffix(inner, "}}") && !strings.Contains(inner, "${{")
	return strings.Contains(condition, "${{") && !whole
}

var inText = regexp.MustCompile(`\$\{\{((?:[^'}]|'[^']*'|\}[^}])*)\}\}`)

// canonical is a text in which every expression is written in one way. The order of operands stays: the first that holds is the value.
func canonical(text string) (string, error) {
	var bad error
	out := inText.ReplaceAllStringFunc(text, func(s string) string {
		n, err := parse(inText.FindStringSubmatch(s)[1])
		if bad = errors.Join(bad, err); err != nil {
			return s
		}
		return "${{" + strings.ToLower(n.text(false)) + "}}"
	})
	if strings.Count(out, "${{") != len(inText.FindAllString(text, -1)) {
		bad = errors.New("an expression begins with ${{ and does not end with }}")
	}
	return out, bad
}

// node is an expression: an operator and its operands, or a name, a value or a call, which has none.
type node struct {
	op   string
	kids []node
}

// expressionWord matches texts, numbers, names with what is written behind a dot, and signs.
// https://docs.github.com/en/actions/reference/workflows-and-actions/expressions
var expressionWord = regexp.MustCompile(`'(?:[^']|'')*'|[-+]?\d[\w.+-]*|\.?[A-Za-z_][\w-]*(?:\.(?:\*|[A-Za-z_][\w-]*))*|==|!=|<=|>=|&&|\|\||\S`)

// inIndex matches what ['name'] writes in place of .name.
var inIndex = regexp.MustCompile(`\['([A-Za-z_][\w-]*)'\]`)

// levels are the operators, from those that bind least.
var levels = [][]string{{"||"}, {"&&"}, {"==", "!=", "<", ">", "<=", ">="}}

// parser reads an expression. deep bounds how far it nests.
type parser struct {
	words []string
	deep  int
}

func parse(text string) (node, error) {
	p := &parser{words: append(expressionWord.FindAllString(inIndex.ReplaceAllString(text, ".$1"), -1), "")}
	n, err := p.operation(0)
	if err == nil && p.words[0] != "" {
		err = p.unexpected()
	}
	return n, err
}

func (p *parser) unexpected() error {
	if p.words[0] == "" {
		return errors.New("an expression ends too early")
	}
	return fmt.Errorf("unexpected %q in an expression", p.words[0])
}

func (p *parser) next() string {
	word := p.words[0]
	p.words = p.words[1:]
	return word
}

// operation reads operands, and the operators of a level between them.
func (p *parser) operation(level int) (node, error) {
	if level == len(levels) {
		return p.value()
	}
	n, err := p.operation(level + 1)
	for err == nil && slices.Contains(levels[level], p.words[0]) {
		op := p.next()
		var right node
		right, err = p.operation(level + 1)
		n = joined(op, n, right)
	}
	return n, err
}

// joined are operands of one operator, in one list where they are joined by && or ||.
func joined(op string, operands ...node) node {
	n := node{op: op}
	for _, o := range operands {
		if o.op == op && (op == "&&" || op == "||") {
			n.kids = append(n.kids, o.kids...)
		} else {
			n.kids = append(n.kids, o)
		}
	}
	return n
}

// value reads a literal, a bracket, a negation, or a name with arguments or indexes.
func (p *parser) value() (node, error) {
	if p.deep++; p.deep > 100 {
		return node{}, errors.New("an expression nests too deep")
	}
	defer func() { p.deep-- }()
	switch word := p.words[0]; {
	case word == "!":
		p.next()
		n, err := p.value()
		return n.negated(), err
	case word == "(":
		p.next()
		n, err := p.operation(0)
		if err == nil && p.words[0] != ")" {
			err = p.unexpected()
		}
		if err == nil {
			p.next()
		}
		return n, err
	case word == "" || !literal.MatchString(word):
		return node{}, p.unexpected()
	}
	text := p.next()
	for p.words[0] == "(" || p.words[0] == "[" {
		end := map[string]string{"(": ")", "[": "]"}[p.words[0]]
		text += p.next()
		for p.words[0] != end && p.words[0] != "" {
			n, err := p.operation(0)
			if p.words[0] == "*" {
				n, err = node{op: p.next()}, nil
			}
			if err != nil {
				return node{}, err
			}
			if text += n.text(false); p.words[0] == "," {
				text += p.next() + " "
			}
		}
		if text += p.words[0]; p.next() == "" {
			return node{}, errors.New("an expression ends too early")
		}
		if strings.HasPrefix(p.words[0], ".") {
			text += p.next()
		}
	}
	return node{op: text}, nil
}

var literal = regexp.MustCompile(`^('.*'|[-+]?\d.*|[A-Za-z_].*)$`)

var opposite = map[string]string{"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">", "&&": "||", "||": "&&", "true": "false", "false": "true"}

func (n node) negated() node {
	switch other := opposite[n.op]; {
	case n.op == "!":
		return n.kids[0]
	case n.op == "&&" || n.op == "||":
		var kids []node
		for _, k := range n.kids {
			kids = append(kids, k.negated())
		}
		return joined(other, kids...)
	case other != "":
		return node{other, n.kids}
	}
	return node{"!", []node{n}}
}

// text writes an expression; as a key, in lower case, with its operands in order, where that changes nothing.
func (n node) text(key bool) string {
	if len(n.kids) == 0 && key {
		return strings.Replace(strings.ToLower(n.op), "github.event.inputs.", "inputs.", 1)
	}
	if len(n.kids) == 0 {
		return n.op
	}
	var kids []string
	for _, k := range n.kids {
		text := k.text(key)
		if k.op == "&&" || k.op == "||" {
			text = "(" + text + ")"
		}
		kids = append(kids, text)
	}
	switch {
	case n.op == "!":
		return "!" + kids[0]
	case key && n.op[0] == '>':
		slices.Reverse(kids)
		n.op = "<" + n.op[1:]
	case key && n.op[0] != '<':
		slices.Sort(kids)
	}
	return strings.Join(kids, " "+n.op+" ")
}
