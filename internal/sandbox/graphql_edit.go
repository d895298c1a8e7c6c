package sandbox

import "github.com/graph-gophers/graphql-go"

// gqlEdit is https://docs.github.com/en/graphql/reference/objects#usercontentedit: one version of a post. The reference
// calls its diff a summary of the changes; GitHub answers with the whole text of the version. Nobody deletes a version
// here: the APIs offer no way to.
type gqlEdit struct {
	look *look
	v    *Version
}

func (e *gqlEdit) ID() graphql.ID    { return graphql.ID(nodeID(nodeEdit, e.v.ID)) }
func (e *gqlEdit) Diff() *string     { return &e.v.Body }
func (e *gqlEdit) Editor() *gqlActor { return e.look.actor(e.v.Editor) }
func (e *gqlEdit) EditedAt() text    { return dateTime(e.v.At) }
func (e *gqlEdit) CreatedAt() text   { return dateTime(e.v.At) }
func (e *gqlEdit) DeletedAt() *text  { return nil }

// UserContentEdits are the versions of a post, the present one first and the one it was created with last; none before
// the first edit.
func (p *gqlPost) UserContentEdits(args pageArgs) (*connection[gqlEdit], error) {
	return pageOf(args, listing[*Version, gqlEdit]{items: p.p.Versions, key: inOrder[*Version], desc: true,
		wrap: func(v *Version) *gqlEdit { return &gqlEdit{p.look, v} }})
}
