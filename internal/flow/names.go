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

// slugLimit is the maximum length of a slug in characters.
const slugLimit = 40

// letters are Latin letters that do not decompose into a base and an accent. Apostrophes are dropped.
var letters = strings.NewReplacer("ß", "ss", "æ", "ae", "œ", "oe", "ø", "o", "ł", "l", "đ", "d", "ð", "d", "þ", "th", "ı", "i", "'", "", "’", "")

// Slug turns a title into part of a name: words of a-z and 0-9 joined by single dashes, cut between words if possible. A
// title without such letters (another script, emoji) becomes "issue".
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
		if unicode.Is(unicode.Mn, r) { // combining accents
			return -1
		}
		return r
	}, norm.NFKD.String(strings.ToLower(strings.ToValidUTF8(text, " "))))
	return strings.FieldsFunc(letters.Replace(strings.ToLower(bare)), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
}

// nameLetters are the characters of a branch's name in which a commit message finds neither a mention nor a reference.
const nameLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/._-+"

// ExternalMerge is the commit message for merging a fork's pull request, whose mirror is gh-pr-N/slug: the subject has the slug as
// it is there, and the body is the title. Both are an outsider's text: they must skip no workflow, close no issue and notify nobody.
func ExternalMerge(number int, slug, title string) (subject, body string) {
	if strings.Trim(slug, nameLetters) != "" {
		slug, _ = Message(slug, 0)
	}
	if title != "" {
		body, _ = Message(strings.Join(strings.Fields(title), " "), 0)
	}
	return fmt.Sprintf("Merge external GitHub PR #%d: %s", number, slug), body
}

// kinds are the flows in branch names.
var kinds = map[model.Flow]string{
	model.FlowDesign: "design", model.FlowRoadmap: "roadmap", model.FlowBugfix: "bugfix", model.FlowSmallJob: "small", model.FlowImplementation: "impl",
}

// Branch is the nth candidate, from 1, for a flow's branch name. The name is stored, since titles change. It is a valid ref
// (https://git-scm.com/docs/git-check-ref-format) for any title.
func Branch(f model.Flow, number int, title string, nth int) string {
	kind, known := kinds[f]
	if !known {
		kind = Slug(string(f))
	}
	return "agent/" + kind + "/" + name(number, title, nth)
}

// DesignOf is the issue whose design or roadmap a branch holds; 0 for any other branch.
func DesignOf(branch string) int {
	rest, ok := strings.CutPrefix(branch, "agent/design/")
	if !ok {
		rest, ok = strings.CutPrefix(branch, "agent/roadmap/")
	}
	digits, _, _ := strings.Cut(rest, "-")
	n, err := strconv.Atoi(digits)
	if !ok || err != nil {
		return 0
	}
	return n
}

// DocPath is the nth candidate, from 1, for the path of a design document or a roadmap.
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
