package github

import (
	"context"
	"fmt"
	"net/http"

	"github.com/mergexo/mergexo/internal/model"
)

// The reactions that commands get, in REST's words.
const (
	ReactionEyes     = "eyes"
	ReactionRocket   = "rocket"
	ReactionConfused = "confused"
)

// React puts an emoji on a comment in the conversation or on a line. It is a courtesy: for a comment that is gone, and for
// a review's summary, which GitHub has no such call for, nothing is done and nothing is wrong. GitHub keeps one reaction
// of each content per person, so a call without an answer is repeated like a read.
// https://docs.github.com/rest/reactions/reactions#create-reaction-for-an-issue-comment
// https://docs.github.com/rest/reactions/reactions#create-reaction-for-a-pull-request-review-comment
func (c Comments) React(ctx context.Context, repo model.Repo, said model.Comment, content string) error {
	of, ok := map[model.Kind]string{model.KindIssue: "issues", model.KindReview: "pulls"}[said.Kind]
	if !ok {
		return nil
	}
	err := c.write(repeatable(ctx), fmt.Sprintf("react to comment %d of %s", said.ID, repo), repo, http.MethodPost,
		fmt.Sprintf("%s/comments/%d/reactions", of, said.ID), map[string]string{"content": content}, nil)
	return unless(err, NotFound, Gone)
}
