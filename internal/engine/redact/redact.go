// Package redact removes from texts what must not appear in a comment.
package redact

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/leak"
	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
)

// shortest is how many bytes a value must have to be taken for a key: less would take words out of sentences.
const shortest = 8

// secretName matches names of variables whose values are nobody's to read. Short words count at the end of a name only, and PWD
// itself is the directory that a shell is in.
var secretName = regexp.MustCompile(`(?i)key|token|secret|passw|passphrase|auth(?:[^o]|o[^r]|ori[zs]|$)|cred|private|(?:^|_)(?:pat|pass)(?:_?[0-9]+)?$|_pwd(?:_?[0-9]+)?$`)

// Value is what no commit may hold, whatever the settings allow.
type Value struct {
	Rule, What string // as a finding names it, without the value
	ways       [][]byte
}

// In is the line, from 0 on, where the value is in a text, and any of it is new: in lines that fresh says; nil are all.
func (v Value) In(text []byte, fresh []bool) (line int, is bool) {
	newline := []byte("\n")
	for _, way := range v.ways {
		line := 0
		for from := 0; ; from++ {
			i := bytes.Index(text[from:], way)
			if i < 0 {
				break
			}
			line += bytes.Count(text[from:from+i], newline)
			from += i
			if last := line + bytes.Count(way, newline); fresh == nil || slices.Contains(fresh[min(line, len(fresh)):min(last+1, len(fresh))], true) {
				return line, true
			}
		}
	}
	return 0, false
}

// PassEnv is the rule of a Value that the agent was given.
const PassEnv = "pass_env"

// Values are our own secrets, and those that the agent was given by name. A variable that is named like a secret may still hold a
// word or a path, which commits have as well.
func Values(t *thread.Thread) (all []Value) {
	add := func(rule, what, secret string, counts func(string) bool) {
		v := Value{Rule: rule, What: what}
		for _, way := range written(secret) {
			if counts(way) {
				v.ways = append(v.ways, []byte(way))
			}
		}
		all = append(all, v)
	}
	for _, secret := range thread.Hidden(t.World) {
		add("mergexo", "a secret of MergeXO's own", secret, func(string) bool { return true })
	}
	for name, secret := range passed(t) {
		add(PassEnv, "the value of "+name, secret, leak.Plausible)
	}
	return all
}

// passed are the secrets that the agent was given, by the names of their variables.
func passed(t *thread.Thread) iter.Seq2[string, string] {
	return func(yield func(name, secret string) bool) {
		for _, name := range t.Settings.Agent.PassEnv {
			if v, _ := t.Lookup(name); secretName.MatchString(name) && !yield(name, v) {
				return
			}
		}
	}
}

// private are the keys that an agent was given by name, if they count: it may say them. So are its model's and our own, which it
// should not know.
func private(t *thread.Thread, counts func(string) bool) []string {
	values := slices.Concat(thread.Hidden(t.World), thread.ModelKeys(t.World, t.Settings), thread.ModelKeys(t.World, thread.ReviewerSettings(t.Settings)))
	for _, secret := range passed(t) {
		if counts(strings.TrimSpace(secret)) {
			values = append(values, secret)
		}
	}
	var all []string
	for _, v := range values {
		all = append(all, written(v)...)
	}
	slices.SortFunc(all, func(a, b string) int { return len(b) - len(a) }) // one may be a part of another
	return all
}

// written are the ways in which a program writes a secret, or one line of it: as it is, in quotes, in hexadecimal digits, and with each
// character escaped as JSON allows.
func written(secret string) (ways []string) {
	secret = strings.TrimSpace(secret)
	parts := []string{secret}
	if strings.Contains(secret, "\n") {
		for line := range strings.SplitSeq(secret, "\n") {
			if line = strings.TrimSpace(line); telling(line) {
				parts = append(parts, line)
			}
		}
	}
	for _, part := range parts {
		if len(part) < shortest {
			continue
		}
		quoted, digits := strconv.Quote(part), hex.EncodeToString([]byte(part))
		ways = append(ways, part, quoted[1:len(quoted)-1], digits, strings.ToUpper(digits))
		for _, verb := range []string{`\u%04x`, `\u%04X`} {
			var escaped strings.Builder
			for _, unit := range utf16.Encode([]rune(part)) {
				fmt.Fprintf(&escaped, verb, unit)
			}
			ways = append(ways, escaped.String())
		}
	}
	return ways
}

// telling says that a line of a secret is one by itself. A file of settings has others, such as "database:", which people use; the
// first and the last line of a private key are none, and by them the scanner finds others. In a comment age writes the public key.
func telling(line string) bool {
	return len(line) >= 2*shortest && strings.ContainsAny(line, "0123456789") && !strings.HasPrefix(line, "-----") && !strings.HasPrefix(line, "#")
}

const leftOut = "[a line with what looks like a secret was left out]"

// Text takes out of a text what nobody may read in a comment: values that the agent was given, and what looks like a
// secret. GitHub masks its logs, not its comments. What is left is printable.
func Text(ctx context.Context, t *thread.Thread, text string) string {
	return scanned(ctx, t, Known(t, markdown.Printable(text)))
}

// Message is Text for the message of a commit. It stays for good, so the values that an agent was given count as they do in files:
// DB_PASSWORD may be a plain word.
func Message(ctx context.Context, t *thread.Thread, text string) string {
	return scanned(ctx, t, without(private(t, leak.Plausible), markdown.Printable(text)))
}

func scanned(ctx context.Context, t *thread.Thread, text string) string {
	scanner, err := Scanner(t)
	var found []leak.Finding
	if err == nil {
		found, err = scanner.All(ctx, leak.Piece{Path: "comment.md", Line: 1, Text: []byte(text)})
	}
	if err != nil {
		return "[the agent's text could not be checked for secrets: " + err.Error() + "]"
	}
	if slices.ContainsFunc(found, func(f leak.Finding) bool { return f.Rule == "private-key" }) { // it goes on for many lines
		return "[the agent's text contained a private key and was left out]"
	}
	lines := strings.Split(text, "\n")
	for _, f := range found {
		if f.Certain {
			for i := f.Line; i > 0 && i <= min(f.Last, len(lines)); i++ {
				lines[i-1] = leftOut
			}
		}
	}
	return strings.Join(slices.CompactFunc(lines, func(a, b string) bool { return a == leftOut && b == leftOut }), "\n")
}

// Known takes out of a printable text only the values that are known: our own, the model's, and what the agent was given.
func Known(t *thread.Thread, text string) string {
	return without(private(t, func(string) bool { return true }), text)
}

func without(values []string, text string) string {
	for _, v := range values {
		if v = markdown.Printable(v); len(v) >= shortest {
			text = strings.ReplaceAll(text, v, "***")
		}
	}
	return text
}

// Words is Text for what a program prints that runs for the thread.
func Words(ctx context.Context, t *thread.Thread) func(string) string {
	ctx = context.WithoutCancel(ctx)
	return func(text string) string { return Text(ctx, t, text) }
}

// reaches reports whether an agent's text may link to a host, given in lower case; nil accepts all hosts. One click on a link sends
// its address to another server, past the agent's network.
func reaches(t *thread.Thread) func(host string) bool {
	if t.Settings.Agent.Network.Open() {
		return nil
	}
	hosts := t.Settings.Agent.Network.Reached()
	return func(host string) bool { return host == thread.Host(t.ServerURL) || slices.Contains(hosts, host) }
}

// Unaddressed is the message of a commit without links to what the agent may not reach.
func Unaddressed(t *thread.Thread, message string) string {
	if hosts := reaches(t); hosts != nil {
		return markdown.Unaddressed(message, hosts)
	}
	return message
}

// posted is an agent's text that is posted as Markdown. It is whole in itself, and notifies nobody who has not taken part.
func posted(ctx context.Context, t *thread.Thread, text string) string {
	text = markdown.Contain(Text(ctx, t, text), func(login string) bool { // has somebody taken part, as far as the conversation was read?
		is := func(a model.Actor) bool { return !a.Bot && strings.EqualFold(a.Login, login) }
		return is(t.Snap.Pull.Author) || slices.ContainsFunc(t.Snap.Comments, func(c model.Comment) bool { return is(c.Author) })
	})
	if hosts := reaches(t); hosts != nil {
		return markdown.Unlinked(text, hosts)
	}
	return text
}

// Outcome is an outcome whose words can be shown.
func Outcome(ctx context.Context, t *thread.Thread, o model.Outcome) model.Outcome {
	o.ReviewReplies = slices.Clone(o.ReviewReplies)
	for i := range o.ReviewReplies {
		o.ReviewReplies[i].Body = posted(ctx, t, o.ReviewReplies[i].Body)
	}
	line := func(text string) string { return Unaddressed(t, Text(ctx, t, text)) }
	body := line // which are made whole where they become part of a text
	if reaches(t) != nil {
		body = func(text string) string { return posted(ctx, t, text) }
	}
	for _, text := range []*string{&o.BlockedReason, &o.Title, &o.Goal, &o.PRTitle} {
		*text = line(*text)
	}
	for _, text := range []*string{&o.Summary, &o.PRSummary} {
		*text = body(*text)
	}
	o.GeneralComment = posted(ctx, t, o.GeneralComment)
	o.RoadmapItems = slices.Clone(o.RoadmapItems)
	for i := range o.RoadmapItems {
		one := &o.RoadmapItems[i]
		one.Title, one.Acceptance = line(one.Title), body(one.Acceptance)
	}
	if o.FlakyTestReport != nil {
		f := *o.FlakyTestReport
		f.Title, f.Summary, f.RelevantLogURL = line(f.Title), body(f.Summary), line(f.RelevantLogURL)
		o.FlakyTestReport = &f
	}
	return o
}

// Findings are findings whose words can be shown. One whose place cannot be is left out, and so is a suggestion that would not be
// what was meant.
func Findings(ctx context.Context, t *thread.Thread, all []model.Finding) []model.Finding {
	var out []model.Finding
	for _, f := range all {
		if Text(ctx, t, f.Path) != f.Path {
			continue
		}
		if lines := strings.ReplaceAll(f.Suggestion, "\r\n", "\n"); Text(ctx, t, lines) != lines {
			f.Suggestion = ""
		}
		f.Text = posted(ctx, t, f.Text)
		out = append(out, f)
	}
	return out
}

// Scanner finds secrets; it is made when it is needed first, which is long after the first call.
func Scanner(t *thread.Thread) (*leak.Scanner, error) {
	if t.Memory.Scanner == nil {
		scanner, err := leak.New()
		if err != nil {
			return nil, err
		}
		t.Memory.Scanner = scanner
	}
	return t.Memory.Scanner, nil
}
