// Package expression evaluates the conditions and names that a workflow computes, for events that have not happened yet. So
// doctor can say what a workflow would do. What nobody can know beforehand is Unknown, for as long as it matters.
// https://docs.github.com/en/actions/reference/workflows-and-actions/expressions
package expression

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Object is a context or an object in one. Names are found whatever their case. A name that is missing is null, except
// at the top of a context, where it is Unknown: GitHub has more there than anybody lists.
type Object map[string]any

// Open is an object of which not all is known: a name that is missing is Unknown. What is known to be null is there, as nil.
type Open map[string]any

// Unknown is the value of what cannot be known before the run.
type Unknown struct{}

// Condition reports whether an if: lets its job run. It may be written with or without ${{ }}; an empty one is true.
// known is false where it depends on something unknown.
func Condition(text string, contexts Object) (met, known bool, err error) {
	if Constant(text) {
		_, err := Text(text, contexts)
		return true, err == nil, err
	}
	if inner, ok := strings.CutPrefix(strings.TrimSpace(text), "${{"); ok {
		text = strings.TrimSuffix(inner, "}}")
	}
	if strings.TrimSpace(text) == "" {
		return true, true, nil
	}
	e, _, err := parse(text + "}}")
	if err != nil {
		return false, false, err
	}
	v := evaluator{contexts}.value(e)
	known = !isUnknown(v)
	return known && truth(v), known, nil
}

// Constant reports whether a condition is text with expressions in it and not an expression: it is true whatever they are.
func Constant(text string) bool {
	text = strings.TrimSpace(text)
	inner, ok := strings.CutPrefix(text, "${{")
	whole := ok && strings.HasSuffix(inner, "}}") && !strings.Contains(inner, "${{")
	return strings.Contains(text, "${{") && !whole
}

// Text fills in the expressions of a text. What is unknown is written as a question mark between angle brackets.
func Text(text string, contexts Object) (string, error) {
	var out strings.Builder
	for {
		before, after, found := strings.Cut(text, "${{")
		out.WriteString(before)
		if !found {
			return out.String(), nil
		}
		e, rest, err := parse(after)
		if err != nil {
			return "", err
		}
		out.WriteString(written(evaluator{contexts}.value(e)))
		text = rest
	}
}

// truth is what a condition makes of a value.
func truth(v any) bool {
	switch v := v.(type) {
	case nil:
		return false
	case bool:
		return v
	case float64:
		return v != 0 && !math.IsNaN(v)
	case string:
		return v != ""
	}
	return true
}

// written is a value as it stands in a text.
func written(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case bool:
		return strconv.FormatBool(v)
	case float64:
		return strconv.FormatFloat(v, 'g', 15, 64)
	case string:
		return v
	case []any:
		return "Array"
	case Unknown:
		return "<?>"
	}
	return "Object"
}

// number is a value as a number, for comparisons of different types.
func number(v any) float64 {
	switch v := v.(type) {
	case nil:
		return 0
	case bool:
		if v {
			return 1
		}
		return 0
	case float64:
		return v
	case string:
		v = strings.TrimSpace(v)
		if v == "" {
			return 0
		}
		if n, err := strconv.ParseInt(v, 0, 64); err == nil {
			return float64(n)
		}
		if n, err := strconv.ParseFloat(v, 64); err == nil {
			return n
		}
	}
	return math.NaN()
}

// same is ==: text whatever its case, different types as numbers, objects only when they are one.
func same(a, b any) bool {
	x, xText := a.(string)
	y, yText := b.(string)
	switch {
	case xText && yText:
		return strings.EqualFold(x, y)
	case composite(a) || composite(b):
		return false
	}
	return number(a) == number(b)
}

func composite(v any) bool {
	switch v.(type) {
	case Object, Open, []any:
		return true
	}
	return false
}

// less is <; it is false where one side is not a number, as it is for NaN.
func less(a, b any) bool {
	x, xText := a.(string)
	y, yText := b.(string)
	if xText && yText {
		return strings.ToUpper(x) < strings.ToUpper(y)
	}
	return number(a) < number(b)
}

// field finds a name in a value.
func field(v any, name string) any {
	switch o := v.(type) {
	case Unknown:
		return o
	case Object:
		found, _ := named(o, name)
		return found
	case Open:
		if found, there := named(Object(o), name); there {
			return found
		}
		return Unknown{}
	}
	return nil
}

func named(o Object, name string) (found any, there bool) {
	if found, there = o[name]; there {
		return found, true
	}
	for _, key := range slices.Sorted(maps.Keys(o)) {
		if strings.EqualFold(key, name) {
			return o[key], true
		}
	}
	return nil, false
}
