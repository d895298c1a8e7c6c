// Package strictjson reads JSON that somebody else wrote into plain values, and takes nothing that was not agreed upon.
// encoding/json matches names whatever their case, lets the last of two equal fields win, skips what it does not know and
// stops at the end of the first value: each of these lets two readers of one text see different things.
package strictjson

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Rules say what about a text is agreed upon beyond the Go type of its value. Paths name fields as in "usage.cost_usd",
// with [] for any index, and "" for the whole.
type Rules struct {
	Name     string              // what the whole is called in errors
	Required map[string][]string // fields that must be there, by the path of their object
	Nullable []string            // paths of the objects whose fields may be null, which is the same as leaving them out
	MaxItems int                 // of any list; 0: no limit
	// Only are the fields that there may be of those that a Go type has, by the path of their object; without a line for an
	// object, all of its type's.
	Only map[string][]string

	// AnyBytes takes strings that are not UTF-8, with U+FFFD for what is wrong in them, as encoding/json does.
	AnyBytes bool
	// Hint is put after the name of an unknown field, where known are the ones that could be there; nil: nothing is.
	Hint func(field string, known []string) string
}

// Error is what of a text was not agreed upon.
type Error struct {
	Path   string // of the field, or the name of the whole
	Detail string
}

func (e *Error) Error() string { return e.Path + ": " + e.Detail }

// First cuts the first JSON value off a text, and gives what follows it. Errors are io.EOF when there is nothing but
// space, else what makes it no JSON.
func First(text []byte) (value json.RawMessage, rest []byte, err error) {
	in := json.NewDecoder(bytes.NewReader(text))
	if err := in.Decode(&value); errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, nil, errors.New("it ends in the middle")
	} else if err != nil {
		return nil, nil, err
	}
	return value, text[in.InputOffset():], nil
}

// Decode reads one JSON value, of valid UTF-8 and nothing after it, into what into points to: structs with json tags,
// slices, strings, booleans and numbers, and pointers to them. Errors are *Error.
func Decode(text []byte, into any, rules Rules) error {
	d := decoder{rules}
	if !rules.AnyBytes && !utf8.Valid(text) {
		return d.wrong("", "not UTF-8")
	}
	raw, rest, err := First(text)
	if errors.Is(err, io.EOF) {
		return d.wrong("", "empty")
	}
	if err != nil {
		return d.wrong("", "not JSON: %v", err)
	}
	if rest = bytes.TrimSpace(rest); len(rest) > 0 {
		return d.wrong("", "it continues after the JSON value: %s", Excerpt(string(rest), 40))
	}
	return d.value(raw, "", reflect.ValueOf(into).Elem())
}

type decoder struct{ rules Rules }

func (d decoder) wrong(path, format string, args ...any) *Error {
	return &Error{cmp.Or(path, d.rules.Name), fmt.Sprintf(format, args...)}
}

var wants = map[reflect.Kind]string{
	reflect.Struct: "an object", reflect.Slice: "a list", reflect.String: "a string", reflect.Bool: "a boolean",
	reflect.Int: "a number", reflect.Int64: "a number", reflect.Float64: "a number",
}

// value stores one JSON value, which is known to be well-formed.
func (d decoder) value(raw json.RawMessage, path string, into reflect.Value) error {
	raw = bytes.TrimSpace(raw)
	if into.Kind() == reflect.Pointer {
		into.Set(reflect.New(into.Type().Elem()))
		into = into.Elem()
	}
	if got := kind(raw); got != wants[into.Kind()] {
		return d.wrong(path, "want %s, got %s", wants[into.Kind()], got)
	}
	switch into.Kind() {
	case reflect.Struct:
		return d.object(raw, path, into)
	case reflect.Slice:
		return d.list(raw, path, into)
	case reflect.Int, reflect.Int64:
		n, err := strconv.ParseInt(string(raw), 10, into.Type().Bits())
		if err != nil {
			return d.wrong(path, "want a whole number, got %s", Excerpt(string(raw), 40))
		}
		into.SetInt(n)
		return nil
	case reflect.Float64:
		n, err := strconv.ParseFloat(string(raw), 64)
		if err != nil {
			return d.wrong(path, "want a number of at most 64 bits, got %s", Excerpt(string(raw), 40))
		}
		into.SetFloat(n)
		return nil
	}
	if err := json.Unmarshal(raw, into.Addr().Interface()); err != nil {
		return d.wrong(path, "%v", err)
	}
	return nil
}

func (d decoder) object(raw json.RawMessage, path string, into reflect.Value) error {
	fields, known := tags(into.Type())
	if only, ok := d.rules.Only[indexes(path)]; ok {
		known = only
		maps.DeleteFunc(fields, func(name string, _ int) bool { return !slices.Contains(only, name) })
	}
	in := json.NewDecoder(bytes.NewReader(raw))
	_, _ = in.Token() // the brace: raw is well-formed, so are the tokens that follow
	seen := map[string]bool{}
	for in.More() {
		token, _ := in.Token()
		key, _ := token.(string)
		at, ok := fields[key]
		switch {
		case !ok:
			return d.wrong(path, "unknown field %s%s", Excerpt(key, 40), d.hint(key, known))
		case seen[key]:
			return d.wrong(join(path, key), "it occurs twice")
		}
		seen[key] = true
		var value json.RawMessage
		if err := in.Decode(&value); err != nil {
			return d.wrong(join(path, key), "%v", err)
		}
		if kind(value) == "null" && slices.Contains(d.rules.Nullable, indexes(path)) {
			continue
		}
		if err := d.value(value, join(path, key), into.Field(at)); err != nil {
			return err
		}
	}
	for _, key := range d.rules.Required[indexes(path)] {
		if !seen[key] {
			return d.wrong(join(path, key), "it is missing")
		}
	}
	return nil
}

// tags are the names of a struct's fields, with the place of each, and in their order.
func tags(of reflect.Type) (places map[string]int, names []string) {
	places = map[string]int{}
	for i := range of.NumField() {
		if tag, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ","); tag != "" && tag != "-" {
			places[tag] = i
			names = append(names, tag)
		}
	}
	return places, names
}

func (d decoder) hint(field string, known []string) string {
	if d.rules.Hint == nil {
		return ""
	}
	return d.rules.Hint(field, known)
}

// list stops at the first item that does not hold, so that no list of wrong ones is ever built up.
func (d decoder) list(raw json.RawMessage, path string, into reflect.Value) error {
	in := json.NewDecoder(bytes.NewReader(raw))
	_, _ = in.Token()
	into.Set(reflect.MakeSlice(into.Type(), 0, 0))
	for i := 0; in.More(); i++ {
		if d.rules.MaxItems > 0 && i == d.rules.MaxItems {
			return d.wrong(path, "over %d items", d.rules.MaxItems)
		}
		var value json.RawMessage
		if err := in.Decode(&value); err != nil {
			return d.wrong(path, "%v", err)
		}
		item := reflect.New(into.Type().Elem()).Elem()
		if err := d.value(value, fmt.Sprintf("%s[%d]", path, i), item); err != nil {
			return err
		}
		into.Set(reflect.Append(into, item))
	}
	return nil
}

// kind is what a JSON value is, in words.
func kind(raw json.RawMessage) string {
	switch raw = bytes.TrimSpace(raw); raw[0] {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "a string"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "a number"
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// indexes takes the numbers out of the brackets in a path.
func indexes(path string) string {
	var out strings.Builder
	inside := false
	for _, r := range path {
		switch r {
		case '[':
			inside = true
		case ']':
			inside = false
		default:
			if inside {
				continue
			}
		}
		out.WriteRune(r)
	}
	return out.String()
}

// Excerpt is the beginning of a text that is not ours, quoted, on one line.
func Excerpt(text string, n int) string {
	if len(text) > n {
		return strconv.QuoteToASCII(text[:n]) + "..."
	}
	return strconv.QuoteToASCII(text)
}
