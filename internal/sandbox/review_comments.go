package sandbox

import (
	"errors"
	"net/http"
	"slices"
	"time"
)

var reviewCommentRoutes = []route{
	{"GET /repos/{owner}/{repo}/pulls/{number}/comments", needRead, "pull_requests=read", listReviewComments},
	{"POST /repos/{owner}/{repo}/pulls/{number}/comments", needComment, "pull_requests=write", withBody(createReviewComment)},
	{"POST /repos/{owner}/{repo}/pulls/{number}/comments/{id}/replies", needComment, "pull_requests=write", withBody(replyToComment)},
	{"GET /repos/{owner}/{repo}/pulls/comments", needRead, "pull_requests=read", listAllReviewComments},
	{"GET /repos/{owner}/{repo}/pulls/comments/{id}", needRead, "pull_requests=read", withReviewComment(func(q *request, c *ReviewComment) (any, error) { return q.s.json.reviewComment(c), nil })},
	{"PATCH /repos/{owner}/{repo}/pulls/comments/{id}", needComment, "pull_requests=write", withReviewComment(andBody(patchReviewComment))},
	{"DELETE /repos/{owner}/{repo}/pulls/comments/{id}", needComment, "pull_requests=write", withReviewComment(deleteReviewComment)},
}

// withReviewComment finds the review comment of {id} in the repository.
func withReviewComment(serve func(*request, *ReviewComment) (any, error)) func(*request) (any, error) {
	return func(q *request) (any, error) {
		id, err := q.int64Value("id")
		if err != nil {
			return nil, err
		}
		c := q.s.reviewComments[id]
		if c == nil || c.issue.repo != q.repo {
			return nil, errNotFound
		}
		return serve(q, c)
	}
}

func reviewCommentPage(q *request, all []*ReviewComment) (any, error) {
	since, err := q.since()
	if err != nil {
		return nil, err
	}
	cs := slices.DeleteFunc(slices.Clone(all), func(c *ReviewComment) bool {
		v := q.s.reviews[c.ReviewID]
		return c.UpdatedAt.Before(since) || v != nil && v.State == "PENDING"
	})
	slices.SortFunc(cs, func(a, b *ReviewComment) int { return int(a.ID - b.ID) })
	direction := "asc" // https://docs.github.com/en/rest/pulls/comments: "by default, in ascending order by ID"
	if q.query("sort") != "" {
		direction = "desc"
	}
	if q.query("sort") != "" || q.query("direction") == "desc" {
		sorted(q, cs, direction, func(c *ReviewComment) time.Time { return c.CreatedAt }, func(c *ReviewComment) time.Time { return c.UpdatedAt })
	}
	return paginate(q, cs, q.s.json.reviewComment), nil
}

func listReviewComments(q *request) (any, error) {
	return reviewCommentPage(q, q.issue.Pull.ReviewComments)
}

func listAllReviewComments(q *request) (any, error) {
	var all []*ReviewComment
	for _, i := range q.repo.Issues {
		if i.Pull != nil {
			all = append(all, i.Pull.ReviewComments...)
		}
	}
	return reviewCommentPage(q, all)
}

// reviewCommentInput is the body of a new review comment, alone or in a review.
type reviewCommentInput struct {
	Body, Path, Side string
	CommitID         string `json:"commit_id"`
	Line, Position   int
	StartLine        int    `json:"start_line"`
	StartSide        string `json:"start_side"`
	SubjectType      string `json:"subject_type"`
	InReplyTo        int64  `json:"in_reply_to"`
}

// threadError is GitHub's 422 for a comment that has no place in the diff: one sentence for reviews, details for comments.
type threadError struct {
	*failure
	sentence string
}

func (e *threadError) Unwrap() error { return e.failure }

func misplaced(field, code, message, sentence string) error {
	first := obj{"resource": "PullRequestReviewComment", "code": code, "field": field}
	if message != "" {
		first["message"] = message
	}
	blank := obj{"resource": "PullRequestReviewComment", "code": "missing_field", "field": "pull_request_review_thread.diff_hunk"}
	return &threadError{&failure{http.StatusUnprocessableEntity, "Validation Failed", []any{first, blank}}, sentence}
}

// reviewSentences turns a misplaced comment's error into that of the reviews API.
func reviewSentences(err error) error {
	var e *threadError
	if errors.As(err, &e) {
		return plain(e.sentence)
	}
	return err
}

// placeComment finds where a new comment stands: on a line of the diff between the base and a commit of the pull request.
func placeComment(q *request, in *reviewCommentInput, commit string) (*ReviewComment, error) {
	if err := checkBody("PullRequestReviewComment", in.Body, false); err != nil {
		return nil, err
	}
	if commit == "" {
		commit = q.s.pulls.headSHA(q.issue)
	}
	if err := partOfPull(q, commit); err != nil {
		return nil, err
	}
	base := q.s.pulls.baseSHA(q.issue)
	files, err := q.s.git.threeDot(q.repo, base, commit)
	if err != nil {
		return nil, err
	}
	f := changeOf(files, in.Path)
	if f == nil {
		return nil, misplaced("pull_request_review_thread.path", "invalid", "", "Path could not be resolved")
	}
	c := &ReviewComment{
		Post: Post{Author: q.user.Login, Body: in.Body}, Path: in.Path, SubjectType: "line", Side: in.Side,
		OriginalLine: in.Line, OriginalStartLine: in.StartLine, StartSide: in.StartSide, OriginalCommit: commit, OriginalBase: base, issue: q.issue,
	}
	if c.Side == "" {
		c.Side = "RIGHT"
	}
	if in.SubjectType == "file" {
		c.SubjectType, c.OriginalLine, c.OriginalStartLine, c.StartSide = "file", 0, 0, ""
		return c, nil
	}
	return c, placeLine(c, f, in)
}

// partOfPull refuses a commit that the pull request does not show, or not yet.
func partOfPull(q *request, commit string) error {
	if !q.s.git.isAncestor(q.repo, commit, q.s.pulls.headSHA(q.issue)) {
		return misplaced("commit_id", "custom", "commit_id is not part of the pull request", "Commit is not part of the pull request")
	}
	return nil
}

// placeLine checks the lines of a comment against the hunks of its file.
func placeLine(c *ReviewComment, f *fileChange, in *reviewCommentInput) error {
	if in.Line == 0 && in.Position > 0 {
		var ok bool
		if c.Side, c.OriginalLine, ok = f.lineAt(in.Position); !ok {
			return misplaced("pull_request_review_thread.position", "invalid", "", "Position is invalid")
		}
	}
	end, ok := f.spot(c.Side, c.OriginalLine)
	if !ok {
		return misplaced("pull_request_review_thread.line", "custom", "pull_request_review_thread.line must be part of the diff",
			"Pull request review thread line must be part of the diff and Pull request review thread diff hunk can't be blank")
	}
	if c.OriginalStartLine == 0 {
		return nil
	}
	if c.StartSide == "" {
		c.StartSide = c.Side
	}
	if c.StartSide == c.Side && c.OriginalStartLine >= c.OriginalLine {
		return misplaced("pull_request_review_thread.start_line", "custom", "pull_request_review_thread.start_line must precede the end line.",
			"Pull request review thread start line must precede the end line.")
	}
	start, ok := f.spot(c.StartSide, c.OriginalStartLine)
	if !ok || !sameHunk(start.hunk, end.hunk) {
		return misplaced("pull_request_review_thread.start_line", "custom", "pull_request_review_thread.start_line must be part of the same hunk as the line.",
			"Pull request review thread start line must be part of the same hunk as the line.")
	}
	return nil
}

// sameHunk tells whether a hunk that is cut earlier begins the one that is cut later.
func sameHunk(start, end string) bool { return len(start) <= len(end) && end[:len(start)] == start }

// addReviewComment puts a placed comment into a review.
func (pr pulls) addReviewComment(v *Review, c *ReviewComment) {
	now := pr.world.now()
	if c.ID == 0 {
		c.ID = pr.world.nextID()
	}
	if c.CreatedAt.IsZero() {
		c.CreatedAt, c.UpdatedAt = now, now
	}
	c.ReviewID, c.issue = v.ID, v.issue
	v.issue.Pull.ReviewComments = append(v.issue.Pull.ReviewComments, c)
	v.issue.UpdatedAt = now
	pr.reviewComments[c.ID] = c
	pr.world.changed()
}

func createReviewComment(q *request, in reviewCommentInput) (any, error) {
	if err := mayComment(q, q.issue); err != nil {
		return nil, err
	}
	if in.InReplyTo != 0 {
		parent := q.s.reviewComments[in.InReplyTo]
		if parent == nil || parent.issue != q.issue {
			return nil, invalid("PullRequestReviewComment", "in_reply_to", "invalid")
		}
		if parent.InReplyTo != 0 { // in_reply_to is not as strict as /replies: the thread counts
			parent = q.s.reviewComments[parent.InReplyTo]
		}
		return replyOnLine(q, parent, in.Body)
	}
	for field, value := range map[string]string{"path": in.Path, "commit_id": in.CommitID} {
		if value == "" {
			return nil, unprocessable("Invalid request.\n\n\"" + field + "\" wasn't supplied.")
		}
	}
	c, err := placeComment(q, &in, in.CommitID)
	if err != nil {
		return nil, err
	}
	return sayOnLine(q, c)
}

// sayOnLine publishes a single comment. GitHub makes a review of its own for it.
func sayOnLine(q *request, c *ReviewComment) (any, error) {
	v := q.s.pulls.addReview(q.issue, q.user.Login, "", c.OriginalCommit)
	q.s.pulls.addReviewComment(v, c)
	q.s.pulls.submit(v, "COMMENTED", q.user)
	return &reply{http.StatusCreated, q.s.json.reviewComment(c)}, nil
}

// replyToComment answers the first comment of a thread; a reply to a reply is refused:
// https://docs.github.com/en/rest/pulls/comments#create-a-reply-for-a-review-comment
func replyToComment(q *request, in struct{ Body string }) (any, error) {
	id, err := q.int64Value("id")
	if err != nil {
		return nil, err
	}
	parent := q.s.reviewComments[id]
	if parent == nil || parent.issue != q.issue {
		return nil, errNotFound
	}
	if parent.InReplyTo != 0 {
		return nil, invalid("PullRequestReviewComment", "in_reply_to_id", "invalid")
	}
	if err := mayComment(q, q.issue); err != nil {
		return nil, err
	}
	return replyOnLine(q, parent, in.Body)
}

func replyOnLine(q *request, parent *ReviewComment, body string) (any, error) {
	if err := checkBody("PullRequestReviewComment", body, false); err != nil {
		return nil, err
	}
	c := *parent
	c.Post = Post{Author: q.user.Login, Body: body}
	c.InReplyTo, c.Resolved, c.ResolvedBy = parent.ID, false, ""
	return sayOnLine(q, &c)
}

func patchReviewComment(q *request, c *ReviewComment, in struct{ Body string }) (any, error) {
	if err := mayEdit(q, &c.Post); err != nil {
		return nil, err
	}
	if err := checkBody("PullRequestReviewComment", in.Body, false); err != nil {
		return nil, err
	}
	from := c.Body
	if q.s.world.edit(&c.Post, q.user, in.Body) {
		q.s.hooks.reviewComment(c, "edited", q.user, bodyChange(from))
	}
	return q.s.json.reviewComment(c), nil
}

// deleteReviewComment leaves replies in place; a review that said nothing else goes with its last comment.
func deleteReviewComment(q *request, c *ReviewComment) (any, error) {
	if err := mayEdit(q, &c.Post); err != nil {
		return nil, err
	}
	c.issue.UpdatedAt = q.s.world.now()
	q.s.hooks.reviewComment(c, "deleted", q.user, nil)
	q.s.pulls.dropReviewComment(c)
	p, v := c.issue.Pull, q.s.reviews[c.ReviewID]
	if v != nil && v.Body == "" && v.State == "COMMENTED" && len(p.reviewCommentsOf(v.ID)) == 0 {
		p.Reviews = slices.DeleteFunc(p.Reviews, func(o *Review) bool { return o == v })
		delete(q.s.reviews, v.ID)
	}
	return &reply{status: http.StatusNoContent}, nil
}

// dropReviewComment forgets a comment. The next one of its thread becomes the thread's first, as GitHub's GraphQL shows it.
func (pr pulls) dropReviewComment(c *ReviewComment) {
	p := c.issue.Pull
	p.ReviewComments = slices.DeleteFunc(p.ReviewComments, func(o *ReviewComment) bool { return o == c })
	delete(pr.reviewComments, c.ID)
	var root int64
	for _, o := range p.ReviewComments {
		switch {
		case o.InReplyTo != c.ID:
		case root == 0:
			root, o.InReplyTo, o.Resolved, o.ResolvedBy = o.ID, 0, c.Resolved, c.ResolvedBy
		default:
			o.InReplyTo = root
		}
	}
	pr.world.changed()
}
