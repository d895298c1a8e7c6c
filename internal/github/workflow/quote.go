package workflow

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// plainName is a name that YAML takes for a text without quotes, also within brackets.
var plainName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_./-]*( [A-Za-z0-9_./-]+)*$`)

// ambiguous are words that YAML may take for something other than a text.
var ambiguous = []string{"true", "false", "yes", "no", "on", "off", "null", "y", "n"}

// Scalar is a text as YAML has it.
func Scalar(text string) string {
	if plainName.MatchString(text) && !slices.Contains(ambiguous, strings.ToLower(text)) {
		return text
	}
	return Quoted(text)
}

// Quoted is a text as JSON has it, which YAML and TOML read too: https://yaml.org/spec/1.2.2/#13-terminology
func Quoted(text string) string {
	b := &strings.Builder{}
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(text) // a string can always be encoded
	return strings.TrimSuffix(b.String(), "\n")
}
