package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/must"
)

func TestWhatDiffersFromGitHubIsWeighed(t *testing.T) {
	of := func(who, step string, answer any) record {
		return record{Step: step, Asks: "it", Who: who, Answer: plain(answer)}
	}
	for name, c := range map[string]struct {
		github, sandbox record
		want            []difference
	}{
		"nothing":         {of("github", "refs", facts{"a": 1}), of("sandbox", "refs", facts{"a": 1}), nil},
		"a value":         {of("github", "refs", facts{"a": facts{"b": 1}}), of("sandbox", "refs", facts{"a": facts{"b": 2}}), []difference{{"refs", "a/b", [2]string{"1", "2"}, ""}}},
		"a missing field": {of("github", "refs", facts{"a": nil}), of("sandbox", "refs", facts{}), []difference{{"refs", "", [2]string{absent, "{}"}, ""}, {"refs", "a", [2]string{"null", absent}, ""}}},
		"a type":          {of("github", "refs", facts{"a": 1}), of("sandbox", "refs", facts{"a": "1"}), []difference{{"refs", "a", [2]string{"1", `"1"`}, ""}}},
		"a race": {of("github", "badge", facts{"no wait": facts{"merged": 17}, "our order": facts{"merged": 20}}), of("sandbox", "badge", facts{"no wait": facts{"merged": 20}, "our order": facts{"merged": 20}}),
			[]difference{{"badge", "no wait/merged", [2]string{"17", "20"}, "a race, which we do not enter: it is asked to know how often it is lost"}}},
		"our own order": {of("github", "badge", facts{"our order": facts{"merged": 19}}), of("sandbox", "badge", facts{"our order": facts{"merged": 20}}),
			[]difference{{"badge", "our order/merged", [2]string{"19", "20"}, ""}}},
		"a race, by one server": {of("sandbox", "badge", facts{"no wait": 1}), of("sandbox", "badge", facts{"no wait": 2}), []difference{{"badge", "no wait", [2]string{"1", "2"}, ""}}},
		"a kind of token":       {of("github", "locked", facts{"admin": facts{"status": 201}}), of("sandbox", "locked", facts{"admin": facts{"status": 201}, "app": facts{"status": 201}}), nil},
		"not possible": {of("github", "group", facts{"a": 1}), record{Step: "group", Who: "sandbox", NotPossible: "not possible here: no runner"},
			[]difference{{"group", "", [2]string{"answered", "not possible here: no runner"}, "not compared"}}},
		"a failure": {of("github", "refs", facts{"a": 1}), record{Step: "refs", Who: "sandbox", Error: "broke off"}, []difference{{"refs", "error", [2]string{absent, "broke off"}, ""}}},
	} {
		assert.Equal(t, c.want, compareRecords(c.github, c.sandbox), name)
	}
}

func TestATableSaysWhatMatters(t *testing.T) {
	a, b := t.TempDir(), t.TempDir()
	for dir, who := range map[string]string{a: "github", b: "sandbox"} {
		merged := map[string]int{"github": 17, "sandbox": 20}[who]
		require.NoError(t, record{Step: "badge", Asks: "it", Who: who, Answer: facts{"no wait": facts{"merged": merged}}}.write(nil, dir))
	}
	var out bytes.Buffer
	require.NoError(t, compareDirs(a, b, nil, &out))
	assert.Equal(t, "STEP   FIELD           GITHUB SAYS  SANDBOX SAYS  MATTERS\n"+
		"badge  no wait/merged  17           20            no: a race, which we do not enter: it is asked to know how often it is lost\n"+
		"1 steps compared, 1 differences, 0 of them matter\n", out.String())
	require.NoError(t, record{Step: "refs", Asks: "it", Who: "github", Answer: facts{"a": 1}}.write(nil, a))
	require.ErrorIs(t, compareDirs(a, b, nil, &out), errFound)
	require.NoError(t, compareDirs(a, b, []string{"badge"}, &out))
	assert.ErrorContains(t, compareDirs(a, t.TempDir(), nil, &out), "has no records (*.json): name a directory that --record has filled")
	require.NoError(t, os.WriteFile(filepath.Join(b, "refs.json"), []byte(`{"step": "refs", "who": "me"}`), 0o644))
	assert.ErrorContains(t, compareDirs(a, b, nil, &out), "want its step as its name, and who is github or sandbox")
	require.NoError(t, os.WriteFile(filepath.Join(b, "refs.json"), []byte(`{`), 0o644))
	assert.ErrorContains(t, compareDirs(a, b, nil, &out), "refs.json: unexpected end of JSON input")
}

// Where GitHub has been asked, the sandbox says the same.
func TestTheSandboxSaysWhatGitHubSays(t *testing.T) {
	files := must.Get(filepath.Glob(shipped + "/github/*.json"))(t)
	if len(files) == 0 {
		return // nobody has asked it yet
	}
	var table bytes.Buffer
	assert.NoError(t, compareDirs(shipped+"/github", shipped+"/sandbox", nil, &table), "%s", table.String())
}

func TestNamesAreStableAndSecretsGo(t *testing.T) {
	w := &world{secrets: []string{"hush"}, logins: map[string]string{"octo": "admin", "bot[bot]": "app[bot]", "bot": "app"}}
	w.repo.Owner, w.repo.Name, w.dir = "octo", "widgets", "/tmp/here"
	n := newNames(w)
	const one, two = "1111111111111111111111111111111111111111", "2222222222222222222222222222222222222222"
	got := n.normal("", plain(facts{
		"a": facts{"id": 77, "node_id": "IC_x", "number": 12, "sha": two, "login": "bot[bot]", "url": "https://api.github.com/repos/octo/widgets/issues/12"},
		"b": facts{"id": 78, "node_id": "IC_x", "number": 12, "sha": one, "login": "octo", "at": "2026-11-23T16:05:14Z", "other": two},
		"c": "octo/widgets#12 by octo, hush, aHVzaA==, x-access-token, ghp_0123456789abcdefghijABCDEFGHIJ, see " + one,
		"d": facts{"fullDatabaseId": "78", "endCursor": "Y3Vyc29y", "remaining": 4998, "zero": "0000000000000000000000000000000000000000", "none": nil, "yes": true},
		"e": "/tmp/here/x me@example.com 5A4D:0001:9F octopus botany",
	}))
	text := must.Get(json.Marshal(got))(t)
	assert.JSONEq(t, `{
		"a": {"id": 1, "node_id": "NODE_1", "number": 1, "sha": "0000000000000000000000000000000000000001", "login": "app[bot]", "url": "https://url.invalid"},
		"b": {"id": 2, "node_id": "NODE_1", "number": 1, "sha": "0000000000000000000000000000000000000002", "login": "admin", "at": "2000-01-01T00:00:00Z", "other": "0000000000000000000000000000000000000001"},
		"c": "owner/scratch#1 by admin, ***, aHVzaA==, x-access-token, ***, see 0000000000000000000000000000000000000002",
		"d": {"fullDatabaseId": "2", "endCursor": "CURSOR", "remaining": 1, "zero": "0000000000000000000000000000000000000000", "none": null, "yes": true},
		"e": "DIR/x mail@example.invalid REQUEST octopus botany"
	}`, string(text))
}
