package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/mergexo/mergexo/internal/model"
)

// required are the fields that mean nothing when they are left out, by the path of their object with [] for an index.
var required = map[string][]string{
	"review_replies[]": {"review_comment_id", "body"},
	"git_ops[]":        {"op"},
}

var gitOps = []string{"fetch_origin", "merge_origin_default_branch"}

// Decode reads an outcome. Unlike encoding/json it refuses unknown fields wherever they are, names that differ in case,
// fields that come twice, wrong types, numbers that are not whole where an id or a count is wanted, and anything after
// the object; each with the path of the field. A top-level field may be null, which is the same as leaving it out.
// Errors are *Error of kind Output.
func Decode(stdout []byte) (model.Outcome, error) {
	var outcome model.Outcome
	if len(bytes.TrimSpace(stdout)) == 0 {
		return outcome, wrong("it wrote nothing on stdout: want one JSON object")
	}
	in := json.NewDecoder(bytes.NewReader(stdout))
	var raw json.RawMessage
	if err := in.Decode(&raw); err != nil {
		return outcome, wrong("its output is not JSON (%v): it begins with \"%s\"", describe(err), excerpt(string(stdout), 80))
	}
	if rest := bytes.TrimSpace(stdout[in.InputOffset():]); len(rest) > 0 {
		return outcome, wrong("its output goes on after the JSON object: \"%s\"", excerpt(string(rest), 80))
	}
	if err := read(raw, "", reflect.ValueOf(&outcome).Elem()); err != nil {
		return model.Outcome{}, err
	}
	for i, op := range outcome.GitOps {
		if !slices.Contains(gitOps, op.Op) {
			return model.Outcome{}, wrong("git_ops[%d].op: unknown operation \"%s\": known are %s", i, excerpt(op.Op, 40), strings.Join(gitOps, ", "))
		}
	}
	if u := outcome.Usage; u.InputTokens < 0 || u.OutputTokens < 0 || u.CostUSD < 0 {
		return model.Outcome{}, wrong("usage: want no negative numbers")
	}
	return outcome, nil
}

func describe(err error) string {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return "it ends in the middle"
	}
	return err.Error()
}

// read stores one JSON value, which is known to be well-formed, at path into a value of the contract.
func read(raw json.RawMessage, path string, into reflect.Value) error {
	raw = bytes.TrimSpace(raw)
	got := kind(raw)
	want := map[reflect.Kind]string{
		reflect.Struct: "an object", reflect.Slice: "a list", reflect.String: "a string", reflect.Int64: "a number", reflect.Float64: "a number",
	}
	if into.Kind() == reflect.Pointer {
		into.Set(reflect.New(into.Type().Elem()))
		into = into.Elem()
	}
	if got != want[into.Kind()] {
		return wrong("%s: want %s, got %s", name(path), want[into.Kind()], got)
	}
	switch into.Kind() {
	case reflect.Struct:
		return readObject(raw, path, into)
	case reflect.Slice:
		return readList(raw, path, into)
	case reflect.Int64:
		n, err := strconv.ParseInt(string(raw), 10, 64)
		if err != nil {
			return wrong("%s: want a whole number, got %s", name(path), excerpt(string(raw), 40))
		}
		into.SetInt(n)
		return nil
	}
	if err := json.Unmarshal(raw, into.Addr().Interface()); err != nil {
		return wrong("%s: %v", name(path), err)
	}
	return nil
}

func readObject(raw json.RawMessage, path string, into reflect.Value) error {
	index := map[string]int{}
	var known []string
	for i := range into.NumField() {
		tag, _, _ := strings.Cut(into.Type().Field(i).Tag.Get("json"), ",")
		index[tag] = i
		known = append(known, tag)
	}
	in := json.NewDecoder(bytes.NewReader(raw))
	_, _ = in.Token() // the brace: raw is well-formed, so are the tokens that follow
	seen := map[string]bool{}
	for in.More() {
		token, _ := in.Token()
		key, _ := token.(string)
		var value json.RawMessage
		if err := in.Decode(&value); err != nil {
			return wrong("%s: %v", name(join(path, key)), err)
		}
		at, ok := index[key]
		if !ok {
			return wrong("unknown field `%s`%s", excerpt(join(path, key), 80), strings.ReplaceAll(didYouMean(key, known), `"`, "`"))
		}
		if seen[key] {
			return wrong("field `%s` is there twice", join(path, key))
		}
		seen[key] = true
		if path == "" && kind(value) == "null" {
			continue
		}
		if err := read(value, join(path, key), into.Field(at)); err != nil {
			return err
		}
	}
	for _, key := range required[indexes(path)] {
		if !seen[key] {
			return wrong("%s: field is missing", join(path, key))
		}
	}
	return nil
}

func readList(raw json.RawMessage, path string, into reflect.Value) error {
	var items []json.RawMessage
	if err := json.Unmarshal(raw, &items); err != nil {
		return wrong("%s: %v", name(path), err)
	}
	into.Set(reflect.MakeSlice(into.Type(), len(items), len(items)))
	for i, item := range items {
		if err := read(item, fmt.Sprintf("%s[%d]", path, i), into.Index(i)); err != nil {
			return err
		}
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

func name(path string) string {
	if path == "" {
		return "outcome"
	}
	return path
}

// indexes turns the numbers in a path into [].
func indexes(path string) string {
	var out strings.Builder
	for _, r := range path {
		if r < '0' || r > '9' {
			out.WriteRune(r)
		}
	}
	return out.String()
}
