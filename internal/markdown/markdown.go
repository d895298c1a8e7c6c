// Package markdown reads and writes GitHub's Markdown. It neutralizes foreign text, finds the lines that people wrote themselves
// (outside quotes, code and hidden text), and removes what the page does not show.
package markdown

import (
	"fmt"
	"net/url"
	"path"
	"regexp"
	"strings"
	"unicode"
)

// Code makes text safe between single backticks.
func Code(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '`' || r < ' ' {
			return '\''
		}
		return r
	}, s)
}

// Inline makes one line of somebody's text safe in a list: no markup, no mention, no line break.
func Inline(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if s == "" {
		return ""
	}
	return "`" + Code(s) + "`"
}

// OneLine joins the words of a text, without control characters.
func OneLine(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
}

// Cell makes text of ours, links included, fit into a cell of a table.
func Cell(s string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(s), " "), "|", `\|`)
}

// Plain makes a sentence of ours safe, on one line, that has words of others in it: it links nothing but addresses, mentions nobody,
// and shows character references as they are written. It is no input for another Plain.
func Plain(s string) string {
	return plainly.Replace(reference.ReplaceAllString(lineEnd.ReplaceAllString(s, " "), "&amp;$1"))
}

// Coded is Plain for a sentence with names as code, whose code stays.
func Coded(s string) string {
	parts := strings.Split(s, "`")
	if len(parts)%2 == 0 || strings.Contains(s, "``") || strings.Contains(s, `\`) { // what is code then is anybody's guess
		return Plain(s)
	}
	for i := 0; i < len(parts); i += 2 {
		parts[i] = Plain(parts[i])
	}
	return strings.Join(parts, "`")
}

var (
	lineEnd = regexp.MustCompile(`[ \t]*[\r\n]+[ \t]*`)
	// reference matches what shows as another character: https://spec.commonmark.org/0.31.2/#entity-and-numeric-character-references
	reference = regexp.MustCompile(`&(#[0-9]+;|#[xX][0-9A-Fa-f]+;|[A-Za-z][A-Za-z0-9]*;)`)
	// plainly takes apart the middle of a link and the beginning of a definition for one.
	plainly = strings.NewReplacer("<", "&lt;", "@", "@"+gap, "`", "'", "*", `\*`, "](", `]\(`, "]:", `]\:`)
)

// Clip shortens a word or a name for a sentence.
func Clip(s string) string { return Cut(s, 60) }

// Cut shortens a text to a number of characters.
func Cut(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}

// Restore is the command that restores a branch's old head, safe to paste into a shell.
func Restore(branch, now, old string) string {
	if strings.ContainsAny(branch, "`'") { // it could end the quotation in a shell
		branch = "BRANCH"
	}
	name := func(s string) string {
		if strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=") == "" {
			return s
		}
		return "'" + s + "'"
	}
	return fmt.Sprintf("git push %s origin %s", name("--force-with-lease="+branch+":"+now), name(old+":refs/heads/"+branch))
}

// Unbundled is the branch that a bundle on a private ref holds.
const Unbundled = "work"

// Unhide are the commands that get at the work on a private ref of ours, to be pasted into a shell.
func Unhide(ref string, bundled bool) string {
	if !bundled {
		return fmt.Sprintf("git fetch origin %s && git switch --detach FETCH_HEAD", Code(ref))
	}
	return fmt.Sprintf("git fetch origin %s && git show FETCH_HEAD:content > %s.bundle && git fetch %s.bundle %s && git switch --detach FETCH_HEAD", Code(ref), Unbundled, Unbundled, Unbundled)
}

// Rescue are the commands that push the work in a bundle from a clone, to be pasted into a shell. The file has the name of the branch.
func Rescue(file string) string {
	name := path.Base(file)
	branch := strings.ReplaceAll(strings.TrimSuffix(name, ".bundle"), "-", "/")
	return fmt.Sprintf("git fetch %s %s && git push origin FETCH_HEAD:%s", Word(name), Unbundled, Word("refs/heads/"+branch))
}

// Rescued says where a bundle is that holds all there is of some work, and how it is continued.
func Rescued(file string) string {
	return fmt.Sprintf("**The work could not be pushed.** It is on the runner, in the git bundle %s. If the workflow uploads it, it is among the run's artifacts. "+
		"The next attempt starts over, unless the work is on GitHub by then. To push it from a clone:\n\n    %s", Inline(file), Rescue(file))
}

// Word makes a name safe to paste into a shell, within a code span.
func Word(s string) string {
	if strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=+@") == "" {
		return s
	}
	if strings.ContainsAny(s, "`'\n") {
		return "NAME"
	}
	return "'" + s + "'"
}

// Quoted is one word of a command as a shell takes it.
func Quoted(word string) string {
	if word != "" && strings.Trim(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=,@%+") == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// quoteLimit is how much of a text is quoted: its end, which is where programs say what went wrong.
const quoteLimit = 4000

// Quote shows a text of several lines as it is, or its end where it is long.
func Quote(s string) string {
	if len(s) > quoteLimit {
		s = "[...]" + strings.ToValidUTF8(s[len(s)-quoteLimit:], "")
	}
	return Fenced(s)
}

// ours are the causes of a failure that have no words of others.
var ours = regexp.MustCompile(`^(exit code \d+|stopped [\w ]+)$`)

// Failure tells why work failed: of an agent in a sentence, with what others said as code.
func Failure(reason string) string {
	first, rest, _ := strings.Cut(reason, "\n")
	what, agents := strings.CutPrefix(first, "agent: ")
	if !agents {
		return Quote(reason)
	}
	what, last, said := strings.Cut(what, "; its last line: ")
	text := "The agent failed: " + Inline(what) + "."
	if ours.MatchString(what) {
		text = "The agent failed (" + what + ")."
	}
	if said {
		text += " Its last line: " + Inline(last)
	}
	if rest != "" {
		text += "\n\n" + Quote(rest)
	}
	return text
}

// Fenced is a text as a code block, whose fence is longer than any in it.
func Fenced(s string) string {
	longest, run := 2, 0
	for i := range len(s) {
		if run++; s[i] != '`' {
			run = 0
		}
		longest = max(longest, run)
	}
	fence := strings.Repeat("`", longest+1)
	return fence + "text\n" + strings.TrimRight(s, "\n") + "\n" + fence
}

// Short is a SHA as people read it.
func Short(sha string) string { return sha[:min(len(sha), 10)] }

// Commit links a commit of the repository that the URL of one of its pull requests or issues tells.
func Commit(page, sha string) string {
	return fmt.Sprintf("[`%s`](%s/commit/%s)", Short(sha), Repository(page), sha)
}

// Listed is the item of a list that links a commit and says what it is, and by whom where that is known.
func Listed(page, sha, subject, author string) string {
	item := "\n- " + Commit(page, sha) + " " + Inline(subject)
	if author != "" {
		item += " by " + Inline(author)
	}
	return item
}

// Path is the path of a file, or the name of a branch, as part of the address of a link.
func Path(name string) string {
	return strings.NewReplacer("%2F", "/", "@", "%40").Replace(url.PathEscape(name))
}

// Branch links a branch of the repository that the URL of one of its pull requests or issues tells.
func Branch(page, name string) string { return Tree(page, name, Path(name)) }

// Tree links what a branch had at a commit, which it shows whatever becomes of the branch.
func Tree(page, branch, sha string) string {
	return fmt.Sprintf("[`%s`](%s/tree/%s)", Code(branch), Repository(page), sha)
}

// unlinked are the characters that would end the address of a link.
var unlinked = strings.NewReplacer("(", "%28", ")", "%29", "<", "%3C", ">", "%3E", "|", "%7C", " ", "%20", "\t", "%09", "\r", "", "\n", "", "\\", "%5C")

// Link links Markdown to an address that somebody else gave. An address that is not http or https is left out.
func Link(text, url string) string {
	if !strings.HasPrefix(url, "https://") && !strings.HasPrefix(url, "http://") {
		return text
	}
	return fmt.Sprintf("[%s](%s)", text, unlinked.Replace(url))
}

// Run links a workflow run behind a line; "" for none.
func Run(url string) string {
	if url == "" {
		return ""
	}
	return fmt.Sprintf(" · [run](%s)", url)
}

// Cost says what an agent's work took: time, tokens and US dollars, as far as they are known.
func Cost(seconds int, tokens int64, usd float64) string {
	var parts []string
	if seconds > 0 {
		parts = append(parts, fmt.Sprintf("This took %d s", seconds))
	}
	if tokens > 0 {
		parts = append(parts, fmt.Sprintf("%d tokens", tokens))
	}
	if usd > 0 {
		parts = append(parts, fmt.Sprintf("$%.2f", usd))
	}
	return strings.Join(parts, " · ")
}

// Repository is where the repository of a pull request or an issue is shown.
func Repository(page string) string {
	for _, part := range []string{"/pull/", "/issues/"} {
		if base, _, ok := strings.Cut(page, part); ok {
			return base
		}
	}
	return page
}

// Count is a number of things: "1 comment", "3 comments".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
