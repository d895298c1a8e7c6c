package roadmap

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
)

// Limits of a graph. Mermaid draws no more than 500 edges and 50,000 characters, and nobody can read that many.
// https://mermaid.js.org/config/schema-docs/config.html
const (
	mostEdges  = 300
	maxGraph   = 20_000
	labelLimit = 40
)

// looks are the classes of the states: fill and border.
var looks = []struct {
	state model.ItemState
	style string
}{
	{model.ItemDone, "fill:#d1f0d9,stroke:#1a7f37,color:#1f2328"},
	{model.ItemRunning, "fill:#ddeeff,stroke:#0969da,color:#1f2328"},
	{model.ItemFailed, "fill:#ffdcd7,stroke:#cf222e,color:#1f2328"},
	{model.ItemBlocked, "fill:#fff1d6,stroke:#bf8700,color:#1f2328"},
}

// Graph draws the items as a Mermaid flowchart, what is needed before what needs it; "" for a graph that is too large to draw.
// Nodes are named by their place, never by what somebody wrote.
func Graph(rows []Row) string {
	var b strings.Builder
	b.WriteString("flowchart LR\n")
	at, edges := map[string]int{}, 0
	for i, r := range rows {
		if r.Dropped {
			continue
		}
		at[r.Key] = i + 1
		name := r.Title
		if r.Fact.Issue != 0 {
			name = fmt.Sprintf("#%d %s", r.Fact.Issue, r.Title)
		}
		fmt.Fprintf(&b, "  i%d[\"%s\"]", i+1, label(name))
		for _, l := range looks {
			if l.state == r.State {
				b.WriteString(":::" + string(r.State))
			}
		}
		b.WriteString("\n")
	}
	for i, r := range rows {
		for _, key := range r.Needs {
			if n, known := at[key]; known && !r.Dropped {
				fmt.Fprintf(&b, "  i%d --> i%d\n", n, i+1)
				edges++
			}
		}
	}
	for _, l := range looks {
		if slices.ContainsFunc(rows, func(r Row) bool { return r.State == l.state && !r.Dropped }) {
			fmt.Fprintf(&b, "  classDef %s %s\n", l.state, l.style)
		}
	}
	if edges > mostEdges || b.Len() > maxGraph {
		return ""
	}
	return b.String()
}

// label is a text within the quotes of a node: what Mermaid or HTML could act on is written as the number of its character.
// https://mermaid.js.org/syntax/flowchart.html#entity-codes-to-escape-characters
func label(s string) string {
	runes := []rune(markdown.OneLine(s))
	if len(runes) > labelLimit {
		runes = append(runes[:labelLimit-1:labelLimit-1], '…')
	}
	var b strings.Builder
	for _, r := range runes {
		if r == ' ' || r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, "#%d;", r)
		}
	}
	return b.String()
}
