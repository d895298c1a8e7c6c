package doctor_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/doctor"
)

func TestARequiredCheckThatTheTrainWouldNotGetIsNamed(t *testing.T) {
	const branch = "mergexo/train/main/1"
	pull := func(jobs string) doctor.File {
		return doctor.File{Path: "ci.yml", Text: "on: pull_request\njobs:\n" + jobs}
	}
	lint := doctor.File{Path: "lint.yml", Text: "on: push\njobs: {lint: {}}\n"}
	for name, c := range map[string]struct {
		files       []doctor.File
		required    []string
		check, path string
		seen        doctor.Reported
	}{
		"by its id":                             {[]doctor.File{lint, pull("  test: {}\n")}, []string{"lint", "test"}, "test", "ci.yml", nil},
		"by its name":                           {[]doctor.File{pull("  a: {name: All tests}\n")}, []string{"All tests"}, "All tests", "ci.yml", nil},
		"the id of a named one":                 {[]doctor.File{pull("  a: {name: All tests}\n")}, []string{"a"}, "", "", nil},
		"of a matrix":                           {[]doctor.File{pull("  test: {}\n")}, []string{"test (1.26, linux)"}, "test (1.26, linux)", "ci.yml", nil},
		"of a called workflow":                  {[]doctor.File{pull("  all: {uses: ./.github/workflows/x.yml}\n")}, []string{"all / unit"}, "all / unit", "ci.yml", nil},
		"of no called workflow":                 {[]doctor.File{pull("  all: {}\n")}, []string{"all / unit"}, "", "", nil},
		"of an expression":                      {[]doctor.File{pull("  a: {name: \"t ${{ matrix.go }}\"}\n")}, []string{"t 1"}, "", "", nil},
		"perhaps of another":                    {[]doctor.File{pull("  ci: {}\n"), {Path: "x.yml", Text: "on: push\njobs: {a: {name: \"${{ 1 }}\"}}\n"}}, []string{"ci"}, "", "", nil},
		"somebody else's":                       {[]doctor.File{lint, pull("  a: {}\n")}, []string{"ci/other"}, "", "", nil},
		"another one has it":                    {[]doctor.File{pull("  lint: {}\n"), lint}, []string{"lint"}, "", "", nil},
		"it is no workflow":                     {[]doctor.File{{Path: "x.yml", Text: "]"}}, []string{"lint"}, "", "", nil},
		"nobody's":                              {[]doctor.File{lint}, []string{"lint", "ci"}, "ci", "", doctor.Reported{}},
		"nobody's, beside others'":              {[]doctor.File{lint}, []string{"ci/other", "ci"}, "ci", "", doctor.Reported{"ci/other": true}},
		"of a deaf one, and others' are heard":  {[]doctor.File{lint, pull("  test: {}\n")}, []string{"ci/other", "test"}, "test", "ci.yml", doctor.Reported{"ci/other": true, "test": false}},
		"of a deaf one, and of another service": {[]doctor.File{lint, pull("  test: {}\n")}, []string{"test"}, "", "", doctor.Reported{"test": true}},
		"of a workflow without a file":          {[]doctor.File{lint}, []string{"Analyze (go)"}, "", "", doctor.Reported{"Analyze (go)": false}},
		"perhaps of an expression":              {[]doctor.File{pull("  a: {name: \"${{ 1 }}\"}\n")}, []string{"ci"}, "", "", doctor.Reported{}},
	} {
		t.Run(name, func(t *testing.T) {
			check, path := doctor.Deaf(c.files, branch, c.required, c.seen)
			assert.Equal(t, c.check, check)
			assert.Equal(t, c.path, path)
		})
	}
}
