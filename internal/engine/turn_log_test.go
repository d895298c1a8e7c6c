package engine_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
)

// about are the lines of the log about a turn.
func (w *world) about(key string) []string {
	w.t.Helper()
	var lines []string
	for line := range strings.Lines(w.logged.String()) {
		if strings.Contains(line, "turn_key="+key) {
			lines = append(lines, line)
		}
	}
	require.NotEmpty(w.t, lines)
	return lines
}

func TestTheLogOfATurnNamesItsIssueAndItsEvents(t *testing.T) {
	w := newIssue(t)
	issue := w.handle(w.label("alice", smallJob))
	for _, line := range w.about(issue.TurnKey) {
		assert.Equal(t, 1, strings.Count(line, "issue_number=2"), line)
	}
	w.number, w.head, w.agent = 3, branch, "talk"
	var events []string
	for _, text := range []string{"Shorter, please.", "And in Dutch."} {
		id := w.talk("alice", text)
		events = append(events, model.EventKey(3, model.KindIssue, id, w.now))
	}
	rep := w.done(w.handle(w.delivery("issue_comment")))
	for _, line := range w.about(rep.TurnKey) {
		for _, name := range []string{" issue_number=2 ", " pr_number=3 ", " event_key=" + strings.Join(events, ",") + " "} {
			assert.Equal(t, 1, strings.Count(line, name), "%q in %s", name, line)
		}
	}
}
