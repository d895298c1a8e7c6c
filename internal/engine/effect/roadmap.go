package effect

import (
	"context"
	"strconv"
	"time"

	"github.com/mergexo/mergexo/internal/model"
)

// OpenItem opens the issue for an item of a roadmap. Since is when the first of them can have been opened: after an unclear answer it
// is looked for among all that were opened from then on, by its token and by nothing else.
type OpenItem struct {
	Roadmap            int
	Token, Title, Body string
	Since              time.Time
}

// Entry names the roadmap's issue.
func (o OpenItem) Entry() model.Effect {
	return model.Effect{Kind: "issue", Target: strconv.Itoa(o.Roadmap), Token: o.Token}
}

func (OpenItem) repeats() repeat { return unseen }

func (o OpenItem) send(ctx context.Context, t Thread) (Result, error) {
	repo, _ := t.Subject()
	made, err := t.GitHub().Issues.Create(ctx, repo, o.Title, o.Body)
	return Result{Number: made.Number, ID: made.ID, URL: made.URL}, err
}

// LinkSub makes an issue a sub-issue of another one.
type LinkSub struct {
	Parent, Number int
	ID             int64 // of the sub-issue
	Token          string
}

// Entry names the sub-issue.
func (l LinkSub) Entry() model.Effect {
	return model.Effect{Kind: "sub_issue", Target: strconv.Itoa(l.Number), Token: l.Token}
}

func (LinkSub) repeats() repeat { return always }

func (l LinkSub) send(ctx context.Context, t Thread) (Result, error) {
	repo, _ := t.Subject()
	return Result{}, t.GitHub().Issues.AddSub(ctx, repo, l.Parent, l.ID)
}

// AddLabel puts a label on an issue.
type AddLabel struct {
	Number       int
	Label, Token string
}

// Entry names the issue.
func (a AddLabel) Entry() model.Effect {
	return model.Effect{Kind: "label", Target: strconv.Itoa(a.Number), Token: a.Token}
}

func (AddLabel) repeats() repeat { return always }

func (a AddLabel) send(ctx context.Context, t Thread) (Result, error) {
	repo, _ := t.Subject()
	return Result{}, t.GitHub().Issues.AddLabel(ctx, repo, a.Number, a.Label)
}

// CloseIssue closes an issue, as completed or as not planned.
type CloseIssue struct {
	Number    int
	Completed bool
	Token     string
}

// Entry names the issue.
func (c CloseIssue) Entry() model.Effect {
	return model.Effect{Kind: "close", Target: strconv.Itoa(c.Number), Token: c.Token}
}

func (CloseIssue) repeats() repeat { return always }

func (c CloseIssue) send(ctx context.Context, t Thread) (Result, error) {
	repo, _ := t.Subject()
	return Result{}, t.GitHub().Issues.Close(ctx, repo, c.Number, c.Completed)
}
