// Package turn makes the pure decisions about a turn: which feedback is pending, which claim is the turn's, what the agent is
// asked, whether its answer is valid, and what people are told.
package turn

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/mergexo/internal/branchfilter"
	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
)

// MaxAttempts is how often one turn key is tried before the pull request blocks.
const MaxAttempts = 3

// Policy is what the settings say about whose words count.
type Policy struct {
	AllowedUsers []string // empty: people with write permission
	Track        []string // patterns of head branches, as branchfilter has them
	IgnoreLabel  string
	MaxPerTurn   int
	Listen       string   // which comments count: all, reviews or mention
	Names        []string // by which MergeXO is mentioned, besides that of its account
	Merges       bool     // failed merges are feedback
	// Trigger is the event at hand: in the very second in which people gave the pull request back, what it carries counts as
	// said after that.
	Trigger model.Event
	// IsCommand says that a comment speaks to MergeXO and not to the agent; nil for none does.
	IsCommand func(model.Comment) bool
}

// Tracked reports whether the pull request is MergeXO's business: by its marker, or because its head is a branch of this
// repository that the settings track. What an operator released is not.
func Tracked(p model.Pull, st model.State, policy Policy) bool {
	if st.Released != nil {
		return false
	}
	if st.Tracked != nil || len(st.Turns) > 0 {
		return true
	}
	return !p.CrossRepo && branchfilter.Match(policy.Track, p.HeadRef)
}

// Away are the times in which a person had taken over, or the pull request was released: what was said then was said
// among people.
func Away(p model.Pull, st model.State, policy Policy) []model.Span {
	spans := slices.Concat(st.Away, Taken(p, policy))
	if st.Released != nil {
		spans = append(spans, model.Span{From: st.Released.Marker.At})
	}
	return spans
}

// Taken are the times in which the label that pauses everything was on the pull request or on its source issue.
func Taken(p model.Pull, policy Policy) []model.Span {
	spans := labelled(p.LabelChanges, policy.IgnoreLabel)
	if p.Issue != nil {
		spans = append(spans, labelled(p.Issue.LabelChanges, policy.IgnoreLabel)...)
	}
	return spans
}

// labelled are the spans in which a label was on, as its changes tell them.
func labelled(changes []model.LabelChange, label string) []model.Span {
	var spans []model.Span
	on := -1
	for i, c := range changes {
		switch {
		case label == "" || !strings.EqualFold(c.Label, label):
		case c.On && on < 0:
			on = len(spans)
			spans = append(spans, model.Span{From: c.At})
		case !c.On && on >= 0:
			spans[on].To = c.At
			on = -1
		case !c.On: // it was put on before the oldest change that is known
			spans = append(spans, model.Span{To: changes[i].At})
		}
	}
	return spans
}

// silent reports whether a comment says nothing to the agent: it is a command, or its page shows nothing of it.
func (p Policy) silent(c model.Comment) bool {
	return p.IsCommand != nil && p.IsCommand(c) || !markdown.Says(c.Body)
}

// Candidates returns all feedback that no receipt answers, oldest first, before anybody's rights are checked. The words of an
// approval are none: they are for who merges, and what a turn pushes would void the approval. But they may answer the agent's question.
func Candidates(s model.Snapshot, st model.State, policy Policy) []model.Comment {
	out, _ := heard(s, st, policy)
	return out
}

// heard gives the candidates, and why other comments start nothing, by their authors.
func heard(s model.Snapshot, st model.State, policy Policy) (out []model.Comment, unheard []string) {
	spans := Away(s.Pull, st, policy)
	away := func(c model.Comment) bool {
		return slices.ContainsFunc(spans, func(a model.Span) bool { return a.Holds(c.UpdatedAt, policy.Trigger.Carries(c)) }) && !claimed(st, c.Key(s.Pull.Number))
	}
	// When a run failed says nothing of whether a conversation had come to it: only a receipt that names it settles it.
	out = slices.DeleteFunc(slices.Clone(s.Failures), func(c model.Comment) bool {
		return st.Answered[c.Key(s.Pull.Number)] || away(c) || c.Kind == model.KindMerge && !isFeedback(c, s.Pull, st, policy)
	})
	asks := st.Question != nil || Question(st) != nil || len(st.Flows) > 0 && st.Flows[len(st.Flows)-1].Marker.Asks()
	for _, c := range s.Comments {
		switch {
		case c.Ours, c.Author.Login == "", c.Author.Bot && !model.Named(policy.AllowedUsers, c.Author.Login):
		case c.Minimized, c.Resolved && DoneBy(c.ResolvedBy, s.Viewer.Login):
		case !asks && (c.ReviewState == "APPROVED" || c.ReviewState == "DISMISSED"):
		case st.Answered[c.Key(s.Pull.Number)]:
		case s.SettledBelow(c, st.Settled):
		case away(c):
		// Reading Markdown takes longer than linear in its length, and anybody can write much: so all cheaper tests come first,
		// and whoever may be a stranger is read closely only once GitHub has told that person's right, by Allowed.
		case (Insider(c) || len(policy.AllowedUsers) > 0) && policy.silent(c):
		default:
			if why := policy.unheard(c, s, asks); why != "" && !claimed(st, c.Key(s.Pull.Number)) {
				unheard = append(unheard, fmt.Sprintf("%s (%s)", c.Author.Login, why))
				continue
			}
			out = append(out, c)
		}
	}
	slices.SortStableFunc(out, func(a, b model.Comment) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	return out, unheard
}

// DoneBy says that people are done with a thread that this account has resolved.
func DoneBy(login, viewer string) bool { return login != "" && !strings.EqualFold(login, viewer) }

// claimed says that a turn that has not come to an end is about this event.
func claimed(st model.State, key string) bool {
	return slices.ContainsFunc(Open(st), func(t model.Posted[model.TurnMarker]) bool { return slices.Contains(t.Marker.Events, key) })
}

// AsSent gives the comments of a snapshot with the text of the trigger's own comment as it was when the event fired, where
// somebody else edited it since: what its author said counts. The later text is an event of its own, and is heard once the
// earlier is answered. Where the author corrected it, or any text of it is answered already, or settled, the newest one stands.
func AsSent(s model.Snapshot, st model.State, ev model.Event, isCommand func(model.Comment) bool) []model.Comment {
	i := slices.IndexFunc(s.Comments, ev.Carries)
	if i < 0 || ev.CommentAt.IsZero() || strings.TrimSpace(ev.CommentBody) == "" {
		return s.Comments
	}
	c := s.Comments[i]
	if c.Ours { // what we said counts as it is now: an earlier state of a claim is over
		return s.Comments
	}
	known := fmt.Sprintf("%d:%s:%d:", s.Pull.Number, c.Kind, c.ID)
	for key := range st.Answered {
		if strings.HasPrefix(key, known) {
			return s.Comments
		}
	}
	if !c.EditedByOther || c.UpdatedAt.Before(ev.CommentAt) || s.SettledBelow(c, st.Settled) || c.Body == ev.CommentBody {
		return s.Comments
	}
	if c.UpdatedAt.Equal(ev.CommentAt) && !isCommand(c) {
		return s.Comments // both texts have one key: the later one is answered, unless it is none that is
	}
	c.Body, c.UpdatedAt = ev.CommentBody, ev.CommentAt
	c.Edited = ev.Action == "edited"
	c.EditedByOther, c.Editor = c.Edited && !strings.EqualFold(ev.Sender.Login, c.Author.Login), ev.Sender.Login
	comments := slices.Clone(s.Comments)
	comments[i] = c
	return comments
}

// UnknownRights lists the people whose permission decides about a candidate and is not known yet, each once. The association
// does not tell: who hides the membership in the organization, which is GitHub's default, shows as CONTRIBUTOR or NONE and may
// have every right. Only what no receipt has passed over is asked about: whoever was not heard then is not asked about at every
// event since.
func UnknownRights(candidates []model.Comment, known map[string]model.Permission, settled model.Mark, policy Policy) []string {
	if len(policy.AllowedUsers) > 0 {
		return nil
	}
	var ask []string
	for _, c := range candidates {
		who := speakers(c)
		if c.Kind.Happened() || c.Author.Bot || slices.Contains(who, "") || settled.PassedOver(c) {
			continue
		}
		for _, login := range who {
			if _, ok := known[login]; !ok && !slices.Contains(ask, login) {
				ask = append(ask, login)
			}
		}
	}
	return ask
}

// Insider says that the author visibly belongs here. That is no permission, and others can have one.
// https://docs.github.com/en/graphql/reference/enums#commentauthorassociation
func Insider(c model.Comment) bool {
	return c.Association == "OWNER" || c.Association == "MEMBER" || c.Association == "COLLABORATOR"
}

// MaySteer keeps the candidates whose authors could have the right to steer the agent, by what is known before GitHub is asked.
func MaySteer(candidates []model.Comment, known map[string]model.Permission, policy Policy) []model.Comment {
	return slices.DeleteFunc(slices.Clone(candidates), func(c model.Comment) bool {
		if c.Kind.Happened() {
			return false
		}
		if len(policy.AllowedUsers) == 0 {
			return slices.ContainsFunc(speakers(c), func(login string) bool {
				right, asked := known[login]
				return login == "" || asked && right < model.PermissionWrite
			})
		}
		return !model.Named(policy.AllowedUsers, c.Author.Login)
	})
}

// speakers are the logins, in lower case, that speak in a comment: its author, and whoever else wrote its text last; "" is
// an account that was deleted, which has no right.
func speakers(c model.Comment) []string {
	out := []string{strings.ToLower(c.Author.Login)}
	if c.EditedByOther {
		out = append(out, strings.ToLower(c.Editor))
	}
	return out
}

// Allowed keeps the candidates whose authors have the right to steer the agent. Words that somebody else put into a
// comment count only when that person has it too. A failed run needs nobody's right. What turns out to be a command of somebody
// whose right was not known before is no feedback.
func Allowed(candidates []model.Comment, known map[string]model.Permission, policy Policy) []model.Comment {
	return slices.DeleteFunc(slices.Clone(candidates), func(c model.Comment) bool {
		unread := !c.Kind.Happened() && !Insider(c) && len(policy.AllowedUsers) == 0
		return !mayNow(c, known, policy) || unread && policy.silent(c)
	})
}

// mayNow says that everybody who speaks in a candidate has the right to steer the agent.
func mayNow(c model.Comment, known map[string]model.Permission, policy Policy) bool {
	return c.Kind.Happened() || !slices.ContainsFunc(speakers(c), func(login string) bool {
		if len(policy.AllowedUsers) > 0 {
			return !model.Named(policy.AllowedUsers, login)
		}
		return login == "" || known[login] < model.PermissionWrite
	})
}

// maxBatch is how much feedback a turn takes at most, whatever the settings say: its receipt names every event and token
// in one comment.
const maxBatch = 200

// Batch splits off what fits into one turn; the rest is the next turn's.
func Batch(pending []model.Comment, policy Policy) (now, later []model.Comment) {
	n := min(len(pending), maxBatch)
	if policy.MaxPerTurn > 0 {
		n = min(n, policy.MaxPerTurn)
	}
	return pending[:n], pending[n:]
}

// Keys are the event keys of the feedback on pull request number.
func Keys(number int, feedback []model.Comment) []string {
	keys := make([]string, len(feedback))
	for i, c := range feedback {
		keys[i] = c.Key(number)
	}
	slices.Sort(keys)
	return keys
}

// Since is the mark that a turn over this snapshot sets, given what it leaves for later. Something said a moment earlier
// that the reading missed, since GitHub answers from replicas, is not lost by it: the next reading reaches below the mark
// by the rest of a page, and decides by the receipts themselves all that it reaches. Nor does it settle edits that were not
// looked for.
func Since(s model.Snapshot, later []model.Comment) model.Mark {
	mark := model.Mark{At: s.ReadAt, ID: Newest(s.Comments)}
	if !s.Edited.IsZero() && s.Edited.Before(mark.At) {
		mark.At = s.Edited
	}
	for _, c := range later {
		if c.Kind == model.KindActions { // no mark settles it
			continue
		}
		mark.ID = 0
		if c.UpdatedAt.Before(mark.At) {
			mark.At = c.UpdatedAt
		}
	}
	mark.At = mark.At.UTC().Truncate(time.Second)
	return mark
}

// Newest is the highest id of a conversation comment among these.
func Newest(comments []model.Comment) int64 {
	var id int64
	for _, c := range comments {
		if c.Kind == model.KindIssue {
			id = max(id, c.ID)
		}
	}
	return id
}

// Open are the claims of turns that have not come to an end.
func Open(st model.State) []model.Posted[model.TurnMarker] {
	return slices.DeleteFunc(slices.Clone(st.Turns), func(t model.Posted[model.TurnMarker]) bool {
		return t.Marker.Phase != model.PhaseStarted && t.Marker.Phase != model.PhasePlanned
	})
}

// Attempts is the highest attempt that a turn key has seen.
func Attempts(st model.State, key string) int {
	n := 0
	for _, t := range st.Turns {
		if t.Marker.Key == key && t.Marker.Phase != model.PhaseDone {
			n = max(n, t.Marker.Attempt)
		}
	}
	return n
}

// Liveness is what a claim's marker alone says about the process behind it.
type Liveness int

// What can be said about a claim.
const (
	Dead Liveness = iota
	Live
	AskRun // only the state of its workflow run tells
)

// Alive evaluates a lease by itself, as seen by a run with this id and attempt at this time of the server.
func Alive(l model.Lease, run int64, runAttempt int, now time.Time) Liveness {
	switch {
	case l.Expired(now):
		return Dead
	case l.Run == 0:
		return Live
	case l.Run == run && l.RunAttempt < runAttempt:
		return Dead
	case l.Run == run:
		return Live
	}
	return AskRun
}

// AliveByRun evaluates a lease by what GitHub knows of its workflow run. A run that GitHub does not know is live until the
// claim expires: a token without the right to read Actions must not make us run beside somebody.
func AliveByRun(l model.Lease, r model.RunState) Liveness {
	if r.Known && (r.Completed || r.Attempt > l.RunAttempt) {
		return Dead
	}
	return Live
}
