package github

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/model"
)

func TestDemandsOnABranchThatIsNotThere(t *testing.T) {
	c := answers(t, nil, map[string]string{
		"/rules/branches/agent/small/1-x": `[{"type": "creation", "ruleset_id": 4}, {"type": "deletion", "ruleset_id": 4}, {"type": "non_fast_forward", "ruleset_id": 4},
			{"type": "branch_name_pattern", "ruleset_id": 5, "parameters": {"operator": "starts_with", "pattern": "feature/"}}, {"type": "required_linear_history", "ruleset_id": 5}]`,
	})
	assert.Equal(t, model.BranchDemands{Known: true, List: []model.Demand{
		{Kind: model.DemandCreators, Source: "ruleset 4", Bypass: true, Ruleset: 4},
		{Kind: model.DemandDeleters, Source: "ruleset 4", Bypass: true, Ruleset: 4},
		{Kind: model.DemandForce, Source: "ruleset 4", Bypass: true, Ruleset: 4},
		{Kind: model.DemandName, Source: "ruleset 5", Bypass: true, Ruleset: 5},
	}}, c.Repositories.NewBranchDemands(t.Context(), widgets, "agent/small/1-x"))
	assert.Equal(t, model.BranchDemands{Why: "GitHub does not show it to this token"}, c.Repositories.NewBranchDemands(t.Context(), widgets, "agent/small/2-y"))

	sandbox := newWorld(t).client("actions")
	assert.Equal(t, model.BranchDemands{Known: true}, sandbox.Repositories.NewBranchDemands(t.Context(), widgets, "mergexo/checkpoint/1/x"))
	assert.Equal(t, "1 REST, 0 GraphQL", calls(sandbox))
}
