package turns

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path"
	"strings"

	"github.com/mergexo/mergexo/internal/engine/redact"
	"github.com/mergexo/mergexo/internal/engine/work"
	"github.com/mergexo/mergexo/internal/flow"
	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/checkout"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/roadmap"
)

// BranchOff checks out the base branch, clean, on a new branch that the server does not have.
func (p *Issue) BranchOff(ctx context.Context) error {
	head, err := checkout.Begin(ctx, p.Checkout, p.Issue.Branch, p.Issue.Base)
	if none := (*git.ErrNoRef)(nil); errors.As(err, &none) {
		if now := p.Snap.DefaultBranch; p.Issue.Base != now {
			work.Note(p.Work, fmt.Sprintf("branch %s was deleted or renamed; the pull request is for %s", p.Issue.Base, now))
			p.Issue.Base = now
			return p.BranchOff(ctx)
		}
		return Unplaced(ctx, p.Attempt, fmt.Errorf("%w; the base branch was deleted", err))
	}
	if err != nil {
		return err
	}
	if p.Marker.Phase == model.PhaseStarted {
		if p.Issue.Tip != "" {
			work.Note(p.Work, fmt.Sprintf("branch %s was deleted after the checkpoint at %s; this attempt starts at %s", p.Issue.Branch, markdown.Short(p.Issue.Tip), p.Issue.Base))
			p.Issue.Tip = ""
		}
		p.Marker.Start = head
	}
	return nil
}

// designDocument is the merged design, wherever in its directory people have put it.
func designDocument(ctx context.Context, p *Issue, head string) (*model.Document, error) {
	text, err := history.Blob(ctx, p.Checkout, head, p.Issue.Doc)
	if err == nil {
		return &model.Document{Path: p.Issue.Doc, Text: string(text)}, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	found, err := work.FindDesign(ctx, p.Work, head, p.Event.Number, math.MaxInt)
	if found != nil {
		p.Issue.Doc = found.Path
	}
	if found != nil || err != nil {
		return found, err
	}
	return nil, work.Blocked(p.Work, model.ReasonNoDesign, fmt.Sprintf("%s: the design document is no longer on branch %s, and none in %s names issue %d in its front matter", p.Issue.Doc, p.Issue.Base, p.Settings.Repo.DesignDir, p.Event.Number))
}

// Accept checks an answer against the rules of the issue's flow. It returns the head that results, and what a push of it would
// publish.
func (p *Issue) Accept(ctx context.Context, _, out model.Outcome) (string, *history.Published, error) {
	head, err := work.GuardLocal(ctx, p.Work)
	if err != nil {
		return "", nil, err
	}
	dirty, err := checkout.Dirty(ctx, p.Checkout, head)
	if err != nil {
		return "", nil, err
	}
	document := p.Issue.Flow.Document()
	there := p.Tip != "" // an earlier attempt's commits, which somebody has to say are good as they are
	ready := there && strings.TrimSpace(out.PRTitle+out.PRSummary) != ""
	var wrong *flow.Invalid
	if err := flow.Validate(p.Issue.Flow, out, dirty || ready || head != work.Base(p.Work)); errors.As(err, &wrong) {
		if wrong.Reason == model.ReasonOutcome {
			return "", nil, &work.Repair{Name: "answer", Log: wrong.Error(), Reason: wrong.Reason}
		}
		return "", nil, work.Blocked(p.Work, wrong.Reason, cmp.Or(strings.TrimSpace(out.PRSummary), wrong.Error()))
	}
	switch {
	case document:
		head, err = writeDocument(ctx, p, out, dirty || head != work.Base(p.Work))
	case dirty && out.CommitMessage != "":
		head, err = commit(ctx, p.Attempt, head, out.CommitMessage)
	case !there && head == work.Base(p.Work):
		err = &work.Repair{Name: "answer", Log: "commit_message: empty, so the changes are not ready to be pushed", Reason: model.ReasonOutcome}
	}
	if err != nil {
		return "", nil, err
	}
	return ownAndInspect(ctx, p.Attempt, head)
}

// writeDocument commits the design document or the roadmap. It is all that such a flow changes: what else the agent left is kept
// aside. The texts of a roadmap are those of its items' issues.
func writeDocument(ctx context.Context, p *Issue, out model.Outcome, more bool) (string, error) {
	out = redact.Outcome(ctx, p.Thread, out)
	text, err := document(p, out)
	if err != nil {
		return "", err
	}
	if more {
		where := work.SetAside(ctx, p.Work)
		work.Note(p.Work, "the agent changed files other than its "+names[p.Issue.Flow].what+"; they are not part of the pull request"+where)
		if err := checkout.Reset(ctx, p.Checkout, work.Base(p.Work)); err != nil {
			return "", err
		}
	}
	if p.Issue.Doc == "" {
		name, err := unused(ctx, p)
		if err != nil {
			return "", err
		}
		p.Issue.Doc = name
	}
	root, err := os.OpenRoot(p.Checkout.Dir()) // a link in there may lead anywhere
	if err != nil {
		return "", fmt.Errorf("open checkout: %w", err)
	}
	defer root.Close()
	err = root.MkdirAll(path.Dir(p.Issue.Doc), 0o755)
	if err == nil {
		err = root.WriteFile(p.Issue.Doc, text, 0o644)
	}
	if err != nil {
		return "", work.Blocked(p.Work, model.ReasonOutcome, fmt.Sprintf("%s: the %s cannot be written there: %v; set another directory in %s", p.Issue.Doc, names[p.Issue.Flow].what, err, names[p.Issue.Flow].setting))
	}
	head, made, err := checkout.Commit(ctx, p.Checkout, work.Base(p.Work), fmt.Sprintf("%s: %s\n\nRefs #%d", names[p.Issue.Flow].subject, strings.Join(strings.Fields(out.Title), " "), p.Event.Number))
	if err == nil && !made && p.Tip == "" {
		err = work.Blocked(p.Work, model.ReasonOutcome, fmt.Sprintf("%s: git ignores files there; set another directory in %s", p.Issue.Doc, names[p.Issue.Flow].setting))
	}
	return head, err
}

// names are what the documents of flows are called.
var names = map[model.Flow]struct{ what, subject, setting string }{
	model.FlowDesign:  {"design document", "Design", "[repo] design_dir"},
	model.FlowRoadmap: {"roadmap", "Roadmap", "[roadmap] dir"},
}

// docDir is where the document of the flow goes.
func docDir(p *Issue) string {
	if p.Issue.Flow == model.FlowRoadmap {
		return p.Settings.Roadmap.Dir
	}
	return p.Settings.Repo.DesignDir
}

// document is the text of the document that an answer leads to. What does not hold in a roadmap goes back to the agent.
func document(p *Issue, out model.Outcome) ([]byte, error) {
	if p.Issue.Flow != model.FlowRoadmap {
		return flow.Document(*p.Snap.Issue(), out), nil
	}
	plan := roadmap.Plan{Issue: p.Event.Number, Title: out.Title, Goal: out.Goal}
	for _, i := range out.RoadmapItems {
		plan.Items = append(plan.Items, roadmap.Item{RoadmapItem: i})
	}
	text := roadmap.Render(plan, markdown.Part(flow.InertMarkdown(out.Summary), maxSummary))
	if _, wrong := roadmap.Parse(text); len(wrong) > 0 {
		return nil, &work.Repair{Name: "roadmap", Log: "the roadmap is invalid; the line numbers refer to the file that MergeXO makes from your answer:\n" + wrong.Error(), Reason: model.ReasonOutcome}
	}
	return text, nil
}

// maxSummary is how many bytes of the summary a roadmap's file shows.
const maxSummary = 20_000

// unused is a path for the document that no file is at.
func unused(ctx context.Context, p *Issue) (string, error) {
	for nth := 1; nth <= maxNames; nth++ {
		name := flow.DocPath(docDir(p), p.Event.Number, p.Snap.Issue().Title, nth)
		if _, err := history.Blob(ctx, p.Checkout, work.Base(p.Work), name); errors.Is(err, fs.ErrNotExist) {
			return name, nil
		} else if err != nil {
			return "", err
		}
	}
	return "", work.Blocked(p.Work, model.ReasonOutcome, fmt.Sprintf("%d names for the %s are taken in %s", maxNames, names[p.Issue.Flow].what, docDir(p)))
}

// changedPaths are the paths in which the branch differs from where it left its base.
func changedPaths(ctx context.Context, p *Issue, head string) ([]string, error) {
	from, err := history.ForkPoint(ctx, p.Checkout, history.FetchedBase(p.Checkout), head)
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

// Untested returns a complaint if a bug fix comes without a test, or "".
func (p *Issue) Untested(ctx context.Context, head string) (said string, err error) {
	patterns := p.Settings.Repo.TestFileRegex
	if p.Issue.Flow != model.FlowBugfix || len(patterns) == 0 {
		return "", nil
	}
	paths, err := changedPaths(ctx, p, head)
	if err != nil || flow.Tested(paths, patterns) {
		return "", err
	}
	return "no changed file is a test: none matches [repo] test_file_regex " + fmt.Sprintf("%q", patterns), nil
}

// Draft returns the pull request that an answer leads to.
func (p *Issue) Draft(ctx context.Context, out model.Outcome, head string) (*model.PullDraft, error) {
	extra := flow.Extra{Notes: p.Notes, Design: p.Issue.Design}
	if p.Issue.Flow == model.FlowImplementation {
		text, err := history.Blob(ctx, p.Checkout, work.Base(p.Work), p.Issue.Doc)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		paths, err := changedPaths(ctx, p, head)
		if err != nil {
			return nil, err
		}
		if touch, err := flow.TouchPaths(text); err == nil {
			extra.Outside = flow.Outside(paths, touch)
		}
	}
	d := flow.Draft(p.Issue.Flow, *p.Snap.Issue(), out, p.Issue.Base, p.Issue.Branch, extra)
	return &d, nil
}
