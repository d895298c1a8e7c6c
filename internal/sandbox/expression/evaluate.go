package expression

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/rhysd/actionlint"
)

// longest is how many characters an expression may have, as on GitHub. It bounds how deep one can nest, too.
const longest = 21_000

// parse reads an expression up to the }} that ends it, and returns the text behind that.
func parse(text string) (e actionlint.ExprNode, rest string, err error) {
	if !strings.Contains(text, "}}") {
		return nil, "", errors.New("an expression begins with ${{ and does not end with }}")
	}
	if len(text) > longest {
		return nil, "", fmt.Errorf("an expression has more than %d characters", longest)
	}
	lexer := actionlint.NewExprLexer(text)
	e, bad := actionlint.NewExprParser().Parse(lexer)
	if bad != nil {
		return nil, "", errors.New(bad.Message)
	}
	return e, text[lexer.Offset():], nil
}

// evaluator works out an expression.
type evaluator struct{ contexts Object }

func isUnknown(v any) bool {
	_, unknown := v.(Unknown)
	return unknown
}

func (e evaluator) value(n actionlint.ExprNode) any {
	switch n := n.(type) {
	case *actionlint.BoolNode:
		return n.Value
	case *actionlint.IntNode:
		return float64(n.Value)
	case *actionlint.FloatNode:
		return n.Value
	case *actionlint.StringNode:
		return n.Value
	case *actionlint.VariableNode:
		return e.variable(n.Name)
	case *actionlint.ObjectDerefNode:
		return member(e.value(n.Receiver), n.Property, isContext(n.Receiver))
	case *actionlint.ArrayDerefNode:
		return all(e.value(n.Receiver))
	case *actionlint.IndexAccessNode:
		return member(e.value(n.Operand), e.value(n.Index), isContext(n.Operand))
	case *actionlint.NotOpNode:
		if v := e.value(n.Operand); !isUnknown(v) {
			return !truth(v)
		}
		return Unknown{}
	case *actionlint.CompareOpNode:
		return compare(n.Kind, e.value(n.Left), e.value(n.Right))
	case *actionlint.LogicalOpNode:
		return logical(n.Kind == actionlint.LogicalOpNodeKindOr, e.value(n.Left), e.value(n.Right))
	case *actionlint.FuncCallNode:
		return e.call(n)
	}
	return nil
}

// isContext reports whether an expression is the name of a context.
func isContext(n actionlint.ExprNode) bool {
	_, is := n.(*actionlint.VariableNode)
	return is
}

func (e evaluator) variable(name string) any {
	switch strings.ToLower(name) {
	case "nan":
		return math.NaN()
	case "infinity":
		return math.Inf(1)
	}
	if found := field(e.contexts, name); found != nil {
		return found
	}
	return Unknown{}
}

// logical gives the first value that holds, or with and the first that does not. One that decides does so whatever else is unknown.
func logical(or bool, left, right any) any {
	decides := func(v any) bool { return !isUnknown(v) && truth(v) == or }
	switch {
	case decides(left):
		return left
	case !isUnknown(left):
		return right
	case decides(right) && or:
		return right
	case decides(right):
		return false
	}
	return Unknown{}
}

func compare(kind actionlint.CompareOpNodeKind, a, b any) any {
	if isUnknown(a) || isUnknown(b) {
		return Unknown{}
	}
	switch kind {
	case actionlint.CompareOpNodeKindEq:
		return same(a, b)
	case actionlint.CompareOpNodeKindNotEq:
		return !same(a, b)
	case actionlint.CompareOpNodeKindLess:
		return less(a, b)
	case actionlint.CompareOpNodeKindLessEq:
		return less(a, b) || same(a, b)
	case actionlint.CompareOpNodeKindGreater:
		return less(b, a)
	}
	return less(b, a) || same(a, b)
}

func (e evaluator) call(n *actionlint.FuncCallNode) any {
	var args []any
	for _, arg := range n.Args {
		v := e.value(arg)
		if many, ok := v.(spread); ok {
			v = []any(many)
		}
		args = append(args, v)
	}
	f, known := functions[strings.ToLower(n.Callee)]
	if !known || slices.ContainsFunc(args, isUnknown) {
		return Unknown{}
	}
	return f(args)
}
