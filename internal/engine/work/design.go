package work

import (
	"context"

	"github.com/mergexo/mergexo/internal/flow"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/model"
)

// FindDesign finds the design document of an issue in a commit, anywhere below the directory of designs; nil: there is none. It reads at
// most so many files.
func FindDesign(ctx context.Context, w *Work, rev string, issue, most int) (*model.Document, error) {
	names, err := history.Files(ctx, w.Checkout, rev, w.Settings.Repo.DesignDir)
	if err != nil {
		return nil, err
	}
	for _, name := range names[:min(len(names), most)] {
		if text, err := history.Blob(ctx, w.Checkout, rev, name); err == nil && flow.IsDesign(text, issue) {
			return &model.Document{Path: name, Text: string(text)}, nil
		}
	}
	return nil, nil
}
