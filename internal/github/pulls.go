package github

import (
	"context"
	"fmt"
	"net/http"

	gogithub "github.com/google/go-github/v60/github"

	"github.com/mergexo/mergexo/internal/model"
)

// fixPulls names the setting that is off in new repositories, and grayed out where the organization has it off:
// https://docs.github.com/repositories/managing-your-repositorys-settings-and-features/enabling-features-for-your-repository/managing-github-actions-settings-for-a-repository#preventing-github-actions-from-creating-or-approving-pull-requests
const fixPulls = `turn on "Allow GitHub Actions to create and approve pull requests" in Settings > Actions > General > Workflow permissions, ` +
	`of the repository and of its organization, or use the token of a GitHub App`

// Create opens a pull request between two branches of a repository. Unclear means that it may be there. PullExists is
// an open pull request between the same branches, NoCommits a head with nothing that the base has not; where the
// repository's settings keep workflows from opening any, Forbidden names the setting.
// https://docs.github.com/rest/pulls/pulls#create-a-pull-request
func (c Pulls) Create(ctx context.Context, repo model.Repo, d model.PullDraft) (model.PullRef, error) {
	op := fmt.Sprintf("open a pull request from %s to %s in %s", oneLine(d.Head), oneLine(d.Base), repo)
	var made gogithub.PullRequest
	draft := &gogithub.NewPullRequest{Title: &d.Title, Body: &d.Body, Head: &d.Head, Base: &d.Base}
	err := c.write(ctx, op, repo, http.MethodPost, "pulls", draft, &made)
	if err != nil {
		return model.PullRef{}, explained(err, pullRefusals...)
	}
	if made.GetNumber() == 0 {
		return model.PullRef{}, unreadableWrite(op, "pull request")
	}
	return model.PullRef{
		Number: made.GetNumber(), Title: made.GetTitle(), URL: made.GetHTMLURL(), State: model.PullOpen, BaseRef: made.GetBase().GetRef(),
		HeadSHA: made.GetHead().GetSHA(), Ours: true,
	}, nil
}

// pullRefusals have a meaning in their words only.
var pullRefusals = []refusalRow{
	{status: http.StatusUnprocessableEntity, says: "a pull request already exists for", kind: PullExists},
	{status: http.StatusUnprocessableEntity, says: "no commits between", kind: NoCommits},
	{status: http.StatusForbidden, says: "not permitted to create or approve pull requests", fix: fixPulls},
}
