package git_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/gittest"
)

func TestHEADIsWhatGitSaysWhereverItPoints(t *testing.T) {
	h, c, start, sha := gittest.Turn(t)
	is := func(want string) {
		t.Helper()
		assert.Equal(t, want, gittest.Must(c.Head(gittest.Ctx))(t))
		assert.Equal(t, want, h.Agent(c, "rev-parse", "HEAD^{commit}"))
	}
	is(sha)
	h.Agent(c, "pack-refs", "--all")
	is(sha)
	h.Agent(c, "checkout", "-q", "--detach", start)
	is(start)
	h.Agent(c, "update-ref", "refs/other/x", sha)
	h.Agent(c, "symbolic-ref", "HEAD", "refs/other/x")
	is(sha)
	h.Agent(c, "symbolic-ref", "refs/heads/alias", "refs/heads/agent/x")
	h.Agent(c, "symbolic-ref", "HEAD", "refs/heads/alias")
	is(sha)
	gittest.Write(t, c.Dir(), map[string]string{".git/refs/heads/agent/x": "00000000000000000000000000000000deadbeef\n"})
	_, err := c.Head(gittest.Ctx)
	var failed *git.Error
	assert.ErrorAs(t, err, &failed, "git says what is broken")
}
