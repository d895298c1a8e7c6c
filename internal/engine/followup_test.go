package engine_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/model"
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
	reactions := slices.DeleteFunc(rep.Effects, func(e model.Effect) bool { return e.Kind != "react" })
	assert.Len(t, reactions, 2, "eyes when it was read, a rocket in the end")
}
