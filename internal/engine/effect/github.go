package effect

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/mergexo/mergexo/internal/github"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/model"
)

// Comment posts a comment in a conversation. Find looks for it in what was read last, and returns 0 if it is not there; without it, the
// token tells.
func Comment(number int, token, body string, find func() int64) Effect {
	return Effect{As: named("comment", decimal(number), token), show: says(model.KindIssue, 0, body),
		Find: func(_ context.Context, t Thread) (Result, error) {
			if find == nil {
				return t.Said(model.KindIssue, token), nil
			}
			id := find()
			return Result{ID: id, Present: id != 0}, nil
		},
		send: func(ctx context.Context, to server) (Result, error) {
			made, err := to.Comments.Create(ctx, to.repo, number, body)
			return Result{ID: made.ID, URL: made.URL}, err
		}}
}

// Edit replaces the body of a comment of ours.
func Edit(comment int64, token, body string) Effect {
	return Effect{As: named("edit", planned(comment), token), idempotent: true, show: edits(comment, body),
		send: func(ctx context.Context, to server) (Result, error) {
			return Result{ID: comment}, to.Comments.Edit(ctx, to.repo, comment, body)
		}}
}

// Minimize hides comments of ours as resolved, some with another body. The first one's token names it.
func Minimize(token string, comments []int64, list []github.Minimized) Effect {
	var names []string
	for _, id := range comments {
		names = append(names, planned(id))
	}
	return Effect{As: named("minimize", strings.Join(names, ", "), token), idempotent: true,
		show: func(d *Dry, t Thread) (r Result) {
			for i, m := range list {
				if d.on(t).hidden[comments[i]] = true; m.Body != "" {
					r = edits(comments[i], m.Body)(d, t)
				}
			}
			return r
		},
		send: only(func(ctx context.Context, to server) error { return to.Comments.Minimize(ctx, to.repo, list...) })}
}

// Delete removes a comment of ours; one that is gone already is fine.
func Delete(comment int64, token string) Effect {
	return Effect{As: named("delete", planned(comment), token), show: shows(func(o *overlay) { o.deleted[comment] = true }),
		send: only(func(ctx context.Context, to server) error { return to.Comments.Delete(ctx, to.repo, comment) })}
}

// Reply answers the review comment to in its thread, which a comment of it names.
func Reply(number int, to, thread int64, token, body string) Effect {
	return Effect{As: named("reply", decimal(to), token),
		Find: said(model.KindReview, token), show: says(model.KindReview, thread, body),
		send: func(ctx context.Context, to server) (Result, error) {
			made, err := to.Comments.Reply(ctx, to.repo, number, thread, body)
			return Result{ID: made.ID, URL: made.URL}, err
		}}
}

// Resolve resolves the thread of a review comment.
func Resolve(comment int64, node, token string) Effect {
	return Effect{As: named("resolve", decimal(comment), token), idempotent: true, show: nothing,
		send: only(func(ctx context.Context, to server) error { return to.Pulls.ResolveThread(ctx, to.repo, node) })}
}

// Review posts a review that comments.
func Review(number int, token string, in github.ReviewInput) Effect {
	return Effect{As: named("review", decimal(number), token), Find: said(model.KindReviewSummary, token),
		send: func(ctx context.Context, to server) (r Result, err error) {
			r.ID, r.URL, err = to.Pulls.Review(ctx, to.repo, number, in)
			return r, err
		}}
}

// React puts a sign under a comment. Reports leave out one under a review summary, where GitHub takes none.
func React(c model.Comment, sign string) Effect {
	as := named("react", decimal(c.ID), journal.Token("react", decimal(c.ID), sign))
	if c.Kind == model.KindReviewSummary {
		as = model.Effect{}
	}
	return Effect{As: as, show: shows(func(o *overlay) { o.reacted[c.ID] = append(o.reacted[c.ID], sign) }),
		send: only(func(ctx context.Context, to server) error { return to.Comments.React(ctx, to.repo, c, sign) })}
}

// Unlabel takes a label off.
func Unlabel(number int, label, token string) Effect {
	return Effect{As: named("label", label, token),
		show: shows(func(o *overlay) { o.unlabeled = append(o.unlabeled, strings.ToLower(label)) }),
		send: only(func(ctx context.Context, to server) error { return to.Issues.RemoveLabel(ctx, to.repo, number, label) })}
}

// AddLabel puts a label on an issue.
func AddLabel(number int, label, token string) Effect {
	return Effect{As: named("label", decimal(number), token), idempotent: true, show: nothing,
		send: only(func(ctx context.Context, to server) error { return to.Issues.AddLabel(ctx, to.repo, number, label) })}
}

// Close closes a pull request.
func Close(number int, token string) Effect {
	return Effect{As: named("close", decimal(number), token), show: shows(func(o *overlay) { o.closed = true }),
		send: only(func(ctx context.Context, to server) error { return to.Pulls.Close(ctx, to.repo, number) })}
}

// CloseIssue closes an issue, as completed or as not planned.
func CloseIssue(number int, completed bool, token string) Effect {
	return Effect{As: named("close", decimal(number), token), idempotent: true, show: nothing,
		send: only(func(ctx context.Context, to server) error { return to.Issues.Close(ctx, to.repo, number, completed) })}
}

// Retarget gives an open pull request another base.
func Retarget(number int, base, token string) Effect {
	return Effect{As: named("retarget", decimal(number), token), show: nothing,
		send: only(func(ctx context.Context, to server) error { return to.Pulls.Retarget(ctx, to.repo, number, base) })}
}

// OpenPull opens a pull request from a branch that has none.
func OpenPull(draft model.PullDraft, token string) Effect {
	return Effect{As: named("pull_request", draft.Head, token),
		Find: func(_ context.Context, t Thread) (Result, error) { return t.Pull(), nil },
		send: func(ctx context.Context, to server) (r Result, err error) {
			r.Pull, err = to.Pulls.Create(ctx, to.repo, draft)
			return r, err
		}}
}

// OpenRevert opens the pull request of a revert. Whoever wants it looks for one after an unclear answer.
func OpenRevert(draft model.PullDraft, token string) Effect {
	e := OpenPull(draft, token)
	e.As.Kind, e.Find = "pull", nil
	return e
}

// OpenIssue opens an issue about what was found on the thread with this number.
func OpenIssue(number int, token, title, body string) Effect {
	return Effect{As: named("issue", decimal(number), token),
		Find: func(ctx context.Context, t Thread) (Result, error) { return t.Issue(ctx, token, title) },
		send: func(ctx context.Context, to server) (r Result, err error) {
			r.Number, r.URL, err = to.Issues.Open(ctx, to.repo, title, body)
			return r, err
		}}
}

// OpenItem opens the issue for an item of a roadmap. Since is when the first of them can have been opened: after an unclear answer it
// is looked for among all that were opened from then on, by its token and by nothing else.
func OpenItem(roadmap int, token, title, body string, since time.Time) Effect {
	return Effect{As: named("issue", decimal(roadmap), token),
		Find: func(ctx context.Context, t Thread) (Result, error) { return t.Item(ctx, token, since) },
		send: func(ctx context.Context, to server) (Result, error) {
			made, err := to.Issues.Create(ctx, to.repo, title, body)
			return Result{Number: made.Number, ID: made.ID, URL: made.URL}, err
		}}
}

// LinkSub makes the issue with this number and id a sub-issue of another one.
func LinkSub(parent, number int, id int64, token string) Effect {
	return Effect{As: named("sub_issue", decimal(number), token), idempotent: true, show: nothing,
		send: only(func(ctx context.Context, to server) error { return to.Issues.AddSub(ctx, to.repo, parent, id) })}
}

// MergePull has GitHub merge a pull request into base.
func MergePull(number int, in github.MergeInput, base, token string) Effect {
	return Effect{As: named("merge", base, token), send: func(ctx context.Context, to server) (r Result, err error) {
		r.SHA, err = to.Pulls.Merge(ctx, to.repo, number, in)
		return r, err
	}}
}

// Enqueue puts a pull request into GitHub's merge queue, if head is still its head. If the answer is unclear, the caller asks
// the queue for the result.
func Enqueue(node, head, base, token string) Effect {
	return Effect{As: named("enqueue", base, token),
		send: only(func(ctx context.Context, to server) error { return to.Pulls.Enqueue(ctx, to.repo, node, head) })}
}

// Dequeue takes a pull request out of GitHub's merge queue, with the same reservation.
func Dequeue(node, base, token string) Effect {
	return Effect{As: named("dequeue", base, token),
		send: only(func(ctx context.Context, to server) error { return to.Pulls.Dequeue(ctx, to.repo, node) })}
}

// Rerun runs the failed jobs of a workflow run once more.
func Rerun(run model.Rerun, token string) Effect {
	return Effect{As: named("rerun", decimal(run.Run), token),
		Find: func(ctx context.Context, t Thread) (Result, error) { return t.Reran(ctx, run) },
		send: only(func(ctx context.Context, to server) error { return to.Actions.RerunFailed(ctx, to.repo, run.Run) })}
}

// CancelRun stops a workflow run.
func CancelRun(run int64, token string) Effect {
	return Effect{As: named("cancel", decimal(run), token), idempotent: true, show: nothing,
		send: only(func(ctx context.Context, to server) error { return to.Actions.Cancel(ctx, to.repo, run) })}
}

// Status reports on a commit, as a check that is no App's; check is its name, and says has at most 140 characters.
func Status(sha, check string, passed bool, says string) Effect {
	return Effect{As: named("status", sha, journal.Token("status", check, sha)), idempotent: true,
		send: only(func(ctx context.Context, to server) error {
			return to.Commits.Report(ctx, to.repo, sha, check, passed, says)
		})}
}

// Dispatch starts a run of a workflow for a number.
func Dispatch(workflow, branch string, number int, token string) Effect {
	return Effect{As: named("dispatch", decimal(number), token), show: nothing,
		send: only(func(ctx context.Context, to server) error {
			return to.Actions.Dispatch(ctx, to.repo, workflow, branch, map[string]string{"number": decimal(number)})
		})}
}

// PlaceRef makes a private ref, whose name is what it says. Reports name it if it is told.
func PlaceRef(name, sha string, told bool) Effect {
	as := model.Effect{}
	if told {
		as = named("ref", name, "")
	}
	return Effect{As: as, show: nothing, send: only(func(ctx context.Context, to server) error { return to.Refs.Create(ctx, to.repo, name, sha) })}
}

// RemoveRef deletes a private ref that PlaceRef has made. Reports leave it out.
func RemoveRef(name string) Effect {
	return Effect{show: nothing, send: only(func(ctx context.Context, to server) error { return to.Refs.Delete(ctx, to.repo, name) })}
}

func named(kind, target, token string) model.Effect {
	return model.Effect{Kind: kind, Target: target, Token: token}
}

func decimal[N int | int64](n N) string { return strconv.FormatInt(int64(n), 10) }

// said looks for what was said with this token.
func said(kind model.Kind, token string) func(context.Context, Thread) (Result, error) {
	return func(_ context.Context, t Thread) (Result, error) { return t.Said(kind, token), nil }
}

// only is the sending of an effect whose answer nobody needs.
func only(send func(context.Context, server) error) func(context.Context, server) (Result, error) {
	return func(ctx context.Context, to server) (Result, error) { return Result{}, send(ctx, to) }
}
