package sandbox

import (
	"strings"

	"github.com/graph-gophers/graphql-go"
)

// issueState and pullState are the state in GraphQL's words.
func issueState(i *Issue) string { return strings.ToUpper(i.State) }

func pullState(i *Issue) string {
	if i.Pull.merged() {
		return "MERGED"
	}
	return strings.ToUpper(i.State)
}

// gqlSubject is what issues and pull requests have in common.
type gqlSubject struct {
	*gqlPost
	i *Issue
}

func (i *gqlSubject) ID() graphql.ID  { return graphql.ID(issueNodeID(i.i)) }
func (i *gqlSubject) Number() int32   { return int32(i.i.Number) }
func (i *gqlSubject) Title() string   { return i.i.Title }
func (i *gqlSubject) URL() text       { return text(i.look.s.urls.issue(i.i)) }
func (i *gqlSubject) Closed() bool    { return i.i.State == "closed" }
func (i *gqlSubject) ClosedAt() *text { return maybeTime(i.i.ClosedAt) }
func (i *gqlSubject) Locked() bool    { return i.i.Locked }

func (i *gqlSubject) Labels(args labelArgs) (*connection[gqlLabel], error) {
	return i.look.labels(i.repo, i.i.labels(), args)
}

func (i *gqlSubject) Comments(args commentArgs) (*connection[gqlComment], error) {
	return i.look.comments(i.i, args)
}

// gqlIssue is https://docs.github.com/en/graphql/reference/objects#issue.
type gqlIssue struct{ *gqlSubject }

func (l *look) subject(i *Issue) *gqlSubject {
	return &gqlSubject{&gqlPost{l, &i.Post, i.repo}, i}
}

func (l *look) issue(i *Issue) *gqlIssue { return &gqlIssue{l.subject(i)} }

func (i *gqlIssue) State() string { return issueState(i.i) }

func (i *gqlIssue) StateReason(struct{ EnableDuplicate bool }) *string {
	return some(strings.ToUpper(i.i.StateReason))
}

// ClosedByPullRequestsReferences are the pull requests that name the issue as the one they close.
func (i *gqlIssue) ClosedByPullRequestsReferences(args struct {
	pageArgs
	IncludeClosedPrs, OrderByState, UserLinkedOnly bool
}) (*connection[gqlPull], error) {
	if err := i.look.forbids(i.repo, "PullRequest"); err != nil {
		return nil, err
	}
	var found []*Issue
	for _, pull := range i.repo.inOrder() {
		if pull.Pull == nil || pull.State == "closed" && !pull.Pull.merged() && !args.IncludeClosedPrs {
			continue
		}
		for _, closes := range i.look.s.pulls.closingIssues(pull) {
			if closes == i.i {
				found = append(found, pull)
			}
		}
	}
	return pageOf(args.pageArgs, listing[*Issue, gqlPull]{items: found, key: inOrder[*Issue], wrap: i.look.pull})
}
