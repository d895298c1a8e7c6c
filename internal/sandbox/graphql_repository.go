package sandbox

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/graph-gophers/graphql-go"

	"github.com/mergexo/mergexo/internal/model"
)

// gqlRepository is https://docs.github.com/en/graphql/reference/objects#repository.
type gqlRepository struct {
	look *look
	r    *Repository
}

func (r *gqlRepository) ID() graphql.ID        { return graphql.ID(nodeID(nodeRepository, r.r.ID)) }
func (r *gqlRepository) DatabaseID() *int32    { return int32Of(r.r.ID) }
func (r *gqlRepository) Name() string          { return r.r.Name }
func (r *gqlRepository) NameWithOwner() string { return r.r.FullName() }
func (r *gqlRepository) IsEmpty() bool         { return r.look.s.git.branchSHA(r.r, r.r.DefaultBranch) == "" }
func (r *gqlRepository) PushedAt() *text       { return maybeTime(&r.r.PushedAt) }

// permissionNames are GitHub's RepositoryPermission.
var permissionNames = map[model.Permission]string{
	model.PermissionRead: "READ", model.PermissionTriage: "TRIAGE", model.PermissionWrite: "WRITE",
	model.PermissionMaintain: "MAINTAIN", model.PermissionAdmin: "ADMIN",
}

func (r *gqlRepository) ViewerPermission() *string {
	return some(permissionNames[r.look.s.world.permission(r.r, r.look.viewer.Login)])
}

func (r *gqlRepository) ViewerCanAdminister() bool {
	return r.look.s.world.permission(r.r, r.look.viewer.Login) == model.PermissionAdmin
}

func (r *gqlRepository) DefaultBranchRef() (*gqlRef, error) {
	return r.look.ref(r.r, "refs/heads/"+r.r.DefaultBranch), r.look.forbids(r.r, "Ref")
}

// Ref finds a fully qualified name first, then a branch, then a tag.
func (r *gqlRepository) Ref(args struct{ QualifiedName string }) (*gqlRef, error) {
	if err := r.look.forbids(r.r, "Ref"); err != nil {
		return nil, err
	}
	for _, name := range []string{args.QualifiedName, "refs/" + args.QualifiedName, "refs/heads/" + args.QualifiedName, "refs/tags/" + args.QualifiedName} {
		if ref := r.look.ref(r.r, name); ref != nil && strings.HasPrefix(name, "refs/") {
			return ref, nil
		}
	}
	return nil, nil
}

func (r *gqlRepository) Issue(args struct{ Number int32 }) (*gqlIssue, error) {
	if i := r.r.Issues[int(args.Number)]; i != nil && i.Pull == nil {
		return r.look.issue(i), r.look.forbids(r.r, "Issue")
	}
	return nil, unresolved("Could not resolve to an Issue with the number of %d.", args.Number)
}

func (r *gqlRepository) PullRequest(args struct{ Number int32 }) (*gqlPull, error) {
	if i := r.r.Issues[int(args.Number)]; i != nil && i.Pull != nil {
		r.look.see(i)
		return r.look.pull(i), r.look.forbids(r.r, "PullRequest")
	}
	return nil, unresolved("Could not resolve to a PullRequest with the number of %d.", args.Number)
}

func (r *gqlRepository) IssueOrPullRequest(args struct{ Number int32 }) (*issueOrPull, error) {
	if i := r.r.Issues[int(args.Number)]; i != nil {
		r.look.see(i)
		return &issueOrPull{r.look, i}, r.look.forbids(r.r, i.kind())
	}
	return nil, unresolved("Could not resolve to an issue or pull request with the number of %d.", args.Number)
}

// issueOrPull is the union of that name.
type issueOrPull struct {
	look *look
	i    *Issue
}

func (u *issueOrPull) ToIssue() (*gqlIssue, bool)      { return u.look.issue(u.i), u.i.Pull == nil }
func (u *issueOrPull) ToPullRequest() (*gqlPull, bool) { return u.look.pull(u.i), u.i.Pull != nil }

// labelArgs are the arguments of a connection of labels. GitHub orders them by creation unless told.
type labelArgs struct {
	pageArgs
	OrderBy order
}

func (l *look) labels(r *Repository, labels []*Label, args labelArgs) (*connection[gqlLabel], error) {
	labels = slices.Clone(labels)
	slices.SortFunc(labels, func(a, b *Label) int {
		if args.OrderBy.Field == "NAME" {
			return cmp.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name))
		}
		return cmp.Compare(a.ID, b.ID)
	})
	if args.OrderBy.Direction == "DESC" {
		slices.Reverse(labels)
	}
	return pageOf(args.pageArgs, listing[*Label, gqlLabel]{items: labels, key: inOrder[*Label],
		wrap: func(x *Label) *gqlLabel { return &gqlLabel{l, r, x} }})
}

func (r *gqlRepository) Label(args struct{ Name string }) *gqlLabel {
	if label := r.r.label(args.Name); label != nil {
		return &gqlLabel{r.look, r.r, label}
	}
	return nil
}

// gqlLabel is https://docs.github.com/en/graphql/reference/objects#label.
type gqlLabel struct {
	look  *look
	r     *Repository
	label *Label
}

func (l *gqlLabel) ID() graphql.ID   { return graphql.ID(nodeID(nodeLabel, l.label.ID)) }
func (l *gqlLabel) Name() string     { return l.label.Name }
func (l *gqlLabel) CreatedAt() *text { return maybeTime(some(l.label.CreatedAt)) }
func (l *gqlLabel) UpdatedAt() *text { return maybeTime(some(l.label.updatedAt())) }

// collaborators is a connection whose edges carry the permission.
type collaborators struct {
	*connection[gqlActor]
	r *gqlRepository
}

// collaborator is one edge of it.
type collaborator struct {
	edge[gqlActor]
	Permission string
}

func (c *collaborators) Edges() *[]*collaborator {
	edges := make([]*collaborator, len(c.edges))
	for i, e := range c.edges {
		edges[i] = &collaborator{*e, permissionNames[c.r.look.s.world.permission(c.r.r, e.Node.u.Login)]}
	}
	return &edges
}

// Collaborators lists the people who have a right of their own. Who may not push may not see them:
// https://docs.github.com/en/rest/collaborators/collaborators#list-repository-collaborators
func (r *gqlRepository) Collaborators(args struct {
	pageArgs
	Login, Query *string
	Affiliation  *string
}) (*collaborators, error) {
	if r.look.s.world.permission(r.r, r.look.viewer.Login) < model.PermissionWrite {
		return nil, &refusal{kind: "FORBIDDEN", message: "You do not have permission to view repository collaborators."}
	}
	var found []*User
	for _, u := range r.look.s.world.collaborators(r.r) {
		switch {
		case args.Login != nil && !strings.EqualFold(u.Login, *args.Login):
		case args.Query != nil && !strings.Contains(strings.ToLower(u.Login), strings.ToLower(*args.Query)):
		case args.Affiliation != nil && *args.Affiliation == "OUTSIDE" && strings.EqualFold(u.Login, r.r.Owner):
		default:
			found = append(found, u)
		}
	}
	page, err := pageOf(args.pageArgs, listing[*User, gqlActor]{items: found,
		key:  func(_ int, u *User) sortKey { return sortKey{u.ID} },
		wrap: func(u *User) *gqlActor { return &gqlActor{look: r.look, u: u} }})
	if err != nil {
		return nil, err
	}
	return &collaborators{page, r}, nil
}

// gqlRef is https://docs.github.com/en/graphql/reference/objects#ref.
type gqlRef struct {
	look *look
	r    *Repository
	name string // full
	sha  string

	below string // the prefix that it was listed below; empty: refs/heads/ and the like
}

// ref finds a ref by its full name; nil when there is none.
func (l *look) ref(r *Repository, name string) *gqlRef {
	if sha := r.Refs[name]; sha != "" {
		return &gqlRef{look: l, r: r, name: name, sha: sha}
	}
	return nil
}

func (f *gqlRef) ID() graphql.ID { return gitNodeID(nodeRef, f.r, []byte(f.name)) }
func (f *gqlRef) Name() string   { return strings.TrimPrefix(f.name, f.Prefix()) }

func (f *gqlRef) Target() (*gqlObject, error) { return f.look.object(f.r, f.sha) }

// branch is "" for what is no branch.
func (f *gqlRef) branch() string {
	if name, ok := strings.CutPrefix(f.name, "refs/heads/"); ok {
		return name
	}
	return ""
}

// Prefix is "refs/heads/", "refs/tags/" or what else stands before the name.
func (f *gqlRef) Prefix() string {
	if f.below != "" {
		return f.below
	}
	parts := strings.SplitN(f.name, "/", 3)
	if len(parts) < 3 {
		return "refs/"
	}
	return fmt.Sprintf("%s/%s/", parts[0], parts[1])
}

// AssociatedPullRequests are those whose head the ref is.
func (f *gqlRef) AssociatedPullRequests(args pullArgs) (*connection[gqlPull], error) {
	name := f.branch()
	if args.HeadRefName == nil {
		args.HeadRefName = &name
	}
	if *args.HeadRefName != name || name == "" {
		return pageOf(args.pageArgs, listing[*Issue, gqlPull]{})
	}
	return (&gqlRepository{f.look, f.r}).PullRequests(args)
}
