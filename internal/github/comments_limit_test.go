package github

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// An issue takes so many comments and no more. No permission helps against that.
func TestAConversationThatIsFull(t *testing.T) {
	l := dial(t, Options{}, reply{403, `{"message": "Commenting is disabled on issues with more than 2500 comments"}`, nil})
	e := fails(l.Comments.Create(t.Context(), widgets, 7, "one more"))(t, Forbidden)
	assert.Equal(t, "continue in a new issue or pull request: GitHub allows no more than 2,500 comments on one", e.Fix)
}
