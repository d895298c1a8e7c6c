//go:build agents

package agent_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/agent"
	"github.com/mergexo/mergexo/internal/golden"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
	"github.com/mergexo/mergexo/internal/sandbox/modelstub"
)

func TestALimitInTheMiddleOfATurnIsGoneOnFrom(t *testing.T) {
	each(t, func(t *testing.T, r modelstub.Rig) {
		dir := checkout(t)
		s := modelstub.New(t, r.Done(greeted))
		opt := rigged(t, r, s)
		opt.Sessions = t.TempDir()
		req := feedback("a first question")
		first := must.Get(ask(t, opt, dir, req))(t)

		script := append(r.Edit(filepath.Join(dir, "greet.txt"), "hello", "HELLO"), r.RateLimit())
		s.Play(script...)
		req.Prompt, req.Session = "please shout, said alice", first.Session
		_, err := ask(t, opt, dir, req)
		failed := failure(t, err)
		assert.Equal(t, agent.Limit, failed.Kind)
		assert.Equal(t, "HELLO\n", string(contents(t, filepath.Join(dir, "greet.txt"))), "what was done stays done")
		require.Regexp(t, "^"+first.Session[:36]+"/", failed.Session)

		s.Play(r.Done(greeted))
		req.Prompt, req.Session = "go on", failed.Session
		out := must.Get(ask(t, opt, dir, req))(t)
		assert.Contains(t, s.Asked(0), "please shout, said alice")
		assert.Contains(t, s.Asked(0), "HELLO", "it knows what it has done")
		paid := failed.Usage.InputTokens + out.Usage.InputTokens
		assert.Equal(t, int64(len(script)*modelstub.InputTokens), paid, "each answer is paid once, by one turn or the other")
	})
}

func TestAnAnswerThatBreaksOffIsNone(t *testing.T) {
	each(t, func(t *testing.T, r modelstub.Rig) {
		script := []modelstub.Answer{modelstub.Cut(greeted)}
		if r.Adapter == "claude" { // it asks once more, without streaming
			script = append(script, r.Broken())
		}
		s := modelstub.New(t, script...)
		_, err := ask(t, rigged(t, r, s), checkout(t), feedback("please"))
		assert.Equal(t, agent.Model, failure(t, err).Kind)
		golden.Text(t, r.Adapter+"_broke_off.txt", steady(err, s))
	})
}

func TestWhatAModelLeftRunningIsGone(t *testing.T) {
	each(t, func(t *testing.T, r modelstub.Rig) {
		dir := checkout(t)
		alive := filepath.Join(dir, "alive")
		require.NoError(t, syscall.Mkfifo(alive, 0o600))
		seen := make(chan *os.File, 1)
		go func() {
			f, err := os.Open(alive) // until somebody writes to it
			assert.NoError(t, err)
			seen <- f
		}()
		s := modelstub.New(t, r.Run("setsid sh -c 'exec 3>alive; touch up; exec sleep 100000' </dev/null >/dev/null 2>&1 & until [ -e up ]; do sleep 0.1; done"), r.Done(greeted))
		_ = must.Get(ask(t, rigged(t, r, s), dir, feedback("please")))(t)
		f := <-seen
		defer f.Close()
		n, _ := f.Read(make([]byte, 1)) // as long as anybody has the other end open, this does not return
		assert.Zero(t, n)
	})
}

func TestClaudeGetsOverAStreamThatBreaks(t *testing.T) {
	t.Parallel()
	claude, dir := modelstub.Claude(), checkout(t)
	s := modelstub.New(t, modelstub.Cut("I will"), claude.Run("echo ran > ran.txt"), claude.Done(greeted))
	out := must.Get(ask(t, rigged(t, claude, s), dir, feedback("please")))(t)
	assert.FileExists(t, filepath.Join(dir, "ran.txt"))
	assert.Equal(t, "Greet louder", out.CommitMessage)
}

func TestATurnThatIsStoppedInItsMiddle(t *testing.T) {
	each(t, func(t *testing.T, r modelstub.Rig) {
		dir := checkout(t)
		c := clockwork.NewFakeClock()
		s := modelstub.New(t, r.Run("echo ran > ran.txt"), modelstub.Hang().After(func() { c.Advance(7 * time.Minute) }))
		opt := rigged(t, r, s)
		opt.Timeout, opt.Clock = 7*time.Minute, c
		_, err := ask(t, opt, dir, feedback("please"))
		failed := failure(t, err)
		assert.Equal(t, agent.Timeout, failed.Kind)
		assert.Equal(t, model.Usage{InputTokens: modelstub.InputTokens, OutputTokens: modelstub.OutputTokens}, failed.Usage, "the one answer that came was paid for")
		assert.ErrorContains(t, err, "agent: stopped after 7m")
		assert.FileExists(t, filepath.Join(dir, "ran.txt"), "what was done stays done")
	})
}

func TestNobodyIsAskedWhatCodexMayDo(t *testing.T) {
	t.Parallel()
	codex, dir := modelstub.Codex(), checkout(t)
	question := map[string]any{"questions": []any{map[string]any{"id": "q", "header": "May I", "question": "May I?", "options": []any{
		map[string]any{"label": "Yes", "description": "Do it."}, map[string]any{"label": "No", "description": "Do not."},
	}}}}
	s := modelstub.New(t,
		modelstub.Call("exec", `text(await tools.exec_command({cmd: "echo x > .git/planted", sandbox_permissions: "require_escalated", justification: "May I?"}));`),
		modelstub.Call("request_user_input", question),
		codex.Done(greeted),
	)
	_ = must.Get(ask(t, rigged(t, codex, s), dir, feedback("please")))(t)
	assert.NoFileExists(t, filepath.Join(dir, ".git/planted"))
	assert.Contains(t, s.Asked(1), "you cannot ask for escalated permissions if the approval policy is Never")
	assert.Contains(t, s.Asked(2), "request_user_input is unavailable")
}

func TestALongPromptArrivesWhole(t *testing.T) {
	each(t, func(t *testing.T, r modelstub.Rig) {
		s := modelstub.New(t, r.Done(greeted))
		long := strings.Repeat("A pipe holds less than this, and so does a command line. ", 5000)
		_ = must.Get(ask(t, rigged(t, r, s), checkout(t), feedback("first words "+long+" last words")))(t)
		assert.Contains(t, s.Asked(0), "first words "+long+" last words")
	})
}
