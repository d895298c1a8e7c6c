//go:build examples

package sandbox

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// unsentPayload are fields that all of GitHub's examples of an event have and the sandbox's payloads do not, and why.
var unsentPayload = map[string]string{
	"app.permissions.":         "which Apps the examples are of",
	".organization is missing": "the examples' owners are organizations, the sandbox's a person",
	".installation is missing": "the examples went to Apps",
	".issue.draft is missing":  "GitHub's for pull requests: the examples are of some",
}

func isUnsent(what string) bool {
	for part := range unsentPayload {
		if strings.Contains(what, part) {
			return true
		}
	}
	return false
}

// allHave are the paths that all of these have, with all types that they have there.
func allHave(all []kinds) kinds {
	out := maps.Clone(all[0])
	for path := range out {
		types := map[string]bool{}
		for _, k := range all {
			if k[path] == nil {
				delete(out, path)
			}
			maps.Copy(types, k[path])
		}
		if out[path] != nil {
			out[path] = types
		}
	}
	return out
}

// The sandbox's payloads have what all of GitHub's own examples of that event and action have, down to the last object, and
// of the same types.
func TestPayloadsHaveTheShapeOfGitHubs(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join(os.Getenv("MERGEXO_WEBHOOK_EXAMPLES"), "api.github.com", "index.json"))
	require.NoError(t, err)
	var events []struct {
		Name     string
		Examples []map[string]any
	}
	require.NoError(t, json.Unmarshal(raw, &events))
	theirs := map[string][]kinds{}
	for _, e := range events {
		for _, x := range e.Examples {
			k := kinds{}
			k.add("", x)
			theirs[named(e.Name, x)] = append(theirs[named(e.Name, x)], k)
		}
	}
	w := newTown(t)
	story(w)
	compared := map[string]bool{}
	for _, d := range w.as("", "GET", "/_sandbox/deliveries", nil).want(200).list() {
		payload := d["payload"].(obj)
		name := named(d["event"].(string), payload)
		if len(theirs[name]) == 0 {
			continue
		}
		ours := kinds{}
		ours.add("", payload)
		for _, l := range lacking(allHave(theirs[name]), ours) {
			if !isUnsent(l) && !compared[name] {
				assert.Fail(t, l, name)
			}
		}
		compared[name] = true
	}
	assert.Greater(t, len(compared), 25)
}

func named(event string, payload map[string]any) string {
	if action, ok := payload["action"].(string); ok {
		return event + "." + action
	}
	return event
}
