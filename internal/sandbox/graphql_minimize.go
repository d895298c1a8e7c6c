package sandbox

import (
	"context"
	"strings"

	"github.com/graph-gophers/graphql-go"

	"github.com/mergexo/mergexo/internal/model"
)

// gqlMinimized is https://docs.github.com/en/graphql/reference/mutations#minimizecomment.
type gqlMinimized struct {
	client *string
	post   *gqlMinimizable
}

func (m *gqlMinimized) ClientMutationID() *string         { return m.client }
func (m *gqlMinimized) MinimizedComment() *gqlMinimizable { return m.post }

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
	l, err := lookOf(ctx)
	if err != nil {
		return nil, err
	}
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
	switch {
	case post == nil:
		return nil, unresolved("Could not resolve to a node with the global id of '%s'", args.Input.SubjectID)
	case l.s.tokens.lacks(l.token, post.repo, "issues=write,pull_requests=write", false):
		return nil, &refusal{kind: "FORBIDDEN", message: notAccessible}
	case l.s.world.permission(post.repo, l.viewer.Login) < model.PermissionWrite:
		return nil, &refusal{kind: "FORBIDDEN", message: l.viewer.Login + " does not have the correct permissions to execute `MinimizeComment`"}
	}
	post.p.Minimized = strings.ToLower(args.Input.Classifier)
	l.s.world.changed()
	return &gqlMinimized{args.Input.ClientMutationID, &gqlMinimizable{n, post}}, nil
}
