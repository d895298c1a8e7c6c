package handoff

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/strictjson"
)

// Limits of texts and lists. A comment on GitHub holds 65,536 characters of at most four bytes each: longer text would be
// cut.
const (
	maxText    = 4 * 65536 // of one text of the agent's, in bytes
	maxDetail  = 64 << 10
	maxNote    = 2000
	maxNotes   = 50
	maxEvents  = 200
	maxReplies = 200
	maxSession = 1024
	maxTitle   = 1000
	maxSeconds = 7 * 24 * 60 * 60
	maxTokens  = 1e12
	maxCostUSD = 1e6
)

var (
	keyPattern   = regexp.MustCompile(`^[0-9a-f]{64}$`)
	shaPattern   = regexp.MustCompile(`^[0-9a-f]{40}$`)
	eventPattern = regexp.MustCompile(`^[1-9][0-9]{0,9}:(?:review|issue|review_summary|actions|merge):[1-9][0-9]{0,18}:[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$`)
)

// rules are what a handoff must and may contain, by how it ended.
var rules = map[Ended]struct{ turn, head, result, detail bool }{
	Planned:   {turn: true, head: true, result: true},
	Blocked:   {turn: true, detail: true},
	Failed:    {turn: true, detail: true},
	Postponed: {turn: true, detail: true},
	Nothing:   {detail: true},
}

// validate checks a handoff against the format.
func (h Handoff) validate() error {
	rule, known := rules[h.Ended]
	_, err := model.ParseRepo(h.Repository)
	switch {
	case h.Version != Version:
		return refuse("version", "%d, this release reads %d: use the same release in both jobs", h.Version, Version)
	case err != nil || len(h.Repository) > 200:
		return refuse("repository", "%s, want owner/name", excerpt(h.Repository))
	case h.Number < 1:
		return refuse("number", "%d, want a pull request's or an issue's", h.Number)
	case !known:
		return refuse("ended", "%s, want planned, blocked, failed, postponed or nothing", excerpt(string(h.Ended)))
	case !rule.detail && h.Detail != "":
		return refuse("detail", "given for a turn that is planned")
	case rule.detail && strings.TrimSpace(h.Detail) == "" && h.Reason != model.ReasonRewrite:
		return refuse("detail", "empty: it ended %s and does not say why", h.Ended)
	case len(h.Detail) > maxDetail:
		return refuse("detail", "%d bytes, at most %d", len(h.Detail), maxDetail)
	case len(h.Made) > maxSession:
		return refuse("made", "%d bytes, at most %d", len(h.Made), maxSession)
	case h.Seconds < 0 || h.Seconds > maxSeconds:
		return refuse("seconds", "%d, want 0 to %d", h.Seconds, maxSeconds)
	}
	for _, check := range []func() error{
		func() error { return h.validateFlow(rule.turn) },
		func() error { return h.validateTurn(rule.turn) },
		func() error { return h.validateHead(rule.turn, rule.head) },
		h.validateReason,
		func() error { return h.validateOutcome(rule.turn, rule.result) },
		func() error { return validateTexts("notes", h.Notes, maxNotes, maxNote) },
	} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// validateTurn checks what names the turn.
func (h Handoff) validateTurn(is bool) error {
	if !is {
		if h.TurnKey+h.Start+h.Onto != "" || len(h.Events) > 0 {
			return refuse("turn_key", "given, though it ended %s", h.Ended)
		}
		return nil
	}
	switch {
	case !keyPattern.MatchString(h.TurnKey):
		return refuse("turn_key", "%s, want 64 hexadecimal digits", excerpt(h.TurnKey))
	case !shaPattern.MatchString(h.Start):
		return refuse("start", "%s, want a commit's full id", excerpt(h.Start))
	case h.Onto != "" && !shaPattern.MatchString(h.Onto):
		return refuse("onto", "%s, want a commit's full id", excerpt(h.Onto))
	case h.Onto == h.Start:
		return refuse("onto", "the same as start")
	case len(h.Events) == 0 && h.Flow == "":
		return refuse("events", "empty")
	case len(h.Events) > maxEvents:
		return refuse("events", "%d, at most %d", len(h.Events), maxEvents)
	}
	for i, e := range h.Events {
		at := fmt.Sprintf("events[%d]", i)
		switch {
		case !eventPattern.MatchString(e):
			return refuse(at, "%s, want an event key", excerpt(e))
		case !strings.HasPrefix(e, fmt.Sprintf("%d:", h.Number)):
			return refuse(at, "%s is not about %s", e, h.subject())
		case h.Flow != "" && !strings.HasPrefix(e, fmt.Sprintf("%d:%s:", h.Number, model.KindIssue)):
			return refuse(at, "%s is not a comment on an issue", e)
		case i > 0 && h.Events[i-1] >= e:
			return refuse(at, "%s occurs twice, or out of order", e)
		}
	}
	return nil
}

// validateHead checks what names the commits.
func (h Handoff) validateHead(may, must bool) error {
	switch {
	case h.Head == "" && must:
		return refuse("head", "empty: a planned turn has one")
	case h.Head != "" && !may:
		return refuse("head", "given, though it ended %s", h.Ended)
	case h.Head != "" && !shaPattern.MatchString(h.Head):
		return refuse("head", "%s, want a commit's full id", excerpt(h.Head))
	case h.Head != "" && h.Head == h.Base() && !must:
		return refuse("head", "given without commits, though it ended %s", h.Ended)
	case h.Commits() && h.Bundle == nil:
		return refuse("bundle", "missing: there are commits up to %s", h.Head)
	case !h.Commits() && h.Bundle != nil:
		return refuse("bundle", "given without commits")
	case h.Bundle == nil:
		return nil
	case !keyPattern.MatchString(h.Bundle.SHA256):
		return refuse("bundle.sha256", "%s, want 64 hexadecimal digits", excerpt(h.Bundle.SHA256))
	case h.Bundle.Size < 1 || h.Bundle.Size > MaxBundle:
		return refuse("bundle.size", "%d bytes, want 1 to %d", h.Bundle.Size, MaxBundle)
	}
	return nil
}

// validateReason checks why it is blocked.
func (h Handoff) validateReason() error {
	switch {
	case h.Ended != Blocked && h.Reason != "":
		return refuse("reason", "given, though it ended %s", h.Ended)
	case h.Ended == Blocked && !slices.Contains(h.reasons(), h.Reason):
		return refuse("reason", "%s is none for which an agent's part may block: %s", excerpt(h.Reason), strings.Join(h.reasons(), ", "))
	case h.Observed != "" && h.Reason != model.ReasonRewrite:
		return refuse("observed", "given without a rewrite")
	case h.Observed != "" && !shaPattern.MatchString(h.Observed):
		return refuse("observed", "%s, want a commit's full id", excerpt(h.Observed))
	}
	return nil
}

// validateOutcome limits the agent's texts. Replies are checked against the feedback later.
func (h Handoff) validateOutcome(turn, result bool) error {
	o := h.Outcome
	bodies := make([]string, len(o.ReviewReplies))
	for i, r := range o.ReviewReplies {
		bodies[i] = r.Body
	}
	spoke := len(bodies)+len(o.Findings)+len(o.RoadmapItems) > 0 || o.GeneralComment+o.CommitMessage != "" || o.FlakyTestReport != nil ||
		len(o.TouchPaths) > 0 || o.Title+o.Goal+o.Summary+o.DesignDoc+o.PRTitle+o.PRSummary != ""
	u := o.Usage
	switch {
	case spoke && !result:
		return refuse("outcome", "answers given, though it ended %s", h.Ended)
	case o.BlockedReason != "":
		return refuse("outcome.blocked_reason", "given, though it ended %s: the reason of a block is in detail", h.Ended)
	case len(o.GitOps) > 0:
		return refuse("outcome.git_ops", "given: they were for the agent's part to carry out")
	case !turn && (o.Session != "" || u != model.Usage{}):
		return refuse("outcome", "session or usage given, though it ended %s", h.Ended)
	case len(o.Session) > maxSession:
		return refuse("outcome.session", "%d bytes, at most %d", len(o.Session), maxSession)
	case u.InputTokens < 0 || u.OutputTokens < 0 || u.InputTokens > maxTokens || u.OutputTokens > maxTokens || u.CostUSD < 0 || u.CostUSD > maxCostUSD:
		return refuse("outcome.usage", "want no negative numbers, at most %g tokens each, at most %g US dollars", maxTokens, maxCostUSD)
	}
	if err := validateTexts("outcome.review_replies", bodies, maxReplies, maxText); err != nil {
		return err
	}
	flaky := model.FlakyTest{}
	if o.FlakyTestReport != nil {
		flaky = *o.FlakyTestReport
	}
	for _, t := range []struct {
		field, text string
		limit       int
	}{
		{"flaky_test_report.title", flaky.Title, maxTitle}, {"flaky_test_report.summary", flaky.Summary, maxText},
		{"flaky_test_report.relevant_log_url", flaky.RelevantLogURL, maxNote},
		{"general_comment", o.GeneralComment, maxText}, {"commit_message", o.CommitMessage, maxText},
		{"title", o.Title, maxHeading}, {"summary", o.Summary, maxText}, {"design_doc_markdown", o.DesignDoc, maxDocument},
		{"pr_title", o.PRTitle, maxHeading}, {"pr_summary", o.PRSummary, maxText}, {"goal", o.Goal, maxText},
	} {
		if len(t.text) > t.limit {
			return refuse("outcome."+t.field, "%d bytes, at most %d", len(t.text), t.limit)
		}
	}
	for i, f := range o.Findings {
		if len(f.Path) > maxNote || len(f.Text) > maxText || len(f.Suggestion) > maxText {
			return refuse(fmt.Sprintf("outcome.findings[%d]", i), "path of more than %d bytes, or text of more than %d", maxNote, maxText)
		}
	}
	return h.validateBeginning()
}

func validateTexts(field string, texts []string, most, limit int) error {
	if len(texts) > most {
		return refuse(field, "%d, at most %d", len(texts), most)
	}
	for i, t := range texts {
		if len(t) > limit {
			return refuse(fmt.Sprintf("%s[%d]", field, i), "%d bytes, at most %d", len(t), limit)
		}
	}
	return nil
}

// Expected is what the second job determined by itself, from GitHub and its event.
type Expected struct {
	Repo   model.Repo
	Number int
	Flow   model.Flow // of the attempt on an issue; "" for a pull request's turn
	Start  string     // the head that the turn starts from
	Onto   string     // the head that its commits must be on, if not Start
	// Pending are the event keys of all feedback that may be answered now.
	Pending []string
	// TurnKey is the key of the turn over Number, Start and the events of the handoff.
	TurnKey string
}

// Check says with *Refusal which field of a handoff does not fit. It is a pure function, and what fits is still no more
// than an agent's word for what it did.
func Check(h Handoff, want Expected) error {
	if h.Repository != want.Repo.String() {
		return refuse("repository", "it is about %s, but this run is about %s", h.Repository, want.Repo)
	}
	if h.Number != want.Number {
		return refuse("number", "it is about %s, but this run is about %d", h.subject(), want.Number)
	}
	if h.Ended == Nothing {
		return nil
	}
	if h.Flow != want.Flow {
		return refuse("flow", "it is for %s, but this run is for %s", cmp.Or(string(h.Flow), "a turn"), cmp.Or(string(want.Flow), "a turn"))
	}
	if h.Start != want.Start {
		return refuse("start", "the turn began at %s, but it had to begin at %s", h.Start, want.Start)
	}
	if h.Onto != want.Onto {
		return refuse("onto", "the commits are on top of %s, but they had to be on top of %s", h.Base(), Handoff{Start: want.Start, Onto: want.Onto}.Base())
	}
	for i, e := range h.Events {
		if !slices.Contains(want.Pending, e) {
			return refuse(fmt.Sprintf("events[%d]", i), "%s is not pending", e)
		}
	}
	if h.TurnKey != want.TurnKey {
		return refuse("turn_key", "%s is not the key of this turn, which is %s", h.TurnKey, want.TurnKey)
	}
	return nil
}

// excerpt is the beginning of a text that is not ours.
func excerpt(text string) string { return strictjson.Excerpt(text, 60) }
