package sandbox

import (
	"context"
	"slices"
	"strings"

	"github.com/graph-gophers/graphql-go"

	"github.com/mergexo/mergexo/internal/model"
)

// gqlReview is https://docs.github.com/en/graphql/reference/objects#pullrequestreview.
type gqlReview struct {
	*gqlPost
	v *Review
}

func (l *look) review(v *Review) *gqlReview {
	return &gqlReview{&gqlPost{l, &v.Post, v.issue.repo}, v}
}

// shows tells whether the viewer may see a review: until it is submitted only its author does.
func (l *look) shows(v *Review) bool {
	return v != nil && (v.State != "PENDING" || l.s.world.user(v.Author) == l.viewer)
}

func (v *gqlReview) ID() graphql.ID        { return graphql.ID(nodeID(nodeReview, v.v.ID)) }
func (v *gqlReview) URL() text             { return text(v.look.s.urls.review(v.v)) }
func (v *gqlReview) State() string         { return v.v.State }
func (v *gqlReview) SubmittedAt() *text    { return maybeTime(v.v.SubmittedAt) }
func (v *gqlReview) PublishedAt() *text    { return maybeTime(v.v.SubmittedAt) }
func (v *gqlReview) PullRequest() *gqlPull { return v.look.pull(v.v.issue) }
func (v *gqlReview) Commit() *gqlCommit    { return v.look.commit(v.repo, v.v.CommitID) }
func (v *gqlReview) Comments(args pageArgs) (*connection[gqlReviewComment], error) {
	return v.look.reviewComments(v.v.issue.Pull.reviewCommentsOf(v.v.ID), args)
}

func (l *look) reviewComments(cs []*ReviewComment, args pageArgs) (*connection[gqlReviewComment], error) {
	return pageOf(args, listing[*ReviewComment, gqlReviewComment]{items: cs, wrap: l.reviewComment,
		key: func(_ int, c *ReviewComment) sortKey { return sortKey{c.CreatedAt.Unix(), c.ID} }})
}

// reviewArgs filter the reviews of a pull request.
type reviewArgs struct {
	pageArgs
	Author *string
	States *[]string
}

func (l *look) reviews(i *Issue, args reviewArgs) (*connection[gqlReview], error) {
	var found []*Review
	for _, v := range i.Pull.Reviews {
		if l.shows(v) && (args.Author == nil || strings.EqualFold(strings.TrimSuffix(v.Author, "[bot]"), strings.TrimSuffix(*args.Author, "[bot]"))) &&
			(args.States == nil || slices.Contains(*args.States, v.State)) {
			found = append(found, v)
		}
	}
	return pageOf(args.pageArgs, listing[*Review, gqlReview]{items: found, wrap: l.review,
		key: func(_ int, v *Review) sortKey { return sortKey{v.CreatedAt.Unix(), v.ID} }})
}

// gqlReviewComment is https://docs.github.com/en/graphql/reference/objects#pullrequestreviewcomment.
type gqlReviewComment struct {
	*gqlPost
	c    *ReviewComment
	spot *spot // once asked for
}

func (l *look) reviewComment(c *ReviewComment) *gqlReviewComment {
	return &gqlReviewComment{gqlPost: &gqlPost{l, &c.Post, c.issue.repo}, c: c}
}

// spot is where a review comment stands in the diff of today.
type spot struct {
	line, start int
	outdated    bool
}

func (c *gqlReviewComment) now() *spot {
	if c.spot == nil {
		c.spot = &spot{}
		c.spot.line, c.spot.start, _, c.spot.outdated = c.look.s.pulls.currentLine(c.c)
	}
	return c.spot
}

func (c *gqlReviewComment) ID() graphql.ID            { return graphql.ID(nodeID(nodeReviewComment, c.c.ID)) }
func (c *gqlReviewComment) URL() text                 { return text(c.look.s.urls.reviewComment(c.c)) }
func (c *gqlReviewComment) Path() string              { return c.c.Path }
func (c *gqlReviewComment) Line() *int32              { return some(int32(c.now().line)) }
func (c *gqlReviewComment) StartLine() *int32         { return some(int32(c.now().start)) }
func (c *gqlReviewComment) OriginalLine() *int32      { return some(int32(c.c.OriginalLine)) }
func (c *gqlReviewComment) OriginalStartLine() *int32 { return some(int32(c.c.OriginalStartLine)) }
func (c *gqlReviewComment) Outdated() bool            { return c.now().outdated }
func (c *gqlReviewComment) SubjectType() string       { return strings.ToUpper(c.c.SubjectType) }
func (c *gqlReviewComment) DraftedAt() text           { return dateTime(c.c.CreatedAt) }
func (c *gqlReviewComment) PullRequest() *gqlPull     { return c.look.pull(c.c.issue) }
func (c *gqlReviewComment) OriginalCommit() *gqlCommit {
	return c.look.commit(c.repo, c.c.OriginalCommit)
}

// PublishedAt is when its review was submitted; CreatedAt is when it was drafted.
func (c *gqlReviewComment) PublishedAt() *text {
	if v := c.look.s.reviews[c.c.ReviewID]; v != nil {
		return maybeTime(v.SubmittedAt)
	}
	return maybeTime(&c.c.CreatedAt)
}

func (c *gqlReviewComment) DiffHunk() string {
	hunk, _ := c.look.s.pulls.diffHunk(c.c)
	return hunk
}

// Commit is the newest one that still has the comment's line.
func (c *gqlReviewComment) Commit() *gqlCommit {
	if c.now().outdated {
		return c.OriginalCommit()
	}
	return c.look.commit(c.repo, c.look.s.pulls.headSHA(c.c.issue))
}

func (c *gqlReviewComment) PullRequestReview() *gqlReview {
	if v := c.look.s.reviews[c.c.ReviewID]; c.look.shows(v) {
		return c.look.review(v)
	}
	return nil
}

func (c *gqlReviewComment) ReplyTo() *gqlReviewComment {
	if first := c.look.s.reviewComments[c.c.InReplyTo]; first != nil {
		return c.look.reviewComment(first)
	}
	return nil
}

func (c *gqlReviewComment) State() string {
	if v := c.look.s.reviews[c.c.ReviewID]; v != nil && v.State == "PENDING" {
		return "PENDING"
	}
	return "SUBMITTED"
}

// gqlThread is https://docs.github.com/en/graphql/reference/objects#pullrequestreviewthread: a comment on the diff and the replies to it.
type gqlThread struct {
	*gqlReviewComment // the first one that is left; place and path are its own
	all               []*ReviewComment
}

// threads groups the comments that the viewer may see, by the comment that began each thread.
func (l *look) threads(i *Issue) []*gqlThread {
	var threads []*gqlThread
	byRoot := map[int64]*gqlThread{}
	for _, c := range i.Pull.ReviewComments {
		if !l.shows(l.s.reviews[c.ReviewID]) {
			continue
		}
		root := c.InReplyTo
		if root == 0 {
			root = c.ID
		}
		if byRoot[root] == nil {
			byRoot[root] = &gqlThread{gqlReviewComment: l.reviewComment(c)}
			threads = append(threads, byRoot[root])
		}
		byRoot[root].all = append(byRoot[root].all, c)
	}
	return threads
}

// threadOf is the thread that a comment is in; nil when the viewer may not see it.
func (l *look) threadOf(c *ReviewComment) *gqlThread {
	for _, t := range l.threads(c.issue) {
		if slices.Contains(t.all, c) {
			return t
		}
	}
	return nil
}

func (t *gqlThread) ID() graphql.ID         { return graphql.ID(nodeID(nodeThread, t.c.ID)) }
func (t *gqlThread) IsResolved() bool       { return t.c.Resolved }
func (t *gqlThread) IsOutdated() bool       { return t.now().outdated }
func (t *gqlThread) StartDiffSide() *string { return some(t.c.StartSide) }
func (t *gqlThread) ViewerCanResolve() bool { return !t.c.Resolved && t.mayResolve() }

// DiffSide is RIGHT for a comment on the whole file, too.
func (t *gqlThread) DiffSide() string {
	if t.c.Side == "LEFT" {
		return "LEFT"
	}
	return "RIGHT"
}

// ResolvedBy is nobody where a bot has resolved it: GitHub's type is User.
func (t *gqlThread) ResolvedBy() *gqlActor {
	u := t.look.s.world.user(t.c.ResolvedBy)
	if !t.c.Resolved || u == nil || u.Type != "User" {
		return nil
	}
	return &gqlActor{look: t.look, u: u}
}

// gqlResolved is the payload of ResolveReviewThread.
type gqlResolved struct {
	ClientMutationID *string
	Thread           *gqlThread
}

// ResolveReviewThread is https://docs.github.com/en/graphql/reference/mutations#resolvereviewthread. One that is resolved stays as
// it is. A token needs to write contents, too: https://github.com/orgs/community/discussions/44650
func (*gqlRoot) ResolveReviewThread(ctx context.Context, args struct {
	Input struct {
		ClientMutationID *string
		ThreadID         graphql.ID
	}
}) (*gqlResolved, error) {
	l := lookOf(ctx)
	n := l.node(string(args.Input.ThreadID))
	if n == nil {
		return nil, unresolved("Could not resolve to a node with the global id of '%s'", args.Input.ThreadID)
	}
	t, ok := as[gqlThread](n)
	if !ok {
		return nil, unresolved("Could not resolve to PullRequestReviewThread node with the global id of '%s'", args.Input.ThreadID)
	}
	switch {
	case l.s.tokens.lacks(l.token, t.repo, "contents=write,pull_requests=write", false):
		return nil, &refusal{kind: "FORBIDDEN", message: notAccessible}
	case !t.mayResolve():
		return nil, &refusal{kind: "FORBIDDEN", message: l.viewer.Login + " does not have the correct permissions to execute `ResolveReviewThread`"}
	}
	if !t.c.Resolved {
		t.c.Resolved, t.c.ResolvedBy = true, l.viewer.Login
		l.s.world.changed()
	}
	return &gqlResolved{args.Input.ClientMutationID, t}, nil
}

// mayResolve: the pull request's author and people with write access.
func (t *gqlThread) mayResolve() bool {
	return t.look.s.world.user(t.c.issue.Author) == t.look.viewer || t.look.s.world.permission(t.repo, t.look.viewer.Login) >= model.PermissionWrite
}

func (t *gqlThread) Comments(args struct {
	pageArgs
	Skip *int32
}) (*connection[gqlReviewComment], error) {
	all := t.all
	if args.Skip != nil {
		all = all[min(len(all), max(0, int(*args.Skip))):]
	}
	return t.look.reviewComments(all, args.pageArgs)
}
