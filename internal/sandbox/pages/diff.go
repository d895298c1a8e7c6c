package pages

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// file is one of a diff.
type file struct {
	Name      string `json:"filename"`
	Old       string `json:"previous_filename"`
	Status    string `json:"status"`
	Additions int    `json:"additions"`
	Deletions int    `json:"deletions"`
	Patch     string `json:"patch"`

	Rows  []row
	Aside []*discussion // threads that stand on no line of the diff
	Frame *page
}

// row is a line of a diff.
type row struct {
	Kind     string // add, del, same or hunk
	Old, New string // numbers of the line
	Text     string
	Rounds   []*discussion
	Pick     string // the page with a form for this line; empty: it takes no comment
	Form     *lineForm
}

// lineForm is the form to comment on a line, below it.
type lineForm struct {
	Number               int
	Path, Commit         string
	Side, Line, Proposed string
	Frame                *page
}

var hunk = regexp.MustCompile(`^@@ -(\d+)(?:,\d+)? \+(\d+)`)

// patch reads the hunks of a file.
func patch(text string) []row {
	if text == "" {
		return nil
	}
	var rows []row
	var before, after int
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		if at := hunk.FindStringSubmatch(line); at != nil {
			before, _ = strconv.Atoi(at[1]) // digits
			after, _ = strconv.Atoi(at[2])
			rows = append(rows, row{Kind: "hunk", Text: line})
			continue
		}
		r := row{Kind: "same", Text: strings.TrimPrefix(line, " ")}
		switch {
		case strings.HasPrefix(line, "+"):
			r = row{Kind: "add", New: strconv.Itoa(after), Text: line[1:]}
			after++
		case strings.HasPrefix(line, "-"):
			r = row{Kind: "del", Old: strconv.Itoa(before), Text: line[1:]}
			before++
		case strings.HasPrefix(line, `\`):
			r.Kind = "hunk"
		default:
			r.Old, r.New = strconv.Itoa(before), strconv.Itoa(after)
			before++
			after++
		}
		rows = append(rows, r)
	}
	return rows
}

// place puts the threads of a pull request onto the lines of a file.
func (f *file) place(rounds []*discussion) {
	for _, d := range rounds {
		if d.Path != f.Name {
			continue
		}
		at := slices.IndexFunc(f.Rows, func(r row) bool {
			line := r.New
			if d.Side == "LEFT" {
				line = r.Old
			}
			return !d.Outdated && line == strconv.Itoa(d.Line)
		})
		if d.Frame = f.Frame; at < 0 {
			f.Aside = append(f.Aside, d)
			continue
		}
		f.Rows[at].Rounds = append(f.Rows[at].Rounds, d)
	}
}

// pick lets people choose a line of a file, and puts the form below the one that the address or a refused form names.
func (f *file) pick(v *view, h *head) {
	for i := range f.Rows {
		r := &f.Rows[i]
		if r.Kind == "hunk" {
			continue
		}
		at := lineForm{Number: h.Number, Path: f.Name, Commit: h.Pull.Head.SHA, Side: "RIGHT", Line: r.New, Frame: f.Frame}
		at.Proposed = "\n\n```suggestion\n" + r.Text + "\n```\n"
		if r.Kind == "del" {
			at.Side, at.Line, at.Proposed = "LEFT", r.Old, ""
		}
		query := url.Values{"path": {at.Path}, "side": {at.Side}, "line": {at.Line}}
		r.Pick = fmt.Sprintf("/%s/pull/%d/files?%s#draft", v.repo, h.Number, query.Encode())
		if v.r.FormValue("path") == at.Path && v.r.FormValue("side") == at.Side && v.r.FormValue("line") == at.Line {
			r.Form = &at
		}
	}
}

func pullFiles(v *view) (*page, string, error) {
	h, err := v.head("pull")
	if err != nil {
		return nil, "", err
	}
	if h.Files, err = list[file](v, fmt.Sprintf("/pulls/%d/files", h.Number)); err != nil {
		return nil, "", err
	}
	byReview, err := v.discussions(h.Number)
	if err != nil {
		return nil, "", err
	}
	shown := v.page(h, "files")
	for i := range h.Files {
		f := &h.Files[i]
		f.Rows, f.Frame = patch(f.Patch), shown
		f.pick(v, h)
		for _, rounds := range byReview {
			f.place(rounds)
		}
	}
	return shown, "files", nil
}

// commitJSON is a commit.
type commitJSON struct {
	SHA    string `json:"sha"`
	Author *user  `json:"author"`
	Commit struct {
		Message string `json:"message"`
		Author  struct {
			Name string    `json:"name"`
			Date time.Time `json:"date"`
		} `json:"author"`
	} `json:"commit"`
	Parents []struct {
		SHA string `json:"sha"`
	} `json:"parents"`
	Files []file `json:"files"`
}

func pullCommits(v *view) (*page, string, error) {
	h, err := v.head("pull")
	if err != nil {
		return nil, "", err
	}
	h.List, err = list[commitJSON](v, fmt.Sprintf("/pulls/%d/commits", h.Number))
	return v.page(h, "commits"), "commits", err
}

func commit(v *view) (*page, string, error) {
	c := &struct {
		commitJSON
		Checks []check
	}{}
	if err := v.get("/commits/"+url.PathEscape(v.r.PathValue("sha")), &c.commitJSON); err != nil {
		return nil, "", err
	}
	for i := range c.Files {
		c.Files[i].Rows = patch(c.Files[i].Patch)
	}
	var checks struct {
		Runs []check `json:"check_runs"`
	}
	if err := v.get("/commits/"+c.SHA+"/check-runs", &checks); err != nil {
		return nil, "", err
	}
	c.Checks = checks.Runs
	return &page{Title: short(c.SHA), Tab: "branches", Body: c}, "commit", nil
}

// check is the result of a program on a commit.
type check struct {
	Name       string `json:"name"`
	Status     string `json:"status"`
	Conclusion string `json:"conclusion"`
	URL        string `json:"details_url"`
}

func compare(v *view) (*page, string, error) {
	c := &struct {
		Range   string
		Commits []commitJSON `json:"commits"`
		Files   []file       `json:"files"`
	}{Range: v.r.PathValue("range")}
	path := c.Range
	if !strings.Contains(path, "...") { // what GitHub compares with the default branch
		var r struct {
			Default string `json:"default_branch"`
		}
		if err := v.get("", &r); err != nil {
			return nil, "", err
		}
		path = r.Default + "..." + path
	}
	if err := v.get("/compare/"+(&url.URL{Path: path}).EscapedPath(), c); err != nil {
		return nil, "", err
	}
	for i := range c.Files {
		c.Files[i].Rows = patch(c.Files[i].Patch)
	}
	return &page{Title: c.Range, Tab: "branches", Body: c}, "compare", nil
}
