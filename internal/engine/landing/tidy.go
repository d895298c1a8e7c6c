package landing

import (
	"context"
	"fmt"
	"strings"

	"github.com/mergexo/mergexo/internal/engine/effect"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/merge"
	"github.com/mergexo/mergexo/internal/model"
)

// branch is what may happen to the branch of the pull request, as far as is known.
func branch(m *member) merge.Head {
	return merge.HeadOf(policy(m.Request), m.Snap.Pull, *m.MergeFacts)
}

// tidy takes care of the branch of a pull request that has landed, and of those that are based on it.
func tidy(ctx context.Context, g *merger, m *member) {
	if m.foreign || m.MergeFacts == nil {
		return
	}
	if m.Snap.Pull.State == model.PullMerged && branch(m).Passing { // one that stays open has more commits
		for _, number := range m.MergeFacts.Onto {
			retarget(ctx, g, m, number)
		}
	}
	if m.mirror.Name != "" {
		if keep := m.Settings.Merge.DeleteBranch; keep == nil || *keep {
			drop(ctx, m, m.mirror, journal.Token("drop", g.marker.Command, m.is.Repo))
		}
		return
	}
	dropBranch(ctx, g, m)
}

// retarget gives a pull request that was based on what has landed its base, as GitHub does where it deletes the branch. What was
// approved there was another change: that approval is void.
func retarget(ctx context.Context, g *merger, m *member, number int) {
	token := journal.Token("retarget", g.marker.Command, m.is.Repo, fmt.Sprint(number))
	if _, err := m.Apply(ctx, effect.Retarget(number, m.is.Base, token)); err != nil {
		m.notes = append(m.notes, fmt.Sprintf("Pull request %d is still based on branch %s, because GitHub did not change that: %s", number, m.Snap.Pull.HeadRef, err))
		return
	}
	m.notes = append(m.notes, fmt.Sprintf("Pull request %d was based on branch %s. It now goes to %s", number, m.Snap.Pull.HeadRef, m.is.Base))
	other := thread.Another(m.Thread, model.Event{Name: m.Event.Name, Repo: m.Event.Repo, Number: number}, nil)
	if _, err := other.Comment(ctx, token, journal.Body{Text: merge.RetargetedText(m.Snap.Pull, m.is.Base)}, nil); err != nil {
		m.Log.Warn("retarget_not_told", "pr_number", m.Event.Number, "number", number, "error", err)
	}
}

// dropBranch deletes the branch of a merged pull request where it is over. That it stays is no failure.
func dropBranch(ctx context.Context, g *merger, m *member) {
	pull := m.Snap.Pull
	if pull.State != model.PullMerged || pull.CrossRepo || !pull.HeadExists || pull.HeadRef == m.is.Base {
		return
	}
	head := branch(m)
	if head.Deleted && thread.ReadHeadDemands(ctx, m.Thread) == nil {
		head = branch(m) // where its rules are not known, GitHub itself refuses
	}
	switch {
	case head.Deleted:
		at := m.is.Head
		if m.head != "" {
			at = m.head
		}
		drop(ctx, m, git.Ref{Name: "refs/heads/" + pull.HeadRef, SHA: at}, journal.Token("drop", g.marker.Command, m.is.Repo))
	case head.Wanted && head.Fixed != "" && m.way.Fixed == "":
		m.notes = append(m.notes, fmt.Sprintf("Branch %s was not deleted: %s", pull.HeadRef, head.Fixed))
	}
}

// drop deletes a branch where it is still what landed.
func drop(ctx context.Context, m *member, ref git.Ref, token string) {
	name := strings.TrimPrefix(ref.Name, "refs/heads/")
	err := m.Open(ctx)
	if err == nil {
		_, err = m.Apply(ctx, effect.DeleteBranch(ref, name, token))
	}
	if err != nil {
		m.Log.Warn("branch_kept", "pr_number", m.Event.Number, "branch", name, "error", err)
		return
	}
	m.notes = append(m.notes, fmt.Sprintf("Branch %s was deleted", name))
}
