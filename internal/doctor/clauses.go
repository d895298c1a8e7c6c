package doctor

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/rhysd/actionlint"
)

// clause is an expression of GitHub Actions in normal form, in which what means the same has one key. parts are the operands of op.
type clause struct {
	op, text, key string
	parts         []clause
}

// parse reads an expression up to the }} that ends it, and returns the text behind that. The longest is GitHub's own limit.
// https://docs.github.com/en/actions/reference/workflows-and-actions/expressions
func parse(text string) (e clause, rest string, err error) {
	switch {
	case !strings.Contains(text, "}}"):
		return e, "", errors.New("an expression begins with ${{ and does not end with }}")
	case len(text) > 21_000:
		return e, "", errors.New("an expression has more than 21000 characters")
	}
	lexer := actionlint.NewExprLexer(text)
	n, bad := actionlint.NewExprParser().Parse(lexer)
	if bad != nil {
		says, _, _ := strings.Cut(bad.Message, " expecting")
		return e, "", errors.New(strings.TrimRight(says, ".,"))
	}
	return normal(n, false), text[lexer.Offset():], nil
}

var opposite = map[string]string{"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">", "&&": "||", "||": "&&"}

// normal is the normal form of an expression, or of its opposite, in which only values and calls are negated.
func normal(n actionlint.ExprNode, negated bool) clause {
	turned := func(op string) string {
		if negated {
			return opposite[op]
		}
		return op
	}
	switch n := n.(type) {
	case *actionlint.NotOpNode:
		return normal(n.Operand, !negated)
	case *actionlint.LogicalOpNode:
		return operation(turned(n.Kind.String()), normal(n.Left, negated), normal(n.Right, negated))
	case *actionlint.CompareOpNode:
		return operation(turned(n.Kind.String()), normal(n.Left, false), normal(n.Right, false))
	case *actionlint.BoolNode:
		return value(strconv.FormatBool(n.Value != negated))
	}
	if negated {
		return value("!" + written(n))
	}
	return value(written(n))
}

func value(text string) clause {
	return clause{text: text, key: strings.Replace(strings.ToLower(text), "github.event.inputs.", "inputs.", 1)}
}

// written is a value or a call as people write it.
func written(n actionlint.ExprNode) string {
	switch n := n.(type) {
	case *actionlint.ObjectDerefNode:
		return written(n.Receiver) + "." + n.Property
	case *actionlint.ArrayDerefNode:
		return written(n.Receiver) + ".*"
	case *actionlint.IndexAccessNode:
		if name, named := n.Index.(*actionlint.StringNode); named {
			return written(n.Operand) + "." + strings.ToLower(name.Value)
		}
		return written(n.Operand) + "[" + written(n.Index) + "]"
	case *actionlint.FuncCallNode:
		return n.Callee + "(" + strings.Join(each(n.Args, written), ", ") + ")"
	case *actionlint.VariableNode:
		return n.Name
	case *actionlint.NotOpNode, *actionlint.LogicalOpNode, *actionlint.CompareOpNode:
		return normal(n, false).text
	}
	return n.Token().Value
}

// alternatives are what a condition joins by ||.
func (c clause) alternatives() []clause {
	if c.op == "||" {
		return c.parts
	}
	return []clause{c}
}

// operation joins operands, in one list where op is && or ||. In the key they are in order, where that changes nothing.
func operation(op string, operands ...clause) clause {
	e := clause{op: op}
	var texts, keys []string
	for _, o := range operands {
		if o.op != op || op != "&&" && op != "||" {
			o.parts = []clause{o}
		}
		for _, p := range o.parts {
			open, end := "", ""
			if p.op == "&&" || p.op == "||" {
				open, end = "(", ")"
			}
			e.parts, texts, keys = append(e.parts, p), append(texts, open+p.text+end), append(keys, open+p.key+end)
		}
	}
	e.text = strings.Join(texts, " "+op+" ")
	switch op {
	case ">", ">=":
		slices.Reverse(keys)
		op = "<" + op[1:]
	case "&&", "||":
		keys = sorted(keys)
	case "==", "!=":
		slices.Sort(keys)
	}
	e.key = strings.Join(keys, " "+op+" ")
	return e
}

// clauses are the conditions that an if: joins by &&. Those that always hold are left out.
// https://docs.github.com/en/actions/how-tos/write-workflows/choose-when-workflows-run/control-jobs-with-conditions
func clauses(condition string) ([]clause, error) {
	text, inBraces := strings.CutPrefix(strings.TrimSpace(condition), "${{")
	if !inBraces {
		text += "}}"
	}
	if strings.TrimSpace(text) == "}}" {
		return nil, nil
	}
	e, rest, err := parse(text)
	if rest != "" || !inBraces && strings.Contains(text, "${{") {
		err = errors.New("text around ${{ }} is always true: remove ${{ and }}, or put all of it into one pair")
	}
	all := []clause{e}
	if e.op == "&&" {
		all = e.parts
	}
	return slices.DeleteFunc(slices.Clone(all), func(c clause) bool { return c.key == "true" || c.key == "success()" }), err
}

// canonical is a text in which every expression is written in one way. The order of operands stays: the first that holds is the value.
func canonical(text string) (string, error) {
	before, text, found := strings.Cut(text, "${{")
	if !found {
		return strings.ToLower(before), nil
	}
	e, rest, err := parse(text)
	if err != nil {
		return strings.ToLower(before + text), err
	}
	rest, err = canonical(rest)
	return strings.ToLower(before) + "${{" + strings.ToLower(e.text) + "}}" + rest, err
}
