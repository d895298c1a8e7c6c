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
	"github.com/mergexo/mergexo/internal/git/fetch"
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

// land puts the tested tip on the base. Where that is no descendant of the head, the head moves there first and GitHub has
// to show it: of a base and a head that move in one moment it may see only that there is nothing left to merge.
func (g *merger) land(ctx context.Context, m *member) error {
	if g.ServerNow().After(g.marker.Expires) {
		return expired(g)
	}
	if m.way.Strategy == model.StrategyAPI {
		return landByGitHub(ctx, g, m)
	}
	relation, err := history.Relation(ctx, m.Checkout, m.head, m.is.Tip)
	if err != nil {
		return err
	}
	if lineage.Decide(relation) != lineage.Pass && m.movable() {
		if err := moveHead(ctx, g, m); err != nil {
			return err
		}
		if err := showHead(ctx, m); err != nil {
			return err
		}
	}
	return moveBase(ctx, g, m)
}

// movable says that the branch of the pull request can be moved to what was tested.
func (m *member) movable() bool {
	return !m.Snap.Pull.CrossRepo && m.Snap.Pull.HeadExists && m.branch().Fixed == ""
}

// moveHead moves the branch of the pull request to the tested tip.
func moveHead(ctx context.Context, g *merger, m *member) error {
	branch := m.Snap.Pull.HeadRef
	as := model.Effect{Kind: "push", Target: branch, Token: journal.Token("head", g.marker.Command, m.is.Tip)}
	now, err := thread.Move(ctx, m.Thread, effect.Move{Update: transport.Update{Branch: branch, Start: m.head, SHA: m.is.Tip}, By: effect.Rewrite, As: as})
	switch {
	case git.Unsure(err) && now.At != m.head:
		return failed(model.CodeHeadMoved, movedTo(branch, m.head, now.At))
	case err != nil:
		err, refused := failureOf(err, m.way.Strategy), (*Failure)(nil)
		if errors.As(err, &refused) && refused.Code == model.CodeProtected {
			refused.Branch, refused.Number = branch, m.is.Number
		}
		return err
	}
	m.head = m.is.Tip
	if g.isSelf(m) {
		g.Report.HeadSHA = m.head
	}
	m.Say(model.Saying{Where: "push to " + branch, Text: moved(m.is.Head, m.is.Tip, m.made.Commits)})
	return nil
}

// showHead waits until GitHub shows the head that was pushed.
func showHead(ctx context.Context, m *member) error {
	now, shown, err := m.GitHub.Pulls.Await(ctx, m.Event.Repo, m.Event.Number, headLimit, func(now model.PullNow) bool {
		return now.HeadSHA == m.is.Tip || now.State != model.PullOpen
	})
	if err != nil {
		return err
	}
	return m.shows(now, shown)
}

// shows says what is wrong with the head that GitHub shows.
func (m *member) shows(now model.PullNow, shown bool) error {
	switch {
	case !shown || now.HeadSHA != m.is.Tip && now.State == model.PullOpen:
		return &Failure{Failure: merge.Failure{Code: model.CodeRejected, Detail: fmt.Sprintf("GitHub does not show %s as the head yet", markdown.Short(m.is.Tip))}}
	case now.State == model.PullClosed:
		return &Failure{Failure: merge.Failure{Code: model.CodeClosed, Detail: "the pull request was closed before it landed"}}
	}
	return nil
}

// moved tells a push in a few lines.
func moved(from, to string, commits []model.Moved) string {
	text := fmt.Sprintf("%s..%s", markdown.Short(from), markdown.Short(to))
	for _, c := range commits {
		text += fmt.Sprintf("\n%s %s", markdown.Short(c.SHA), c.Subject)
	}
	return text
}

// moveBase fast-forwards the base to the tested tip, only from where the tip was made on, and gives the lock back with it.
// After an unclear answer the base itself tells what happened; the push is not sent again.
func moveBase(ctx context.Context, g *merger, m *member) error {
	order := transport.Update{Branch: m.is.Base, Start: m.is.BaseSHA, SHA: m.is.Tip}
	if m.lock != nil {
		order.Drop = []git.Ref{m.lock.Ref()}
	}
	now, err := thread.Move(ctx, m.Thread, effect.Move{Update: order, As: landingOf(g, m)})
	switch {
	case err == nil:
		if !now.Found { // else it may be left
			m.lock = nil
		}
		m.Say(model.Saying{Where: "push to " + m.is.Base, Text: moved(m.is.BaseSHA, m.is.Tip, m.made.Commits)})
		return nil
	case !git.Unsure(err) || now.At == m.is.BaseSHA:
		return failureOf(err, m.way.Strategy)
	case now.At == "":
		return failed(model.CodeBaseMissing, fmt.Sprintf("branch %s was deleted in the meantime", m.is.Base))
	}
	if landed, err := m.Relation(ctx, m.is.Tip, now.At); err != nil {
		return err
	} else if lineage.Decide(landed) == lineage.Pass { // and somebody went on from there
		thread.Noted(m.Thread, landingOf(g, m), effect.Applied)
		return nil
	}
	return failed(model.CodeBaseMoved, movedTo(m.is.Base, m.is.BaseSHA, now.At))
}

// landingOf is how reports name the landing of a member.
func landingOf(g *merger, m *member) model.Effect {
	return model.Effect{Kind: "merge", Target: m.is.Base, Token: journal.Token("land", g.marker.Command, m.is.Repo, strconv.Itoa(m.is.Number))}
}

// strayed says why GitHub must not merge the head as it is, which is neither what was approved nor this tip; "": it may.
func (m *member) strayed(tip string) string {
	if m.head == m.is.Head || m.head == tip {
		return ""
	}
	return fmt.Sprintf("a landing that did not finish has moved its head to %s, and GitHub would merge all that this commit holds", markdown.Short(m.head))
}

// landByGitHub has GitHub merge the approved head. It makes the commit itself, so what it made is compared with what was
// tested afterwards.
func landByGitHub(ctx context.Context, g *merger, m *member) error {
	if why := m.strayed(m.is.Tip); why != "" {
		return &Failure{Failure: merge.Failure{Code: model.CodeHeadMoved, Detail: why}}
	}
	method := merge.MethodOf(*m.MergeFacts)
	if method == "" {
		return &Failure{Failure: merge.Failure{Code: model.CodeStrategy, Detail: "the repository allows no merge method that the rules of the base accept"}}
	}
	as := landingOf(g, m)
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
	return m.compare(ctx)
}

// compare holds what GitHub has made against what was tested.
func (m *member) compare(ctx context.Context) error {
	tested, sha := m.is.Tree, m.is.Tip
	if err := m.Open(ctx); err != nil {
		return err
	}
	if err := fetch.Commits(ctx, m.Checkout, sha); err != nil {
		return err
	}
	tree, err := history.TreeOf(ctx, m.Checkout, sha)
	if err != nil {
		return err
	}
	if m.is.Tree = tree; tree != tested {
		m.notes = append(m.notes, fmt.Sprintf("GitHub did not merge what was tested, because the base had moved: tree %s was tested, %s landed", markdown.Short(tested), markdown.Short(tree)))
		m.Log.Error("landed_untested", "pr_number", m.Event.Number, "tested", tested, "landed", tree)
	}
	return m.learn(ctx)
}

// learn finds out what GitHub has put on the base: the commits, and what they stand on, which a revert has to know.
func (m *member) learn(ctx context.Context) error {
	sha := m.is.Tip
	var err error
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
