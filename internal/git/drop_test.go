package git_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/git"
)

const checkpointed = "mergexo/checkpoint/5/abc"

// dropping is a turn with a stage and a checkpoint, which its publication is to delete.
func dropping(t *testing.T) (h *hub, c *git.Checkout, p git.Publish) {
	h, c, start, sha := turn(t)
	require.NoError(t, c.Stage(ctx, stage, sha))
	require.NoError(t, c.Publish(ctx, git.Publish{Branch: checkpointed, SHA: sha}))
	return h, c, git.Publish{Branch: "agent/x", Start: start, SHA: sha, Stage: stage, Drop: []git.Ref{{Name: "refs/heads/" + checkpointed, SHA: sha}}}
}

func TestPublishDropsWhatIsDoneWith(t *testing.T) {
	gone := []git.Ref{{Name: "refs/mergexo/gone"}, {Name: "refs/heads/mergexo/checkpoint/5/gone"}}
	for name, adjust := range map[string]func(h *hub, p *git.Publish){
		"all there":      func(*hub, *git.Publish) {},
		"some are gone":  func(_ *hub, p *git.Publish) { p.Drop = append(gone, p.Drop...) },
		"the stage is":   func(h *hub, _ *git.Publish) { h.git(h.bare, "update-ref", "-d", stage) },
		"wherever it is": func(_ *hub, p *git.Publish) { p.Drop[0].SHA = "" },
		"not atomic":     func(h *hub, p *git.Publish) { h.git(h.bare, "config", "receive.advertiseAtomic", "false") },
		"not atomic, too": func(h *hub, p *git.Publish) {
			h.git(h.bare, "config", "receive.advertiseAtomic", "false")
			p.Drop = append(gone, p.Drop...)
		},
		"without a stage": func(h *hub, p *git.Publish) { p.Stage = ""; h.git(h.bare, "update-ref", "-d", stage) },
		"all are gone": func(h *hub, p *git.Publish) {
			h.git(h.bare, "update-ref", "-d", stage)
			h.git(h.bare, "update-ref", "-d", "refs/heads/"+checkpointed)
		},
		"moved already": func(h *hub, p *git.Publish) { h.git(h.bare, "update-ref", "refs/heads/agent/x", p.SHA) },
		"a new branch":  func(_ *hub, p *git.Publish) { p.Branch, p.Start = fresh, "" },
	} {
		t.Run(name, func(t *testing.T) {
			h, c, p := dropping(t)
			adjust(h, &p)
			require.NoError(t, c.Publish(ctx, p))
			assert.Equal(t, p.SHA, h.tip("refs/heads/"+p.Branch))
			assert.Empty(t, h.tip(stage))
			assert.Empty(t, h.tip("refs/heads/"+checkpointed))
			if name == "all there" {
				assert.Equal(t, 4, c.NetworkCalls(), "fetch, stage, checkpoint and one for all of it")
			}
			require.NoError(t, c.Publish(ctx, p), "once more changes nothing")
			assert.Equal(t, p.SHA, h.tip("refs/heads/"+p.Branch))
		})
	}
}

func TestWhatIsNotDroppedDoesNotHoldUpTheMove(t *testing.T) {
	refuse := "#!/bin/sh\nif [ \"$1\" = refs/heads/" + checkpointed + " ]; then echo 'GH013: Repository rule violations found' >&2; exit 1; fi\n"
	all := "#!/bin/sh\nif grep -q checkpoint; then echo 'GH013: Repository rule violations found' >&2; exit 1; fi\n"
	for name, adjust := range map[string]func(h *hub){
		"somebody worked on it": func(h *hub) {
			h.git(h.dev, "fetch", "-q", "origin", checkpointed)
			h.git(h.dev, "checkout", "-q", "-b", checkpointed, "FETCH_HEAD")
			h.commit(checkpointed, "a person's", map[string]string{"p.txt": "p\n"})
		},
		"protected": func(h *hub) {
			require.NoError(t, os.WriteFile(filepath.Join(h.bare, "hooks", "update"), []byte(refuse), 0o755))
		},
		"all is refused for its sake": func(h *hub) {
			require.NoError(t, os.WriteFile(filepath.Join(h.bare, "hooks", "pre-receive"), []byte(all), 0o755))
		},
		"protected, not atomic": func(h *hub) {
			h.git(h.bare, "config", "receive.advertiseAtomic", "false")
			require.NoError(t, os.WriteFile(filepath.Join(h.bare, "hooks", "update"), []byte(refuse), 0o755))
		},
	} {
		t.Run(name, func(t *testing.T) {
			h, c, p := dropping(t)
			adjust(h)
			was := h.tip("refs/heads/" + checkpointed)
			require.NoError(t, c.Publish(ctx, p))
			assert.Equal(t, p.SHA, h.tip("refs/heads/agent/x"))
			assert.Equal(t, was, h.tip("refs/heads/"+checkpointed))
			assert.Empty(t, h.tip(stage))
		})
	}
}

func TestAMoveThatIsRefusedDropsNothing(t *testing.T) {
	for name, reason := range map[string]git.Reason{"moved": git.Stale, "protected": git.Protected} {
		t.Run(name, func(t *testing.T) {
			h, c, p := dropping(t)
			if name == "moved" {
				h.commit("agent/x", "a person's", map[string]string{"p.txt": "p\n"})
			} else {
				hook := "#!/bin/sh\nif [ \"$1\" = refs/heads/agent/x ]; then echo 'GH006: Protected branch update failed' >&2; exit 1; fi\n"
				require.NoError(t, os.WriteFile(filepath.Join(h.bare, "hooks", "update"), []byte(hook), 0o755))
			}
			was := h.tip("refs/heads/agent/x")
			var rejected *git.ErrRejected
			require.ErrorAs(t, c.Publish(ctx, p), &rejected)
			assert.Equal(t, reason, rejected.Reason)
			assert.Equal(t, "refs/heads/agent/x", rejected.Ref)
			assert.Equal(t, was, h.tip("refs/heads/agent/x"))
			assert.Equal(t, p.SHA, h.tip("refs/heads/"+checkpointed))
			assert.Equal(t, p.SHA, h.tip(stage))
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
		assert.ErrorContains(t, c.Publish(ctx, p), "not a branch, commit ids and refs of ours", "%v", ref)
	}
	p = git.Publish{Branch: checkpointed, Start: p.SHA, SHA: p.SHA, Drop: []git.Ref{{Name: "refs/heads/" + checkpointed}}}
	assert.Error(t, c.Publish(ctx, p), "what is moved is not dropped")
	assert.Equal(t, p.SHA, h.tip("refs/heads/"+checkpointed))
}

func TestABranchIsCreatedOnce(t *testing.T) {
	h, c, start, sha := turn(t)
	p := git.Publish{Branch: fresh, SHA: sha}
	require.NoError(t, c.Publish(ctx, p))
	require.NoError(t, c.Publish(ctx, p), "it is at SHA already")
	for _, other := range []string{start, h.tip("main")} { // an ancestor, from where it would be a fast-forward, too
		h.git(h.bare, "update-ref", "refs/heads/"+fresh, other)
		var rejected *git.ErrRejected
		require.ErrorAs(t, c.Publish(ctx, p), &rejected)
		assert.Equal(t, git.Stale, rejected.Reason)
		assert.Equal(t, other, h.tip("refs/heads/"+fresh))
	}
}
