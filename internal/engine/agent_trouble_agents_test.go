//go:build agents

package engine_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
	"github.com/mergexo/mergexo/internal/sandbox/modelstub"
)

func TestARealProgramThatIsNotThereOrNotLoggedInAndThenIs(t *testing.T) {
	programs(t, func(t *testing.T, r modelstub.Rig) {
		w, s := played(t, r, "")
		comment, before := w.review("alice", "Greet the moon."), w.tip()
		ev := w.delivery("pull_request_review_comment")
		path, key := w.env["PATH"], w.env[r.KeyName]

		w.env["PATH"] = t.TempDir()
		missing := fmt.Sprintf("%s does not start (start %[1]s: not found in PATH): install it with npm install -g ", r.Adapter)
		w.shown(trouble{result: model.ResultFailed, says: missing}, w.handle(ev), before)
		w.env["PATH"] = path
		delete(w.env, r.KeyName)
		require.ErrorContains(t, must.Err(w.engine().Handle(context.Background(), ev)), "the secret "+r.KeyName+" is missing or empty")
		assert.Equal(t, before, w.tip())
		assert.Len(t, w.marked("turn", ""), 1, "no attempt more")

		w.env[r.KeyName] = key
		s.Play(w.answering(r, comment, "world", "moon")...)
		w.done(w.handle(ev))
		w.settled(1, 1, 1)
		assert.Equal(t, "hello\nmoon\n", w.file("greeting.txt"))
	})
}

func TestARealProgramOfAnotherVersionIsOnlyWorthANote(t *testing.T) {
	programs(t, func(t *testing.T, r modelstub.Rig) {
		w, s := played(t, r, "")
		dir := t.TempDir()
		script := fmt.Sprintf("#!/bin/sh\n[ \"$1\" != --version ] || { echo '%s 9.9.9'; exit; }\nexec %s/%[1]s \"$@\"\n", r.Adapter, modelstub.Programs(t))
		require.NoError(t, os.WriteFile(filepath.Join(dir, r.Adapter), []byte(script), 0o755))
		w.env["PATH"] = dir + ":" + w.env["PATH"]
		s.Play(w.answering(r, w.review("alice", "Greet the moon."), "world", "moon")...)
		var said bytes.Buffer
		e := w.engine()
		e.Foreign = &said
		rep := w.by(e, w.delivery("pull_request_review_comment"))
		require.Equal(t, model.ResultDone, rep.Result, rep.Reason)
		w.settled(1, 1, 1)
		assert.Contains(t, said.String(), fmt.Sprintf("%s says it is \"%[1]s 9.9.9\"; version ", r.Adapter))
	})
}

func TestARealProgramWhoseLastWordsAreNotJustTheOutcome(t *testing.T) {
	r := modelstub.Codex()
	w, s := played(t, r, "")
	comment, before := w.review("alice", "Greet the moon."), w.tip()
	ev := w.delivery("pull_request_review_comment")
	script := w.answering(r, comment, "world", "moon")
	good := fmt.Sprintf(`{"review_replies": [{"review_comment_id": %d, "body": "Done."}], "commit_message": "Say moon"}`, comment)

	script[1] = modelstub.Say(good + "\nor rather\n" + good)
	s.Play(script...)
	w.shown(trouble{result: model.ResultFailed, says: "its answer has 2 JSON objects: want one", kept: []string{"Checkpoint of work on pull request 1"}}, w.handle(ev), before)

	script[1] = modelstub.Say("I have greeted it:\n\n```json\n" + good + "\n```\n\nAnything else?")
	s.Play(script...)
	w.done(w.handle(ev))
	w.settled(1, 1, 1)
}
