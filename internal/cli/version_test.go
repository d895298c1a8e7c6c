package cli_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// What a release tells is seen where one is built: scripts/act.d/release.
func TestTheProgramTellsWhatItIs(t *testing.T) {
	for _, args := range [][]string{{"version"}, {"--version"}} {
		assert.Regexp(t, `^mergexo dev( \(commit [0-9a-f]{40}(, with changes)?\))?\n$`, program(t, nil, args...).ok(t).out)
	}
}
