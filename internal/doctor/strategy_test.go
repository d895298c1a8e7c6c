package doctor

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/model"
)

func TestInitChoosesAStrategyThatTheBranchAccepts(t *testing.T) {
	demands := func(kinds ...model.DemandKind) (list []model.Demand) {
		for _, k := range kinds {
			list = append(list, model.Demand{Kind: k})
		}
		return list
	}
	for name, c := range map[string]struct {
		was     string
		methods []string
		demands []model.Demand
		app     bool
		want    string
	}{
		"nothing known":                      {want: "rebase"},
		"all allowed":                        {methods: []string{"merge", "squash", "rebase"}, want: "rebase"},
		"only squash allowed":                {methods: []string{"squash"}, want: "squash"},
		"only merge commits allowed":         {methods: []string{"merge"}, want: "no-ff"},
		"only merge commits, none accepted":  {methods: []string{"merge"}, demands: demands(model.DemandLinear), want: "rebase"},
		"a pull request demanded":            {methods: []string{"squash"}, demands: demands(model.DemandPull), want: "api"},
		"checks demanded":                    {demands: demands(model.DemandChecks), want: "api"},
		"checks demanded, with an App":       {demands: demands(model.DemandChecks), app: true, want: "rebase"},
		"GitHub's queue":                     {demands: demands(model.DemandPull, model.DemandQueue), want: "github-queue"},
		"the workflow's bot may push":        {demands: []model.Demand{{Kind: model.DemandPushers, Names: []string{workflowBot}}}, want: "rebase"},
		"locked":                             {demands: demands(model.DemandLocked), want: "rebase"},
		"chosen before":                      {was: "cherry-pick", methods: []string{"squash"}, want: "cherry-pick"},
		"chosen before, and let through":     {was: "rebase", demands: []model.Demand{{Kind: model.DemandPull, Bypass: true}}, app: true, want: "rebase"},
		"chosen before, and not for a token": {was: "rebase", demands: []model.Demand{{Kind: model.DemandPull, Bypass: true}}, want: "api"},
		"chosen before, and refused":         {was: "no-ff", demands: demands(model.DemandLinear), want: "rebase"},
	} {
		f := model.RepositoryFacts{Methods: c.methods, Demands: model.BranchDemands{Known: true, List: c.demands}}
		assert.Equal(t, c.want, StrategyFor(c.was, f, c.app), name)
		if why, _ := Refused(c.want, f, c.app); name != "locked" {
			assert.Empty(t, why, name)
		}
	}
	f := model.RepositoryFacts{DefaultBranch: "main", Demands: model.BranchDemands{Known: true, List: []model.Demand{{Kind: model.DemandPushers, Names: []string{"octo"}, Source: "branch protection"}}}}
	why, _ := Refused("rebase", f, false)
	assert.Equal(t, "only octo may push to main (branch protection)", why)
}
