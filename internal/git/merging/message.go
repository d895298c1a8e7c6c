package merging

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/skipci"
)

// writer is the author of a commit.
type writer struct{ name, email, when string }

func (p writer) String() string { return p.name + " <" + p.email + ">" }

func (p writer) key() string { return strings.ToLower(p.email) }

// coAuthor is the trailer by which GitHub shows several authors
// (https://docs.github.com/en/pull-requests/committing-changes-to-your-project/creating-and-editing-commits/creating-a-commit-with-multiple-authors).
var coAuthor = regexp.MustCompile(`(?im)^co-authored-by:[ \t]*([^<\n]*?)[ \t]*<([^<>\n]+)>[ \t]*$`)

// message is the message of a commit that replaces the branch's own, and its author line as in a commit object. Other
// authors, and those that the commits name, become co-authors, once each; we do not.
func (g *input) message(ctx context.Context) (text, author string, signed int, err error) {
	wrote, bodies, err := g.authors(ctx)
	if err != nil {
		return "", "", 0, err
	}
	title, said, list := g.Title, g.Body, squashed(wrote)
	if len(wrote) == 1 {
		title, said, _ = strings.Cut(wrote[0].text, "\n\n")
		list = ""
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
	us := writer{email: g.c.Opt.Identity.Email}
	named := map[string]bool{us.key(): true}
	first := writer{name: g.c.Opt.Identity.Name, email: g.c.Opt.Identity.Email, when: fmt.Sprintf("%d +0000", g.c.Opt.Now().Unix())}
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
	body, last := trailersOf(said)
	return paragraphs(g.title(ctx, title), body, list, strings.TrimSpace(last+"\n"+strings.Join(trailers, "\n"))), first.String() + " " + first.when, signed, nil
}

// maxSquashed limits the commits' messages in one message, in bytes.
const maxSquashed = 60_000

// squashed are the messages of commits, newest first, as git merge --squash offers them. What one of them said to keep CI from
// running is not said of all
// (https://git-scm.com/docs/git-merge#Documentation/git-merge.txt---squash).
func squashed(wrote []byline) string {
	if len(wrote) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("Squashed commit of the following:\n")
	left := len(wrote)
	for _, w := range slices.Backward(wrote[max(0, len(wrote)-history.MaxListed):]) {
		var one strings.Builder
		fmt.Fprintf(&one, "\ncommit %s\nAuthor: %s\nDate:   %s\n\n", w.sha, w.by, w.by.date())
		for row := range strings.SplitSeq(skipci.Disarmed(w.text), "\n") {
			one.WriteString(strings.TrimRight("    "+row, " \t\r") + "\n")
		}
		if b.Len()+one.Len() > maxSquashed {
			break
		}
		b.WriteString(one.String())
		left--
	}
	if left > 0 {
		fmt.Fprintf(&b, "\n... and %d earlier ones\n", left)
	}
	return b.String()
}

// date formats the date like git log.
func (p writer) date() string {
	seconds, zone, _ := strings.Cut(p.when, " ")
	n, err := strconv.ParseInt(seconds, 10, 64)
	at, zoneErr := time.Parse("-0700", zone)
	if err != nil || zoneErr != nil {
		return p.when
	}
	_, offset := at.Zone()
	return time.Unix(n, 0).In(time.FixedZone("", offset)).Format("Mon Jan 2 15:04:05 2006 -0700")
}

// trailersOf splits the trailers off a text: they only count in a message's last paragraph.
func trailersOf(body string) (text, trailers string) {
	body = "\n\n" + strings.TrimSpace(strings.ReplaceAll(body, "\r\n", "\n"))
	if !endsInTrailers([]byte(body)) {
		return body, ""
	}
	at := strings.LastIndex(body, "\n\n")
	return body[:at], body[at+2:]
}

// byline is a commit's author and message.
type byline struct {
	sha  string
	by   writer
	also []writer
	text string
}

// authors reads the authors and messages of the branch's own commits, and the commits themselves; merge commits only if
// there is nothing else.
func (g *input) authors(ctx context.Context) (wrote []byline, raws [][]byte, err error) {
	var shas []string
	var own []history.Node
	for _, t := range g.own {
		if !t.IsMerge() || len(merges(g.own)) == len(g.own) {
			shas, own = append(shas, t.SHA), append(own, t)
		}
	}
	all, err := rawCommits(ctx, g.c, own)
	if err != nil {
		return nil, nil, err
	}
	found, err := history.Log(ctx, g.c, "%H%n%an%n%ae%n%ad%n%B", shas, "--no-walk=unsorted", "--date=raw")
	for _, part := range found {
		for i := range part {
			part[i] = strings.ToValidUTF8(part[i], "\uFFFD")
		}
		text := strings.TrimSpace(strings.ReplaceAll(part[4], "\r\n", "\n"))
		wrote = append(wrote, byline{sha: part[0], by: writer{part[1], part[2], part[3]}, text: text})
		raws = append(raws, all[part[0]])
	}
	return wrote, raws, git.Wrap(err, "read authors")
}

// title is the requested subject, or else that of the branch's newest commit.
func (g *input) title(ctx context.Context, asked string) string {
	title := strings.TrimSpace(strings.ReplaceAll(asked, "\x00", ""))
	if title == "" {
		if list, err := history.Named(ctx, g.c, []string{g.Head}); err == nil && len(list) == 1 {
			title = strings.TrimSpace(list[0].Subject)
		}
	}
	return strings.Join(strings.Fields(cmp.Or(title, "Merge "+g.Head)), " ")
}

// paragraphs joins non-empty parts with empty lines.
func paragraphs(parts ...string) string {
	var list []string
	for _, part := range parts {
		if part = strings.TrimSpace(strings.ReplaceAll(strings.ReplaceAll(part, "\x00", ""), "\r\n", "\n")); part != "" {
			list = append(list, part)
		}
	}
	return strings.Join(list, "\n\n") + "\n"
}
