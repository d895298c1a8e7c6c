package engine_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// Each command about another pull request has what it sets going there done before its reply, also behind one that did so before.
func TestTwoCommandsInOneCommentAreBothTakenUpElsewhere(t *testing.T) {
	w := newMerge(t)
	issue := int(w.api("octo", "POST", w.path("/issues"), object{"title": "Operations", "body": ""})["number"].(float64))
	w.setting(fmt.Sprintf("operations_issue = %d", issue))
	w.later(time.Minute)
	w.api("carol", "POST", w.path(fmt.Sprintf("/issues/%d/comments", issue)), object{"body": "/mergexo pause pr=1\n/mergexo resume pr=1\n/mergexo merge pr=1"})
	ev := w.delivery("issue_comment")
	rep := w.done(w.handle(ev))
	assert.Equal(t, "merged", w.badge())
	reactions := 0
	for _, e := range rep.Effects {
		if e.Kind == "react" {
			reactions++
		}
	}
	assert.Equal(t, 2, reactions, "eyes when it was read, a rocket in the end: %v", rep.Effects)
}
