package turn

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
)

// StatusOf summarizes a pull request. pending is the open feedback of people who may steer the agent.
func StatusOf(s model.Snapshot, st model.State, policy Policy, pending []model.Comment) model.Status {
	p := s.Pull
	out := model.Status{
		Number: p.Number, Title: p.Title, URL: p.URL, Branch: p.HeadRef, Head: p.HeadSHA, Accepted: st.Accepted, Pending: len(pending),
	}
	if p.Issue != nil {
		out.Issue = p.Issue.Number
	}
	for _, t := range st.Turns {
		out.LastTurn = &model.LastTurn{Phase: t.Marker.Phase, At: t.UpdatedAt, URL: t.URL}
	}
	out.Failed = failures(st)
	if st.Unfinished != nil {
		out.Bundle = st.Unfinished.Kept.Bundle
	}
	out.Delegates = []string{}
	for _, d := range st.Delegates {
		out.Delegates = append(out.Delegates, d.Login)
	}
	if st.Block != nil {
		b := st.Block.Marker
		out.Block = &model.Blocked{
			Number: p.Number, Issue: out.Issue, Reason: b.Reason, Expected: b.Expected, Observed: b.Observed, Since: st.Block.At, URL: st.Block.URL,
			Local: b.Phase == model.GuardLocal,
		}
	}
	if m := st.Merge(); m != nil {
		out.Merge = &model.MergeRequest{State: m.Marker.State, Reason: m.Marker.Reason, Head: m.Marker.Head, By: m.Marker.By, Since: m.At, URL: m.URL, Tip: m.Marker.Tip}
	}
	if r := st.Review(); r != nil && r.Marker.Open() {
		out.Review = &model.OpenReview{Head: r.Marker.Head, By: r.Marker.By, Since: r.At, URL: r.URL}
	}
	out.State = state(p, st, policy, out)
	return out
}

func state(p model.Pull, st model.State, policy Policy, s model.Status) model.StatusState {
	switch {
	case p.State == model.PullMerged:
		return model.StatusMerged
	case p.State == model.PullClosed:
		return model.StatusClosed
	case st.Released != nil:
		return model.StatusReleased
	case st.Block != nil:
		return model.StatusBlocked
	case !Tracked(p, st, policy) && (s.Merge == nil || !s.Merge.Open()): // people may have other branches merged, too
		return model.StatusUntracked
	case !p.TakenGate(policy.IgnoreLabel).Met:
		return model.StatusTaken
	case st.Paused != nil:
		return model.StatusPaused
	case len(Open(st)) > 0:
		return model.StatusClaimed
	case s.Merge != nil && s.Merge.State == model.MergeRunning:
		return model.StatusMerging
	case s.Failed > 0:
		return model.StatusFailed
	case s.Pending > 0:
		return model.StatusPending
	case s.Merge != nil && s.Merge.State == model.MergeWaiting:
		return model.StatusQueued
	}
	return model.StatusIdle
}

// The further conditions of a turn, for Why.
const (
	GateLineage  model.GateName = "history_only_grew"
	GateIdle     model.GateName = "no_other_run"
	GateAttempts model.GateName = "attempts_left"
	GateLast     model.GateName = "last_turn"
	GateFeedback model.GateName = "feedback_pending"
	GateNext     model.GateName = "next_run" // by the run itself, once all others are met
)

// Evidence is what Why needs besides the snapshot.
type Evidence struct {
	Pending  []model.Comment                 // of authorized people
	Rights   map[string]model.Permission     // what GitHub has told, by lower-case login
	Relation model.Relation                  // of the head to the last accepted one; Unknown if not needed
	Live     *model.Posted[model.TurnMarker] // the claim of a running turn; nil for none
}

// Why evaluates all conditions of a turn: the gates, and what comes after them.
func Why(s model.Snapshot, st model.State, policy Policy, e Evidence) []model.Gate {
	pending := e.Pending
	gates := append(Gates(s, st, policy), lineageGate(s.Pull, st, e.Relation), idleGate(e.Live), attemptsGate(st), lastGate(st))
	ignored := ignoredAuthors(s, st, policy, e)
	switch {
	case len(pending) == 0 && ignored == "":
		return append(gates, model.NewGate(GateFeedback, false, "all feedback is answered"))
	case len(pending) == 0:
		return append(gates, model.NewGate(GateFeedback, false, "all feedback is answered. Ignored: %s", ignored))
	case ignored != "":
		return append(gates, model.NewGate(GateFeedback, true, "%s; ignored: %s", counted(pending), ignored))
	}
	return append(gates, model.NewGate(GateFeedback, true, "%s", counted(pending)))
}

// ignoredAuthors names the people whose comments are not acted on, because they may not steer the agent or do not speak to it.
func ignoredAuthors(s model.Snapshot, st model.State, policy Policy, e Evidence) string {
	var who []string
	candidates, unheard := heard(s, st, policy)
	for _, c := range candidates {
		heard := mayNow(c, e.Rights, policy) || slices.ContainsFunc(e.Pending, func(p model.Comment) bool { return p.Kind == c.Kind && p.ID == c.ID })
		if !heard && !slices.Contains(who, c.Author.Login) {
			who = append(who, c.Author.Login)
		}
	}
	const most = 10
	if len(who) > most {
		who = append(who[:most], "others")
	}
	if len(who) == 0 {
		return strings.Join(unheard[:min(len(unheard), most)], ", ")
	}
	reason := "no write access"
	if len(policy.AllowedUsers) > 0 {
		reason = "not in [repo] allowed_users"
	}
	return strings.Join(append([]string{fmt.Sprintf("%s (%s)", strings.Join(who, ", "), reason)}, unheard[:min(len(unheard), most)]...), ", ")
}

func lineageGate(p model.Pull, st model.State, relation model.Relation) model.Gate {
	accepted, head := markdown.Short(st.Accepted), markdown.Short(p.HeadSHA)
	switch {
	case st.Accepted == "":
		return model.NewGate(GateLineage, true, "no head is accepted yet; the first turn starts from %s", head)
	case st.Block != nil && st.Block.Marker.Reason == model.ReasonRewrite:
		return model.NewGate(GateLineage, false, "rewritten: expected %s, observed %s", markdown.Short(st.Block.Marker.Expected), markdown.Short(st.Block.Marker.Observed))
	case st.Accepted == p.HeadSHA:
		return model.NewGate(GateLineage, true, "the head is the last accepted one, %s", accepted)
	}
	switch relation {
	case model.Ahead, model.Identical:
		return model.NewGate(GateLineage, true, "the head %s descends from the last accepted one, %s", head, accepted)
	case model.Unknown:
		return model.NewGate(GateLineage, true, "the head moved from %s to %s; the history is compared before the next turn", accepted, head)
	}
	return model.NewGate(GateLineage, false, "the head %s does not descend from the last accepted one, %s", head, accepted)
}

func idleGate(live *model.Posted[model.TurnMarker]) model.Gate {
	if live == nil {
		return model.NewGate(GateIdle, true, "no run is working here")
	}
	return model.NewGate(GateIdle, false, "claimed, see %s; the claim expires with its run, or at %s", live.URL, live.Marker.Expires.UTC().Format("2006-01-02 15:04 MST"))
}

func attemptsGate(st model.State) model.Gate {
	n := failures(st)
	return model.NewGate(GateAttempts, n < MaxAttempts, "%d of %d attempts failed", n, MaxAttempts)
}

// lastGate describes the newest turn if it failed, with its comment.
func lastGate(st model.State) model.Gate {
	n := len(st.Turns)
	if n == 0 || st.Turns[n-1].Marker.Phase != model.PhaseFailed {
		return model.NewGate(GateLast, true, "no turn has failed since")
	}
	last := st.Turns[n-1]
	reason, _, _ := strings.Cut(last.Marker.Reason, "\n")
	return model.NewGate(GateLast, false, "it failed (%s), see %s; the next attempt starts with the next event or scheduled run, or with /mergexo retry", reason, last.URL)
}

// failures counts the failed attempts since the last success. Each claim replaces the failure before it and counts on.
func failures(st model.State) int {
	n := 0
	for _, t := range st.Turns {
		switch t.Marker.Phase {
		case model.PhaseFailed:
			n = max(n, t.Marker.Attempt)
		case model.PhaseDone:
			n = 0
		}
	}
	return n
}
