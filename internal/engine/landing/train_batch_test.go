package landing

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/train"
)

// Five hundred comments are recorded a few at a time, and what changes branches each by itself.
func TestCommentsAreRecordedTogether(t *testing.T) {
	effects := []train.Effect{train.Push{Car: 1}, train.Land{Car: 2}, train.Finish{}, train.DeleteBranch{}}
	for range 500 {
		effects = append(effects, train.Tell{})
	}
	var sizes []int
	for len(effects) > 0 {
		first := batch(effects)
		sizes, effects = append(sizes, len(first)), effects[len(first):]
	}
	assert.Equal(t, []int{1, 1, 1, 1, 20, 20}, sizes[:6])
	assert.Len(t, sizes, 4+500/20)
	assert.Empty(t, batch(nil))
}
