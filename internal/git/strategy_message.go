package git

import (
	"context"
	"fmt"
	"regexp"
	"strings"
)

// writer is somebody who wrote a commit.
type writer struct{ name, email, when string }

func (p writer) String() string { return p.name + " <" + p.email + ">" }

func (p writer) key() string { return strings.ToLower(p.email) }

// coAuthor is the trailer by which GitHub shows several authors
// (https://docs.github.com/en/pull-requests/committing-changes-to-your-project/creating-and-editing-commits/creating-a-commit-with-multiple-authors).
var coAuthor = regexp.MustCompile(`(?im)^co-authored-by:[ \t]*([^<\n]*?)[ \t]*<([^<>\n]+)>[ \t]*$`)

// message is what the one commit says that is made of the branch's own, and who its author is with the time, as a commit
// object has it. The other authors are named once each, and those that the commits name themselves; we are not.
func (g *ground) message(ctx context.Context, listed bool) (text, author string, signed int, err error) {
	wrote, subjects, bodies, err := g.authors(ctx)
	if err != nil {
		return "", "", 0, err
	}
	title, said := g.Title, g.Body
	if g.Own && len(wrote) == 1 {
		if title, said, err = g.only(ctx, wrote[0].sha); err != nil {
			return "", "", 0, err
		}
		listed = false
	}
	for t, raw := range bodies {
		if isSigned(raw) {
			signed++
		}
		_, message, _ := strings.Cut(string(raw), "\n\n")
		for _, found := range coAuthor.FindAllStringSubmatch(strings.ReplaceAll(message, "\r\n", "\n"), -1) {
			wrote[t].also = append(wrote[t].also, writer{name: found[1], email: found[2]})
		}
	}
	us := writer{email: g.c.opt.Identity.Email}
	named := map[string]bool{us.key(): true}
	first := writer{name: g.c.opt.Identity.Name, email: g.c.opt.Identity.Email, when: fmt.Sprintf("%d +0000", g.c.opt.Now().Unix())}
	if len(wrote) > 0 {
		first = wrote[0].by
	}
	named[first.key()] = true
	for _, found := range coAuthor.FindAllStringSubmatch(said, -1) {
		named[writer{email: found[2]}.key()] = true
	}
	var trailers []string
	for _, w := range wrote {
		for _, p := range append([]writer{w.by}, w.also...) {
			if !named[p.key()] {
				named[p.key()] = true
				trailers = append(trailers, "Co-authored-by: "+p.String())
			}
		}
	}
	list := ""
	if listed {
		list = strings.Join(subjects, "\n")
	}
	body, last := trailersOf(said)
	return paragraphs(g.title(ctx, title), body, list, strings.TrimSpace(last+"\n"+strings.Join(trailers, "\n"))), first.String() + " " + first.when, signed, nil
}

// only is the message of the one commit that the branch has of its own.
func (g *ground) only(ctx context.Context, sha string) (title, body string, err error) {
	out, err := g.c.ask(ctx, "log", "-1", "--no-show-signature", "--encoding=UTF-8", "--format=%B", sha)
	if err != nil {
		return "", "", fmt.Errorf("read message of %s: %w", sha, err)
	}
	title, body, _ = strings.Cut(strings.TrimSpace(strings.ReplaceAll(strings.ToValidUTF8(string(out), "\uFFFD"), "\r\n", "\n")), "\n\n")
	return title, body, nil
}

// trailersOf cuts the trailers off a text: they count only in the last paragraph of a message.
func trailersOf(body string) (text, trailers string) {
	body = "\n\n" + strings.TrimSpace(strings.ReplaceAll(body, "\r\n", "\n"))
	if !hasTrailers([]byte(body)) {
		return body, ""
	}
	at := strings.LastIndex(body, "\n\n")
	return body[:at], body[at+2:]
}

// byline is who wrote a commit.
type byline struct {
	sha  string
	by   writer
	also []writer
}

// authors reads who wrote the branch's own commits, with a line about each of the newest, and the commits themselves. The
// merge commits are not among them unless there is nothing else.
func (g *ground) authors(ctx context.Context) (wrote []byline, subjects []string, raws [][]byte, err error) {
	var shas []string
	var own []twig
	for _, t := range g.own {
		if !t.isMerge() || len(g.merges()) == len(g.own) {
			shas, own = append(shas, t.sha), append(own, t)
		}
	}
	all, err := g.c.raws(ctx, own)
	if err != nil {
		return nil, nil, nil, err
	}
	out, err := g.c.tell(ctx, []byte(strings.Join(shas, "\n")+"\n"), "log", "-z", "--no-walk=unsorted", "--stdin", "--no-show-signature", "--encoding=UTF-8", "--date=raw", "--format=%H%n%an%n%ae%n%ad%n%s")
	if err != nil {
		return nil, nil, nil, fmt.Errorf("read authors: %w", err)
	}
	for _, entry := range fields(out) {
		part := strings.SplitN(strings.ToValidUTF8(entry, "\uFFFD"), "\n", 5)
		if len(part) != 5 {
			return nil, nil, nil, fmt.Errorf("read authors: unexpected entry %q", entry)
		}
		wrote = append(wrote, byline{sha: part[0], by: writer{part[1], part[2], part[3]}})
		subjects = append(subjects, "* "+part[4]+" ("+part[0][:12]+")")
		raws = append(raws, all[part[0]])
	}
	if more := len(subjects) - maxListed; more > 0 {
		subjects = append([]string{fmt.Sprintf("* ... %d earlier commits ...", more)}, subjects[more:]...)
	}
	return wrote, subjects, raws, nil
}

// title is the subject that was asked for, or else what the newest commit of the branch says.
func (g *ground) title(ctx context.Context, asked string) string {
	title := strings.TrimSpace(strings.ReplaceAll(asked, "\x00", ""))
	if title == "" {
		if list, err := g.c.named(ctx, []string{g.Head}); err == nil && len(list) == 1 {
			title = strings.TrimSpace(list[0].Subject)
		}
	}
	if title == "" {
		title = "Merge " + g.Head
	}
	return strings.Join(strings.Fields(title), " ")
}

// paragraphs joins what there is with empty lines between.
func paragraphs(parts ...string) string {
	var list []string
	for _, part := range parts {
		if part = strings.TrimSpace(strings.ReplaceAll(strings.ReplaceAll(part, "\x00", ""), "\r\n", "\n")); part != "" {
			list = append(list, part)
		}
	}
	return strings.Join(list, "\n\n") + "\n"
}
