package merge_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/golden"
	"github.com/mergexo/mergexo/internal/merge"
	"github.com/mergexo/mergexo/internal/model"
)

func TestQueued(t *testing.T) {
	t.Parallel()
	entry := &model.QueueEntry{State: "QUEUED", Position: 2}
	exit := func(id, reason string) *model.QueueExit { return &model.QueueExit{ID: id, Reason: reason} }
	for name, c := range map[string]struct {
		mark *model.QueueMark
		now  model.QueueView
		want merge.QueueStep
	}{
		"a new request":                                  {nil, model.QueueView{}, merge.QueueEnter},
		"one that a person has put in":                   {nil, model.QueueView{Entry: entry}, merge.QueueStay},
		"an exit before the request":                     {nil, model.QueueView{Left: exit("1", "manual")}, merge.QueueEnter},
		"a run died before it asked":                     {&model.QueueMark{After: "1"}, model.QueueView{Left: exit("1", "manual")}, merge.QueueEnter},
		"a run died after it asked":                      {&model.QueueMark{After: "1"}, model.QueueView{Left: exit("1", "manual"), Entry: entry}, merge.QueueStay},
		"a run died after it asked, and it went out":     {&model.QueueMark{After: "1"}, model.QueueView{Left: exit("2", "failed_checks")}, merge.QueueOut},
		"a run took it out and died":                     {&model.QueueMark{In: true}, model.QueueView{Left: &model.QueueExit{ID: "2", Reason: "manual", By: model.Actor{Login: "mergexo[bot]"}}}, merge.QueueEnter},
		"it failed, and GitHub names us":                 {&model.QueueMark{In: true}, model.QueueView{Left: &model.QueueExit{ID: "2", Reason: "failed_checks", By: model.Actor{Login: "mergexo[bot]"}}}, merge.QueueOut},
		"it went out, and GitHub names us and no reason": {&model.QueueMark{In: true}, model.QueueView{Left: &model.QueueExit{ID: "2", By: model.Actor{Login: "mergexo[bot]"}}}, merge.QueueOut},
		"it is in":                              {&model.QueueMark{In: true}, model.QueueView{Entry: entry}, merge.QueueStay},
		"it went out, and a person put it back": {&model.QueueMark{In: true}, model.QueueView{Entry: entry, Left: exit("2", "manual")}, merge.QueueStay},
		"it is gone, and nobody says why":       {&model.QueueMark{In: true}, model.QueueView{}, merge.QueueStay},
		"it was merged, and is shown open":      {&model.QueueMark{In: true}, model.QueueView{State: model.PullOpen, Left: exit("2", "merged")}, merge.QueueLanded},
		"merged, in the words of webhooks":      {&model.QueueMark{In: true}, model.QueueView{Left: exit("2", "MERGE")}, merge.QueueLanded},
		"it is shown as merged":                 {&model.QueueMark{In: true}, model.QueueView{State: model.PullMerged}, merge.QueueLanded},
	} {
		assert.Equal(t, c.want, merge.Queued(model.MergeMarker{Queue: c.mark}, c.now, "mergexo[bot]"), name)
	}
}

func TestQueueFailure(t *testing.T) {
	t.Parallel()
	for reason, code := range map[string]model.MergeCode{
		"failed_checks": model.CodeChecksFailed, "CI_FAILURE": model.CodeChecksFailed, "CI_TIMEOUT": model.CodeChecksFailed, "MERGE_CONFLICT": model.CodeConflict,
		"BRANCH_PROTECTIONS": model.CodeProtected, "manual": model.CodeDequeued, "QUEUE_CLEARED": model.CodeDequeued, "INVALID_MERGE_COMMIT": model.CodeDequeued, "": model.CodeDequeued,
	} {
		f := merge.QueueFailure(model.QueueExit{Reason: reason, By: model.Actor{Login: "bob"}, Checks: []model.Check{{Name: "ok", State: model.CheckPassed}, {Name: "red", State: model.CheckFailed}}})
		assert.Equal(t, code, f.Code, reason)
		assert.NotEmpty(t, f.Detail, reason)
		if code == model.CodeChecksFailed {
			assert.Equal(t, []model.Check{{Name: "red", State: model.CheckFailed}}, f.Checks, reason)
		}
	}
}

func TestAPlaceInGitHubsQueueAsPeopleReadIt(t *testing.T) {
	t.Parallel()
	in := with(func(m *model.MergeMarker) { m.Strategy, m.Queue = model.StrategyQueue, &model.QueueMark{In: true} })
	var all []string
	for _, state := range []string{"QUEUED", "AWAITING_CHECKS", "MERGEABLE", "UNMERGEABLE", "LOCKED", "`NEW` @state <b>"} {
		all = append(all, merge.QueueText(pull(), in, model.QueueView{Entry: &model.QueueEntry{State: state, Position: 2}}))
	}
	in.Queue.In = false
	all = append(all, merge.QueueText(pull(), in, model.QueueView{}))
	in.Queue.In = true
	all = append(all, merge.QueueText(pull(), in, model.QueueView{}), merge.QueueText(pull(), in, model.QueueView{Left: &model.QueueExit{ID: "2"}}))
	golden.Text(t, "queue.md", strings.Join(all, "\n\n")+"\n")
}
