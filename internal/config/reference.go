package config

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/mergexo/mergexo/internal/model"
)

// Key is what the manual says about one key of the settings.
type Key struct {
	Table   string // "merge", or "[merge.rule]" for a list of tables
	Name    string
	Type    string // in words, as errors name it
	Default string // in TOML; "" for an empty one
	Meaning string // Markdown
}

// Path is the key's name with its table's: "merge.rule.branch".
func (k Key) Path() string { return strings.Trim(k.Table, "[]") + "." + k.Name }

// Describe is what there is to say about a key, in two lines of Markdown; name is how to call it.
func (k Key) Describe(name string) string {
	initial := ""
	if k.Default != "" {
		initial = fmt.Sprintf(" Default: `%s`.", k.Default)
	}
	return fmt.Sprintf("`%s`: %s.%s\n  %s\n", name, k.Type, initial, k.Meaning)
}

// Keys are all keys of the settings, table by table.
func Keys() []Key {
	var out []Key
	for _, t := range tables {
		out = append(out, t.keys()...)
	}
	return out
}

func keysOf[T any](table string, keys []key[T], defaults T) []Key {
	var out []Key
	for _, k := range keys {
		one := Key{Table: table, Name: k.name, Meaning: k.meaning, Default: inTOML(k.value(defaults))}
		if one.Default == `""` || one.Default == "[]" {
			one.Default = ""
		}
		var m mistake
		if errors.As(k.apply(new(T), time.Time{}), &m) { // no key is a date, so each says what it wants
			one.Type = m.want
		}
		out = append(out, one)
	}
	return out
}

// inTOML is a value as the settings file has it; "" for tests or a setup that are detected.
func inTOML(v any) string {
	switch v := v.(type) {
	case []string:
		quoted := make([]string, len(v))
		for i, s := range v {
			quoted[i] = strconv.Quote(s)
		}
		return "[" + strings.Join(quoted, ", ") + "]"
	case time.Duration:
		switch {
		case v%time.Hour == 0:
			return fmt.Sprintf(`"%dh"`, v/time.Hour)
		case v%time.Minute == 0:
			return fmt.Sprintf(`"%dm"`, v/time.Minute)
		}
		return strconv.Quote(v.String())
	case string:
		return strconv.Quote(v)
	case model.Network:
		return `"open"`
	case Tests, *bool: // which is not written
		return ""
	}
	return fmt.Sprint(v)
}
