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
	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/turn"
)

// branchOff makes the checkout a clean one of the base branch, on a branch of its own that the server does not have.
func (p *pass) branchOff(ctx context.Context) error {
	w := p.issue
	head, err := p.checkout.Begin(ctx, w.marker.Branch, w.marker.Base)
	if none := (*git.ErrNoRef)(nil); errors.As(err, &none) {
		return p.withdraw(ctx, model.ResultRetry, "%s; the base branch was deleted meanwhile", err)
	}
	if err != nil {
		return err
	}
	if p.marker.Phase == model.PhaseStarted {
		if w.marker.LastCheckpoint != "" {
			p.note(fmt.Sprintf("branch %s was deleted since the checkpoint at %s; this attempt begins at %s", w.marker.Branch, markdown.Short(w.marker.LastCheckpoint), w.marker.Base))
			w.marker.LastCheckpoint = ""
		}
		p.marker.Start = head
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
		Kind: model.AskFeedback, Key: p.marker.Key, Feedback: p.feedback, State: p.state, Guidelines: guidelines,
		Tests: p.settings.Repo.RequiredTests, Session: p.marker.Session, Boundary: p.Random(),
	}
	if p.issue == nil {
		return a, nil
	}
	w := p.issue.marker
	a.Kind, a.Flow, a.Resumed = string(w.Flow), w.Flow, p.issue.tip != ""
	a.Earlier = p.said()
	switch w.Flow {
	case model.FlowDesign:
		a.DocDir = p.settings.Repo.DesignDir
	case model.FlowBugfix:
		a.TestFiles = p.settings.Repo.TestFileRegex
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
	file := path.Clean(p.settings.Repo.CodingGuidelines)
	dir := path.Dir(file)
	if dir == "." {
		dir = ""
	}
	names, err := p.checkout.Names(ctx, head, dir)
	if err != nil || slices.Contains(names, path.Base(file)) {
		return p.settings.Repo.CodingGuidelines, err
	}
	p.Log.Info("guidelines_missing", p.numberKey(), p.event.Number, "turn_key", p.marker.Key, "path", file, "head", head)
	return "", nil
}

// designDocument is the merged design, wherever in its directory people have put it.
func (p *pass) designDocument(ctx context.Context, head string) (*model.Document, error) {
	w := &p.issue.marker
	text, err := p.checkout.Blob(ctx, head, w.Doc)
	if err == nil {
		return &model.Document{Path: w.Doc, Text: string(text)}, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	names, err := p.checkout.Files(ctx, head, p.settings.Repo.DesignDir)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if text, err := p.checkout.Blob(ctx, head, name); err == nil && flow.IsDesign(text, p.event.Number) {
			w.Doc = name
			return &model.Document{Path: name, Text: string(text)}, nil
		}
	}
	return nil, p.blocked(model.ReasonNoDesign, fmt.Sprintf("%s: the design document is not on branch %s any more, and none in %s names issue %d in its front matter", w.Doc, w.Base, p.settings.Repo.DesignDir, p.event.Number))
}

// said are the words of people who are heard that were taken up before.
func (p *pass) said() []model.Comment {
	var earlier []model.Comment
	for _, c := range p.snap.Comments {
		if !c.Ours && !c.Author.Bot && p.state.Answered[c.Key(p.event.Number)] {
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
	dirty, err := p.checkout.Dirty(ctx)
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
		head, _, err = p.checkout.Commit(ctx, out.CommitMessage)
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
		if err := p.checkout.Reset(ctx, p.base()); err != nil {
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
	root, err := os.OpenRoot(p.checkout.Dir()) // a link in there may lead anywhere
	if err != nil {
		return "", fmt.Errorf("open checkout: %w", err)
	}
	defer root.Close()
	err = root.MkdirAll(path.Dir(w.Doc), 0o755)
	if err == nil {
		err = root.WriteFile(w.Doc, flow.Document(*p.snap.Thread, out), 0o644)
	}
	if err != nil {
		return "", p.blocked(model.ReasonOutcome, fmt.Sprintf("%s: the design document cannot be written there: %v; [repo] design_dir names another place", w.Doc, err))
	}
	head, made, err := p.checkout.Commit(ctx, fmt.Sprintf("Design: %s\n\nRefs #%d", strings.Join(strings.Fields(out.Title), " "), p.event.Number))
	if err == nil && !made && p.issue.tip == "" {
		err = p.blocked(model.ReasonOutcome, fmt.Sprintf("%s: git ignores files there; [repo] design_dir names another place", w.Doc))
	}
	return head, err
}

// unused is a path for the design document that no file is at.
func (p *pass) unused(ctx context.Context) (string, error) {
	for nth := 1; nth <= maxNames; nth++ {
		name := flow.DocPath(p.settings.Repo.DesignDir, p.event.Number, p.snap.Thread.Title, nth)
		if _, err := p.checkout.Blob(ctx, p.base(), name); errors.Is(err, fs.ErrNotExist) {
			return name, nil
		} else if err != nil {
			return "", err
		}
	}
	return "", p.blocked(model.ReasonOutcome, fmt.Sprintf("%d names for the design document are taken in %s", maxNames, p.settings.Repo.DesignDir))
}

// changed are the paths in which the branch differs from where it left its base.
func (p *pass) changed(ctx context.Context, head string) ([]string, error) {
	from, err := p.checkout.ForkPoint(ctx, p.checkout.BaseTip(), head)
	if err != nil {
		return nil, err
	}
	changes, err := p.checkout.Changes(ctx, from, head)
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
	patterns := p.settings.Repo.TestFileRegex
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
		text, err := p.checkout.Blob(ctx, p.base(), w.Doc)
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
	d := flow.Draft(w.Flow, *p.snap.Thread, out, w.Base, w.Branch, extra)
	return &d, nil
}
