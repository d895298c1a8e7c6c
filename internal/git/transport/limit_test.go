package transport_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/gittest"
	"github.com/mergexo/mergexo/internal/git/transport"
	"github.com/mergexo/mergexo/internal/must"
)

// limited has the server refuse pushes of more than so many refs, in GitHub's words, and gives the refs of every push that it
// takes: https://github.com/ejoffe/spr/issues/422
func limited(t *testing.T, h *gittest.Hub, limit int) (taken func() [][]string) {
	t.Helper()
	log := filepath.Join(t.TempDir(), "taken")
	hook := fmt.Sprintf("#!/bin/sh\npushed=$(cat)\nif [ \"$(printf '%%s\\n' \"$pushed\" | wc -l)\" -gt %d ]; then\n"+
		"echo 'error: GH013: Repository rule violations found for refs/x.' >&2\necho '- Pushes can not update more than %d branches or tags.' >&2\nexit 1\nfi\n"+
		"printf '%%s\\n' \"$pushed\" | cut -d ' ' -f 3 | tr '\\n' ' ' >>%q\necho >>%q\n", limit, limit, log, log)
	require.NoError(t, os.WriteFile(filepath.Join(h.Bare, "hooks", "pre-receive"), []byte(hook), 0o755))
	return func() (pushes [][]string) {
		text := gittest.Must(os.ReadFile(log))(t)
		for row := range strings.Lines(string(text)) {
			pushes = append(pushes, strings.Fields(row))
		}
		return pushes
	}
}

func TestThePublicationIsSplitIntoPushesThatTheServerTakes(t *testing.T) {
	const branch, at, gone = "refs/heads/agent/x", "refs/heads/" + checkpointed, "refs/mergexo/gone"
	for limit, want := range map[int][][]string{
		1: {{branch}, {gittest.Stage}, {at}, {gone}},
		2: {{branch, gittest.Stage}, {at, gone}},
		3: {{branch, gittest.Stage, at}, {gone}},
		4: {{branch, gittest.Stage, at, gone}},
	} {
		t.Run(fmt.Sprint(limit), func(t *testing.T) {
			h, c, p := dropping(t)
			p.Drop = append(p.Drop, git.Ref{Name: gone})
			taken := limited(t, h, limit)
			require.NoError(t, transport.Publish(gittest.Ctx, c, p))
			assert.Equal(t, p.SHA, h.Tip(branch))
			assert.Empty(t, h.Tip(gittest.Stage))
			assert.Empty(t, h.Tip(at))
			got := taken()
			for _, refs := range got {
				slices.Sort(refs)
			}
			assert.Equal(t, want[0][0], got[0][0], "nothing that holds the work goes before the branch has it")
			for _, refs := range want {
				slices.Sort(refs)
			}
			assert.Equal(t, want, got, "each ref once")

			require.NoError(t, transport.Stage(gittest.Ctx, c, gittest.Stage, p.SHA))
			calls := c.NetworkCalls()
			require.NoError(t, transport.Publish(gittest.Ctx, c, transport.Update{Branch: gittest.Fresh, SHA: p.SHA, Stage: gittest.Stage}))
			assert.LessOrEqual(t, c.NetworkCalls()-calls, 2, "the limit is known by now")
		})
	}
}

// What was moved has been moved, whatever becomes of what was to be dropped: the caller looks at the server.
func TestWhatFailsAfterTheMoveIsUnclear(t *testing.T) {
	must.Each(t, map[string]bool{"lost": true, "refused": false}, func(t *testing.T, lose bool) {
		h, c, p := dropping(t)
		p.Drop = nil
		limited(t, h, 1)
		if lose {
			pushes := 0
			h.Behave(false, func(_ http.ResponseWriter, r *http.Request) bool {
				if !strings.HasSuffix(r.URL.Path, "/git-receive-pack") {
					return false
				}
				if pushes++; pushes == 3 { // the refused one, the branch, the stage
					panic(http.ErrAbortHandler)
				}
				return false
			})
		} else {
			hook := "#!/bin/sh\nif [ \"$1\" = " + gittest.Stage + " ]; then echo 'GH013: Repository rule violations found' >&2; exit 1; fi\n"
			require.NoError(t, os.WriteFile(filepath.Join(h.Bare, "hooks", "update"), []byte(hook), 0o755))
		}
		err := transport.Publish(gittest.Ctx, c, p)
		got := gittest.OutcomeOf(err)
		assert.Equal(t, gittest.Outcome{Unclear: lose, Failure: got.Failure}, got, "%v", err)
		assert.Equal(t, p.SHA, h.Tip("refs/heads/agent/x"))
		assert.Equal(t, p.SHA, h.Tip(gittest.Stage))
		h.Behave(false, nil)
		require.NoError(t, transport.Publish(gittest.Ctx, c, p), "the next run goes on")
		if lose {
			assert.Empty(t, h.Tip(gittest.Stage))
		}
	})
}

func TestAMoveThatIsRefusedDropsNothingWhereThePushIsSplit(t *testing.T) {
	h, c, p := dropping(t)
	limited(t, h, 1)
	h.Commit("agent/x", "a person's", map[string]string{"p.txt": "p\n"})
	was := h.Tip("refs/heads/agent/x")
	for range 2 {
		assert.Equal(t, git.Stale, gittest.OutcomeOf(transport.Publish(gittest.Ctx, c, p)).Reason)
	}
	assert.Equal(t, was, h.Tip("refs/heads/agent/x"))
	assert.Equal(t, p.SHA, h.Tip("refs/heads/"+checkpointed))
	assert.Equal(t, p.SHA, h.Tip(gittest.Stage))
}

func TestTheStageGoesBeforeWhatIsKeptWithIt(t *testing.T) {
	h, c, _, sha := gittest.Turn(t)
	taken := limited(t, h, 1)
	kept := []transport.PrivateRef{{Ref: "refs/mergexo/session/7/a", Content: []byte("a")}, {Ref: "refs/mergexo/session/7/b", Content: []byte("b")}}
	require.NoError(t, transport.Stage(gittest.Ctx, c, gittest.Stage, sha, kept...))
	assert.Equal(t, [][]string{{gittest.Stage}, {kept[0].Ref}, {kept[1].Ref}}, taken())
	assert.Equal(t, "b", string(gittest.Must(transport.ReadPrivate(gittest.Ctx, c, kept[1].Ref, 10))(t)))
}

func TestWhatIsCleanedUpGoesInPushesThatTheServerTakes(t *testing.T) {
	h, c, _, sha := gittest.Turn(t)
	var refs []git.Ref
	for i := range 7 {
		refs = append(refs, git.Ref{Name: fmt.Sprintf("refs/mergexo/turn/7/%d", i), SHA: sha})
		require.NoError(t, transport.Stage(gittest.Ctx, c, refs[i].Name, sha))
	}
	h.Git(h.Bare, "update-ref", refs[0].Name, h.Tip("main"))
	taken := limited(t, h, 2)
	assert.Equal(t, refs[:1], gittest.Must(transport.DeleteAll(gittest.Ctx, c, refs))(t), "where it has moved")
	for i := range refs {
		assert.Equal(t, i == 0, h.Tip(refs[i].Name) != "", refs[i].Name)
	}
	assert.Len(t, slices.Concat(taken()...), 6, "each once")
}

// A server that says so of a push of one ref would say it for ever.
func TestAPushOfOneRefIsNotSplit(t *testing.T) {
	h, c, _, sha := gittest.Turn(t)
	limited(t, h, 0)
	calls := c.NetworkCalls()
	err := transport.Stage(gittest.Ctx, c, gittest.Stage, sha)
	assert.Equal(t, git.Protected, gittest.OutcomeOf(err).Reason)
	assert.ErrorContains(t, err, "more than 0 branches")
	assert.Equal(t, 1, c.NetworkCalls()-calls)
}
