//go:build agents

package agent_test

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/agent"
	"github.com/mergexo/mergexo/internal/golden"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
	"github.com/mergexo/mergexo/internal/sandbox/modelstub"
)

const greeted = `{"review_replies": [{"review_comment_id": 12, "body": "Done in greet.txt.", "done": true}], "general_comment": "Louder.", "commit_message": "Greet louder", "git_ops": [], "flaky_test_report": null, "blocked_reason": ""}`

func TestAProgramEditsAndAnswers(t *testing.T) {
	each(t, func(t *testing.T, r modelstub.Rig) {
		dir := checkout(t)
		script := append(r.Edit(filepath.Join(dir, "greet.txt"), "hello", "HELLO"), r.Run("echo ran > ran.txt; echo kept > $HOME/kept"), r.Done(greeted))
		s := modelstub.New(t, script...)
		opt := rigged(t, r, s)
		out := must.Get(ask(t, opt, dir, feedback("please shout, said alice")))(t)

		assert.Equal(t, "HELLO\n", string(contents(t, filepath.Join(dir, "greet.txt"))))
		assert.FileExists(t, filepath.Join(dir, "ran.txt"))
		assert.FileExists(t, filepath.Join(opt.Temp, "agent-home", "kept"), "HOME is one of its own, and can be written to")
		assert.Equal(t, []model.ReviewReply{{ReviewCommentID: 12, Body: "Done in greet.txt.", Done: true}}, out.ReviewReplies)
		assert.Equal(t, "Greet louder", out.CommitMessage)
		assert.Equal(t, "Louder.", out.GeneralComment)
		assert.Equal(t, int64(len(script)*modelstub.InputTokens), out.Usage.InputTokens)
		assert.Equal(t, int64(len(script)*modelstub.OutputTokens), out.Usage.OutputTokens)
		assert.Equal(t, r.Adapter == "claude", out.Usage.CostUSD > 0, "only Claude Code knows what it costs")
		assert.Regexp(t, `^[0-9a-f-]{36}/\d+/\d+/[0-9.]+$`, out.Session)
		assert.Contains(t, s.Asked(0), "please shout, said alice")
		assert.Contains(t, s.Asked(0), "one precise question", "the schema says what the fields mean")
		assert.Contains(t, s.Asked(0), `"review_replies":{"type":"array"`, "the provider holds it to the schema")
	})
}

func TestAProgramBeginsAPullRequest(t *testing.T) {
	each(t, func(t *testing.T, r modelstub.Rig) {
		dir := checkout(t)
		done := `{"pr_title": "Greet louder", "pr_summary": "In ` + "`greet.txt`" + `.", "commit_message": "Shout", "git_ops": [], "blocked_reason": ""}`
		s := modelstub.New(t, append(r.Edit(filepath.Join(dir, "greet.txt"), "hello", "HELLO"), r.Done(done))...)
		a := must.Get(agent.New(rigged(t, r, s)))(t)
		req := model.Request{Version: 1, Kind: model.AskSmallJob, Flow: model.FlowSmallJob, Prompt: "please shout"}
		out := must.Get(a.Run(context.Background(), dir, req))(t)
		assert.Equal(t, "HELLO\n", string(contents(t, filepath.Join(dir, "greet.txt"))))
		assert.Equal(t, []string{"Greet louder", "In `greet.txt`.", "Shout"}, []string{out.PRTitle, out.PRSummary, out.CommitMessage})
		assert.Contains(t, s.Asked(0), `"pr_title":{"type":"string"`, "the provider holds it to the schema")
		assert.NotContains(t, s.Asked(0), `"review_replies"`)

		wrong := modelstub.Say(greeted)
		s.Play([]modelstub.Answer{wrong, wrong}[:map[string]int{"codex": 1, "claude": 2}[r.Adapter]]...) // Claude Code insists on its tool, once
		_, err := a.Run(context.Background(), dir, req)
		assert.Equal(t, agent.Output, failure(t, err).Kind)
		assert.ErrorContains(t, err, `outcome: unknown field "review_replies": an answer to a request of kind small_job has pr_title, `)
	})
}

func TestASessionIsGoneOnWithInTheNextTurn(t *testing.T) {
	each(t, func(t *testing.T, r modelstub.Rig) {
		dir, sessions := checkout(t), t.TempDir()
		s := modelstub.New(t, r.Done(greeted), r.Run("echo again > again.txt"), r.Done(`{"general_comment": "And again.", "review_replies": [], "commit_message": "", "git_ops": [], "flaky_test_report": null, "blocked_reason": ""}`))
		opt := rigged(t, r, s)
		opt.Sessions = sessions
		first := must.Get(ask(t, opt, dir, feedback("first question")))(t)

		// The next turn: another run, another temporary directory, another clone.
		opt = rigged(t, r, s)
		opt.Sessions = sessions
		dir = checkout(t)
		req := feedback("second question")
		req.Session = first.Session
		second := must.Get(ask(t, opt, dir, req))(t)

		assert.Equal(t, "And again.", second.GeneralComment)
		assert.FileExists(t, filepath.Join(dir, "again.txt"))
		assert.Contains(t, s.Asked(1), "first question")
		assert.Contains(t, s.Asked(1), "Greet louder", "what it answered then")
		assert.Contains(t, s.Asked(1), "second question")
		assert.Equal(t, first.Session[:36], second.Session[:36])
		assert.Equal(t, int64(2*modelstub.InputTokens), second.Usage.InputTokens, "only what this turn used")
		assert.Equal(t, int64(2*modelstub.OutputTokens), second.Usage.OutputTokens)
		assert.InDelta(t, 2*first.Usage.CostUSD, second.Usage.CostUSD, 1e-9)
		assert.Contains(t, s.Asked(1), `"review_replies":{"type":"array"`, "it is held to the schema too")
	})
}

func TestASessionThatIsNotHere(t *testing.T) {
	each(t, func(t *testing.T, r modelstub.Rig) {
		opt := rigged(t, r, modelstub.New(t))
		req := feedback("go on")
		req.Session = "01a1fea8-0000-7000-8000-000000000000/200/40/0"
		_, err := ask(t, opt, checkout(t), req)
		assert.Equal(t, agent.NoSession, failure(t, err).Kind)
		golden.Text(t, r.Adapter+"_no_session.txt", err.Error())

		for _, foreign := range []string{"--last", "01a1fea8-0000-7000-8000-000000000000/1", "01a1fea8-0000-7000-8000-000000000000/x/1/0", "thread-7"} {
			req.Session = foreign
			_, err = ask(t, opt, checkout(t), req)
			assert.Equal(t, agent.NoSession, failure(t, err).Kind, foreign)
		}
		golden.Text(t, "foreign_session.txt", err.Error())
	})
}

func TestWhatAProviderOrItsModelCanRefuse(t *testing.T) {
	type failing struct {
		status              int
		kind, code, message string
	}
	cases := []struct {
		name     string
		kind     agent.Kind
		provider map[string]failing // by adapter; none: the model refuses
	}{
		{"refusal", agent.Refused, nil},
		{"model_500", agent.Model, map[string]failing{
			"codex":  {500, "server_error", "", "The server had an error"},
			"claude": {500, "api_error", "", "Internal server error"},
		}},
		{"model_400", agent.Model, map[string]failing{
			"codex":  {400, "invalid_request_error", "invalid_json_schema", "Invalid schema for response_format"},
			"claude": {400, "invalid_request_error", "", "messages: too many"},
		}},
		{"rate_limit", agent.Limit, map[string]failing{
			"codex":  {429, "tokens", "rate_limit_exceeded", "Rate limit reached for gpt-x"},
			"claude": {429, "rate_limit_error", "", "This request would exceed your account's rate limit."},
		}},
		{"quota", agent.Limit, map[string]failing{
			"codex":  {429, "insufficient_quota", "insufficient_quota", "You exceeded your current quota."},
			"claude": {400, "invalid_request_error", "", "Your credit balance is too low to access the Anthropic API."},
		}},
		{"usage_limit", agent.Limit, map[string]failing{
			"codex":  {429, "usage_limit_reached", "", "The usage limit has been reached"},
			"claude": {400, "invalid_request_error", "", "You have reached your specified API usage limits. You will regain access on 2026-04-01 at 00:00 UTC."},
		}},
		{"no_credit", agent.Limit, map[string]failing{
			"claude": {402, "billing_error", "", "There's an issue with your billing or payment information."},
		}},
		{"flagged", agent.Refused, map[string]failing{
			"codex":  {400, "invalid_request_error", "invalid_prompt", "Invalid prompt: your prompt was flagged as potentially violating our usage policy."},
			"claude": {400, "invalid_request_error", "", "Output blocked by content filtering policy"},
		}},
		{"overloaded", agent.Limit, map[string]failing{
			"codex":  {503, "server_error", "server_is_overloaded", "The engine is overloaded"},
			"claude": {529, "overloaded_error", "", "Overloaded"},
		}},
	}
	each(t, func(t *testing.T, r modelstub.Rig) {
		s := modelstub.New(t)
		a := must.Get(agent.New(rigged(t, r, s)))(t)
		dir := checkout(t)
		for _, c := range cases {
			script := []modelstub.Answer{modelstub.Refuse()}
			f, ok := c.provider[r.Adapter]
			switch {
			case ok:
				script[0] = r.Fail(f.status, f.kind, f.code, f.message)
			case c.provider != nil:
				continue // only the other one's provider knows it
			case r.Adapter == "claude":
				script = append(script, script[0]) // it asks once more
			}
			s.Play(script...)
			_, err := a.Run(context.Background(), dir, feedback("please"))
			assert.Equal(t, c.kind, failure(t, err).Kind, c.name)
			golden.Text(t, r.Adapter+"_"+c.name+".txt", steady(err, s))
		}
	})
}

func TestAKeyThatIsNotValidOrNotThere(t *testing.T) {
	each(t, func(t *testing.T, r modelstub.Rig) {
		s := modelstub.New(t)
		opt := rigged(t, r, s)
		for i, entry := range opt.Access {
			opt.Access[i] = strings.ReplaceAll(entry, modelstub.Key, "sk-wrong")
		}
		_, err := ask(t, opt, checkout(t), feedback("please"))
		assert.Equal(t, agent.Login, failure(t, err).Kind)
		golden.Text(t, r.Adapter+"_key_wrong.txt", steady(err, s))

		var without []string
		for _, entry := range opt.Access {
			if !strings.HasPrefix(entry, r.KeyName+"=") {
				without = append(without, entry)
			}
		}
		opt.Access = without
		_, err = ask(t, opt, checkout(t), feedback("please"))
		assert.Equal(t, agent.Login, failure(t, err).Kind)
		golden.Text(t, r.Adapter+"_key_missing.txt", steady(err, s))
	})
}

func TestAProviderThatCannotBeReached(t *testing.T) {
	each(t, func(t *testing.T, r modelstub.Rig) {
		s := modelstub.New(t)
		opt := rigged(t, r, s)
		s.Close()
		_, err := ask(t, opt, checkout(t), feedback("please"))
		assert.Equal(t, agent.Model, failure(t, err).Kind)
		golden.Text(t, r.Adapter+"_unreachable.txt", steady(err, s))
	})
}

func TestAnAnswerThatIsNotJustTheOutcome(t *testing.T) {
	each(t, func(t *testing.T, r modelstub.Rig) {
		s := modelstub.New(t)
		a := must.Get(agent.New(rigged(t, r, s)))(t)
		dir := checkout(t)
		answered := func(text string) (model.Outcome, error) {
			script := []modelstub.Answer{modelstub.Say(text)}
			if r.Adapter == "claude" {
				script = append(script, script[0]) // it insists on its tool, once
			}
			s.Play(script...)
			return a.Run(context.Background(), dir, feedback("please"))
		}
		out := must.Get(answered("All done, see {braces} and func f() {}:\n\n```json\n" + greeted + "\n```\nAnything else?"))(t)
		assert.Equal(t, "Greet louder", out.CommitMessage)
		for name, text := range map[string]string{
			"two_objects":   greeted + "\nor rather\n" + `{"commit_message": "Greet"}`,
			"unknown_field": `{"commit_message": "x", "reply": "y"}`,
			"wrong_type":    `{"review_replies": "none"}`,
			"no_json":       "I have shouted.\nIs that all?",
		} {
			_, err := answered(text)
			failed := failure(t, err)
			assert.Equal(t, agent.Output, failed.Kind)
			assert.Regexp(t, `^[0-9a-f-]{36}/`, failed.Session, "it could be asked again")
			assert.Positive(t, failed.Usage.InputTokens, "and has been paid for")
			golden.Text(t, name+".txt", err.Error())
		}
	})
}

func TestClaudeIsHeldToTheSchemaByItself(t *testing.T) {
	t.Parallel()
	claude := modelstub.Claude()
	bad := claude.Done(`{"commit_message": 7, "review_replies": [], "general_comment": "", "git_ops": [], "flaky_test_report": null, "blocked_reason": ""}`)
	s := modelstub.New(t, bad, claude.Done(greeted))
	opt, dir := rigged(t, claude, s), checkout(t)
	assert.Equal(t, "Greet louder", must.Get(ask(t, opt, dir, feedback("please")))(t).CommitMessage)

	s.Play(bad, bad, bad, bad, bad)
	_, err := ask(t, opt, dir, feedback("please"))
	assert.Equal(t, agent.Output, failure(t, err).Kind)
	golden.Text(t, "claude_schema.txt", err.Error())
}

func TestAModelAndFurtherArgumentsArePassed(t *testing.T) {
	each(t, func(t *testing.T, r modelstub.Rig) {
		s := modelstub.New(t, r.Done(greeted))
		opt := rigged(t, r, s)
		opt.Model = "model-of-the-stub"
		more := map[string][]string{"codex": {"--config", "developer_instructions=be kind"}, "claude": {"--append-system-prompt", "be kind"}}
		opt.ExtraArgs = append(opt.ExtraArgs, more[r.Adapter]...)
		var log bytes.Buffer
		opt.Log = &log
		_ = must.Get(ask(t, opt, checkout(t), feedback("please")))(t)
		assert.Contains(t, s.Asked(0), `"model":"model-of-the-stub"`)
		assert.Contains(t, s.Asked(0), "be kind")
		assert.NotContains(t, s.Asked(0), "web_search", "no network, not even by the provider")
		if r.Adapter == "codex" {
			assert.Contains(t, log.String(), "codex: Model metadata for `model-of-the-stub` not found.", "what it warns of is in the log")
		}
	})
}

func TestAnotherVersionIsOnlyAWarning(t *testing.T) {
	each(t, func(t *testing.T, r modelstub.Rig) {
		s := modelstub.New(t, r.Done(greeted))
		opt := rigged(t, r, s)
		opt = wrapped(t, opt, r.Adapter, `[ "$1" != --version ] || { echo "`+r.Adapter+` 9.9.9"; exit; }`)
		var log bytes.Buffer
		opt.Log = &log
		_ = must.Get(ask(t, opt, checkout(t), feedback("please")))(t)
		line, _, _ := strings.Cut(log.String(), "\n")
		golden.Text(t, r.Adapter+"_version.txt", line)
	})
}

func TestAProgramThatIsNotInstalled(t *testing.T) {
	each(t, func(t *testing.T, r modelstub.Rig) {
		opt := rigged(t, r, nil)
		for i, entry := range opt.Env {
			if strings.HasPrefix(entry, "PATH=") {
				opt.Env[i] = "PATH=" + t.TempDir()
			}
		}
		_, err := ask(t, opt, checkout(t), feedback("please"))
		assert.Equal(t, agent.NotInstalled, failure(t, err).Kind)
		golden.Text(t, r.Adapter+"_not_installed.txt", err.Error())

		opt = wrapped(t, rigged(t, r, nil), r.Adapter, "echo 'env: node: No such file or directory' >&2; exit 127")
		_, err = ask(t, opt, checkout(t), feedback("please"))
		assert.Equal(t, agent.NotInstalled, failure(t, err).Kind)
		golden.Text(t, r.Adapter+"_not_running.txt", err.Error())
	})
}

func TestAHomeMustBeGiven(t *testing.T) {
	each(t, func(t *testing.T, r modelstub.Rig) {
		opt := rigged(t, r, nil)
		opt.Temp = ""
		assert.EqualError(t, must.Err(ask(t, opt, checkout(t), feedback("please"))), "run "+r.Adapter+": no directory for its home was given")
	})
}
