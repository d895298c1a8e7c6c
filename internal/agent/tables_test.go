package agent

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
)

// helped is what a real program's help says it takes.
func helped(t *testing.T, argv ...string) []string {
	t.Helper()
	program := must.Get(filepath.Abs(filepath.Join("../../.cache/tools", argv[0])))(t)
	cmd := exec.Command(program, argv[1:]...)
	cmd.Env = []string{"HOME=" + t.TempDir()}
	out := must.Get(cmd.Output())(t, "run scripts/tools codex claude")
	var found []string
	for _, line := range regexp.MustCompile(`(?m)^ {2,6}(-[^ ].*)$`).FindAllStringSubmatch(string(out), -1) {
		found = append(found, regexp.MustCompile(`^-{1,2}\w[\w-]*|, (-{1,2}\w[\w-]*)`).FindAllString(line[1], -1)...)
	}
	for i := range found {
		found[i] = strings.TrimPrefix(found[i], ", ")
	}
	return found
}

func TestThePinsAreTheSameEverywhere(t *testing.T) {
	t.Parallel()
	tools := must.Get(os.ReadFile("../../scripts/tools"))(t)
	made := Options{}
	a := must.Get(newCodex(made))(t)
	b := must.Get(newClaude(made))(t)
	for _, p := range []*program{&a.(*codex).program, &b.(*claude).program} {
		assert.Contains(t, string(tools), "\n"+p.name+"="+p.pkg+"@"+p.version+"\n")
	}
}

func TestTheSchemasAreTheContract(t *testing.T) {
	t.Parallel()
	described := map[string]bool{}
	for kind, names := range fields {
		file := "testdata/outcome_" + kind + ".schema.json"
		text := must.Get(outcomeSchema(model.Request{Kind: kind}))(t)
		if slices.Contains(os.Args, "-update") {
			require.NoError(t, os.WriteFile(file, []byte(text+"\n"), 0o600))
		}
		assert.Equal(t, string(must.Get(os.ReadFile(file))(t)), text+"\n")
		assert.NotContains(t, text, `"type":null`, "every type of the contract has a name")

		found := 0
		for path := range meanings {
			top, _, _ := strings.Cut(strings.ReplaceAll(path, "[]", "."), ".")
			if !slices.Contains(names, top) {
				continue
			}
			found++
			described[path] = true
			assert.Equal(t, 1, strings.Count(text, `"description":"`+meanings[path]+`"`), "%s is a field", path)
		}
		assert.Equal(t, found, strings.Count(text, `"description"`), "every field has its meaning, and none has another's")
	}
	assert.Len(t, described, len(meanings))

	repair := must.Get(outcomeSchema(model.Request{Kind: model.AskRepair, Flow: model.FlowBugfix}))(t)
	assert.Equal(t, must.Get(outcomeSchema(model.Request{Kind: model.AskBugfix}))(t), repair, "a model is asked for the shape of what it repairs")

	// What the schema asks for is what Decode takes.
	out := must.Get(Decode([]byte(`{"review_replies": [{"review_comment_id": 1, "body": "b"}], "general_comment": "g", "commit_message": "c", "git_ops": [{"op": "fetch_origin"}],
		"flaky_test_report": {"title": "t", "summary": "s", "relevant_log_url": ""}, "blocked_reason": ""}`), model.Request{Kind: model.AskFeedback}))(t)
	assert.Equal(t, "t", out.FlakyTestReport.Title)
}

func TestASessionsNameHoldsWhatItUsed(t *testing.T) {
	t.Parallel()
	s := session{id: "01a1fea8-0000-7000-8000-000000000000", used: model.Usage{InputTokens: 200, OutputTokens: 40, CostUSD: 0.0024}}
	assert.Equal(t, "01a1fea8-0000-7000-8000-000000000000/200/40/0.0024", s.String())
	assert.Equal(t, s, must.Get(readSession(s.String()))(t))
	assert.Equal(t, session{id: s.id}, must.Get(readSession(s.id))(t))
	assert.Equal(t, session{}, must.Get(readSession(""))(t))
	assert.Equal(t, int64(40), since[int64](100, 60))
	assert.Equal(t, int64(30), since[int64](30, 60), "a transcript that came without its count begins at nothing")
}

func TestOnlyObjectIsExact(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"a": 1}`: `{"a": 1}`, "x {y} {} ```json\n{\"a\": {\"b\": \"}{\"}}\n``` z": `{"a": {"b": "}{"}}`, " {} ": "{}", "a } b {\n \"c\": 1} ": "{\n \"c\": 1}",
	} {
		assert.Equal(t, want, string(must.Get(onlyObject(text))(t, text)))
	}
	for text, want := range map[string]string{
		``:                         "agent: its answer is empty: want one JSON object",
		`no`:                       `agent: its answer has no JSON object: it begins with "no"`,
		`{} {}`:                    `agent: its answer has no JSON object: it begins with "{} {}"`,
		`{"a": 1}{"b": 2}`:         `agent: its answer has 2 JSON objects: want one; the second begins with "{\"b\": 2}"`,
		`so: {"a": {"b": 1}, c}`:   `agent: its answer is not JSON (invalid character 'c' at start of string (expecting '"')): it begins with "{\"a\": {\"b\": 1}, c}"`,
		`{"usage": {"cost_usd":1}`: `agent: its answer is not JSON (it ends in the middle): it begins with "{\"usage\": {\"cost_usd\":1}"`,
	} {
		assert.EqualError(t, must.Err(onlyObject(text)), want)
	}
}

func TestSkillsAreFoundWhereverALinkLeads(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{".agents/skills/a/SKILL.md", ".codex/skills/x/y/SKILL.md", "docs/SKILL.md", ".agents/skills/a/README.md"} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o644))
	}
	require.NoError(t, os.Symlink("../../docs", filepath.Join(dir, ".agents/skills/linked")))
	require.NoError(t, os.Symlink(".", filepath.Join(dir, ".codex/skills/x/self")))
	found := must.Get(skillFiles(dir))(t)
	real := must.Get(filepath.EvalSymlinks(dir))(t)
	for _, name := range []string{".agents/skills/a/SKILL.md", ".agents/skills/linked/SKILL.md", ".codex/skills/x/y/SKILL.md", ".codex/skills/x/self/y/SKILL.md"} {
		assert.Contains(t, found, filepath.Join(dir, name))
	}
	assert.Contains(t, found, filepath.Join(real, "docs/SKILL.md"))
	assert.NotContains(t, found, filepath.Join(dir, ".agents/skills/a/README.md"))

	require.NoError(t, os.MkdirAll(filepath.Join(dir, ".agents/skills/many"), 0o755))
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g"} {
		require.NoError(t, os.Symlink(".", filepath.Join(dir, ".agents/skills/many", name)))
	}
	assert.ErrorContains(t, must.Err(skillFiles(dir)), "more than can be hidden from codex")
}
