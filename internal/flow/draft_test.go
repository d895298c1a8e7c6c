package flow_test

import (
	"html"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/flow"
	"github.com/mergexo/mergexo/internal/golden"
	"github.com/mergexo/mergexo/internal/model"
)

var asked = model.Issue{Number: 3, Title: "Say hello", URL: "https://github.com/octo/widgets/issues/3"}

func TestDraftsAsPeopleReadThem(t *testing.T) {
	d := flow.Draft(model.FlowDesign, asked, model.Outcome{
		Title: "Greet\npeople \u202epolitely", PRTitle: "not this", Summary: "How to greet.\n\n- by *name*\n", PRSummary: "nor this",
		TouchPaths: []string{"src/**", "docs/`x`.md"},
	}, "main", "agent/design/3-say-hello", flow.Extra{})
	assert.Equal(t, "Greet people politely", d.Title)
	assert.Equal(t, "main", d.Base)
	assert.Equal(t, "agent/design/3-say-hello", d.Head)
	golden.Text(t, "draft_design.md", d.Body)

	o := model.Outcome{PRTitle: "Greet people", PRSummary: "It greets, as @alice asked for.\n\nFixes #99, closes: octo/tools#5.\n\n```go\nx := `<!-- y -->`", Title: "not this", Summary: "nor this", TouchPaths: []string{"x"}}
	golden.Text(t, "draft_bugfix.md", flow.Draft(model.FlowBugfix, asked, o, "main", "x", flow.Extra{}).Body)
	golden.Text(t, "draft_implementation.md", flow.Draft(model.FlowImplementation, asked, o, "main", "x", flow.Extra{
		Design: 12, Outside: []string{"go.mod", "we`ird\n.txt"}, Notes: []string{"the tests took three rounds", "@everyone: `fixes #1`"},
	}).Body)
	golden.Text(t, "draft_empty.md", flow.Draft(model.FlowSmallJob, asked, model.Outcome{}, "main", "x", flow.Extra{}).Body)
}

func TestATitleIsOneLineThatShows(t *testing.T) {
	title := func(issue, agent string) string {
		i := asked
		i.Title = issue
		return flow.Draft(model.FlowBugfix, i, model.Outcome{PRTitle: agent}, "main", "x", flow.Extra{}).Title
	}
	assert.Equal(t, "Say hello", title("Say \u2067hello\x1b\r\n", " \u200b\u202e\n"))
	assert.Equal(t, "Issue 3", title("\u200b", ""))
	assert.Equal(t, "Greet (skip ci)", title("", "Greet [skip ci]"), "a squash begins with it")
	assert.Equal(t, "a b c d", title("", "\ta\u2028b\u0085c  d"))
	assert.Equal(t, "👩‍👩‍👧 family", title("", "👩‍👩‍👧 family"), "emoji are made of several characters")
	assert.Equal(t, strings.Repeat("日", 250), title("", strings.Repeat("日", 250)))
	assert.Equal(t, strings.Repeat("日", 249)+"…", title("", strings.Repeat("日", 500)))
	assert.Empty(t, links(title("", "Fix #99 for @alice")), "a squash merge makes it a commit's message")
}

// closing and naming are what GitHub acts on in text as it is shown: closing keywords, and mentions.
var (
	closing = regexp.MustCompile(`(?i)\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):?[\s\x{a0}]+[*_~([<]*(?:(?:[\w.-]+/[\w.-]+)?#\d+|GH-\d+|https?://\S+/(?:issues|pull)/\d+)`)
	naming  = regexp.MustCompile(`(?:^|[^A-Za-z0-9])@[A-Za-z0-9]`)
)

func links(text string) []string {
	return append(closing.FindAllString(text, -1), naming.FindAllString(text, -1)...)
}

func TestNobodyIsNotifiedAndNothingIsClosedByWordsOfOthers(t *testing.T) {
	for _, said := range []string{
		"fixes #99", "Closes: owner/repo#3", "resolved https://github.com/o/r/issues/9", "FIX GH-12", "close #1 and fixed #2, resolves:\t#3\nresolve\n#4",
		"**fixes** #9", "fixes **#9**", "_closes #9_", "fixes [#9](x)", "fixes <https://github.com/o/r/pull/9>", "fixes <b title='x'>#9</b>", `fixes \#9`,
		"fixes &#35;9", "fixes&nbsp;#9", "fixes&colon; #9", "fixes &num;9", "f&#105;xes #9", "fixes #&#57;", "closes repo#5", "`fixes #9`", "fixes octo.org/a-b_c#3",
		"@alice", "ping @octo/team.", "(@alice)", "_@alice_", "é@alice", "&#64;alice", "&commat;alice", "&#x40;alice", "@&#97;lice", "&&#35;64;alice", `\@alice`, "`@alice`", "@alice@bob @carol",
	} {
		shown := html.UnescapeString(strings.NewReplacer(`\#`, "#", `\@`, "@").Replace(flow.InertMarkdown(said)))
		assert.Empty(t, links(shown), "%q -> %q", said, shown)
		assert.NotEqual(t, said, flow.InertMarkdown(said))
	}
	for _, said := range []string{
		"alice@example.com", "actions/checkout@v4", "see #12", "it is fixed", "prefixes #9", "closes the door", "fix\n\n## 2 things", "fixes # 9",
		"a < b && c > d", "Vec<String>", "<details><summary>x</summary>\n\ny\n\n</details>", "&lt;pre&gt; &amp;#64; &eacute; &nosuch; &#0;", "https://github.com/o/r/issues/9", "https://u@host",
	} {
		assert.Equal(t, said, flow.InertMarkdown(said), "nothing is wrong with it")
	}
	assert.Equal(t, "a b", strings.ReplaceAll(flow.InertMarkdown("a\u202e\x00 \u2066b"), "\u200b", ""))
	readsTheSame := "fixes #9, @alice <!-- x --> <pre>"
	assert.Equal(t, readsTheSame, strings.ReplaceAll(flow.InertMarkdown(readsTheSame), "\u200b", ""))
}

func TestNothingSwallowsOurWords(t *testing.T) {
	for _, text := range []string{"```\nx", "~~~~\nx", "<!-- x", "<pre>", "<SCRIPT>\nx", "<?php", "<![CDATA[ x", "<!DOCTYPE x", "text <a href='x'>", "<code>", "x\n<textarea>", "</style>"} {
		body := flow.Draft(model.FlowBugfix, asked, model.Outcome{PRSummary: text}, "main", "x", flow.Extra{}).Body
		above, _, found := strings.Cut(body, "\n\nFixes #3\n\n<sub>")
		assert.True(t, found, "%q", body)
		assert.NotRegexp(t, `(?i)<(?:[!?]|/?(?:pre|script|a|code|textarea|style)\b)`, above)
		if strings.HasSuffix(text, "\nx") && !strings.HasPrefix(text, "<") {
			assert.Equal(t, text+"\n"+strings.TrimSuffix(text, "\nx"), above, "the fence is closed")
		}
	}
}

func TestADescriptionFits(t *testing.T) {
	many := strings.Fields(strings.Repeat(strings.Repeat("p", 500)+" ", 200))
	for _, text := range []string{
		strings.Repeat("日本 ", 50_000), "```\n" + strings.Repeat("x\n", 50_000), strings.Repeat("@a ", 30_000), strings.Repeat("`", 4000) + "\n" + strings.Repeat("x\n", 50_000),
		strings.Repeat("\n", 100_000) + "x", strings.Repeat("~", 8000) + strings.Repeat("\nx", 40_000),
	} {
		for _, o := range []model.Outcome{{Summary: text}, {Summary: text, TouchPaths: many}} {
			notes := strings.Fields(strings.Repeat(strings.Repeat("ä", 4000)+" ", 50))
			body := flow.Draft(model.FlowDesign, asked, o, "main", "x", flow.Extra{Notes: notes, Outside: many}).Body
			assert.LessOrEqual(t, len(body), 65_536)
			assert.True(t, utf8.ValidString(body))
			assert.Contains(t, body, "\nRefs #3\n\n<sub>")
			assert.Contains(t, body, "*(cut here: a description on GitHub holds 65,536 characters)*")
			if o.TouchPaths != nil {
				assert.Contains(t, body, "\n- and 170 more\n")
			}
		}
	}
	whole := flow.Draft(model.FlowBugfix, asked, model.Outcome{PRSummary: strings.Repeat("x", 65_000)}, "main", "x", flow.Extra{}).Body
	assert.NotContains(t, whole, "cut here")
}

func FuzzInert(f *testing.F) {
	for _, s := range []string{"fixes #9", "closes &#35;9", "@a@b", "fix <b>#1", "fixes: GH-1 https://x/y/issues/3", "&#64;&#35;&&#35;64;x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		shown := flow.InertMarkdown(s)
		assert.Empty(t, links(shown), "%q", shown)
		assert.Empty(t, links(flow.Inert(s)), "%q", s)
	})
}
