package engine_test

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/config"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
)

// agentSetting changes a line of the settings' [agent] section.
func (w *world) agentSetting(old, line string) { w.t.Helper(); w.resets(old, line) }

// given has the agent get a variable of the runner.
func (w *world) given(name, value string) {
	w.t.Helper()
	w.resets("pass_env = [", fmt.Sprintf("pass_env = [%q, ", name))
	w.env = map[string]string{name: value}
}

// readable is all that anybody can read of a run.
func (w *world) readable(rep model.Report) string {
	text := rep.Reason + w.logged.String()
	for _, c := range append(w.comments(), w.replies()...) {
		text += c["body"].(string)
	}
	return text
}

func TestWhatAnAgentSaysOfItsKeysIsNotPosted(t *testing.T) {
	each(t, map[string]struct{ key, says string }{
		"blab":    {"sk-live-0123456789\n", "I used ***.\n[a line with what looks like a secret was left out]\nThat is all."},
		"badkey":  {`sk-live-"0123\456`, "bad key ***"},
		"longkey": {"sk-live-0123456789", "xxx***"},
	}, func(t *testing.T, how string, c struct{ key, says string }) {
		w := newWorld(t).whoseAgent(how)
		w.given("MODEL_KEY", c.key)
		shown := w.readable(w.handle(w.say("alice", "Which key do you use?")))
		assert.NotContains(t, shown, "sk-live")
		assert.NotContains(t, shown, "016C7EnX")
		assert.Contains(t, shown, c.says)
	})
}

func TestTheValueOfAVariableThatTheAgentWasGivenIsPushedNowhere(t *testing.T) {
	w := newWorld(t, "", "[feedback]\nallow_secrets = [\"**\"]").whoseAgent("spill")
	w.given("DB_PASS", "Kq7-vT2x9")
	rep := w.blocked(model.ReasonSecret, w.handle(w.say("alice", "Set the password.")))
	assert.Contains(t, rep.Reason, "settings.txt:2: pass_env (the value of DB_PASS)")
	assert.NotContains(t, rep.Reason, "allow_secrets")
	assert.NotContains(t, w.readable(rep), "Kq7-vT2x9")
	assert.Len(t, w.commits(), 1)
	assert.Empty(t, w.stages())
}

func TestTheMessageOfACommitShowsNoSecrets(t *testing.T) {
	const shown = "\n\nIt works with ***.\n[a line with what looks like a secret was left out]\nThat is all."
	w := newWorld(t).whoseAgent("talkative")
	w.given("DB_PASS", "Kq7-vT2x9")
	w.done(w.handle(w.say("alice", "Talk.")))
	assert.Contains(t, w.bare("log", "-1", "--format=%B", w.head), "Talk on"+shown)
	assert.Contains(t, w.bare("log", "-1", "--format=%B", w.head+"~1"), "Talk"+shown)
	assert.Contains(t, w.receipt(), "> `removed from the agent's commit messages: secrets`")
}

func TestAPlanShowsNoKeys(t *testing.T) {
	w := newWorld(t).whoseAgent("pair")
	w.given("MODEL_KEY", "sk-live-0123456789")
	w.open("alice", "Greet everywhere", "In all languages.")
	ev := w.label("alice", roadmapLabel)
	w.done(w.phase(thread.ApplyPhase, ev, w.prepared(ev)))
	file := w.fileOf(w.pulls()[0].at("head", "ref").(string), planFile)
	assert.Contains(t, file, "goal: \"Everybody is greeted.***\"\n")
	assert.Contains(t, file, "acceptance: \"File one.txt is there.***\"\n")
}

func TestKeysStayInTheJobThatHasThem(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"blab", "badkey"} {
		w := newWorld(t).whoseAgent(how)
		w.given("MODEL_KEY", "sk-live-0123456789")
		ev := w.say("alice", "Which key do you use?")
		dir := w.prepared(ev)
		assert.NotContains(t, string(contents(t, filepath.Join(dir, "outcome.json"))), "sk-live-0123456789")
		w.env = nil // the other job does not have it, and could not tell
		assert.NotContains(t, w.readable(w.phase(thread.ApplyPhase, ev, dir)), "sk-live-0123456789")
	}
}

// A mistake in [agent] ends the run before anything is said.
func TestAMistakeInTheSettingsOfTheAgentComesFirst(t *testing.T) {
	t.Parallel()
	const command, key = "adapter = \"command\"\n", "[agent] pass_env: "
	for says, lines := range map[string]string{
		key + "MY_PAT holds one of MergeXO's own secrets":                              command + `pass_env = ["MY_PAT", `,
		key + "MY_KEY holds the model's key, which MergeXO keeps to itself: remove it": `adapter = "codex"` + "\n" + `pass_env = ["MY_KEY", `,
		`[agent] user = "root"`: command + "user = \"root\"\npass_env = [",
	} {
		w := newWorld(t)
		w.agentSetting(command, "")
		w.agentSetting("pass_env = [", lines)
		w.env = map[string]string{"MY_PAT": "sandbox-actions", "OPENAI_API_KEY": "sk-0123456789", "MY_KEY": "sk-0123456789"}
		_, err := w.engine().Handle(context.Background(), w.say("alice", "Answer me."))
		assert.ErrorIs(t, err, config.ErrInvalid)
		assert.ErrorContains(t, err, says)
		assert.Empty(t, w.marked("turn", ""))
	}
}

// noModelKey has the settings name Codex, whose key nobody has stored.
func (w *world) noModelKey() {
	w.t.Helper()
	w.agentSetting(`adapter = "command"`, `adapter = "codex"`)
	w.env = map[string]string{"OPENAI_API_KEY": " ", "PATH": w.t.TempDir()}
}

// A missing key is told once, before anything is claimed, and costs no attempt. The event after it is stored continues.
func TestAModelsKeyThatIsMissingIsToldBeforeTheClaim(t *testing.T) {
	const store = "gh secret set OPENAI_API_KEY --repo 127.0.0.1/octo/widgets"
	each(t, map[string]func(*world) func() model.Event{
		"a comment": func(w *world) func() model.Event {
			return func() model.Event { w.talk("alice", "Answer me."); return w.delivery("issue_comment") }
		},
		"an issue": func(w *world) func() model.Event {
			w.open("alice", "Greet in French", "People in France read this.")
			label := w.label("alice", smallJob)
			return func() model.Event { return label }
		},
	}, func(t *testing.T, name string, begin func(*world) func() model.Event) {
		w := newWorld(t)
		w.noModelKey()
		event := begin(w)
		for n := range 4 {
			_, err := w.engine().Handle(context.Background(), event())
			require.ErrorIs(t, err, config.ErrInvalid)
			assert.ErrorContains(t, err, `main:.github/mergexo.toml: agent.adapter: the secret OPENAI_API_KEY is missing or empty, and codex needs it as the key of its model: run `+store+", and give it to MergeXO's step in env as OPENAI_API_KEY: ${{ secrets.OPENAI_API_KEY }}")
			assert.Empty(t, w.marked("turn", ""))
			assert.Empty(t, w.marked("issue", ""))
			told := w.saidOnce("settings", "")
			assert.Contains(t, told, "**Stopped: the secret `OPENAI_API_KEY` is missing or empty**")
			assert.Contains(t, told, "\n\n`codex` needs it as the key of its model.\n\nRun this, and give it to MergeXO's step in `env` as `OPENAI_API_KEY: ${{ secrets.OPENAI_API_KEY }}`:\n\n    "+store+"\n\nNo agent")
			if n == 0 {
				w.sweep()
			}
		}
		w.dry(event())
		w.env["OPENAI_API_KEY"] = "sk-0123456789"
		rep := w.handle(event())
		assert.Contains(t, rep.Reason, "codex", "the claim is made, and the agent is started")
		assert.Len(t, w.marked("turn", "failed"), map[bool]int{true: 1}[name == "a comment"])
	})
}

// Tests whose program is not there cost no agent, and no round of one where only their script shows it.
func TestTestsThatAreNotInstalledStopAtOnce(t *testing.T) {
	w := newWorld(t, `required_tests = ["sh", "-c", "no-such-tool install && no-such-tool test"]`)
	_, err := w.engine().Handle(context.Background(), w.say("alice", "Answer me."))
	require.ErrorIs(t, err, config.ErrInvalid)
	assert.ErrorContains(t, err, "main:.github/mergexo.toml: repo.required_tests: no-such-tool is not installed on the runner, and the tests begin with it: install it in .github/mergexo/setup/action.yml, or in a step")
	assert.Contains(t, w.marked("settings", "")[0]["body"], "**Stopped: `no-such-tool` is not installed on the runner**\n\nThe tests begin with it.\n\nInstall it in")
	assert.Zero(t, w.calls())

	w = newWorld(t, `required_tests = ["make", "test"]`).whoseAgent("commits+answer")
	w.write("octo", w.head, "Makefile", "test:\n\tno-such-tool test\n")
	w.blocked(model.ReasonTests, w.handle(w.say("alice", "Answer me.")))
	assert.Contains(t, w.marked("block", "")[0]["body"], "```text\nno-such-tool is not installed: install it in .github/mergexo/setup/action.yml, or in a step before MergeXO's")
	assert.Equal(t, 1, w.calls(), "no repair round")
	assert.Len(t, w.checkpoints(), 1, "the work is kept")
}

func TestAReviewWithoutTheReviewersKeyIsNotClaimed(t *testing.T) {
	w := newWorld(t)
	w.write("octo", "main", ".github/mergexo.toml", w.fileOf("main", ".github/mergexo.toml")+"\n[review]\nadapter = \"claude\"\n")
	_, err := w.engine().Handle(context.Background(), w.say("octo", "/mergexo review"))
	require.ErrorIs(t, err, config.ErrInvalid)
	assert.ErrorContains(t, err, `review.adapter: the secret ANTHROPIC_API_KEY is missing or empty, and claude needs it as the key of its model: run gh secret set ANTHROPIC_API_KEY`)
	assert.Empty(t, w.marked("review", ""))
}

// The job of an agent says nothing: its own run tells.
func TestAnAgentsJobWithoutAKeyFailsAndWritesNothing(t *testing.T) {
	w := newWorld(t)
	w.noModelKey()
	ev, e, dir := w.say("alice", "Answer me."), w.engine(), filepath.Join(t.TempDir(), "handoff")
	e.Phase, e.Bundle = thread.AgentPhase, dir
	w.gate.revive()
	require.ErrorIs(t, must.Err(e.Handle(context.Background(), ev)), config.ErrInvalid)
	assert.Zero(t, w.gate.writes, "%v", w.gate.seen)
	delete(w.env, "OPENAI_API_KEY") // which the other job has never had
	w.phase(thread.ApplyPhase, ev, dir)
	assert.Empty(t, w.marked("turn", ""), "no attempt")
	assert.Empty(t, w.marked("settings", ""))
}

func TestNothingOfAnotherRepositoryIsPushed(t *testing.T) {
	foreign := t.TempDir()
	out, err := exec.CommandContext(t.Context(), "sh", "-ec", `cd "$0"; git init -q; git config user.name o; git config user.email o@example.com
		git commit -q --allow-empty -m x; echo TOPSECRET >s; git add s; git commit -q -m "Not yours"`, foreign).CombinedOutput()
	require.NoError(t, err, "%s", out)
	w := newWorld(t).whoseAgent("borrow")
	w.given("FOREIGN", foreign)
	before := w.tip()
	rep := w.handle(w.say("alice", "Borrow something."))
	assert.NotEqual(t, model.ResultDone, rep.Result)
	assert.Equal(t, before, w.tip())
	assert.Empty(t, w.checkpoints())
	assert.Empty(t, w.stages())
}
