package sandbox

import (
	"fmt"
	"strings"

	"github.com/graph-gophers/graphql-go"
)

// gqlPull is https://docs.github.com/en/graphql/reference/objects#pullrequest.
type gqlPull struct{ *gqlSubject }

func (l *look) pull(i *Issue) *gqlPull { return &gqlPull{l.subject(i)} }

func (p *gqlPull) FullDatabaseID() *text   { return some(text(fmt.Sprint(p.i.Pull.ID))) }
func (p *gqlPull) State() string           { return pullState(p.i) }
func (p *gqlPull) IsDraft() bool           { return p.i.Pull.Draft }
func (p *gqlPull) IsCrossRepository() bool { return p.look.s.pulls.crossRepository(p.i) }
func (p *gqlPull) MergedAt() *text         { return maybeTime(p.i.Pull.MergedAt) }
func (p *gqlPull) BaseRefName() string     { return p.i.Pull.BaseRef }
func (p *gqlPull) BaseRefOID() text        { return text(p.i.Pull.BaseSHA) }
func (p *gqlPull) HeadRefName() string     { return p.i.Pull.HeadRef }
func (p *gqlPull) HeadRefOID() text        { return text(p.look.s.pulls.headSHA(p.i)) }

// MergeCommit is null until the pull request is merged.
func (p *gqlPull) MergeCommit() *gqlCommit {
	if !p.i.Pull.merged() {
		return nil
	}
	return p.look.commit(p.repo, p.i.Pull.MergeCommitSHA)
}

// Mergeable starts the test, which has its result at the next reading.
func (p *gqlPull) Mergeable() string {
	p.look.s.pulls.testMerge(p.i)
	return p.look.s.pulls.shownMergeable(p.i)
}

// BaseRef is null once the branch is gone.
func (p *gqlPull) BaseRef() (*gqlRef, error) {
	return p.look.ref(p.repo, "refs/heads/"+p.i.Pull.BaseRef), p.look.forbids(p.repo, "Ref")
}

// HeadRef is null once the branch, or the fork that had it, is gone.
func (p *gqlPull) HeadRef() (*gqlRef, error) {
	if r := p.look.s.world.repositoryByID(p.i.Pull.HeadRepo); r != nil && p.look.sees(r) {
		return p.look.ref(r, "refs/heads/"+p.i.Pull.HeadRef), p.look.forbids(r, "Ref")
	}
	return nil, nil
}

func (p *gqlPull) HeadRepository() *gqlRepository {
	if r := p.look.s.world.repositoryByID(p.i.Pull.HeadRepo); r != nil && p.look.sees(r) {
		return &gqlRepository{p.look, r}
	}
	return nil
}

// sum adds up the changed files.
func (p *gqlPull) sum(of func(*fileChange) int) (int32, error) {
	files, err := p.look.s.pulls.files(p.i)
	total := 0
	for _, f := range files {
		total += of(f)
	}
	return int32(total), err
}

func (p *gqlPull) Additions() (int32, error) {
	return p.sum(func(f *fileChange) int { return f.Additions })
}

func (p *gqlPull) Deletions() (int32, error) {
	return p.sum(func(f *fileChange) int { return f.Deletions })
}

func (p *gqlPull) ChangedFiles() (int32, error) {
	return p.sum(func(*fileChange) int { return 1 })
}

func (p *gqlPull) Reviews(args reviewArgs) (*connection[gqlReview], error) {
	return p.look.reviews(p.i, args)
}

func (p *gqlPull) ReviewThreads(args pageArgs) (*connection[gqlThread], error) {
	return pageOf(args, listing[*gqlThread, gqlThread]{items: p.look.threads(p.i), wrap: func(t *gqlThread) *gqlThread { return t },
		key: func(_ int, t *gqlThread) sortKey { return sortKey{t.c.CreatedAt.Unix(), t.c.ID} }})
}

func (p *gqlPull) ClosingIssuesReferences(args struct {
	pageArgs
	UserLinkedOnly bool
	OrderBy        *order
}) (*connection[gqlIssue], error) {
	if err := p.look.forbids(p.repo, "Issue"); err != nil {
		return nil, err
	}
	found := p.look.s.pulls.closingIssues(p.i)
	if args.UserLinkedOnly {
		found = nil // all are linked by words in the text
	}
	return pageOf(args.pageArgs, listing[*Issue, gqlIssue]{items: found, key: args.OrderBy.issueKey, desc: args.OrderBy.desc(), wrap: p.look.issue})
}

func (p *gqlPull) Files(args pageArgs) (*connection[gqlFile], error) {
	files, err := p.look.s.pulls.files(p.i)
	if err != nil {
		return nil, err
	}
	return pageOf(args, listing[*fileChange, gqlFile]{items: files, key: inOrder[*fileChange],
		wrap: func(f *fileChange) *gqlFile { return &gqlFile{f} }})
}

// gqlFile is https://docs.github.com/en/graphql/reference/objects#pullrequestchangedfile.
type gqlFile struct{ f *fileChange }

func (f *gqlFile) Path() string     { return f.f.Path }
func (f *gqlFile) Additions() int32 { return int32(f.f.Additions) }
func (f *gqlFile) Deletions() int32 { return int32(f.f.Deletions) }

// ChangeType says DELETED where REST says removed.
func (f *gqlFile) ChangeType() string {
	if f.f.Status == "removed" {
		return "DELETED"
	}
	return strings.ToUpper(f.f.Status)
}

func (p *gqlPull) Commits(args pageArgs) (*connection[gqlPullCommit], error) {
	shas, err := p.look.s.pulls.commits(p.i)
	if err != nil {
		return nil, err
	}
	return pageOf(args, listing[string, gqlPullCommit]{items: shas, key: inOrder[string],
		wrap: func(sha string) *gqlPullCommit { return &gqlPullCommit{p, sha} }})
}

// gqlPullCommit is https://docs.github.com/en/graphql/reference/objects#pullrequestcommit.
type gqlPullCommit struct {
	p   *gqlPull
	sha string
}

func (c *gqlPullCommit) ID() graphql.ID     { return objectID(nodePullCommit, c.p.repo, c.sha) }
func (c *gqlPullCommit) Commit() *gqlCommit { return c.p.look.commit(c.p.repo, c.sha) }

func (p *gqlPull) HeadRepositoryOwner() *gqlActor {
	if r := p.HeadRepository(); r != nil {
		return &gqlActor{look: r.look, u: r.look.s.world.author(r.r.Owner)}
	}
	return nil
}
