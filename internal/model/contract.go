package model

// Request is what an agent is given: version 1 of the contract that `adapter = "command"` reads as JSON on stdin.
type Request struct {
	Version      int            `json:"version"`
	Kind         string         `json:"kind"` // AskDesign and so on
	TurnKey      string         `json:"turn_key"`
	Repository   string         `json:"repository"`
	Issue        *RequestIssue  `json:"issue"`
	PullRequest  *RequestPull   `json:"pull_request"`
	Feedback     []Feedback     `json:"feedback"`
	ChangedFiles []string       `json:"changed_files"`
	CI           []CIFailure    `json:"ci"`
	History      []HistoryEntry `json:"history"`
	Session      string         `json:"session"`
	Prompt       string         `json:"prompt"`
	Rules        []string       `json:"rules"`
	// Failed is the newest merge of this head that failed.
	Failed *FailedMerge `json:"failed_merge,omitempty"`
	// GitResults are the results of the git operations that the agent's last answer requested.
	GitResults []GitResult `json:"git_results,omitempty"`
	// Design is the merged design document for an implementation.
	Design *Document `json:"design_document,omitempty"`
	// Flow is what the pull request will be, if there is none yet. Programs see that by pull_request being null.
	Flow Flow `json:"-"`
}

// Document is a file of the repository that people read.
type Document struct {
	Path string `json:"path"`
	Text string `json:"text"`
}

// RequestIssue is the source issue as the agent sees it.
type RequestIssue struct {
	Number int    `json:"number"`
	Title  string `json:"title"`
	Body   string `json:"body"`
}

// RequestPull is the pull request as the agent sees it.
type RequestPull struct {
	Number  int    `json:"number"`
	Title   string `json:"title"`
	Body    string `json:"body"`
	Base    string `json:"base"`
	Head    string `json:"head"`
	HeadSHA string `json:"head_sha"`
}

// Feedback is one piece of feedback to answer.
type Feedback struct {
	ID     int64  `json:"id"`
	Kind   Kind   `json:"kind"`
	Author string `json:"author"`
	Body   string `json:"body"`
	Path   string `json:"path,omitempty"`
	Lines
	DiffHunk  string `json:"diff_hunk,omitempty"`
	URL       string `json:"url,omitempty"`
	InReplyTo int64  `json:"in_reply_to,omitempty"`
	Outdated  bool   `json:"outdated,omitempty"` // the lines have changed since
}

// CIFailure is one failed job of the current head.
type CIFailure struct {
	RunID int64  `json:"run_id"`
	Name  string `json:"name"`
	Log   string `json:"log"`
}

// FailedMerge is a merge that failed. Its text tells what people read of it: the end of the tests' output, or the files that conflict
// with their hunks.
type FailedMerge struct {
	Code MergeCode `json:"code"`
	URL  string    `json:"url"`
	Text string    `json:"text"`
}

// HistoryEntry summarizes an earlier receipt.
type HistoryEntry struct {
	TurnKey string `json:"turn_key"`
	Head    string `json:"head"`
	Summary string `json:"summary"`
}

// The kinds of requests in the contract. The first five start a pull request; their values are those of the flows.
const (
	AskDesign         = "design"
	AskRoadmap        = "roadmap"
	AskBugfix         = "bugfix"
	AskSmallJob       = "small_job"
	AskImplementation = "implementation"
	AskFeedback       = "feedback"
	AskRepair         = "repair"
	AskReview         = "review"
)

// Outcome is the agent's answer. Which fields it may have depends on the kind of request; unknown fields and wrong types
// are refused.
type Outcome struct {
	// For feedback.
	ReviewReplies   []ReviewReply `json:"review_replies,omitempty"`
	GeneralComment  string        `json:"general_comment,omitempty"`
	FlakyTestReport *FlakyTest    `json:"flaky_test_report,omitempty"`
	// For a design document, and the first two for a roadmap.
	Title      string   `json:"title,omitempty"`
	Summary    string   `json:"summary,omitempty"`
	TouchPaths []string `json:"touch_paths,omitempty"`
	DesignDoc  string   `json:"design_doc_markdown,omitempty"`
	// For a roadmap.
	Goal         string        `json:"goal,omitempty"`
	RoadmapItems []RoadmapItem `json:"roadmap_items,omitempty"`
	// For the other requests that start a pull request.
	PRTitle   string `json:"pr_title,omitempty"`
	PRSummary string `json:"pr_summary,omitempty"`
	// For anything that changes files.
	CommitMessage string  `json:"commit_message,omitempty"`
	GitOps        []GitOp `json:"git_ops,omitempty"`
	// For a review.
	Findings []Finding `json:"findings,omitempty"`
	// For everything.
	BlockedReason string `json:"blocked_reason,omitempty"`
	// DeadEnd says that the agent cannot repair what it did, so that its work is dropped and no question is asked. For those built in.
	DeadEnd bool   `json:"-"`
	Session string `json:"session,omitempty"`
	Usage   Usage  `json:"usage,omitzero"`
}

// ReviewReply answers one review comment.
type ReviewReply struct {
	ReviewCommentID int64  `json:"review_comment_id"`
	Body            string `json:"body"`
	Done            bool   `json:"done,omitempty"` // what the comment asks for; else its thread stays open
}

// GitOp is a git operation that the agent requests, since it has no credentials.
type GitOp struct {
	Op string `json:"op"` // OpFetch or OpMergeDefault
}

// The git operations.
const (
	OpFetch        = "fetch_origin"
	OpMergeDefault = "merge_origin_default_branch"
)

// GitResult is the result of one of them.
type GitResult struct {
	Op     string   `json:"op"`
	Result string   `json:"result"` // GitDone, GitNothing, GitConflict or GitFailed
	Detail string   `json:"detail,omitempty"`
	Paths  []string `json:"paths,omitempty"` // with conflicts
}

// Results of git operations.
const (
	GitDone     = "done"
	GitNothing  = "nothing"  // nothing to do
	GitConflict = "conflict" // a merge is in progress, with markers in the paths
	GitFailed   = "failed"
)

// FlakyTest is a test that the agent considers unreliable.
type FlakyTest struct {
	Title          string `json:"title"`
	Summary        string `json:"summary"`
	RelevantLogURL string `json:"relevant_log_url"`
}

// Usage is the cost of a turn, if the agent reports it.
type Usage struct {
	InputTokens  int64   `json:"input_tokens"`
	OutputTokens int64   `json:"output_tokens"`
	CostUSD      float64 `json:"cost_usd"`
}
