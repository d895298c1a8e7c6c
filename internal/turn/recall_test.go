package turn_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/turn"
)

func TestRunsAreRecalledByTheirKeys(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	keys := []string{model.EventKey(7, model.KindReview, 1, at), model.EventKey(7, model.KindActions, 9, at), model.EventKey(7, model.KindActions, 10, at), "7:actions:x"}
	got := turn.Recall(7, keys, []model.CIRun{{ID: 9, Name: "test", URL: "https://example.com/9"}})
	if assert.Len(t, got, 2) {
		assert.Equal(t, []string{"test", "GitHub Actions"}, []string{got[0].Author.Login, got[1].Author.Login})
		assert.Equal(t, "https://example.com/9", got[0].URL)
		assert.Equal(t, keys[1], got[0].Key(7), "the key tells when it was")
	}
}
