package engine_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
)

func TestALabelMakesAPullRequest(t *testing.T) {
	w := newIssue(t)
	w.done(w.handle(w.label("alice", smallJob)))
	pulls := w.pulls()
	require.Len(t, pulls, 1)
	assert.Equal(t, "agent/small/2-greet-in-french", pulls[0].at("head", "ref"))
	assert.Equal(t, "main", pulls[0].at("base", "ref"))
	assert.Equal(t, "Greet in French", pulls[0]["title"])
	assert.Contains(t, pulls[0]["body"], "Fixes #2")
	assert.Equal(t, "hello\nbonjour\n", w.fileOf("agent/small/2-greet-in-french", "greeting.txt"))
	require.Len(t, w.comments(), 1, "one status comment")
	require.Len(t, w.marked("issue", "done"), 1)
	assert.Empty(t, w.stages())
	assert.Len(t, w.branches(), 1)
	assert.Equal(t, model.ResultNothing, w.handle(w.delivery("issues")).Result)
	assert.Contains(t, w.logged.String(), "kind=comment target=3 pr_number=3 ")
	t.Log(w.talkOn(2) + w.talkOn(3))
}
