package github

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/mergexo/mergexo/internal/model"
)

// PayloadError says what is wrong with a webhook payload, and where: "payload: issue.number: missing".
type PayloadError struct {
	Where   string // a field as "issue.number", or a position as "line 3, column 14"
	Problem string
}

func (e *PayloadError) Error() string { return "payload: " + e.Where + ": " + e.Problem }

// object is a JSON object somewhere in a payload. Its readers note the first problem in trouble and give zero values from
// there on, so that what reads a payload can be written as a list of fields.
type object struct {
	path    string // "" at the top
	fields  map[string]any
	trouble *error
}

// readObject reads the whole payload; trailing text, a truncated end and anything but an object are errors.
func readObject(payload []byte) (object, error) {
	decoder := json.NewDecoder(bytes.NewReader(payload))
	decoder.UseNumber()
	var top any
	if err := decoder.Decode(&top); err != nil {
		return object{}, syntaxProblem(payload, err)
	}
	if rest := bytes.TrimSpace(payload[decoder.InputOffset():]); len(rest) > 0 {
		return object{}, &PayloadError{position(payload, len(payload)-len(rest)), "text after the payload's end"}
	}
	fields, ok := top.(map[string]any)
	if !ok {
		return object{}, &PayloadError{"line 1, column 1", "want an object, got " + describe(top)}
	}
	return object{fields: fields, trouble: new(error)}, nil
}

func syntaxProblem(payload []byte, err error) error {
	var syntax *json.SyntaxError
	switch {
	case len(bytes.TrimSpace(payload)) == 0:
		return &PayloadError{"line 1, column 1", "the file is empty"}
	case errors.As(err, &syntax) && int(syntax.Offset) < len(payload):
		return &PayloadError{position(payload, int(syntax.Offset)-1), oneLine(syntax.Error())}
	case errors.As(err, &syntax):
		return &PayloadError{position(payload, len(payload)), oneLine(syntax.Error())}
	}
	return &PayloadError{position(payload, len(payload)), "ends in the middle"} // io.ErrUnexpectedEOF
}

// position counts lines and columns (in bytes) from 1.
func position(payload []byte, offset int) string {
	before := payload[:max(0, min(offset, len(payload)))]
	return fmt.Sprintf("line %d, column %d", 1+bytes.Count(before, []byte("\n")), len(before)-bytes.LastIndexByte(before, '\n'))
}

func (o object) fail(key, problem string) {
	if *o.trouble == nil {
		*o.trouble = &PayloadError{o.name(key), problem}
	}
}

func (o object) name(key string) string {
	if o.path == "" {
		return key
	}
	return o.path + "." + key
}

// has tells whether the key is there with a value other than null.
func (o object) has(key string) bool { return o.fields[key] != nil }

// object reads an object that has to be there.
func (o object) object(key string) object {
	inner := object{path: o.name(key), trouble: o.trouble}
	switch v := o.fields[key].(type) {
	case nil:
		o.fail(key, "missing")
	case map[string]any:
		inner.fields = v
	default:
		o.fail(key, "want an object, got "+describe(v))
	}
	return inner
}

// objects reads a list of objects; missing and null are empty.
func (o object) objects(key string) (list []object) {
	switch v := o.fields[key].(type) {
	case nil:
	case []any:
		for i, one := range v {
			at := fmt.Sprintf("%s[%d]", key, i)
			list = append(list, object{o.path, map[string]any{at: one}, o.trouble}.object(at))
		}
	default:
		o.fail(key, "want a list, got "+describe(v))
	}
	return list
}

// text reads a string; missing and null are "" unless it is required.
func (o object) text(key string, required bool) string {
	switch v := o.fields[key].(type) {
	case string:
		if v == "" && required {
			o.fail(key, "empty")
		}
		return v
	case nil:
		if required {
			o.fail(key, "missing")
		}
	default:
		o.fail(key, "want a string, got "+describe(v))
	}
	return ""
}

// time reads a time as GitHub writes it, in UTC; missing and null are the zero time.
func (o object) time(key string) time.Time {
	text := o.text(key, false)
	if text == "" {
		return time.Time{}
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		o.fail(key, "want a time such as 2026-01-31T23:59:59Z, got "+describe(text))
	}
	return at.UTC()
}

// id reads a positive whole number that has to be there.
func (o object) id(key string) int64 {
	switch v := o.fields[key].(type) {
	case nil:
		o.fail(key, "missing")
	case json.Number:
		if n, err := strconv.ParseInt(v.String(), 10, 64); err == nil && n > 0 {
			return n
		}
		o.fail(key, "want a positive whole number, got "+oneLine(v.String()))
	default:
		o.fail(key, "want a number, got "+describe(v))
	}
	return 0
}

func (o object) number(key string) int { return int(o.id(key)) }

// actor reads somebody; null is a deleted account, which GitHub shows as "ghost".
func (o object) actor(key string) model.Actor {
	if !o.has(key) {
		return model.Actor{Login: "ghost"}
	}
	u := o.object(key)
	login := u.text("login", true)
	a := model.Actor{Login: login, Bot: u.text("type", false) == "Bot" || strings.HasSuffix(login, botSuffix)}
	if u.has("id") {
		a.ID = u.id("id")
	}
	return a
}

func describe(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		return fmt.Sprintf("the string %q", cut(v))
	case json.Number:
		return "the number " + cut(v.String())
	case bool:
		return strconv.FormatBool(v)
	case []any:
		return "a list"
	}
	return "an object"
}

func cut(s string) string {
	const limit = 40
	if runes := []rune(s); len(runes) > limit {
		return string(runes[:limit]) + "…"
	}
	return s
}
