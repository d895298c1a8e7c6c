package agent_test

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/agent"
	"github.com/mergexo/mergexo/internal/golden"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
)

// checkoutOf is a checkout of these files.
func checkoutOf(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	return dir
}

// grown is what a checkout holds.
func grown(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		files[strings.TrimPrefix(path, dir+"/")] = string(text)
		return err
	}))
	return files
}

// issue is a request to do what an issue says.
func issue(kind, body string) model.Request {
	return model.Request{Kind: kind, Flow: model.Flow(kind), Issue: &model.RequestIssue{Number: 3, Title: " Greet  people ", Body: body}}
}

func built(t *testing.T, dir string, req model.Request) model.Outcome {
	t.Helper()
	return must.Get(ask(t, agent.Options{Adapter: "suggestion", Files: asStored{}}, dir, req))(t)
}

func diffBlock(lines ...string) string { return "```diff\n" + strings.Join(lines, "\n") + "\n```\n" }

var louder = []string{"--- a/greet.txt", "+++ b/greet.txt", "@@ -1,3 +1,3 @@", " dear all", "-hello", "+HELLO", " ", ""}

const letter = "dear all\nhello\n\nbye\n"

func TestDiffBlocksOfAnIssueAreApplied(t *testing.T) {
	for name, c := range map[string]struct {
		body string
		want map[string]string // "": the file as it was; "-": it is gone
		said string
	}{
		"a change": {"Please:\r\n\r\n" + strings.ReplaceAll(diffBlock(louder[:7]...), "\n", "\r\n"),
			map[string]string{"greet.txt": "dear all\nHELLO\n\nbye\n"}, "- `greet.txt`"},
		"of git's": {diffBlock("diff --git a/greet.txt b/greet.txt", "index 1..2 100644", "--- a/greet.txt", "+++ b/greet.txt", "@@ -2,3 +2,4 @@ x", " hello", " ", " bye", "+you"),
			map[string]string{"greet.txt": letter + "you\n"}, "- `greet.txt`"},
		"without prefixes": {"```patch\n--- greet.txt\n+++ greet.txt\n@@ -3,2 +3,1 @@\n \n-bye\n```", map[string]string{"greet.txt": "dear all\nhello\n\n"}, "- `greet.txt`"},
		"a new file": {diffBlock("--- /dev/null", "+++ b/docs/new/a.md", "@@ -0,0 +1,2 @@", "+# A", "+b", "\\ No newline at end of file"),
			map[string]string{"docs/new/a.md": "# A\nb"}, "- `docs/new/a.md`, new"},
		"of format-patch": {diffBlock(append([]string{"From 1 Mon Sep 17 00:00:00 2001", "Subject: x", "---", " greet.txt | 2 +-", ""}, append(louder[:7:7], "-- ", "2.47.0", "")...)...),
			map[string]string{"greet.txt": "dear all\nHELLO\n\nbye\n"}, "- `greet.txt`"},
		"a script": {diffBlock("diff --git a/run b/run", "new file mode 100755", "--- /dev/null", "+++ b/run", "@@ -0,0 +1 @@", "+#!/bin/sh"),
			map[string]string{"run": "#!/bin/sh\n"}, "- `run`, new"},
		"a file that goes": {diffBlock("--- a/old/x.txt", "+++ /dev/null", "@@ -1 +0,0 @@", "-x"), map[string]string{"old/x.txt": "-"}, "- `old/x.txt`, removed"},
		"another name": {diffBlock("diff --git a/old/x.txt b/y.txt", "similarity index 100%", "rename from old/x.txt", "rename to y.txt"),
			map[string]string{"old/x.txt": "-", "y.txt": "x\n"}, "- `old/x.txt`, removed\n- `y.txt`, new"},
		"two in one, and one after the other": {diffBlock(append(louder[:7:7], "--- a/old/x.txt", "+++ b/old/x.txt", "@@ -1 +1 @@", "-x", "+y")...) + "\nthen\n\n" +
			diffBlock("--- a/old/x.txt", "+++ b/old/x.txt", "@@ -1 +1,2 @@", " y", "+z"),
			map[string]string{"greet.txt": "dear all\nHELLO\n\nbye\n", "old/x.txt": "y\nz\n"}, "- `greet.txt`\n- `old/x.txt`"},
		"a name that git quotes": {diffBlock("--- /dev/null", `+++ "b/\303\244\t\"b\".txt"`, "@@ -0,0 +1 @@", "+a") + "\n" + diffBlock(`--- "a/\303\244\t\"b\".txt"`, `+++ "b/\303\244\t\"b\".txt"`, "@@ -1 +1 @@", "-a", "+b"),
			map[string]string{"ä\t\"b\".txt": "b\n"}, "- `ä\\t\\\"b\\\".txt`, new"},
		"a name that git quotes, of git's": {diffBlock(`diff --git "a/\303\244.txt" "b/\303\244.txt"`, "new file mode 100644", "--- /dev/null", `+++ "b/\303\244.txt"`, "@@ -0,0 +1 @@", "+a"),
			map[string]string{"ä.txt": "a\n"}, "- `ä.txt`, new"},
		"one of two names that git quotes": {diffBlock("diff --git a/old/x.txt \"b/\\303\\244.txt\"", "similarity index 100%", "rename from old/x.txt", `rename to "\303\244.txt"`),
			map[string]string{"old/x.txt": "-", "ä.txt": "x\n"}, "- `old/x.txt`, removed\n- `ä.txt`, new"},
		"a line that looks like a header": {diffBlock("--- a/old/x.txt", "+++ b/old/x.txt", "@@ -1 +1,2 @@", "--x", "+++ y", "+-- "), nil, ""},
	} {
		dir := checkoutOf(t, map[string]string{"greet.txt": letter, "old/x.txt": "x\n"})
		want := grown(t, dir)
		for file, text := range c.want {
			if want[file] = text; text == "-" {
				delete(want, file)
			}
		}
		out := built(t, dir, issue(model.AskSmallJob, c.body))
		assert.Equal(t, want, grown(t, dir), name)
		if c.want == nil {
			assert.NotEmpty(t, out.BlockedReason, name)
			continue
		}
		assert.Equal(t, model.Outcome{PRTitle: "Greet people", CommitMessage: "Greet people", PRSummary: "Applied the diff blocks:\n\n" + c.said}, out, name)
		if info, err := os.Stat(filepath.Join(dir, "run")); err == nil {
			assert.Equal(t, fs.FileMode(0o755), info.Mode())
		}
	}
}

func TestARoadmapIsTheListInAnIssue(t *testing.T) {
	dir := checkoutOf(t, map[string]string{"greet.txt": letter})
	out := built(t, dir, issue(model.AskRoadmap, "# Greetings\r\n\r\nPeople feel welcome.\r\n\r\n- [ ] Say *hello* to everybody in her house!  \r\n* [x] \u00dc\u00dc\r\n  - a part of it\r\n1. not this\n<!--\n- hidden\n-->\n"))
	item := func(key, title string, needs ...string) model.RoadmapItem {
		return model.RoadmapItem{Key: key, Title: title, Flow: model.AskSmallJob, Needs: append([]string{}, needs...), Acceptance: "It is done as the roadmap's issue says."}
	}
	assert.Equal(t, model.Outcome{
		Title: "Greet people", Goal: "People feel welcome.", Summary: "The 2 entries of the list, one after the other.",
		RoadmapItems: []model.RoadmapItem{item("1-say-hello-to-everybody-in-her", "Say *hello* to everybody in her house!"), item("2", "\u00dc\u00dc", "1-say-hello-to-everybody-in-her")},
	}, out)

	more := issue(model.AskRoadmap, "- one")
	more.Feedback = []model.Feedback{{ID: 1, Body: "- two\n"}, {ID: 2, Body: "Thanks."}}
	out = built(t, dir, more)
	assert.Equal(t, []model.RoadmapItem{item("1-one", "one"), item("2-two", "two", "1-one")}, out.RoadmapItems, "what was said later comes later")
	assert.Equal(t, "Thanks.", out.Goal, "a list is no goal")
	assert.Equal(t, model.Outcome{BlockedReason: "this agent turns the list in an issue into a roadmap; this issue has no list"}, built(t, dir, issue(model.AskRoadmap, "Do it all.\n\n1. one")))
	assert.Equal(t, map[string]string{"greet.txt": letter}, grown(t, dir), "it changes nothing")
}

func TestADiffThatCannotBeAppliedChangesNothing(t *testing.T) {
	in := func(path string) string {
		return diffBlock("--- a/"+path, "+++ b/"+path, "@@ -1 +1 @@", "-x", "+y")
	}
	fresh := func(path string) string { return diffBlock("--- /dev/null", "+++ b/"+path, "@@ -0,0 +1 @@", "+y") }
	for body, want := range map[string]string{
		"":                                 "this agent applies the diff blocks of an issue; there are none here",
		"<!--\n" + in("old/x.txt") + "-->": "this agent applies the diff blocks of an issue; there are none here",
		"<!-- a -->" + in("old/x.txt"):     "this agent applies the diff blocks of an issue; there are none here",
		"> " + strings.ReplaceAll(in("old/x.txt"), "\n", "\n> "): "this agent applies the diff blocks of an issue; there are none here",
		diffBlock("hello"):         "diff block 1 of the issue cannot be applied: there is no diff in it",
		"```diff\n--- a/greet.txt": "diff block 1 of the issue cannot be applied: it has no end",
		in("greet.txt"):            "diff block 2 of the issue cannot be applied to greet.txt: hunk 1 does not apply at line 1 of the file",
		in("gone.txt"):             "diff block 2 of the issue cannot be applied to gone.txt: there is no such file",
		fresh("old/x.txt"):         "diff block 2 of the issue cannot be applied to old/x.txt: it exists already",
		in("../x.txt"):             "diff block 2 of the issue cannot be applied to ../x.txt: its path is not one of the repository",
		strings.ReplaceAll(fresh("etc/x"), "b/etc", "/etc"): "diff block 2 of the issue cannot be applied to /etc/x: its path is not one of the repository",
		fresh("new/.GIT/config"):                            "diff block 2 of the issue cannot be applied to new/.GIT/config: its path is not one of the repository",
		fresh(".git/hooks/x"):                               "diff block 2 of the issue cannot be applied to .git/hooks/x: its path is not one of the repository",
		fresh("a/../b"):                                     "diff block 2 of the issue cannot be applied to a/../b: its path is not one of the repository",
		fresh("link/new.txt"):                               "diff block 2 of the issue cannot be applied to link/new.txt: its path goes through a symbolic link",
		in("to.txt"):                                        "diff block 2 of the issue cannot be applied to to.txt: its path goes through a symbolic link",
		fresh("greet.txt/x"):                                "diff block 2 of the issue cannot be applied to greet.txt/x: its path goes through a file",
		fresh("first.txt/x"):                                "diff block 2 of the issue cannot be applied to first.txt/x: its path and that of first.txt exclude each other",
		fresh("old"):                                        "diff block 2 of the issue cannot be applied to old: it is not a file",
		fresh(strings.Repeat("n", 256)):                     "diff block 2 of the issue cannot be applied to " + strings.Repeat("n", 200) + "...: its path is not one of the repository",
		diffBlock("--- a/greet.txt", "+++ /dev/null", "@@ -1 +0,0 @@", "-dear all"):                                    "diff block 2 of the issue cannot be applied to greet.txt: hunk 1 does not apply at line 2 of the file",
		diffBlock("--- a/greet.txt", "+++ b/greet.txt", "@@ -1,2 +1,2 @@", " dear all", "-hello", "+HI", "+and more"):  "diff block 2 of the issue cannot be applied: its line 7 is in no hunk: the header of the hunk above it counts fewer lines",
		diffBlock("--- a/greet.txt", "+++ b/greet.txt", "@@ -1,9 +1,2 @@", " dear all", "-hello"):                      "diff block 2 of the issue cannot be applied: it cannot be read: line 3: fragment header miscounts lines: -7 old, -1 new",
		diffBlock("--- a/greet.txt", "+++ b/greet.txt", "@@ -9223372036854775807 +9223372036854775807 @@", "-x", "+y"): "diff block 2 of the issue cannot be applied to greet.txt: hunk 1 does not apply at line 5 of the file",
		diffBlock("--- a/greet.txt", "+++ b/greet.txt", "@@ -1,2 +1,2 @@", " dear all", "-hello", "+HI"):               "diff block 2 of the issue cannot be applied to greet.txt: hunk 1 does not apply: it ends without context, and not at the end of the file",
		diffBlock("--- a/greet.txt", "+++ b/greet.txt", "@@ -1 +9223372036854775807,2 @@", "-x", "+y", "+z"):           "diff block 2 of the issue cannot be applied to greet.txt: hunk 1 does not apply at line 1 of the file",
		diffBlock("diff --git a/l b/l", "new file mode 120000", "--- /dev/null", "+++ b/l", "@@ -0,0 +1 @@", "+/etc"):  "diff block 2 of the issue cannot be applied to l: it is not to be a regular file",
		diffBlock("diff --git a/l b/l", "new file mode 100644", "Binary files /dev/null and b/l differ"):               "diff block 2 of the issue cannot be applied: it is about a binary file, l",
		diffBlock("diff --git a/old/x.txt b/y", "copy from old/x.txt", "copy to y"):                                    "diff block 2 of the issue cannot be applied to y: copies are not applied",
		diffBlock("diff --git a/old/x.txt b/greet.txt", "rename from old/x.txt", "rename to greet.txt"):                "diff block 2 of the issue cannot be applied to greet.txt: greet.txt exists already",
	} {
		dir := checkoutOf(t, map[string]string{"greet.txt": letter, "old/x.txt": "x\n"})
		outside := filepath.Join(t.TempDir(), "to.txt")
		require.NoError(t, os.WriteFile(outside, []byte("x\n"), 0o644))
		require.NoError(t, os.Symlink(outside, filepath.Join(dir, "to.txt")))
		before := grown(t, dir)
		require.NoError(t, os.Symlink(filepath.Dir(outside), filepath.Join(dir, "link")))
		if strings.Contains(want, "block 2") {
			body = fresh("first.txt") + "\n" + body
		}
		assert.Equal(t, model.Outcome{BlockedReason: want}, built(t, dir, issue(model.AskBugfix, body)))
		require.NoError(t, os.Remove(filepath.Join(dir, "link")))
		assert.Equal(t, before, grown(t, dir), want)
	}
	long := issue(model.AskSmallJob, strings.Repeat("x", 200<<10))
	assert.Equal(t, "the issue has 204800 bytes, and this agent reads at most 100000", built(t, t.TempDir(), long).BlockedReason)
	repair := issue(model.AskSmallJob, "")
	repair.Kind = model.AskRepair
	assert.Contains(t, built(t, t.TempDir(), repair).BlockedReason, "Not applied: the tests fail with these diff blocks.")
}

func TestCommentsAddDiffs(t *testing.T) {
	dir := checkoutOf(t, map[string]string{"greet.txt": letter})
	req := issue(model.AskSmallJob, diffBlock(louder[:7]...))
	first := built(t, dir, req)
	again := built(t, dir, req)
	assert.Equal(t, model.Outcome{PRTitle: first.PRTitle, PRSummary: "The changes in the diff blocks are already there."}, again, "an earlier attempt did it")

	bye := diffBlock("--- a/greet.txt", "+++ b/greet.txt", "@@ -3,2 +3,3 @@", " ", " bye", "+you")
	req.Feedback = []model.Feedback{{ID: 8, Kind: model.KindIssue, Body: "and?"}, {ID: 9, Kind: model.KindIssue, Body: bye}}
	for range 2 { // what ends the file is not added twice
		built(t, dir, req)
		assert.Equal(t, map[string]string{"greet.txt": "dear all\nHELLO\n\nbye\nyou\n"}, grown(t, dir))
	}

	softer := strings.NewReplacer("hello", "HELLO", "HELLO", "Hi").Replace(diffBlock(louder[:7]...))
	req.Feedback = []model.Feedback{{ID: 10, Kind: model.KindIssue, Body: softer}}
	built(t, dir, req)
	assert.Equal(t, "dear all\nHi\n\nbye\nyou\n", grown(t, dir)["greet.txt"])
	req.Feedback[0].Body = strings.ReplaceAll(softer, "-HELLO", "-Hi\n-there")
	assert.Contains(t, built(t, dir, req).BlockedReason, "diff block 1 of the issue cannot be applied to greet.txt: hunk 1", "what the issue says was overtaken")
	req.Feedback[0].Body = strings.NewReplacer("-HELLO", "-Hi", "+Hi", "+Hey").Replace(softer)
	assert.NotEmpty(t, built(t, dir, req).BlockedReason)
	req.History = []model.HistoryEntry{{TurnKey: "earlier"}}
	assert.Empty(t, built(t, dir, req).BlockedReason, "after an earlier attempt, a comment may take its place")
	assert.Equal(t, "dear all\nHey\n\nbye\nyou\n", grown(t, dir)["greet.txt"])
}

func TestADesignIsMadeOfWhatAnIssueSays(t *testing.T) {
	body := "## Why\r\n\r\n```\r\ncode\r\n\r\nmore\r\n```\r\n\r\nPeople want\r\nto be greeted.<!-- hidden -->\r\n\r\n" + diffBlock(louder[:7]...)
	dir := checkoutOf(t, map[string]string{"greet.txt": letter})
	req := issue(model.AskDesign, body)
	req.Feedback = []model.Feedback{{ID: 9, Body: "Also:\n\n" + diffBlock("--- /dev/null", "+++ b/docs/a.md", "@@ -0,0 +1 @@", "+a")}}
	out := built(t, dir, req)
	assert.Equal(t, "Greet people", out.Title)
	assert.Equal(t, "People want\nto be greeted.", out.Summary)
	assert.Equal(t, []string{"greet.txt", "docs/a.md"}, out.TouchPaths)
	golden.Text(t, "suggestion_design.md", out.DesignDoc)
	assert.Equal(t, map[string]string{"greet.txt": letter}, grown(t, dir), "a design changes nothing")

	work := issue(model.AskImplementation, diffBlock("--- a/gone.txt", "+++ b/gone.txt", "@@ -1 +1 @@", "-a", "+b"))
	work.Design = &model.Document{Path: "docs/design/3.md", Text: out.DesignDoc}
	assert.Equal(t, "Greet people", built(t, dir, work).CommitMessage)
	assert.Equal(t, map[string]string{"greet.txt": "dear all\nHELLO\n\nbye\n", "docs/a.md": "a\n"}, grown(t, dir), "the document stands for its issue")

	assert.Equal(t, "# Only code", built(t, dir, issue(model.AskDesign, "# Only code")).Summary)
	assert.Contains(t, built(t, dir, issue(model.AskDesign, " <!-- x -->")).BlockedReason, "this issue has no text")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	a := must.Get(agent.New(agent.Options{Adapter: "suggestion", Files: asStored{}}))(t)
	_, err := a.Run(ctx, dir, req)
	assert.Equal(t, agent.Canceled, failure(t, err).Kind)
}
