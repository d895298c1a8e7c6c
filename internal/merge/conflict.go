package merge

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
)

// Conflict is one conflicting file.
type Conflict struct {
	Path  string
	Kind  string // as git names it: content, modify/delete, ...
	Hunks string // with conflict markers; "" if there is no text to show
}

// Culprit is a conflicting commit of the base, and its pull request; 0: unknown.
type Culprit struct {
	model.Commit
	Pull int
}

// Conflicts say why a branch's commits do not apply to its base.
type Conflicts struct {
	Commit   model.Commit // the branch's first conflicting one; without a SHA: the whole change at once
	Files    []Conflict
	More     int // further files
	Culprits []Culprit
}

// Limits of a comment about conflicts.
const (
	maxFiles    = 20
	maxCulprits = 20
	maxHunk     = 6_000  // bytes of one file
	maxHunks    = 30_000 // bytes of all files
)

// ConflictText says which files conflict and where, and which commits of the base cause that.
func ConflictText(p model.Pull, c Conflicts) string {
	var b strings.Builder
	files, more := c.Files, c.More
	if n := len(files) - maxFiles; n > 0 {
		files, more = files[:maxFiles], more+n
	}
	fmt.Fprintf(&b, "Conflicts in %s", markdown.Count(len(files)+more, "file"))
	if c.Commit.SHA != "" {
		fmt.Fprintf(&b, ", at commit %s", markdown.Commit(p.URL, c.Commit.SHA))
	}
	if c.Commit.Subject != "" {
		b.WriteString(" " + markdown.Inline(c.Commit.Subject))
	}
	b.WriteString(":\n")
	for _, f := range files {
		fmt.Fprintf(&b, "\n- `%s`", markdown.Code(f.Path))
		if f.Kind != "" {
			fmt.Fprintf(&b, " (%s)", markdown.Plain(f.Kind))
		}
	}
	if more > 0 {
		fmt.Fprintf(&b, "\n- and %s", markdown.Count(more, "more file"))
	}
	left := maxHunks
	for _, f := range files {
		if strings.TrimSpace(f.Hunks) == "" || left <= 0 {
			continue
		}
		shown := fenced(f.Hunks, min(maxHunk, left), false)
		left -= len(shown)
		fmt.Fprintf(&b, "\n\n<details><summary>%s</summary>\n\n%s\n\n</details>", escape(f.Path), shown)
	}
	return b.String() + culprits(p, c.Culprits)
}

func culprits(p model.Pull, list []Culprit) string {
	if len(list) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n\nCommits of `%s` since the branch began that changed these files:\n", markdown.Code(p.BaseRef))
	for i, c := range list {
		if i == maxCulprits {
			fmt.Fprintf(&b, "\n- and %d more", len(list)-i)
			break
		}
		b.WriteString(markdown.Listed(p.URL, c.SHA, c.Subject, c.Author))
		if c.Pull != 0 {
			fmt.Fprintf(&b, ", #%d", c.Pull)
		}
	}
	return b.String()
}

// escape makes a path safe in HTML that is parsed as Markdown.
func escape(path string) string {
	return "<code>" + strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "@", "@\u200b", "`", "&#96;", "*", "&#42;", "_", "&#95;", "[", "&#91;", "]", "&#93;", "!", "&#33;",
		"~", "&#126;", "$", "&#36;", "\\", "&#92;", "|", "&#124;").Replace(strings.Join(strings.Fields(markdown.Code(path)), " ")) + "</code>"
}

// TestRun is one run of the tests before a merge.
type TestRun struct {
	Argv    []string // nil: no tests, on purpose
	Why     string   // where the command comes from, as DetectTests says, or why there is none; "" for the settings
	Exit    int
	Timeout string // such as "30m", where they did not come to an end in it
	Problem string // why they could not be started, in words of others too
	Tail    string // the end of what they printed
	Seconds int
	// Setup is what was run before them in the same tree, in its order. What was found there and not set can have failed: the
	// tests tell whether it was needed.
	Setup []TestRun
	// InCheckout says that they run in the checkout of the workflow, and Changed which tracked files they changed there.
	InCheckout bool
	Changed    []string
}

// Passed says that what was to be run has passed.
func (t TestRun) Passed() bool { return t.Exit == 0 && t.Timeout == "" && t.Problem == "" }

// maxTail is how much of the output of tests a comment shows, in bytes.
const maxTail = 8_000

// TestsText tells how the tests went, with the end of their output where they failed.
func TestsText(t TestRun) string {
	switch {
	case t.Argv == nil && t.Passed():
		return fmt.Sprintf("No tests were run: %s.", t.untested())
	case t.Passed():
		return fmt.Sprintf("%s passed on exactly this commit%s%s%s.", said(t.Argv), seconds(t.Seconds), t.origin(), t.after()) + t.needless() + t.changes()
	}
	text := strings.TrimSpace(t.changes() + t.output())
	if t.Unstarted() != "" {
		text = fmt.Sprintf("%s could not be started%s: %s. %s", said(t.Argv), t.origin(), markdown.Plain(strings.TrimSuffix(markdown.OneLine(t.Unstarted()), ".")), text)
	} else {
		text = fmt.Sprintf("%s failed%s. %s", said(t.Argv), t.how(), text)
	}
	return t.prepared() + strings.TrimSpace(text)
}

// how says how tests failed that were started.
func (t TestRun) how() string {
	result := fmt.Sprintf("exit code %d%s", t.Exit, seconds(t.Seconds))
	if t.Timeout != "" {
		result = fmt.Sprintf("timed out after %s, `[merge] test_timeout`", t.Timeout)
	}
	return fmt.Sprintf(" (%s)%s%s", result, t.origin(), t.where())
}

// prepared describes a failure before the tests.
func (t TestRun) prepared() string {
	var b strings.Builder
	for _, s := range t.Setup {
		if !s.Passed() {
			b.WriteString(TestsText(s) + "\n\n")
		}
	}
	return b.String()
}

// output is the end of what tests printed.
func (t TestRun) output() string {
	return either(strings.TrimSpace(t.Tail) == "", "", " The end of the output:\n\n"+fenced(t.Tail, maxTail, true))
}

// after names what was run before the tests.
func (t TestRun) after() string {
	var list []string
	for _, s := range t.Setup {
		if s.Passed() {
			list = append(list, said(s.Argv)+seconds(s.Seconds)+s.origin())
		}
	}
	return names(", after ", list) + t.where()
}

// where is the place of the tests, if it is no tree of their own.
func (t TestRun) where() string { return either(t.InCheckout, ", in the checkout of the workflow", "") }

// changes names the tracked files that the tests changed where others use them as well.
func (t TestRun) changes() string {
	var list []string
	for _, path := range t.Changed {
		list = append(list, escape(path))
	}
	return names(" They changed files there, which MergeXO restored: ", list) + either(len(list) > 0, ".", "")
}

// needless tells what failed before tests that passed anyway.
func (t TestRun) needless() string {
	var b strings.Builder
	for _, s := range t.Setup {
		if !s.Passed() {
			why := cmp.Or(s.Unstarted(), either(s.Timeout != "", "it timed out", fmt.Sprintf("exit code %d", s.Exit)))
			fmt.Fprintf(&b, " They passed although %s%s had failed: %s.", said(s.Argv), s.origin(), markdown.Plain(strings.TrimSuffix(markdown.OneLine(why), ".")))
		}
	}
	return b.String()
}

// Unstarted is why the tests did not come to run; "" where they did. Of what a shell was to run, its exit code tells:
// https://pubs.opengroup.org/onlinepubs/9799919799/utilities/V3_chap02.html#tag_19_08_02
func (t TestRun) Unstarted() string {
	switch {
	case t.Problem != "" || t.Timeout != "":
		return t.Problem
	case t.Exit == 126:
		return "exit code 126, the command is not executable"
	case t.Exit == 127:
		return "exit code 127, the command was not found"
	}
	return ""
}

// untested is why there are no tests.
func (t TestRun) untested() string {
	if t.Why == "" {
		return "the settings say `tests = \"none\"`"
	}
	return markdown.Plain(t.Why)
}

func (t TestRun) origin() string {
	if t.Why == "" {
		return ""
	}
	return " (" + markdown.Plain(t.Why) + ")"
}

func seconds(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" in %d s", n)
}

// said is a command as people read it.
func said(argv []string) string {
	const most = 200
	var words []string
	for _, arg := range argv {
		words = append(words, markdown.Quoted(arg))
	}
	line := markdown.OneLine(strings.Join(words, " "))
	if r := []rune(line); len(r) > most {
		line = string(r[:most]) + "…"
	}
	if line == "" {
		return "The test command"
	}
	return "`" + markdown.Code(line) + "`"
}
