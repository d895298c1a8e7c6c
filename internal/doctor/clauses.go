package doctor

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/rhysd/actionlint"
)

// clauses are the conditions that an if: joins by &&, each with those that it joins by ||. Those that always hold are left out.
// https://docs.github.com/en/actions/how-tos/write-workflows/choose-when-workflows-run/control-jobs-with-conditions
func clauses(condition string) (out []tree, err error) {
	text, inBraces := strings.CutPrefix(strings.TrimSpace(condition), "${{")
	if !inBraces {
		text += "}}"
	}
	if strings.TrimSpace(text) == "}}" {
		return nil, nil
	}
	whole, rest, err := parse(text)
	if rest != "" || !inBraces && strings.Contains(text, "${{") {
		err = errors.New("text around ${{ }} is always true: remove ${{ and }}, or put all of it into one pair")
	}
	for _, c := range operands("&&", whole) {
		clause := tree{key: c.key, text: c.text, yaml: "(" + c.text + ")"}
		for _, o := range operands("||", c) {
			clause.near, clause.parts = append(clause.near, o.key), append(clause.parts, tree{key: o.key, text: "|| " + o.text})
		}
		if c.key != "true" && c.key != "success()" {
			out = append(out, clause)
		}
	}
	return out, err
}

// canonical is a text in which every expression is written in one way. The order of operands stays: the first that holds is the value.
func canonical(text string) (string, error) {
	before, text, found := strings.Cut(strings.ToLower(text), "${{")
	if !found {
		return before, nil
	}
	e, rest, err := parse(text)
	if err != nil {
		return before + text, err
	}
	rest, err = canonical(rest)
	return before + "${{" + e.text + "}}" + rest, err
}

// parse reads an expression up to the }} that ends it, and returns the text behind that. The longest is GitHub's own limit.
// https://docs.github.com/en/actions/reference/workflows-and-actions/expressions
func parse(text string) (e tree, rest string, err error) {
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

// normal is an expression, or its opposite, in which only values and calls are negated.
func normal(n actionlint.ExprNode, negated bool) tree {
	kind := func(op string) string {
		if negated {
			return opposite[op]
		}
		return op
	}
	text := ""
	switch n := n.(type) {
	case *actionlint.NotOpNode:
		return normal(n.Operand, !negated)
	case *actionlint.LogicalOpNode:
		return operation(kind(n.Kind.String()), normal(n.Left, negated), normal(n.Right, negated))
	case *actionlint.CompareOpNode:
		return operation(kind(n.Kind.String()), normal(n.Left, false), normal(n.Right, false))
	case *actionlint.BoolNode:
		text, negated = strconv.FormatBool(n.Value != negated), false
	case *actionlint.ObjectDerefNode:
		text = normal(n.Receiver, false).text + "." + n.Property
	case *actionlint.ArrayDerefNode:
		text = normal(n.Receiver, false).text + ".*"
	case *actionlint.IndexAccessNode:
		text = normal(n.Operand, false).text + "[" + normal(n.Index, false).text + "]"
		if name, named := n.Index.(*actionlint.StringNode); named {
			text = normal(n.Operand, false).text + "." + strings.ToLower(name.Value)
		}
	case *actionlint.FuncCallNode:
		text = n.Callee + "(" + strings.Join(each(n.Args, func(a actionlint.ExprNode) string { return normal(a, false).text }), ", ") + ")"
	case *actionlint.VariableNode:
		text = n.Name
	default:
		text = n.Token().Value
	}
	if negated {
		text = "!" + text
	}
	return tree{text: text, key: strings.Replace(strings.ToLower(text), "github.event.inputs.", "inputs.", 1)}
}

// operands are what an operator joins; without it, the expression itself.
func operands(op string, e tree) []tree {
	if e.op == op && (op == "&&" || op == "||") {
		return e.parts
	}
	return []tree{e}
}

// operation joins operands, in one list where op is && or ||. In the key they are in order, where that changes nothing.
func operation(op string, left, right tree) tree {
	e := tree{op: op, parts: slices.Concat(operands(op, left), operands(op, right))}
	var texts, keys []string
	for _, o := range e.parts {
		if o.op == "&&" || o.op == "||" {
			o.text, o.key = "("+o.text+")", "("+o.key+")"
		}
		texts, keys = append(texts, o.text), append(keys, o.key)
	}
	if op == "&&" || op == "||" {
		keys = sorted(keys)
	} else if op == "==" || op == "!=" {
		slices.Sort(keys)
	}
	e.text, e.key = strings.Join(texts, " "+op+" "), strings.Join(keys, " "+op+" ")
	return e
}
