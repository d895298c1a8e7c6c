package sandbox

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/graph-gophers/graphql-go"
	gqlerrors "github.com/graph-gophers/graphql-go/errors"

	"github.com/mergexo/mergexo/internal/model"
)

// text is any of GitHub's scalars that JSON carries as a string: URI, DateTime, BigInt, GitObjectID, GitTimestamp.
type text string

// ImplementsGraphQLType says which scalars a text may stand for.
func (text) ImplementsGraphQLType(name string) bool {
	switch name {
	case "URI", "DateTime", "BigInt", "GitObjectID", "GitTimestamp":
		return true
	}
	return false
}

// UnmarshalGraphQL reads an argument.
func (t *text) UnmarshalGraphQL(input any) error {
	v, ok := input.(string)
	if !ok {
		return fmt.Errorf("want a string, got %T", input)
	}
	*t = text(v)
	return nil
}

// dateTime is GitHub's form of a time.
func dateTime(t time.Time) text { return text(t.UTC().Format(time.RFC3339)) }

func maybeTime(t *time.Time) *text {
	if t == nil {
		return nil
	}
	d := dateTime(*t)
	return &d
}

// some is nil for a zero value.
func some[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

// int32Of is GitHub's databaseId: null for an id that 32 bits cannot hold, which fullDatabaseId is there for.
func int32Of(id int64) *int32 {
	if n := int32(id); int64(n) == id {
		return &n
	}
	return nil
}

// gqlRoot resolves Query. It is one for all queries: what a query knows comes with its context.
type gqlRoot struct{}

// lookOf is the look that answerQuery has put into every context of a query.
func lookOf(ctx context.Context) *look { return ctx.Value(lookKey{}).(*look) }

// ID is the id of the query itself, which GitHub has for Relay's sake.
func (*gqlRoot) ID() graphql.ID { return "Query" }

func (*gqlRoot) Viewer(ctx context.Context) *gqlActor {
	l := lookOf(ctx)
	return &gqlActor{l, l.viewer, true}
}

func (*gqlRoot) User(ctx context.Context, args struct{ Login string }) (*gqlActor, error) {
	l := lookOf(ctx)
	if u := l.s.world.user(args.Login); u != nil && u.Type == "User" {
		return &gqlActor{look: l, u: u}, nil
	}
	return nil, unresolved("Could not resolve to a User with the login of '%s'.", args.Login)
}

func (*gqlRoot) Repository(ctx context.Context, args struct {
	Owner, Name   string
	FollowRenames bool
}) (*gqlRepository, error) {
	l := lookOf(ctx)
	r := l.s.world.repository(args.Owner, args.Name)
	if r == nil && args.FollowRenames {
		r = renamed(l.s.world, args.Owner, args.Name)
	}
	if r == nil || !l.sees(r) {
		return nil, unresolved("Could not resolve to a Repository with the name '%s/%s'.", args.Owner, args.Name)
	}
	return &gqlRepository{l, r}, nil
}

// sees tells whether the viewer may read a repository.
func (l *look) sees(r *Repository) bool {
	return l.s.tokens.reaches(l.token, r) && l.s.world.permission(r, l.viewer.Login) >= model.PermissionRead
}

func (*gqlRoot) Node(ctx context.Context, args struct{ ID graphql.ID }) (*gqlNode, error) {
	l := lookOf(ctx)
	if n := l.node(string(args.ID)); n != nil {
		return n, l.forbidsNode(n)
	}
	return nil, unresolved("Could not resolve to a node with the global id of '%s'", args.ID)
}

// Nodes looks up several ids. What is not there is null, with an error of its own.
func (*gqlRoot) Nodes(ctx context.Context, args struct{ IDs []graphql.ID }) []*gqlNode {
	l := lookOf(ctx)
	nodes := make([]*gqlNode, len(args.IDs))
	for i, id := range args.IDs {
		nodes[i] = l.node(string(id))
		if nodes[i] != nil && l.forbidsNode(nodes[i]) != nil {
			nodes[i] = nil
			l.late = append(l.late, &gqlerrors.QueryError{Path: []any{"nodes", i}, Extensions: map[string]any{"type": "FORBIDDEN"}, Message: notAccessible})
		} else if nodes[i] == nil {
			l.late = append(l.late, &gqlerrors.QueryError{Path: []any{"nodes", i}, Extensions: map[string]any{"type": "NOT_FOUND"},
				Message: fmt.Sprintf("Could not resolve to a node with the global id of '%s'", id)})
		}
	}
	return nodes
}

func (*gqlRoot) RateLimit(ctx context.Context, _ struct{ DryRun bool }) *gqlRateLimit {
	return &gqlRateLimit{lookOf(ctx)}
}

// gqlRateLimit is https://docs.github.com/en/graphql/reference/objects#ratelimit.
type gqlRateLimit struct{ look *look }

func (r *gqlRateLimit) Cost() int32      { return int32(r.look.asked.cost()) }
func (r *gqlRateLimit) NodeCount() int32 { return int32(r.look.asked.nodes) }
func (r *gqlRateLimit) Limit() int32     { return int32(r.look.left.limit) }
func (r *gqlRateLimit) Used() int32      { return int32(r.look.left.Used) }
func (r *gqlRateLimit) Remaining() int32 { return int32(r.look.left.remaining()) }
func (r *gqlRateLimit) ResetAt() text    { return dateTime(r.look.left.Reset) }

// gqlActor is an account: User, Bot, Organization or Mannequin, seen as Actor, RepositoryOwner or itself.
type gqlActor struct {
	look *look
	u    *User
	// whole is set for the viewer, whose login keeps the "[bot]" that a bot's login lacks everywhere else.
	whole bool
}

// actor finds an account; nil (GitHub's null) when it is gone.
func (l *look) actor(login string) *gqlActor {
	if u := l.s.world.user(login); u != nil {
		return &gqlActor{look: l, u: u}
	}
	return nil
}

func (a *gqlActor) is(kind string) (*gqlActor, bool)  { return a, a.u.Type == kind }
func (a *gqlActor) ToUser() (*gqlActor, bool)         { return a.is("User") }
func (a *gqlActor) ToBot() (*gqlActor, bool)          { return a.is("Bot") }
func (a *gqlActor) ToOrganization() (*gqlActor, bool) { return a.is("Organization") }
func (a *gqlActor) ToMannequin() (*gqlActor, bool)    { return a.is("Mannequin") }

func (a *gqlActor) Login() string {
	if a.whole {
		return a.u.Login
	}
	return strings.TrimSuffix(a.u.Login, "[bot]")
}

func (a *gqlActor) ID() graphql.ID {
	if a.u.Type == "Bot" {
		return graphql.ID(nodeID(nodeBot, a.u.ID))
	}
	return graphql.ID(nodeID(nodeUser, a.u.ID))
}

func (a *gqlActor) DatabaseID() *int32 { return int32Of(a.u.ID) }
func (a *gqlActor) IsViewer() bool     { return a.u == a.look.viewer }
