package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/model"
)

// suggested is a world without a model whose pull request adds a file.
func suggested(t *testing.T, path, text string) *world {
	t.Helper()
	w := newWorld(t)
	w.write("octo", "main", ".github/mergexo.toml", "[agent]\nadapter = \"suggestion\"\nisolation = \"none\"\n")
	w.write("octo", w.head, path, text)
	return w
}

// suggest has alice suggest lines for a place in the diff, and gives our reply.
func (w *world) suggest(path, lines string, place object) string {
	w.t.Helper()
	w.later(time.Minute)
	body := object{"body": "```suggestion\n" + lines + "\n```", "commit_id": w.tip(), "path": path, "side": "RIGHT"}
	for k, v := range place {
		body[k] = v
	}
	w.api("alice", "POST", w.pull("/comments"), body)
	assert.Equal(w.t, model.ResultDone, w.handle(w.delivery("pull_request_review_comment")).Result)
	all := w.replies()
	said, _, _ := strings.Cut(all[len(all)-1]["body"].(string), "\n")
	return said
}

// Reviewers see what git stores, and a suggestion is about that.
func TestASuggestionChangesWhatGitStores(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		attributes, text string // of the file, and what is stored
		lines            string // for its second line
		want, reply      string
	}{
		"UTF-16":                    {"text working-tree-encoding=UTF-16LE-BOM eol=crlf", "one\ntwo\n", "zwölf €", "one\nzwölf €\n", "Applied"},
		"ISO-8859-1":                {"text working-tree-encoding=ISO-8859-1", "für\ntwo\n", "zwölf", "für\nzwölf\n", "Applied"},
		"what the encoding lacks":   {"text working-tree-encoding=ISO-8859-1", "für\ntwo\n", "€", "für\ntwo\n", "Not applied: git cannot convert it as .gitattributes asks for."},
		"an ident":                  {"ident", "$Id$\ntwo\n$Id$\n", "zwei", "$Id$\nzwei\n$Id$\n", "Applied"},
		"an ident that stays":       {"ident", "one\n$Id$\n", "$Id$", "one\n$Id$\n", "Nothing to change"},
		"a filter that nobody has":  {"filter=secret", "one\ntwo\n", "zwei", "one\nzwei\n", "Applied"},
		"ends of Windows":           {"text eol=crlf", "one\ntwo\n", "zwei", "one\nzwei\n", "Applied"},
		"Latin-1, by ASCII":         {"-text", "f\xfcr\ntwo\n", "twelve", "f\xfcr\ntwelve\n", "Applied"},
		"Latin-1, by more":          {"-text", "f\xfcr\ntwo\n", "zwölf", "f\xfcr\ntwo\n", "Not applied: git stores it in an encoding other than UTF-8, so only ASCII can be put into it."},
		"a byte order mark":         {"text", "\uFEFFone\ntwo\n", "zwölf", "\uFEFFone\nzwölf\n", "Applied"},
		"a byte order mark of both": {"text working-tree-encoding=UTF-16", "one\ntwo\n", "zwölf", "one\nzwölf\n", "Applied"},
	} {
		t.Run(name, func(t *testing.T) {
			w := suggested(t, "file.rc", test.text)
			w.write("octo", w.head, ".gitattributes", "*.rc "+test.attributes+"\n")
			before := w.tip()
			assert.Contains(t, w.suggest("file.rc", test.lines, object{"line": 2}), test.reply)
			assert.Equal(t, test.want, w.file("file.rc"))
			assert.Equal(t, test.want != test.text, w.tip() != before)
		})
	}
}

func TestASuggestionForLinesOfTheOldVersionIsRefused(t *testing.T) {
	t.Parallel()
	old := "old1\nold2\nold3\nold4\nold5\nold6\nold7\nold8\n"
	text := "new1\nnew2\nnew3\nold1\nold2\nold3\nold4\nnew5\nold6\nold7\nold8\n"
	for want, place := range map[string]object{
		"line 5 of the old version to line 8 of the new version": {"start_line": 5, "start_side": "LEFT", "line": 8},
		"line 5 of the old version":                              {"side": "LEFT", "line": 5},
		"lines 4 to 5 of the old version":                        {"start_line": 4, "start_side": "LEFT", "side": "LEFT", "line": 5},
		"":                                                       {"start_line": 7, "line": 8},
	} {
		t.Run(want, func(t *testing.T) {
			w := newWorld(t)
			w.write("octo", "main", ".github/mergexo.toml", "[agent]\nadapter = \"suggestion\"\nisolation = \"none\"\n")
			w.write("octo", "main", "a.txt", old)
			w.head = "agent/a"
			w.api("octo", "POST", w.path("/git/refs"), object{"ref": "refs/heads/" + w.head, "sha": w.at("main")})
			w.write("octo", w.head, "a.txt", text)
			w.number = int(w.api("octo", "POST", w.path("/pulls"), object{"title": "Change it", "head": w.head, "base": "main"})["number"].(float64))
			reply := w.suggest("a.txt", "FIVE", place)
			if want == "" {
				assert.Equal(t, strings.Replace(text, "old4\nnew5\n", "FIVE\n", 1), w.file("a.txt"))
				assert.Contains(t, w.marked("turn", "done")[0]["body"], "[`a.txt` lines 7 to 8](")
				return
			}
			assert.Equal(t, fmt.Sprintf("Not applied: it is about %s, and a suggestion replaces lines of the new version only.", want), reply)
			assert.Equal(t, text, w.file("a.txt"))
			assert.Contains(t, w.marked("turn", "done")[0]["body"], "[`a.txt` "+strings.TrimSuffix(want, " of the new version")+"](")
		})
	}
}

func TestASuggestionThatNobodySeesIsNotApplied(t *testing.T) {
	w := suggested(t, "a.txt", "1\n2\n")
	assert.Contains(t, w.suggest("a.txt", "2\n```\n<!--\n```suggestion\nHIDDEN\n```\n-->\n```text", object{"line": 2}), "Nothing to change")
	w.later(time.Minute)
	w.api("alice", "POST", w.pull("/comments"), object{"body": "<!--\n```suggestion\nHIDDEN\n```\n-->\nRename it.", "commit_id": w.tip(), "path": "a.txt", "line": 2})
	w.handle(w.delivery("pull_request_review_comment"))
	assert.Equal(t, "1\n2\n", w.file("a.txt"))
}

func TestADiffOfAnIssueChangesWhatGitStores(t *testing.T) {
	w := newIssue(t)
	w.write("octo", "main", ".github/mergexo.toml", "[agent]\nadapter = \"suggestion\"\nisolation = \"none\"\n")
	w.write("octo", "main", ".gitattributes", "*.rc text working-tree-encoding=UTF-16LE-BOM eol=crlf\n*.txt working-tree-encoding=ISO-8859-1\n")
	w.write("octo", "main", "old.rc", "one\ntwo\n")
	diff := func(lines ...string) string { return "```diff\n" + strings.Join(lines, "\n") + "\n```\n" }
	change := diff("--- a/old.rc", "+++ b/old.rc", "@@ -1,2 +1,2 @@", " one", "-two", "+zwölf") + diff("--- /dev/null", `+++ "b/\303\244.rc"`, "@@ -0,0 +1 @@", "+neu €")
	w.open("alice", "Change it", change+diff("--- /dev/null", "+++ b/new.txt", "@@ -0,0 +1 @@", "+neu €"))
	w.handle(w.label("alice", smallJob))
	assert.Contains(t, w.talkOn(w.number), "diff block 3 of the issue cannot be applied to new.txt: git cannot convert it as .gitattributes asks for")
	w.open("alice", "Change it", change)
	w.handle(w.label("alice", smallJob))
	pulls := w.pulls()
	if assert.Len(t, pulls, 1) {
		branch := pulls[0].at("head", "ref").(string)
		assert.Equal(t, "one\nzwölf\n", w.fileOf(branch, "old.rc"))
		assert.Equal(t, "neu €\n", w.fileOf(branch, "%C3%A4.rc"))
	}
}
