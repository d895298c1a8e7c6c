//go:build all

package engine_test

import (
	"testing"

	"github.com/mergexo/mergexo/internal/model"
)

func TestWordsThatAreNoAnswer(t *testing.T) {
	w, ev := commented(t, "binary")
	before := w.tip()
	w.shown(trouble{result: model.ResultFailed, says: `it begins with "�::stop::\n"`}, w.handle(ev), before)
	w.recovers(ev, false)
}
