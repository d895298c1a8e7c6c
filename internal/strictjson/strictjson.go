// Package strictjson reads JSON that somebody else wrote into plain values, and accepts only the agreed fields.
//
// encoding/json ignores the case of names, lets the last of two equal fields win, skips unknown fields, and takes null for
// anything. Each of these lets two readers of one text see different things.
package strictjson

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
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

	// AnyBytes takes strings that are not UTF-8, with U+FFFD for what is wrong in them.
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
func First(text []byte) (value, rest []byte, err error) {
	in := jsontext.NewDecoder(bytes.NewBuffer(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if value, err = in.ReadValue(); err != nil {
		return nil, nil, reason(err)
	}
	return value, text[in.InputOffset():], nil
}

// reason is what makes a text no JSON, without the place: a path could quote names that nobody agreed upon.
func reason(err error) error {
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) {
		err = syntax.Err
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("it ends in the middle")
	}
	return err
}

// Decode reads one JSON value, of valid UTF-8 and nothing after it, into what into points to: structs with json tags,
// slices, strings, booleans and numbers, and pointers to them. Errors are *Error.
func Decode(text []byte, into any, rules Rules) error {
	d := decoder{rules: rules, seen: map[string]bool{}}
	_, rest, err := First(text)
	switch rest = bytes.TrimSpace(rest); {
	case errors.Is(err, io.EOF):
		return d.wrong("", "empty")
	case err != nil:
		return d.explain(err)
	case len(rest) > 0:
		return d.wrong("", "it continues after the JSON value: %s", Excerpt(string(rest), 40))
	}
	err = json.Unmarshal(text, into, json.RejectUnknownMembers(true), jsontext.AllowInvalidUTF8(rules.AnyBytes),
		json.WithUnmarshalers(json.UnmarshalFromFunc(d.visit)))
	if err != nil {
		return d.explain(err)
	}
	for _, path := range d.objects {
		for _, key := range rules.Required[place(path)] {
			if at := join(path, key); !d.seen[at] {
				return d.wrong(at, "it is missing")
			}
		}
	}
	return nil
}

type decoder struct {
	rules   Rules
	seen    map[string]bool // the paths of all values
	objects []string        // the paths of those that are objects
}

func (d *decoder) wrong(path, format string, args ...any) *Error {
	return &Error{cmp.Or(path, d.rules.Name), fmt.Sprintf(format, args...)}
}

var wants = map[reflect.Kind]string{
	reflect.Struct: "an object", reflect.Slice: "a list", reflect.String: "a string", reflect.Bool: "a boolean",
	reflect.Int: "a number", reflect.Int64: "a number", reflect.Float64: "a number",
}

var kinds = map[jsontext.Kind]string{
	'{': "an object", '[': "a list", '"': "a string", 't': "a boolean", 'f': "a boolean", '0': "a number", 'n': "null",
}

// visit looks at a value before it is read, and leaves the reading to the library.
func (d *decoder) visit(in *jsontext.Decoder, into any) error {
	parent, key := spell(in.StackPointer()), ""
	switch of, n := in.StackIndex(in.StackDepth()); {
	case of == '[':
		if n > 0 {
			parent = spell(in.StackPointer().Parent())
		}
		if d.rules.MaxItems > 0 && n == int64(d.rules.MaxItems) {
			return d.wrong(parent, "over %d items", n)
		}
		key = fmt.Sprintf("[%d]", n)
	case of == '{':
		parent, key = spell(in.StackPointer().Parent()), in.StackPointer().LastToken()
		if only, ok := d.rules.Only[place(parent)]; ok && !slices.Contains(only, key) {
			return d.unknown(parent, key, nil)
		}
	}
	path := join(parent, key)
	d.seen[path] = true
	of := reflect.TypeOf(into).Elem()
	if of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	switch want, got := wants[of.Kind()], kinds[in.PeekKind()]; {
	case got == "null" && slices.Contains(d.rules.Nullable, place(parent)):
		return in.SkipValue()
	case got != "" && got != want:
		if err := in.SkipValue(); err != nil { // it only began like one
			return err
		}
		return d.wrong(path, "want %s, got %s", want, got)
	case of.Kind() == reflect.Struct:
		d.objects = append(d.objects, path)
	}
	return json.SkipFunc
}

// explain puts an error of the library into words.
func (d *decoder) explain(err error) error {
	var wrong *Error
	var syntax *jsontext.SyntacticError
	var semantic *json.SemanticError
	switch {
	case errors.As(err, &wrong):
		return wrong
	case errors.As(err, &syntax) && errors.Is(err, jsontext.ErrDuplicateName):
		return d.wrong(spell(syntax.JSONPointer), "it occurs twice")
	case errors.As(err, &semantic) && errors.Is(err, json.ErrUnknownName):
		return d.unknown(spell(semantic.JSONPointer.Parent()), semantic.JSONPointer.LastToken(), tags(semantic.GoType))
	case semantic != nil && semantic.JSONKind == '0':
		want := "whole number"
		if semantic.GoType.Kind() == reflect.Float64 {
			want = "number of at most 64 bits"
		}
		return d.wrong(spell(semantic.JSONPointer), "want a %s, got %s", want, Excerpt(string(semantic.JSONValue), 40))
	}
	return d.wrong("", "not JSON: %v", reason(err))
}

func (d *decoder) unknown(path, field string, known []string) *Error {
	if only, ok := d.rules.Only[place(path)]; ok {
		known = only
	}
	hint := ""
	if d.rules.Hint != nil {
		hint = d.rules.Hint(field, known)
	}
	return d.wrong(path, "unknown field %s%s", Excerpt(field, 40), hint)
}

// tags are the names of a struct's fields, in their order.
func tags(of reflect.Type) (names []string) {
	for i := range of.NumField() {
		if tag, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ","); tag != "" && tag != "-" {
			names = append(names, tag)
		}
	}
	return names
}

// element is an index in a JSON pointer. The names in it are of fields, and no field's is a number.
var element = regexp.MustCompile(`/([0-9]+)\b`)

// spell is the path that a JSON pointer stands for.
func spell(at jsontext.Pointer) string {
	return strings.TrimPrefix(strings.ReplaceAll(element.ReplaceAllString(string(at), "[$1]"), "/", "."), ".")
}

func join(path, key string) string {
	if path == "" || strings.HasPrefix(key, "[") {
		return path + key
	}
	return path + "." + key
}

var index = regexp.MustCompile(`\[[0-9]+\]`)

// place is a path without the numbers in its brackets.
func place(path string) string { return index.ReplaceAllString(path, "[]") }

// Excerpt is the beginning of a text that is not ours, quoted, on one line.
func Excerpt(text string, n int) string {
	if len(text) > n {
		return strconv.QuoteToASCII(text[:n]) + "..."
	}
	return strconv.QuoteToASCII(text)
}
