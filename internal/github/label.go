package github

import (
	"context"
	"fmt"
	"net/url"

	"github.com/mergexo/mergexo/internal/model"
)

// HasLabel tells whether a repository has a label. why is not empty where that could not be learned.
// https://docs.github.com/rest/issues/labels#get-a-label
func (c Repositories) HasLabel(ctx context.Context, repo model.Repo, label string) (has bool, why string) {
	op := fmt.Sprintf("look for the label %q in %s", oneLine(label), repo)
	if label == "" || label == "." || label == ".." { // the address would be that of all labels, or of something else
		return false, "that name cannot be part of an address"
	}
	err := c.read(ctx, op, repo, "labels/"+url.PathEscape(label), nil)
	if err == nil || KindOf(err) == NotFound {
		return err == nil, ""
	}
	return false, c.unseen(op, err)
}
