package github

import (
	"context"
	"fmt"
	"net/http"

	gogithub "github.com/google/go-github/v60/github"

	"github.com/mergexo/mergexo/internal/model"
)

// Run says how a workflow run stands. One that GitHub does not know, or that the token may not see, has Known false.
// https://docs.github.com/rest/actions/workflow-runs#get-a-workflow-run
func (c Actions) Run(ctx context.Context, repo model.Repo, id int64) (model.RunState, error) {
	op := fmt.Sprintf("read workflow run %d of %s", id, repo)
	if err := checkRepo(repo); err != nil {
		return model.RunState{}, &Error{Kind: Invalid, Op: op, Message: c.line(err.Error())}
	}
	run, _, err := c.rest.Actions.GetWorkflowRunByID(ctx, repo.Owner, repo.Name, id)
	if err != nil {
		if e := c.fail(op, err); e.Kind != NotFound && e.Kind != Forbidden && e.Kind != Gone {
			return model.RunState{}, e
		}
		return model.RunState{}, nil
	}
	return model.RunState{Known: true, Completed: run.GetStatus() == "completed", Attempt: run.GetRunAttempt(), Began: run.GetRunStartedAt().Time}, nil
}

// Create comments on an issue or a pull request. Unclear means that the comment may be there.
// https://docs.github.com/rest/issues/comments#create-an-issue-comment
func (c Comments) Create(ctx context.Context, repo model.Repo, number int, body string) (model.Comment, error) {
	op := fmt.Sprintf("comment on %s#%d", repo, number)
	if err := c.mayWrite(ctx, op, repo); err != nil {
		return model.Comment{}, err
	}
	made, _, err := c.rest.Issues.CreateComment(ctx, repo.Owner, repo.Name, number, &gogithub.IssueComment{Body: &body})
	if err != nil {
		return model.Comment{}, c.failWrite(op, err)
	}
	if made.GetID() == 0 {
		return model.Comment{}, unreadableWrite(op, "comment")
	}
	return model.Comment{
		Kind: model.KindIssue, ID: made.GetID(), Author: restActor(made.GetUser()), Association: made.GetAuthorAssociation(),
		Body: made.GetBody(), URL: made.GetHTMLURL(), CreatedAt: made.GetCreatedAt().UTC(), UpdatedAt: made.GetUpdatedAt().UTC(), Ours: true, Posted: made.GetBody(),
	}, nil
}

// Edit replaces the body of a comment in the conversation. NotFound and Gone mean that somebody deleted it.
// https://docs.github.com/rest/issues/comments#update-an-issue-comment
func (c Comments) Edit(ctx context.Context, repo model.Repo, id int64, body string) error {
	op := fmt.Sprintf("edit comment %d of %s", id, repo)
	if err := c.mayWrite(ctx, op, repo); err != nil {
		return err
	}
	if _, _, err := c.rest.Issues.EditComment(ctx, repo.Owner, repo.Name, id, &gogithub.IssueComment{Body: &body}); err != nil {
		return c.failWrite(op, err)
	}
	return nil
}

// Delete deletes a comment in the conversation. One that is gone already is deleted.
// https://docs.github.com/rest/issues/comments#delete-an-issue-comment
func (c Comments) Delete(ctx context.Context, repo model.Repo, id int64) error {
	op := fmt.Sprintf("delete comment %d of %s", id, repo)
	if err := c.mayWrite(ctx, op, repo); err != nil {
		return err
	}
	if _, err := c.rest.Issues.DeleteComment(ctx, repo.Owner, repo.Name, id); err != nil {
		if e := c.failWrite(op, err); e.Kind != NotFound && e.Kind != Gone {
			return e
		}
	}
	return nil
}

// Reply answers in the thread whose first comment is thread; GitHub refuses replies to replies. go-github has only the
// older form of this call. https://docs.github.com/rest/pulls/comments#create-a-reply-for-a-review-comment
func (c Comments) Reply(ctx context.Context, repo model.Repo, number int, thread int64, body string) (model.Comment, error) {
	op := fmt.Sprintf("reply to review comment %d of %s#%d", thread, repo, number)
	if err := c.mayWrite(ctx, op, repo); err != nil {
		return model.Comment{}, err
	}
	path := fmt.Sprintf("repos/%s/pulls/%d/comments/%d/replies", repo, number, thread)
	req, err := c.rest.NewRequest(http.MethodPost, path, &gogithub.PullRequestComment{Body: &body})
	if err != nil {
		return model.Comment{}, &Error{Kind: Invalid, Op: op, Message: c.line(err.Error())}
	}
	made := new(gogithub.PullRequestComment)
	if _, err := c.rest.Do(ctx, req, made); err != nil {
		return model.Comment{}, c.failWrite(op, err)
	}
	if made.GetID() == 0 {
		return model.Comment{}, unreadableWrite(op, "comment")
	}
	return model.Comment{
		Kind: model.KindReview, ID: made.GetID(), Author: restActor(made.GetUser()), Association: made.GetAuthorAssociation(),
		Body: made.GetBody(), URL: made.GetHTMLURL(), CreatedAt: made.GetCreatedAt().UTC(), UpdatedAt: made.GetUpdatedAt().UTC(), Ours: true, Posted: made.GetBody(),
		Path: made.GetPath(), DiffHunk: made.GetDiffHunk(),
		Lines:     model.Lines{Line: made.GetLine(), Side: made.GetSide(), StartLine: made.GetStartLine(), StartSide: made.GetStartSide()},
		InReplyTo: made.GetInReplyTo(), ReviewID: made.GetPullRequestReviewID(), CommitID: made.GetCommitID(),
	}, nil
}

// mayWrite refuses a write that must not even begin: with a bad name, or in a run that is over.
func (c *conn) mayWrite(ctx context.Context, op string, repo model.Repo) error {
	if err := checkRepo(repo); err != nil {
		return &Error{Kind: Invalid, Op: op, Message: c.line(err.Error())}
	}
	if err := ctx.Err(); err != nil {
		return &Error{Kind: Unavailable, Op: op, Message: "not sent: " + err.Error(), Err: err}
	}
	return nil
}

// unreadableWrite is a write that was accepted with an answer that does not name what was made.
func unreadableWrite(op, made string) error {
	return &Error{Kind: Unclear, Op: op, Message: "the answer names no " + made}
}

func restActor(u *gogithub.User) model.Actor {
	n := actorNode{Typename: u.GetType(), Login: u.GetLogin(), DatabaseID: u.GetID()}
	return n.actor()
}

func short(sha string) string { return oneLine(sha[:min(len(sha), 12)]) }

// Diff is the pull request's diff as text. GitHub gives none of more than 20,000 lines or 300 files.
// https://docs.github.com/rest/pulls/pulls#get-a-pull-request
func (c Pulls) Diff(ctx context.Context, repo model.Repo, number int) (string, error) {
	op := fmt.Sprintf("read the diff of %s#%d", repo, number)
	if err := checkRepo(repo); err != nil {
		return "", &Error{Kind: Invalid, Op: op, Message: c.line(err.Error())}
	}
	diff, _, err := c.rest.PullRequests.GetRaw(ctx, repo.Owner, repo.Name, number, gogithub.RawOptions{Type: gogithub.Diff})
	if err != nil {
		return "", c.fail(op, err)
	}
	return diff, nil
}
