package sandbox

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/graph-gophers/graphql-go"
)

// gqlPost is GitHub's interface Comment: what everything that somebody said answers.
type gqlPost struct {
	look *look
	p    *Post
	repo *Repository
}

func (p *gqlPost) Author() *gqlActor         { return p.look.actor(p.p.Author) }
func (p *gqlPost) AuthorAssociation() string { return p.look.s.world.association(p.repo, p.p.Author) }
func (p *gqlPost) Body() string              { return p.p.Body }
func (p *gqlPost) CreatedAt() text           { return dateTime(p.p.CreatedAt) }
func (p *gqlPost) UpdatedAt() text           { return dateTime(p.p.UpdatedAt) }
func (p *gqlPost) LastEditedAt() *text       { return maybeTime(p.p.LastEditedAt) }
func (p *gqlPost) IncludesCreatedEdit() bool { return len(p.p.Versions) > 0 }
func (p *gqlPost) IsMinimized() bool         { return p.p.Minimized != "" }
func (p *gqlPost) DatabaseID() *int32        { return int32Of(p.p.ID) }
func (p *gqlPost) FullDatabaseID() *text     { return some(text(fmt.Sprint(p.p.ID))) }

func (p *gqlPost) Repository() *gqlRepository { return &gqlRepository{p.look, p.repo} }

// Editor is who edited last, the author too; null when nobody did.
func (p *gqlPost) Editor() *gqlActor { return p.look.actor(p.p.Editor) }

// ViewerDidAuthor compares accounts and not logins, which differ for bots between GitHub's two APIs.
func (p *gqlPost) ViewerDidAuthor() bool { return p.look.s.world.user(p.p.Author) == p.look.viewer }

// gqlReactionGroup is https://docs.github.com/en/graphql/reference/objects#reactiongroup.
type gqlReactionGroup struct {
	look      *look
	content   string // GraphQL's word
	reactions []*Reaction
}

// reactionWords are GraphQL's words for those of REST's that are not the same in capitals.
// https://docs.github.com/en/graphql/reference/enums#reactioncontent
var reactionWords = map[string]string{"+1": "THUMBS_UP", "-1": "THUMBS_DOWN"}

// ReactionGroups are all groups there are, those without reactions too.
func (p *gqlPost) ReactionGroups() *[]*gqlReactionGroup {
	var groups []*gqlReactionGroup
	for _, c := range reactionContents {
		g := &gqlReactionGroup{look: p.look, content: cmp.Or(reactionWords[c], strings.ToUpper(c))}
		for _, r := range p.p.Reactions {
			if r.Content == c {
				g.reactions = append(g.reactions, r)
			}
		}
		groups = append(groups, g)
	}
	return &groups
}

func (g *gqlReactionGroup) Content() string { return g.content }

func (g *gqlReactionGroup) ViewerHasReacted() bool {
	for _, r := range g.reactions {
		if g.look.s.world.user(r.User) == g.look.viewer {
			return true
		}
	}
	return false
}

// gqlComment is https://docs.github.com/en/graphql/reference/objects#issuecomment.
type gqlComment struct {
	*gqlPost
	c *Comment
}

func (l *look) comment(c *Comment) *gqlComment {
	return &gqlComment{&gqlPost{l, &c.Post, c.issue.repo}, c}
}

func (c *gqlComment) ID() graphql.ID { return graphql.ID(nodeID(nodeComment, c.c.ID)) }
func (c *gqlComment) URL() text      { return text(c.look.s.urls.comment(c.c)) }

func (c *gqlComment) PullRequest() *gqlPull {
	if c.c.issue.Pull == nil {
		return nil
	}
	return c.look.pull(c.c.issue)
}

// commentArgs order comments by creation unless told.
type commentArgs struct {
	pageArgs
	OrderBy *order
}

// comments pages through a conversation. Comments of the same second stay apart by their ids.
func (l *look) comments(i *Issue, args commentArgs) (*connection[gqlComment], error) {
	key := func(_ int, c *Comment) sortKey { return sortKey{c.CreatedAt.Unix(), c.ID} }
	if args.OrderBy != nil {
		key = func(_ int, c *Comment) sortKey { return sortKey{c.UpdatedAt.Unix(), c.ID} }
	}
	return pageOf(args.pageArgs, listing[*Comment, gqlComment]{items: i.Comments, key: key, desc: args.OrderBy.desc(), wrap: l.comment})
}
