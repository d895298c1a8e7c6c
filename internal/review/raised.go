package review

import (
	"regexp"
	"strings"

	"github.com/mergexo/mergexo/internal/model"
)

// declined matches the words with which people turn a finding down.
var declined = regexp.MustCompile(`(?i)\b(wo?n['’]?t|will not|not going to|no need to) (do|fix|change)\b|\bwont[ -]?(do|fix)\b|\b(by design|works as intended|false positive|not a bug)\b`)

// Raised are the findings that stand on the lines of a pull request: our comments that began a thread there. text is what people
// read of a comment's body.
func Raised(comments []model.Comment, text func(body string) string) []model.Raised {
	turned := map[int64]bool{}
	for _, c := range comments {
		if c.Kind == model.KindReview && c.InReplyTo != 0 && !c.Ours && !c.Author.Bot && declines(c.Body) {
			turned[c.InReplyTo] = true
		}
	}
	var out []model.Raised
	for _, c := range comments {
		if c.Kind != model.KindReview || c.InReplyTo != 0 || !c.Ours {
			continue
		}
		r := model.Raised{Path: c.Path, Line: c.Line, Text: said(text(c.Body)), Settled: c.Resolved || turned[c.ID]}
		if c.Outdated {
			r.Line = 0
		}
		out = append(out, r)
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
