package flow

import (
	"fmt"
	"path"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/mergexo/mergexo/internal/model"
)

// slugLimit is how many characters a slug has at most.
const slugLimit = 40

// letters are those of Latin script that no accent can be taken off of. Apostrophes stand within words.
var letters = strings.NewReplacer("ß", "ss", "æ", "ae", "œ", "oe", "ø", "o", "ł", "l", "đ", "d", "ð", "d", "þ", "th", "ı", "i", "'", "", "’", "")

// Slug is a title as part of a name: words of a-z and 0-9 with single dashes between them, cut at a word where possible.
// A title without any such letter, of another script or of emoji, is "issue".
func Slug(title string) string {
	words := words(title)
	if len(words) == 0 {
		return "issue"
	}
	slug := words[0][:min(len(words[0]), slugLimit)]
	for _, w := range words[1:] {
		if len(slug)+1+len(w) > slugLimit {
			break
		}
		slug += "-" + w
	}
	return slug
}

// words are the words of a text, in a-z and 0-9.
func words(text string) []string {
	bare := strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) { // the accents, once they stand by themselves
			return -1
		}
		return r
	}, norm.NFKD.String(strings.ToLower(strings.ToValidUTF8(text, " "))))
	return strings.FieldsFunc(letters.Replace(strings.ToLower(bare)), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
}

// ExternalMerge is the message of the commit that merges a fork's pull request: the subject has the branch as a slug, or
// as it is where a slug would lose letters of it, and the body is the title. A title is a stranger's text: it skips no
// workflow, closes no issue and notifies nobody.
func ExternalMerge(p model.Pull) (subject, body string) {
	branch := strings.TrimPrefix(p.HeadRef, fmt.Sprintf("gh-pr-%d/", p.Number)) // a mirror's name
	slug := strings.Join(words(branch), "-")
	foreign := func(r rune) bool { return r > unicode.MaxASCII && !unicode.Is(unicode.Latin, r) }
	if slug == "" || strings.ContainsFunc(branch, foreign) {
		slug, _ = Message(branch, 0)
	}
	body, _ = Message(strings.Join(strings.Fields(p.Title), " "), 0)
	return fmt.Sprintf("Merge external GitHub PR #%d: %s", p.Number, slug), body
}

// kinds are the flows as the names of branches have them.
var kinds = map[model.Flow]string{
	model.FlowDesign: "design", model.FlowBugfix: "bugfix", model.FlowSmallJob: "small", model.FlowImplementation: "impl",
}

// Branch names the nth branch, from 1, that a pull request of this flow may come from. It is computed once and stored:
// titles change. It is a name that git takes (https://git-scm.com/docs/git-check-ref-format) for any title.
func Branch(f model.Flow, number int, title string, nth int) string {
	kind, known := kinds[f]
	if !known {
		kind = Slug(string(f))
	}
	return "agent/" + kind + "/" + name(number, title, nth)
}

// DesignOf is the issue whose design a branch is named for; 0 for any other branch.
func DesignOf(branch string) int {
	rest, ok := strings.CutPrefix(branch, "agent/design/")
	digits, _, _ := strings.Cut(rest, "-")
	n, err := strconv.Atoi(digits)
	if !ok || err != nil {
		return 0
	}
	return n
}

// DocPath names the nth file, from 1, that the design document may be.
func DocPath(dir string, number int, title string, nth int) string {
	return path.Join(dir, name(number, title, nth)+".md")
}

func name(number int, title string, nth int) string {
	n := fmt.Sprintf("%d-%s", number, Slug(title))
	if nth > 1 {
		n += fmt.Sprintf("-%d", nth)
	}
	return n
}
