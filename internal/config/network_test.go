package config

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/model"
)

func TestNetwork(t *testing.T) {
	read := func(value string) (model.Network, string) {
		s, err := Parse("[agent]\nadapter = \"suggestion\"\nnetwork = "+value+"\n", source)
		if err != nil {
			return model.Network{}, err.Error()
		}
		return s.Agent.Network, ""
	}
	for value, want := range map[string]model.Network{
		`"open"`: {}, `"model"`: {Model: true}, `["b.example.com", "A.example.com"]`: {Model: true, Hosts: []string{"a.example.com", "b.example.com"}},
		`["packages", "model"]`: {Model: true, Packages: true}, `["packages", "a.example.com"]`: {Model: true, Packages: true, Hosts: []string{"a.example.com"}}, `["model"]`: {Model: true}, `["registry"]`: {Model: true, Hosts: []string{"registry"}}, `["xn--bcher-kva.example"]`: {Model: true, Hosts: []string{"xn--bcher-kva.example"}},
	} {
		got, problem := read(value)
		assert.Empty(t, problem, value)
		assert.Equal(t, want, got, value)
	}
	for value, want := range map[string]string{
		`"modle"`:                                `agent.network: want "open", "model", or a list such as ["model", "packages", "api.example.com"], got "modle"`,
		`"none"`:                                 `agent.network: want "open", "model", or a list such as ["model", "packages", "api.example.com"], got "none"`,
		`true`:                                   `agent.network: want "open", "model", or a list such as ["model", "packages", "api.example.com"], got true`,
		`[]`:                                     `agent.network: an empty list: write "model" for nothing besides the model`,
		`["open", "packages"]`:                   `agent.network: "open" in a list: write "open" alone`,
		`["model", 1]`:                           "agent.network: item 2: want",
		`["` + strings.Repeat("a.", 130) + `a"]`: "agent.network: item 1: want the name of a host",
	} {
		_, problem := read(value)
		assert.Contains(t, problem, want, value)
	}
	for _, n := range []model.Network{{}, {Model: true}, {Model: true, Packages: true}, {Model: true, Packages: true, Hosts: []string{"a.example.com"}}, {Model: true, Hosts: []string{"a.example.com", "b.example.com"}}} {
		again, problem := read(n.String())
		assert.Empty(t, problem)
		assert.Equal(t, n, again, "it is written as it is read")
	}
}
