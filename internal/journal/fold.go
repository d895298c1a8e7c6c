package journal

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/mergexo/internal/model"
)

// Scope says whose markers are trusted, and which repository and number they must name.
type Scope struct {
	Repo   model.Repo
	Number int
	// Formerly are names that the repository had, in lower case: markers that say so are about it.
	Formerly []string
	// Viewer is the login of the token's own account.
	Viewer string
	// Bots are further logins of ours that the settings name.
	Bots []string
	// Deletions are comments that somebody else than their authors deleted.
	Deletions []model.Deletion
	// Cut says that older comments were not read.
	Cut bool
	// Now is when the comments were read, on GitHub's clock: expired blocks do not count. Zero: all do.
	Now time.Time
}

// about says that a name is one of the repository.
func (s Scope) about(repo string) bool {
	return strings.EqualFold(repo, s.Repo.String()) || slices.Contains(s.Formerly, strings.ToLower(repo))
}

// ours says that an account is one of ours.
func (s Scope) ours(login string) bool {
	return strings.EqualFold(login, s.Viewer) || model.Named(s.Bots, login)
}

// Fold derives the state of one pull request from its comments. It is pure: the order of the comments does not matter.
func (c Codec) Fold(comments []model.Comment, scope Scope) model.State {
	f := fold{st: model.State{Answered: map[string]bool{}, Tokens: map[string]int64{}, Commands: map[string]model.Verdict{}, Keys: map[string]bool{}}}
	for _, cm := range inOrder(Attribute(comments, scope)) {
		said, ok := f.trusted(c, cm, scope)
		f.spoken = f.spoken || said.kind != nil
		if ok && !f.again(cm, said) && said.kind != nil {
			said.kind.fold(&f, cm, said.marker)
		}
	}
	f.accept()
	f.deleted(scope)
	if scope.Cut && !f.st.Settled.At.IsZero() { // we have worked here before what was read
		f.st.Foreign = nil
	}
	if over(f.st.Block, scope.Now) {
		f.lift(model.EndExpired, "")
	}
	f.st.RoadmapLost = f.st.RoadmapLost && f.st.Roadmap == nil
	f.finish(comments)
	// An operator who unblocked after the edit has accepted it.
	f.st.Distrusted = slices.DeleteFunc(f.st.Distrusted, f.pardons)
	return f.st
}

// fold is the state being derived.
type fold struct {
	st        model.State
	spoken    bool            // a marker of ours was read
	warned    []model.Comment // about invalid settings
	done      []model.Posted[model.TurnMarker]
	unblocked time.Time     // the newest baseline: an unblock, or an adopt after a release
	baseline  string        // the head that it accepted
	receipt   int64         // the newest receipt that it knew
	pardon    model.Mark    // up to when an operator has accepted edits
	seen      model.Mark    // up to where an issue's commands are answered
	beside    []model.Spent // what reviews say of a day, with what came after them
}

// pardons reports whether an operator accepted an edit by unblocking after it.
func (f *fold) pardons(d model.Distrust) bool {
	return d.Spoilt && (d.At.Before(f.pardon.At) || d.At.Equal(f.pardon.At) && d.CommentID < f.pardon.ID)
}

// again records the tokens of a comment, and reports whether it duplicates a reply or an effect's marker: two runs can
// race, and only the first counts. What has no marker duplicates what said all of its tokens before.
func (f *fold) again(cm model.Comment, said believed) bool {
	known := func(t string) bool { return f.st.Tokens[t] != 0 }
	if said.kind == nil && cm.Kind == model.KindIssue && len(said.tokens) > 0 && !slices.ContainsFunc(said.tokens, func(t string) bool { return !known(t) }) {
		f.surplus(cm.ID)
		return true
	}
	if said.kind != nil {
		key, verdict, once := said.kind.reply(said.marker)
		obeyed := said.kind.name() == KindCommand && f.st.Commands[key] == model.Applied
		if once && slices.ContainsFunc(said.tokens, known) || obeyed {
			f.surplus(cm.ID)
			return true
		}
		if key != "" {
			f.st.Commands[key] = verdict
		}
	}
	for _, t := range said.tokens {
		f.st.Tokens[t] = cm.ID
	}
	return false
}

// surplus records a duplicate comment.
func (f *fold) surplus(comment int64) { f.st.Surplus = append(f.st.Surplus, comment) }

// rebase makes a head the baseline from a comment on, and discards what came before.
func (f *fold) rebase(cm model.Comment, head string, receipt int64) {
	f.unblocked, f.baseline, f.receipt = cm.CreatedAt, head, receipt
}

// accept determines the last accepted head and the settled mark. A receipt counts from the edit that made it one, which may
// be later than an unblock posted during its turn.
func (f *fold) accept() {
	st := &f.st
	// Feedback of a damaged receipt becomes pending again once an operator accepts the damage, however old it is.
	forgiven := slices.ContainsFunc(st.Distrusted, f.pardons)
	if forgiven {
		st.Forgiven = f.pardon.At
	}
	accepted := time.Time{}
	if len(st.Flows) == 0 { // else it would settle what is queued between two commands
		st.Settled = f.seen
	}
	if f.baseline != "" {
		st.Accepted, accepted = f.baseline, f.unblocked
	}
	for _, t := range f.done {
		if t.Marker.Head != "" && (t.UpdatedAt.After(accepted) || t.UpdatedAt.Equal(accepted) && t.CommentID > f.receipt) {
			st.Accepted, accepted = t.Marker.Head, t.UpdatedAt
		}
		mark := model.Mark{At: t.Marker.Since, ID: t.Marker.Seen}
		if !mark.At.Before(st.Settled.At) && (!forgiven || t.UpdatedAt.After(f.unblocked)) {
			st.Settled = mark
		}
	}
	st.AcceptedAt = accepted
	f.tips(accepted)
}

// abandon is what a head that an operator names leaves of earlier turns: failed attempts are forgiven, a turn planned on an
// abandoned history is brought onto this one, and what it said of its work there proves nothing unless that work is on the branch.
func (f *fold) abandon(head string) {
	st := &f.st
	st.Turns = withoutFailed(st.Turns)
	for i, t := range st.Turns {
		m := t.Marker
		if m.Phase == model.PhasePlanned && !slices.Contains([]string{m.Start, m.Onto, m.Planned}, head) {
			st.Turns[i].Marker.Moved = head
		}
	}
	for i, t := range st.Traces {
		st.Traces[i].Abandoned = t.Abandoned || t.Marker.Head != head && t.Marker.Start != head
	}
}

func withoutFailed(turns []model.Posted[model.TurnMarker]) []model.Posted[model.TurnMarker] {
	return slices.DeleteFunc(turns, func(t model.Posted[model.TurnMarker]) bool { return t.Marker.Phase == model.PhaseFailed })
}

// Settled is State.Settled of the comments read so far, for paging. Without a receipt there is none.
func (c Codec) Settled(comments []model.Comment, scope Scope) (model.Mark, bool) {
	mark := c.Fold(comments, scope).Settled
	return mark, !mark.At.IsZero()
}

func inOrder(comments []model.Comment) []model.Comment {
	sorted := slices.Clone(comments)
	slices.SortStableFunc(sorted, func(a, b model.Comment) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Kind, b.Kind))
	})
	return sorted
}

// first stores the marker if there is none yet, and reports whether it did.
func first[M any](at **model.Posted[M], m M, c model.Comment) bool {
	if *at != nil {
		return false
	}
	*at = place(m, c)
	return true
}

// firstOnly takes the first of the comments of a kind, so that two racing runs agree.
func firstOnly[M any](at func(*model.State) **model.Posted[M]) func(*fold, model.Comment, *M) {
	return func(f *fold, cm model.Comment, m *M) {
		if !first(at(&f.st), *m, cm) {
			f.surplus(cm.ID)
		}
	}
}

func place[M any](m M, c model.Comment) *model.Posted[M] {
	return &model.Posted[M]{Marker: m, CommentID: c.ID, At: c.CreatedAt, UpdatedAt: c.UpdatedAt, URL: c.URL, Text: Text(c.Body)}
}

// believed is a trusted trailer.
type believed struct {
	tokens []string
	kind   kind // nil for none
	marker any
}

// sticky reports whether a comment was posted as one that can be made again, as those on conflicts and on a roadmap. If GitHub
// does not report the original text, it may have been any other comment.
func sticky(cm model.Comment) bool {
	k := byKind(parseTrailer(cm.Posted).kind)
	return k != nil && k.isSticky()
}

// trusted applies the rules of trust to one comment, and records in the state what looks like ours but is refused. JSON markers
// occur in conversation comments only, so an outside edit of a review reply does no damage: it only loses its tokens.
func (f *fold) trusted(c Codec, cm model.Comment, scope Scope) (believed, bool) {
	st, t := &f.st, parseTrailer(cm.Body)
	marked := t.kind != "" || len(t.tokens) > 0
	distrust := func(reason string, spoilt bool) (believed, bool) {
		st.Distrusted = append(st.Distrusted, model.Distrust{
			CommentID: cm.ID, URL: cm.URL, Editor: editorOf(cm), Reason: reason, Spoilt: spoilt, At: cm.UpdatedAt,
		})
		return believed{}, false
	}
	switch {
	case !cm.Ours && marked:
		if err := f.foreign(c, cm, t, scope); insider(cm) {
			noteElsewhere(st, err, scope)
		}
		return distrust("written by "+cm.Author.Login+", not by us", false)
	case !cm.Ours:
		return believed{}, false
	case cm.EditedByOther && sticky(cm):
		st.RoadmapLost = st.RoadmapLost || parseTrailer(cm.Posted).kind == KindRoadmap
		return distrust("edited by "+editorOf(cm), false)
	case cm.EditedByOther && cm.Kind == model.KindIssue && (cm.WasMarked || strings.Contains(cm.Body, markerOpen) && !onlyTokens(t)):
		return distrust("edited by "+editorOf(cm), true)
	case cm.EditedByOther && strings.Contains(cm.Body, markerOpen):
		return distrust("edited by "+editorOf(cm), false)
	case !marked:
		return believed{}, false
	}
	if t.kind == "" {
		return believed{tokens: c.openTokens(t)}, true
	}
	b, err := c.open(t, scope)
	if err != nil {
		noteElsewhere(st, err, scope)
		return distrust(err.Error(), false)
	}
	return b, true
}

// noteElsewhere notes what another repository a marker names that is in order but for that.
func noteElsewhere(st *model.State, err error, scope Scope) {
	if e := (*elsewhere)(nil); errors.As(err, &e) && e.number == scope.Number {
		st.NoteElsewhere(e.repo)
	}
}

// onlyTokens reports whether a comment ends like a plain reply of ours: an edit then loses nothing but its tokens.
func onlyTokens(t trailer) bool {
	return t.kind == "" && len(t.tokens) > 0 && !strings.Contains(t.text, markerOpen)
}

// editorOf names who edited a comment last, or says that the account was deleted; "" if nobody edited it.
func editorOf(cm model.Comment) string {
	if cm.EditedByOther && cm.Editor == "" {
		return "an account that was deleted"
	}
	return cm.Editor
}
