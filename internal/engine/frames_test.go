package engine_test

import (
	"context"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// mostFrames is how many of our functions may lie between an event and the git command that pushes for it.
const mostFrames = 18

// pushFrames notes by which of our functions a push was reached.
type pushFrames struct {
	slog.Handler
	found *[]string
}

// WithAttrs keeps what the lines of a thread have in common from hiding the handler.
func (f pushFrames) WithAttrs([]slog.Attr) slog.Handler { return f }

// Handle looks at the stack where an effect tells that it was made.
func (f pushFrames) Handle(_ context.Context, r slog.Record) error {
	push := false
	r.Attrs(func(a slog.Attr) bool {
		push = push || a.Key == "kind" && a.Value.String() == "push"
		return true
	})
	if !push || len(*f.found) > 0 {
		return nil
	}
	pcs := make([]uintptr, 100)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(0, pcs)])
	for more := true; more; {
		var at runtime.Frame
		at, more = frames.Next()
		if name, ours := strings.CutPrefix(at.Function, "github.com/mergexo/mergexo/internal/"); ours {
			*f.found = append(*f.found, name)
		}
	}
	slices.Reverse(*f.found)
	return nil
}

// TestAnEventReachesItsPushInFewFrames: whoever follows an event to its push reads few functions, each of which tells a step.
func TestAnEventReachesItsPushInFewFrames(t *testing.T) {
	w := newWorld(t)
	ev := w.remark("alice", "Answer me.")
	e := w.engine()
	var found []string
	e.Log = slog.New(pushFrames{e.Log.Handler(), &found})
	w.done(w.by(e, ev))
	from := slices.Index(found, "engine.(*Engine).Handle")
	to := slices.Index(found, "engine/effect.Live.Apply")
	require.Less(t, from, to)
	frames := append(found[from:to+1], "engine/effect.Push.func1", "git/transport.Publish")
	assert.LessOrEqual(t, len(frames), mostFrames, "%s", strings.Join(frames, "\n"))
}
