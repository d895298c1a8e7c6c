package agent_test

import (
	"context"
	"math/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/agent"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
)

// asStored are files that git stores as they are.
type asStored struct{}

func (asStored) Stored(_ context.Context, _ string, text []byte) ([]byte, bool, error) {
	return text, true, nil
}

func (asStored) CheckedOut(_ context.Context, _ string, text []byte) ([]byte, bool, error) {
	return text, true, nil
}

// suggest runs the built-in agent over review comments on a.txt, which holds text, and returns what a.txt holds then.
func suggest(t *testing.T, text string, list ...model.Feedback) (string, model.Outcome) {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "a.txt")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o755))
	for i := range list {
		if list[i].Kind == "" {
			list[i].Kind = model.KindReview
		}
		if list[i].Path == "" {
			list[i].Path = "a.txt"
		}
		if list[i].ID == 0 {
			list[i].ID = int64(i + 1)
		}
	}
	a := must.Get(agent.New(agent.Options{Adapter: "suggestion", Files: asStored{}}))(t)
	out := must.Get(a.Run(context.Background(), dir, model.Request{Kind: "feedback", Feedback: list}))(t)
	now := contents(t, file)
	assert.Equal(t, os.FileMode(0o755), must.Get(os.Stat(file))(t).Mode(), "the mode stays")
	return string(now), out
}

func replies(out model.Outcome) map[int64]string {
	all := map[int64]string{}
	for _, r := range out.ReviewReplies {
		all[r.ReviewCommentID] = r.Body
	}
	return all
}

func at(first, last int, body string) model.Feedback {
	f := model.Feedback{Lines: model.Lines{Line: last, Side: "RIGHT"}, Body: body, Author: "rita"}
	if first != last {
		f.StartLine, f.StartSide = first, "RIGHT"
	}
	return f
}

func fenced(lines ...string) string {
	return "```suggestion\n" + strings.Join(append(lines, ""), "\n") + "```"
}

func TestSuggestionsAreAppliedExactlyAtTheirLines(t *testing.T) {
	type row struct {
		text string
		f    model.Feedback
		want string
	}
	must.Each(t, map[string]row{
		"one line":           {"a\nb\nc\n", at(2, 2, "How about\n\n```suggestion\nB\n```\n"), "a\nB\nc\n"},
		"several lines":      {"a\nb\nc\nd\n", at(2, 3, fenced("x", "", "y")), "a\nx\n\ny\nd\n"},
		"fewer lines":        {"a\nb\nc\nd\n", at(1, 3, fenced("x")), "x\nd\n"},
		"nothing":            {"a\nb\nc\n", at(2, 2, "```suggestion\n```"), "a\nc\n"},
		"an empty line":      {"a\nb\nc\n", at(2, 2, "```suggestion\n\n```"), "a\n\nc\n"},
		"the whole file":     {"a\n", at(1, 1, "```suggestion\n```"), ""},
		"comment with CRLF":  {"a\nb\n", at(1, 1, "hi\r\n```suggestion\r\nx\r\ny\r\n```\r\n"), "x\ny\nb\n"},
		"file with CRLF":     {"a\r\nb\r\nc\r\n", at(2, 2, fenced("x", "y")), "a\r\nx\r\ny\r\nc\r\n"},
		"mixed line ends":    {"a\r\nb\nc\r\n", at(1, 2, fenced("x", "y")), "x\r\ny\nc\r\n"},
		"no final line feed": {"a\nb", at(2, 2, fenced("x", "y")), "a\nx\ny"},
		"one line, no end":   {"a", at(1, 1, fenced("x", "y")), "x\ny"},
		"CRLF, no final end": {"a\r\nb", at(2, 2, fenced("x", "y")), "a\r\nx\r\ny"},
		"last line goes":     {"a\nb", at(2, 2, fenced()), "a\n"},
		"longer fence":       {"a\n", at(1, 1, "````suggestion\n```go\nx\n```\n````"), "```go\nx\n```\n"},
		"tildes":             {"a\n", at(1, 1, "~~~ suggestion\n```\n~~~~"), "```\n"},
		"indented fence":     {"a\n", at(1, 1, "  ```suggestion\n    x\n y\n  ```"), "  x\ny\n"},
		"not UTF-8":          {"\xff\xfe\nb\n", at(2, 2, fenced("x")), "\xff\xfe\nx\n"},
		"a line not UTF-8":   {"f\xfcr\nb\n", at(1, 1, fenced("for")), "for\nb\n"},
		"byte order mark":    {"\uFEFFa\nb\n", at(1, 1, fenced("x")), "\uFEFFx\nb\n"},
		"a second mark":      {"\uFEFFa\nb\n", at(1, 1, fenced("\uFEFFx")), "\uFEFFx\nb\n"},
		"below the mark":     {"\uFEFFa\nb\n", at(1, 1, fenced()), "\uFEFFb\n"},
		"carriage returns":   {"a\rb\nc\n", at(2, 2, fenced("x")), "a\rb\nx\n"},
	}, func(t *testing.T, test row) {
		got, out := suggest(t, test.text, test.f)
		assert.Equal(t, test.want, got)
		assert.True(t, strings.HasPrefix(out.CommitMessage, "Apply suggestion from review comment\n\n- line"), out.CommitMessage)
		assert.Equal(t, "Applied 1 suggestion.", out.GeneralComment)
		require.Len(t, out.ReviewReplies, 1)
		assert.Regexp(t, "^(Applied to|Removed) lines? .* of `a.txt`\\.$", out.ReviewReplies[0].Body)
		assert.True(t, out.ReviewReplies[0].Done)
	})
}

func TestWhatIsNoSuggestionChangesNothing(t *testing.T) {
	for name, body := range map[string]string{
		"plain":           "please fix",
		"other code":      "```go\nx\n```",
		"quoted":          "> ```suggestion\n> x\n> ```",
		"inside a fence":  "````md\n```suggestion\nx\n```\n````",
		"indented code":   "    ```suggestion\n    x\n    ```",
		"in a line":       "use ```suggestion x ``` please",
		"another word":    "```suggestions\nx\n```",
		"closed by other": "```go\n~~~suggestion\nx\n~~~\n```",
		"two backticks":   "``suggestion\nx\n``",
		"hidden":          "<!--\n```suggestion\nx\n```\n-->\nplease",
		"hidden before":   "<!-- y -->```suggestion\nx\n```",
	} {
		got, out := suggest(t, "a\n", at(1, 1, body))
		assert.Equal(t, "a\n", got, name)
		assert.Empty(t, out.CommitMessage, name)
		assert.Equal(t, map[int64]string{1: "There is no suggestion block here; this agent only applies the suggestion blocks of review comments."}, replies(out), name)
	}
}

func TestSuggestionsThatCannotBeAppliedAreAnswered(t *testing.T) {
	good := fenced("x")
	left, across, back, unknown := at(1, 1, good), at(5, 8, good), at(3, 4, good), at(1, 2, good)
	left.Side, across.StartSide, back.Side, unknown.StartSide = "LEFT", "LEFT", "LEFT", ""
	path := func(p string) model.Feedback { f := at(1, 1, good); f.Path = p; return f }
	for why, f := range map[string]model.Feedback{
		"the suggestion block has no end": at(1, 1, "```suggestion\nx\n"),
		"it is about line 1 of the old version, and a suggestion replaces lines of the new version only":                              left,
		"it is about line 5 of the old version to line 8 of the new version, and a suggestion replaces lines of the new version only": across,
		"it is about line 3 of the new version to line 4 of the old version, and a suggestion replaces lines of the new version only": back,
		"the comment is outdated, or about the whole file":                                                                            at(0, 0, good),
		"the file has only 1 lines":                at(1, 2, good),
		"lines 3 to 2 are no range":                at(3, 2, good),
		"the file no longer exists":                path("gone.txt"),
		"its path is not one of the repository":    path("../a.txt"),
		"its path is not one of the repository ":   path("/etc/passwd"),
		"its path is not one of the repository  ":  path(".git/config"),
		"its path is not one of the repository   ": path("x/../a.txt"),
		"the file no longer exists ":               path("a.txt/b"),
	} {
		got, out := suggest(t, "a\n", f)
		assert.Equal(t, "a\n", got, why)
		assert.Empty(t, out.CommitMessage, why)
		assert.Equal(t, map[int64]string{1: "Not applied: " + strings.TrimSpace(why) + "."}, replies(out))
		assert.False(t, out.ReviewReplies[0].Done, why)
		assert.Equal(t, "1 could not be applied; the replies say why.", out.GeneralComment)
	}
}

func TestWhatIsNotUTF8TakesASCIIOnly(t *testing.T) {
	const other, binary = "git stores it in an encoding other than UTF-8, so only ASCII can be put into it", "git stores it as a binary file"
	for text, why := range map[string]string{
		"f\xfcr\nb\n":            other,
		"\x82\xa0\nb\n":          other,
		"a\x00\n\x00b\x00\n\x00": binary,
		"\x00\nb\n":              binary,
	} {
		got, out := suggest(t, text, at(2, 2, fenced("zwölf")))
		assert.Equal(t, text, got)
		assert.Equal(t, map[int64]string{1: "Not applied: " + why + "."}, replies(out))

		dir := checkoutOf(t, map[string]string{"a.txt": text})
		before := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		diff := issue(model.AskSmallJob, diffBlock("--- a/a.txt", "+++ b/a.txt", "@@ -2 +2 @@", "-"+before[1], "+zwölf"))
		assert.Contains(t, built(t, dir, diff).BlockedReason, why)
		assert.Equal(t, map[string]string{"a.txt": text}, grown(t, dir))
	}
	dir := checkoutOf(t, map[string]string{"a.txt": "f\xfcr\nb\n"})
	assert.Empty(t, built(t, dir, issue(model.AskSmallJob, diffBlock("--- a/a.txt", "+++ b/a.txt", "@@ -2 +2 @@", "-b", "+twelve"))).BlockedReason)
	assert.Equal(t, map[string]string{"a.txt": "f\xfcr\ntwelve\n"}, grown(t, dir))
}

func TestSuggestionsStayInTheCheckout(t *testing.T) {
	outside, dir := t.TempDir(), t.TempDir()
	secret := filepath.Join(outside, "secret.txt")
	require.NoError(t, os.WriteFile(secret, []byte("a\n"), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "real.txt"), []byte("a\n"), 0o644))
	require.NoError(t, os.Symlink(secret, filepath.Join(dir, "out.txt")))
	require.NoError(t, os.Symlink("real.txt", filepath.Join(dir, "in.txt")))
	require.NoError(t, os.Symlink(outside, filepath.Join(dir, "sub")))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "folder"), 0o755))
	a := must.Get(agent.New(agent.Options{Adapter: "suggestion", Files: asStored{}}))(t)
	var list []model.Feedback
	for i, path := range []string{"out.txt", "in.txt", "sub/secret.txt", "folder"} {
		f := at(1, 1, fenced("x"))
		f.ID, f.Kind, f.Path = int64(i+1), model.KindReview, path
		list = append(list, f)
	}
	out := must.Get(a.Run(context.Background(), dir, model.Request{Feedback: list}))(t)
	link := "Not applied: its path goes through a symbolic link."
	assert.Equal(t, map[int64]string{1: link, 2: link, 3: link, 4: "Not applied: it is not a file."}, replies(out))
	for _, file := range []string{secret, filepath.Join(dir, "real.txt")} {
		assert.Equal(t, "a\n", string(contents(t, file)))
	}
}

func TestSeveralSuggestionsInOneFile(t *testing.T) {
	late := at(2, 3, fenced("late"))
	late.ID = 30
	early := at(3, 4, fenced("early", "and more"))
	early.ID = 20
	same := at(3, 4, fenced("early", "and more"))
	same.ID = 40
	twice := at(6, 6, fenced("six")+"\nor\n"+fenced("6"))
	twice.ID = 50
	top := at(1, 1, fenced("one", "one and a half"))
	top.ID = 60
	talk := model.Feedback{ID: 70, Kind: model.KindIssue, Body: "what do you think?"}
	got, out := suggest(t, "1\n2\n3\n4\n5\n6\n", late, early, same, twice, top, talk)
	assert.Equal(t, "one\none and a half\n2\nearly\nand more\n5\nsix\n", got)
	assert.Equal(t, map[int64]string{
		20: "Applied to lines 3 to 4 of `a.txt`.",
		30: "Not applied: it overlaps with the suggestion for lines 3 to 4 of `a.txt` in an earlier comment.",
		40: "Nothing to change: lines 3 to 4 of `a.txt` reads as suggested.",
		50: "Applied to line 6 of `a.txt`. Only the first suggestion block of a comment is applied.",
		60: "Applied to line 1 of `a.txt`.",
	}, replies(out))
	assert.Equal(t, "Apply 3 suggestions from review\n\n- lines 3 to 4 of a.txt: rita\n- line 6 of a.txt: rita\n- line 1 of a.txt: rita", out.CommitMessage)
	assert.Equal(t, "Applied 3 suggestions. 1 were already there. 1 could not be applied; the replies say why. "+
		"This agent only applies the suggestion blocks of review comments, and answers nothing else.", out.GeneralComment)
}

func TestSuggestionsCannotRepair(t *testing.T) {
	a := must.Get(agent.New(agent.Options{Adapter: "suggestion", Files: asStored{}}))(t)
	out := must.Get(a.Run(context.Background(), t.TempDir(), model.Request{
		Kind: "repair", CI: []model.CIFailure{{Name: "make test", Log: "FAIL"}},
		Feedback: []model.Feedback{{ID: 1, Kind: model.KindReview, Path: "a.txt", Lines: model.Lines{Line: 1}, Body: "```suggestion\nx\n```"}, {ID: 2, Kind: model.KindReview, Body: "Why?"}},
	}))(t)
	assert.Empty(t, out.BlockedReason)
	assert.True(t, out.DeadEnd)
	assert.Equal(t, []model.ReviewReply{{ReviewCommentID: 1, Body: "Not applied: the tests fail with this suggestion. The end of the output:\n\n```text\nFAIL\n```\n\nEdit the suggestion, or resolve the thread."}}, out.ReviewReplies)
}

// A suggestion that says what is there changes nothing, whatever the file looks like and wherever it is; and another one
// changes no line but its own.
func TestSuggestionsTouchNothingElse(t *testing.T) {
	random := rand.New(rand.NewSource(2))
	words := []string{"", "a", "  b", "```", "~~~~", "\t", "é\xff", "```suggestion", "# c  "}
	ends := []string{"\n", "\n", "\r\n"}
	for range 300 {
		var lines []string
		for range 1 + random.Intn(6) {
			lines = append(lines, words[random.Intn(len(words))]+ends[random.Intn(len(ends))])
		}
		if last := &lines[len(lines)-1]; random.Intn(3) == 0 && strings.TrimRight(*last, "\r\n") != "" {
			*last = strings.TrimRight(*last, "\r\n")
		}
		text := strings.Join(lines, "")
		first := 1 + random.Intn(len(lines))
		last := first + random.Intn(len(lines)-first+1)
		var same []string
		for _, line := range lines[first-1 : last] {
			same = append(same, strings.TrimRight(line, "\r\n"))
		}
		fence := "``````"
		got, out := suggest(t, text, at(first, last, fence+"suggestion\n"+strings.Join(append(same, ""), "\n")+fence))
		require.Equal(t, text, got)
		require.Empty(t, out.CommitMessage)

		got, _ = suggest(t, text, at(first, last, fence+"suggestion\nNEW\n"+fence))
		require.True(t, strings.HasPrefix(got, strings.Join(lines[:first-1], "")+"NEW"), "%q -> %q", text, got)
		require.True(t, strings.HasSuffix(got, strings.Join(lines[last:], "")), "%q -> %q", text, got)
		require.Equal(t, strings.HasSuffix(text, "\n"), strings.HasSuffix(got, "\n"))
	}
}
