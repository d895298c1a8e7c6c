package turn

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
)

// The values of Policy.Listen besides "all".
const (
	listenReviews = "reviews"
	listenMention = "mention"
)

// mostRead is how much of a comment is read to see whom it speaks to: parsing takes longer than linear in the length.
const mostRead = 4000

var (
	mentioned = regexp.MustCompile(`(?:^|[^\w@/.-])@([A-Za-z0-9][A-Za-z0-9-]*)(/[A-Za-z0-9_.-]+)?`)
	called    = regexp.MustCompile(`(?i)(?:^|[^\w/.-])/mergexo\b`)
	// shortcode is an emoji by its name, and who is thanked.
	shortcode = regexp.MustCompile(`:[a-z0-9_+-]+:|\+1|@[\w-]+(\[bot\])?`)
)

// unheard is why a comment starts nothing whose author may steer the agent; "" where it counts. answers says that the agent has
// asked: then a word is an answer, wherever it stands.
func (p Policy) unheard(c model.Comment, s model.Snapshot, answers bool) string {
	talk := s.IsPull() && c.Kind == model.KindIssue && !answers
	if talk && p.Listen == listenReviews {
		return `[feedback] listen is "reviews"`
	}
	body := head(c.Body, mostRead)
	switch mine, others, first := p.mentions(body, s.Viewer.Login); {
	case talk && p.Listen == listenMention && !mine:
		return `it does not name MergeXO, and [feedback] listen is "mention"`
	case first && others && !mine:
		return "it begins with a mention of somebody else"
	case !answers && isThanks(body):
		return "it is only thanks"
	}
	return ""
}

// mentions says whether a comment names MergeXO and others in its author's own words, and begins with such a name.
func (p Policy) mentions(body, viewer string) (mine, others, first bool) {
	if !strings.Contains(body, "@") && !called.MatchString(body) {
		return false, false, false
	}
	said := strings.TrimSpace(strings.Join(markdown.Prose(body), "\n"))
	mine = called.MatchString(said)
	for _, m := range mentioned.FindAllStringSubmatch(said, -1) {
		is := func(name string) bool { return strings.EqualFold(strings.TrimSuffix(name, "[bot]"), m[1]+m[2]) }
		if slices.ContainsFunc(append([]string{viewer}, p.Names...), is) {
			mine = true
		} else {
			others = true
		}
	}
	return mine, others, strings.HasPrefix(said, "@")
}

// thanks are the words of which one alone is thanks, and polite those that may stand beside it.
var (
	thanks = strings.Fields("thanks thank thx ty cheers lgtm")
	polite = strings.Fields("you u so very much a lot many again ok okay great nice perfect awesome cool good job work all everyone looks to me")
)

// isThanks reports whether a comment has nothing but thanks and emoji. A question mark alone may be a question, and so may code.
func isThanks(body string) bool {
	if len(body) > 200 || strings.ContainsAny(body, "?`<") {
		return false
	}
	thanked, words := false, strings.FieldsFunc(shortcode.ReplaceAllString(strings.ToLower(markdown.Words(body)), " "), func(r rune) bool {
		return unicode.In(r, unicode.So, unicode.Sk, unicode.Me) || strings.ContainsRune(" \t\n.,!;:()~*_", r)
	})
	for _, w := range words {
		thanked = thanked || slices.Contains(thanks, w)
		if !slices.Contains(thanks, w) && !slices.Contains(polite, w) {
			return false
		}
	}
	return thanked || len(words) == 0
}
