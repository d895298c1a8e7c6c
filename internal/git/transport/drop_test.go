package transport_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/gittest"
	"github.com/mergexo/mergexo/internal/git/transport"
	"github.com/mergexo/mergexo/internal/must"
)

const checkpointed = "mergexo/checkpoint/5/abc"

// dropping is a turn with a stage and a checkpoint, which its publication is to delete.
func dropping(t *testing.T) (h *gittest.Hub, c *git.Checkout, p transport.Update) {
	h, c, start, sha := gittest.Turn(t)
	require.NoError(t, transport.Stage(gittest.Ctx, c, gittest.Stage, sha))
	require.NoError(t, transport.Publish(gittest.Ctx, c, transport.Update{Branch: checkpointed, SHA: sha}))
	return h, c, transport.Update{Branch: "agent/x", Start: start, SHA: sha, Stage: gittest.Stage, Drop: []git.Ref{{Name: "refs/heads/" + checkpointed, SHA: sha}}}
}

func TestPublishDropsWhatIsDoneWith(t *testing.T) {
	gone := []git.Ref{{Name: "refs/mergexo/gone"}, {Name: "refs/heads/mergexo/checkpoint/5/gone"}}
	for name, adjust := range map[string]func(h *gittest.Hub, p *transport.Update){
		"all there":      func(*gittest.Hub, *transport.Update) {},
		"some are gone":  func(_ *gittest.Hub, p *transport.Update) { p.Drop = append(gone, p.Drop...) },
		"the stage is":   func(h *gittest.Hub, _ *transport.Update) { h.Git(h.Bare, "update-ref", "-d", gittest.Stage) },
		"wherever it is": func(_ *gittest.Hub, p *transport.Update) { p.Drop[0].SHA = "" },
		"not atomic":     func(h *gittest.Hub, p *transport.Update) { h.Git(h.Bare, "config", "receive.advertiseAtomic", "false") },
		"not atomic, too": func(h *gittest.Hub, p *transport.Update) {
			h.Git(h.Bare, "config", "receive.advertiseAtomic", "false")
			p.Drop = append(gone, p.Drop...)
		},
		"without a stage": func(h *gittest.Hub, p *transport.Update) {
			p.Stage = ""
			h.Git(h.Bare, "update-ref", "-d", gittest.Stage)
		},
		"all are gone": func(h *gittest.Hub, p *transport.Update) {
			h.Git(h.Bare, "update-ref", "-d", gittest.Stage)
			h.Git(h.Bare, "update-ref", "-d", "refs/heads/"+checkpointed)
		},
		"moved already": func(h *gittest.Hub, p *transport.Update) { h.Git(h.Bare, "update-ref", "refs/heads/agent/x", p.SHA) },
		"a new branch":  func(_ *gittest.Hub, p *transport.Update) { p.Branch, p.Start = gittest.Fresh, "" },
	} {
		t.Run(name, func(t *testing.T) {
			h, c, p := dropping(t)
			adjust(h, &p)
			require.NoError(t, transport.Publish(gittest.Ctx, c, p))
			assert.Equal(t, p.SHA, h.Tip("refs/heads/"+p.Branch))
			assert.Empty(t, h.Tip(gittest.Stage))
			assert.Empty(t, h.Tip("refs/heads/"+checkpointed))
			if name == "all there" {
				assert.Equal(t, 4, c.NetworkCalls(), "fetch, stage, checkpoint and one for all of it")
			}
			require.NoError(t, transport.Publish(gittest.Ctx, c, p), "once more changes nothing")
			assert.Equal(t, p.SHA, h.Tip("refs/heads/"+p.Branch))
		})
	}
}

func TestWhatIsNotDroppedDoesNotHoldUpTheMove(t *testing.T) {
	refuse := "#!/bin/sh\nif [ \"$1\" = refs/heads/" + checkpointed + " ]; then echo 'GH013: Repository rule violations found' >&2; exit 1; fi\n"
	all := "#!/bin/sh\nif grep -q checkpoint; then echo 'GH013: Repository rule violations found' >&2; exit 1; fi\n"
	must.Each(t, map[string]func(h *gittest.Hub){
		"somebody worked on it": func(h *gittest.Hub) {
			h.Git(h.Dev, "fetch", "-q", "origin", checkpointed)
			h.Git(h.Dev, "checkout", "-q", "-b", checkpointed, "FETCH_HEAD")
			h.Commit(checkpointed, "a person's", map[string]string{"p.txt": "p\n"})
		},
		"protected": func(h *gittest.Hub) {
			require.NoError(t, os.WriteFile(filepath.Join(h.Bare, "hooks", "update"), []byte(refuse), 0o755))
		},
		"all is refused for its sake": func(h *gittest.Hub) {
			require.NoError(t, os.WriteFile(filepath.Join(h.Bare, "hooks", "pre-receive"), []byte(all), 0o755))
		},
		"protected, not atomic": func(h *gittest.Hub) {
			h.Git(h.Bare, "config", "receive.advertiseAtomic", "false")
			require.NoError(t, os.WriteFile(filepath.Join(h.Bare, "hooks", "update"), []byte(refuse), 0o755))
		},
	}, func(t *testing.T, adjust func(h *gittest.Hub)) {
		h, c, p := dropping(t)
		adjust(h)
		was := h.Tip("refs/heads/" + checkpointed)
		require.NoError(t, transport.Publish(gittest.Ctx, c, p))
		assert.Equal(t, p.SHA, h.Tip("refs/heads/agent/x"))
		assert.Equal(t, was, h.Tip("refs/heads/"+checkpointed))
		assert.Empty(t, h.Tip(gittest.Stage))
	})
}

func TestAMoveThatIsRefusedDropsNothing(t *testing.T) {
	for name, reason := range map[string]git.Reason{"moved": git.Stale, "protected": git.Protected} {
		t.Run(name, func(t *testing.T) {
			h, c, p := dropping(t)
			if name == "moved" {
				h.Commit("agent/x", "a person's", map[string]string{"p.txt": "p\n"})
			} else {
				hook := "#!/bin/sh\nif [ \"$1\" = refs/heads/agent/x ]; then echo 'GH006: Protected branch update failed' >&2; exit 1; fi\n"
				require.NoError(t, os.WriteFile(filepath.Join(h.Bare, "hooks", "update"), []byte(hook), 0o755))
			}
			was := h.Tip("refs/heads/agent/x")
			rejected := gittest.As[*git.ErrRejected](t, transport.Publish(gittest.Ctx, c, p))
			assert.Equal(t, reason, rejected.Reason)
			assert.Equal(t, "refs/heads/agent/x", rejected.Ref)
			assert.Equal(t, was, h.Tip("refs/heads/agent/x"))
			assert.Equal(t, p.SHA, h.Tip("refs/heads/"+checkpointed))
			assert.Equal(t, p.SHA, h.Tip(gittest.Stage))
		})
	}
}

func TestPublishDropsOnlyWhatIsOurs(t *testing.T) {
	h, c, p := dropping(t)
	for _, ref := range []git.Ref{
		{Name: "refs/heads/main"}, {Name: "refs/heads/mergexo/issue-5"}, {Name: "refs/tags/v1"}, {Name: checkpointed}, {Name: ""}, {Name: "refs/mergexo/a:b"},
		{Name: "refs/heads/mergexo/checkpoint/../../main"}, {Name: "refs/heads/" + checkpointed, SHA: "HEAD"},
	} {
		p.Drop = []git.Ref{ref}
		assert.ErrorContains(t, transport.Publish(gittest.Ctx, c, p), "not a branch, commit ids and refs of ours", "%v", ref)
	}
	p = transport.Update{Branch: checkpointed, Start: p.SHA, SHA: p.SHA, Drop: []git.Ref{{Name: "refs/heads/" + checkpointed}}}
	assert.Error(t, transport.Publish(gittest.Ctx, c, p), "what is moved is not dropped")
	assert.Equal(t, p.SHA, h.Tip("refs/heads/"+checkpointed))
}

func TestABranchIsCreatedOnce(t *testing.T) {
	h, c, start, sha := gittest.Turn(t)
	p := transport.Update{Branch: gittest.Fresh, SHA: sha}
	require.NoError(t, transport.Publish(gittest.Ctx, c, p))
	require.NoError(t, transport.Publish(gittest.Ctx, c, p), "it is at SHA already")
	for _, other := range []string{start, h.Tip("main")} { // an ancestor, from where it would be a fast-forward, too
		h.Git(h.Bare, "update-ref", "refs/heads/"+gittest.Fresh, other)
		assert.Equal(t, git.Stale, gittest.As[*git.ErrRejected](t, transport.Publish(gittest.Ctx, c, p)).Reason)
		assert.Equal(t, other, h.Tip("refs/heads/"+gittest.Fresh))
	}
}
