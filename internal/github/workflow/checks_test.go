package workflow_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/github/workflow"
	"github.com/mergexo/mergexo/internal/must"
)

func TestARequiredCheckThatTheTrainWouldNotGetIsNamed(t *testing.T) {
	const branch = "mergexo/train/main/1"
	pull := func(jobs string) workflow.File {
		return workflow.File{Path: "ci.yml", Text: "on: pull_request\njobs:\n" + jobs}
	}
	lint := workflow.File{Path: "lint.yml", Text: "on: push\njobs: {lint: {}}\n"}
	type row struct {
		files       []workflow.File
		required    []string
		check, path string
		seen        workflow.Reported
	}
	must.Each(t, map[string]row{
		"by its id":                             {[]workflow.File{lint, pull("  test: {}\n")}, []string{"lint", "test"}, "test", "ci.yml", nil},
		"by its name":                           {[]workflow.File{pull("  a: {name: All tests}\n")}, []string{"All tests"}, "All tests", "ci.yml", nil},
		"the id of a named one":                 {[]workflow.File{pull("  a: {name: All tests}\n")}, []string{"a"}, "", "", nil},
		"of a matrix":                           {[]workflow.File{pull("  test: {}\n")}, []string{"test (1.26, linux)"}, "test (1.26, linux)", "ci.yml", nil},
		"of a called workflow":                  {[]workflow.File{pull("  all: {uses: ./.github/workflows/x.yml}\n")}, []string{"all / unit"}, "all / unit", "ci.yml", nil},
		"of no called workflow":                 {[]workflow.File{pull("  all: {}\n")}, []string{"all / unit"}, "", "", nil},
		"of an expression":                      {[]workflow.File{pull("  a: {name: \"t ${{ matrix.go }}\"}\n")}, []string{"t 1"}, "", "", nil},
		"perhaps of another":                    {[]workflow.File{pull("  ci: {}\n"), {Path: "x.yml", Text: "on: push\njobs: {a: {name: \"${{ 1 }}\"}}\n"}}, []string{"ci"}, "", "", nil},
		"somebody else's":                       {[]workflow.File{lint, pull("  a: {}\n")}, []string{"ci/other"}, "", "", nil},
		"another one has it":                    {[]workflow.File{pull("  lint: {}\n"), lint}, []string{"lint"}, "", "", nil},
		"it is no workflow":                     {[]workflow.File{{Path: "x.yml", Text: "]"}}, []string{"lint"}, "", "", nil},
		"nobody's":                              {[]workflow.File{lint}, []string{"lint", "ci"}, "ci", "", workflow.Reported{}},
		"nobody's, beside others'":              {[]workflow.File{lint}, []string{"ci/other", "ci"}, "ci", "", workflow.Reported{"ci/other": true}},
		"of a deaf one, and others' are heard":  {[]workflow.File{lint, pull("  test: {}\n")}, []string{"ci/other", "test"}, "test", "ci.yml", workflow.Reported{"ci/other": true, "test": false}},
		"of a deaf one, and of another service": {[]workflow.File{lint, pull("  test: {}\n")}, []string{"test"}, "", "", workflow.Reported{"test": true}},
		"of a workflow without a file":          {[]workflow.File{lint}, []string{"Analyze (go)"}, "", "", workflow.Reported{"Analyze (go)": false}},
		"perhaps of an expression":              {[]workflow.File{pull("  a: {name: \"${{ 1 }}\"}\n")}, []string{"ci"}, "", "", workflow.Reported{}},
	}, func(t *testing.T, c row) {
		check, path := workflow.Deaf(c.files, branch, c.required, c.seen)
		assert.Equal(t, c.check, check)
		assert.Equal(t, c.path, path)
	})
}
