package doctor

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/mergexo/mergexo/internal/must"
)

// free are the parts of the workflow that people may leave out or write as they like.
var free = regexp.MustCompile(`^name$|\.name$|\.description$|^permissions$|\.env\b|\.run$|jobs\.(dashboard|pages)\b|cancel-in-progress$|\.token$` +
	`|\.with\.(if-no-files-found|overwrite|retention-days|include-hidden-files|merge-multiple)$|\.workflows\[|steps\[\d+\]\.continue-on-error|\.steps\[\d+\]$` +
	`|on\.schedule\[\d\]$|on\.(issue_comment|issues|workflow_run|check_run|pull_request_review|pull_request_review_comment)\.types$|jobs\.plan\.runs-on$|jobs\.(mergexo|apply)\.steps\[\d\]\.id$`)

// ownTokens are parts for the workflow's own token.
var ownTokens = regexp.MustCompile(`permissions|signing-key`)

// part is a place of a document, and how it comes out of it.
type part struct {
	path string
	drop func()
}

// partsOf are the parts of a document: entries of mappings, items of lists, and what an if: joins by &&.
func partsOf(n *yaml.Node, path string) (all []part) {
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i].Value, n.Content[i+1]
		at := strings.TrimPrefix(path+"."+key, ".")
		all = append(all, part{at, func() { n.Content = slices.Delete(n.Content, i, i+2) }})
		all = append(all, partsOf(value, at)...)
		if key != "if" {
			continue
		}
		clauses, _ := clauses(value.Value)
		for j, c := range clauses {
			rest := slices.Delete(slices.Clone(clauses), j, j+1)
			all = append(all, part{fmt.Sprintf("%s %s", at, c.text), func() {
				var texts []string
				for _, r := range rest {
					texts = append(texts, "("+r.text+")")
				}
				value.Value = strings.Join(append(texts, "true"), " && ")
			}})
		}
	}
	for i := 0; n.Kind == yaml.SequenceNode && i < len(n.Content); i++ {
		at := fmt.Sprintf("%s[%d]", path, i)
		all = append(all, part{at, func() { n.Content = slices.Delete(n.Content, i, i+1) }})
		all = append(all, partsOf(n.Content[i], at)...)
	}
	return all
}

// Whatever is missing of the workflow that init writes, doctor finds. What the templates get is compared too.
func TestEveryPartThatIsMissingIsFound(t *testing.T) {
	must.Each(t, map[string]Choice{
		"one job": {Key: "MODEL_API_KEY", CI: []string{"CI"}}, "split": {Key: "MODEL_API_KEY", CI: []string{"CI"}, Split: true},
		"train": {Key: "MODEL_API_KEY", CI: []string{"CI"}, App: true, Services: true, Bases: []string{"main"}},
	}, func(t *testing.T, c Choice) {
		f := healthy()
		f.Settings.CI, f.Settings.Train = "all_complete", c.App
		f.Settings.RequiredChecks = []string{"cla@cla-bot"}
		f.Hub.Secrets.All = append(f.Hub.Secrets.All, "MERGEXO_PRIVATE_KEY")
		otherWorkflow("name: CI\non: [push, pull_request]\njobs:\n  test: {runs-on: ubuntu-latest}\n")(t, &f)
		bad := func(text string) (out []Finding) {
			f.Workflows[0].Text = text
			return slices.DeleteFunc(Diagnose(f), func(found Finding) bool { return found.Level == OK })
		}
		var first yaml.Node
		require.NoError(t, yaml.Unmarshal([]byte(c.Workflow()), &first))
		before := bad(c.Workflow())
		tried := 0
		for i, p := range partsOf(first.Content[0], "") {
			if free.MatchString(p.path) || c.App && ownTokens.MatchString(p.path) {
				continue
			}
			var doc yaml.Node
			require.NoError(t, yaml.Unmarshal([]byte(c.Workflow()), &doc))
			partsOf(doc.Content[0], "")[i].drop()
			text := must.Get(yaml.Marshal(&doc))(t)
			assert.True(t, slices.ContainsFunc(bad(string(text)), func(found Finding) bool {
				return !slices.ContainsFunc(before, func(b Finding) bool { return b.Rule == found.Rule && b.Fix == found.Fix })
			}), "nobody misses %s", p.path)
			tried++
		}
		assert.Greater(t, tried, 80)
	})
}
