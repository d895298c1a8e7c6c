package model

import (
	"fmt"
	"slices"
	"time"
)

// Phase is the progress of a turn.
type Phase string

// The phases of a turn in its marker.
const (
	PhaseStarted Phase = "started" // claimed; the agent may be running
	PhasePlanned Phase = "planned" // the work is staged and the outbox is recorded: the agent is no longer needed
	PhaseDone    Phase = "done"    // everything is visible: the marker is a receipt
	PhaseFailed  Phase = "failed"  // this attempt ended without a result
	// PhaseWaiting is for issues only: a person has to answer before the next attempt.
	PhaseWaiting Phase = "awaiting_issue_followup"
)

// Relation is how a later head relates to an earlier one, in the terms of GitHub's compare API.
type Relation string

// The relations of two heads.
const (
	Identical Relation = "identical"
	Ahead     Relation = "ahead"    // the later head has the earlier one as an ancestor
	Behind    Relation = "behind"   // the later head is an ancestor of the earlier one
	Diverged  Relation = "diverged" // neither
	Unknown   Relation = "unknown"  // history is missing: to be resolved, never guessed
)

// RunState is what GitHub knows about a workflow run.
type RunState struct {
	Known     bool
	Completed bool
	Attempt   int
	Began     time.Time // when the newest attempt began; zero: GitHub does not say
}

// PRMarker starts tracking a pull request.
type PRMarker struct {
	Repo   string `json:"repo"`
	Number int    `json:"number"`
	Issue  int    `json:"issue,omitempty"`
	Flow   string `json:"flow,omitempty"`
	Branch string `json:"branch"`
	Agent  string `json:"agent"`
	Base   string `json:"base"`
	Head   string `json:"head"` // the baseline of the history guard
	// Command is the key of the adopt command that it answers, and By its author.
	Command string `json:"command,omitempty"`
	By      string `json:"by,omitempty"`
	Receipt int64  `json:"receipt,omitempty"` // as in UnblockMarker
	// At is the command's time, and AwayFrom that of the release which it ends.
	At       time.Time `json:"at,omitzero"`
	AwayFrom time.Time `json:"away_from,omitzero"`
}

// TurnMarker is the comment of a turn.
type TurnMarker struct {
	Repo    string   `json:"repo"`
	Number  int      `json:"number"`
	Key     string   `json:"key"`
	Phase   Phase    `json:"phase"`
	Events  []string `json:"events"` // event keys
	Start   string   `json:"start"`  // head that the turn started from
	Planned string   `json:"planned,omitempty"`
	Head    string   `json:"head,omitempty"` // done: the head accepted from here on
	Outbox  *Outbox  `json:"outbox,omitempty"`
	// OutboxZ is the outbox, deflated and in base64, if the plain one does not fit.
	OutboxZ string   `json:"outbox_z,omitempty"`
	Tokens  []string `json:"tokens,omitempty"` // done: the tokens of every effect that was applied
	Session string   `json:"session,omitempty"`
	Attempt int      `json:"attempt"` // of this turn key, from 1
	Lease
	Reason string `json:"reason,omitempty"` // failed: why
	// Onto is the head that the planned commits are on, if somebody's fast-forward moved it away from Start.
	Onto string `json:"onto,omitempty"`
	// Moved is the head that an operator has accepted although the planned commits are on another history.
	Moved string `json:"moved,omitempty"`
	// Unsaid is the block or the stop that the attempt ended with, if GitHub did not take the comment.
	Unsaid *BlockMarker `json:"unsaid,omitempty"`
	// Stage is the full ref of the planned commits, if the server refuses private refs; "": the turn's own.
	Stage string `json:"stage,omitempty"`
	// Since is the reading time of the snapshot with the turn's feedback: earlier comments are settled.
	Since time.Time `json:"since,omitzero"`
	// Seen is the highest ID of a conversation comment in that snapshot; 0 if the turn left some of them for later.
	Seen    int64   `json:"seen,omitempty"`
	CostUSD float64 `json:"cost_usd,omitempty"`
	// Spent is the pull request's cost on the day of the turn, including the turn.
	Spent *Spent `json:"spent,omitempty"`
	// Delegates are those of the pull request when the turn began: empty where they were revoked, nil where there were none.
	Delegates []Delegate `json:"delegates,omitzero"`
	Kept                 // of a failed attempt
	// Tries are earlier failed attempts, the newest last.
	Tries []Try `json:"tries,omitempty"`
	// Flaky is the result for a failure that the agent called flaky.
	Flaky *FlakyMark `json:"flaky,omitempty"`
	// Lifts is the comment of the agent's newest question that an answer had lifted by this claim.
	Lifts int64 `json:"lifts,omitempty"`
	// Restored says that this receipt replaces a deleted one.
	Restored bool `json:"restored,omitempty"`
	// Handoff is the SHA-256 of what the agent's job handed over for this attempt, in split mode.
	Handoff string `json:"handoff,omitempty"`
	// Transcript is the SHA-256 of the session's encrypted transcript, if one is kept.
	Transcript string `json:"transcript,omitempty"`
}

// Open reports whether the turn has not come to an end.
func (m TurnMarker) Open() bool { return m.Phase == PhaseStarted || m.Phase == PhasePlanned }

// NeedsAgent reports whether the turn has no result yet that only has to be published or said.
func (m TurnMarker) NeedsAgent() bool { return m.Phase == PhaseStarted && m.Unsaid == nil }

// Flow is one of the ways from an issue to a pull request; the value is also the kind of the agent's request.
type Flow string

// The flows.
const (
	FlowDesign         Flow = AskDesign
	FlowRoadmap        Flow = AskRoadmap
	FlowBugfix         Flow = AskBugfix
	FlowSmallJob       Flow = AskSmallJob
	FlowImplementation Flow = AskImplementation
)

// Document reports whether the flow proposes a document that is reviewed before anything is done.
func (f Flow) Document() bool { return f == FlowDesign || f == FlowRoadmap }

// IssueMarker is the comment of one attempt to turn an issue into a pull request. Fields that it shares with a turn have
// the same names; Start is the commit that the attempt started from.
type IssueMarker struct {
	TurnMarker
	Status Phase     `json:"status"` // instead of the turn's phase
	Phase  *struct{} `json:"phase,omitempty"`
	Flow   Flow      `json:"flow"`
	Branch string    `json:"branch"` // of the future pull request
	Base   string    `json:"base"`   // its base branch
	// LastCheckpoint is the newest unfinished work, wherever it is kept, and Tip the commit that we left the branch at.
	LastCheckpoint string `json:"last_checkpoint_sha,omitempty"`
	Tip            string `json:"branch_sha,omitempty"`
	// Waiting is why it waits for a person.
	Waiting string `json:"waiting_reason,omitempty"`
	// Until is when the wait ends by itself, as that for the next day's budget; zero: a person ends it.
	Until time.Time `json:"until,omitzero"`
	// Pull is the pull request that was opened: done.
	Pull int `json:"pull,omitempty"`
	// Doc is the path of the design document or the roadmap, and Design the pull request that merged it.
	Doc    string `json:"doc,omitempty"`
	Design int    `json:"design,omitempty"`
}

// Open reports whether the attempt has not come to an end.
func (m IssueMarker) Open() bool { return m.Status == PhaseStarted || m.Status == PhasePlanned }

// Waits reports whether a person has to continue: a question, or work that is on no ref of the server.
func (m IssueMarker) Waits() bool {
	return m.Status == PhaseWaiting || m.Status == PhaseFailed && m.Waiting != ""
}

// Asks reports whether it waits for a person and not for the next day.
func (m IssueMarker) Asks() bool { return m.Waits() && m.Waiting != ReasonBudget }

// Spent counts one pull request's turns on one day, and their cost if the agent reports it. Every attempt counts.
type Spent struct {
	Day     string  `json:"day"` // in UTC, as 2006-01-02
	Turns   int     `json:"turns"`
	CostUSD float64 `json:"cost_usd,omitempty"`
}

// Outbox is what a planned turn has yet to post.
type Outbox struct {
	Replies []ReviewReply `json:"replies,omitempty"`
	Comment string        `json:"comment,omitempty"`
	Commits []Commit      `json:"commits,omitempty"` // the newest ones that are to be published, oldest first
	Usage   Usage         `json:"usage,omitzero"`
	Seconds int           `json:"seconds,omitempty"` // how long the agent took
	Notes   []string      `json:"notes,omitempty"`
	// Threads maps each review comment that is a reply to the first comment of its thread.
	Threads map[int64]int64 `json:"threads,omitempty"`
	// Resolves maps each review comment whose thread is resolved once it is answered to the GraphQL id of that thread.
	Resolves map[int64]string `json:"resolves,omitempty"`
	// Draft is the pull request to open, for a turn on an issue.
	Draft *PullDraft `json:"draft,omitempty"`
	// Review is to be posted with the pull request.
	Review *PlannedReview `json:"review,omitempty"`
	// Flaky is the report of a flaky test to file, and Reruns the runs to repeat then.
	Flaky  *FlakyTest `json:"flaky,omitempty"`
	Reruns []Rerun    `json:"reruns,omitempty"`
}

// Verdict is the result of a command.
type Verdict string

// The verdicts, as replies and markers say them.
const (
	Applied  Verdict = "applied"
	Rejected Verdict = "rejected" // it must not be done, and the reply says why
	Failed   Verdict = "failed"   // it could not be done
	Help     Verdict = "help"     // it was asked how to ask
)

// CommandMarker is the receipt of a command.
type CommandMarker struct {
	Repo    string  `json:"repo"`
	Number  int     `json:"number"`
	Key     string  `json:"key"`
	Command string  `json:"command"` // its name
	Result  Verdict `json:"result"`
	By      string  `json:"by"`
	// At is when the command was given.
	At time.Time `json:"at,omitzero"`
	// Seen is the command's comment, if it was given on an issue: everything before it there is settled.
	Seen int64 `json:"seen,omitempty"`
	// About is the number that the command affected, if it is another one.
	About int `json:"about,omitempty"`
	// Login is the person whom a delegate command names.
	Login string `json:"login,omitempty"`
	// Notice marks the reply to all excess commands of a comment.
	Notice bool `json:"notice,omitempty"`
}

// Delegate is somebody whom an operator lets have a pull request merged, and since when.
type Delegate struct {
	Login string    `json:"login"`
	At    time.Time `json:"at"`
}

// Posted is a marker and the comment that contains it.
type Posted[M any] struct {
	Marker    M
	CommentID int64
	At        time.Time // creation of the comment
	UpdatedAt time.Time
	URL       string
	Text      string // what people read of the comment
}

// Distrust is a comment that looks like ours but is ignored.
type Distrust struct {
	CommentID int64
	URL       string
	Editor    string
	// Spoilt is set for a comment of ours with a JSON marker that somebody else edited: it blocks the pull request.
	Spoilt bool
	// Deleted is set for a comment of ours that somebody else deleted. GitHub does not say which one it was.
	Deleted bool
	Reason  string
	At      time.Time // the edit or the deletion
}

// Evidence says what somebody did, and Code is the reason that this blocks for.
func (d Distrust) Evidence() string {
	if d.Deleted {
		return fmt.Sprintf("a comment of MergeXO's was deleted by %s at %s, and nothing says what it held", d.Editor, d.At.UTC().Format("2006-01-02 15:04 UTC"))
	}
	return fmt.Sprintf("%s was edited by %s", d.URL, d.Editor)
}

// Code is described at Evidence.
func (d Distrust) Code() string {
	if d.Deleted {
		return ReasonMarkerDeleted
	}
	return ReasonMarkerEdited
}

// Deletion is a comment that somebody else than its author deleted.
type Deletion struct {
	Author, By Actor // without a login if GitHub does not say
	At         time.Time
}

// Spoilt is the first comment of ours that somebody else spoilt, or the last one that somebody else deleted if more were deleted than
// receipts can be restored; nil for none.
func (s State) Spoilt() *Distrust {
	if i := slices.IndexFunc(s.Distrusted, func(d Distrust) bool { return d.Spoilt }); i >= 0 {
		return &s.Distrusted[i]
	}
	if n := len(s.Deleted); n > s.Recovered {
		return &s.Deleted[n-1]
	}
	return nil
}

// Foreign is a comment with a well-formed marker by an account that is not ours: MergeXO with another token, if that
// account has write access here or is a bot.
type Foreign struct {
	Author      Actor
	Association string
	URL         string
}

// State is the fold of all trusted markers of one pull request.
type State struct {
	Tracked *Posted[PRMarker]
	// Surplus are our comments that say again what an earlier one has said: two runs raced.
	Surplus []int64
	// Ended are our comments that are out of date, in the order in which they became so.
	Ended []Ended
	// Settled is the mark of the newest receipt since the last unblock; zero for none.
	Settled Mark
	Turns   []Posted[TurnMarker] // in the order of their comments
	// Flows are the attempts on an issue, in the order of their comments. Their turns are in Turns as well.
	Flows []Posted[IssueMarker]
	// Retried says that an operator gave a retry after the newest of them, and EditAccepted that it only ended a stop for an edited
	// comment: what was done before that stands.
	Retried, EditAccepted bool
	// Block is the first one since the last unblock. Any other block displaces a question of the agent.
	Block *Posted[BlockMarker]
	// Question is the agent's question lifted since the newest receipt, by an answer or an operator; nil for none. Lifted
	// is the comment of the newest one that an answer ever lifted.
	Question *Posted[BlockMarker]
	Lifted   int64
	// Merges are the merge requests in their newest states, in the order of their comments.
	Merges []Posted[MergeMarker]
	// Reviews are the reviews that were asked for, in the order of their comments.
	Reviews []Posted[ReviewMarker]
	// Externals are the admissions of a fork's pull request, in the order of their labels.
	Externals []Posted[ExternalMarker]
	// Roadmap is the sticky comment on the roadmap that was merged for the issue; nil for none.
	Roadmap *Posted[RoadmapMarker]
	// RoadmapLost says that somebody edited it, and that there is no other one.
	RoadmapLost bool
	// Conflicts is the sticky comment on conflicts; nil for none.
	Conflicts *Posted[ConflictMarker]
	// MergeTips are the commits to which they may have moved the head since it was last accepted.
	MergeTips []string
	// Unfinished is the newest work that no receipt follows; nil for none.
	Unfinished *Unfinished
	// Spent is the newest turn's count for its day; zero if an operator has ended a budget block since, the last one on the day Excused.
	Spent   Spent
	Excused string
	// Paused is the pause without a resume, Released the release without an adopt.
	Paused, Released *Posted[CommandMarker]
	// Delegates are those of the pull request, in the order in which they were named.
	Delegates []Delegate
	// Resumed and Adopted are the times of the newest applied resume and adopt.
	Resumed, Adopted time.Time
	// Away are the spans between a release and the next adopt.
	Away []Span
	// Accepted is the last accepted head; empty when nothing is tracked yet. AcceptedAt is when a receipt or an operator
	// accepted it; zero where it is the head that tracking began with.
	Accepted   string
	AcceptedAt time.Time
	// Keys are those of all turns of which there is a comment, whatever became of them, and Traces what turns left in replies.
	Keys   map[string]bool
	Traces []Trace
	// Forgiven is when an operator accepted that a spoilt receipt is no more; traces that are older do not count.
	Forgiven time.Time
	// Answered holds the event keys of all done receipts.
	Answered map[string]bool
	// Commands holds the verdicts of all commands that were answered, by their keys.
	Commands map[string]Verdict
	// Tokens holds every trusted token, with the id of the comment that carries it.
	Tokens map[string]int64
	// Distrusted comments, for the log and the guard.
	Distrusted []Distrust
	// Deleted are the comments of ours that somebody else deleted, oldest first, and Recovered is how many receipts are lost that can be
	// restored.
	Deleted   []Distrust
	Recovered int
	// Elsewhere are the repositories that markers of ours here name in the place of this one, which may have been called so.
	Elsewhere []string
	// Foreign are comments that speak as MergeXO under another account, oldest first.
	Foreign []Foreign
}

// NoteElsewhere adds a repository to Elsewhere.
func (s *State) NoteElsewhere(repo string) {
	if !slices.Contains(s.Elsewhere, repo) {
		s.Elsewhere = append(s.Elsewhere, repo)
	}
}

// Lift ends the block where it is a question of the agent in this comment or an earlier one, since somebody has answered, and reports
// whether it did.
func (s *State) Lift(upTo int64) bool {
	s.Lifted = max(s.Lifted, upTo)
	b := s.Block
	lifts := b != nil && b.Marker.Reason == ReasonAgent && b.CommentID <= s.Lifted
	if lifts {
		s.Block, s.Question = nil, b
	}
	return lifts
}

// Receipt is the comment of the newest finished turn; 0 for none.
func (s State) Receipt() int64 {
	id := int64(0)
	for _, t := range s.Turns {
		if t.Marker.Phase == PhaseDone {
			id = max(id, t.CommentID)
		}
	}
	return id
}

// Merge is the newest request to merge; nil for none. Older ones no longer count, but a try takes the place of none that is open.
func (s State) Merge() *Posted[MergeMarker] {
	n := len(s.Merges)
	if n == 0 {
		return nil
	}
	if newest := s.newest(false); newest != nil && newest.Marker.Open() {
		return newest
	}
	return &s.Merges[n-1]
}

// Try is the open try beside a request to merge; nil: there is none. It ends once that request is in the merge train, which tests the
// same.
func (s State) Try() *Posted[MergeMarker] {
	m, try := s.Merge(), s.newest(true)
	if try == nil || !try.Marker.Open() || m.Marker.Tries() || m.Marker.State != MergeWaiting || m.Marker.Reason == CodeTrain {
		return nil
	}
	return try
}

// newest is the newest request that only tries, or that does not; nil: there is none.
func (s State) newest(tries bool) *Posted[MergeMarker] {
	for i := len(s.Merges) - 1; i >= 0; i-- {
		if s.Merges[i].Marker.Tries() == tries {
			return &s.Merges[i]
		}
	}
	return nil
}

// Requests are the open requests that count: one to merge, and a try beside it.
func (s State) Requests() (out []*Posted[MergeMarker]) {
	for _, m := range []*Posted[MergeMarker]{s.Merge(), s.Try()} {
		if m != nil && m.Marker.Open() {
			out = append(out, m)
		}
	}
	return out
}

// Replaced are the open requests that no longer count.
func (s State) Replaced() (out []Posted[MergeMarker]) {
	for _, m := range s.Merges {
		counts := func(r *Posted[MergeMarker]) bool { return r.CommentID == m.CommentID }
		if m.Marker.Open() && !slices.ContainsFunc(s.Requests(), counts) {
			out = append(out, m)
		}
	}
	return out
}

// Retry records that an operator asked for another attempt on an issue. A stop for a comment that somebody edited or deleted ends
// with that, and the attempt before it is the newest one again.
func (s *State) Retry() {
	n := len(s.Flows)
	for n > 1 && s.Flows[n-1].Marker.Status == PhaseWaiting && MarkerSpoilt(s.Flows[n-1].Marker.Waiting) {
		n--
	}
	s.EditAccepted = n < len(s.Flows) && s.Flows[n-1].Marker.Status == PhaseDone
	s.Flows, s.Retried = s.Flows[:n:n], n > 0
}

// Review is the newest review that was asked for; nil for none.
func (s State) Review() *Posted[ReviewMarker] {
	if len(s.Reviews) == 0 {
		return nil
	}
	return &s.Reviews[len(s.Reviews)-1]
}

// External is the newest letting in; nil for none.
func (s State) External() *Posted[ExternalMarker] {
	if len(s.Externals) == 0 {
		return nil
	}
	return &s.Externals[len(s.Externals)-1]
}
