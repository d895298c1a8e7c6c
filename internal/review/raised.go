package review

import (
	"regexp"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/model"
)

// declined matches the words with which people turn a finding down.
var declined = regexp.MustCompile(`(?i)\b(wo?n['’]?t|will not|not going to|no need to) (do|fix|change)\b|\bwont[ -]?(do|fix)\b|\b(by design|works as intended|false positive|not a bug)\b`)

// Settler says whose word settles a finding. Author is the author of a fork's pull request, whom GitHub lets resolve threads there
// without any right to the repository; "" for none.
type Settler struct {
	Author string
	May    func(login string) bool
}

// settles reports whether the thread that a comment of ours began is settled by somebody who may.
func (s Settler) settles(root model.Comment, replies []model.Comment) bool {
	if root.Resolved && root.ResolvedBy != "" && (!strings.EqualFold(root.ResolvedBy, s.Author) || s.May(root.ResolvedBy)) {
		return true
	}
	return slices.ContainsFunc(replies, func(c model.Comment) bool { return s.May(c.Author.Login) })
}

// Raised are the findings that stand on the lines of a pull request: our comments that began a thread there. text is what people
// read of a comment's body.
func Raised(comments []model.Comment, text func(body string) string, by Settler) []model.Raised {
	turned := refusals(comments)
	var out []model.Raised
	for _, c := range comments {
		if c.Kind != model.KindReview || c.InReplyTo != 0 || !c.Ours {
			continue
		}
		r := model.Raised{Path: c.Path, Line: c.Line, Text: said(text(c.Body)), Settled: by.settles(c, turned[c.ID])}
		if c.Outdated {
			r.Line = 0
		}
		out = append(out, r)
	}
	return out
}

// refusals are the replies that turn a finding down, by the comments that they answer.
func refusals(comments []model.Comment) map[int64][]model.Comment {
	turned := map[int64][]model.Comment{}
	for _, c := range comments {
		if c.Kind == model.KindReview && c.InReplyTo != 0 && !c.Ours && !c.Author.Bot && declines(c.Body) {
			turned[c.InReplyTo] = append(turned[c.InReplyTo], c)
		}
	}
	return turned
}

// Settlers are the people on whose rights it depends whether a finding is settled, in lower case. Who is nobody here has none.
func (s Settler) Settlers(comments []model.Comment) []string {
	var out []string
	add := func(login string) {
		if login = strings.ToLower(login); !slices.Contains(out, login) {
			out = append(out, login)
		}
	}
	turned := refusals(comments)
	for _, root := range comments {
		if root.Kind != model.KindReview || root.InReplyTo != 0 || !root.Ours || s.settles(root, turned[root.ID]) {
			continue
		}
		if s.Author != "" && root.Resolved && strings.EqualFold(root.ResolvedBy, s.Author) {
			add(s.Author)
		}
		for _, c := range turned[root.ID] {
			if c.Author.Login != "" {
				add(c.Author.Login)
			}
		}
	}
	return out
}

// declines reports whether somebody says, in words of their own, that nothing will be done.
func declines(body string) bool {
	for line := range strings.Lines(body) {
		if !strings.HasPrefix(strings.TrimSpace(line), ">") && declined.MatchString(line) {
			return true
		}
	}
	return false
}
