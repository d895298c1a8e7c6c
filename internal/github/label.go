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
	var found struct {
		Name string `json:"name"`
	}
	err := c.get(ctx, fmt.Sprintf("repos/%s/labels/%s", repo, url.PathEscape(label)), &found)
	if err == nil {
		return true, ""
	}
	if e := c.fail(op, err); e.Kind != NotFound {
		return false, c.unseen(op, err)
	}
	return false, ""
}
