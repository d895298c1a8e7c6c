package git

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestOfAJobsFiltersOnlyCommandsOfGitLFSAreSafe(t *testing.T) {
	t.Parallel()
	for setting, safe := range map[Setting]bool{
		{"filter.lfs.clean", "git-lfs clean -- %f"}:               true,
		{"filter.lfs.smudge", "git-lfs smudge --skip -- %f"}:      true,
		{"filter.lfs.process", "git lfs filter-process --skip"}:   true,
		{"filter.lfs.required", "true"}:                           true,
		{"filter.other.clean", ""}:                                true,
		{"filter.a.clean.b.smudge", "git-lfs smudge -- %f"}:       true,
		{"filter.lfs.clean", "git-lfs clean -- %f; sh tool.sh"}:   false,
		{"filter.lfs.clean", "./git-lfs clean -- %f"}:             false,
		{"filter.lfs.process", "git-lfs filter-process\nsh x.sh"}: false,
		{"filter.lfs.smudge", "cat"}:                              false,
		{"filter.tool.clean", "python -m tool"}:                   false,
	} {
		assert.Equal(t, safe, safeFilter(setting), setting)
	}
}
