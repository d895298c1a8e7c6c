// Package roadmap reads and writes a plan of many issues, and makes the pure decisions about it. It decides which issue is
// opened, labeled or closed next, who is asked about failures, and what the comment on the roadmap's issue shows.
package roadmap

import (
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/mergexo/mergexo/internal/frontmatter"
	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
)

// Plan is a roadmap as its file says it.
type Plan struct {
	Issue int // the issue that the roadmap was proposed for
	Title string
	Goal  string
	Items []Item
}

// Item is one item of a plan.
type Item struct {
	model.RoadmapItem
	Line int // where it begins in the file
}

// Item is the item with a key; nil for none.
func (p Plan) Item(key string) *Item {
	for i := range p.Items {
		if p.Items[i].Key == key {
			return &p.Items[i]
		}
	}
	return nil
}

// Flows are the flows that an item may have.
var Flows = []model.Flow{model.FlowDesign, model.FlowBugfix, model.FlowSmallJob}

// Limits of a file.
const (
	MostItems  = 100 // GitHub takes no more sub-issues: https://docs.github.com/issues/tracking-your-work-with-issues/using-issues/adding-sub-issues
	maxFile    = 256 << 10
	maxTitle   = 200   // characters
	maxText    = 4_000 // bytes of a goal or an acceptance
	mostNeeds  = MostItems
	mostWrong  = 30 // problems that are reported
	maxKeyName = 40
)

// Problem is something that does not hold in a file.
type Problem struct {
	Line int
	Text string
}

func (p Problem) String() string { return fmt.Sprintf("line %d: %s", p.Line, p.Text) }

// Problems are several of them, in the order of their lines. It implements error.
type Problems []Problem

func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i, one := range p {
		lines[i] = one.String()
	}
	return strings.Join(lines, "\n")
}

// Render is the file of a plan: what Parse reads, and a text for people below it.
func Render(p Plan, text string) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "---\nissue: %d\ntitle: %s\ngoal: %s\nitems:", p.Issue, frontmatter.Scalar(p.Title), frontmatter.Scalar(p.Goal))
	if len(p.Items) == 0 {
		b.WriteString(" []")
	}
	for _, i := range p.Items {
		fmt.Fprintf(&b, "\n  - key: %s\n    title: %s\n    flow: %s\n    needs: [%s]\n    acceptance: %s", word(i.Key), frontmatter.Scalar(i.Title), word(i.Flow), words(i.Needs), frontmatter.Scalar(i.Acceptance))
	}
	b.WriteString("\n---\n\n# " + markdown.Part(markdown.OneLine(p.Title), maxFile) + "\n")
	if text = strings.TrimSpace(text); text != "" {
		b.WriteString("\n" + text + "\n")
	}
	return []byte(b.String())
}

// word is a name as YAML: as it is, where that reads back as the same.
func word(s string) string {
	if keyShape.MatchString(s) && !ambiguous.MatchString(s) || s == string(model.FlowSmallJob) {
		return s
	}
	return frontmatter.Scalar(s)
}

func words(all []string) string {
	out := make([]string, len(all))
	for i, s := range all {
		out[i] = word(s)
	}
	return strings.Join(out, ", ")
}

// FileOf is the issue of the roadmap whose file a path is, by the name that MergeXO gives such files; 0 for another file.
func FileOf(dir, name string) int {
	n, is := number(name)
	if !is || path.Dir(path.Clean(name)) != path.Clean(dir) {
		return 0
	}
	return n
}

// number is the issue that the name of a roadmap's file begins with.
func number(name string) (n int, is bool) {
	digits, _, dash := strings.Cut(path.Base(name), "-")
	n, err := strconv.Atoi(digits)
	return n, dash && err == nil && n > 0 && path.Ext(name) == ".md"
}
