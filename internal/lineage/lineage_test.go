package lineage_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/lineage"
	"github.com/mergexo/mergexo/internal/model"
)

func TestHistoryMayGrowAndNothingElse(t *testing.T) {
	for relation, want := range map[model.Relation]lineage.Decision{
		model.Identical: lineage.Pass, model.Ahead: lineage.Pass,
		model.Behind: lineage.Block, model.Diverged: lineage.Block,
		model.Unknown: lineage.Resolve, "": lineage.Resolve, "something new": lineage.Resolve,
	} {
		assert.Equal(t, want, lineage.Decide(relation), relation)
	}
}
