package github

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	gogithub "github.com/google/go-github/v60/github"

	"github.com/mergexo/mergexo/internal/credential"
	"github.com/mergexo/mergexo/internal/markdown"
)

// Kind says what sort of failure an Error is; callers decide on it and on nothing else.
type Kind string

// The kinds of failure.
const (
	Unauthorized Kind = "unauthorized"  // 401: the token is missing, wrong or expired
	Expired      Kind = "expired"       // 401 for a token that has worked in this process: its time is over, or somebody revoked it
	Forbidden    Kind = "forbidden"     // 403 that is not a limit: the token lacks a permission
	NotFound     Kind = "not found"     // 404, or hidden from the token
	Invalid      Kind = "invalid"       // 400, 405, 409, 422: GitHub understood and refuses
	Gone         Kind = "gone"          // 410: it was deleted
	Moved        Kind = "moved"         // a redirect that was not followed: it is at Location now, if GitHub tells
	RateLimited  Kind = "rate limited"  // nothing was changed; Until says when to come back
	Unavailable  Kind = "unavailable"   // no answer, or 5xx, for a read after its retries; nothing was sent, for a write
	TooHeavy     Kind = "too heavy"     // a query that GitHub does not answer, however little of it is asked for at once
	Outdated     Kind = "outdated"      // a query for something that the server's GraphQL does not have: a server of an older version
	Unclear      Kind = "unclear"       // a write that may or may not have taken effect: read before anything else
	PullExists   Kind = "pull exists"   // 422 of Pulls.Create: there is an open pull request between these branches
	NoCommits    Kind = "no commits"    // 422 of Pulls.Create: the base has all that the head has
	HeadMoved    Kind = "head moved"    // 409 of Pulls.Merge: the head is not the one that was named
	BaseMoved    Kind = "base moved"    // 405 of Pulls.Merge: the base moved while GitHub merged
	RefExists    Kind = "ref exists"    // 422 of Refs.Create: there is one of that name, which points elsewhere
	Running      Kind = "running"       // 403 of Actions.RerunFailed: the run is not completed, so that it may have begun again
	NoRerun      Kind = "no rerun"      // 403 of Actions.RerunFailed: the run is too old, or nothing in it failed; Message has GitHub's words
	NotMergeable Kind = "not mergeable" // 405 of Pulls.Merge: a conflict, a rule, a draft, a way that is off; Message has GitHub's words
)

// Error is every failure of the gateway. Its texts are one line each and never hold the token.
type Error struct {
	Kind    Kind
	Status  int       // HTTP status; 0 without an answer
	Op      string    // what was being done: "comment on octo/widgets#7"
	Message string    // what happened
	Fix     string    // what a person can do; may be empty
	Until   time.Time // RateLimited: when the limit ends
	At      time.Time // the server's time when it refused; zero where it did not tell
	Lacks   bool      // Forbidden: for a permission that the token was not given, whatever it is about
	// Location is the address that a Moved answer names, in the API; empty where it names none.
	Location string
	Err      error // cause, if it is worth asking: a context's error
}

func (e *Error) Error() string {
	if e.Op == "" {
		return e.Message
	}
	return e.Op + ": " + e.Message
}

// Unwrap gives the cause, so that errors.Is finds context.Canceled.
func (e *Error) Unwrap() error { return e.Err }

// KindOf is the kind of the first Error in err's chain, or "" when there is none.
func KindOf(err error) Kind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return ""
}

const (
	fixToken = "set GITHUB_TOKEN, or the action's token input, to a token that is valid for this server"
	// fixExpired: an App's token holds for one hour
	// (https://docs.github.com/en/rest/apps/apps#create-an-installation-access-token-for-an-app).
	fixExpired = "the next run continues with a new token; if runs take longer than the token lasts (one hour for an App's), set [agent] run_timeout below that"
	fixRights  = "give the job `permissions: contents: write, issues: write, pull-requests: write, actions: write`, or use a token that has them"
	fixLater   = "try again later"
	// fixReach is for a server of which nothing came back.
	fixReach = "check the network, and GITHUB_API_URL if it is set, or try again later"
	// fixOutdated: GitHub Enterprise Server has the fields of its release and no later ones.
	// https://docs.github.com/en/enterprise-server/graphql/overview/changelog
	fixOutdated = "update GitHub Enterprise Server, whose GraphQL API is older than what MergeXO asks for, or use an earlier MergeXO"
	fixProxy    = "try again later; if that does not help, check the API URLs and the proxies between this machine and GitHub"
	// fixActions is fixRights for what starts workflows.
	fixActions = "give the job `permissions: actions: write`, or use a token that has it"
	fixHidden  = "check the name, and that the token may see the repository"
)

// fail turns whatever a request came back with into an Error of operation op.
func (c *conn) fail(op string, err error) *Error {
	var own *Error
	if errors.As(err, &own) {
		e := *own
		e.Op = op
		return &e
	}
	var moved *gogithub.ErrorResponse // a redirect that was not followed; the wire turned all other refusals into ours
	if errors.As(err, &moved) && moved.Response != nil {
		e := refusal(moved.Response.StatusCode, nil, moved.Response.Header, c.line)
		e.Op = op
		return e
	}
	e := &Error{Kind: Unavailable, Op: op, Message: c.line(err.Error()), Fix: fixLater}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		e.Err = err
	}
	return e
}

// failWrite is fail for a request that changes something. An answer that cannot be read leaves the effect unknown.
func (c *conn) failWrite(op string, err error) *Error {
	e := c.fail(op, err)
	if e.Kind == Unavailable && KindOf(err) == "" {
		e.Kind, e.Fix = Unclear, ""
	}
	return e
}

// refusal is the Error for an answer whose status says no.
func refusal(status int, body []byte, header http.Header, line func(string) string) *Error {
	message := cmp.Or(line(reason(body)), http.StatusText(status))
	e := &Error{Kind: Invalid, Status: status, Message: fmt.Sprintf("%s (%d)", message, status)}
	if at, err := http.ParseTime(header.Get("Date")); err == nil {
		e.At = at
	}
	switch {
	case status == http.StatusUnauthorized:
		e.Kind, e.Fix = Unauthorized, fixToken
	case status == http.StatusForbidden:
		e.Kind, e.Fix, e.Lacks = Forbidden, fixRights, strings.Contains(message, "not accessible by")
		if needs := line(header.Get("X-Accepted-Github-Permissions")); needs != "" {
			e.Fix = lackingFix(needs)
		}
		if strings.Contains(message, "Commenting is disabled") {
			e.Fix = "continue in a new issue or pull request: GitHub allows no more than 2,500 comments on one"
		}
		if strings.Contains(message, "issue is locked") {
			e.Fix = "unlock the conversation; that of an issue which became a discussion stays closed"
		}
	case status == http.StatusNotFound:
		e.Kind, e.Fix = NotFound, fixHidden
	case status == http.StatusGone:
		e.Kind = Gone
	case status >= 300 && status < 400:
		e.Kind, e.Fix = Moved, "use the current name and number"
		if e.Location = line(header.Get("Location")); e.Location != "" {
			e.Message = fmt.Sprintf("moved to %s (%d)", e.Location, status)
		}
	}
	return e
}

// reason is what the body of a refusal says: {"message", "errors": [strings or {resource, field, code, message}]}.
func reason(body []byte) string {
	var said struct {
		Message string
		Errors  []json.RawMessage
	}
	if json.Unmarshal(body, &said) != nil {
		return ""
	}
	text := said.Message
	for _, raw := range said.Errors {
		var one gogithub.Error
		switch {
		case json.Unmarshal(raw, &one) != nil:
		case one.Message != "":
			text += "; " + one.Message
		case one.Field != "":
			text += fmt.Sprintf("; %s.%s: %s", one.Resource, one.Field, one.Code)
		}
	}
	return text
}

// line makes foreign text fit for one line of ours: no token, no control characters, bounded.
func (c *conn) line(s string) string { return oneLine(credential.Redact(c.source, s)) }

func oneLine(s string) string {
	return strings.ToValidUTF8(markdown.Cut(markdown.OneLine(s), 300), "�")
}
