package cli_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestReplayOfAnIssueWhoseAgentHasAQuestion(t *testing.T) {
	got := program(t, nil, "replay", "--make", "issues", "--body", "Please make it nicer.").exits(t, 3)
	assert.Contains(t, got.out, "\n  | The agent has a question")
	assert.Contains(t, got.out, "\nresult: blocked\n")
	said := regexp.MustCompile(`(?m)^assumed: .*\n`).ReplaceAllString(got.errout, "")
	assert.Regexp(t, `^mergexo: issue \d+ waits for a person \(agent_blocked\): [^\n]*\n$`, said)
	assert.NotContains(t, got.out, "waits for a person (agent_blocked): ", "one message once")
}

func TestReplayOfADesign(t *testing.T) {
	got := program(t, nil, "replay", "--event", "../../scripts/events/issues_design.json").ok(t)
	for _, s := range []string{
		"- push to agent/design/11-greet-people-in-their-own-language\n", "\n  | Refs #11\n", "Once it is merged, MergeXO implements the design in a separate pull request.",
		"result: done, issue #11 led to pull request #12, which is at ",
	} {
		assert.Contains(t, got.out, s)
	}
}

// begins answers a request for a pull request, and what is said on it.
const begins = `case "$(cat)" in *'"kind":"feedback"'*) echo '{"general_comment": "Said."}';; *) echo hello > hello.txt; echo '{"pr_title": "Greet", "pr_summary": "It greets.", "commit_message": "Greet"}';; esac`

// labelIssue opens an issue on the hub and puts the label of a small job on it. It gives its number and what a step's
// environment says of the event.
func (h *hub) labelIssue(title string) (number int, env []string) {
	h.t.Helper()
	number = int(h.api("octo", "POST", "/api/v3/repos/octo/widgets/issues", map[string]any{"title": title, "body": "Please."})["number"].(float64))
	h.raw("octo", "POST", fmt.Sprintf("/api/v3/repos/octo/widgets/issues/%d/labels", number), map[string]any{"labels": []string{"agent:small-job"}})
	require.NoError(h.t, os.WriteFile(h.payload, h.newest("issues"), 0o600))
	return number, h.env("GITHUB_EVENT_NAME=issues")
}

// delivery is one event as GitHub told of it.
type delivery struct {
	Event   string
	Payload json.RawMessage
}

func (h *hub) deliveries() []delivery {
	h.t.Helper()
	var all []delivery
	require.NoError(h.t, json.Unmarshal(h.raw("", "GET", "/_sandbox/deliveries", nil), &all))
	return all
}

// newest is the payload of the newest event of a name.
func (h *hub) newest(event string) json.RawMessage {
	h.t.Helper()
	all := slices.DeleteFunc(h.deliveries(), func(d delivery) bool { return d.Event != event })
	require.NotEmpty(h.t, all, "GitHub sent no %s", event)
	return all[len(all)-1].Payload
}

// step runs mergexo as a workflow's step, and gives its outputs and its summary too.
func step(t *testing.T, env []string, args ...string) (got ran, output, summary string) {
	t.Helper()
	dir := t.TempDir()
	to := func(name string) string { return filepath.Join(dir, name) }
	got = program(t, append(env, "GITHUB_OUTPUT="+to("output"), "GITHUB_STEP_SUMMARY="+to("summary"), "GITHUB_ACTIONS=true"), args...)
	return got, text(t, to("output")), text(t, to("summary"))
}

func TestAStepThatOpensAPullRequestNamesIt(t *testing.T) {
	h := newHub(t, command(begins))
	number, env := h.labelIssue("Greet")
	got, output, summary := step(t, env, "run", "--json")
	require.Equal(t, 0, got.exit, got.errout)
	var report struct {
		Result string
		Number int
	}
	require.NoError(t, json.Unmarshal([]byte(got.out), &report), got.out)
	assert.Equal(t, "done", report.Result)
	assert.Equal(t, number, report.Number, "the report is about the issue")
	branch := fmt.Sprintf("agent/small/%d-greet", number)
	var pulls []struct {
		Number int
		Head   struct{ Ref, SHA string }
	}
	require.NoError(t, json.Unmarshal(h.raw("octo", "GET", "/api/v3/repos/octo/widgets/pulls?head=octo:"+branch, nil), &pulls))
	require.Len(t, pulls, 1)
	assert.Contains(t, output, fmt.Sprintf("pr=%d\n", pulls[0].Number))
	assert.Contains(t, output, "head-sha="+pulls[0].Head.SHA+"\n")
	assert.Contains(t, summary, fmt.Sprintf("### MergeXO: issue [#%d](%s/octo/widgets/issues/%d) done\n", number, h.url, number))
	assert.Contains(t, summary, fmt.Sprintf("The work continues in pull request [#%d](%s/octo/widgets/pull/%d).", pulls[0].Number, h.url, pulls[0].Number))

	// The same event again: what there is to say is said.
	got, output, _ = step(t, env, "run")
	require.Equal(t, 0, got.exit, got.errout)
	assert.Contains(t, output, "result=nothing\npr=\n")
}

func TestAStepWhoseIssueWaitsForAPerson(t *testing.T) {
	h := newHub(t, command(`cat > /dev/null; echo hello > hello.txt; echo '{"blocked_reason": "Which way?"}'`))
	number, env := h.labelIssue("Greet")
	for _, again := range []string{"", "again"} { // nothing new is said, and it stays blocked
		got, output, summary := step(t, env, "run")
		assert.Equal(t, 3, got.exit, again)
		assert.Contains(t, got.errout, fmt.Sprintf("mergexo: issue %d waits for a person (agent_blocked)", number))
		assert.Contains(t, output, "result=blocked\npr=\n", again)
		assert.Contains(t, output, "\nblocked-reason=agent_blocked\n")
		assert.Contains(t, summary, fmt.Sprintf("issue [#%d](%s/octo/widgets/issues/%d) waits for a person\n", number, h.url, number))
		assert.Contains(t, summary, "The work is kept at [`")
		assert.Contains(t, summary, "**Waits for a person:** [answer the agent's question](", again)
	}
	list := object(t, program(t, h.terminal("actions"), "blocked", "list", "--json"))["blocked"].([]any)
	require.Len(t, list, 1)
	assert.Equal(t, list, object(t, program(t, h.terminal("actions"), "status", "--json"))["needs"], "the same list")
	why := object(t, program(t, h.terminal("actions"), "why", "--pr", fmt.Sprint(number), "--json"))
	assert.Equal(t, list[0], why["issue"].(map[string]any)["need"])
	assert.Contains(t, why["next"], "waits for a person (agent_blocked)")
}
