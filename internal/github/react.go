package github

import (
	"context"
	"fmt"

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
	op := fmt.Sprintf("react to comment %d of %s", said.ID, repo)
	if err := c.mayWrite(ctx, op, repo); err != nil {
		return err
	}
	ctx = repeatable(ctx)
	var err error
	switch said.Kind {
	case model.KindIssue:
		_, _, err = c.rest.Reactions.CreateIssueCommentReaction(ctx, repo.Owner, repo.Name, said.ID, content)
	case model.KindReview:
		_, _, err = c.rest.Reactions.CreatePullRequestCommentReaction(ctx, repo.Owner, repo.Name, said.ID, content)
	}
	if err != nil {
		if e := c.failWrite(op, err); e.Kind != NotFound && e.Kind != Gone {
			return e
		}
	}
	return nil
}
