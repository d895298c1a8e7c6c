package engine_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
)

func TestMergeStopsForWhatAnOperatorAsksMeanwhile(t *testing.T) {
	t.Parallel()
	for command, stops := range map[string]bool{"/mergexo merge cancel": true, "/mergexo pause": true, "/mergexo status": false} {
		for login, may := range map[string]bool{"carol": true, "bob": false} {
			t.Run(login+" "+command, func(t *testing.T) {
				t.Parallel()
				w := whileTested(t, login, func(w *world) (string, string, string) {
					return "POST", w.path(fmt.Sprintf("/issues/%d/comments", w.number)), fmt.Sprintf(`{"body":%q}`, command)
				})
				before := w.at("main")
				w.command("carol", "/mergexo merge")
				if stops && may {
					assert.Equal(t, before, w.at("main"))
					assert.Equal(t, []string{"in_approval BLOCKED"}, w.merges())
					return
				}
				assert.NotEqual(t, before, w.at("main"), "nobody else stops it")
				assert.Equal(t, []string{"done"}, w.merges())
			})
		}
	}
}

func TestMergeCommandOfThePersonWhoseTokenItIs(t *testing.T) {
	t.Parallel()
	w := newMerge(t)
	w.talk("octo", "/mergexo merge")
	rep, err := w.engineAs("sandbox-octo").Handle(context.Background(), w.delivery("issue_comment"))
	require.NoError(t, err)
	assert.Equal(t, model.ResultDone, rep.Result, rep.Reason)
	assert.Equal(t, "merged", w.badge())
}
