package engine

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/leak"
	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
)

// shortest is how many bytes a value must have to be taken for a key: less would take words out of sentences.
const shortest = 8

// keyish are names of variables whose values are nobody's to read.
var keyish = regexp.MustCompile(`(?i)key|token|secret|passw|auth|cred|private|(^|_)pat$`)

// private are the keys that an agent was given by name: it may say them. So are its model's, which it should not know.
func (p *pass) private() []string {
	values := slices.DeleteFunc(p.ModelKeys(p.Settings), func(v string) bool { return len(v) < shortest })
	for _, name := range p.Settings.Agent.PassEnv {
		if v, _ := p.Lookup(name); len(v) >= shortest && keyish.MatchString(name) {
			values = append(values, v)
		}
	}
	return values
}

const leftOut = "[a line with what looks like a secret was left out]"

// clean takes out of a text what nobody may read in a comment: values that the agent was given, and what looks like a
// secret. GitHub masks its logs, not its comments.
func (p *pass) clean(ctx context.Context, text string) string {
	for _, v := range p.private() {
		text = strings.ReplaceAll(text, v, "***")
	}
	scanner, err := p.scanner()
	var found []leak.Finding
	if err == nil {
		found, err = scanner.Scan(ctx, leak.Piece{Path: "comment.md", Line: 1, Text: []byte(text)})
	}
	if err != nil {
		return "[what the agent said could not be looked at for secrets: " + err.Error() + "]"
	}
	if slices.ContainsFunc(found, func(f leak.Finding) bool { return f.Rule == "private-key" }) { // it goes on for many lines
		return "[what the agent said holds a private key and was left out]"
	}
	lines := strings.Split(text, "\n")
	for _, f := range found {
		if f.Certain && f.Line > 0 && f.Line <= len(lines) {
			lines[f.Line-1] = leftOut
		}
	}
	return strings.Join(slices.CompactFunc(lines, func(a, b string) bool { return a == leftOut && b == leftOut }), "\n")
}

// cleaned is an outcome whose words can be shown: those that are posted as Markdown are whole in themselves, and notify
// nobody who has not taken part.
func (p *pass) cleaned(ctx context.Context, o model.Outcome) model.Outcome {
	o.ReviewReplies = slices.Clone(o.ReviewReplies)
	for i := range o.ReviewReplies {
		o.ReviewReplies[i].Body = markdown.Contain(p.clean(ctx, o.ReviewReplies[i].Body), p.takesPart)
	}
	for _, text := range []*string{&o.GeneralComment, &o.BlockedReason, &o.Title, &o.Summary, &o.PRTitle, &o.PRSummary} {
		*text = p.clean(ctx, *text)
	}
	o.GeneralComment = markdown.Contain(o.GeneralComment, p.takesPart)
	return o
}

// takesPart says that somebody has taken part in the conversation, as far as it was read.
func (p *pass) takesPart(login string) bool {
	is := func(a model.Actor) bool { return !a.Bot && strings.EqualFold(a.Login, login) }
	if is(p.Snap.Pull.Author) || p.Snap.Thread != nil && is(p.Snap.Thread.Author) {
		return true
	}
	return slices.ContainsFunc(p.Snap.Comments, func(c model.Comment) bool { return is(c.Author) })
}

// scanner finds secrets; it is made when it is needed first, which is long after the first call.
func (p *pass) scanner() (*leak.Scanner, error) {
	if p.Memory.Scanner == nil {
		scanner, err := leak.New()
		if err != nil {
			return nil, err
		}
		p.Memory.Scanner = scanner
	}
	return p.Memory.Scanner, nil
}
