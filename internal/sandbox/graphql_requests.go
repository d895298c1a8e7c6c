package sandbox

import (
	"github.com/graph-gophers/graphql-go"
)

// gqlReviewRequest is https://docs.github.com/en/graphql/reference/objects#reviewrequest, of a person or of a team.
type gqlReviewRequest struct {
	look  *look
	i     *Issue
	at    int
	login string
	team  string
}

func (r *gqlReviewRequest) ID() graphql.ID {
	return graphql.ID(nodeID(nodeReviewRequest, r.i.Pull.ID*100+int64(r.at)))
}

// RequestedReviewer is null for a team that only an organization's members see: no token of an App is one.
func (r *gqlReviewRequest) RequestedReviewer() (*gqlReviewer, error) {
	if r.team != "" {
		if r.look.viewer.Type == "Bot" {
			return nil, &refusal{kind: "FORBIDDEN", message: notAccessible}
		}
		return &gqlReviewer{team: &gqlTeam{r.team, r.i.Pull.ID*100 + int64(r.at)}}, nil
	}
	return &gqlReviewer{gqlActor: r.look.actor(r.login)}, nil
}

// gqlReviewer is GitHub's union RequestedReviewer.
type gqlReviewer struct {
	*gqlActor
	team *gqlTeam
}

func (r *gqlReviewer) is(kind string) (*gqlActor, bool) {
	if r.gqlActor == nil {
		return nil, false
	}
	return r.gqlActor.is(kind)
}

func (r *gqlReviewer) ToUser() (*gqlActor, bool)      { return r.is("User") }
func (r *gqlReviewer) ToBot() (*gqlActor, bool)       { return r.is("Bot") }
func (r *gqlReviewer) ToMannequin() (*gqlActor, bool) { return r.is("Mannequin") }
func (r *gqlReviewer) ToTeam() (*gqlTeam, bool)       { return r.team, r.team != nil }

// gqlTeam is https://docs.github.com/en/graphql/reference/objects#team.
type gqlTeam struct {
	slug string
	id   int64
}

func (t *gqlTeam) ID() graphql.ID { return graphql.ID(nodeID(nodeTeam, t.id)) }
func (t *gqlTeam) Slug() string   { return t.slug }

// ReviewRequests are those that nobody has answered.
func (p *gqlPull) ReviewRequests(args pageArgs) (*connection[gqlReviewRequest], error) {
	var all []*gqlReviewRequest
	for _, login := range p.i.Pull.RequestedReviewers {
		all = append(all, &gqlReviewRequest{look: p.look, i: p.i, at: len(all), login: login})
	}
	for _, team := range p.i.Pull.RequestedTeams {
		all = append(all, &gqlReviewRequest{look: p.look, i: p.i, at: len(all), team: team})
	}
	return pageOf(args, listing[*gqlReviewRequest, gqlReviewRequest]{items: all,
		wrap: func(r *gqlReviewRequest) *gqlReviewRequest { return r }, key: inOrder[*gqlReviewRequest]})
}
