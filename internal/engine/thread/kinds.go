package thread

import (
	"strings"

	"github.com/mergexo/mergexo/internal/branchfilter"
	"github.com/mergexo/mergexo/internal/command"
	"github.com/mergexo/mergexo/internal/config"
	"github.com/mergexo/mergexo/internal/flow"
	"github.com/mergexo/mergexo/internal/model"
)

// Settled returns how far back the conversation of a number has to be read. It returns false if it has to be read from the
// beginning. On an issue, our markers are not older than the label that started the agent. Before the first of them, or without
// such a label, the newest page is enough.
func Settled(t *Thread, s model.Snapshot, read []model.Comment) (model.Mark, bool) {
	if s.IsPull() {
		return t.Codec.Settled(read, Scope(t))
	}
	if st := t.Codec.Fold(read, Scope(t)); len(st.Flows) > 0 && !st.Settled.At.IsZero() {
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

// complete adds to the snapshot what was not read with it: the issue that a pull request is for, or the pull request that an issue is on
// its way to.
func complete(t *Thread) {
	i := t.Snap.Issue()
	if t.Report.IsIssue = !t.Snap.IsPull(); !t.Report.IsIssue {
		if t.Snap.Pull.Issue == nil {
			t.Snap.Pull.Issue = t.Memory.Source
		}
		return
	}
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

// foldMore adds to the state what the markers in the comments do not tell.
func foldMore(t *Thread) {
	if !t.Snap.IsPull() {
		MarkItem(t, t.Snap.Issue(), t.Snap.Issue().Posted)
		return
	}
	if i := t.Snap.Pull.Issue; i != nil { // it only leads to a roadmap, which decides by itself
		MarkItem(t, i, i.Body)
	}
	FindLost(t)
}

// holdsUp reports whether somebody who may write waits here for what the settings stand in the way of. The settings no longer tell which
// branches are tracked: then those count that MergeXO has marked, and that it tracks by default.
func holdsUp(t *Thread) bool {
	pull, st := t.Snap.Pull, t.State
	open := t.Snap.IsPull() && pull.State == model.PullOpen && st.Released == nil
	may := t.Memory.Rights[strings.ToLower(t.Event.Author.Login)] >= model.PermissionWrite
	followed := st.Tracked != nil || len(st.Turns) > 0 || !pull.CrossRepo && branchfilter.Match(config.Defaults().Repo.Track, pull.HeadRef)
	// Whose markers are ours they do not tell either: beside another MergeXO nothing is written.
	return open && len(st.Foreign) == 0 && may && (followed || command.Is(t.Event.CommentBody))
}
