package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// manCommand prints the manual page. The library could, by a template and a parser of Markdown, for which every build of ours
// would have to be larger.
func manCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "man", Usage: "print the manual page",
		Description: "To read it: mergexo man | man -l -. To install it: mergexo man > ~/.local/share/man/man1/mergexo.1",
		Action: func(*cli.Context) error {
			_, err := io.WriteString(p.Out, manPage(table(p.app()), identity()))
			return err
		},
	}
}

// roff is a text that roff prints as it is: https://man7.org/linux/man-pages/man7/groff_man.7.html
func roff(s string) string {
	s = strings.NewReplacer(`\`, `\e`, `-`, `\-`).Replace(s)
	if strings.HasPrefix(s, ".") || strings.HasPrefix(s, "'") {
		return `\&` + s
	}
	return s
}

// roffText is a text of several paragraphs, whose lines are filled again.
func roffText(s string) string {
	var b strings.Builder
	for _, paragraph := range strings.Split(strings.TrimSpace(s), "\n\n") {
		if paragraph != "" {
			fmt.Fprintf(&b, ".PP\n%s\n", roff(strings.Join(strings.Fields(paragraph), " ")))
		}
	}
	return b.String()
}

// roffLines are lines to type, shown as they are.
func roffLines(lines []string) string { return ".EX\n" + roff(strings.Join(lines, "\n")) + "\n.EE\n" }

// manPage is the manual page of section 1.
func manPage(table []entry, identity string) string {
	var b strings.Builder
	root := table[0]
	fmt.Fprintf(&b, ".TH MERGEXO 1 \"\" \"%s\" \"User Commands\"\n", roff(identity))
	fmt.Fprintf(&b, ".SH NAME\nmergexo \\- %s\n.SH SYNOPSIS\n", roff(root.usage))
	b.WriteString(".B mergexo\n.I COMMAND\n.RI [ FLAG ...]\n")
	b.WriteString(".SH COMMANDS\n")
	for _, e := range table[1:] {
		fmt.Fprintf(&b, ".SS mergexo %s\n%s\n%s", roff(e.path), roff(sentence(e.usage)), roffText(e.text))
		if len(e.subs) == 0 {
			b.WriteString(manualOptions(slices.DeleteFunc(slices.Clone(e.options), func(o option) bool { return o.name == "color" }))) // the program's own
		}
		if lines := examples[e.path]; len(lines) > 0 {
			b.WriteString(".PP\nExamples:\n" + roffLines(lines))
		}
	}
	b.WriteString(".SH EXAMPLES\n" + roffLines(examples[""]))
	b.WriteString(".SH OPTIONS\n" + manualOptions(root.options))
	b.WriteString(".SH EXIT STATUS\n")
	for _, row := range []struct {
		code int
		says string
	}{
		{ExitOK, "Done, or there was nothing to do."}, {ExitFailed, "Something failed and is worth a look."},
		{ExitUsage, "The usage or the settings are wrong."}, {ExitBlocked, "A person is needed."},
		{ExitRetry, "Try again later: GitHub did not answer, a limit was reached, or another run holds the lock."},
	} {
		fmt.Fprintf(&b, ".TP\n.B %d\n%s\n", row.code, roff(row.says))
	}
	b.WriteString(".SH ENVIRONMENT\n")
	for _, row := range []struct {
		names []string
		says  string
	}{
		{tokenNames, "The token for GitHub; the first that is set counts."},
		{appIDNames[1:], "The id of a GitHub App, in place of a token."},
		{appKeyNames[1:], "The private key of that App."},
		{signingNames[1:], "The key that signs the hidden markers in MergeXO's comments."},
		{transcriptNames[1:], "The key that encrypts session transcripts."},
		{[]string{"NO_COLOR"}, "Any value turns colors off."},
		{[]string{"GITHUB_REPOSITORY"}, "The repository, as OWNER/NAME, if --repo is not given."},
		{[]string{"GITHUB_API_URL", "GITHUB_GRAPHQL_URL", "GITHUB_SERVER_URL"}, "The server, if it is not github.com."},
	} {
		fmt.Fprintf(&b, ".TP\n.BR %s\n%s\n", strings.Join(row.names, ` ", " `), roff(row.says))
	}
	return b.String()
}

func manualOptions(options []option) string {
	var b strings.Builder
	for _, o := range options {
		fmt.Fprintf(&b, ".TP\n\\fB%s\\fR", roff("--"+o.name))
		if o.value != "" {
			fmt.Fprintf(&b, " \\fI%s\\fR", roff(o.value))
		}
		usage := o.usage
		if o.initial != "" {
			usage += " (default: " + o.initial + ")"
		}
		fmt.Fprintf(&b, "\n%s\n", roff(sentence(usage)))
	}
	return b.String()
}

// sentence is a usage, which begins small and has no stop, as a sentence.
func sentence(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:] + "."
}
