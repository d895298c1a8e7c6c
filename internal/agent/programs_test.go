package agent_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/agent"
	"github.com/mergexo/mergexo/internal/model"
)

const greeted = `{"review_replies": [{"review_comment_id": 12, "body": "Done in greet.txt."}], "general_comment": "Louder.", "commit_message": "Greet louder", "git_ops": [], "flaky_test_report": null, "blocked_reason": ""}`

func TestAProgramEditsAndAnswers(t *testing.T) {
	each(t, func(t *testing.T, r rig) {
		dir := checkout(t)
		script := append(r.edit(filepath.Join(dir, "greet.txt"), "hello", "HELLO"), r.run("echo ran > ran.txt; echo kept > $HOME/kept"), r.done(greeted))
		s := newStub(t, script...)
		opt := r.options(t, s)
		out, err := ask(t, opt, dir, feedback("please shout, said alice"))
		require.NoError(t, err)

		text, err := os.ReadFile(filepath.Join(dir, "greet.txt"))
		require.NoError(t, err)
		assert.Equal(t, "HELLO\n", string(text))
		assert.FileExists(t, filepath.Join(dir, "ran.txt"))
		assert.FileExists(t, filepath.Join(opt.Temp, "agent-home", "kept"), "HOME is one of its own, and can be written to")
		assert.Equal(t, []model.ReviewReply{{ReviewCommentID: 12, Body: "Done in greet.txt."}}, out.ReviewReplies)
		assert.Equal(t, "Greet louder", out.CommitMessage)
		assert.Equal(t, "Louder.", out.GeneralComment)
		assert.Equal(t, int64(len(script)*stubInput), out.Usage.InputTokens)
		assert.Equal(t, int64(len(script)*stubOutput), out.Usage.OutputTokens)
		assert.Equal(t, r.adapter == "claude", out.Usage.CostUSD > 0, "only Claude Code knows what it costs")
		assert.Regexp(t, `^[0-9a-f-]{36}/\d+/\d+/[0-9.]+$`, out.Session)
		assert.Contains(t, s.asked(0), "please shout, said alice")
		assert.Contains(t, s.asked(0), "one precise question", "the schema says what the fields mean")
		assert.Contains(t, s.asked(0), `"review_replies":{"type":"array"`, "the provider holds it to the schema")
	})
}

func TestASessionIsGoneOnWithInTheNextTurn(t *testing.T) {
	each(t, func(t *testing.T, r rig) {
		dir, sessions := checkout(t), t.TempDir()
		s := newStub(t, r.done(greeted), r.run("echo again > again.txt"), r.done(`{"general_comment": "And again.", "review_replies": [], "commit_message": "", "git_ops": [], "flaky_test_report": null, "blocked_reason": ""}`))
		opt := r.options(t, s)
		opt.Sessions = sessions
		first, err := ask(t, opt, dir, feedback("first question"))
		require.NoError(t, err)

		// The next turn: another run, another temporary directory, another clone.
		opt = r.options(t, s)
		opt.Sessions = sessions
		dir = checkout(t)
		req := feedback("second question")
		req.Session = first.Session
		second, err := ask(t, opt, dir, req)
		require.NoError(t, err)

		assert.Equal(t, "And again.", second.GeneralComment)
		assert.FileExists(t, filepath.Join(dir, "again.txt"))
		assert.Contains(t, s.asked(1), "first question")
		assert.Contains(t, s.asked(1), "Greet louder", "what it answered then")
		assert.Contains(t, s.asked(1), "second question")
		assert.Equal(t, first.Session[:36], second.Session[:36])
		assert.Equal(t, int64(2*stubInput), second.Usage.InputTokens, "only what this turn used")
		assert.Equal(t, int64(2*stubOutput), second.Usage.OutputTokens)
		assert.InDelta(t, 2*first.Usage.CostUSD, second.Usage.CostUSD, 1e-9)
		assert.Contains(t, s.asked(1), `"review_replies":{"type":"array"`, "it is held to the schema too")
	})
}

func TestASessionThatIsNotHere(t *testing.T) {
	each(t, func(t *testing.T, r rig) {
		opt := r.options(t, newStub(t))
		req := feedback("go on")
		req.Session = "01a1fea8-0000-7000-8000-000000000000/200/40/0"
		_, err := ask(t, opt, checkout(t), req)
		assert.Equal(t, agent.NoSession, failure(t, err).Kind)
		golden(t, r.adapter+"_no_session.txt", err.Error())

		for _, foreign := range []string{"--last", "01a1fea8-0000-7000-8000-000000000000/1", "01a1fea8-0000-7000-8000-000000000000/x/1/0", "thread-7"} {
			req.Session = foreign
			_, err = ask(t, opt, checkout(t), req)
			assert.Equal(t, agent.NoSession, failure(t, err).Kind, foreign)
		}
		golden(t, "foreign_session.txt", err.Error())
	})
}

func TestWhatAProviderOrItsModelCanRefuse(t *testing.T) {
	cases := []struct {
		name   string
		kind   agent.Kind
		answer map[string]answer // by adapter
	}{
		{"refusal", agent.Refused, map[string]answer{"codex": refuse(), "claude": refuse()}},
		{"model_500", agent.Model, map[string]answer{
			"codex":  fail(500, `{"error":{"message":"The server had an error","type":"server_error"}}`),
			"claude": fail(500, `{"type":"error","error":{"type":"api_error","message":"Internal server error"}}`),
		}},
		{"model_400", agent.Model, map[string]answer{
			"codex":  fail(400, `{"error":{"message":"Invalid schema for response_format","type":"invalid_request_error","code":"invalid_json_schema"}}`),
			"claude": fail(400, `{"type":"error","error":{"type":"invalid_request_error","message":"messages: too many"}}`),
		}},
		{"rate_limit", agent.Limit, map[string]answer{
			"codex":  fail(429, `{"error":{"message":"Rate limit reached for gpt-x","type":"tokens","code":"rate_limit_exceeded"}}`),
			"claude": fail(429, `{"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed your account's rate limit."}}`),
		}},
		{"quota", agent.Limit, map[string]answer{
			"codex":  fail(429, `{"error":{"message":"You exceeded your current quota.","type":"insufficient_quota","code":"insufficient_quota"}}`),
			"claude": fail(400, `{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API."}}`),
		}},
		{"overloaded", agent.Limit, map[string]answer{
			"codex":  fail(503, `{"error":{"message":"The engine is overloaded","type":"server_error","code":"server_is_overloaded"}}`),
			"claude": fail(529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`),
		}},
	}
	each(t, func(t *testing.T, r rig) {
		s := newStub(t)
		a, err := agent.New(r.options(t, s))
		require.NoError(t, err)
		dir := checkout(t)
		for _, c := range cases {
			script := []answer{c.answer[r.adapter]}
			if c.kind == agent.Refused && r.adapter == "claude" {
				script = append(script, script[0]) // it asks once more
			}
			s.play(script...)
			_, err := a.Run(context.Background(), dir, feedback("please"))
			assert.Equal(t, c.kind, failure(t, err).Kind, c.name)
			golden(t, r.adapter+"_"+c.name+".txt", steady(err, s))
		}
	})
}

func TestAKeyThatIsNotValidOrNotThere(t *testing.T) {
	each(t, func(t *testing.T, r rig) {
		s := newStub(t)
		opt := r.options(t, s)
		for i, entry := range opt.Env {
			opt.Env[i] = strings.ReplaceAll(entry, stubKey, "sk-wrong")
		}
		_, err := ask(t, opt, checkout(t), feedback("please"))
		assert.Equal(t, agent.Login, failure(t, err).Kind)
		golden(t, r.adapter+"_key_wrong.txt", steady(err, s))

		var without []string
		for _, entry := range opt.Env {
			if !strings.HasPrefix(entry, r.key+"=") {
				without = append(without, entry)
			}
		}
		opt.Env = without
		_, err = ask(t, opt, checkout(t), feedback("please"))
		assert.Equal(t, agent.Login, failure(t, err).Kind)
		golden(t, r.adapter+"_key_missing.txt", steady(err, s))
	})
}

func TestAProviderThatCannotBeReached(t *testing.T) {
	each(t, func(t *testing.T, r rig) {
		s := newStub(t)
		opt := r.options(t, s)
		s.Close()
		_, err := ask(t, opt, checkout(t), feedback("please"))
		assert.Equal(t, agent.Model, failure(t, err).Kind)
		golden(t, r.adapter+"_unreachable.txt", steady(err, s))
	})
}

func TestAModelThatDoesNotAnswerIsStopped(t *testing.T) {
	each(t, func(t *testing.T, r rig) {
		opt := r.options(t, newStub(t, hang()))
		opt.Timeout = 2 * time.Second
		_, err := ask(t, opt, checkout(t), feedback("please"))
		assert.Equal(t, agent.Timeout, failure(t, err).Kind)
		assert.ErrorContains(t, err, "agent: stopped after 2s")
	})
}

func TestAnAnswerThatIsNotJustTheOutcome(t *testing.T) {
	each(t, func(t *testing.T, r rig) {
		s := newStub(t)
		a, err := agent.New(r.options(t, s))
		require.NoError(t, err)
		dir := checkout(t)
		answered := func(text string) (model.Outcome, error) {
			script := []answer{say(text)}
			if r.adapter == "claude" {
				script = append(script, script[0]) // it insists on its tool, once
			}
			s.play(script...)
			return a.Run(context.Background(), dir, feedback("please"))
		}
		out, err := answered("All done, see {braces} and func f() {}:\n\n```json\n" + greeted + "\n```\nAnything else?")
		require.NoError(t, err)
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
			golden(t, name+".txt", err.Error())
		}
	})
}

func TestClaudeIsHeldToTheSchemaByItself(t *testing.T) {
	t.Parallel()
	bad := claude.done(`{"commit_message": 7, "review_replies": [], "general_comment": "", "git_ops": [], "flaky_test_report": null, "blocked_reason": ""}`)
	s := newStub(t, bad, claude.done(greeted))
	opt, dir := claude.options(t, s), checkout(t)
	out, err := ask(t, opt, dir, feedback("please"))
	require.NoError(t, err)
	assert.Equal(t, "Greet louder", out.CommitMessage)

	s.play(bad, bad, bad, bad, bad)
	_, err = ask(t, opt, dir, feedback("please"))
	assert.Equal(t, agent.Output, failure(t, err).Kind)
	golden(t, "claude_schema.txt", err.Error())
}

func TestAModelAndFurtherArgumentsArePassed(t *testing.T) {
	each(t, func(t *testing.T, r rig) {
		s := newStub(t, r.done(greeted))
		opt := r.options(t, s)
		opt.Model = "model-of-the-stub"
		more := map[string][]string{"codex": {"--config", "developer_instructions=be kind"}, "claude": {"--append-system-prompt", "be kind"}}
		opt.ExtraArgs = append(opt.ExtraArgs, more[r.adapter]...)
		var log bytes.Buffer
		opt.Log = &log
		_, err := ask(t, opt, checkout(t), feedback("please"))
		require.NoError(t, err)
		assert.Contains(t, s.asked(0), `"model":"model-of-the-stub"`)
		assert.Contains(t, s.asked(0), "be kind")
		assert.NotContains(t, s.asked(0), "web_search", "no network, not even by the provider")
		if r.adapter == "codex" {
			assert.Contains(t, log.String(), "codex: Model metadata for `model-of-the-stub` not found.", "what it warns of is in the log")
		}
	})
}

func TestAnotherVersionIsOnlyAWarning(t *testing.T) {
	each(t, func(t *testing.T, r rig) {
		s := newStub(t, r.done(greeted))
		opt := r.options(t, s)
		opt = wrapped(t, opt, r.adapter, `[ "$1" != --version ] || { echo "`+r.adapter+` 9.9.9"; exit; }`)
		var log bytes.Buffer
		opt.Log = &log
		_, err := ask(t, opt, checkout(t), feedback("please"))
		require.NoError(t, err)
		line, _, _ := strings.Cut(log.String(), "\n")
		golden(t, r.adapter+"_version.txt", line)
	})
}

func TestAProgramThatIsNotInstalled(t *testing.T) {
	each(t, func(t *testing.T, r rig) {
		opt := r.options(t, nil)
		for i, entry := range opt.Env {
			if strings.HasPrefix(entry, "PATH=") {
				opt.Env[i] = "PATH=" + t.TempDir()
			}
		}
		_, err := ask(t, opt, checkout(t), feedback("please"))
		assert.Equal(t, agent.NotInstalled, failure(t, err).Kind)
		golden(t, r.adapter+"_not_installed.txt", err.Error())

		opt = wrapped(t, r.options(t, nil), r.adapter, "echo 'env: node: No such file or directory' >&2; exit 127")
		_, err = ask(t, opt, checkout(t), feedback("please"))
		assert.Equal(t, agent.NotInstalled, failure(t, err).Kind)
		golden(t, r.adapter+"_not_running.txt", err.Error())
	})
}

func TestAHomeMustBeGiven(t *testing.T) {
	each(t, func(t *testing.T, r rig) {
		opt := r.options(t, nil)
		opt.Temp = ""
		_, err := ask(t, opt, checkout(t), feedback("please"))
		assert.EqualError(t, err, "run "+r.adapter+": no directory for its home was given")
	})
}
