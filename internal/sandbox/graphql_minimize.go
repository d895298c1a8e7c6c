package sandbox

import (
	"context"
	"strings"

	"github.com/graph-gophers/graphql-go"

	"github.com/mergexo/mergexo/internal/model"
)

// gqlMinimized is https://docs.github.com/en/graphql/reference/mutations#minimizecomment.
type gqlMinimized struct {
	ClientMutationID *string
	MinimizedComment *gqlMinimizable
}

// gqlMinimizable is GitHub's interface Minimizable.
type gqlMinimizable struct {
	*gqlNode
	*gqlPost
}

// MinimizeComment hides a comment, or changes why it is hidden. People with write access may. When it was updated does not change.
func (*gqlRoot) MinimizeComment(ctx context.Context, args struct {
	Input struct {
		ClientMutationID *string
		SubjectID        graphql.ID
		Classifier       string
	}
}) (*gqlMinimized, error) {
	l := lookOf(ctx)
	n := l.node(string(args.Input.SubjectID))
	post := (*gqlPost)(nil)
	if n != nil {
		switch v := n.value.(type) {
		case *gqlComment:
			post = v.gqlPost
		case *gqlReview:
			post = v.gqlPost
		case *gqlReviewComment:
			post = v.gqlPost
		}
	}
	if err := l.mayChange(post, args.Input.SubjectID, "MinimizeComment"); err != nil {
		return nil, err
	}
	post.p.Minimized = strings.ToLower(args.Input.Classifier)
	l.s.world.changed()
	return &gqlMinimized{args.Input.ClientMutationID, &gqlMinimizable{n, post}}, nil
}

// mayChange refuses a change of a post to a token or a person without write access. post is nil where the id names none.
func (l *look) mayChange(post *gqlPost, id graphql.ID, mutation string) error {
	switch {
	case post == nil:
		return unresolved("Could not resolve to a node with the global id of '%s'", id)
	case l.s.tokens.lacks(l.token, post.repo, "issues=write,pull_requests=write", false):
		return &refusal{kind: "FORBIDDEN", message: notAccessible}
	case l.s.world.permission(post.repo, l.viewer.Login) < model.PermissionWrite:
		return &refusal{kind: "FORBIDDEN", message: l.viewer.Login + " does not have the correct permissions to execute `" + mutation + "`"}
	}
	return nil
}

// gqlUpdated is https://docs.github.com/en/graphql/reference/mutations#updateissuecomment.
type gqlUpdated struct {
	ClientMutationID *string
	IssueComment     *gqlComment
}

// UpdateIssueComment replaces the text of a comment in the conversation. People with write access may.
func (*gqlRoot) UpdateIssueComment(ctx context.Context, args struct {
	Input struct {
		ClientMutationID *string
		ID               graphql.ID
		Body             string
	}
}) (*gqlUpdated, error) {
	l := lookOf(ctx)
	var comment *gqlComment
	var post *gqlPost
	if n := l.node(string(args.Input.ID)); n != nil {
		if c, is := n.value.(*gqlComment); is {
			comment, post = c, c.gqlPost
		}
	}
	if err := l.mayChange(post, args.Input.ID, "UpdateIssueComment"); err != nil {
		return nil, err
	}
	if checkBody("IssueComment", args.Input.Body, false) != nil {
		return nil, &refusal{kind: "UNPROCESSABLE", message: "Body cannot be blank, and is too long (maximum is 65536 characters)"}
	}
	from := post.p.Body
	if l.s.world.edit(post.p, l.viewer, args.Input.Body) {
		l.s.hooks.comment(comment.c, "edited", l.viewer, bodyChange(from))
	}
	return &gqlUpdated{args.Input.ClientMutationID, comment}, nil
}
