package landing

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/mergexo/mergexo/internal/config"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/train"
)

// TrainOrder says which train to advance, and what the caller already knows about it.
type TrainOrder struct {
	Repo model.Repo
	Base string // branch
	// Perhaps says that the base may have no train. Without a record there is then nothing to do.
	Perhaps bool
	// Self is the thread of the run's pull request; nil: the run is about none.
	Self *thread.Thread
	// Of returns the requests to merge the pull request of a thread.
	Of func(*thread.Thread) *Request
	// Seen is the highest count of the record that a comment names.
	Seen int64
	// Asked lists pull requests whose requests may have to join the train. All says that the list is complete: any other request in
	// the train is over.
	Asked []int
	All   bool
}

// line is the train of one base in one run.
type line struct {
	TrainOrder
	home     *thread.Thread                              // of the repository, with the checkout
	begin    func(context.Context, *thread.Thread) error // with the thread of a request
	holder   string                                      // the name of this run
	settings config.Settings
	found    bool // those are settings that somebody has written
	limits   train.Settings

	manifest train.Manifest // as it is recorded
	now      train.Manifest // as it is folded
	at       string         // the commit of the record; "": there is none
	count    int64          // how often it was written
	view     model.TrainView
	facts    train.Facts
	stored   []byte          // the record as it was read or written
	demands  []model.Demand  // of the base, as they were read in this look
	ruled    bool            // they were
	opened   map[int]*aboard // nil: no request is open there
	looked   bool            // before this look, and what was read of Self then is old
	tried    map[string]bool // effects of this run
	said     int             // comments that this run has written
	end      *thread.Stop    // of the request of Self
}

// maxLooks bounds how often a run reads a train again because another run was faster, and maxSteps how much it does in one go.
const (
	maxLooks = 25 // each test of a car here is one more
	maxSteps = 500
)

// AdvanceTrain takes the merge train of a base as far as it goes now. It reads the train's record and what GitHub shows, lets
// package train decide, and carries the decisions out. The Stop tells how the request of Self ended in this run. It is nil if it
// has not ended.
func AdvanceTrain(ctx context.Context, w *thread.World, rep *model.Report, o TrainOrder) (*thread.Stop, error) {
	l := &line{TrainOrder: o, begin: func(ctx context.Context, t *thread.Thread) error { return t.Begin(ctx) }}
	l.home = thread.New(w, model.Event{Name: "train", Repo: o.Repo}, rep, nil)
	l.holder = thread.Holder(l.home)
	defer l.home.Close()
	defer func() { draw(l, rep) }()
	for range maxLooks {
		l.tried, l.opened = map[string]bool{}, map[int]*aboard{}
		if err := l.look(ctx); err != nil {
			return nil, err
		}
		done, err := l.steps(ctx)
		if done && err == nil {
			done, err = l.test(ctx)
		}
		if err != nil || done {
			return l.end, err
		}
		l.looked = true
		w.Log.Info("train_changed_meanwhile", "base", o.Base)
	}
	return l.end, thread.End(model.ResultRetry, "the merge train of %s is being changed by other runs; the next event continues", o.Base)
}

// steps folds and carries out until nothing is left to do; false: another run has changed the record.
func (l *line) steps(ctx context.Context) (done bool, err error) {
	l.now = l.manifest
	for range maxSteps {
		if l.Seen > l.count { // the comment of a request has told of a newer record
			return false, nil
		}
		next, effects := train.Fold(l.now, l.facts, l.limits, l.time())
		build := first[train.Build](l, effects)
		if build != nil {
			l.now = next
			if err := l.build(ctx, *build); err != nil {
				return false, err
			}
			continue
		}
		gone := func(rival string) (bool, error) { return thread.HolderGone(ctx, l.home, rival) }
		if err := next.Take(l.holder, l.time(), gone); err != nil { // unless another run that lives is at it
			return false, err
		}
		if fresh, err := l.record(ctx, next); err != nil || !fresh {
			return false, err
		}
		l.now = next
		list := batch(slices.DeleteFunc(effects, func(e train.Effect) bool { return l.tried[name(e)] }))
		if len(list) == 0 {
			return true, nil
		}
		if said(list[0]) {
			l.said += len(list)
		}
		if l.said > mostSaid {
			return false, thread.End(model.ResultRetry, "the merge train of %s has more than %d comments to write; the next event continues", l.Base, mostSaid)
		}
		for _, e := range list {
			l.tried[name(e)] = true
			if err := l.carryOut(ctx, e); err != nil {
				return false, err
			}
		}
	}
	return false, fmt.Errorf("the merge train of %s does not reach a stable state: this is a bug in MergeXO", l.Base)
}

// A run writes at most mostSaid comments, since GitHub takes some hundreds an hour, and atOnce of them before it records that.
const (
	mostSaid = 200
	atOnce   = 20
)

// batch are the first of some effects that are carried out before the record is written again. Comments are many, and one that
// the record does not know of is only looked at once more.
func batch(effects []train.Effect) []train.Effect {
	n := 0
	for n < min(len(effects), atOnce) && said(effects[n]) {
		n++
	}
	return effects[:min(len(effects), max(n, 1))]
}

// said says that an effect only writes a comment.
func said(e train.Effect) bool {
	switch e.(type) {
	case train.Tell, train.TellLoss, train.Finish:
		return true
	}
	return false
}

// time is now by the clock of the run.
func (l *line) time() time.Time { return l.home.Now() }

// name tells effects apart.
func name(e train.Effect) string { return fmt.Sprintf("%T %+v", e, e) }

// first is the first effect of a kind that this run has not tried; nil: there is none.
func first[E train.Effect](l *line, effects []train.Effect) *E {
	for _, e := range effects {
		if of, is := e.(E); is && !l.tried[name(e)] {
			l.tried[name(e)] = true
			return &of
		}
	}
	return nil
}

// learn adds the result of an effect to the facts.
func (l *line) learn(r train.Result) { l.facts.Results = append(l.facts.Results, r) }
