package turn

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
)

// Lost are the turns without a comment, by their remaining traces: one each, a reply's rather than a commit's, the oldest
// turn first. A receipt that is merely too old to have been read is not lost.
func Lost(s model.Snapshot, st model.State, traces []model.Trace) []model.Trace {
	var waiting []string
	for _, c := range slices.Concat(s.Comments, s.Failures) {
		if !s.SettledBelow(c, st.Settled) {
			waiting = append(waiting, c.Key(s.Pull.Number))
		}
	}
	taken := func(event string) bool { return st.Answered[event] || claimed(st, event) }
	var lost []model.Trace
	for _, t := range traces {
		read := !t.Commit && (s.Floor.IsZero() || t.At.After(s.Floor)) // then its receipt was, too
		switch {
		case t.Abandoned && !slices.ContainsFunc(s.Pull.Commits, func(c model.CommitText) bool { return c.SHA == t.Marker.Head }):
		case st.Keys[t.Marker.Key], !t.At.After(st.Forgiven) && !st.Forgiven.IsZero():
		case slices.ContainsFunc(t.Marker.Events, taken):
		case slices.ContainsFunc(lost, func(l model.Trace) bool { return l.Marker.Key == t.Marker.Key }):
		case read || slices.ContainsFunc(t.Marker.Events, func(e string) bool { return slices.Contains(waiting, e) }):
			lost = append(lost, t)
		}
	}
	slices.SortStableFunc(lost, func(a, b model.Trace) int { return a.At.Compare(b.At) })
	return lost
}

// Pushed reports whether a commit's trailers are ours because we pushed it as the last commit of exactly that turn. Its
// author proves nothing, and neither does our push if it included others' commits.
func Pushed(t model.Trace, pushes []model.Push, ours func(model.Actor) bool, key func(start string) string) (model.Push, bool) {
	i := slices.IndexFunc(pushes, func(p model.Push) bool {
		return p.After == t.Marker.Head && ours(p.By) && key(p.Before) == t.Marker.Key
	})
	if i < 0 {
		return model.Push{}, false
	}
	return pushes[i], true
}

// Restored is the marker that replaces a lost receipt. A signed commit alone does not make it accept a head: anybody who
// may push can copy the message onto a rewritten branch.
func Restored(t model.Trace, st model.State) model.TurnMarker {
	m := model.TurnMarker{
		Repo: t.Marker.Repo, Number: t.Marker.Number, Key: t.Marker.Key, Phase: model.PhaseDone, Events: t.Marker.Events, Start: t.Marker.Start,
		Since: t.Marker.Since, Seen: t.Marker.Seen, Session: t.Marker.Session, Attempt: 1, Restored: true,
	}
	if copied := t.Commit && t.Attested; !copied && t.At.After(st.AcceptedAt) { // else what was accepted since is newer
		m.Head = t.Marker.Head
	}
	if !slices.ContainsFunc(st.Turns, func(o model.Posted[model.TurnMarker]) bool { return !o.Marker.Restored && o.UpdatedAt.After(t.At) }) {
		m.Spent = &model.Spent{Day: t.At.UTC().Format(time.DateOnly), Turns: 1} // else a later turn has counted it
	}
	return m
}

// RestoredText is the text of a replaced receipt.
func RestoredText(p model.Pull, answers []Answer, t model.Trace) string {
	var b strings.Builder
	fmt.Fprintf(&b, "**Receipt restored** for a turn that answered %s: its comment was deleted", answered(answers, t.Marker.Events))
	if t.Marker.Head != t.Marker.Start {
		fmt.Fprintf(&b, "; its commits are on the branch up to %s", markdown.Commit(p.URL, t.Marker.Head))
	}
	b.WriteString(".\n\nThe agent is not asked again. To have something redone, say so in a new comment.\n\n| feedback | answer |\n| --- | --- |\n")
	for _, a := range answers {
		where := "deleted"
		if a.ReplyURL != "" {
			where = fmt.Sprintf("[reply](%s)", a.ReplyURL)
		}
		fmt.Fprintf(&b, "| %s | %s |\n", strings.ReplaceAll(mention(a.Feedback), "|", `\|`), where)
	}
	return b.String()
}
