package github

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	// firstBackoff is the longest pause before the second try of a read; it doubles from try to try.
	firstBackoff = 500 * time.Millisecond
	// limitWait is what GitHub asks for where a limit names no time.
	// https://docs.github.com/rest/using-the-rest-api/best-practices-for-using-the-rest-api#handle-rate-limit-errors-appropriately
	limitWait = time.Minute
)

// heavyStatus are the answers to a query that took too long. Any of them may also be an outage, which the next tries tell.
// https://github.com/raycast/extensions/issues/10278
var heavyStatus = []int{http.StatusInternalServerError, http.StatusBadGateway, http.StatusGatewayTimeout}

// verdict is what to make of one attempt: err nil is success; again says that sending it once more, after wait, is safe.
type verdict struct {
	err   *Error
	again bool
	wait  time.Duration
}

// classify decides about one attempt. A write is sent again only when it certainly took no effect (it never reached the
// server, or the server refused it for a limit), or when sending it twice has no other effect than once.
func (w *wire) classify(a answer, err error, sent bool, m manner) verdict {
	if err != nil {
		return w.classifySilence(err, sent, m)
	}
	if until, wait, ok := w.limit(a); ok {
		e := &Error{Kind: RateLimited, Status: a.StatusCode, Until: until, Fix: "try again at that time, or use a token of your own GitHub App",
			Message: fmt.Sprintf("rate limit of GitHub until %s", until.UTC().Format(time.RFC3339))}
		return verdict{e, true, wait}
	}
	switch {
	case a.StatusCode >= 500 || a.StatusCode == http.StatusRequestTimeout:
		e := &Error{Kind: Unclear, Status: a.StatusCode, Message: fmt.Sprintf("GitHub answered %d %s", a.StatusCode, http.StatusText(a.StatusCode))}
		if m.reads {
			e.Kind, e.Fix = Unavailable, fixLater
		}
		if m.pages && slices.Contains(heavyStatus, a.StatusCode) {
			e.Kind = TooHeavy
		}
		return verdict{e, m.repeats, 0}
	case a.StatusCode >= 400:
		return verdict{refusal(a.StatusCode, a.body, a.Header, w.line), false, 0}
	}
	if m.reads && overloaded(a) {
		e := &Error{Kind: Unavailable, Status: a.StatusCode, Fix: fixLater, Message: "GitHub gave up on the query"}
		if m.pages {
			e.Kind = TooHeavy
		}
		return verdict{e, true, 0}
	}
	if problem := unreadableBody(a); m.json && problem != "" && (m.reads || len(a.body) > 0) {
		e := &Error{Kind: Unclear, Status: a.StatusCode, Message: problem}
		if m.reads {
			e.Kind, e.Fix = Unavailable, fixProxy
		}
		return verdict{e, m.repeats, 0}
	}
	return verdict{}
}

// unreadableBody says why an answer that should be JSON is not; "" where it is. A server between us and GitHub may have cut it,
// or put a page of its own in its place.
func unreadableBody(a answer) string {
	if a.StatusCode != http.StatusOK && a.StatusCode != http.StatusCreated || json.Valid(a.body) {
		return ""
	}
	text := bytes.TrimSpace(a.body)
	var whole json.RawMessage
	switch {
	case len(text) == 0:
		return "the answer is empty"
	case text[0] == '<':
		return "the answer is a page of HTML, not JSON"
	case errors.Is(json.NewDecoder(bytes.NewReader(text)).Decode(&whole), io.ErrUnexpectedEOF):
		return "the answer is truncated"
	}
	return "the answer is not JSON"
}

// classifySilence decides about an attempt without an answer.
func (w *wire) classifySilence(err error, sent bool, m manner) verdict {
	e := &Error{Kind: Unavailable, Message: w.line(err.Error()), Fix: fixLater}
	if dial := (*net.OpError)(nil); errors.As(err, &dial) && dial.Op == "dial" {
		e.Fix = fixReach
	}
	if sent && !m.reads {
		e.Kind, e.Fix = Unclear, ""
	}
	// The context that ended may be the run's or only this attempt's, whose end is worth another try.
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		e.Message = "no answer in time"
	case errors.Is(err, io.ErrUnexpectedEOF):
		e.Message = "the answer is truncated"
	case errors.Is(err, io.EOF):
		e.Message = "the connection ended before there was an answer"
	}
	return verdict{e, m.repeats || !sent, 0}
}

// backoff is the pause before the next try: half fixed, half chance, doubling.
func (w *wire) backoff(v verdict, try int) time.Duration {
	if v.err.Kind == RateLimited {
		return time.Second << (try - 1)
	}
	full := firstBackoff << (try - 1)
	return full/2 + time.Duration(w.options.Random()*float64(full/2))
}

// limit recognizes primary and secondary rate limits by GitHub's rules, and says until when and for how long by the
// server's own clock. Every answer carries x-ratelimit-reset, so that header alone means nothing on a 403.
// https://docs.github.com/rest/using-the-rest-api/troubleshooting-the-rest-api#rate-limit-errors
func (w *wire) limit(a answer) (until time.Time, wait time.Duration, ok bool) {
	spent := a.Header.Get("X-Ratelimit-Remaining") == "0"
	retry := a.Header.Get("Retry-After")
	limited := a.StatusCode == http.StatusTooManyRequests ||
		a.StatusCode == http.StatusForbidden && (spent || retry != "" || speaksOfLimit(a.body)) ||
		a.StatusCode == http.StatusOK && hasError(a.body, isLimit)
	if !limited {
		return time.Time{}, 0, false
	}
	now := serverTime(a.Header, w.options.Now)
	wait = limitWait
	if d, ok := retryAfter(retry, now); ok {
		wait = d
	} else if reset, err := strconv.ParseInt(a.Header.Get("X-Ratelimit-Reset"), 10, 64); err == nil && (spent || a.Header.Get("X-Ratelimit-Remaining") == "") {
		wait = time.Unix(reset, 0).Sub(now)
	}
	wait = max(wait, time.Second)
	return now.Add(wait), wait, true
}

// retryAfter reads seconds or a date: https://www.rfc-editor.org/rfc/rfc9110#name-retry-after
func retryAfter(s string, now time.Time) (time.Duration, bool) {
	if seconds, err := strconv.ParseInt(s, 10, 32); err == nil && seconds >= 0 {
		return time.Duration(seconds) * time.Second, true
	}
	if at, err := http.ParseTime(s); err == nil {
		return at.Sub(now), true
	}
	return 0, false
}

// serverTime is the Date of an answer, or the local clock where there is none.
func serverTime(h http.Header, now func() time.Time) time.Time {
	if at, err := http.ParseTime(h.Get("Date")); err == nil {
		return at
	}
	return now().UTC()
}

func speaksOfLimit(body []byte) bool {
	text := strings.ToLower(string(body[:min(len(body), 4096)]))
	return strings.Contains(text, "rate limit") || strings.Contains(text, "rate-limit") || strings.Contains(text, "abuse")
}

// overloaded recognizes a query that GitHub gave up on with status 200.
func overloaded(a answer) bool {
	return hasError(a.body, func(e graphError) bool { return strings.HasPrefix(e.Message, "Something went wrong") })
}

// hasError looks for an error in what may be a GraphQL answer. Those without errors, nearly all, are not parsed twice.
func hasError(body []byte, is func(graphError) bool) bool {
	if !bytes.Contains(body, []byte(`"errors"`)) {
		return false
	}
	var a struct{ Errors []graphError }
	if json.Unmarshal(body, &a) != nil {
		return false
	}
	return slices.ContainsFunc(a.Errors, is)
}

// isLimit recognizes both kinds of limits. A secondary one has no type:
// https://docs.github.com/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api#exceeding-the-rate-limit
func isLimit(e graphError) bool {
	return e.kind() == "RATE_LIMITED" || e.kind() == "RATE_LIMIT" || e.kind() == "" && len(e.Path) == 0 && speaksOfLimit([]byte(e.Message))
}
