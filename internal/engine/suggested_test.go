package engine_test

import (
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
	type row struct {
		attributes, text string // of the file, and what is stored
		lines            string // for its second line
		want, reply      string
	}
	each(t, map[string]row{
		"UTF-16":                   {"text working-tree-encoding=UTF-16LE-BOM eol=crlf", "one\ntwo\n", "zwölf €", "one\nzwölf €\n", "Applied"},
		"what the encoding lacks":  {"text working-tree-encoding=ISO-8859-1", "für\ntwo\n", "€", "für\ntwo\n", "Not applied: git cannot convert it as .gitattributes asks for."},
		"an ident":                 {"ident", "$Id$\ntwo\n$Id$\n", "zwei", "$Id$\nzwei\n$Id$\n", "Applied"},
		"an ident that stays":      {"ident", "one\n$Id$\n", "$Id$", "one\n$Id$\n", "Nothing to change"},
		"a filter that nobody has": {"filter=secret", "one\ntwo\n", "zwei", "one\nzwei\n", "Applied"},
	}, func(t *testing.T, _ string, test row) {
		w := suggested(t, "file.rc", test.text)
		w.write("octo", w.head, ".gitattributes", "*.rc "+test.attributes+"\n")
		before := w.tip()
		assert.Contains(t, w.suggest("file.rc", test.lines, object{"line": 2}), test.reply)
		assert.Equal(t, test.want, w.file("file.rc"))
		assert.Equal(t, test.want != test.text, w.tip() != before)
	})
}

func TestASuggestionForLinesOfTheOldVersionIsRefused(t *testing.T) {
	old := "old1\nold2\nold3\nold4\nold5\nold6\nold7\nold8\n"
	text := "new1\nnew2\nnew3\nold1\nold2\nold3\nold4\nnew5\nold6\nold7\nold8\n"
	w := newWorld(t)
	w.write("octo", "main", ".github/mergexo.toml", "[agent]\nadapter = \"suggestion\"\nisolation = \"none\"\n")
	w.write("octo", "main", "a.txt", old)
	w.head = "agent/a"
	w.branch(w.head)
	w.write("octo", w.head, "a.txt", text)
	w.number = int(w.api("octo", "POST", w.path("/pulls"), object{"title": "Change it", "head": w.head, "base": "main"})["number"].(float64))
	reply := w.suggest("a.txt", "FIVE", object{"start_line": 5, "start_side": "LEFT", "line": 8})
	assert.Equal(t, "Not applied: it is about line 5 of the old version to line 8 of the new version, and a suggestion replaces lines of the new version only.", reply)
	assert.Equal(t, text, w.file("a.txt"))
	assert.Contains(t, w.receipt(), "[`a.txt` line 5 of the old version to line 8](")
	w.suggest("a.txt", "FIVE", object{"start_line": 7, "line": 8})
	assert.Equal(t, strings.Replace(text, "old4\nnew5\n", "FIVE\n", 1), w.file("a.txt"))
	assert.Contains(t, w.marked("turn", "done")[1]["body"], "[`a.txt` lines 7 to 8](")
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
