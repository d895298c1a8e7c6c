package model

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// MergeState is how far a request to merge has come.
type MergeState string

// The states of a request to merge, as its marker says them.
const (
	MergeWaiting MergeState = "in_approval"  // something is missing that can come without a change of the head
	MergeRunning MergeState = "merging"      // a run is at work, or died at it
	MergeDone    MergeState = "done"         // the base has it
	MergeFailed  MergeState = "merge_failed" // this request is over
)

// MergeCode says why a merge did not happen. The values are part of markers, step outputs and the report.
type MergeCode string

// What ends a request to merge, or keeps it waiting.
const (
	CodeApproval      MergeCode = "APPROVAL_MISSING"
	CodeStale         MergeCode = "APPROVAL_STALE"
	CodeChanges       MergeCode = "CHANGES_REQUESTED"
	CodeChecks        MergeCode = "CHECKS_PENDING"
	CodeChecksFailed  MergeCode = "CHECKS_FAILED"
	CodeDraft         MergeCode = "DRAFT"
	CodeFrozen        MergeCode = "FROZEN"
	CodeReviewers     MergeCode = "REVIEW_MISSING" // somebody who was asked for a review has not given it
	CodeClosed        MergeCode = "CLOSED"         // the pull request was closed meanwhile
	CodeBlocked       MergeCode = "BLOCKED"
	CodeBusy          MergeCode = "BUSY" // a turn is at work
	CodeTrain         MergeCode = "IN_TRAIN"
	CodeQueue         MergeCode = "IN_QUEUE" // GitHub's own merge queue
	CodeDequeued      MergeCode = "DEQUEUED" // somebody took it out of GitHub's merge queue
	CodeTried         MergeCode = "TRIED"    // it was only a try
	CodeStrategy      MergeCode = "STRATEGY_UNUSABLE"
	CodeCancelled     MergeCode = "CANCELLED"  // an operator took the request back
	CodeReplaced      MergeCode = "SUPERSEDED" // by a later request
	CodeConflict      MergeCode = "REBASE_CONFLICT"
	CodeSquash        MergeCode = "SQUASH_CONFLICT"
	CodeTests         MergeCode = "PRE_MERGE_FAILED"
	CodeNoTests       MergeCode = "NO_TESTS"
	CodeSetup         MergeCode = "SETUP_FAILED" // what has to come before the tests
	CodeNoCheckout    MergeCode = "NO_CHECKOUT"  // to test in
	CodeProtected     MergeCode = "PROTECTED"
	CodeUnrelated     MergeCode = "NO_COMMON_ANCESTOR"
	CodeEmpty         MergeCode = "NOTHING_TO_MERGE"
	CodeRewound       MergeCode = "BASE_REWOUND"
	CodeDiff          MergeCode = "DIFF_CHANGED" // what would land is not what was reviewed
	CodeForbidden     MergeCode = "FORBIDDEN"    // the token may not
	CodeAttempts      MergeCode = "ATTEMPTS"     // tried as often as it may be
	CodeTooMany       MergeCode = "TOO_MANY_COMMITS"
	CodeBaseMissing   MergeCode = "BASE_MISSING"
	CodeBaseMerged    MergeCode = "BASE_MERGED" // into another branch, where nothing that is merged into it now gets
	CodeBranchMissing MergeCode = "BRANCH_MISSING"
	CodeFrontmatter   MergeCode = "FRONTMATTER"
	CodeNeeds         MergeCode = "DEPENDENCY_CLOSED" // what it depends on was closed without being merged
	CodeDepends       MergeCode = "DEPENDENCY"        // what it depends on has not landed, or cannot
	CodeRetargeted    MergeCode = "RETARGETED"        // the pull request goes to another base than when it was asked for
	CodeMember        MergeCode = "GROUP_MEMBER"      // another pull request of the group is not ready
	CodeWrongHead     MergeCode = "WRONG_HEAD"        // the command names another commit than the head
	CodeLockBroken    MergeCode = "LOCK_UNREADABLE"
	CodeRoadmap       MergeCode = "ROADMAP_INVALID"  // what would land has a roadmap that does not hold
	CodeSettings      MergeCode = "SETTINGS_INVALID" // what would land has settings that cannot be read

	CodeBaseMoved MergeCode = "BASE_MOVED"
	CodeRejected  MergeCode = "PUSH_REJECTED"
	CodeLock      MergeCode = "LOCK_TIMEOUT"
	CodeHeadMoved MergeCode = "HEAD_MOVED"
	CodeDirtyBase MergeCode = "DIRTY_BASE" // a local base branch is checked out with changes
)

// Retryable says that the same request may succeed later as things are.
func (c MergeCode) Retryable() bool {
	switch c {
	case CodeBaseMoved, CodeRejected, CodeLock, CodeHeadMoved, CodeDirtyBase, CodeBusy, CodeChecks, CodeTrain, CodeQueue:
		return true
	}
	return false
}

// TrainWish is how somebody wants a pull request to go in the merge train.
type TrainWish struct {
	Priority int  `json:"priority,omitempty"` // higher first; 0: as all others
	Solo     bool `json:"solo,omitempty"`     // in a car of its own
	Now      bool `json:"now,omitempty"`      // before all others
	Try      bool `json:"try,omitempty"`      // tested and reported, and never landed
}

// MergeMarker is the one comment of a request to merge, in its newest state.
type MergeMarker struct {
	Repo   string `json:"repo"`
	Number int    `json:"number"`
	// Command is the key of the command that this answers, By who gave it and At when.
	Command string    `json:"command"`
	By      string    `json:"by"`
	At      time.Time `json:"at,omitzero"`
	// Approved is when the request had the approvals that it needs, as it joined the merge train. Zero: it did not, or needs none.
	Approved time.Time  `json:"approved_at,omitzero"`
	State    MergeState `json:"state"`
	Attempt  int        `json:"attempt,omitempty"` // on this head and this tip of the base, from 1
	// Asked is the strategy that the command names, and Strategy the one that is used.
	Asked    string `json:"asked,omitempty"`
	Strategy string `json:"strategy,omitempty"`
	// Title is that of the pull request as the merge train took the request up, by which its commits there are named: people may
	// edit it while they are tested. "": the train has not.
	Title   string `json:"title,omitempty"`
	Head    string `json:"head"`               // that was approved, and that the request is about
	Base    string `json:"base"`               // branch
	BaseSHA string `json:"base_sha,omitempty"` // the tip of the base that Tip was made on
	Car     bool   `json:"car,omitempty"`      // BaseSHA is a commit of the merge train, which the base need not have had
	// Tip is the commit that was tested and lands, recorded before anything moves. From then on it may be the head.
	Tip  string `json:"tip,omitempty"`
	Tree string `json:"tree,omitempty"` // of Tip
	// Was are the tips of earlier attempts of this request, one of which the head may still be.
	Was []string `json:"was,omitempty"`
	// Landed is what the base has: done. It differs from Tip where GitHub made the commit.
	Landed string `json:"landed,omitempty"`
	// Badge is since when this has landed while GitHub shows the pull request as open; zero: it does not, or that is over.
	Badge  time.Time `json:"badge,omitzero"`
	Reason MergeCode `json:"reason,omitempty"`
	Detail string    `json:"detail,omitempty"`
	// Unstarted says that the tests failed because the runner lacks what they need.
	Unstarted bool `json:"unstarted,omitempty"`
	// Cause is how the attempt ended that Attempt counts, for people; "": it is in progress, or its run ended without a word.
	Cause string `json:"cause,omitempty"`
	// Looked stands for all that may end the waiting, as it was when this request was looked at last: a sweep looks again when
	// that is something else.
	Looked string `json:"looked,omitempty"`
	// Mirror is the branch of this repository that lands in place of the head, and MirrorSHA its tip: the head of a fork's pull
	// request that was let in, or commits of ours on top of it.
	Mirror    string `json:"mirror,omitempty"`
	MirrorSHA string `json:"mirror_sha,omitempty"`
	// Label is the label that a mirror was let in by, or that asks for the merge, put on by By at At; "" where a command or an approval
	// asks.
	Label string `json:"label,omitempty"`
	// ByApproval says that an approval asks for the merge.
	ByApproval bool `json:"by_approval,omitempty"`
	// Members are the pull requests that land together with this one, in their order, this one among them; nil for it alone.
	Members []MergeMember `json:"members,omitempty"`
	// Train is what the command says about a place in the merge train; nil where it says nothing.
	Train *TrainWish `json:"train,omitempty"`
	// Record is the count of the record of the train to Base when this was written; 0: there was none.
	Record int64 `json:"record,omitempty"`
	// Queue is what is known of GitHub's merge queue, once the request is to go through it.
	Queue *QueueMark `json:"queue,omitempty"`
	// Leader is the pull request whose request this one is part of, as owner/name#number.
	Leader string `json:"leader,omitempty"`

	Lease
}

// MergeMember is one pull request of a group.
type MergeMember struct {
	Repo    string `json:"repo"`
	Number  int    `json:"number"`
	Head    string `json:"head"`
	Base    string `json:"base"`
	BaseSHA string `json:"base_sha,omitempty"`
	Tip     string `json:"tip,omitempty"`
	Tree    string `json:"tree,omitempty"`
	// Strategy is the one that Tip was made by, and that it lands by.
	Strategy string `json:"strategy,omitempty"`
	Landed   string `json:"landed,omitempty"`
}

// Tips are all commits that this request may have moved the head to.
func (m MergeMarker) Tips() []string {
	if m.Tip == "" {
		return m.Was
	}
	return append(append([]string{}, m.Was...), m.Tip)
}

// ByLabel says that a label asks for the merge, whose removal takes the request back.
func (m MergeMarker) ByLabel() bool { return m.Label != "" && m.Mirror == "" }

// Tries says that the request only has the train test a pull request.
func (m MergeMarker) Tries() bool { return m.Train != nil && m.Train.Try }

// Open says that the request has not come to an end.
func (m MergeMarker) Open() bool { return m.State == MergeWaiting || m.State == MergeRunning }

// Review is the last opinion of somebody who may write.
type Review struct {
	Login string
	State string // APPROVED, CHANGES_REQUESTED or DISMISSED
	SHA   string // of the head that it was given on
	At    time.Time
	URL   string
}

// Check is a check run or a commit status.
type Check struct {
	Name     string
	App      string // slug of the App that made it; "" for the commit status of a person
	Suite    string // node of the check suite; "": it is a status
	State    CheckState
	Begun    bool   // it is at work; one that is pending otherwise has not begun, or does not say so
	Required bool   // by the rules of the base branch
	RunID    int64  // the workflow run that it is part of, where that was asked for; 0: of none
	Node     string // of the check run, which is another one after each re-run; "": it was not asked for, or it is a status
	URL      string
	At       time.Time
}

// Replaces says that the newer of two checks counts in place of the other. A workflow run has a check suite of its own, which its
// re-runs are in too; another App has one for each commit. Two runs, of one workflow or of two, may have a job of the same name, and
// each has to pass: https://docs.github.com/repositories/configuring-branches-and-merges-in-your-repository/managing-protected-branches/about-protected-branches#require-status-checks-before-merging
func (c Check) Replaces(other Check) bool {
	return c.Name == other.Name && c.App == other.App && c.Suite == other.Suite
}

// Current are the checks that count, of all that a commit has had, the newest first: none that another one replaces. Of those that
// began in the same second it is the worst.
func Current(all []Check) []Check {
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b Check) int {
		return cmp.Or(cmp.Compare(b.unix(), a.unix()), cmp.Compare(b.State.rank(), a.State.rank()))
	})
	var out []Check
	for _, check := range all {
		if !slices.ContainsFunc(out, check.Replaces) {
			out = append(out, check)
		}
	}
	return out
}

// unix is when a check began. One that has not is newer than all that have.
func (c Check) unix() int64 {
	if c.At.IsZero() && c.State == CheckPending {
		return math.MaxInt64
	}
	return c.At.Unix()
}

// CheckState is how a check stands.
type CheckState string

// The states of a check.
const (
	CheckPassed  CheckState = "passed"
	CheckPending CheckState = "pending"
	CheckFailed  CheckState = "failed"
)

// Worse says that a state is worse than another one. An unknown one counts as failed.
func (s CheckState) Worse(other CheckState) bool { return s.rank() > other.rank() }

func (s CheckState) rank() int {
	switch s {
	case CheckPassed:
		return 0
	case CheckPending:
		return 1
	}
	return 2
}

// MergeFacts is what has to be asked about a pull request before it may be merged, beside its snapshot.
type MergeFacts struct {
	Reviews []Review // of people who may write, one each, the newest
	Awaited []string // people and teams who were asked for a review and have not given it
	Checks  []Check  // of the head, the newest of each name and source
	// HeadSHA is the head that GitHub showed, which Checks are of.
	HeadSHA string
	// DefaultHead says that the head is the default branch of its repository.
	DefaultHead bool
	// Partial says that something is Missing.
	Partial bool
	// Missing are the parts that this token was not given, or not all of: "reviews", "checks", "rule", "users".
	Missing []string
	// ChecksHidden says why the token cannot read Checks, where that is why they are Missing.
	ChecksHidden Hidden
	// Conflicting is what GitHub says when it knows; false also when it does not.
	Conflicting bool
	// BaseSHA is the tip of the base branch; "": there is none.
	BaseSHA string
	// BaseRecorded is the commit of the base that GitHub last compared the head with, which the base may no longer have.
	BaseRecorded string
	// PushRefused says that the rules of the base branch keep this token from pushing to it; RuleKnown that GitHub tells.
	PushRefused, RuleKnown bool
	// NoWorkflows says that GitHub refuses this token's pushes of commits that change workflows.
	NoWorkflows bool
	// RequiredApprovals and LinearHistory are what the rules of the base branch demand.
	RequiredApprovals int
	LinearHistory     bool
	// RequiredChecks are the names of checks that the rules of the base branch demand.
	RequiredChecks []string
	// Unproduced are required checks that nothing has reported and for which no workflow has a job, where that was looked up.
	Unproduced []string
	// Demands are those of the base branch that hold for a push of this token, as far as GitHub tells.
	Demands []Demand
	// Administers says that this token administers the repository: GitHub does not tell it the rule then.
	Administers bool
	// Methods are GitHub's own ways to merge that the repository allows: merge, squash, rebase.
	Methods []string
	// Users are the open pull requests, other than this one, that have its head branch as their head or base, and Onto those that
	// have it as their base.
	Users, Onto []int
	// Past is a closed or merged pull request whose base the head branch was, 0 for none, and Fed when one was first merged into it.
	Past int
	Fed  time.Time
	// HeadDemands are those of the head branch that keep this token from rewriting it, where that was asked.
	HeadDemands []Demand
	// DeletesHeads says that the repository is set to delete the head branch of a merged pull request.
	DeletesHeads bool
	// Below is the newest merged pull request whose head branch is the base of this one; its zero value: there is none. BaseFed is
	// when one was first merged into that branch.
	Below   Merged
	BaseFed time.Time
	// MergeCommit is the commit on the base that GitHub shows for a merged pull request.
	MergeCommit string
	Commits     int // of the pull request
	// Depends are the pull requests that its text says have to land first, and Cycle how they depend on it in turn; "": they do not.
	Depends []Dependence
	Cycle   string
	// Unread are lines of its text that begin like one that names such pull requests, and name none.
	Unread []string
}

// Merged is a merged pull request.
type Merged struct {
	Number int
	Base   string // branch
	Opened time.Time
}

// Dependence is a pull request that has to land before another one.
type Dependence struct {
	Number int
	State  PullState // "": there is none
	Asked  bool      // somebody has asked for its merge
}

// Hidden says why a token cannot see something, and what helps: two phrases without an end. The zero value: it can.
type Hidden struct{ Why, Fix string }

// PullNow is what GitHub shows of a pull request at the moment.
type PullNow struct {
	State       PullState
	HeadSHA     string
	BaseRef     string
	MergeCommit string // "" unless merged
	Draft       bool
	Title       string
	Labels      []string
}

// Moved is a commit that was made from another one.
type Moved struct {
	Commit
	Was string `json:"was,omitempty"` // the commit that it was made from
}
