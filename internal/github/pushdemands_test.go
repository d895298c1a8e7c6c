package github

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
)

// What holds for a push depends on whose it is, and each token sees another part of it.
func TestPushDemands(t *testing.T) {
	w := newWorld(t)
	admin, writer := Pusher{Login: "octo", Administers: true}, Pusher{Login: "grace"}
	demands := func(login string, who Pusher) []model.Demand {
		t.Helper()
		return must.Get(w.client(login).Repositories.PushDemands(t.Context(), widgets, "main", who))(t)
	}
	classic := model.Demand{Kind: model.DemandChecks, Source: "branch protection", Names: []string{"ci"}}
	assert.Empty(t, demands("octo", admin))
	assert.Empty(t, demands("grace", writer))

	w.control("protection", map[string]any{"checks": []string{"ci"}, "approvals": 1, "push": []string{"octo"}})
	assert.Equal(t, []model.Demand{{Kind: model.DemandPull, Source: "branch protection"}, classic}, demands("octo", admin), "who may push is told by name")
	assert.Equal(t, []model.Demand{classic}, demands("grace", writer), "the rest is for administrators")
	assert.Empty(t, demands("grace", Pusher{Login: "grace", RuleKnown: true}), "it was told already")

	w.control("protection", map[string]any{"checks": []string{"ci"}, "pull": true, "ruleset": 42, "bypass": []string{"grace"}})
	assert.Empty(t, demands("grace", writer), "it may bypass the ruleset")
	assert.Equal(t, []model.Demand{
		{Kind: model.DemandPull, Source: "ruleset 42", Bypass: true, Ruleset: 42},
		{Kind: model.DemandChecks, Source: "ruleset 42", Names: []string{"ci"}, Bypass: true, Ruleset: 42},
	}, demands("octo", admin), "administrators may not, unless it says so")
}

// What keeps a head from being rewritten costs one call where nothing protects it.
func TestHeadDemands(t *testing.T) {
	w, _ := newPull(t)
	demands := func(login, cost string) []model.Demand {
		t.Helper()
		c := w.client(login)
		list := must.Get(c.Repositories.HeadDemands(t.Context(), widgets, "agent/7"))(t)
		assert.NotNil(t, list, "it was asked")
		assert.Equal(t, cost, calls(c))
		return list
	}
	bar := func(rules map[string]any) { rules["branch"] = "agent/7"; w.control("protection", rules) }
	assert.Empty(t, demands("grace", "1 REST, 0 GraphQL"))
	bar(map[string]any{"linear": true})
	assert.Equal(t, []model.Demand{{Kind: model.DemandForce, Source: "branch protection"}}, demands("octo", "1 REST, 0 GraphQL"))
	bar(map[string]any{"signed": true, "ruleset": 42, "bypass": []string{"grace"}})
	assert.Empty(t, demands("grace", "3 REST, 0 GraphQL"), "it may bypass the ruleset")
	assert.Equal(t, []model.Demand{
		{Kind: model.DemandForce, Source: "ruleset 42", Bypass: true, Ruleset: 42}, {Kind: model.DemandSignatures, Source: "ruleset 42", Bypass: true, Ruleset: 42},
	}, demands("ada", "3 REST, 0 GraphQL"))

	for status, fails := range map[int]bool{403: false, 404: false, 502: true} {
		_, err := dial(t, Options{}, reply{status, `{"message": "no"}`, nil}).Repositories.HeadDemands(t.Context(), widgets, "agent/7")
		assert.Equal(t, fails, err != nil, status)
	}
}

func TestPushDemandsThatAreNotTold(t *testing.T) {
	const rules = `[{"type": "pull_request", "ruleset_source_type": "Repository", "ruleset_source": "octo/widgets", "ruleset_id": 42}]`
	ask := func(who Pusher, bodies map[string]string) ([]model.Demand, error) {
		return answers(t, nil, bodies).Repositories.PushDemands(t.Context(), widgets, "main", who)
	}
	list := must.Get(ask(Pusher{}, map[string]string{}))(t, "an older server knows no rulesets")
	assert.Empty(t, list)

	list = must.Get(ask(Pusher{}, map[string]string{"/rules/branches/main": rules, "/branches/main": branchBody(t, false)}))(t)
	assert.Len(t, list, 1, "who is not told that it may bypass may not")

	l := dial(t, Options{}, reply{200, `[`, nil})
	require.Error(t, must.Err(l.Repositories.PushDemands(t.Context(), widgets, "main", Pusher{})), "nobody knows what an answer that was cut would have said")
}

// Branch protection that leaves administrators out holds for them not at all.
func TestPushDemandsOfProtectionThatLeavesAdministratorsOut(t *testing.T) {
	bodies := map[string]string{"/rules/branches/main": "[]", "/branches/main": branchBody(t, true), "/branches/main/protection": `{"url": "http://x",
		"enforce_admins": {"url": "http://x", "enabled": false},
		"required_status_checks": {"url": "http://x", "strict": true, "contexts": ["ci"], "contexts_url": "http://x", "checks": []}}`}
	assert.Empty(t, must.Get(answers(t, nil, bodies).Repositories.PushDemands(t.Context(), widgets, "main", Pusher{Administers: true}))(t))
}
