package doctor

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/mergexo/mergexo/internal/markdown"
)

// signs precede a finding in a terminal.
var signs = map[Level]string{OK: "ok", Warning: "warn", Problem: "fix", Unchecked: "-"}

// Text is findings in groups: one line each, with the id of the rule at its end and the fix below it, and a count of them all.
func Text(findings []Finding) string {
	var out strings.Builder
	group, count := "", map[Level]int{}
	for _, f := range findings {
		if count[f.Level]++; f.Group != group {
			if group != "" {
				out.WriteString("\n")
			}
			group = f.Group
			out.WriteString(group + "\n")
		}
		rule := ""
		if f.Level == Warning || f.Level == Problem {
			rule = " [" + f.Rule + "]"
		}
		fmt.Fprintf(&out, "  %-5s %s%s\n", signs[f.Level], f.Text, rule)
		if f.Fix != "" {
			fmt.Fprintf(&out, "        %s\n", f.Fix)
		}
	}
	fmt.Fprintf(&out, "\n%d to fix, %d worth a look, %d ok", count[Problem], count[Warning], count[OK])
	if count[Unchecked] > 0 {
		fmt.Fprintf(&out, ", %d not checked", count[Unchecked])
	}
	return out.String() + "\n"
}

// oneLine makes untrusted text safe for one line of output: no control characters, nothing that reorders or hides text, no
// runner commands (https://github.com/actions/runner/blob/main/src/Runner.Common/ActionCommand.cs), and a limited length.
func oneLine(s string) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "\uFFFD")), " ")
	s = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return unicode.ReplacementChar
		}
		return r
	}, s)
	return strings.ReplaceAll(markdown.Cut(s, 400), "##[", "## [")
}

// quote quotes untrusted text, shortened and with invisible characters escaped.
func quote(s string) string { return strconv.Quote(markdown.Cut(s, 80)) }

// list is "a, b and c".
func list(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}

// sorted is a sorted list without duplicates.
func sorted(words []string) []string {
	words = slices.Clone(words)
	slices.Sort(words)
	return slices.Compact(words)
}

// each is what there is to say of each one.
func each[T, U any](all []T, say func(T) U) []U {
	out := make([]U, 0, len(all))
	for _, one := range all {
		out = append(out, say(one))
	}
	return out
}
