package thread

import (
	"strings"

	"github.com/mergexo/mergexo/internal/branchfilter"
	"github.com/mergexo/mergexo/internal/command"
	"github.com/mergexo/mergexo/internal/config"
	"github.com/mergexo/mergexo/internal/flow"
	"github.com/mergexo/mergexo/internal/model"
)

// kind is what differs between reading a pull request and reading an issue.
type kind interface {
	// settled is how far back the conversation has to be read; false: to its beginning.
	settled(t *Thread, s model.Snapshot, read []model.Comment) (model.Mark, bool)
	// complete adds to the snapshot what was not read with it.
	complete(t *Thread)
	// fold adds to the state what the markers in the comments do not tell.
	fold(t *Thread)
	// holdsUp says that somebody who may write waits here for what the settings stand in the way of.
	holdsUp(t *Thread) bool
}

func kindOf(s model.Snapshot) kind {
	if s.IsPull() {
		return pull{}
	}
	return issue{}
}

// Settled is how far back the conversation of a number has to be read that is being read; false: to its beginning.
func Settled(t *Thread, s model.Snapshot, read []model.Comment) (model.Mark, bool) {
	return kindOf(s).settled(t, s, read)
}

type pull struct{}

func (pull) settled(t *Thread, _ model.Snapshot, read []model.Comment) (model.Mark, bool) {
	return t.Codec.Settled(read, t.Scope())
}

func (pull) complete(t *Thread) {
	t.Report.IsIssue = false
	if t.Snap.Pull.Issue == nil {
		t.Snap.Pull.Issue = t.Memory.Source
	}
}

func (pull) fold(t *Thread) {
	if i := t.Snap.Pull.Issue; i != nil { // it only leads to a roadmap, which decides by itself
		MarkItem(t, i, i.Body)
	}
	FindLost(t)
}

// The settings no longer tell which branches are tracked: then those count that MergeXO has marked, and that it tracks by
// default.
func (pull) holdsUp(t *Thread) bool {
	pull, st := t.Snap.Pull, t.State
	may := t.Memory.Rights[strings.ToLower(t.Event.Author.Login)] >= model.PermissionWrite
	followed := st.Tracked != nil || len(st.Turns) > 0 || !pull.CrossRepo && branchfilter.Match(config.Defaults().Repo.Track, pull.HeadRef)
	// Whose markers are ours they do not tell either: beside another MergeXO nothing is written.
	return len(st.Foreign) == 0 && pull.State == model.PullOpen && st.Released == nil && may && (followed || command.Is(t.Event.CommentBody))
}

type issue struct{}

// Our markers are no older than the label that set the agent to work; before the first of them, or without any such label, the
// newest page says enough.
func (issue) settled(t *Thread, s model.Snapshot, read []model.Comment) (model.Mark, bool) {
	if st := t.Codec.Fold(read, t.Scope()); len(st.Flows) > 0 && !st.Settled.At.IsZero() {
		return st.Settled, true
	}
	labels := config.Defaults().Labels
	if settings, err := config.Parse(s.Settings, ""); err == nil {
		labels = settings.Labels
	}
	since, known := flow.Since(*s.Issue(), LabelsOf(labels))
	switch {
	case !known:
		return model.Mark{}, false
	case since.IsZero():
		return model.Mark{At: s.ReadAt}, true
	}
	return model.Mark{At: since}, true
}

// complete makes up the pull request that the issue is on its way to.
func (issue) complete(t *Thread) {
	t.Report.IsIssue = true
	i := t.Snap.Issue()
	p := model.Pull{
		Number: i.Number, Title: i.Title, URL: i.URL, Author: i.Author, State: model.PullOpen, BaseRef: t.Snap.DefaultBranch, BaseSHA: t.Snap.DefaultSHA, Issue: i,
	}
	if i.Closed {
		p.State = model.PullClosed
	}
	if t.Prospect != nil {
		t.Prospect(&p)
	}
	t.Snap.Pull = p
}

func (issue) fold(t *Thread) {
	i := t.Snap.Issue()
	MarkItem(t, i, i.Posted)
}

func (issue) holdsUp(*Thread) bool { return false }
