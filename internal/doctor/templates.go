package doctor

import (
	"embed"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"text/template"
)

// WorkflowPath and SettingsPath are where `mergexo init` writes what a Choice makes.
const (
	WorkflowPath = ".github/workflows/mergexo.yml"
	SettingsPath = ".github/mergexo.toml"
)

// templates are what init writes. mergexo-split.yml, for repositories that must keep the agent away from every write token, goes to the
// same path as mergexo.yml.
//
//go:embed templates
var templates embed.FS

// Workflow is the workflow to start with. This repository's own is identical, byte for byte.
func Workflow() string { return Choice{CI: []string{"CI"}}.Workflow() }

// Workflow is the workflow for a choice.
func (c Choice) Workflow() string {
	if c.Split {
		return fill("mergexo-split.yml.tmpl", c)
	}
	return fill("mergexo.yml.tmpl", c)
}

// Settings are the settings for a choice.
func (c Choice) Settings() string { return fill("mergexo.toml.tmpl", c) }

// fill fills a template in. The marks are not those of GitHub's own expressions.
func fill(name string, data any) string {
	all := template.New("").Delims("<<", ">>").Funcs(template.FuncMap{"scalar": scalar, "quoted": quoted, "oneline": oneLine})
	var b strings.Builder
	_ = template.Must(all.ParseFS(templates, "templates/*")).ExecuteTemplate(&b, name, data) // whose fields tests try
	return b.String()
}

// plainName is a name that YAML takes for a text without quotes, also within brackets.
var plainName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_./-]*( [A-Za-z0-9_./-]+)*$`)

// ambiguous are words that YAML may take for something other than a text.
var ambiguous = []string{"true", "false", "yes", "no", "on", "off", "null", "y", "n"}

// scalar is a text as YAML has it.
func scalar(text string) string {
	if plainName.MatchString(text) && !slices.Contains(ambiguous, strings.ToLower(text)) {
		return text
	}
	return quoted(text)
}

// quoted is a text as JSON has it, which YAML and TOML read too: https://yaml.org/spec/1.2.2/#13-terminology
func quoted(text string) string {
	b := &strings.Builder{}
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(text) // a string can always be encoded
	return strings.TrimSuffix(b.String(), "\n")
}
