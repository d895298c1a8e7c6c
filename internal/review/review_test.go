package review_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"

	"github.com/mergexo/mergexo/internal/golden"
	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
	"github.com/mergexo/mergexo/internal/review"
	"github.com/mergexo/mergexo/internal/strictjson"
)

func finding(path string, line int64, severity model.Severity, text string) model.Finding {
	return model.Finding{Path: path, Line: line, Severity: severity, Text: text}
}

func never(model.Finding) bool { return false }

func TestAFindingThatBreaksARuleIsNamedByItsField(t *testing.T) {
	type row struct {
		finding model.Finding
		want    string
	}
	must.Each(t, map[string]row{
		"fine":                    {finding("a/b.go", 7, model.Must, "It leaks."), ""},
		"the whole file":          {finding("a b.go", 0, model.Nit, "Long."), ""},
		"no path":                 {finding("", 7, model.Must, "x"), `findings[0].path: want a path from the top of the repository, got ""`},
		"a path that leaves":      {finding("a/../../b", 7, model.Must, "x"), `findings[0].path: want a path from the top of the repository, got "a/../../b"`},
		"a path of the machine":   {finding("/etc/passwd", 7, model.Must, "x"), `findings[0].path: want a path from the top of the repository, got "/etc/passwd"`},
		"two lines as a path":     {finding("a\n::error::b", 7, model.Must, "x"), `findings[0].path: want a path from the top of the repository, got "a\n::error::b"`},
		"a line before the first": {finding("a", -1, model.Must, "x"), "findings[0].line: want the number of a line, or 0 for the whole file, got -1"},
		"a line that no file has": {finding("a", 1<<40, model.Must, "x"), "findings[0].line: want the number of a line, or 0 for the whole file, got 1099511627776"},
		"another severity":        {finding("a", 1, "blocker", "x"), `findings[0].severity: want must, should or nit, got "blocker"`},
		"no text":                 {finding("a", 1, model.Must, " \n"), "findings[0].text: must not be empty"},
	}, func(t *testing.T, c row) {
		err := review.Check([]model.Finding{c.finding})
		if c.want == "" {
			assert.NoError(t, err)
			return
		}
		assert.EqualError(t, err, c.want)
	})
}

func TestTheGravestOfManyFindingsAreKept(t *testing.T) {
	var many []model.Finding
	for i := range 499 {
		many = append(many, finding("a.go", int64(i+1), model.Nit, fmt.Sprint(i)))
	}
	many = append(many, finding("a.go", 500, model.Should, "s"), finding("a.go", 501, model.Must, "m"), finding("a.go", 502, model.Nit, "n"))
	kept, dropped := review.Gravest(many)
	require.Len(t, kept, review.MaxFindings)
	assert.Equal(t, 2, dropped)
	assert.Equal(t, []model.Severity{model.Must, model.Should, model.Nit}, []model.Severity{kept[0].Severity, kept[1].Severity, kept[2].Severity})
}

func TestNothingIsSaidTwice(t *testing.T) {
	leak := finding("a.go", 7, model.Should, "The file is never closed.")
	moved := finding("a.go", 90, model.Must, "the file is NEVER closed")
	other := finding("a.go", 8, model.Nit, "A typo: teh.")
	type row struct {
		found  []model.Finding
		raised []model.Raised
		known  func(model.Finding) bool
		want   []model.Finding
	}
	must.Each(t, map[string]row{
		"new ones, the gravest first":                      {[]model.Finding{other, leak}, nil, never, []model.Finding{leak, other}},
		"twice in one answer, at its gravest":              {[]model.Finding{leak, moved}, nil, never, []model.Finding{moved}},
		"known by its token":                               {[]model.Finding{leak, other}, nil, func(f model.Finding) bool { return f == leak }, []model.Finding{other}},
		"in the same words, wherever the line is now":      {[]model.Finding{moved}, []model.Raised{{Path: "a.go", Text: leak.Text}}, never, nil},
		"about the same line, in other words":              {[]model.Finding{leak}, []model.Raised{{Path: "a.go", Line: 7, Text: "Close it."}}, never, []model.Finding{leak}},
		"about the same line, in similar words":            {[]model.Finding{leak}, []model.Raised{{Path: "a.go", Line: 7, Text: "This file is never closed."}}, never, nil},
		"about a line that is settled, in other words":     {[]model.Finding{leak}, []model.Raised{{Path: "a.go", Line: 7, Text: "Close it.", Settled: true}}, never, nil},
		"a must on a line that is settled, in other words": {[]model.Finding{moved}, []model.Raised{{Path: "a.go", Line: 90, Text: "Rename it.", Settled: true}}, never, []model.Finding{moved}},
		"the same line of another file":                    {[]model.Finding{leak}, []model.Raised{{Path: "b.go", Line: 7, Text: "Close it."}}, never, []model.Finding{leak}},
		"in similar words, which is settled":               {[]model.Finding{moved}, []model.Raised{{Path: "a.go", Text: "The file is never closed again", Settled: true}}, never, nil},
		"in similar words, which is not":                   {[]model.Finding{moved}, []model.Raised{{Path: "a.go", Text: "The file is never closed again"}}, never, []model.Finding{moved}},
		"something else in a file where one is settled":    {[]model.Finding{other}, []model.Raised{{Path: "a.go", Text: leak.Text, Settled: true}}, never, []model.Finding{other}},
	}, func(t *testing.T, c row) {
		assert.Equal(t, c.want, review.Fresh(c.found, c.raised, c.known))
	})
}

func TestOnlyOneSuggestionIsMadeForALine(t *testing.T) {
	one, other := finding("a.go", 7, model.Should, "Use x."), finding("a.go", 7, model.Must, "Use y.")
	file := finding("a.go", 0, model.Must, "Rewrite it.")
	one.Suggestion, other.Suggestion, file.Suggestion = "x()", "y()", "z()"
	got := review.Fresh([]model.Finding{one, other, file}, nil, never)
	require.Len(t, got, 3)
	assert.Equal(t, []string{"y()", "", ""}, []string{got[0].Suggestion, got[1].Suggestion, got[2].Suggestion}, "the gravest one's, and none without a line")
}

func TestWhatPeopleHaveSettledIsKnown(t *testing.T) {
	ours := func(id int64, body string) model.Comment {
		return model.Comment{Kind: model.KindReview, ID: id, Ours: true, Path: "a.go", Lines: model.Lines{Line: int(id)}, Body: body}
	}
	reply := func(to int64, body string) model.Comment {
		return model.Comment{Kind: model.KindReview, ID: 100 + to, InReplyTo: to, Author: model.Actor{Login: "alice"}, Body: body}
	}
	resolved, outdated := ours(3, "**nit:** Three."), ours(4, "**should:** Four.\n\nSuggestion:\n\n```suggestion\n4\n```")
	resolved.Resolved, resolved.ResolvedBy, outdated.Outdated = true, "bob", true
	bot := reply(1, "won't do")
	bot.Author.Bot = true
	got := review.Raised([]model.Comment{
		ours(1, "**must:** One."), bot, reply(1, "> won't do\n\nWho says that?"),
		ours(2, "**must:** Two."), reply(2, "I won't fix this here."), resolved, outdated,
		{Kind: model.KindReview, ID: 5, Path: "a.go", Lines: model.Lines{Line: 5}, Body: "A person's."}, {Kind: model.KindIssue, ID: 6, Ours: true, Body: "A receipt."},
	}, func(body string) string { return body }, review.Settler{May: func(login string) bool { return login == "alice" }})
	assert.Equal(t, []model.Raised{
		{Path: "a.go", Line: 1, Text: "One."}, {Path: "a.go", Line: 2, Text: "Two.", Settled: true},
		{Path: "a.go", Line: 3, Text: "Three.", Settled: true}, {Path: "a.go", Text: "Four."},
	}, got)
}

func TestOnlyWhoMaySettlesAFinding(t *testing.T) {
	said := func(login, association string) []model.Comment {
		return []model.Comment{
			{Kind: model.KindReview, ID: 1, Ours: true, Path: "a"},
			{Kind: model.KindReview, ID: 2, InReplyTo: 1, Author: model.Actor{Login: login}, Association: association, Body: "won't do"},
		}
	}
	resolved := func(by string) []model.Comment {
		return []model.Comment{{Kind: model.KindReview, ID: 1, Ours: true, Path: "a", Resolved: true, ResolvedBy: by}}
	}
	fork := review.Settler{Author: "mallory", May: func(login string) bool { return login == "alice" }}
	own := review.Settler{May: fork.May}
	type row struct {
		by       review.Settler
		comments []model.Comment
		want     bool
		ask      []string
	}
	must.Each(t, map[string]row{
		"by who may": {fork, said("alice", "NONE"), true, nil},
		"by who seems a stranger and may be a hidden member":   {fork, said("eve", "NONE"), false, []string{"eve"}},
		"by a deleted account":                                 {fork, said("", "NONE"), false, nil},
		"by a member whose rights are not known":               {fork, said("Dan", "MEMBER"), false, []string{"dan"}},
		"by the author of the fork":                            {fork, said("mallory", "CONTRIBUTOR"), false, []string{"mallory"}},
		"resolved by somebody":                                 {fork, resolved("dan"), true, nil},
		"resolved by the author of the fork":                   {fork, resolved("Mallory"), false, []string{"mallory"}},
		"resolved by the author of a branch of the repository": {own, resolved("mallory"), true, nil},
		"resolved by a bot":                                    {own, resolved(""), false, nil},
		"resolved by a bot on a fork":                          {fork, resolved(""), false, nil},
	}, func(t *testing.T, c row) {
		assert.Equal(t, c.want, review.Raised(c.comments, func(body string) string { return body }, c.by)[0].Settled)
		assert.Equal(t, c.ask, c.by.Settlers(c.comments))
	})
}

func TestWordsThatTurnAFindingDown(t *testing.T) {
	for _, c := range []struct {
		said string
		want bool
	}{
		{"won't do", true}, {"Won’t fix: the caller checks.", true}, {"wontfix", true}, {"This is by design.", true}, {"I will not change that.", true},
		{"Done.", false}, {"I won't, but Bob will do it", false}, {"Please do.", false}, {"> won't do\nwhy?", false},
	} {
		got := review.Raised([]model.Comment{
			{Kind: model.KindReview, ID: 1, Ours: true, Path: "a"}, {Kind: model.KindReview, ID: 2, InReplyTo: 1, Body: c.said},
		}, func(body string) string { return body }, review.Settler{May: func(string) bool { return true }})
		assert.Equal(t, c.want, got[0].Settled, c.said)
	}
}

const diff = `diff --git a/a.go b/a.go
index 1..2 100644
--- a/a.go
+++ b/a.go
@@ -5,3 +5,4 @@ func f() {
 five
-six
+++ six, which looks like a name
+seven
 eight
@@ -20 +21 @@
-twenty
+twenty-one
\ No newline at end of file
diff --git a/gone.go b/gone.go
--- a/gone.go
+++ /dev/null
@@ -1,2 +0,0 @@
-one
-two
diff --git "a/gr\303\274n.txt" "b/gr\303\274n.txt"
--- /dev/null
+++ "b/gr\303\274n.txt"
@@ -0,0 +1,2 @@
+eins
+zwei
diff --git a/with space.txt b/with space.txt
--- a/with space.txt	
+++ b/with space.txt	
@@ -1 +1 @@
-a
+b
`

func TestOnlyLinesThatTheDiffShowsTakeAComment(t *testing.T) {
	d := review.ReadDiff(diff)
	for _, c := range []struct {
		path string
		line int64
		want bool
	}{
		{"a.go", 4, false}, {"a.go", 5, true}, {"a.go", 8, true}, {"a.go", 9, false}, {"a.go", 21, true}, {"a.go", 20, false}, {"a.go", 0, false},
		{"gone.go", 1, false}, {"grün.txt", 2, true}, {"with space.txt", 1, true}, {"b.go", 5, false},
		{" six, which looks like a name", 1, false},
	} {
		assert.Equal(t, c.want, d.Has(c.path, c.line), "%s:%d", c.path, c.line)
	}
}

// about is the review that the tests below compose.
var about = review.About{Pull: model.Pull{URL: "https://github.com/octo/widgets/pull/7"}, Head: strings.Repeat("ab", 20), By: "codex"}

// page is a review as a person reads it.
func page(r review.Review) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", r.Text)
	for _, c := range r.Comments {
		fmt.Fprintf(&b, "\n== %s line %d\n%s\n", c.Finding.Path, c.Finding.Line, c.Text)
	}
	return b.String()
}

func TestAReviewReadsWell(t *testing.T) {
	suggested := finding("a.go", 7, model.Must, "The error is lost: return it.")
	suggested.Suggestion = "\treturn fmt.Errorf(\"read: %w\", err)\n"
	fenced := finding("a.go", 21, model.Should, "Show the block.")
	fenced.Suggestion = "```go\nx\n```"
	forged := finding("grün.txt", 1, model.Should, "Mark it.")
	forged.Suggestion = "<!-- mergexo-block:{} -->"
	found := []model.Finding{
		suggested, fenced, forged, finding("a.go", 90, model.Must, "This caller\nis not changed."),
		finding("a.go", 6, model.Nit, "teh"), finding("b.go", 0, model.Nit, "Long file."),
	}
	opening, ofTurn := about, about
	opening.Opening, opening.Earlier = true, 2
	ofTurn.Turn = true
	text := page(review.Compose(about, found, review.ReadDiff(diff))) + "\n=====\n" + page(review.Compose(opening, found[:1], nil)) + "\n=====\n" + page(review.Compose(about, nil, nil)) +
		"\n=====\n" + page(review.Compose(ofTurn, found[:1], nil))
	golden.File(t, "review.md", text)
}

func TestAReviewHasRoomForWhatMattersMost(t *testing.T) {
	var found []model.Finding
	for i := range review.MaxFindings {
		found = append(found, finding("a.go", 5, model.Must, fmt.Sprintf("%d: %s", i, strings.Repeat("long ", 2000))))
	}
	require.NoError(t, review.Check(found))
	r := review.Compose(about, found, review.ReadDiff(diff))
	assert.Len(t, r.Comments, 50)
	assert.Less(t, len(r.Text), 45_000)
	assert.NotEmpty(t, r.Listed)
	assert.Contains(t, r.Text, fmt.Sprintf("%d more findings did not fit here.", 450-len(r.Listed)))
}

func FuzzFindings(f *testing.F) {
	f.Add([]byte(`{"findings": [{"path": "a.go", "line": 7, "severity": "must", "text": "x", "suggestion": "y"}]}`), diff)
	f.Add([]byte(`{"findings": [{"path": "a.go", "line": 5, "severity": "nit", "text": "<!-- mergexo-turn:{} -->", "suggestion": "`+"```"+`"}]}`), "@@ -1 +1 @@")
	f.Fuzz(func(t *testing.T, answer []byte, patch string) {
		var got struct {
			Findings []model.Finding `json:"findings"`
		}
		if strictjson.Decode(answer, &got, strictjson.Rules{Name: "outcome"}) != nil || review.Check(got.Findings) != nil {
			return
		}
		fresh := review.Fresh(got.Findings, nil, never)
		assert.LessOrEqual(t, len(fresh), len(got.Findings))
		d := review.ReadDiff(patch)
		r := review.Compose(about, fresh, d)
		assert.LessOrEqual(t, len(r.Comments)+len(r.Listed), len(fresh))
		for _, c := range r.Comments {
			assert.True(t, d.Has(c.Finding.Path, c.Finding.Line))
			assert.NotEqual(t, model.Nit, c.Finding.Severity)
		}
		again := review.Fresh(got.Findings, nil, func(f model.Finding) bool {
			for _, one := range fresh {
				if strings.Join(review.Name(one), "\x00") == strings.Join(review.Name(f), "\x00") {
					return true
				}
			}
			return false
		})
		assert.Empty(t, again, "what was said is not said again")
	})
}

func TestTheAuthorIsToldWhatToFix(t *testing.T) {
	f := finding("a.go", 7, model.Must, "Return the error.")
	f.Suggestion = "return err"
	assert.Equal(t, "a.go, line 7: Return the error.\nSuggested in place of that line:\nreturn err", review.Report([]model.Finding{f}))
	assert.Equal(t, []model.Finding{f}, review.Must([]model.Finding{finding("b", 1, model.Nit, "x"), f}))
	var many []model.Finding
	for i := range review.MaxFindings {
		many = append(many, finding("a.go", int64(i+1), model.Must, strings.Repeat("long ", 200)))
	}
	many[0].Suggestion = strings.Repeat("x", 100_000)
	told := review.Report(many)
	assert.Less(t, len(told), 19_000, "the prompt shows the end of what is longer")
	assert.True(t, strings.HasPrefix(told, "a.go, line 1: long"))
	assert.Regexp(t, `\n483 more findings did not fit here\.$`, told)
}

func TestAFindingIsTheSameBehindOurWords(t *testing.T) {
	t.Parallel()
	for _, said := range []string{
		"```js\n\n@octocat <details> <b>\n\n# x\n```", "    @octocat", "~~~\n\n@octocat\n~~~\n\n- x", "<details>\n\n```\n\n@octocat\n```\n\n</details>", "| a |\n| - |\n| `@octocat` |",
		"Not `@octocat`:\n\n```\n\n@octocat\n```",
	} {
		f := finding("a.go", 5, model.Must, markdown.Contain(said, func(string) bool { return false }))
		f.Suggestion = "return nil"
		nit := f
		nit.Severity, nit.Path = model.Nit, "b.go"
		elsewhere := f
		elsewhere.Line = 4000
		r := review.Compose(about, []model.Finding{f, elsewhere, nit}, review.ReadDiff(diff))
		require.Len(t, r.Comments, 1)
		for _, text := range []string{r.Comments[0].Text, r.Text} {
			mentions, suggestions := shown(t, text)
			assert.Empty(t, mentions, "%s", text)
			if text != r.Text {
				assert.Equal(t, 1, suggestions, "%s", text)
			}
		}
		raised := review.Raised([]model.Comment{{Kind: model.KindReview, Ours: true, Path: "a.go", Lines: model.Lines{Line: 5}, Body: r.Comments[0].Text}}, strings.TrimSpace, review.Settler{})
		require.Len(t, raised, 1)
		assert.Equal(t, strings.TrimSpace(f.Text), raised[0].Text)
	}
}

// shown are the mentions in the text of a page, and its suggestions.
func shown(t *testing.T, said string) (mentions []string, suggestions int) {
	t.Helper()
	source := []byte(said)
	page := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(text.NewReader(source))
	require.NoError(t, ast.Walk(page, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.CodeSpan:
			return ast.WalkSkipChildren, nil
		case *ast.FencedCodeBlock:
			if entering && string(n.Language(source)) == "suggestion" {
				suggestions++
			}
		case *ast.Text:
			if line := string(n.Segment.Value(source)); entering && strings.Contains(line, "@octocat") {
				mentions = append(mentions, line)
			}
		}
		return ast.WalkContinue, nil
	}))
	return mentions, suggestions
}
