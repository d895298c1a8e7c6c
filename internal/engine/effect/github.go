package effect

import (
	"context"
	"strconv"

	"github.com/mergexo/mergexo/internal/github"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/model"
)

// Comment posts a comment in the conversation of the thread. Find tells how it is recognized after an unclear answer.
type Comment struct {
	Number      int
	Token, Body string
	Find        Mark
}

// Mark is what a comment is recognized by. The zero value: by its token.
type Mark struct {
	Claim   string // the claim that it makes
	Receipt string // the key of the turn that it is the receipt of
	Block   bool   // any block of the thread will do
	Line    string // the viewer's own comment with exactly this text, which no run has answered
}

// Entry names the thread.
func (c Comment) Entry() model.Effect {
	return model.Effect{Kind: "comment", Target: strconv.Itoa(c.Number), Token: c.Token}
}

func (Comment) repeats() repeat { return unseen }

func (c Comment) send(ctx context.Context, t Thread) (Result, error) {
	repo, _ := t.Subject()
	made, err := t.GitHub().Comments.Create(ctx, repo, c.Number, c.Body)
	return Result{ID: made.ID, URL: made.URL}, err
}

// Edit replaces the body of a comment of ours.
type Edit struct {
	ID          int64
	Token, Body string
}

// Entry names the comment.
func (e Edit) Entry() model.Effect {
	return model.Effect{Kind: "edit", Target: decimal(e.ID), Token: e.Token}
}

func (Edit) repeats() repeat { return always }

func (e Edit) send(ctx context.Context, t Thread) (Result, error) {
	repo, _ := t.Subject()
	return Result{ID: e.ID}, t.GitHub().Comments.Edit(ctx, repo, e.ID, e.Body)
}

// Delete removes a comment of ours; one that is gone already is fine.
type Delete struct {
	ID    int64
	Token string
}

// Entry names the comment.
func (d Delete) Entry() model.Effect {
	return model.Effect{Kind: "delete", Target: decimal(d.ID), Token: d.Token}
}

func (Delete) repeats() repeat { return never }

func (d Delete) send(ctx context.Context, t Thread) (Result, error) {
	repo, _ := t.Subject()
	err := t.GitHub().Comments.Delete(ctx, repo, d.ID)
	if github.KindOf(err) == github.NotFound {
		err = nil
	}
	return Result{}, err
}

// Reply answers a review comment in its thread, which a comment of it names.
type Reply struct {
	Number      int
	To, Thread  int64
	Token, Body string
}

// Entry names the comment that is answered.
func (r Reply) Entry() model.Effect {
	return model.Effect{Kind: "reply", Target: decimal(r.To), Token: r.Token}
}

func (Reply) repeats() repeat { return unseen }

func (r Reply) send(ctx context.Context, t Thread) (Result, error) {
	repo, _ := t.Subject()
	made, err := t.GitHub().Comments.Reply(ctx, repo, r.Number, r.Thread, r.Body)
	return Result{ID: made.ID, URL: made.URL}, err
}

// Resolve resolves the thread of a review comment.
type Resolve struct {
	Comment     int64
	Node, Token string
}

// Entry names the comment.
func (r Resolve) Entry() model.Effect {
	return model.Effect{Kind: "resolve", Target: decimal(r.Comment), Token: r.Token}
}

func (Resolve) repeats() repeat { return always }

func (r Resolve) send(ctx context.Context, t Thread) (Result, error) {
	repo, _ := t.Subject()
	return Result{}, t.GitHub().Pulls.ResolveThread(ctx, repo, r.Node)
}

// Review posts a review that comments.
type Review struct {
	Number int
	Token  string
	Input  github.ReviewInput
}

// Entry names the thread.
func (r Review) Entry() model.Effect {
	return model.Effect{Kind: "review", Target: strconv.Itoa(r.Number), Token: r.Token}
}

func (Review) repeats() repeat { return unseen }

func (r Review) send(ctx context.Context, t Thread) (Result, error) {
	repo, _ := t.Subject()
	id, url, err := t.GitHub().Pulls.Review(ctx, repo, r.Number, r.Input)
	return Result{ID: id, URL: url}, err
}

// React puts a sign under a comment.
type React struct {
	Comment model.Comment
	Sign    string
}

// Entry names the comment. GitHub takes no reaction under a review summary.
func (r React) Entry() model.Effect {
	if r.Comment.Kind == model.KindReviewSummary {
		return model.Effect{}
	}
	on := decimal(r.Comment.ID)
	return model.Effect{Kind: "react", Target: on, Token: journal.Token("react", on, r.Sign)}
}

func (React) repeats() repeat { return never }

func (r React) send(ctx context.Context, t Thread) (Result, error) {
	repo, _ := t.Subject()
	return Result{}, t.GitHub().Comments.React(ctx, repo, r.Comment, r.Sign)
}

// Unlabel takes a label off.
type Unlabel struct {
	Number       int
	Label, Token string
}

// Entry names the label.
func (u Unlabel) Entry() model.Effect {
	return model.Effect{Kind: "label", Target: u.Label, Token: u.Token}
}

func (Unlabel) repeats() repeat { return never }

func (u Unlabel) send(ctx context.Context, t Thread) (Result, error) {
	repo, _ := t.Subject()
	return Result{}, t.GitHub().Issues.RemoveLabel(ctx, repo, u.Number, u.Label)
}

// Close closes a pull request.
type Close struct {
	Number int
	Token  string
}

// Entry names the pull request.
func (c Close) Entry() model.Effect {
	return model.Effect{Kind: "close", Target: strconv.Itoa(c.Number), Token: c.Token}
}

func (Close) repeats() repeat { return never }

func (c Close) send(ctx context.Context, t Thread) (Result, error) {
	repo, _ := t.Subject()
	return Result{}, t.GitHub().Pulls.Close(ctx, repo, c.Number)
}

// Retarget gives an open pull request another base.
type Retarget struct {
	Number      int
	Base, Token string
}

// Entry names the pull request.
func (r Retarget) Entry() model.Effect {
	return model.Effect{Kind: "retarget", Target: strconv.Itoa(r.Number), Token: r.Token}
}

func (Retarget) repeats() repeat { return never }

func (r Retarget) send(ctx context.Context, t Thread) (Result, error) {
	repo, _ := t.Subject()
	return Result{}, t.GitHub().Pulls.Retarget(ctx, repo, r.Number, r.Base)
}

// OpenPull opens a pull request from a branch that has none.
type OpenPull struct {
	Draft model.PullDraft
	Token string
}

// Entry names the branch.
func (o OpenPull) Entry() model.Effect {
	return model.Effect{Kind: "pull_request", Target: o.Draft.Head, Token: o.Token}
}

func (OpenPull) repeats() repeat { return unseen }

func (o OpenPull) send(ctx context.Context, t Thread) (Result, error) {
	repo, _ := t.Subject()
	pull, err := t.GitHub().Pulls.Create(ctx, repo, o.Draft)
	return Result{Pull: pull}, err
}

// OpenRevert opens the pull request of a revert. Whoever wants it looks for one after an unclear answer.
type OpenRevert struct {
	Draft model.PullDraft
	Token string
}

// Entry names the branch.
func (o OpenRevert) Entry() model.Effect {
	return model.Effect{Kind: "pull", Target: o.Draft.Head, Token: o.Token}
}

func (OpenRevert) repeats() repeat { return never }

func (o OpenRevert) send(ctx context.Context, t Thread) (Result, error) {
	return OpenPull(o).send(ctx, t)
}

// OpenIssue opens an issue about what was found on the thread with this number.
type OpenIssue struct {
	Number             int
	Token, Title, Body string
}

// Entry names the thread.
func (o OpenIssue) Entry() model.Effect {
	return model.Effect{Kind: "issue", Target: strconv.Itoa(o.Number), Token: o.Token}
}

func (OpenIssue) repeats() repeat { return unseen }

func (o OpenIssue) send(ctx context.Context, t Thread) (Result, error) {
	repo, _ := t.Subject()
	number, url, err := t.GitHub().Issues.Open(ctx, repo, o.Title, o.Body)
	return Result{Number: number, URL: url}, err
}

// MergePull has GitHub merge a pull request.
type MergePull struct {
	Number      int
	Input       github.MergeInput
	Base, Token string
}

// Entry names the base branch.
func (m MergePull) Entry() model.Effect {
	return model.Effect{Kind: "merge", Target: m.Base, Token: m.Token}
}

func (MergePull) repeats() repeat { return never }

func (m MergePull) send(ctx context.Context, t Thread) (Result, error) {
	repo, _ := t.Subject()
	sha, err := t.GitHub().Pulls.Merge(ctx, repo, m.Number, m.Input)
	return Result{SHA: sha}, err
}

// Enqueue puts a pull request into GitHub's merge queue, if Head is still its head. If the answer is unclear, the caller asks
// the queue for the result.
type Enqueue struct{ Node, Head, Base, Token string }

// Entry names the base branch.
func (e Enqueue) Entry() model.Effect {
	return model.Effect{Kind: "enqueue", Target: e.Base, Token: e.Token}
}

func (Enqueue) repeats() repeat { return never }

func (e Enqueue) send(ctx context.Context, t Thread) (Result, error) {
	repo, _ := t.Subject()
	return Result{}, t.GitHub().Pulls.Enqueue(ctx, repo, e.Node, e.Head)
}

// Dequeue takes a pull request out of GitHub's merge queue, with the same reservation.
type Dequeue struct{ Node, Base, Token string }

// Entry names the base branch.
func (d Dequeue) Entry() model.Effect {
	return model.Effect{Kind: "dequeue", Target: d.Base, Token: d.Token}
}

func (Dequeue) repeats() repeat { return never }

func (d Dequeue) send(ctx context.Context, t Thread) (Result, error) {
	repo, _ := t.Subject()
	return Result{}, t.GitHub().Pulls.Dequeue(ctx, repo, d.Node)
}
