package thread

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/model"
)

func TestEachPhaseDoesItsOwn(t *testing.T) {
	does := ByPhase[string]{Whole: "all", Agent: "answer", Apply: "land"}
	for phase, want := range map[Phase]string{WholeRun: "all", AgentPhase: "answer", ApplyPhase: "land"} {
		assert.Equal(t, want, does.Of(phase), "phase %q", phase)
	}
}

func TestARequestToMergeLooksAgainWhereItMayGoOn(t *testing.T) {
	pull := model.Pull{State: model.PullOpen, HeadSHA: "a", BaseRef: "main", Rollup: "PENDING", Labels: []string{"x", "y"}}
	before := Looked(pull, model.State{}, model.CodeChecks)
	same := pull
	same.Labels, same.Title = []string{"y", "x"}, "another"
	assert.Equal(t, before, Looked(same, model.State{}, model.CodeChecks), "neither the order of labels nor the title is anything to it")
	for name, change := range map[string]func(*model.Pull, *model.State){
		"closed":            func(p *model.Pull, _ *model.State) { p.State = model.PullClosed },
		"head":              func(p *model.Pull, _ *model.State) { p.HeadSHA = "b" },
		"base":              func(p *model.Pull, _ *model.State) { p.BaseRef = "next" },
		"checks":            func(p *model.Pull, _ *model.State) { p.Rollup = "SUCCESS" },
		"one of the checks": func(p *model.Pull, _ *model.State) { p.CheckCounts = "0 SUCCESS 1\n" },
		"many reviews":      func(p *model.Pull, _ *model.State) { p.Reviews = 10 },
		"draft":             func(p *model.Pull, _ *model.State) { p.Draft = true },
		"reviews":           func(p *model.Pull, _ *model.State) { p.Opinions = "APPROVED" },
		"label":             func(p *model.Pull, _ *model.State) { p.Labels = []string{"x"} },
		"block":             func(_ *model.Pull, s *model.State) { s.Block = &model.Posted[model.BlockMarker]{} },
		"rewrite":           func(_ *model.Pull, s *model.State) { s.Accepted = "0" },
		"paused":            func(_ *model.Pull, s *model.State) { s.Paused = &model.Posted[model.CommandMarker]{} },
	} {
		p, s := pull, model.State{}
		change(&p, &s)
		assert.NotEqual(t, before, Looked(p, s, model.CodeChecks), name)
	}
}
