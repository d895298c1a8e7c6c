package agent_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/agent"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
)

func TestDecodeReadsWhatTheContractAllows(t *testing.T) {
	got := must.Get(agent.Decode([]byte(` {"review_replies": [{"review_comment_id": 9007199254740993, "body": "a\u00e9"}, {"review_comment_id": 2, "body": "b", "done": true}], "general_comment": "g", "commit_message": "c",
		"git_ops": [{"op": "fetch_origin"}], "flaky_test_report": {"title": "t", "summary": "s", "relevant_log_url": "u"},
		"blocked_reason": null, "session": "x", "usage": {"input_tokens": 1, "output_tokens": 2, "cost_usd": 0.5}}`+"\n"), model.Request{Kind: model.AskFeedback}))(t)
	assert.Equal(t, model.Outcome{
		ReviewReplies: []model.ReviewReply{{ReviewCommentID: 9007199254740993, Body: "aé"}, {ReviewCommentID: 2, Body: "b", Done: true}}, GeneralComment: "g", CommitMessage: "c",
		GitOps: []model.GitOp{{Op: "fetch_origin"}}, FlakyTestReport: &model.FlakyTest{Title: "t", Summary: "s", RelevantLogURL: "u"},
		Session: "x", Usage: model.Usage{InputTokens: 1, OutputTokens: 2, CostUSD: 0.5},
	}, got)
	assert.Equal(t, model.Outcome{}, must.Get(agent.Decode(must.Get(json.Marshal(model.Outcome{}))(t), model.Request{}))(t))
	got = must.Get(agent.Decode([]byte(`{"general_comment": "g", "git_ops": [{"op": "push"}]}`), model.Request{}))(t, "it is told that there is no such operation")
	assert.Equal(t, model.Outcome{GeneralComment: "g", GitOps: []model.GitOp{{Op: "push"}}}, got)
	got = must.Get(agent.Decode([]byte("{\"general_comment\": \"caf\xe9\"}"), model.Request{}))(t, "an agent quotes files in whatever encoding they are")
	assert.Equal(t, model.Outcome{GeneralComment: "caf\uFFFD"}, got)
}

func TestDecodeNamesTheFieldThatIsWrong(t *testing.T) {
	for in, want := range map[string]string{
		``:       "it wrote nothing on stdout: want one JSON object",
		" \n":    "it wrote nothing on stdout: want one JSON object",
		"\xff{}": `its output is not JSON (invalid character '\xff' at start of value): it begins with "\xff{}"`,
		`{"usage": null, "usage": {"cost_usd": null}}`: "usage: it occurs twice",
		`{"usage": {"cost_usd": null}}`:                "usage.cost_usd: want a number, got null",
		`{"usage": {"cost_usd": 1e400}}`:               `usage.cost_usd: want a number of at most 64 bits, got "1e400"`,
		"{\"sess\xffion\": \"\"}":                      `outcome: unknown field "sess\ufffdion", did you mean "session"?`,
		`{"a`:                                          "its output is not JSON (it ends in the middle): it begins with \"{\\\"a\"",
		`[]`:                                           "outcome: want an object, got a list",
		`{} {}`:                                        `its output continues after the JSON object: "{}"`,
		`{"replies": []}`:                              `outcome: unknown field "replies", did you mean "review_replies"?`,
		`{"Session": "x"}`:                             `outcome: unknown field "Session", did you mean "session"?`,
		`{"zzz\n": 1}`:                                 `outcome: unknown field "zzz\n": an answer to a request of kind feedback has review_replies, general_comment, commit_message, git_ops, flaky_test_report, blocked_reason, session, usage`,
		`{"review_replies": [{"review_comment_id": 1, "body": 5}]}`:                               "review_replies[0].body: want a string, got a number",
		`{"review_replies": [{"review_comment_id": 1, "body": "x"}, {"review_comment_id": "1"}]}`: "review_replies[1].review_comment_id: want a number, got a string",
		`{"review_replies": [{"review_comment_id": 1.5, "body": ""}]}`:                            `review_replies[0].review_comment_id: want a whole number, got "1.5"`,
		`{"review_replies": [{"review_comment_id": 99999999999999999999, "body": ""}]}`:           `review_replies[0].review_comment_id: want a whole number, got "99999999999999999999"`,
		`{"review_replies": [{"body": ""}]}`:                                                      "review_replies[0].review_comment_id: it is missing",
		`{"review_replies": [{"review_comment_id": 1, "body": null}]}`:                            "review_replies[0].body: want a string, got null",
		`{"review_replies": [{"review_comment_id": 1, "body": "", "bdy": ""}]}`:                   `review_replies[0]: unknown field "bdy", did you mean "body"?`,
		`{"review_replies": [null]}`:                                                              "review_replies[0]: want an object, got null",
		`{"review_replies": {}}`:                                                                  "review_replies: want a list, got an object",
		`{"session": "a", "session": "b"}`:                                                        "session: it occurs twice",
		`{"general_comment": true}`:                                                               "general_comment: want a string, got a boolean",
		`{"git_ops": [{}]}`:                                                                       "git_ops[0].op: it is missing",
		`{"flaky_test_report": {"title": 1}}`:                                                     "flaky_test_report.title: want a string, got a number",
		`{"usage": {"cost_usd": "1"}}`:                                                            "usage.cost_usd: want a number, got a string",
		`{"usage": {"input_tokens": -1}}`:                                                         "usage: want no negative numbers",
	} {
		_, err := agent.Decode([]byte(in), model.Request{Kind: model.AskFeedback})
		assert.Equal(t, agent.Output, failure(t, err).Kind)
		assert.EqualError(t, err, "agent: "+want, in)
	}
}

func TestWhichFieldsAnAnswerHasDependsOnTheRequest(t *testing.T) {
	common := []string{"blocked_reason", "session", "usage"}
	pull := append([]string{"review_replies", "general_comment", "commit_message", "git_ops", "flaky_test_report"}, common...)
	document := append([]string{"title", "summary", "touch_paths", "design_doc_markdown"}, common...)
	work := append([]string{"pr_title", "pr_summary", "commit_message", "git_ops"}, common...)
	values := map[string]string{
		"review_replies": `[]`, "git_ops": `[{"op": "fetch_origin"}]`, "flaky_test_report": `{"title": "t", "summary": "s", "relevant_log_url": ""}`,
		"touch_paths": `["a/b.go", "docs"]`, "findings": `[{"path": "a", "line": 1, "severity": "must", "text": "x"}]`, "usage": `{"cost_usd": 1}`,
	}
	for _, name := range slices.Concat(pull, document, work, []string{"replies"}) {
		if values[name] == "" {
			values[name] = `"x"`
		}
	}
	for _, c := range []struct {
		req  model.Request
		want []string
	}{
		{model.Request{Kind: model.AskFeedback}, pull},
		{model.Request{Kind: model.AskDesign}, document},
		{model.Request{Kind: model.AskBugfix}, work},
		{model.Request{Kind: model.AskSmallJob}, work},
		{model.Request{Kind: model.AskImplementation}, work},
		{model.Request{Kind: model.AskReview}, []string{"findings", "session", "usage"}},
		{model.Request{Kind: model.AskRepair, PullRequest: &model.RequestPull{}}, pull},
		{model.Request{Kind: model.AskRepair, PullRequest: &model.RequestPull{}, Flow: model.FlowBugfix}, pull},
		{model.Request{Kind: model.AskRepair, Flow: model.FlowBugfix}, append(slices.Clone(work), pull...)},
		{model.Request{Kind: model.AskRepair, Flow: model.FlowDesign}, append(slices.Clone(document), pull...)},
	} {
		for name, value := range values {
			_, err := agent.Decode([]byte(`{"`+name+`": `+value+`}`), c.req)
			if slices.Contains(c.want, name) {
				require.NoError(t, err, "%s %s", c.req.Kind, name)
				continue
			}
			assert.Equal(t, agent.Output, failure(t, err).Kind)
			assert.ErrorContains(t, err, `outcome: unknown field "`+name+`"`, "%s", c.req.Kind)
		}
	}
	for _, c := range []struct {
		kind, in, want string
	}{
		{model.AskSmallJob, `{"title": "x"}`, `outcome: unknown field "title", did you mean "pr_title"?`},
		{model.AskBugfix, `{"review_replies": []}`, `outcome: unknown field "review_replies": an answer to a request of kind bugfix has pr_title, pr_summary, commit_message, git_ops, blocked_reason, session, usage`},
		{model.AskRepair, `{"touch_paths": []}`, `outcome: unknown field "touch_paths": an answer to the repair of a small job has pr_title, pr_summary, commit_message, git_ops, blocked_reason, review_replies, general_comment, flaky_test_report, session, usage`},
		{model.AskDesign, `{"touch_paths": "a"}`, `touch_paths: want a list, got a string`},
		{model.AskDesign, `{"touch_paths": ["a", 1]}`, `touch_paths[1]: want a string, got a number`},
	} {
		assert.EqualError(t, must.Err(agent.Decode([]byte(c.in), model.Request{Kind: c.kind, Flow: model.FlowSmallJob})), "agent: "+c.want)
	}
}

func FuzzDecode(f *testing.F) {
	for _, seed := range []string{`{}`, `{"review_replies":[{"review_comment_id":1,"body":"x"}]}`, `{"usage":{"cost_usd":1e400}}`, `{"git_ops":[`, "\xff{}"} {
		f.Add([]byte(seed))
	}
	kinds := []string{model.AskFeedback, model.AskDesign, model.AskBugfix, model.AskRepair}
	f.Fuzz(func(t *testing.T, in []byte) {
		req := model.Request{Kind: kinds[len(in)%len(kinds)], Flow: model.FlowDesign}
		out, err := agent.Decode(in, req)
		if err != nil {
			failure(t, err)
			return
		}
		text := must.Get(json.Marshal(out))(t)
		again := must.Get(agent.Decode(text, req))(t)
		assert.Equal(t, string(text), string(must.Get(json.Marshal(again))(t)), "what is accepted is in the contract's own form")
	})
}
