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

// words of an expression: texts, names, numbers and signs.
// https://docs.github.com/en/actions/reference/workflows-and-actions/expressions
var expressionWord = regexp.MustCompile(`'(?:[^']|'')*'|[A-Za-z_][\w-]*|[-+]?\d[\w.+-]*|==|!=|<=|>=|&&|\|\||\S`)

// parser reads an expression. deep bounds how far it nests.
type parser struct {
	words []string
	deep  int
}

func parse(text string) (node, error) {
	p := &parser{words: append(expressionWord.FindAllString(text, -1), "")}
	n, err := p.join("||")
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

func (p *parser) take(word string) bool {
	if p.words[0] != word {
		return false
	}
	p.next()
	return true
}

// join reads operands of || or &&, in brackets or not.
func (p *parser) join(op string) (node, error) {
	if p.deep++; p.deep > 200 {
		return node{}, errors.New("an expression nests too deep")
	}
	defer func() { p.deep-- }()
	operand := p.compare
	if op == "||" {
		operand = func() (node, error) { return p.join("&&") }
	}
	n, err := operand()
	for err == nil && p.take(op) {
		var right node
		right, err = operand()
		n = joined(op, n, right)
	}
	return n, err
}

// joined are operands of one operator, in one list.
func joined(op string, operands ...node) node {
	n := node{op: op}
	for _, o := range operands {
		if o.op == op {
			n.kids = append(n.kids, o.kids...)
		} else {
			n.kids = append(n.kids, o)
		}
	}
	return n
}

var opposite = map[string]string{"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">", "&&": "||", "||": "&&", "true": "false", "false": "true"}

var comparisons = []string{"==", "!=", "<", ">", "<=", ">="}

func (p *parser) compare() (node, error) {
	n, err := p.not()
	for err == nil && slices.Contains(comparisons, p.words[0]) {
		op := p.next()
		var right node
		right, err = p.not()
		n = node{op, []node{n, right}}
	}
	return n, err
}

func (p *parser) not() (node, error) {
	if p.take("!") {
		n, err := p.not()
		return n.negated(), err
	}
	return p.value()
}

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

// value reads a literal, a bracket, or a name with what follows it.
func (p *parser) value() (node, error) {
	if p.take("(") {
		n, err := p.join("||")
		if err == nil && !p.take(")") {
			err = p.unexpected()
		}
		return n, err
	}
	word := p.words[0]
	if word == "" || word == "'" || !strings.ContainsAny(word[:1], "'_") && !isLetter(word[len(word)-1]) {
		return node{}, p.unexpected()
	}
	text := p.next()
	for {
		switch {
		case p.take("."):
			if p.words[0] == "" || p.words[0] != "*" && !isLetter(p.words[0][0]) && p.words[0][0] != '_' {
				return node{}, p.unexpected()
			}
			text += "." + p.next()
		case p.words[0] == "(" || p.words[0] == "[":
			list, err := p.list(map[string]string{"(": ")", "[": "]"}[p.next()])
			if err != nil {
				return node{}, err
			}
			text += list
		default:
			return node{op: text}, nil
		}
	}
}

// list reads the arguments of a call, or an index.
func (p *parser) list(end string) (string, error) {
	var all []string
	for !p.take(end) {
		if len(all) > 0 && !p.take(",") {
			return "", p.unexpected()
		}
		if p.take("*") {
			all = append(all, "*")
			continue
		}
		n, err := p.join("||")
		if err != nil {
			return "", err
		}
		all = append(all, n.text(false))
	}
	if index := strings.Join(all, ""); end == "]" && len(index) > 2 && index[0] == '\'' {
		return "." + strings.Trim(index, "'"), nil
	} else if end == "]" {
		return "[" + index + "]", nil
	}
	return "(" + strings.Join(all, ", ") + ")", nil
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' }

// text writes an expression; as a key, in lower case, with its operands in order, where that changes nothing.
func (n node) text(key bool) string {
	if len(n.kids) == 0 {
		if !key {
			return n.op
		}
		return strings.Replace(strings.ToLower(n.op), "github.event.inputs.", "inputs.", 1)
	}
	var kids []string
	for _, k := range n.kids {
		text := k.text(key)
		if len(k.kids) > 1 && k.op != "==" && k.op != "!=" {
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
		if n.op == "&&" || n.op == "||" {
			kids = slices.Compact(kids)
		}
	}
	return strings.Join(kids, " "+n.op+" ")
}
