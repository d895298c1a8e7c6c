package sandbox

import (
	"encoding/json"
	"time"
)

// The parts of webhook payloads that a replay needs.
type (
	eventUser struct {
		ID    int64  `json:"id"`
		Login string `json:"login"`
		Type  string `json:"type"`
	}
	eventRepository struct {
		ID            int64     `json:"id"`
		FullName      string    `json:"full_name"`
		DefaultBranch string    `json:"default_branch"`
		Private       bool      `json:"private"`
		Owner         eventUser `json:"owner"`
	}
	eventEnd struct {
		Ref  string           `json:"ref"`
		SHA  string           `json:"sha"`
		Repo *eventRepository `json:"repo"`
	}
	eventPost struct {
		ID          int64     `json:"id"`
		Body        string    `json:"body"`
		User        eventUser `json:"user"`
		Association string    `json:"author_association"`
		CreatedAt   time.Time `json:"created_at"`
		UpdatedAt   time.Time `json:"updated_at"`
	}
	eventIssue struct {
		eventPost
		Number      int    `json:"number"`
		Title       string `json:"title"`
		State       string `json:"state"`
		Locked      bool   `json:"locked"`
		Draft       bool   `json:"draft"`
		Merged      bool   `json:"merged"`
		Labels      []eventLabel
		PullRequest *struct{} `json:"pull_request"`
		Head        eventEnd  `json:"head"`
		Base        eventEnd  `json:"base"`
	}
	eventLabel struct {
		Name string `json:"name"`
	}
	eventComment struct {
		eventPost
		Path        string `json:"path"`
		Side        string `json:"side"`
		Line        int    `json:"line"`
		StartLine   int    `json:"start_line"`
		StartSide   string `json:"start_side"`
		DiffHunk    string `json:"diff_hunk"`
		InReplyTo   int64  `json:"in_reply_to_id"`
		ReviewID    int64  `json:"pull_request_review_id"`
		SubjectType string `json:"subject_type"`
	}
	eventReview struct {
		eventPost
		State       string    `json:"state"`
		SubmittedAt time.Time `json:"submitted_at"`
	}
	eventRun struct {
		ID           int64  `json:"id"`
		Name         string `json:"name"`
		Status       string `json:"status"`
		Conclusion   string `json:"conclusion"`
		Event        string `json:"event"`
		HeadSHA      string `json:"head_sha"`
		HeadBranch   string `json:"head_branch"`
		PullRequests []struct {
			Number     int
			Head, Base eventEnd
		} `json:"pull_requests"`
	}
)

// part reads one field of a payload; nil when it is not there or of another shape, since the names are used for other things too.
func part[T any](parts map[string]json.RawMessage, name string) *T {
	raw, ok := parts[name]
	if !ok || string(raw) == "null" {
		return nil
	}
	var v T
	if json.Unmarshal(raw, &v) != nil {
		return nil
	}
	return &v
}

func deref[T any](p *T) T {
	if p == nil {
		var zero T
		return zero
	}
	return *p
}
