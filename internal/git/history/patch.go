package history

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/syntax"
)

// HasMarkers reports whether the new lines of an addition have conflict markers; older lines around them do not count.
func (a Addition) HasMarkers() bool {
	i := 0
	for line := range bytes.Lines(a.Text) {
		if (a.Fresh == nil || i < len(a.Fresh) && a.Fresh[i]) && syntax.HasMarkers(line) {
			return true
		}
		i++
	}
	return false
}

// Addition is text that a push would newly publish: part of a file in one commit, the name of a new file, or a commit
// itself.
type Addition struct {
	Commit string
	Path   string // bytes as git has them; "" is the commit itself: its headers and its message
	Line   int    // number of Text's first line; 0 if Text is the path itself. A commit message starts at 1
	Text   []byte // valid during the visit only
	Fresh  []bool // per line of Text: no parent has it in this file; nil: all are new
	Binary bool   // as in git: a zero byte near the start
}

// Unseen is a file that was not read.
type Unseen struct {
	Commit, Path string
	Size         int64
	Why          Why
	Binary       bool // as far as known
}

// Why says why a file was not read.
type Why string

// The reasons.
const (
	TooLarge Why = "too large"        // the file itself
	TooMuch  Why = "too much in all"  // earlier files have used up the total limit
	NotHere  Why = "content not here" // in a partial clone, or a damaged one
)

// Scope limits what Patches reads, in bytes; 0 is the default.
type Scope struct {
	File  int64 // of one file, 8 MiB
	Total int64 // of all files, including those compared with, 256 MiB
}

const around = 10 // context lines around a new one

// Patches visits the text of it: the names of all new files, and then, for every commit, oldest first, the commit object
// with its message and, of each changed file, the lines that none of the commit's parents has in that file, with some
// context. A line with only white space changed is not new, nor is content that existed under another name. It returns
// what was not read.
//
// It compares contents itself, byte by byte, instead of using git's diff, so that nothing in the checkout (attributes,
// drivers, text conversions) influences the result. One process, whatever the number of commits and files.
func (p *Published) Patches(ctx context.Context, c *git.Checkout, scope Scope, visit func(Addition) error) ([]Unseen, error) {
	if scope.File <= 0 {
		scope.File = 8 << 20
	}
	if scope.Total <= 0 {
		scope.Total = 256 << 20
	}
	w := &patches{scope: scope, visit: visit}
	for _, s := range p.steps {
		if s.Status == "A" && !s.whole {
			if err := visit(Addition{Commit: s.Commit, Path: s.Path, Text: []byte(s.Path)}); err != nil {
				return nil, err
			}
		}
	}
	w.plan(p.commits, p.steps, p.sizes)
	if err := c.Contents(ctx, w.ask, w.take); err != nil {
		return nil, fmt.Errorf("read what %s..%s adds: %w", p.from, p.to, err)
	}
	p.Pointers, p.Marked = w.pointers, w.marked
	return w.unseen, nil
}

// job is one file or commit whose text is to be visited.
type job struct {
	Step
	before []string // read after it, to compare with
	peek   bool     // only checked for being binary
}

// patches is one walk over a range.
type patches struct {
	scope  Scope
	visit  func(Addition) error
	unseen []Unseen

	pointers []Step
	marked   []string

	jobs []job
	ask  []string // the jobs' objects, in order

	// The current file, and how many objects of its job are still to come.
	text  []byte
	lines []int // where its lines start
	fresh []bool
	left  int
}

// plan decides what to read. Content that a parent has under any name is published already, or was visited with an earlier
// commit.
func (p *patches) plan(commits []string, steps []Step, sizes map[string]int64) {
	seen := map[string]bool{}
	for _, commit := range commits {
		p.add(Step{Commit: commit, Change: Change{Id: commit}}, sizes)
		own := 0
		for own < len(steps) && steps[own].Commit == commit && !steps[own].whole {
			for _, id := range steps[own].before {
				seen[id] = true
			}
			own++
		}
		for _, s := range steps[:own] {
			if s.IsBlob() && !seen[s.Id] {
				p.add(s, sizes)
			}
		}
		for _, s := range steps[:own] { // only now: each of two copies in a commit is checked by its own name
			seen[s.Id] = true
		}
		steps = steps[own:]
	}
}

// add takes a file, or records why not.
func (p *patches) add(s Step, sizes map[string]int64) {
	j := job{Step: s}
	j.Size = sizes[s.Id]
	cost := j.Size
	for _, id := range s.before {
		if size := sizes[id]; size >= 0 && size <= p.scope.File {
			j.before = append(j.before, id)
			cost += size
		}
	}
	switch {
	case j.Size < 0:
		p.unseen = append(p.unseen, Unseen{Commit: s.Commit, Path: s.Path, Why: NotHere})
		return
	case j.Size > git.LargestFile:
		p.unseen = append(p.unseen, Unseen{Commit: s.Commit, Path: s.Path, Size: j.Size, Why: TooLarge})
		return
	case j.Size > p.scope.File:
		j.peek, j.before = true, nil
	case cost > p.scope.Total:
		p.unseen = append(p.unseen, Unseen{Commit: s.Commit, Path: s.Path, Size: j.Size, Why: TooMuch})
		return
	default:
		p.scope.Total -= cost
	}
	p.jobs = append(p.jobs, j)
	p.ask = append(append(p.ask, s.Id), j.before...)
}

// take gets the objects one by one: of each job first the new content, then what to compare it with.
func (p *patches) take(_ string, content io.Reader) error {
	j := &p.jobs[0]
	if p.left > 0 {
		old, err := io.ReadAll(content)
		if err != nil {
			return err
		}
		p.compare(string(old))
		if p.left--; p.left == 0 {
			return p.done()
		}
		return nil
	}
	if j.peek {
		head, err := io.ReadAll(io.LimitReader(content, syntax.Sniffed))
		p.unseen = append(p.unseen, Unseen{Commit: j.Commit, Path: j.Path, Size: j.Size, Why: TooLarge, Binary: syntax.IsBinary(head)})
		p.begin(nil)
		return errors.Join(err, p.done())
	}
	text, err := io.ReadAll(content)
	if err != nil {
		return err
	}
	if syntax.IsPointer(text) {
		p.pointers = append(p.pointers, j.Step)
	}
	p.begin(text)
	if p.left = len(j.before); p.left == 0 {
		return p.done()
	}
	return nil
}

// begin marks all non-empty lines of a text as new.
func (p *patches) begin(text []byte) {
	p.text, p.lines, p.fresh = text, p.lines[:0], p.fresh[:0]
	for at := 0; at < len(text); {
		end := len(text)
		if i := bytes.IndexByte(text[at:], '\n'); i >= 0 {
			end = at + i + 1
		}
		p.lines = append(p.lines, at)
		p.fresh = append(p.fresh, len(bytes.TrimSpace(text[at:end])) > 0)
		at = end
	}
}

// line is a line with its end.
func (p *patches) line(i int) []byte { return p.text[p.lines[i]:p.end(i)] }

// end is where a line ends.
func (p *patches) end(i int) int {
	if i+1 < len(p.lines) {
		return p.lines[i+1]
	}
	return len(p.text)
}

// compare marks the lines of an old content as known.
func (p *patches) compare(old string) {
	known := map[string]struct{}{}
	for row := range strings.Lines(old) {
		known[strings.TrimSpace(row)] = struct{}{}
	}
	for i := range p.lines {
		if p.fresh[i] {
			_, there := known[string(bytes.TrimSpace(p.line(i)))]
			p.fresh[i] = !there
		}
	}
}

// done visits what is new in the current file, and goes on to the next.
func (p *patches) done() error {
	j := p.jobs[0]
	p.jobs = p.jobs[1:]
	if j.Path == "" {
		return p.commit(j)
	}
	binary := syntax.IsBinary(p.text)
	for i := 0; i < len(p.fresh); {
		if !p.fresh[i] {
			i++
			continue
		}
		from, last := max(0, i-around), i
		for i = i + 1; i < len(p.fresh) && i <= last+2*around; i++ {
			if p.fresh[i] {
				last = i
			}
		}
		to := min(last+around+1, len(p.fresh))
		a := Addition{Commit: j.Commit, Path: j.Path, Line: from + 1, Text: p.text[p.lines[from]:p.end(to-1)], Fresh: p.fresh[from:to], Binary: binary}
		if a.HasMarkers() && !slices.Contains(p.marked, a.Path) {
			p.marked = append(p.marked, a.Path)
		}
		if err := p.visit(a); err != nil {
			return err
		}
		i = to
	}
	return nil
}

// commit visits a raw commit: its headers may hold anything.
func (p *patches) commit(j job) error {
	head, _, _ := bytes.Cut(p.text, []byte("\n\n"))
	return p.visit(Addition{Commit: j.Commit, Line: -bytes.Count(head, []byte("\n")) - 1, Text: p.text})
}
