package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/flow"
	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/checkpoint"
	"github.com/mergexo/mergexo/internal/git/commits"
	"github.com/mergexo/mergexo/internal/git/fetch"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/turn"
)

// branchOff makes the checkout a clean one of the base branch, on a branch of its own that the server does not have.
func (p *pass) branchOff(ctx context.Context) error {
	w := p.issue
	head, err := checkpoint.Begin(ctx, p.Checkout, w.marker.Branch, w.marker.Base)
	if none := (*git.ErrNoRef)(nil); errors.As(err, &none) {
		return p.withdraw(ctx, model.ResultRetry, "%s; the base branch was deleted meanwhile", err)
	}
	if err != nil {
		return err
	}
	if p.Marker.Phase == model.PhaseStarted {
		if w.marker.LastCheckpoint != "" {
			p.note(fmt.Sprintf("branch %s was deleted since the checkpoint at %s; this attempt begins at %s", w.marker.Branch, markdown.Short(w.marker.LastCheckpoint), w.marker.Base))
			w.marker.LastCheckpoint = ""
		}
		p.Marker.Start = head
	}
	return nil
}

// question is what the agent is asked first.
func (p *pass) question(ctx context.Context, head string) (turn.Ask, error) {
	guidelines, err := p.guidelines(ctx, head)
	if err != nil {
		return turn.Ask{}, err
	}
	a := turn.Ask{
		Kind: model.AskFeedback, Key: p.Marker.Key, Feedback: p.feedback, State: p.State, Guidelines: guidelines,
		Tests: p.Settings.Repo.RequiredTests, Session: p.Marker.Session, Boundary: p.Random(),
	}
	if p.issue == nil {
		return a, nil
	}
	w := p.issue.marker
	a.Kind, a.Flow, a.Resumed = string(w.Flow), w.Flow, p.issue.tip != ""
	a.Earlier = p.said()
	switch w.Flow {
	case model.FlowDesign:
		a.DocDir = p.Settings.Repo.DesignDir
	case model.FlowBugfix:
		a.TestFiles = p.Settings.Repo.TestFileRegex
	case model.FlowImplementation:
		doc, err := p.designDocument(ctx, head)
		if err != nil {
			return a, err
		}
		a.Doc = doc
	}
	return a, nil
}

// guidelines is the path of the coding guidelines where the head has them: a file that is not there is no rule.
func (p *pass) guidelines(ctx context.Context, head string) (string, error) {
	file := path.Clean(p.Settings.Repo.CodingGuidelines)
	dir := path.Dir(file)
	if dir == "." {
		dir = ""
	}
	names, err := history.Names(ctx, p.Checkout, head, dir)
	if err != nil || slices.Contains(names, path.Base(file)) {
		return p.Settings.Repo.CodingGuidelines, err
	}
	p.Log.Info("guidelines_missing", p.NumberKey(), p.Event.Number, "turn_key", p.Marker.Key, "path", file, "head", head)
	return "", nil
}

// designDocument is the merged design, wherever in its directory people have put it.
func (p *pass) designDocument(ctx context.Context, head string) (*model.Document, error) {
	w := &p.issue.marker
	text, err := history.Blob(ctx, p.Checkout, head, w.Doc)
	if err == nil {
		return &model.Document{Path: w.Doc, Text: string(text)}, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	names, err := history.Files(ctx, p.Checkout, head, p.Settings.Repo.DesignDir)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if text, err := history.Blob(ctx, p.Checkout, head, name); err == nil && flow.IsDesign(text, p.Event.Number) {
			w.Doc = name
			return &model.Document{Path: name, Text: string(text)}, nil
		}
	}
	return nil, p.blocked(model.ReasonNoDesign, fmt.Sprintf("%s: the design document is not on branch %s any more, and none in %s names issue %d in its front matter", w.Doc, w.Base, p.Settings.Repo.DesignDir, p.Event.Number))
}

// said are the words of people who are heard that were taken up before.
func (p *pass) said() []model.Comment {
	var earlier []model.Comment
	for _, c := range p.Snap.Comments {
		if !c.Ours && !c.Author.Bot && p.State.Answered[c.Key(p.Event.Number)] {
			earlier = append(earlier, c)
		}
	}
	return earlier
}

// acceptIssue holds an answer against the rules of its flow and gives the head that it leads to.
func (p *pass) acceptIssue(ctx context.Context, out model.Outcome) (string, error) {
	head, err := p.guardLocal(ctx)
	if err != nil {
		return "", err
	}
	dirty, err := commits.Dirty(ctx, p.Checkout)
	if err != nil {
		return "", err
	}
	design := p.issue.marker.Flow == model.FlowDesign
	there := p.issue.tip != "" // an earlier attempt's commits, which somebody has to say are good as they are
	ready := there && strings.TrimSpace(out.PRTitle+out.PRSummary) != ""
	var wrong *flow.Invalid
	if err := flow.Validate(p.issue.marker.Flow, out, dirty || ready || head != p.base()); errors.As(err, &wrong) {
		return "", p.blocked(wrong.Reason, wrong.Error())
	} else if err != nil {
		return "", err
	}
	switch {
	case design:
		head, err = p.document(ctx, out, dirty || head != p.base())
	case dirty && out.CommitMessage != "":
		head, _, err = commits.Commit(ctx, p.Checkout, out.CommitMessage)
		if unmerged := (*git.ErrUnmerged)(nil); errors.As(err, &unmerged) {
			err = failing(err)
		}
	case !there && head == p.base():
		err = p.blocked(model.ReasonOutcome, "commit_message: empty, so that what was changed is not ready to be pushed")
	}
	if err == nil {
		head, err = p.ownHere(ctx, p.base(), head)
	}
	if err != nil {
		return "", err
	}
	found, err := p.inspect(ctx, p.base(), head)
	if err == nil && found.reason != "" {
		err = p.blocked(found.reason, found.detail)
	}
	return head, err
}

// document commits the design document. It is all that a design changes: what else the agent left is kept aside.
func (p *pass) document(ctx context.Context, out model.Outcome, more bool) (string, error) {
	if more {
		where := ""
		if k := p.setAside(ctx); k.Branch != "" {
			where = ", but kept on " + k.Named()
		}
		p.note("the agent changed files beside its design document; they are not part of the pull request" + where)
		if err := checkpoint.Reset(ctx, p.Checkout, p.base()); err != nil {
			return "", err
		}
	}
	w := &p.issue.marker
	if w.Doc == "" {
		name, err := p.unused(ctx)
		if err != nil {
			return "", err
		}
		w.Doc = name
	}
	root, err := os.OpenRoot(p.Checkout.Dir()) // a link in there may lead anywhere
	if err != nil {
		return "", fmt.Errorf("open checkout: %w", err)
	}
	defer root.Close()
	err = root.MkdirAll(path.Dir(w.Doc), 0o755)
	if err == nil {
		err = root.WriteFile(w.Doc, flow.Document(*p.Snap.Thread, out), 0o644)
	}
	if err != nil {
		return "", p.blocked(model.ReasonOutcome, fmt.Sprintf("%s: the design document cannot be written there: %v; [repo] design_dir names another place", w.Doc, err))
	}
	head, made, err := commits.Commit(ctx, p.Checkout, fmt.Sprintf("Design: %s\n\nRefs #%d", strings.Join(strings.Fields(out.Title), " "), p.Event.Number))
	if err == nil && !made && p.issue.tip == "" {
		err = p.blocked(model.ReasonOutcome, fmt.Sprintf("%s: git ignores files there; [repo] design_dir names another place", w.Doc))
	}
	return head, err
}

// unused is a path for the design document that no file is at.
func (p *pass) unused(ctx context.Context) (string, error) {
	for nth := 1; nth <= maxNames; nth++ {
		name := flow.DocPath(p.Settings.Repo.DesignDir, p.Event.Number, p.Snap.Thread.Title, nth)
		if _, err := history.Blob(ctx, p.Checkout, p.base(), name); errors.Is(err, fs.ErrNotExist) {
			return name, nil
		} else if err != nil {
			return "", err
		}
	}
	return "", p.blocked(model.ReasonOutcome, fmt.Sprintf("%d names for the design document are taken in %s", maxNames, p.Settings.Repo.DesignDir))
}

// changed are the paths in which the branch differs from where it left its base.
func (p *pass) changed(ctx context.Context, head string) ([]string, error) {
	from, err := history.ForkPoint(ctx, p.Checkout, fetch.BaseTip(p.Checkout), head)
	if err != nil {
		return nil, err
	}
	changes, err := history.Changes(ctx, p.Checkout, from, head)
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, c := range changes {
		if c.Status != "D" {
			paths = append(paths, c.Path)
		}
	}
	return paths, nil
}

// regression asks for another round where a bug fix comes without a test.
func (d *dialogue) regression(ctx context.Context, head string) (again bool, err error) {
	said, err := d.untested(ctx, head)
	if err != nil || said == "" {
		return false, err
	}
	return true, d.repair(model.CIFailure{Name: "regression test", Log: said}, model.ReasonNoTest, said)
}

// untested says that a bug fix comes without a test.
func (p *pass) untested(ctx context.Context, head string) (said string, err error) {
	patterns := p.Settings.Repo.TestFileRegex
	if p.issue == nil || p.issue.marker.Flow != model.FlowBugfix || len(patterns) == 0 {
		return "", nil
	}
	paths, err := p.changed(ctx, head)
	if err != nil || flow.Tested(paths, patterns) {
		return "", err
	}
	return "no file that was changed is a test: none matches [repo] test_file_regex " + fmt.Sprintf("%q", patterns), nil
}

// draft is the pull request that an answer leads to.
func (p *pass) draft(ctx context.Context, out model.Outcome, head string) (*model.PullDraft, error) {
	w := p.issue.marker
	extra := flow.Extra{Notes: p.notes, Design: w.Design}
	if w.Flow == model.FlowImplementation {
		text, err := history.Blob(ctx, p.Checkout, p.base(), w.Doc)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		paths, err := p.changed(ctx, head)
		if err != nil {
			return nil, err
		}
		if touch, err := flow.TouchPaths(text); err == nil {
			extra.Outside = flow.Outside(paths, touch)
		}
	}
	d := flow.Draft(w.Flow, *p.Snap.Thread, out, w.Base, w.Branch, extra)
	return &d, nil
}
