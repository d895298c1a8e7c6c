package github

import (
	"slices"
	"time"

	"github.com/mergexo/mergexo/internal/model"
)

// checkNode is a CheckRun or a StatusContext, whose fields have different names.
type checkNode struct {
	Typename   string `json:"__typename"`
	IsRequired bool

	ID                       string
	Name, Status, Conclusion string
	StartedAt, CompletedAt   *time.Time
	DetailsURL, URL          string
	CheckSuite               *struct {
		App         *struct{ Slug string }
		WorkflowRun *struct {
			DatabaseID int64 `json:"databaseId"`
			Workflow   struct {
				DatabaseID int64 `json:"databaseId"`
			}
		}
	}

	Context, State, TargetURL string
	CreatedAt                 *time.Time
}

func (n *checkNode) check() model.Check {
	if n.Typename == "StatusContext" {
		c := model.Check{Name: n.Context, State: statusState(n.State), Required: n.IsRequired, URL: n.TargetURL}
		if n.CreatedAt != nil {
			c.At = n.CreatedAt.UTC()
		}
		return c
	}
	c := model.Check{Name: n.Name, State: runState(n.Status, n.Conclusion), Node: n.ID, Required: n.IsRequired, URL: n.DetailsURL}
	if c.URL == "" {
		c.URL = n.URL
	}
	if n.CheckSuite != nil && n.CheckSuite.App != nil {
		c.App = n.CheckSuite.App.Slug
	}
	if n.CheckSuite != nil && n.CheckSuite.WorkflowRun != nil {
		run := n.CheckSuite.WorkflowRun
		c.RunID, c.Workflow = run.DatabaseID, run.Workflow.DatabaseID
	}
	// The end of a run says nothing about which one is newer: an old one may end after the new one began.
	for _, at := range []*time.Time{n.StartedAt, n.CompletedAt} {
		if at != nil && c.At.IsZero() {
			c.At = at.UTC()
		}
	}
	return c
}

// newest are the newest checks of each name and source, the newest of them first.
func newest(all []model.Check) []model.Check {
	slices.SortStableFunc(all, newer)
	var out []model.Check
	for _, check := range all {
		if !slices.ContainsFunc(out, check.Replaces) {
			out = append(out, check)
		}
	}
	return out
}

// newer puts the newer check first. One that has not begun is newer than all that have.
func newer(a, b model.Check) int {
	switch {
	case a.At.IsZero() && a.State == model.CheckPending:
		return -1
	case b.At.IsZero() && b.State == model.CheckPending:
		return 1
	}
	return b.At.Compare(a.At)
}

// runState follows GitHub: required checks must be successful, skipped or neutral.
// https://docs.github.com/repositories/configuring-branches-and-merges-in-your-repository/managing-protected-branches/about-protected-branches#require-status-checks-before-merging
func runState(status, conclusion string) model.CheckState {
	if status != "COMPLETED" {
		return model.CheckPending
	}
	switch conclusion {
	case "SUCCESS", "NEUTRAL", "SKIPPED":
		return model.CheckPassed
	}
	return model.CheckFailed
}

// statusState: a status that is required and was never given is EXPECTED.
// https://docs.github.com/graphql/reference/enums#statusstate
func statusState(state string) model.CheckState {
	switch state {
	case "SUCCESS":
		return model.CheckPassed
	case "PENDING", "EXPECTED":
		return model.CheckPending
	}
	return model.CheckFailed
}
