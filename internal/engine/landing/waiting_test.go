package landing

import (
	"testing"
	"time"

	"github.com/mergexo/mergexo/internal/config"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/stretchr/testify/assert"
)

func TestARequestToMergeLooksAgainWhereItMayGoOn(t *testing.T) {
	pull := model.Pull{State: model.PullOpen, HeadSHA: "a", BaseRef: "main", Rollup: "PENDING", Labels: []string{"x", "y"}}
	settings, noon := config.Defaults(), time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	on := func(p model.Pull, s model.State, reason model.MergeCode) string {
		t := &thread.Thread{State: s, Settings: settings}
		t.Snap.Pull, t.Snap.ReadAt = p, noon
		return looked(t, reason)
	}
	before := on(pull, model.State{}, model.CodeChecks)
	same := pull
	same.Labels, same.Title = []string{"y", "x"}, "another"
	assert.Equal(t, before, on(same, model.State{}, model.CodeChecks), "neither the order of labels nor the title is anything to it")
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
		assert.NotEqual(t, before, on(p, s, model.CodeChecks), name)
	}
	settings.Merge.Approvals++
	assert.NotEqual(t, before, on(pull, model.State{}, model.CodeChecks), "other settings")
	settings = config.Defaults()
	noon = noon.AddDate(0, 0, 1)
	assert.NotEqual(t, before, on(pull, model.State{}, model.CodeChecks), "another day")
}
