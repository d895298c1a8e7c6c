package github

import (
	"context"

	"github.com/mergexo/mergexo/internal/model"
)

// IssueSurveyQuery says what a survey of issues is to be of.
type IssueSurveyQuery struct {
	Repo model.Repo
	// Labels are the names of which an issue has any; none: only the branches are read.
	Labels []string
	// Settled is Query's, for one of the issues.
	Settled func(s model.Snapshot, read []model.Comment) (model.Mark, bool)
}

// SurveyIssues reads all open issues that have any of the labels, the oldest first and 50 a request, and gives each to
// yield as Survey does with pull requests. The snapshots are Snapshot's for an issue, with no permissions, no Branch, and
// no Posted for comments that were edited. Beside them it gives the refs of all branches that begin with gh-pr- or
// mergexo/, by full name.
func (c *Client) SurveyIssues(ctx context.Context, q IssueSurveyQuery, yield func(model.Snapshot) error) ([]model.Ref, error) {
	return nil, errNotBuilt
}
