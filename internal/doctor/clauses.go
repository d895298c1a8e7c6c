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

// expressionWord matches texts, numbers, names with what is written behind a dot, and signs; inIndex what ['name'] writes for .name.
// https://docs.github.com/en/actions/reference/workflows-and-actions/expressions
var (
	expressionWord = regexp.MustCompile(`'(?:[^']|'')*'|[-+]?\d[\w.+-]*|\.?[A-Za-z_][\w-]*(?:\.(?:\*|[A-Za-z_][\w-]*))*|==|!=|<=|>=|&&|\|\||\S`)
	inIndex        = regexp.MustCompile(`\['([A-Za-z_][\w-]*)'\]`)
	plainValue     = regexp.MustCompile(`^('.*'|[-+]?\d.*|[A-Za-z_].*)$`)
)

func parse(text string) (node, error) {
	return operation(expressionWord.FindAllString(inIndex.ReplaceAllString(text, ".$1"), -1), 0)
}

// operation cuts an expression at the operators that bind least.
func operation(words []string, deep int) (node, error) {
	if deep > 100 {
		return node{}, errors.New("an expression nests too deep")
	}
	for _, op := range []string{"||", "&&", "==", "!=", "<=", ">=", "<", ">"} {
		parts, err := splitWords(words, op)
		if err != nil {
			return node{}, err
		}
		var kids []node
		for _, part := range parts {
			kid, err := operation(part, deep+1)
			if err != nil {
				return node{}, err
			}
			kids = append(kids, kid)
		}
		if parts != nil {
			return joined(op, kids...), nil
		}
	}
	switch {
	case len(words) == 0:
		return node{}, errors.New("an operand is missing in an expression")
	case words[0] == "!":
		n, err := operation(words[1:], deep+1)
		return n.negated(), err
	case words[0] == "(" && words[len(words)-1] == ")":
		return operation(words[1:len(words)-1], deep+1)
	case !plainValue.MatchString(words[0]):
		return node{}, fmt.Errorf("unexpected %q in an expression", words[0])
	case len(words) > 1 && words[1] != "(" && words[1] != "[":
		return node{}, fmt.Errorf("unexpected %q in an expression", words[1])
	}
	text := ""
	for _, word := range words {
		switch {
		case word == ",":
			word = ", "
		case opposite[word] != "" && !plainValue.MatchString(word):
			word = " " + word + " "
		}
		text += word
	}
	return node{op: text}, nil
}

// splitWords cuts at an operator outside of brackets; nil: it is nowhere.
func splitWords(words []string, op string) (parts [][]string, err error) {
	depth, first := 0, 0
	for i, word := range words {
		switch {
		case word == "(" || word == "[":
			depth++
		case word == ")" || word == "]":
			depth--
		case word == op && depth == 0:
			parts, first = append(parts, words[first:i]), i+1
		}
		if depth < 0 {
			break
		}
	}
	if depth != 0 {
		return nil, errors.New("a bracket of an expression has no other")
	}
	if parts != nil {
		parts = append(parts, words[first:])
	}
	return parts, nil
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
		if slices.Sort(kids); n.op != "==" && n.op != "!=" {
			kids = slices.Compact(kids)
		}
	}
	return strings.Join(kids, " "+n.op+" ")
}
