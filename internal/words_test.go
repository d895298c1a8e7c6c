package internal_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/must"
)

// banned are words and turns that people stumble over, each with a plain one.
var banned = []struct{ word, better string }{
	{`anew`, "again"},
	{`mend(s|ed|ing)?`, "fix"},
	{`c[oa]mes? to an end`, "end, or time out"},
	{`come about`, "happen"},
	{`(take|takes|taken|took) (it|that|them|the request) back|takes? back what`, "cancel, revoke or revert"},
	{`nobody (knows|has let)`, "say what is missing"},
	{`so that nobody`, "so"},
	{`(go|goes|gone|went) on with`, "continue"},
	{`(go|goes) on from`, "continue from"},
	{`what (comes|came|becomes|became) of`, "the result of"},
	{`(are|is|be) (not |never )?heard|hears people`, "say who may do it"},
	{`in the way any ?more`, "once it is resolved"},
	{`in the way of the other`, "conflicts with"},
	{`stands? behind`, "follows"},
	{`by itself`, "automatically"},
	{`let in by|lets? (it|that|forks) in`, "accept"},
	{`put over`, "rebase"},
	{`landed all the same`, "already merged"},
	{`waits? for ever`, "never sees, or never ends"},
	{`settle (the|that|it)`, "resolve"},
	{`under way`, "in progress"},
	{`at the latest`, "by"},
	{`any more`, "no longer"},
	{`half-way`, "interrupted"},
	{`to be had`, "available"},
	{`give the token the right`, "add the permission"},
	{`as often as it may`, "the limit was reached"},
	{`is no (person|pull request|draft|name)`, "is not a"},
	{`wants? a reason`, "needs"},
}

// bannedInComments are more of them, which comments of the code leave out as well.
var bannedInComments = regexp.MustCompile(`(?i)\b(anew|for ever|what (?:came|comes|became) of|came to (?:its|their|an) end|(?:goes|go|gone) on with|(?:is|are|was|were) not \w+ any more|all the same)\b`)

// checkComments lists the turns in the comments of a Go file that people stumble over.
func checkComments(path string, file *ast.File) []string {
	var wrong []string
	for _, group := range file.Comments {
		for _, found := range bannedInComments.FindAllString(strings.Join(strings.Fields(group.Text()), " "), -1) {
			wrong = append(wrong, fmt.Sprintf("%s: comment: %q", path, found))
		}
	}
	return wrong
}

var bannedWords = func() *regexp.Regexp {
	var all []string
	for _, b := range banned {
		all = append(all, "(?:"+b.word+")")
	}
	return regexp.MustCompile(`(?i)\b(?:` + strings.Join(all, "|") + `)\b`)
}()

// checkBanned lists the banned words of a text.
func checkBanned(where, text string) []string {
	var wrong []string
	for _, found := range bannedWords.FindAllString(strings.Join(strings.Fields(text), " "), -1) {
		for _, b := range banned {
			if regexp.MustCompile(`(?i)^(?:` + b.word + `)$`).MatchString(found) {
				wrong = append(wrong, fmt.Sprintf("%s: %q: say %q", where, found, b.better))
				break
			}
		}
	}
	return wrong
}

// maxWords is how many words a sentence has at most.
const maxWords = 30

var (
	indented = regexp.MustCompile(`(?m)^ {4}.*$`)
	breaks   = regexp.MustCompile(`\n\s*(?:[-*]|\d+\.|#+)\s|\n\s*\n|\|`)
	ends     = regexp.MustCompile(`[.!?]\s+`)
)

// checkSentences lists the sentences of a Markdown text that are too long. What is code counts as one word.
func checkSentences(where, text string) []string {
	text = spans.ReplaceAllString(indented.ReplaceAllString(blocks.ReplaceAllString(text, ""), ""), "X")
	text = linkText.ReplaceAllString(text, "$1")
	var wrong []string
	for _, block := range breaks.Split(text, -1) {
		for _, sentence := range ends.Split(block, -1) {
			if words := strings.Fields(sentence); len(words) > maxWords {
				wrong = append(wrong, fmt.Sprintf("%s: %d words, more than %d: %s", where, len(words), maxWords, strings.Join(words, " ")))
			}
		}
	}
	return wrong
}

// checkLiterals checks the texts of a Go file.
func checkLiterals(path string, file *ast.File) []string {
	var wrong []string
	ast.Inspect(file, func(n ast.Node) bool {
		lit, ok := n.(*ast.BasicLit)
		if !ok || lit.Kind != token.STRING {
			return true
		}
		text, _ := strconv.Unquote(lit.Value)
		wrong = append(wrong, checkBanned(path, text)...)
		for line := range strings.Lines(text) {
			if !slices.Contains(wordLists, path) {
				wrong = append(wrong, checkSentences(path, line)...)
			}
		}
		return true
	})
	return wrong
}

// wordLists are files whose long texts are lists of words.
var wordLists = []string{"internal/markdown/shownhtml.go"}

// elders are golden files of earlier versions, which stay as they were.
const elders = "cli/testdata/init/older/"

// notYet are files that are not checked.
var notYet = []string{elders}

func excused(path string) bool {
	return slices.ContainsFunc(notYet, func(s string) bool { return strings.HasPrefix(filepath.ToSlash(path), s) })
}

func TestTextsAreInPlainWords(t *testing.T) {
	for _, p := range packages(t) {
		if strings.HasPrefix(p.name(), "scripts/") || strings.HasSuffix(p.name(), "/gittest") {
			continue
		}
		for _, f := range slices.Concat(p.GoFiles, p.IgnoredFiles) {
			if strings.HasSuffix(f, "_test.go") || excused(p.name()+"/"+f) {
				continue
			}
			file := parse(t, filepath.Join(p.Dir, f), nil)
			assert.Empty(t, checkLiterals(p.name()+"/"+f, file))
			assert.Empty(t, checkComments(p.name()+"/"+f, file))
		}
	}
}

func TestGoldenFilesAreInPlainWords(t *testing.T) {
	seen := 0
	require.NoError(t, filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.Contains(filepath.ToSlash(path), "/testdata/") || excused(path) {
			return err
		}
		text, err := os.ReadFile(path)
		if err == nil && utf8.Valid(text) && !bytes.ContainsRune(text, 0) {
			seen++
			assert.Empty(t, checkBanned(path, string(text)))
		}
		return err
	}))
	assert.Greater(t, seen, 200)
}

func TestTheManualIsInPlainWordsAndShortSentences(t *testing.T) {
	pages := must.Get(filepath.Glob("manual/*.md"))(t)
	for _, page := range append(pages, "../README.md", "../CONTRIBUTING.md") {
		text := must.Get(os.ReadFile(page))(t)
		assert.Empty(t, checkBanned(page, string(text)))
		assert.Empty(t, checkSentences(page, string(text)))
	}
}

func TestBannedWordsAndLongSentencesAreFound(t *testing.T) {
	assert.Equal(t, []string{`x: "Mended": say "fix"`, `x: "by itself": say "automatically"`}, checkBanned("x", "Mended, and it goes on by\nitself. Amendments are fine."))
	long := strings.Repeat("word ", maxWords)
	assert.Empty(t, checkSentences("x", long+"\n\n- "+long+"\n* "+long+"\n| "+long+"| "+long))
	assert.Empty(t, checkSentences("x", long+". "+long+"? "+long))
	assert.Len(t, checkSentences("x", long+"`more of it` and [one](there)."), 1)
	assert.Empty(t, checkSentences("x", "A `"+long+"` here.\n\n```\n"+long+long+"\n```\n\n    "+long+long+"\n"))
	file := parse(t, "x.go", "package x\n\n// anew\nconst a, b = \"told anew\", `"+long+"more`\n")
	assert.Len(t, checkLiterals("x.go", file), 2)
	assert.Equal(t, []string{`x.go: comment: "anew"`}, checkComments("x.go", file))
}
