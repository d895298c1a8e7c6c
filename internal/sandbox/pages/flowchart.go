package pages

import (
	"cmp"
	"fmt"
	"html"
	"regexp"
	"slices"
	"strings"
)

// flowchart is a Mermaid flowchart of the kind that MergeXO writes: boxes and arrows from left to right, or from right to left.
// https://mermaid.js.org/syntax/flowchart.html
type flowchart struct {
	leftward bool
	boxes    []*box
	arrows   []arrow
}

// box has its place once it is laid out: a column, and the middle of its left side.
type box struct {
	name, state string
	lines       []string
	column      int
	weight      float64 // the mean place of the boxes to its left
	x, y, width float64
}

type arrow struct {
	from, to *box
	dashed   bool
	text     string
}

var (
	boxLine   = regexp.MustCompile(`^(\w+)(?:\["(.*)"\]|\(\["(.*)"\]\))(?::::(\w+))?$`)
	arrowLine = regexp.MustCompile(`^(\w+) (-->|-\.->)(?:\|([^|]*)\|)? (\w+)$`)
	entity    = regexp.MustCompile(`#(\d+;)`)
)

// mostBoxes limits the boxes of a drawing.
const mostBoxes = 200

// readFlowchart reads one. What has other statements is not drawn.
func readFlowchart(text string) (*flowchart, bool) {
	f := &flowchart{}
	known := map[string]*box{}
	for i, line := range strings.Split(strings.TrimSpace(text), "\n") {
		line = strings.TrimSpace(line)
		at, between := boxLine.FindStringSubmatch(line), arrowLine.FindStringSubmatch(line)
		switch {
		case i == 0 && (line == "flowchart LR" || line == "flowchart RL"):
			f.leftward = line == "flowchart RL"
		case i == 0:
			return nil, false
		case at != nil:
			label := html.UnescapeString(entity.ReplaceAllString(at[2]+at[3], "&#$1"))
			b := &box{name: at[1], state: at[4], lines: strings.Split(label, "<br/>")}
			known[b.name], f.boxes = b, append(f.boxes, b)
		case between != nil && known[between[1]] != nil && known[between[4]] != nil:
			f.arrows = append(f.arrows, arrow{known[between[1]], known[between[4]], between[2] != "-->", between[3]})
		case !strings.HasPrefix(line, "classDef "):
			return nil, false
		}
	}
	return f, len(f.boxes) > 0 && len(f.boxes) <= mostBoxes
}

// Sizes in pixels.
const (
	glyph, lineHeight, margin = 7.5, 18.0, 12.0
	gap, textGap              = 44.0, 120.0 // between columns, the second where an arrow has a text
)

// place lays the boxes out in columns, each behind all those it has an arrow from, and returns the size of the picture.
func (f *flowchart) place() (width, height float64) {
	for range f.boxes { // the longest way has no more arrows; a circle ends here as well
		for _, a := range f.arrows {
			from, to := f.ends(a)
			to.column = min(max(to.column, from.column+1), len(f.boxes)-1)
		}
	}
	columns := make([][]*box, len(f.boxes))
	for _, b := range f.boxes {
		columns[b.column] = append(columns[b.column], b)
		b.width = 2 * margin
		for _, line := range b.lines {
			b.width = max(b.width, glyph*float64(len([]rune(line)))+2*margin)
		}
		height = max(height, float64(len(columns[b.column]))*b.step())
	}
	between := gap
	if slices.ContainsFunc(f.arrows, func(a arrow) bool { return a.text != "" }) {
		between = textGap
	}
	for _, column := range columns {
		f.weigh(column)
		widest, tall := 0.0, 0.0
		for _, b := range column {
			widest, tall = max(widest, b.width), tall+b.step()
		}
		y := (height - tall) / 2
		for _, b := range column {
			b.x, b.y = width, y+b.step()/2
			y += b.step()
		}
		if len(column) > 0 {
			width += widest + between
		}
	}
	return width - between, height
}

// weigh sorts a column so that a box is near those that lead to it.
func (f *flowchart) weigh(column []*box) {
	for _, b := range column {
		n := 0.0
		for _, a := range f.arrows {
			if from, to := f.ends(a); to == b {
				b.weight, n = b.weight+from.y, n+1
			}
		}
		b.weight /= max(n, 1)
	}
	slices.SortStableFunc(column, func(a, b *box) int { return cmp.Compare(a.weight, b.weight) })
}

// ends are the left and the right box of an arrow.
func (f *flowchart) ends(a arrow) (left, right *box) {
	if f.leftward {
		return a.to, a.from
	}
	return a.from, a.to
}

func (b *box) height() float64 { return lineHeight*float64(len(b.lines)) + margin }
func (b *box) step() float64   { return b.height() + margin }

// svg draws it. Its colors are those of the sheet.
func (f *flowchart) svg() string {
	width, height := f.place()
	var b strings.Builder
	fmt.Fprintf(&b, `<div class="wide"><svg class="graph" viewBox="-1 -1 %[1]g %[2]g" width="%[1]g" height="%[2]g" role="img" aria-label="%[3]d boxes">`, width+2, height+2, len(f.boxes))
	for _, a := range f.arrows {
		left, right := f.ends(a)
		x, end, dashed := left.x+left.width, right.x, ""
		if a.dashed {
			dashed = ` stroke-dasharray="4 3"`
		}
		fmt.Fprintf(&b, `<path class="arrow"%s d="M%g %gC%g %g %g %g %g %g"/>`, dashed, x, left.y, (x+end)/2, left.y, (x+end)/2, right.y, end, right.y)
		if f.leftward {
			fmt.Fprintf(&b, `<path class="point" d="M%g %gl8 -4v8z"/>`, x, left.y)
		} else {
			fmt.Fprintf(&b, `<path class="point" d="M%g %gl-8 -4v8z"/>`, end, right.y)
		}
		if a.text != "" {
			fmt.Fprintf(&b, `<text x="%g" y="%g">%s</text>`, (x+end)/2, (left.y+right.y)/2-4, html.EscapeString(a.text))
		}
	}
	for _, n := range f.boxes {
		fmt.Fprintf(&b, `<g class="%s"><rect x="%g" y="%g" width="%g" height="%g" rx="6"/>`, n.state, n.x, n.y-n.height()/2, n.width, n.height())
		for i, line := range n.lines {
			y := n.y + lineHeight*(float64(i)-float64(len(n.lines))/2) + 13
			fmt.Fprintf(&b, `<text x="%g" y="%g">%s</text>`, n.x+n.width/2, y, html.EscapeString(line))
		}
		b.WriteString("</g>")
	}
	return b.String() + "</svg></div>\n"
}
