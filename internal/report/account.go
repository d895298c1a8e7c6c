package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
)

// Account writes what a run did as plain text for a terminal: comments and pushes in the order in which they happened, then the
// result and its cost. It leaves out text that an edit replaced, the addresses of links and the hidden markers of our comments.
// Quoted text follows "| " and contains no terminal sequence.
func Account(w io.Writer, r model.Report) error {
	var b strings.Builder
	i := inkOf(w)
	for _, s := range r.Said {
		if !s.Passing {
			fmt.Fprintf(&b, "%s\n%s\n\n", i.in(strong, "- "+oneLine(s.Where)), indent(markdown.Flat(visible(s.Text)), "  | "))
		}
	}
	for _, t := range r.Trains {
		b.WriteString(train(t, columnsOf(w)) + "\n")
	}
	planned(&b, r.Effects)
	decided(&b, r, i)
	return text(w, b.String())
}

// planned lists what a dry run would have done.
func planned(b *strings.Builder, all []model.Effect) {
	wrote := false
	for _, e := range all {
		if e.Status == "planned" {
			fmt.Fprintln(b, "would "+deed(e.Kind, oneLine(e.Target)))
			wrote = true
		}
	}
	if wrote {
		fmt.Fprintln(b)
	}
}

// deeds are what effects do to their targets.
var deeds = map[string]string{
	"comment": "comment on #%s", "edit": "edit comment %s", "reply": "reply to review comment %s", "react": "react to comment %s", "close": "close #%s",
	"push": "push to %s", "stage": "keep the commits on %s", "checkpoint": "keep work on %s", "pull_request": "open a pull request from %s",
	"rerun": "rerun workflow run %s", "cancel": "cancel workflow run %s", "status": "set a commit status on %s", "merge": "merge into %s",
}

// deed is what an effect does, in words. What is only planned itself has no number yet.
func deed(kind, target string) string {
	switch form, known := deeds[kind]; {
	case kind == "conflicts":
		return "check which pull requests conflict"
	case target == "":
		return oneLine(kind)
	case known:
		return fmt.Sprintf(form, target)
	case kind == "delete" && strings.Trim(target, "0123456789") == "":
		return "delete comment " + target
	}
	return oneLine(kind) + " " + target
}

// resultStyles are the colors of results.
var resultStyles = map[model.Result]style{model.ResultDone: green, model.ResultBlocked: yellow, model.ResultRetry: yellow, model.ResultFailed: red}

func decided(b *strings.Builder, r model.Report, i ink) {
	first, more, _ := strings.Cut(plain(strings.TrimSpace(r.Reason)), "\n")
	line := "result: " + i.in(resultStyles[r.Result], oneLine(string(r.Result)))
	switch {
	case first != "":
		line += ", " + first
	case r.Opened.Number != 0:
		line += fmt.Sprintf(", issue #%d led to pull request #%d, which is at %s", r.Number, r.Opened.Number, short(reached(r)))
	case r.Number != 0 && r.HeadSHA != "":
		line += fmt.Sprintf(", pull request #%d is at %s", r.Number, short(r.HeadSHA))
	}
	fmt.Fprintln(b, line)
	if more != "" {
		fmt.Fprintln(b, indent(more, "  | "))
	}
	if r.Expected != "" && r.Observed != "" && r.Expected != r.Observed {
		fmt.Fprintf(b, "expected head %s, observed %s\n", oneLine(r.Expected), oneLine(r.Observed))
	}
	if calls := r.Calls.REST + r.Calls.GraphQL; calls > 0 {
		fmt.Fprintf(b, "it took %s and %s\n", plural(calls, "GitHub call", "GitHub calls"), plural(r.Calls.Git, "git network operation", "git network operations"))
	}
}
