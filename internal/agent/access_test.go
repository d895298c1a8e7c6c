package agent_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/agent"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
)

func TestAModelsKeyIsForTheProxyAlone(t *testing.T) {
	t.Parallel()
	world := map[string]string{
		"CODEX_API_KEY": "sk-c\n", "OPENAI_API_KEY": "sk-o", "OPENAI_BASE_URL": "https://o.example.com/v1", "ANTHROPIC_API_KEY": "sk-a", "ANTHROPIC_AUTH_TOKEN": "t",
		"ANTHROPIC_BASE_URL": " ",
	}
	lookup := func(name string) (string, bool) { v, ok := world[name]; return v, ok }
	codex, claude := agent.Access(lookup, "codex"), agent.Access(lookup, "claude")
	assert.Equal(t, []string{"OPENAI_BASE_URL=https://o.example.com/v1", "OPENAI_API_KEY=sk-o", "CODEX_API_KEY=sk-c"}, codex)
	assert.Equal(t, []string{"ANTHROPIC_API_KEY=sk-a", "ANTHROPIC_AUTH_TOKEN=t"}, claude)
	assert.Equal(t, []string{"sk-o", "sk-c"}, agent.Keys(codex))
	assert.Equal(t, []string{"sk-a", "t"}, agent.Keys(claude))
	for _, other := range []string{"command", "suggestion", "unknown"} {
		assert.Empty(t, agent.Access(lookup, other))
	}
}

func TestAModelsKeyDoesNotGetInByTheBackDoor(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"CODEX_API_KEY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "anthropic_api_key"} {
		for _, adapter := range []string{"codex", "claude"} {
			assert.EqualError(t, agent.CheckPass(adapter, []string{"OK", name}), `pass_env: "`+name+`" cannot be passed to `+adapter+
				": MergeXO keeps the model's key and adds it to the agent's requests. Remove the name: its value in the env of MergeXO's step is enough")
		}
		assert.NoError(t, agent.CheckPass("command", []string{name}))
	}
	_, err := agent.New(agent.Options{Adapter: "codex", Env: []string{"PATH=/bin", "OPENAI_API_KEY=x"}})
	assert.EqualError(t, err, "environment of the agent: OPENAI_API_KEY must not be in it")
	assert.NoError(t, must.Err(agent.New(agent.Options{Adapter: "command", Command: []string{"x"}, Env: []string{"OPENAI_API_KEY=x"}})))
}

func TestAccessThatCannotBeUsedIsAMistake(t *testing.T) {
	t.Parallel()
	for want, opt := range map[string]agent.Options{
		"OPENAI_BASE_URL: it has more than a host and a path: leave out name, password, query and fragment, as in https://x.test/v1": {
			Adapter: "codex", Access: []string{"OPENAI_BASE_URL=https://me:hidden@x.test/v1"},
		},
		"ANTHROPIC_BASE_URL: it is not the address of a server: want one such as https://gateway.example.com/v1": {
			Adapter: "claude", Access: []string{"ANTHROPIC_BASE_URL=x.test"},
		},
		"ANTHROPIC_API_KEY: a key must be one word of ASCII: check it for a line break": {
			Adapter: "claude", Access: []string{"ANTHROPIC_API_KEY=sk-one\r\nX-Other: sk-two"},
		},
	} {
		assert.EqualError(t, must.Err(agent.New(opt)), want)
	}
}

func TestANetworkThatCannotBeHeldIsAMistake(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		network model.Network
		want    string
	}{
		{model.Network{Model: true}, `network = "model": this runner cannot keep agents and tests from the network (isolation is none: `},
		{model.Network{Model: true, Hosts: []string{"a.example.com", "b.example.com"}}, `network = ["a.example.com", "b.example.com"]: this runner cannot keep `},
	} {
		for _, i := range []*agent.Isolation{nil, {Level: agent.LevelNone}} {
			err := i.Holds(c.network)
			require.ErrorContains(t, err, c.want)
			opt := agent.Options{Env: []string{"PATH=/bin:/usr/bin"}, Network: c.network, Isolation: i}
			assert.EqualError(t, agent.RunTests(t.Context(), t.TempDir(), []string{"true"}, opt), "agent: "+err.Error(), "nothing runs")
			assert.NoError(t, i.Holds(model.Network{}))
		}
	}
}

// A key is needed unless the settings name another provider.
func TestNoKey(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		opt  agent.Options
		want string
	}{
		"codex":                       {agent.Options{Adapter: "codex"}, "OPENAI_API_KEY"},
		"a gateway takes a key too":   {agent.Options{Adapter: "codex", Access: []string{"OPENAI_BASE_URL=https://o.example.com/v1"}}, "OPENAI_API_KEY"},
		"the other name":              {agent.Options{Adapter: "codex", Access: []string{"CODEX_API_KEY=sk"}}, ""},
		"codex on this machine":       {agent.Options{Adapter: "codex", ExtraArgs: []string{"--oss"}}, ""},
		"codex's own provider":        {agent.Options{Adapter: "codex", ExtraArgs: []string{"-c", `model_provider="x"`}}, ""},
		"the same in one word":        {agent.Options{Adapter: "codex", ExtraArgs: []string{"--config=model_provider=x"}}, ""},
		"a provider that is not used": {agent.Options{Adapter: "codex", ExtraArgs: []string{"-c", "model_providers.x={}"}}, "OPENAI_API_KEY"},
		"claude":                      {agent.Options{Adapter: "claude", Env: []string{"PATH=/bin", "CLAUDE_CODE_USE_BEDROCK="}}, "ANTHROPIC_API_KEY"},
		"a token":                     {agent.Options{Adapter: "claude", Access: []string{"ANTHROPIC_AUTH_TOKEN=t"}}, ""},
		"claude at Bedrock":           {agent.Options{Adapter: "claude", Env: []string{"CLAUDE_CODE_USE_BEDROCK=1"}}, ""},
		"a program":                   {agent.Options{Adapter: "command"}, ""},
		"no model":                    {agent.Options{Adapter: "suggestion"}, ""},
	} {
		assert.Equal(t, c.want, agent.NoKey(c.opt), name)
	}
}
