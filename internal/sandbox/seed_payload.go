package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
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
		CreatedAt   eventTime `json:"created_at"`
		UpdatedAt   eventTime `json:"updated_at"`
	}
	eventIssue struct {
		eventPost
		Number      int          `json:"number"`
		Title       string       `json:"title"`
		State       string       `json:"state"`
		Locked      bool         `json:"locked"`
		Draft       bool         `json:"draft"`
		Merged      bool         `json:"merged"`
		Labels      []eventLabel `json:"labels"`
		PullRequest *struct{}    `json:"pull_request"`
		Head        eventEnd     `json:"head"`
		Base        eventEnd     `json:"base"`
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
		SubmittedAt eventTime `json:"submitted_at"`
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
			Number int      `json:"number"`
			Head   eventEnd `json:"head"`
			Base   eventEnd `json:"base"`
		} `json:"pull_requests"`
	}
)

// eventTime is a time of a payload. The error about another value is one to which package json adds the field.
type eventTime struct{ at time.Time }

func (t *eventTime) UnmarshalJSON(raw []byte) error {
	var text string
	if err := json.Unmarshal(raw, &text); err != nil || text == "" {
		return err
	}
	var err error
	if t.at, err = time.Parse(time.RFC3339, text); err != nil {
		return &json.UnmarshalTypeError{Value: fmt.Sprintf("the string %.40q", text), Type: reflect.TypeFor[time.Time]()}
	}
	return nil
}

// payload is the top of a webhook payload. trouble is the first problem with it.
type payload struct {
	parts   map[string]json.RawMessage
	trouble error
}

// part reads one field of a payload; nil if it is not there or is not what GitHub sends, which is then noted.
func part[T any](p *payload, name string) *T {
	raw, ok := p.parts[name]
	if !ok || string(raw) == "null" {
		return nil
	}
	var v T
	if err := json.Unmarshal(raw, &v); err != nil {
		p.fail(name, err)
		return nil
	}
	return &v
}

// fail words an error as the reader of events does: "payload: issue.labels: want a list, got a number".
func (p *payload) fail(where string, err error) {
	var typed *json.UnmarshalTypeError
	if errors.As(err, &typed) {
		for key := range strings.SplitSeq(typed.Field, ".") {
			if key != "" && key != reflect.TypeFor[eventPost]().Name() { // an embedded struct is no field of the payload
				where += "." + key
			}
		}
		err = fmt.Errorf("want %s, got %s", wanted(typed), got(typed.Value))
	}
	if p.trouble == nil {
		p.trouble = fmt.Errorf("payload: %s: %w", where, err)
	}
}

func wanted(e *json.UnmarshalTypeError) string {
	switch {
	case e.Type == reflect.TypeFor[time.Time]():
		return "a time such as 2026-01-31T23:59:59Z"
	case e.Type == reflect.TypeFor[eventLabel]() && e.Field != "": // the field is the list that it is in
		return "objects in the list"
	}
	switch e.Type.Kind() {
	case reflect.Slice:
		return "a list"
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int64:
		return "a whole number"
	}
	return "an object"
}

func got(value string) string {
	if n, is := strings.CutPrefix(value, "number "); is {
		return "the number " + n
	}
	if kind := map[string]string{"array": "a list", "object": "an object", "string": "a string", "number": "a number", "bool": "true or false"}[value]; kind != "" {
		return kind
	}
	return value
}

// checkBranches holds the names of branches to be such, before git is asked to make them.
func (sc *scene) checkBranches(p *payload) {
	check := func(where, name string) {
		if name == "" || plainRef.MatchString(name) {
			return
		}
		if _, err := runGit("", nil, nil, "check-ref-format", "refs/heads/"+name); err != nil {
			p.fail(where, fmt.Errorf("want the name of a branch, got the string %.40q", name))
		}
	}
	if sc.repo != nil {
		check("repository.default_branch", sc.repo.DefaultBranch)
	}
	if sc.issue != nil {
		check("pull_request.head.ref", sc.issue.Head.Ref)
		check("pull_request.base.ref", sc.issue.Base.Ref)
	}
}

func deref[T any](p *T) T {
	if p == nil {
		var zero T
		return zero
	}
	return *p
}
