package github

import (
	"cmp"
	"strings"
	"time"

	"github.com/mergexo/mergexo/internal/model"
)

// checkNode is a CheckRun or a StatusContext, whose fields have different names.
type checkNode struct {
	Typename   string `json:"__typename"`
	IsRequired bool

	ID                       string
	Name, Status, Conclusion string
	StartedAt, CompletedAt   time.Time
	DetailsURL, URL          string
	CheckSuite               struct {
		ID          string
		App         struct{ Slug string }
		Branch      struct{ Name string }
		WorkflowRun struct{ URL string }
	}

	Context, State, TargetURL string
	CreatedAt                 time.Time
	Creator                   *actorNode
}

// dropped says that a run was cancelled with its branch, as MergeXO does with those of a car that it takes apart. The commit may be the
// head of a pull request, of which such a run says nothing. GitHub shows no branch of a fork.
func (n *checkNode) dropped() bool {
	return n.Conclusion == "CANCELLED" && n.CheckSuite.Branch.Name == "" && n.CheckSuite.App.Slug == "github-actions"
}

func (n *checkNode) check() model.Check {
	if n.Typename == "StatusContext" {
		c := model.Check{Name: n.Context, State: statusState(n.State), Required: n.IsRequired, URL: n.TargetURL, At: n.CreatedAt.UTC()}
		if by := n.Creator.actor(); by.Bot {
			c.App = strings.TrimSuffix(by.Login, "[bot]")
		}
		return c
	}
	suite := n.CheckSuite
	return model.Check{
		Name: n.Name, State: runState(n.Status, n.Conclusion), Begun: n.Status == "IN_PROGRESS", Node: n.ID, Required: n.IsRequired,
		URL: cmp.Or(n.DetailsURL, n.URL), Suite: suite.ID, App: suite.App.Slug, RunID: runID(suite.WorkflowRun.URL),
		// The end of a run says nothing about which one is newer: an old one may end after the new one began.
		At: cmp.Or(n.StartedAt, n.CompletedAt).UTC(),
	}
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
