package sandbox

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/graph-gophers/graphql-go"
)

// gqlNode is whatever an id names, for Query.node.
type gqlNode struct {
	id    string
	value any
}

func (n *gqlNode) ID() graphql.ID { return graphql.ID(n.id) }

// node finds what an id names, nil when there is nothing for the viewer's eyes.
func (l *look) node(id string) *gqlNode {
	value, repo := l.find(id)
	if value == nil || repo != nil && !l.sees(repo) {
		return nil
	}
	return &gqlNode{id, value}
}

// forbidsNode is the error of a node that the query's token may not read, or nil.
func (l *look) forbidsNode(n *gqlNode) error {
	kind, r := "", (*Repository)(nil)
	switch v := n.value.(type) {
	case *gqlIssue:
		kind, r = "Issue", v.repo
	case *gqlPull:
		kind, r = "PullRequest", v.repo
	case *gqlComment:
		kind, r = v.c.issue.kind(), v.repo
	case *gqlReview:
		kind, r = "PullRequest", v.repo
	case *gqlReviewComment:
		kind, r = "PullRequest", v.repo
	case *gqlThread:
		kind, r = "PullRequest", v.c.issue.repo
	case *gqlRef:
		kind, r = "Ref", v.r
	case *gqlCommit:
		kind, r = "GitObject", v.r
	}
	if r == nil {
		return nil
	}
	return l.forbids(r, kind)
}

// find wraps what an id names in its resolver, and says in which repository it is.
func (l *look) find(id string) (any, *Repository) {
	if value, repo := l.findObject(id); value != nil {
		return value, repo
	}
	prefix, n, _ := parseNodeID(id)
	switch prefix {
	case nodeUser, nodeBot:
		if at := slices.IndexFunc(l.s.st.Users, func(u *User) bool { return u.ID == n }); at >= 0 {
			return &gqlActor{look: l, u: l.s.st.Users[at]}, nil
		}
	case nodeRepository:
		if r := l.s.world.repositoryByID(n); r != nil {
			return &gqlRepository{l, r}, r
		}
	case nodeIssue, nodePull:
		i := l.s.issues[n]
		if i == nil || (prefix == nodePull) != (i.Pull != nil) {
			return nil, nil
		}
		l.see(i)
		if i.Pull != nil {
			return l.pull(i), i.repo
		}
		return l.issue(i), i.repo
	case nodeComment:
		if c := l.s.comments[n]; c != nil {
			return l.comment(c), c.issue.repo
		}
	case nodeReview:
		if v := l.s.reviews[n]; l.shows(v) {
			return l.review(v), v.issue.repo
		}
	case nodeReviewComment, nodeThread:
		c := l.s.reviewComments[n]
		if c == nil || !l.shows(l.s.reviews[c.ReviewID]) {
			return nil, nil
		}
		if prefix == nodeThread {
			return l.threadOf(c), c.issue.repo
		}
		return l.reviewComment(c), c.issue.repo
	case nodeLabeled, nodeUnlabeled, nodeRenamed, nodeBaseChanged, nodeDeletion, nodeQueueAdded, nodeQueueRemoved:
		return l.findTimelineEvent(id)
	case nodeLabel:
		return l.findLabel(n)
	}
	return nil, nil
}

func (l *look) findLabel(n int64) (any, *Repository) {
	for _, r := range l.s.st.Repositories {
		for _, label := range r.Labels {
			if label.ID == n {
				return &gqlLabel{l, r, label}, r
			}
		}
	}
	return nil, nil
}

// The prefixes of ids of git's own things; they hold the repository's id and an object's name, or a ref's.
const (
	nodeCommit     = "C"
	nodeTree       = "T"
	nodeBlob       = "B"
	nodeTag        = "TA"
	nodeRef        = "REF"
	nodePullCommit = "PURC"
	nodeRollup     = "SCR"
)

// gitNodeID makes the id of something in a repository's git.
func gitNodeID(prefix string, r *Repository, name []byte) graphql.ID {
	return graphql.ID(prefix + "_kwDO" + base64.RawURLEncoding.EncodeToString(append(binary.BigEndian.AppendUint64(nil, uint64(r.ID)), name...)))
}

// objectID is the id of a git object.
func objectID(prefix string, r *Repository, sha string) graphql.ID {
	name, err := hex.DecodeString(sha)
	if err != nil {
		return ""
	}
	return gitNodeID(prefix, r, name)
}

func (l *look) findObject(id string) (any, *Repository) {
	prefix, rest, ok := strings.Cut(id, "_kwDO")
	b, err := base64.RawURLEncoding.DecodeString(rest)
	if !ok || err != nil || len(b) <= 8 {
		return nil, nil
	}
	r := l.s.world.repositoryByID(int64(binary.BigEndian.Uint64(b)))
	if r == nil {
		return nil, nil
	}
	switch prefix {
	case nodeRef:
		if ref := l.ref(r, string(b[8:])); ref != nil {
			return ref, r
		}
	case nodeCommit, nodeTree, nodeBlob, nodeTag:
		if object, err := l.object(r, hex.EncodeToString(b[8:])); err == nil && object != nil {
			return object.resolver(), r
		}
	}
	return nil, nil
}

// as is the type assertion that the GraphQL library asks for, by the name To….
func as[T any](n *gqlNode) (*T, bool) {
	v, ok := n.value.(*T)
	return v, ok
}

// actorAs keeps apart the kinds of accounts, which are one type here.
func (n *gqlNode) actorAs(kind string) (*gqlActor, bool) {
	if a, ok := as[gqlActor](n); ok {
		return a.is(kind)
	}
	return nil, false
}

func (n *gqlNode) ToUser() (*gqlActor, bool)         { return n.actorAs("User") }
func (n *gqlNode) ToBot() (*gqlActor, bool)          { return n.actorAs("Bot") }
func (n *gqlNode) ToOrganization() (*gqlActor, bool) { return n.actorAs("Organization") }
func (n *gqlNode) ToMannequin() (*gqlActor, bool)    { return n.actorAs("Mannequin") }

func (n *gqlNode) ToQuery() (*gqlRoot, bool)                   { return as[gqlRoot](n) }
func (n *gqlNode) ToRepository() (*gqlRepository, bool)        { return as[gqlRepository](n) }
func (n *gqlNode) ToIssue() (*gqlIssue, bool)                  { return as[gqlIssue](n) }
func (n *gqlNode) ToPullRequest() (*gqlPull, bool)             { return as[gqlPull](n) }
func (n *gqlNode) ToPullRequestCommit() (*gqlPullCommit, bool) { return as[gqlPullCommit](n) }
func (n *gqlNode) ToIssueComment() (*gqlComment, bool)         { return as[gqlComment](n) }
func (n *gqlNode) ToPullRequestReview() (*gqlReview, bool)     { return as[gqlReview](n) }
func (n *gqlNode) ToPullRequestReviewComment() (*gqlReviewComment, bool) {
	return as[gqlReviewComment](n)
}
func (n *gqlNode) ToPullRequestReviewThread() (*gqlThread, bool) { return as[gqlThread](n) }
func (n *gqlNode) ToReviewRequest() (*gqlReviewRequest, bool)    { return as[gqlReviewRequest](n) }
func (n *gqlNode) ToTeam() (*gqlTeam, bool)                      { return as[gqlTeam](n) }
func (n *gqlNode) ToUserContentEdit() (*gqlEdit, bool)           { return as[gqlEdit](n) }
func (n *gqlNode) ToLabel() (*gqlLabel, bool)                    { return as[gqlLabel](n) }
func (n *gqlNode) ToLabeledEvent() (*gqlLabelEvent, bool)        { return labelEventAs(n, true) }
func (n *gqlNode) ToUnlabeledEvent() (*gqlLabelEvent, bool)      { return labelEventAs(n, false) }
func (n *gqlNode) ToRenamedTitleEvent() (*gqlTitleEvent, bool)   { return as[gqlTitleEvent](n) }
func (n *gqlNode) ToCommentDeletedEvent() (*gqlDeletion, bool)   { return as[gqlDeletion](n) }
func (n *gqlNode) ToBaseRefChangedEvent() (*gqlBaseEvent, bool)  { return as[gqlBaseEvent](n) }
func (n *gqlNode) ToAutomaticBaseChangeSucceededEvent() (*gqlBaseEvent, bool) {
	return nil, false // the sandbox never moves a pull request by itself
}
func (n *gqlNode) ToRef() (*gqlRef, bool)                    { return as[gqlRef](n) }
func (n *gqlNode) ToCommit() (*gqlCommit, bool)              { return as[gqlCommit](n) }
func (n *gqlNode) ToTree() (*gqlTree, bool)                  { return as[gqlTree](n) }
func (n *gqlNode) ToBlob() (*gqlBlob, bool)                  { return as[gqlBlob](n) }
func (n *gqlNode) ToTag() (*gqlTag, bool)                    { return as[gqlTag](n) }
func (n *gqlNode) ToStatusCheckRollup() (*gqlRollup, bool)   { return as[gqlRollup](n) }
func (n *gqlNode) ToCheckRun() (*gqlCheckRun, bool)          { return as[gqlCheckRun](n) }
func (n *gqlNode) ToCheckSuite() (*gqlCheckSuite, bool)      { return as[gqlCheckSuite](n) }
func (n *gqlNode) ToWorkflowRun() (*gqlRun, bool)            { return as[gqlRun](n) }
func (n *gqlNode) ToWorkflowRunFile() (*gqlRunFile, bool)    { return as[gqlRunFile](n) }
func (n *gqlNode) ToWorkflow() (*gqlWorkflow, bool)          { return as[gqlWorkflow](n) }
func (n *gqlNode) ToStatusContext() (*gqlStatus, bool)       { return as[gqlStatus](n) }
func (n *gqlNode) ToMergeQueueEntry() (*gqlQueueEntry, bool) { return as[gqlQueueEntry](n) }
func (n *gqlNode) ToAddedToMergeQueueEvent() (*gqlQueueEvent, bool) {
	return queueEventAs(n, true)
}
func (n *gqlNode) ToRemovedFromMergeQueueEvent() (*gqlQueueEvent, bool) {
	return queueEventAs(n, false)
}
func (n *gqlNode) ToApp() (*gqlApp, bool) { return as[gqlApp](n) }
