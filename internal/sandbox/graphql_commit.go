package sandbox

import (
	"fmt"
	"path"
	"strings"
	"time"
)

// gqlCommit is https://docs.github.com/en/graphql/reference/objects#commit.
type gqlCommit struct{ *gqlObject }

func (c *gqlCommit) info() (*commitInfo, error) { return c.look.s.git.commitOf(c.r, c.oid) }

// gqlSignature is https://docs.github.com/en/graphql/reference/objects#gitactor.
type gqlSignature struct {
	look *look
	s    signature
	zone *time.Location
}

func (a *gqlSignature) Name() *string { return some(a.s.Name) }

func (a *gqlSignature) Date() *text {
	at, _ := time.Parse(time.RFC3339, a.s.Date) // as stamp wrote it
	return some(text(at.In(a.zone).Format(time.RFC3339)))
}

// User is the account that the noreply address names; null for any other address.
func (a *gqlSignature) User() *gqlActor {
	local, ok := strings.CutSuffix(a.s.Email, "@users.noreply.github.com")
	if !ok {
		return nil
	}
	if _, login, ok := strings.Cut(local, "+"); ok {
		local = login
	}
	return a.look.actor(local)
}

func (c *gqlCommit) Message() (string, error) {
	t, err := c.info()
	if err != nil {
		return "", err
	}
	return t.Message, nil
}

func (c *gqlCommit) MessageHeadline() (string, error) {
	message, err := c.Message()
	headline, _, _ := strings.Cut(message, "\n")
	return headline, err
}

func (c *gqlCommit) Author() (*gqlSignature, error) {
	t, err := c.info()
	if err != nil {
		return nil, err
	}
	raw, err := c.read()
	_, line, _ := strings.Cut(string(raw), "\nauthor ")
	line, _, _ = strings.Cut(line, "\n")
	a := &gqlSignature{c.look, t.Author, time.UTC}
	if in, err := time.Parse("-0700", line[strings.LastIndex(line, " ")+1:]); err == nil {
		a.zone = in.Location()
	}
	return a, err
}

func (c *gqlCommit) CommittedDate() (text, error) {
	t, err := c.info()
	if err != nil {
		return "", err
	}
	return text(t.Committer.Date), nil
}

// File is null where the commit has nothing at that path.
func (c *gqlCommit) File(args struct{ Path string }) (*gqlTreeEntry, error) {
	if path.IsAbs(args.Path) {
		return nil, nil
	}
	e, err := c.look.s.trees.at(c.r, c.oid, path.Clean(args.Path))
	if err != nil || e == nil {
		return nil, err
	}
	return &gqlTreeEntry{c.look, c.r, *e}, nil
}

// commits pages through a list of commits.
func (c *gqlCommit) commits(shas []string, args pageArgs) (*connection[gqlCommit], error) {
	return pageOf(args, listing[string, gqlCommit]{items: shas, key: inOrder[string],
		wrap: func(sha string) *gqlCommit { return c.look.commit(c.r, sha) }})
}

func (c *gqlCommit) Parents(args pageArgs) (*connection[gqlCommit], error) {
	t, err := c.info()
	if err != nil {
		return nil, err
	}
	return c.commits(t.Parents, args)
}

// History is the commit and what is behind it, newest first.
func (c *gqlCommit) History(args struct {
	pageArgs
	Path         *string
	Since, Until *text
}) (*connection[gqlCommit], error) {
	argv := []string{"rev-list", "--date-order"}
	if args.Since != nil {
		argv = append(argv, "--since="+string(*args.Since))
	}
	if args.Until != nil {
		argv = append(argv, "--until="+string(*args.Until))
	}
	argv = append(argv, c.oid, "--")
	if args.Path != nil {
		argv = append(argv, *args.Path)
	}
	out, err := memo(c.look.s, fmt.Sprint("history ", c.r.ID, argv), func() (string, error) { return c.look.s.git.run(c.r, argv...) })
	if err != nil {
		return nil, fmt.Errorf("read history: %w", err)
	}
	return c.commits(strings.Fields(out), args.pageArgs)
}

// AssociatedPullRequests are those that the commit came with.
func (c *gqlCommit) AssociatedPullRequests(args struct {
	pageArgs
	OrderBy order
}) (*connection[gqlPull], error) {
	if err := c.look.forbids(c.r, "PullRequest"); err != nil {
		return nil, err
	}
	return pageOf(args.pageArgs, listing[*Issue, gqlPull]{items: c.look.s.pulls.with(c.r, c.oid), key: args.OrderBy.issueKey, desc: args.OrderBy.desc(), wrap: c.look.pull})
}
