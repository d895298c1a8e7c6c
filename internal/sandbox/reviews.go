package sandbox

import (
	"net/http"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/model"
)

var reviewRoutes = []route{
	{"GET /repos/{owner}/{repo}/pulls/{number}/reviews", needRead, "pull_requests=read", listReviews},
	{"POST /repos/{owner}/{repo}/pulls/{number}/reviews", needComment, "pull_requests=write", withBody(createReview)},
	{"GET /repos/{owner}/{repo}/pulls/{number}/reviews/{id}", needRead, "pull_requests=read", withReview(func(q *request, v *Review) (any, error) { return q.s.json.review(v), nil })},
	{"PUT /repos/{owner}/{repo}/pulls/{number}/reviews/{id}", needComment, "pull_requests=write", withReview(andBody(putReview))},
	{"DELETE /repos/{owner}/{repo}/pulls/{number}/reviews/{id}", needComment, "pull_requests=write", withReview(deleteReview)},
	{"GET /repos/{owner}/{repo}/pulls/{number}/reviews/{id}/comments", needRead, "pull_requests=read", withReview(func(q *request, v *Review) (any, error) {
		return paginate(q, v.issue.Pull.reviewCommentsOf(v.ID), q.s.json.reviewComment), nil
	})},
	{"POST /repos/{owner}/{repo}/pulls/{number}/reviews/{id}/events", needComment, "pull_requests=write", withReview(andBody(submitReview))},
	{"PUT /repos/{owner}/{repo}/pulls/{number}/reviews/{id}/dismissals", needWrite, "pull_requests=write", withReview(andBody(dismissReview))},
}

// withReview finds the review of {id} in the pull request. A pending review is there for its author only.
func withReview(serve func(*request, *Review) (any, error)) func(*request) (any, error) {
	return func(q *request) (any, error) {
		id, err := q.int64Value("id")
		if err != nil {
			return nil, err
		}
		v := q.s.reviews[id]
		if v == nil || v.issue != q.issue || !seesReview(q, v) {
			return nil, errNotFound
		}
		return serve(q, v)
	}
}

func seesReview(q *request, v *Review) bool {
	return v.State != "PENDING" || q.user != nil && strings.EqualFold(q.user.Login, v.Author)
}

func listReviews(q *request) (any, error) {
	seen := slices.DeleteFunc(slices.Clone(q.issue.Pull.Reviews), func(v *Review) bool { return !seesReview(q, v) })
	return paginate(q, seen, q.s.json.review), nil
}

// reviewStates are the states that the events of a review lead to.
var reviewStates = map[string]string{"APPROVE": "APPROVED", "REQUEST_CHANGES": "CHANGES_REQUESTED", "COMMENT": "COMMENTED"}

// plain is the 422 of the reviews API, whose details are sentences.
func plain(messages ...any) error {
	return &failure{http.StatusUnprocessableEntity, "Unprocessable Entity", messages}
}

// checkEvent refuses reviews that GitHub refuses.
func checkEvent(q *request, event, body string, comments int) error {
	own := strings.EqualFold(q.issue.Author, q.user.Login)
	switch {
	case event != "" && reviewStates[event] == "":
		return unprocessable("Invalid request.\n\nFor 'properties/event', " + event + " is not one of: APPROVE, REQUEST_CHANGES, COMMENT.")
	case event == "APPROVE" && own:
		return plain("Can not approve your own pull request")
	case event == "REQUEST_CHANGES" && own:
		return plain("Can not request changes on your own pull request")
	case (event == "COMMENT" || event == "REQUEST_CHANGES") && strings.TrimSpace(body) == "" && comments == 0:
		return plain("Review Can not be blank")
	}
	if len([]rune(body)) > maxBody {
		return plain("Body is too long (maximum is 65536 characters)")
	}
	return nil
}

func createReview(q *request, in struct {
	Body, Event string
	CommitID    string `json:"commit_id"`
	Comments    []reviewCommentInput
}) (any, error) {
	if err := checkEvent(q, in.Event, in.Body, len(in.Comments)); err != nil {
		return nil, err
	}
	if in.Event == "" && slices.ContainsFunc(q.issue.Pull.Reviews, func(v *Review) bool { return v.State == "PENDING" && v.Author == q.user.Login }) {
		return nil, plain("User can only have one pending review per pull request")
	}
	if in.CommitID != "" { // whether GitHub checks this without comments on lines is not known: the stricter answer is the safe one
		if err := partOfPull(q, in.CommitID); err != nil {
			return nil, reviewSentences(err)
		}
	}
	var spots []*ReviewComment
	for n := range in.Comments {
		c, err := placeComment(q, &in.Comments[n], in.CommitID)
		if err != nil {
			return nil, reviewSentences(err)
		}
		spots = append(spots, c)
	}
	v := q.s.pulls.addReview(q.issue, q.user.Login, in.Body, in.CommitID)
	for _, c := range spots {
		q.s.pulls.addReviewComment(v, c)
	}
	if in.Event != "" {
		q.s.pulls.submit(v, reviewStates[in.Event], q.user)
	}
	return q.s.json.review(v), nil
}

// addReview makes a pending review.
func (pr pulls) addReview(i *Issue, author, body, commit string) *Review {
	if commit == "" {
		commit = pr.headSHA(i)
	}
	now := pr.world.now()
	v := &Review{Post: Post{ID: pr.world.nextID(), Author: author, Body: body, CreatedAt: now, UpdatedAt: now}, State: "PENDING", CommitID: commit, issue: i}
	i.Pull.Reviews = append(i.Pull.Reviews, v)
	pr.reviews[v.ID] = v
	pr.world.changed()
	return v
}

// submit shows a pending review and its comments to everybody. The comments are updated by that: GitHub's own example of a single
// comment has it created in one second, and updated in the next, that of its review's submission.
// https://docs.github.com/webhooks/webhook-events-and-payloads#pull_request_review_comment
func (pr pulls) submit(v *Review, state string, u *User) {
	now := pr.world.now()
	v.State, v.SubmittedAt, v.UpdatedAt, v.issue.UpdatedAt = state, &now, now, now
	p := v.issue.Pull
	for _, c := range p.reviewCommentsOf(v.ID) {
		c.UpdatedAt = now
	}
	p.RequestedReviewers = slices.DeleteFunc(p.RequestedReviewers, func(l string) bool { return strings.EqualFold(l, u.Login) })
	pr.world.changed()
	pr.hooks.review(v, "submitted", u, nil)
	for _, c := range p.reviewCommentsOf(v.ID) {
		pr.hooks.reviewComment(c, "created", u, nil)
	}
}

func putReview(q *request, v *Review, in struct{ Body string }) (any, error) {
	if err := mayEdit(q, &v.Post); err != nil {
		return nil, err
	}
	if err := checkBody("PullRequestReview", in.Body, false); err != nil {
		return nil, err
	}
	from := v.Body
	if q.s.world.edit(&v.Post, q.user, in.Body) && v.State != "PENDING" {
		q.s.hooks.review(v, "edited", q.user, bodyChange(from))
	}
	return q.s.json.review(v), nil
}

func deleteReview(q *request, v *Review) (any, error) {
	if v.State != "PENDING" {
		return nil, plain("Can not delete a non-pending pull request review")
	}
	p := q.issue.Pull
	for _, c := range p.reviewCommentsOf(v.ID) {
		q.s.pulls.dropReviewComment(c)
	}
	p.Reviews = slices.DeleteFunc(p.Reviews, func(o *Review) bool { return o == v })
	delete(q.s.reviews, v.ID)
	q.s.world.changed()
	return q.s.json.review(v), nil
}

func submitReview(q *request, v *Review, in struct{ Body, Event string }) (any, error) {
	if in.Body != "" {
		v.Body = in.Body
	}
	if in.Event == "" {
		return nil, unprocessable("Invalid request.\n\n\"event\" wasn't supplied.")
	}
	if v.State != "PENDING" {
		return nil, plain("Could not submit pull request review.")
	}
	if err := checkEvent(q, in.Event, v.Body, len(q.issue.Pull.reviewCommentsOf(v.ID))); err != nil {
		return nil, err
	}
	q.s.pulls.submit(v, reviewStates[in.Event], q.user)
	return q.s.json.review(v), nil
}

func dismissReview(q *request, v *Review, in struct{ Message string }) (any, error) {
	if in.Message == "" {
		return nil, unprocessable("Invalid request.\n\n\"message\" wasn't supplied.")
	}
	if v.State != "APPROVED" && v.State != "CHANGES_REQUESTED" {
		return nil, plain("Can not dismiss a commented pull request review")
	}
	if err := q.may(model.PermissionWrite); err != nil {
		return nil, err
	}
	v.State, v.UpdatedAt, q.issue.UpdatedAt = "DISMISSED", q.s.world.now(), q.s.world.now()
	q.s.world.changed()
	q.s.hooks.review(v, "dismissed", q.user, nil)
	return q.s.json.review(v), nil
}
