package agent

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/bluekeyes/go-gitdiff/gitdiff"

	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
)

// beginPull answers a request for a new pull request without a model: it applies diff blocks, or turns the issue into a
// design document, so that every flow can be tried offline.
func beginPull(ctx context.Context, files Files, dir string, req model.Request) (model.Outcome, error) {
	texts, why := shownOf(req)
	switch {
	case why != "":
		return model.Outcome{BlockedReason: why}, nil
	case req.Kind == model.AskRepair:
		return model.Outcome{DeadEnd: true, BlockedReason: "Not applied: the tests fail with these diff blocks.\n" + output(req)}, nil
	case req.Kind == model.AskDesign:
		return design(req, texts), nil
	case req.Kind == model.AskRoadmap:
		return planned(req, texts), nil
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return model.Outcome{}, broken(fmt.Errorf("open checkout: %w", err))
	}
	defer root.Close()
	t, why, err := applied(ctx, files, root, req, texts)
	if err != nil {
		return model.Outcome{}, broken(err)
	}
	if why != "" {
		return model.Outcome{BlockedReason: why}, nil
	}
	paths, how := t.changed()
	if err := t.write(); err != nil {
		return model.Outcome{}, broken(err)
	}
	return pullOf(req, paths, how), nil
}

// broken is an error of the checkout, not of the request.
func broken(err error) error { return &Error{Kind: Exit, Exit: -1, Detail: err.Error(), Err: err} }

// pullOf describes what was changed.
func pullOf(req model.Request, paths []string, how map[string]string) model.Outcome {
	out := model.Outcome{PRTitle: titleOf(req), PRSummary: "The changes in the diff blocks are already there."}
	if len(paths) > 0 {
		out.CommitMessage = out.PRTitle
		out.PRSummary = "Applied the diff blocks:\n"
		for _, name := range paths {
			out.PRSummary += "\n- `" + strings.ReplaceAll(excerpt(name, 200), "`", "'") + "`"
			if how[name] != "" {
				out.PRSummary += ", " + how[name]
			}
		}
	}
	return out
}

// shown is a text as it was written, and as people see it.
type shown struct{ name, raw, text string }

// maxShown bounds the bytes of a text that are rendered: rendering takes more than linear time.
const maxShown = 100_000

// shownOf are the texts of a request, in order: the design document, the issue, and what was said about it.
func shownOf(req model.Request) (texts []shown, why string) {
	if req.Design != nil {
		texts = append(texts, shown{name: "the design document", raw: req.Design.Text})
	}
	if req.Issue != nil {
		texts = append(texts, shown{name: "the issue", raw: req.Issue.Body})
	}
	for _, f := range req.Feedback {
		texts = append(texts, shown{name: fmt.Sprintf("comment %d", f.ID), raw: f.Body})
	}
	for i, one := range texts {
		if len(one.raw) > maxShown {
			return nil, fmt.Sprintf("%s has %d bytes, and this agent reads at most %d", one.name, len(one.raw), maxShown)
		}
		texts[i].text = strings.TrimSpace(markdown.Shown(one.raw))
	}
	return texts, ""
}

// applied applies all diff blocks to the checkout without writing anything; why tells a person why they do not apply. The diffs
// of a design document replace those of its issue, and after an earlier attempt the comments may replace those of the issue.
func applied(ctx context.Context, files Files, root *os.Root, req model.Request, texts []shown) (t *tree, why string, err error) {
	var first, comments []diff
	for _, one := range texts {
		switch found := diffsOf(one.name, one.raw); {
		case strings.HasPrefix(one.name, "comment "):
			comments = append(comments, found...)
		case len(first) == 0:
			first = found
		}
	}
	tries := [][]diff{append(first, comments...)}
	if len(tries[0]) == 0 {
		return nil, "this agent applies the diff blocks of an issue; there are none here", nil
	}
	if len(req.History) > 0 && len(first) > 0 && len(comments) > 0 {
		tries = append(tries, comments)
	}
	for _, diffs := range tries {
		t, now, err := applyDiffs(ctx, files, root, diffs)
		if err != nil || now == "" {
			return t, "", err
		}
		if why == "" {
			why = now
		}
	}
	return nil, why, nil
}

func applyDiffs(ctx context.Context, files Files, root *os.Root, diffs []diff) (*tree, string, error) {
	t := newTree(root, files)
	for _, d := range diffs {
		files, why := d.read()
		if why != "" {
			return nil, d.where + " cannot be applied: " + why, nil
		}
		for _, f := range files {
			why, err := t.apply(ctx, f)
			if err != nil {
				return nil, "", err
			}
			if why != "" {
				return nil, fmt.Sprintf("%s cannot be applied to %s: %s", d.where, excerpt(pathOf(f), 200), why), nil
			}
		}
	}
	return t, "", nil
}

// pathOf is the path that a file of a diff is known by.
func pathOf(f *gitdiff.File) string { return cmp.Or(f.NewName, f.OldName) }

// titleOf is the issue's title on one line.
func titleOf(req model.Request) string {
	if req.Issue == nil {
		return "Apply diffs"
	}
	if title := strings.Join(strings.Fields(req.Issue.Title), " "); title != "" {
		return title
	}
	return fmt.Sprintf("Issue #%d", req.Issue.Number)
}

// design makes a document of what the issue and the comments say.
func design(req model.Request, texts []shown) model.Outcome {
	out := model.Outcome{Title: titleOf(req), DesignDoc: "# " + titleOf(req) + "\n", TouchPaths: []string{}}
	for _, one := range texts {
		if one.text == "" {
			continue
		}
		out.DesignDoc += "\n" + one.text + "\n"
		if out.Summary == "" {
			out.Summary = cmp.Or(markdown.Paragraph(one.text), one.text)
		}
		for _, d := range diffsOf(one.name, one.raw) {
			files, _ := d.read()
			for _, f := range files {
				if name := pathOf(f); !slices.Contains(out.TouchPaths, name) {
					out.TouchPaths = append(out.TouchPaths, name)
				}
			}
		}
	}
	if out.Summary == "" {
		return model.Outcome{BlockedReason: "this agent turns the text of an issue into a design document; this issue has no text"}
	}
	return out
}
