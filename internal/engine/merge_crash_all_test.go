//go:build all

package engine_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
)

// An answer can get lost of any write. Of what moves a branch it also counts whether the write itself came through.
func TestMergeLostAnswersAreReadAndNothingIsSentTwice(t *testing.T) {
	every(t, []string{model.StrategyRebase, model.StrategyAPI}, func(t *testing.T, strategy string) {
		w, ev := readyToMerge(t, strategy)
		var writes []string
		w.gate.at = func(_ int, r *http.Request) fate { writes = append(writes, r.URL.Path); return passes }
		require.Equal(t, model.ResultDone, w.handle(ev).Result)
		want := w.ends()
		for i, path := range writes {
			name := fmt.Sprintf("write %d of %d", i+1, len(writes))
			t.Run(name+" applied", func(t *testing.T) { losesAnswer(t, strategy, i+1, unclear, want) })
			if strings.HasSuffix(path, "/git-receive-pack") || strings.HasSuffix(path, "/merge") {
				t.Run(name+" not applied", func(t *testing.T) { losesAnswer(t, strategy, i+1, lost, want) })
			}
		}
	})
}

func TestMergeDeathAfterAnyWriteIsMadeGoodWithEveryStrategy(t *testing.T) {
	t.Parallel()
	for _, strategy := range model.Strategies() {
		if strategy == model.StrategyRebase || strategy == model.StrategyQueue { // which have tests of their own
			continue
		}
		t.Run(strategy, func(t *testing.T) {
			diesAfterAnyWrite(t, strategy)
		})
	}
}
