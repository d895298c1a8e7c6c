package journal

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/mergexo/internal/model"
)

var mergeMarkers = markers[model.MergeMarker]{
	kind:     KindMerge,
	place:    func(m *model.MergeMarker) (*string, *int) { return &m.Repo, &m.Number },
	check:    checkMerge,
	answers:  func(m *model.MergeMarker) (string, model.Verdict) { return m.Command, model.Applied },
	once:     always[model.MergeMarker],
	take:     (*fold).merge,
	describe: describeMerge,
}

func checkMerge(m *model.MergeMarker) error {
	switch m.State {
	case model.MergeWaiting, model.MergeRunning, model.MergeFailed:
	case model.MergeDone:
		if m.Landed == "" {
			return errors.New("state done without a landed commit")
		}
	default:
		return fmt.Errorf("state %q is unknown", m.State)
	}
	if m.Head == "" || m.Base == "" {
		return errors.New("it names no head or no base")
	}
	if (m.Mirror != "" || m.MirrorSHA != "") && (m.Mirror == "" || !isSHA(m.MirrorSHA)) {
		return fmt.Errorf("mirror %q with mirror_sha %q, which has to be a commit's", m.Mirror, m.MirrorSHA)
	}
	return nil
}

// merge folds in one state of a merge request. An end that people have to be notified of is a new comment, which replaces the
// earlier one in its place, so that a later request stays the newest.
func (f *fold) merge(cm model.Comment, m *model.MergeMarker) {
	st := &f.st
	said := *place(*m, cm)
	at := slices.IndexFunc(st.Merges, func(earlier model.Posted[model.MergeMarker]) bool {
		return m.Command != "" && earlier.Marker.Command == m.Command
	})
	if at < 0 {
		st.Merges = append(st.Merges, said)
		return
	}
	if !st.Merges[at].Marker.Open() { // another run answered it and ended
		f.surplus(cm.ID)
		return
	}
	f.surplus(st.Merges[at].CommentID)
	st.Merges[at] = said
}

// cancel cancels the requests that count, even a claimed one: its run checks again before it acts.
func (f *fold) cancel(m *model.CommandMarker) {
	for _, w := range f.st.Requests() {
		w.Marker.Reason, w.Marker.Detail = model.CodeCancelled, m.By
	}
}

// tips are the commits to which requests may have moved the head since it was accepted last.
func (f *fold) tips(accepted time.Time) {
	for _, m := range f.st.Merges {
		if !m.UpdatedAt.Before(accepted) {
			f.st.MergeTips = append(f.st.MergeTips, m.Marker.Tips()...)
		}
	}
}

func describeMerge(e *model.LogEntry, m model.MergeMarker) {
	e.State, e.SHA, e.By, e.RunURL = string(m.State), cmp.Or(m.Landed, m.Tip, m.Head), m.By, m.RunURL
	e.Why = firstLine(strings.TrimSuffix(fmt.Sprintf("%s: %s", m.Reason, cmp.Or(m.Detail, m.Cause)), ": "))
	e.Why = strings.TrimPrefix(e.Why, ": ")
	switch m.State {
	case model.MergeDone:
		e.What = fmt.Sprintf("merged into %s by %s", m.Base, m.Strategy)
	case model.MergeFailed:
		e.What = "did not merge into " + m.Base
	case model.MergeRunning:
		e.What = "is merging into " + m.Base
	default:
		e.What = "waits to merge into " + m.Base
	}
}
