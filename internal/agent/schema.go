package agent

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/model"
)

// meanings are what the schema tells a model about the fields of an outcome, by path with [] for an index.
var meanings = map[string]string{
	"review_replies":                     "answers to the review comments that are listed in the request, at most one for each; empty for none",
	"review_replies[].review_comment_id": "the id of the review comment, as listed",
	"review_replies[].body":              "what was changed and where, or why nothing was; Markdown",
	"review_replies[].done":              "true if the work does all that the comment asks for; false if you turn it down, ask back or leave part of it",
	"general_comment":                    "what to say about the work as a whole, and in answer to what was said in the conversation; Markdown; empty for nothing",
	"commit_message":                     "message for a commit of everything that was changed, only when it is ready to be pushed; empty when nothing was changed",
	"git_ops":                            "operations with git that need credentials, to be carried out for you; empty for none",
	"git_ops[].op":                       "the operation",
	"flaky_test_report":                  "a test that fails by chance and not because of this work; null for none",
	"flaky_test_report.title":            "title of an issue about it",
	"flaky_test_report.summary":          "what happens, and how it is known to be by chance",
	"flaky_test_report.relevant_log_url": "where the log is; empty when there is none",
	"title":                              "title of the pull request and of the document; one line",
	"summary":                            "what the document proposes, in a few sentences for those who are to review it; Markdown",
	"touch_paths":                        "the files and directories that the work will change or add",
	"touch_paths[]":                      "a path from the top of the repository, without a leading slash",
	"design_doc_markdown":                "the whole document, without front matter; empty only with a blocked_reason",
	"goal":                               "what the whole roadmap is to achieve, in a sentence or two",
	"roadmap_items":                      "the items of the roadmap, each small enough for one pull request; at most 100",
	"roadmap_items[].key":                "a short name for the item, unique, of a-z, 0-9 and dashes",
	"roadmap_items[].title":              "title of the item's issue; one line",
	"roadmap_items[].flow":               "how it is done: by a design first, as a bug fix, or as a small job",
	"roadmap_items[].needs":              "the keys of the items that have to be done before; empty for none",
	"roadmap_items[].needs[]":            "the key of an item",
	"roadmap_items[].acceptance":         "what is to be done, and how to see that it is; Markdown",
	"pr_title":                           "title of the pull request; one line",
	"pr_summary":                         "what was changed, where and why, for those who are to review it; Markdown",
	"findings":                           "what is wrong with the change, the gravest first; empty for nothing",
	"findings[].path":                    "the file, as a path from the top of the repository",
	"findings[].line":                    "the line in the new version of the file; 0 for the whole file",
	"findings[].severity":                "must: it has to be fixed before this lands; should: it is worth another change; nit: a matter of taste",
	"findings[].text":                    "what is wrong, why, and what to do; Markdown",
	"findings[].suggestion":              "what could stand in place of exactly that line, as code without a fence; empty for nothing",
	"blocked_reason":                     "one precise question, if you cannot continue without its answer; otherwise empty",
}

// schema is the part of JSON Schema that is needed here.
type schema struct {
	Type        any        `json:"type"` // a name, or a list of names
	Description string     `json:"description,omitempty"`
	Enum        []string   `json:"enum,omitempty"`
	Properties  properties `json:"properties,omitempty"`
	Required    []string   `json:"required,omitempty"`
	Additional  *bool      `json:"additionalProperties,omitempty"`
	Items       *schema    `json:"items,omitempty"`
}

// property is one field of an object.
type property struct {
	name   string
	schema *schema
}

// properties keep the order of the contract: a model writes the fields in the order of its schema.
type properties []property

func (p properties) MarshalJSON() ([]byte, error) {
	var fields []string
	for _, one := range p {
		text, err := json.Marshal(one.schema)
		if err != nil {
			return nil, err
		}
		fields = append(fields, fmt.Sprintf("%q:%s", one.name, text))
	}
	return []byte("{" + strings.Join(fields, ",") + "}"), nil
}

// outcomeSchema is the JSON Schema of an answer to a request as a model is to write it. It keeps to what strict structured
// output takes: every field is required and nothing else may be there
// (https://platform.openai.com/docs/guides/structured-outputs#supported-schemas).
func outcomeSchema(req model.Request) (string, error) {
	all := describeType(reflect.TypeFor[model.Outcome](), "")
	asked := &schema{Type: all.Type, Additional: all.Additional, Required: wants(req)}
	for _, name := range asked.Required {
		at := slices.Index(all.Required, name)
		asked.Properties = append(asked.Properties, all.Properties[at])
	}
	text, err := json.Marshal(asked)
	if err != nil {
		return "", fmt.Errorf("encode outcome schema: %w", err)
	}
	return string(text), nil
}

// describeType is the schema of what is at path.
func describeType(t reflect.Type, path string) *schema {
	out := &schema{Description: meanings[path]}
	switch t.Kind() {
	case reflect.Pointer:
		inner := describeType(t.Elem(), path)
		inner.Type = []any{inner.Type, "null"}
		return inner
	case reflect.Struct:
		out.Type, out.Additional = "object", new(bool)
		for i := range t.NumField() {
			name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
			out.Properties = append(out.Properties, property{name, describeType(t.Field(i).Type, strings.TrimPrefix(path+"."+name, "."))})
			out.Required = append(out.Required, name)
		}
	case reflect.Slice:
		out.Type, out.Items = "array", describeType(t.Elem(), path+"[]")
	case reflect.String:
		out.Type = "string"
	case reflect.Bool:
		out.Type = "boolean"
	case reflect.Int64:
		out.Type = "integer"
	case reflect.Float64:
		out.Type = "number"
	}
	switch path {
	case "git_ops[].op":
		out.Enum = gitOps
	case "roadmap_items[].flow":
		out.Enum = itemFlows
	case "findings[].severity":
		out.Enum = []string{string(model.Must), string(model.Should), string(model.Nit)}
	}
	return out
}
