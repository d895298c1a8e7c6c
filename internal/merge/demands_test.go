package merge_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/merge"
	"github.com/mergexo/mergexo/internal/model"
)

// Checks and signatures are of one commit: the head has them, and what was made of it has not.
func TestWhatTheRulesAskOfTheCommitOnlyTheHeadHas(t *testing.T) {
	t.Parallel()
	facts := ready().Facts
	rebase, squash := merge.Way{Strategy: model.StrategyRebase}, merge.Way{Strategy: model.StrategySquash}
	for kind, says := range map[model.DemandKind]string{
		model.DemandChecks:     `ruleset 42 of branch "main" accepts only commits that have passed ci, and strategy squash would push cccccccccc, which is not the head and does not have that; strategy=api lets GitHub merge instead`,
		model.DemandSignatures: `ruleset 42 of branch "main" accepts only signed commits, and strategy squash would push cccccccccc, which is not the head and does not have that; strategy=api lets GitHub merge instead`,
	} {
		facts.Demands = []model.Demand{{Kind: kind, Source: "ruleset 42"}}
		if kind == model.DemandChecks {
			facts.Demands[0].Names = []string{"ci"}
		}
		assert.Empty(t, merge.RefusedBy(squash, pull(), facts, b), "it is the head")
		assert.Equal(t, says, merge.RefusedBy(squash, pull(), facts, c))
		assert.Contains(t, merge.RefusedBy(rebase, pull(), facts, c), `a branch that is up to date with "main" lands unchanged`)
		assert.Empty(t, merge.RefusedBy(merge.Way{Strategy: model.StrategyAPI}, pull(), facts, c))
	}
	facts.Demands = []model.Demand{{Kind: model.DemandLinear}, {Kind: "deletion"}}
	assert.Empty(t, merge.RefusedBy(rebase, pull(), facts, c), "neither holds for a push of these")
}
