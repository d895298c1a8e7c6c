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
	}{
		"by its id":             {[]doctor.File{lint, pull("  test: {}\n")}, []string{"lint", "test"}, "test", "ci.yml"},
		"by its name":           {[]doctor.File{pull("  a: {name: All tests}\n")}, []string{"All tests"}, "All tests", "ci.yml"},
		"the id of a named one": {[]doctor.File{pull("  a: {name: All tests}\n")}, []string{"a"}, "", ""},
		"of a matrix":           {[]doctor.File{pull("  test: {}\n")}, []string{"test (1.26, linux)"}, "test (1.26, linux)", "ci.yml"},
		"of a called workflow":  {[]doctor.File{pull("  all: {uses: ./.github/workflows/x.yml}\n")}, []string{"all / unit"}, "all / unit", "ci.yml"},
		"of no called workflow": {[]doctor.File{pull("  all: {}\n")}, []string{"all / unit"}, "", ""},
		"of an expression":      {[]doctor.File{pull("  a: {name: \"t ${{ matrix.go }}\"}\n")}, []string{"t 1"}, "", ""},
		"perhaps of another":    {[]doctor.File{pull("  ci: {}\n"), {Path: "x.yml", Text: "on: push\njobs: {a: {name: \"${{ 1 }}\"}}\n"}}, []string{"ci"}, "", ""},
		"somebody else's":       {[]doctor.File{lint, pull("  a: {}\n")}, []string{"ci/other"}, "", ""},
		"another one has it":    {[]doctor.File{pull("  lint: {}\n"), lint}, []string{"lint"}, "", ""},
		"it is no workflow":     {[]doctor.File{{Path: "x.yml", Text: "]"}}, []string{"lint"}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			check, path := doctor.Deaf(c.files, branch, c.required)
			assert.Equal(t, c.check, check)
			assert.Equal(t, c.path, path)
		})
	}
}
