package sandbox

import (
	"errors"
	"fmt"
	"path"
	"strings"
	"time"
)

// gqlCommit is https://docs.github.com/en/graphql/reference/objects#commit.
type gqlCommit struct{ *gqlObject }

// commitText is a commit object taken apart.
type commitText struct {
	tree              string
	parents           []string
	author, committer *gqlSignature
	message           string
}

func (c *gqlCommit) parse() (*commitText, error) {
	data, err := c.read()
	if err != nil {
		return nil, err
	}
	head, message, _ := strings.Cut(string(data), "\n\n")
	t := &commitText{message: strings.TrimSuffix(message, "\n"), author: &gqlSignature{}, committer: &gqlSignature{}}
	for _, line := range strings.Split(head, "\n") {
		key, value, _ := strings.Cut(line, " ")
		switch key {
		case "tree":
			t.tree = value
		case "parent":
			t.parents = append(t.parents, value)
		case "author":
			t.author = c.look.signature(value)
		case "committer":
			t.committer = c.look.signature(value)
		}
	}
	return t, nil
}

// gqlSignature is https://docs.github.com/en/graphql/reference/objects#gitactor.
type gqlSignature struct {
	look        *look
	name, email string
	at          time.Time
}

// signature reads "Name <address> 1700000000 +0200".
func (l *look) signature(line string) *gqlSignature {
	name, rest, _ := strings.Cut(line, " <")
	email, when, _ := strings.Cut(rest, "> ")
	seconds, zone, _ := strings.Cut(when, " ")
	return &gqlSignature{l, name, email, gitDate(seconds, zone)}
}

func (a *gqlSignature) Name() *string { return some(a.name) }
func (a *gqlSignature) Date() *text   { return some(text(a.at.Format(time.RFC3339))) }

// User is the account that the noreply address names; null for any other address.
func (a *gqlSignature) User() *gqlActor {
	local, ok := strings.CutSuffix(a.email, "@users.noreply.github.com")
	if !ok {
		return nil
	}
	if _, login, ok := strings.Cut(local, "+"); ok {
		local = login
	}
	return a.look.actor(local)
}

func (c *gqlCommit) Message() (string, error) {
	t, err := c.parse()
	if err != nil {
		return "", err
	}
	return t.message, nil
}

func (c *gqlCommit) MessageHeadline() (string, error) {
	message, err := c.Message()
	headline, _, _ := strings.Cut(message, "\n")
	return headline, err
}

func (c *gqlCommit) Author() (*gqlSignature, error) {
	t, err := c.parse()
	if err != nil {
		return nil, err
	}
	return t.author, nil
}

func (c *gqlCommit) CommittedDate() (text, error) {
	t, err := c.parse()
	if err != nil {
		return "", err
	}
	return dateTime(t.committer.at), nil
}

// File is null where the commit has nothing at that path.
func (c *gqlCommit) File(args struct{ Path string }) (*gqlTreeEntry, error) {
	name := path.Clean(args.Path)
	parent := c.oid + ":"
	if dir := path.Dir(name); dir != "." {
		parent += dir
	}
	oid, err := memo(c.look.s, fmt.Sprint("tree ", c.r.ID, parent), func() (string, error) {
		found, err := c.look.s.git.objects(c.r).find(parent)
		if errors.Is(err, errNoObject) { // and there never will be one
			return "", nil
		}
		return found.sha, err
	})
	if err != nil || oid == "" {
		return nil, err
	}
	entries, err := (&gqlObject{c.look, c.r, oid, "tree"}).list(path.Dir(name))
	if err != nil {
		return nil, nil // the parent is a file
	}
	for _, e := range entries {
		if e.path == name {
			return e, nil
		}
	}
	return nil, nil
}

// commits pages through a list of commits.
func (c *gqlCommit) commits(shas []string, args pageArgs) (*connection[gqlCommit], error) {
	return pageOf(args, listing[string, gqlCommit]{items: shas, key: inOrder[string],
		wrap: func(sha string) *gqlCommit { return c.look.commit(c.r, sha) }})
}

func (c *gqlCommit) Parents(args pageArgs) (*connection[gqlCommit], error) {
	t, err := c.parse()
	if err != nil {
		return nil, err
	}
	return c.commits(t.parents, args)
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
