package turn

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// item is one foreign text in a prompt: our line about it, and in a fence its names and body.
type item struct {
	head  string   // one line, or none
	names []string // lines within the fence, without empty ones
	body  words
	most  int  // maximum characters of the body
	tail  bool // shows the end, not the start
	under []*item

	in    bool
	shown int // characters of the body
}

// section is a titled list of items in reading order.
type section struct {
	title string
	items []*item
}

// claim is a claim on the budget, items by priority.
type claim struct {
	items []*item
	// least is how much of each body is always shown; 0 for items that may be dropped.
	least int
	// share is what the items get before claims of higher priority get the rest.
	share int
}

// shareOut decides how much of each item is shown: first every least, then each claim's share, then the rest of the budget
// by priority. It never exceeds the budget.
func shareOut(budget int, boundary string, claims []claim) {
	grow := func(i *item, room int) {
		before := 0
		if i.in {
			before = i.size(boundary)
		}
		budget += before
		i.fit(boundary, min(budget, before+room))
		if i.in {
			budget -= i.size(boundary)
		}
	}
	for _, c := range claims {
		for _, i := range c.items {
			if c.least > 0 {
				most := i.most
				i.most = min(most, c.least)
				grow(i, budget)
				i.most = most
			}
		}
	}
	for _, c := range claims {
		left := c.share
		for _, i := range c.items {
			before := budget
			grow(i, left)
			left -= before - budget
		}
	}
	for _, c := range claims {
		for _, i := range c.items {
			grow(i, budget)
		}
	}
}

// worth is the least useful length of a text.
const worth = 40

// fit shows as much as fits, and never less than before.
func (i *item) fit(boundary string, room int) {
	was, in := i.shown, i.in
	i.in, i.shown = true, min(len(i.body.text), i.most)
	for over := i.size(boundary) - room; over > 0 && i.shown > 0; over = i.size(boundary) - room {
		i.shown = max(i.shown-over, 0)
	}
	useless := i.shown < min(worth, len(i.body.text), i.most)
	if i.size(boundary) > room || i.shown < was || useless && !in && !i.named() {
		i.in, i.shown = in, was
	}
}

// named reports whether an item is useful without its body.
func (i *item) named() bool { return strings.Join(i.names, "") != "" }

func (i *item) size(boundary string) int { return utf8.RuneCountInString(i.render(boundary)) + 1 } // with the line above it

// render formats an item without its children.
func (i *item) render(boundary string) string {
	var b strings.Builder
	if i.head != "" {
		b.WriteString(i.head + "\n")
	}
	fmt.Fprintf(&b, "<<<%s\n", boundary)
	for _, n := range i.names {
		if n != "" {
			b.WriteString(n + "\n")
		}
	}
	if i.named() && i.shown > 0 {
		b.WriteString("\n")
	}
	if text := i.body.text; i.shown > 0 && i.tail {
		b.WriteString(string(text[len(text)-i.shown:]) + "\n")
	} else if i.shown > 0 {
		b.WriteString(string(text[:i.shown]) + "\n")
	}
	fmt.Fprintf(&b, "%s>>>\n", boundary)
	switch {
	case i.shown == i.body.total:
	case i.tail:
		fmt.Fprintf(&b, "[cut: the last %d of %d characters are shown]\n", i.shown, i.body.total)
	default:
		fmt.Fprintf(&b, "[cut: the first %d of %d characters are shown]\n", i.shown, i.body.total)
	}
	return b.String()
}

// frame is the size of a section without items.
func (s section) frame() int { return utf8.RuneCountInString(s.title) + 80 }

// write writes a non-empty section into the prompt.
func (s section) write(b *strings.Builder, boundary string) {
	if len(s.items) == 0 {
		return
	}
	fmt.Fprintf(b, "\n# %s\n", s.title)
	if out := writeItems(b, s.items, boundary); out > 0 {
		fmt.Fprintf(b, "\n[left out to save space: %d]\n", out)
	}
}

// writeItems writes items with their children, and counts those left out.
func writeItems(b *strings.Builder, items []*item, boundary string) (out int) {
	for _, i := range items {
		if !i.in {
			out++
			continue
		}
		b.WriteString("\n" + i.render(boundary))
		for _, u := range i.under {
			if u.in {
				b.WriteString(u.render(boundary))
			} else {
				out++
			}
		}
	}
	return out
}
