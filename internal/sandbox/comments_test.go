package sandbox

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAConversationTakesSoManyComments(t *testing.T) {
	w := newTown(t)
	at := w.issue("octo")
	w.s.mu.Lock()
	i := w.s.st.Repositories[0].Issues[1]
	for len(i.Comments) < mostComments {
		w.s.world.addComment(i, w.s.world.nextID(), "octo", "more", w.s.world.now())
	}
	w.s.mu.Unlock()
	require.Equal(t, "Commenting is disabled on issues with more than 2500 comments", w.as("octo", "POST", at+"/comments", obj{"body": "one more"}).want(403).obj()["message"])
	w.as("octo", "PATCH", fmt.Sprintf("%s/issues/comments/%d", repoPath, i.Comments[0].ID), obj{"body": "edited"}).want(200)
}
