package doctor

import (
	"embed"
	"strings"
	"text/template"

	"github.com/mergexo/mergexo/internal/github/workflow"
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
	all := template.New("").Delims("<<", ">>").Funcs(template.FuncMap{"scalar": workflow.Scalar, "quoted": workflow.Quoted, "oneline": oneLine})
	var b strings.Builder
	_ = template.Must(all.ParseFS(templates, "templates/*")).ExecuteTemplate(&b, name, data) // whose fields tests try
	return b.String()
}
