package landing

import (
	"context"
	"errors"
	"io/fs"
	"slices"

	"github.com/mergexo/mergexo/internal/github/workflow"

	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/merge"
	"github.com/mergexo/mergexo/internal/treepath"
)

// workflowFiles are the workflow files of a commit.
func workflowFiles(ctx context.Context, c *git.Checkout, tip string) ([]workflow.File, error) {
	names, err := history.Names(ctx, c, tip, treepath.Workflows)
	if err != nil {
		return nil, err
	}
	var files []workflow.File
	for _, name := range names {
		path := treepath.Workflows + "/" + name
		text, err := history.Blob(ctx, c, tip, path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		files = append(files, workflow.File{Path: path, Text: string(text)})
	}
	return files, nil
}

// unproduced are the required checks for which no workflow has a job, neither on the base nor on the head, of those that nothing
// reports on the head.
func unproduced(ctx context.Context, p *Request, c merge.Case) ([]string, error) {
	missing := merge.Unreported(c)
	if len(missing) == 0 {
		return nil, nil
	}
	if err := p.Open(ctx); err != nil {
		return nil, err
	}
	div, err := history.FetchMergeBase(ctx, p.Checkout, p.Snap.Pull.BaseRef, thread.HeadRef(p.Thread))
	if git.IsNoRef(err) {
		return nil, nil
	}
	if err != nil {
		return nil, failureOf(err, "")
	}
	var files []workflow.File
	for _, tip := range []string{div.BaseSHA, div.HeadSHA} {
		of, err := workflowFiles(ctx, p.Checkout, tip)
		if err != nil {
			return nil, err
		}
		files = append(files, of...)
	}
	if len(files) == 0 { // other services test it
		return nil, nil
	}
	return slices.DeleteFunc(missing, func(name string) bool { return workflow.HasJob(files, name) }), nil
}
