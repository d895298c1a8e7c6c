package expression

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// spread are the values that a .* found: names after it are looked for in each.
type spread []any

// member is what a name, an index or * finds in a value. At the top of a context it is Unknown where it finds nothing.
func member(v, key any, context bool) any {
	if many, ok := v.(spread); ok {
		out := spread{}
		for _, one := range many {
			if found := member(one, key, false); found != nil {
				out = append(out, found)
			}
		}
		return out
	}
	if _, unknown := key.(Unknown); unknown {
		return key
	}
	if list, ok := v.([]any); ok && key != "*" {
		if n := number(key); n >= 0 && n < float64(len(list)) {
			return list[int(n)]
		}
		return nil
	}
	if key == "*" {
		return all(v)
	}
	found := field(v, written(key))
	if found == nil && context {
		return Unknown{}
	}
	return found
}

// all are the values of an object or a list.
func all(v any) any {
	out := spread{}
	switch v := v.(type) {
	case []any:
		return append(out, v...)
	case Object:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			out = append(out, v[key])
		}
	case Open:
		return Unknown{}
	case Unknown:
		return v
	}
	return out
}

// functions are those whose result depends on their arguments alone. Any other is Unknown.
var functions = map[string]func([]any) any{
	"contains":   contains,
	"startswith": func(a []any) any { return strings.HasPrefix(lower(at(a, 0)), lower(at(a, 1))) },
	"endswith":   func(a []any) any { return strings.HasSuffix(lower(at(a, 0)), lower(at(a, 1))) },
	"format":     format,
	"join":       join,
	"fromjson":   fromJSON,
	"tojson":     func([]any) any { return Unknown{} },
	"always":     func([]any) any { return true },
	"success":    func([]any) any { return true }, // of a job that waits for no other
	"failure":    func([]any) any { return false },
	"cancelled":  func([]any) any { return false },
}

func at(args []any, i int) any {
	if i < len(args) {
		return args[i]
	}
	return nil
}

func lower(v any) string { return strings.ToLower(written(v)) }

func contains(args []any) any {
	if list, ok := at(args, 0).([]any); ok {
		return slices.ContainsFunc(list, func(v any) bool { return same(v, at(args, 1)) })
	}
	return strings.Contains(lower(at(args, 0)), lower(at(args, 1)))
}

func format(args []any) any {
	pairs := []string{"{{", "{", "}}", "}"}
	for i := 1; i < len(args); i++ {
		pairs = append(pairs, fmt.Sprintf("{%d}", i-1), written(args[i]))
	}
	return strings.NewReplacer(pairs...).Replace(written(at(args, 0)))
}

func join(args []any) any {
	separator := ","
	if len(args) > 1 {
		separator = written(args[1])
	}
	list, ok := at(args, 0).([]any)
	if !ok {
		return written(at(args, 0))
	}
	texts := make([]string, len(list))
	for i, v := range list {
		texts[i] = written(v)
	}
	return strings.Join(texts, separator)
}

func fromJSON(args []any) any {
	var v any
	if json.Unmarshal([]byte(written(at(args, 0))), &v) != nil {
		return Unknown{}
	}
	return objects(v)
}

// objects turns what encoding/json made into values of ours.
func objects(v any) any {
	switch v := v.(type) {
	case map[string]any:
		o := Object{}
		for key, one := range v {
			o[key] = objects(one)
		}
		return o
	case []any:
		for i := range v {
			v[i] = objects(v[i])
		}
	}
	return v
}
