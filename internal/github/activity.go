package github

import (
	"context"
	"fmt"
	"net/url"
	"time"

	gogithub "github.com/google/go-github/v60/github"

	"github.com/mergexo/mergexo/internal/model"
)

// Pushes are the newest hundred changes of a branch, newest first, each with who made it: GitHub itself says so, and no
// commit does. https://docs.github.com/rest/repos/repos#list-repository-activities
func (c Refs) Pushes(ctx context.Context, repo model.Repo, branch string) ([]model.Push, error) {
	var answer []struct {
		Before, After, Ref string
		Timestamp          time.Time
		Actor              *gogithub.User
	}
	path := "activity?per_page=100&ref=" + url.QueryEscape("refs/heads/"+branch)
	if err := c.read(ctx, fmt.Sprintf("read who pushed to %s of %s", branch, repo), repo, path, &answer); err != nil {
		return nil, err
	}
	pushes := make([]model.Push, 0, len(answer))
	for _, a := range answer {
		if a.Ref == "refs/heads/"+branch {
			pushes = append(pushes, model.Push{Before: a.Before, After: a.After, By: restActor(a.Actor), At: a.Timestamp.UTC()})
		}
	}
	return pushes, nil
}
