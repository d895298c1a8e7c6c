package github

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	gogithub "github.com/google/go-github/v60/github"

	"github.com/mergexo/mergexo/internal/model"
)

// Run says how a workflow run stands. One that GitHub does not know, or that the token may not see, has Known false.
// https://docs.github.com/rest/actions/workflow-runs#get-a-workflow-run
func (c Actions) Run(ctx context.Context, repo model.Repo, id int64) (model.RunState, error) {
	var run gogithub.WorkflowRun
	err := c.read(ctx, fmt.Sprintf("read workflow run %d of %s", id, repo), repo, fmt.Sprintf("actions/runs/%d", id), &run)
	if err != nil {
		return model.RunState{}, unless(err, NotFound, Forbidden, Gone)
	}
	return model.RunState{Known: true, Completed: run.GetStatus() == "completed", Attempt: run.GetRunAttempt(), Began: run.GetRunStartedAt().Time}, nil
}

// Create comments on an issue or a pull request. Unclear means that the comment may be there.
// https://docs.github.com/rest/issues/comments#create-an-issue-comment
func (c Comments) Create(ctx context.Context, repo model.Repo, number int, body string) (model.Comment, error) {
	op := fmt.Sprintf("comment on %s#%d", repo, number)
	return c.post(ctx, op, repo, model.KindIssue, fmt.Sprintf("issues/%d/comments", number), body)
}

// Edit replaces the body of a comment in the conversation. NotFound and Gone mean that somebody deleted it.
// https://docs.github.com/rest/issues/comments#update-an-issue-comment
func (c Comments) Edit(ctx context.Context, repo model.Repo, id int64, body string) error {
	op := fmt.Sprintf("edit comment %d of %s", id, repo)
	return c.write(ctx, op, repo, http.MethodPatch, fmt.Sprintf("issues/comments/%d", id), text(body), nil)
}

// Delete deletes a comment in the conversation. One that is gone already is deleted.
// https://docs.github.com/rest/issues/comments#delete-an-issue-comment
func (c Comments) Delete(ctx context.Context, repo model.Repo, id int64) error {
	op := fmt.Sprintf("delete comment %d of %s", id, repo)
	err := c.write(ctx, op, repo, http.MethodDelete, fmt.Sprintf("issues/comments/%d", id), nil, nil)
	return unless(err, NotFound, Gone)
}

// Reply answers in the thread whose first comment is thread; GitHub refuses replies to replies. go-github has only the
// older form of this call. https://docs.github.com/rest/pulls/comments#create-a-reply-for-a-review-comment
func (c Comments) Reply(ctx context.Context, repo model.Repo, number int, thread int64, body string) (model.Comment, error) {
	op := fmt.Sprintf("reply to review comment %d of %s#%d", thread, repo, number)
	return c.post(ctx, op, repo, model.KindReview, fmt.Sprintf("pulls/%d/comments/%d/replies", number, thread), body)
}

// post posts a comment. One in the conversation has no place in the files.
func (c Comments) post(ctx context.Context, op string, repo model.Repo, kind model.Kind, path, body string) (model.Comment, error) {
	var made gogithub.PullRequestComment
	if err := c.write(ctx, op, repo, http.MethodPost, path, text(body), &made); err != nil {
		return model.Comment{}, err
	}
	if made.GetID() == 0 {
		return model.Comment{}, unreadableWrite(op, "comment")
	}
	return model.Comment{
		Kind: kind, ID: made.GetID(), Author: restActor(made.GetUser()), Association: made.GetAuthorAssociation(),
		Body: made.GetBody(), URL: made.GetHTMLURL(), CreatedAt: made.GetCreatedAt().UTC(), UpdatedAt: made.GetUpdatedAt().UTC(), Ours: true, Posted: made.GetBody(),
		Path: made.GetPath(), DiffHunk: made.GetDiffHunk(),
		Lines:     model.Lines{Line: made.GetLine(), Side: made.GetSide(), StartLine: made.GetStartLine(), StartSide: made.GetStartSide()},
		InReplyTo: made.GetInReplyTo(), ReviewID: made.GetPullRequestReviewID(), CommitID: made.GetCommitID(),
	}, nil
}

// text is the body of a request that sends a text.
func text(body string) map[string]string { return map[string]string{"body": body} }

// check refuses a name that would bend a request's path.
func (c *conn) check(op string, repo model.Repo) error {
	if err := checkRepo(repo); err != nil {
		return &Error{Kind: Invalid, Op: op, Message: c.line(err.Error())}
	}
	return nil
}

// mayWrite refuses a write that must not even begin: with a bad name, or in a run that is over.
func (c *conn) mayWrite(ctx context.Context, op string, repo model.Repo) error {
	if err := c.check(op, repo); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return &Error{Kind: Unavailable, Op: op, Message: "not sent: " + err.Error(), Err: err}
	}
	return nil
}

// send sends a request to an address and reads the answer into into; nil: it is not read.
func (c *conn) send(ctx context.Context, method, path string, body, into any) (*gogithub.Response, error) {
	req, err := c.newRequest(method, path, body)
	if err != nil {
		return nil, &Error{Kind: Invalid, Message: c.line(err.Error())}
	}
	return c.do(ctx, req, into)
}

// text reads an address below a repository in a media type of its own.
func (c *conn) text(ctx context.Context, repo model.Repo, path, accept string) (string, error) {
	req, err := c.newRequest(http.MethodGet, fmt.Sprintf("repos/%s/%s", repo, path), nil)
	if err != nil {
		return "", &Error{Kind: Invalid, Message: c.line(err.Error())}
	}
	req.Header.Set("Accept", accept)
	var out strings.Builder
	_, err = c.do(ctx, req, &out)
	return out.String(), err
}

// commitSHA reads the full name of the commit that a branch, a tag or an abbreviation names.
// https://docs.github.com/rest/commits/commits#get-a-commit
func (c *conn) commitSHA(ctx context.Context, repo model.Repo, ref string) (string, error) {
	return c.text(ctx, repo, "commits/"+strings.ReplaceAll(url.PathEscape(ref), "%2F", "/"), "application/vnd.github.sha")
}

// read reads an address below a repository.
func (c *conn) read(ctx context.Context, op string, repo model.Repo, path string, into any) error {
	if err := c.check(op, repo); err != nil {
		return err
	}
	if _, err := c.send(ctx, http.MethodGet, fmt.Sprintf("repos/%s/%s", repo, path), nil, into); err != nil {
		return c.fail(op, err)
	}
	return nil
}

// listOf reads a list below a repository, by pages of a hundred entries where the query has no size of its own: all of them, or
// the first most.
func listOf[T any](ctx context.Context, c *conn, op string, repo model.Repo, path string, query url.Values, most int) (all []T, _ error) {
	if err := c.check(op, repo); err != nil {
		return nil, err
	}
	query.Set("per_page", cmp.Or(query.Get("per_page"), "100"))
	for next := 1; next != 0 && most > 0; most-- {
		query.Set("page", fmt.Sprint(next))
		var some page[T]
		resp, err := c.send(ctx, http.MethodGet, fmt.Sprintf("repos/%s/%s?%s", repo, path, query.Encode()), nil, &some)
		if err != nil {
			return nil, c.fail(op, err)
		}
		all, next = append(all, some...), resp.NextPage
	}
	return all, nil
}

// page is a page of a list, which GitHub sends as it is or as the one list in an object.
type page[T any] []T

// UnmarshalJSON reads either.
func (p *page[T]) UnmarshalJSON(text []byte) error {
	if !bytes.HasPrefix(text, []byte("{")) {
		return json.Unmarshal(text, (*[]T)(p))
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(text, &fields); err != nil {
		return err
	}
	for _, field := range fields {
		if bytes.HasPrefix(field, []byte("[")) {
			return json.Unmarshal(field, (*[]T)(p))
		}
	}
	return errors.New("the answer holds no list")
}

// write sends a write to an address below a repository, and reads the answer into into; nil: it is not read. Unclear means that
// it may have taken effect.
func (c *conn) write(ctx context.Context, op string, repo model.Repo, method, path string, body, into any) error {
	if err := c.mayWrite(ctx, op, repo); err != nil {
		return err
	}
	_, err := c.send(ctx, method, fmt.Sprintf("repos/%s/%s", repo, path), body, into)
	if accepted := (*gogithub.AcceptedError)(nil); err != nil && !errors.As(err, &accepted) { // 202: it is being done
		return c.failWrite(op, err)
	}
	return nil
}

// unless is err, or nil where it is of one of these kinds.
func unless(err error, kinds ...Kind) error {
	if slices.Contains(kinds, KindOf(err)) {
		return nil
	}
	return err
}

// refusalRow is a refusal that means more than its status says: with these words in it, in lower case.
type refusalRow struct {
	status int
	says   string
	kind   Kind   // "": as the status has it
	fix    string // "": as it is. Without words or a kind it takes no fix away that names a permission.
}

// explained is err, and the first row that it is one of says what it means.
func explained(err error, rows ...refusalRow) error {
	e, ok := err.(*Error)
	if !ok {
		return err
	}
	says := strings.ToLower(e.Message)
	for _, r := range rows {
		if e.Status == r.status && strings.Contains(says, r.says) {
			if r.says != "" || r.kind != "" || slices.Contains([]string{"", fixRights, fixHidden}, e.Fix) {
				e.Fix = cmp.Or(r.fix, e.Fix)
			}
			e.Kind = cmp.Or(r.kind, e.Kind)
			break
		}
	}
	return err
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
	if err := c.check(op, repo); err != nil {
		return "", err
	}
	diff, err := c.text(ctx, repo, fmt.Sprintf("pulls/%d", number), "application/vnd.github.diff")
	if err != nil {
		return "", c.fail(op, err)
	}
	return diff, nil
}
