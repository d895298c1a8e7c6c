// Package command parses the commands that people give in comments, and decides about each one. The decisions are pure functions
// from facts to a verdict with its reason.
//
// A command is a line of its author's own words in a comment as it was posted. So nobody can put one into somebody else's
// comment, or withdraw one that others have seen.
package command

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
)

// Word starts a command's line.
const Word = "/mergexo"

// Command is one parsed command. One with a Problem is not carried out.
type Command struct {
	Name  string // from the table; empty if unknown
	Text  string // the line
	Head  string // head_sha or sha, lower case
	PR    int    // pr; 0 for the thread's own
	Issue int    // issue; 0 for none
	// Strategy, DryRun and Cancel are a merge's.
	Strategy       string
	DryRun, Cancel bool
	Train          model.TrainWish // of a merge
	Login          string          // of a delegate, without @
	Reason         string          // of a revert: the text after `because`
	Problem        string          // what is wrong, for people
	Meant          string          // the known command that an unknown one resembles; "" for none
}

// verb is one row of the table of commands.
type verb struct {
	name   string
	keys   []string // and words, besides pr, which all of them take
	decide func(Case) Answer
	does   string
	// changes says that its receipt changes something by itself, and wakes that something may be pending after it that it held up.
	changes, wakes bool
}

// verbNamed is the row of a command; false if there is none.
func verbNamed(name string) (verb, bool) {
	at := slices.IndexFunc(verbs(), func(v verb) bool { return v.name == name })
	if at < 0 {
		return verb{}, false
	}
	return verbs()[at], true
}

// Wakes reports whether something may be pending after the command that waited for it.
func (c Command) Wakes() bool {
	v, _ := verbNamed(c.Name)
	return v.wakes
}

// verbs is the table of commands, those that people use most first: a new one is a file and a row here.
func verbs() []verb {
	return []verb{
		{name: "merge", keys: []string{keyStrategy, keySHA, wordDryRun, wordCancel, keyPriority, wordSolo, wordNow}, decide: merge, wakes: true, does: "merge this pull request once it is approved and its checks have passed. `dry-run` only reports what would happen; `cancel` cancels a waiting request. For the merge train: `priority=high` or `low`, `solo` (alone) and `now` (before all others)"},
		{name: "why", decide: why, does: "explain why nothing happens here, or what happens next"},
		{name: "status", decide: status, does: "show the state of this pull request"},
		{name: "retry", keys: []string{keyIssue}, decide: retry, changes: true, wakes: true, does: "retry what failed: the merge, or the work on feedback, with three new attempts"},
		{name: "unblock", keys: []string{keyHead}, decide: unblock, wakes: true, does: "end a block, once the old head is restored; `head_sha=SHA` accepts the current head instead"},
		{name: "pause", decide: pause, changes: true, does: "do nothing until `resume`; comments made until then wait"},
		{name: "resume", decide: resume, changes: true, wakes: true, does: "end a pause"},
		{name: "adopt", decide: adopt, wakes: true, does: "work on this pull request, whatever its branch is called"},
		{name: "release", decide: release, changes: true, does: "stop working on this pull request"},
		{name: wordTry, keys: []string{keyStrategy, keySHA}, decide: merge, does: "test what would land in the merge train, and report the result without landing it"},
		{name: "review", decide: review, wakes: true, does: "have an agent review this pull request as it is now; its findings are posted as one review"},
		{name: "delegate", keys: []string{keyLogin, wordCancel}, decide: delegate, changes: true, does: "let somebody else give merge commands here; `cancel` revokes it"},
		{name: "revert", keys: []string{wordNow, wordBecause}, decide: revert, changes: true, does: "open a pull request that reverts this merged one. Where the repository's checks test what lands, request its merge as well; `now` puts it before all others"},
		{name: "help", decide: help, does: "show this list"},
	}
}

const (
	keyHead     = "head_sha"
	keyIssue    = "issue"
	keyPR       = "pr"
	keyStrategy = "strategy"
	keySHA      = "sha"
	wordDryRun  = "dry-run"
	wordCancel  = "cancel"
	keyPriority = "priority"
	wordSolo    = "solo"
	wordNow     = "now"
	wordTry     = "try"
	keyLogin    = "@login"
	wordBecause = "because" // everything after it is text
)

// isWord reports whether a key takes no value.
func isWord(key string) bool {
	return slices.Contains([]string{wordDryRun, wordCancel, wordSolo, wordNow, keyLogin, wordBecause}, key)
}

func names() []string {
	var out []string
	for _, v := range verbs() {
		out = append(out, v.name)
	}
	return out
}

// Is reports whether a text holds a command, well-formed or not. One within a sentence is none.
func Is(body string) bool { return len(lines(body)) > 0 }

// Parse returns the commands of a text in order.
func Parse(body string) []Command {
	out := lines(body)
	if len(out) == 0 {
		return misplaced(readable(body))
	}
	return out
}

// readable is as much of a text as is read.
func readable(body string) string {
	if len(body) <= maxRead {
		return body
	}
	body = body[:maxRead]
	return body[:strings.LastIndexByte(body, '\n')+1] // a cut line may mean something else
}

// lines are the commands that begin their lines.
func lines(body string) []Command {
	var out []Command
	for _, line := range markdown.Spoken(readable(body), Word) {
		first, _ := utf8.DecodeRuneInString(line.Text[len(Word):])
		if len(line.Text) == len(Word) || unicode.IsSpace(first) {
			out = append(out, parse(line))
		}
	}
	return out
}

// misplaced finds what would be a command at the start of its line: "lgtm /mergexo merge". It is not carried out, since
// people also write about commands, but it gets a reply, since its author may be waiting. Its comment is feedback, too.
// Prose that only begins like a command is ignored.
func misplaced(body string) []Command {
	for _, line := range markdown.SpokenWithin(body, Word) {
		given := line
		given.Text = strings.TrimRight(line.Text, ".,;:!) ")
		words := split(given)
		if len(words) < 2 || !strings.EqualFold(words[0].Text, Word) {
			continue
		}
		if c := parse(given); c.Problem == "" {
			c.Problem = "a command must be on its own line"
			return []Command{c}
		}
	}
	return nil
}

func parse(line markdown.Line) Command {
	c := Command{Text: line.Text}
	words := split(line)
	if len(words) == 1 {
		c.Name = "help"
		return c
	}
	name := words[1]
	v, ok := verbNamed(strings.ToLower(name.Text))
	if !ok {
		var hint string
		c.Meant, hint = meant(strings.ToLower(name.Text))
		c.Problem = fmt.Sprintf("unknown command %s%s", markdown.Inline(markdown.Clip(name.Text)), hint)
		return c
	}
	c.Name = v.name
	keys := append(slices.Clone(v.keys), keyPR)
	seen := map[string]bool{}
	for _, w := range words[2:] {
		c.word(w, keys, seen)
		if c.Problem != "" {
			return c
		}
		if seen[wordBecause] {
			c.because(line, w)
			break
		}
	}
	return c.finished()
}

// word takes one word behind the name of the command, which is key=value, or a key alone. seen are the keys before it.
func (c *Command) word(w markdown.Line, keys []string, seen map[string]bool) {
	key, value, ok := strings.Cut(w.Text, "=")
	key = strings.ToLower(key)
	if strings.HasPrefix(key, "@") && !ok && slices.Contains(keys, keyLogin) {
		key, value = keyLogin, w.Text[1:]
	}
	known := slices.Contains(keys, key)
	switch {
	case !known:
		c.Problem = fmt.Sprintf("unknown %s %s of `%s`%s", map[bool]string{true: "key", false: "word"}[ok], shown(key), c.Name, suggestKey(w.Text, key, keys))
	case !ok && !isWord(key):
		c.Problem = fmt.Sprintf("`%s` needs a value: `%s`", key, typed(key))
	case ok && isWord(key):
		c.Problem = fmt.Sprintf("`%s` takes no value, got %s", key, shown(value))
	case seen[key]:
		c.Problem = fmt.Sprintf("`%s` is given twice", key)
	default:
		c.set(key, value)
	}
	seen[key] = true
}

// finished checks what the words of a command say together.
func (c Command) finished() Command {
	if c.Cancel && (c.DryRun || c.Strategy != "" || c.Head != "" || c.Login != "" || c.Train != model.TrainWish{}) {
		c.Problem = fmt.Sprintf("`%s` takes only `%s`", wordCancel, keyPR)
	}
	if c.Name == "delegate" && c.Login == "" && !c.Cancel {
		c.Problem = "`delegate` needs a person, such as `@octocat`"
	}
	if c.Name == wordTry { // a merge that ends before it lands
		c.Name, c.Train.Try = "merge", !c.Cancel
	}
	return c
}

// set sets one key.
func (c *Command) set(key, value string) {
	switch key {
	case keyHead, keySHA:
		c.Head = strings.ToLower(value)
		if !NamesCommit(value) {
			c.Problem = fmt.Sprintf("`%s` needs 7 to 40 hexadecimal digits of a commit, got %s", key, shown(value))
		}
	case keyStrategy:
		c.Strategy = strings.ToLower(value)
		if !slices.Contains(model.Strategies(), c.Strategy) {
			c.Problem = fmt.Sprintf("unknown strategy %s%s", shown(value), suggest(value, model.Strategies()))
		}
	case keyLogin:
		c.Login = value
		if !isLogin(value) {
			c.Problem = fmt.Sprintf("`%s` needs a login such as `@octocat`, got %s", keyLogin, shown("@"+value))
		}
	case wordBecause: // a word in the reason is not a key
	case wordDryRun:
		c.DryRun = true
	case wordCancel:
		c.Cancel = true
	case keyPriority:
		c.priority(value)
	case wordSolo:
		c.Train.Solo = true
	case wordNow:
		c.Train.Now = true
	default:
		c.number(key, value)
	}
}

// maxPriority bounds the numbers of priorities on both sides of 0.
const maxPriority = 100

// priorities are the names of priorities; that of a request that names none is 0.
var priorities = map[string]int{"high": 10, "normal": 0, "low": -10}

func (c *Command) priority(value string) {
	n, named := priorities[strings.ToLower(value)]
	if !named {
		number, err := strconv.Atoi(value)
		if err != nil || number < -maxPriority || number > maxPriority {
			c.Problem = fmt.Sprintf("`%s` needs `high`, `normal`, `low` or a number from %d to %d, got %s", keyPriority, -maxPriority, maxPriority, shown(value))
			return
		}
		n = number
	}
	c.Train.Priority = n
}

// because takes everything after a word as the reason.
func (c *Command) because(line, w markdown.Line) {
	c.Reason = strings.TrimSpace(line.Text[w.Column-line.Column+len(w.Text):])
	if c.Reason == "" {
		c.Problem = fmt.Sprintf("`%s` needs a reason", wordBecause)
	}
}

func (c *Command) number(key, value string) {
	n, err := strconv.ParseInt(strings.TrimPrefix(value, "#"), 10, 32)
	if err != nil || n <= 0 {
		c.Problem = fmt.Sprintf("`%s` needs a number such as 7, got %s", key, shown(value))
		return
	}
	if key == keyPR {
		c.PR = int(n)
	} else {
		c.Issue = int(n)
	}
}

// isLogin reports whether a text can be the login of a person: https://docs.github.com/enterprise-cloud@latest/admin/managing-iam/iam-configuration-reference/username-considerations-for-external-authentication
func isLogin(s string) bool {
	return s != "" && len(s) <= 39 && s[0] != '-' && strings.Trim(strings.ToLower(s), "abcdefghijklmnopqrstuvwxyz0123456789-_") == ""
}

// NamesCommit reports whether a text can be an (abbreviated) SHA, long enough to be unambiguous.
func NamesCommit(s string) bool {
	return len(s) >= 7 && len(s) <= 40 && strings.Trim(strings.ToLower(s), "0123456789abcdef") == ""
}

// maxRead is how many bytes of a text are searched for commands: parsing Markdown takes more than linear time.
const maxRead = 16 << 10

// split gives the words of a line with their positions.
func split(line markdown.Line) []markdown.Line {
	var words []markdown.Line
	rest, column := line.Text, line.Column
	for {
		trimmed := strings.TrimLeftFunc(rest, unicode.IsSpace)
		column += len(rest) - len(trimmed)
		if trimmed == "" {
			return words
		}
		end := strings.IndexFunc(trimmed, unicode.IsSpace)
		if end < 0 {
			end = len(trimmed)
		}
		words = append(words, markdown.Line{Number: line.Number, Column: column, Text: trimmed[:end]})
		rest, column = trimmed[end:], column+end
	}
}

func shown(value string) string {
	if value == "" {
		return "nothing"
	}
	return markdown.Inline(markdown.Clip(value))
}
