package landing

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/mergexo/mergexo/internal/engine/effect"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/git/merging"
	"github.com/mergexo/mergexo/internal/git/transport"
	"github.com/mergexo/mergexo/internal/github"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/lineage"
	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/merge"
	"github.com/mergexo/mergexo/internal/model"
)

// How long GitHub is given to show what was pushed.
const (
	headLimit  = 30 * time.Second
	badgeLimit = 30 * time.Second
)

// move is the move of a base to the tested tip of the last member, or of one member's branch.
type move struct {
	effect.Move
	of   *member
	base bool
}

// land puts members on their base, each of which stands on the one before, and their branches at what was tested.
func land(ctx context.Context, all []*member) error {
	if all[0].way.Strategy == model.StrategyAPI {
		return landByGitHub(ctx, all[0])
	}
	at, landed, moved := all[0].at, false, []*member(nil)
	list, err := at.moves(ctx, all)
	if err != nil {
		return err
	}
	for _, one := range list {
		if one.base {
			if err := shown(ctx, moved); err != nil {
				return err
			}
			if err := moveBase(ctx, one); err != nil {
				return err
			}
			landed = true
			continue
		}
		stays, err := moveHead(ctx, one)
		switch {
		case err != nil && !landed:
			return err
		case err != nil:
			stays = err.Error()
		case stays == "":
			moved = append(moved, one.of)
			continue
		}
		one.of.notes = append(one.of.notes, fmt.Sprintf("The branch %s was not moved to the result: %s", one.Branch, stays))
	}
	return nil
}

// movable says that the branch of the pull request can be moved to what was tested.
func movable(m *member) bool {
	return !m.Snap.Pull.CrossRepo && m.Snap.Pull.HeadExists && branch(m).Fixed == ""
}

// headMove is the move of the branch to the tested tip.
func headMove(m *member) move {
	branch := m.Snap.Pull.HeadRef
	as := model.Effect{Kind: "push", Target: branch, Token: journal.Token("head", m.command, m.is.Head)}
	return move{Move: effect.Move{Update: transport.Update{Branch: branch, Start: m.head, SHA: m.made.Tip}, By: effect.Rewrite, As: as}, of: m}
}

// baseMove is the move of the base to the last tip, only from where the first was made on. The lock goes with it.
func baseMove(all []*member) move {
	m := all[len(all)-1]
	if len(all) > 1 {
		whole := *m
		whole.is.BaseSHA, m = all[0].is.BaseSHA, &whole
	}
	one := effect.Move{Update: transport.Update{Branch: m.is.Base, Start: m.is.BaseSHA, SHA: m.made.Tip}, As: landingOf(m)}
	if m.lock != nil {
		one.Drop = []git.Ref{m.lock.Ref()}
	}
	return move{Move: one, of: m, base: true}
}

// moveHead moves the branch of a member; stays: why it does not move, which without GitHub is no failure.
func moveHead(ctx context.Context, one move) (stays string, err error) {
	m := one.of
	now, err := thread.Move(ctx, m.Thread, one.Move)
	rejected := (*git.ErrRejected)(nil)
	switch {
	case git.Unsure(err) && now.At != m.head:
		return "", failed(model.CodeHeadMoved, movedTo(one.Branch, m.head, now.At))
	case m.GitHub == nil && errors.As(err, &rejected):
		return rejected.Message, nil
	case err != nil:
		err, refused := failureOf(err, m.way.Strategy), (*Failure)(nil)
		if errors.As(err, &refused) && refused.Code == model.CodeProtected {
			refused.Branch, refused.Number = one.Branch, m.is.Number
		}
		return "", err
	}
	m.head = one.SHA
	if m.own {
		m.Report.HeadSHA = m.head
	}
	pushed(m, one.Branch, m.is.Head)
	return "", nil
}

// pushed tells a push in a few lines; without GitHub the end of the merge tells all.
func pushed(m *member, branch, from string) {
	if m.GitHub == nil {
		return
	}
	text := fmt.Sprintf("%s..%s", markdown.Short(from), markdown.Short(m.made.Tip))
	for _, c := range m.made.Commits {
		text += fmt.Sprintf("\n%s %s", markdown.Short(c.SHA), c.Subject)
	}
	m.Say(model.Saying{Where: "push to " + branch, Text: text})
}

// moveBase fast-forwards the base.
func moveBase(ctx context.Context, one move) error {
	m := one.of
	now, err := thread.Move(ctx, m.Thread, one.Move)
	switch {
	case err == nil:
		if !now.Found {
			m.lock = nil
		}
		pushed(m, one.Branch, one.Start)
		return nil
	case !git.Unsure(err) || now.At == one.Start:
		return failureOf(err, m.way.Strategy)
	case now.At != "":
		landed, err := m.at.relation(ctx, m, one.SHA, now.At)
		if err != nil {
			return err
		}
		if lineage.Decide(landed) == lineage.Pass { // and somebody went on from there
			thread.Noted(m.Thread, one.As, effect.Applied)
			return nil
		}
	}
	return m.elsewhere(ctx, now.At)
}

// landingOf is how reports name the landing of a member.
func landingOf(m *member) model.Effect {
	return model.Effect{Kind: "merge", Target: m.is.Base, Token: journal.Token("land", m.command, m.is.Repo, strconv.Itoa(m.is.Number))}
}

// strayed says why GitHub must not merge the head as it is, which is neither what was approved nor this tip; "": it may.
func strayed(m *member, tip string) string {
	if m.head == m.is.Head || m.head == tip {
		return ""
	}
	return fmt.Sprintf("a landing that did not finish has moved its head to %s, and GitHub would merge all that this commit holds", markdown.Short(m.head))
}

// landByGitHub has GitHub merge the approved head. It makes the commit itself, so what it made is compared with what was
// tested afterwards.
func landByGitHub(ctx context.Context, m *member) error {
	if why := strayed(m, m.is.Tip); why != "" {
		return &Failure{Failure: merge.Failure{Code: model.CodeHeadMoved, Detail: why}}
	}
	method := merge.MethodOf(*m.MergeFacts)
	if method == "" {
		return &Failure{Failure: merge.Failure{Code: model.CodeStrategy, Detail: "the repository allows no merge method that the rules of the base accept"}}
	}
	as := landingOf(m)
	made, err := m.Apply(ctx, effect.MergePull(m.Event.Number, github.MergeInput{SHA: m.head, Method: method}, as.Target, as.Token))
	if github.KindOf(err) == github.Unclear {
		now, lookErr := m.GitHub.Pulls.Now(ctx, m.Event.Repo, m.Event.Number)
		if lookErr != nil {
			return lookErr
		}
		if now.State != model.PullMerged {
			return &Failure{Failure: merge.Failure{Code: model.CodeRejected, Detail: err.Error()}}
		}
		made.SHA, err = now.MergeCommit, nil
		thread.Noted(m.Thread, as, effect.Applied)
	}
	if err != nil {
		return refusedByGitHub(err)
	}
	m.is.Tip = made.SHA
	return compare(ctx, m)
}

// compare holds what GitHub has made against what was tested.
func compare(ctx context.Context, m *member) error {
	tested := m.is.Tree
	if err := learn(ctx, m); err != nil {
		return err
	}
	if tree := m.is.Tree; tree != tested {
		m.notes = append(m.notes, fmt.Sprintf("GitHub did not merge what was tested, because the base had moved: tree %s was tested, %s landed", markdown.Short(tested), markdown.Short(tree)))
		m.Log.Error("landed_untested", "pr_number", m.Event.Number, "tested", tested, "landed", tree)
	}
	return nil
}

// learn finds out what GitHub has put on the base: the tree, the commits, and what they stand on, which a revert has to know.
func learn(ctx context.Context, m *member) (err error) {
	sha := m.is.Tip
	if err := m.Open(ctx); err != nil {
		return err
	}
	err = history.FetchCommits(ctx, m.Checkout, sha, m.head)
	if git.IsNoRef(err) { // the head may be gone by now
		err = history.FetchCommits(ctx, m.Checkout, sha)
	}
	if err != nil {
		return err
	}
	if m.is.Tree, err = history.TreeOf(ctx, m.Checkout, sha); err != nil {
		return err
	}
	if m.is.BaseSHA, _, err = merging.LandedRange(ctx, m.Checkout, sha, m.is.BaseSHA, m.head, m.MergeFacts.Commits); err != nil {
		m.Log.Warn("landed_range_unknown", "pr_number", m.Event.Number, "error", err)
		m.is.BaseSHA = ""
	}
	m.made.Tip, m.made.Tree, m.made.Commits, m.made.Count = sha, m.is.Tree, nil, 0
	commits, err := history.List(ctx, m.Checkout, m.is.BaseSHA, sha)
	if err != nil {
		m.Log.Debug("landed_commits_unknown", "error", err)
	}
	for _, c := range commits {
		m.made.Commits = append(m.made.Commits, model.Moved{Commit: c})
	}
	m.made.Count = len(commits)
	return nil
}
