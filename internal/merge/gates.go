package merge

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/treepath"
)

// The gates of a merge, in the order of evaluation: those that refuse it before those that it can wait for.
const (
	GateHead     model.GateName = "head_as_asked"
	GateTarget   model.GateName = "base_as_asked"
	GateBase     model.GateName = "base_exists"
	GateStrategy model.GateName = "strategy_usable"
	GateBranch   model.GateName = "branch_exists"
	GatePushable model.GateName = "base_pushable"
	GateAlone    model.GateName = "no_other_merge"
	GateAttempts model.GateName = "attempts_left"
	GateLabel    model.GateName = "label_on"

	GateDepends   model.GateName = "dependencies_landed"
	GateChanges   model.GateName = "no_changes_requested"
	GateApproved  model.GateName = "approved"
	GateChecks    model.GateName = "checks_passed"
	GateDraft     model.GateName = "not_draft"
	GateFrozen    model.GateName = "not_frozen"
	GateLabels    model.GateName = "labels_on"
	GateReviewers model.GateName = "reviewers_answered"
	GateIdle      model.GateName = "no_turn_at_work"
	GateMergeable model.GateName = "mergeable" // last: anything else that is missing is reported before a conflict
	GateSteering  model.GateName = "steering_files"
	GateLast      model.GateName = "last_request"
)

// finding is a gate, and its consequence if closed.
type finding struct {
	model.Gate
	code model.MergeCode
	soft bool // it can open without a new head
}

func find(name model.GateName, code model.MergeCode, met bool, evidence string, args ...any) finding {
	return finding{Gate: model.NewGate(name, met, evidence, args...), code: code}
}

// Evaluate decides about a request. A gate that cannot open as things are refuses it; if all are open it begins; otherwise
// it waits.
func Evaluate(c Case) Verdict {
	way, err := ChooseFor(c.Policy, c.Snapshot.Pull, c.Facts, c.Request)
	v := Verdict{Go: true, Way: way, Try: c.Request.Tries(), Approved: approvedAt(c)}
	v.Counted, _, _ = fresh(c)
	for _, f := range slices.Concat(hard(c, way, err), labelGate(c), depends(c, way), soft(c, way)) {
		v.Gates = append(v.Gates, f.Gate)
		if !f.Met && v.Go {
			v.Go, v.Wait, v.Code, v.Reason = false, f.soft, f.code, f.Evidence
		}
	}
	return v
}

// hard are the gates that refuse a request.
func hard(c Case, way Way, err error) []finding {
	p, facts := c.Snapshot.Pull, c.Facts
	return []finding{
		openGate(c.Snapshot),
		headGate(c),
		targetGate(c),
		find(GateBase, model.CodeBaseMissing, facts.BaseSHA != "", "%s", base(p, facts)),
		strategyGate(c, way, err),
		branchGate(p, way),
		pushableGate(p, facts, way),
		aloneGate(c),
		attemptsGate(c),
	}
}

// soft are the gates that a request waits for.
func soft(c Case, way Way) []finding {
	p := c.Snapshot.Pull
	if c.Request.Tries() { // nothing lands, but CI runs the branch of a train with the repository's secrets
		if !p.CrossRepo {
			return nil
		}
		approved := approvedGate(c)
		approved.soft = true
		return []finding{approved}
	}
	out := []finding{
		{Gate: c.State.BlockGate(), code: model.CodeBlocked},
		{Gate: c.State.PausedGate(), code: model.CodeBlocked},
		changesGate(c),
		approvedGate(c),
		checksGate(c, way),
	}
	out = append(append(out, holds(p, c.Policy)...), idleGate(c.Busy), mergeableGate(p, c.Facts, way))
	if c.Policy.WaitForReviewers {
		out = append(out, lacking(GateReviewers, model.CodeReviewers, "requested review", c.Facts.Awaited))
	}
	if f, tells := steeringGate(p); tells {
		out = append(out, f)
	}
	for i := range out {
		out[i].soft = true
	}
	return out
}

func either(is bool, yes, no string) string {
	if is {
		return yes
	}
	return no
}

func openGate(s model.Snapshot) finding {
	if !s.IsPull() {
		return find(model.GateOpen, model.CodeClosed, false, "it is an issue, not a pull request")
	}
	return finding{Gate: s.Pull.OpenGate(), code: model.CodeClosed}
}

// headGate compares the head with the requested one, from the command or from its time. A tip made by this request counts
// as that head.
func headGate(c Case) finding {
	head := c.Snapshot.Pull.HeadSHA
	switch {
	case c.SHA != "" && !strings.HasPrefix(head, c.SHA) && !strings.HasPrefix(c.Request.Head, c.SHA):
		return find(GateHead, model.CodeWrongHead, false, "the request names head %s, but the head is %s", c.SHA, head)
	case c.Request.Head == "", c.Request.Head == head:
		return find(GateHead, model.CodeHeadMoved, true, "the head is %s", markdown.Short(head))
	case slices.Contains(c.Request.Tips(), head):
		return find(GateHead, model.CodeHeadMoved, true, "the head is %s, which was built from %s for this merge", markdown.Short(head), markdown.Short(c.Request.Head))
	}
	return find(GateHead, model.CodeHeadMoved, false, "requested for head %s, but the head is now %s; to merge that one, repeat the command", c.Request.Head, head)
}

// targetGate compares the base with the requested one, which it may have been changed to between the request and its run.
func targetGate(c Case) finding {
	now, asked, at := c.Snapshot.Pull.BaseRef, c.Request.Base, c.Request.At
	if asked == now && !at.IsZero() && at.Before(c.Snapshot.Pull.BaseChangedAt) {
		return find(GateTarget, model.CodeRetargeted, false, "the base was changed to %q after the request", now)
	}
	if why := over(c.Snapshot.Pull, c.Facts); why != "" {
		return find(GateTarget, model.CodeBaseMerged, false, "%s", why)
	}
	return find(GateTarget, model.CodeRetargeted, asked == "" || asked == now, "%s", either(asked == "" || asked == now,
		fmt.Sprintf("the base is branch %q", now), fmt.Sprintf("requested for base %q, but the base is now %q", asked, now)))
}

// labelGate refuses a request whose label was removed, though somebody may have put it on again since.
func labelGate(c Case) []finding {
	m, p := c.Request, c.Snapshot.Pull
	change, _ := p.LabelledBy(m.Label)
	if !m.ByLabel() || model.Named(p.Labels, m.Label) && (change.Label == "" || change.At.Equal(m.At)) {
		return nil
	}
	return []finding{find(GateLabel, model.CodeCancelled, false, "label %q, which asked for the merge, was removed", m.Label)}
}

func base(p model.Pull, facts model.MergeFacts) string {
	if facts.BaseSHA == "" {
		return fmt.Sprintf("branch %q does not exist", p.BaseRef)
	}
	return fmt.Sprintf("branch %q is at %s", p.BaseRef, markdown.Short(facts.BaseSHA))
}

func strategyGate(c Case, way Way, err error) finding {
	var refusal *Refusal
	if errors.As(err, &refusal) {
		return find(GateStrategy, refusal.Code, false, "%s", refusal.Text)
	}
	if problem := queueProblem(c); way.Strategy == model.StrategyQueue && problem != "" {
		return find(GateStrategy, model.CodeStrategy, false, "strategy %s: %s", way.Strategy, problem)
	}
	return find(GateStrategy, model.CodeStrategy, true, "%s (%s)", way.Strategy, way.Why)
}

func branchGate(p model.Pull, way Way) finding {
	switch {
	case p.HeadExists:
		return find(GateBranch, model.CodeBranchMissing, true, "the head is branch %q", p.HeadRef)
	case way.Strategy == "":
		return find(GateBranch, model.CodeBranchMissing, false, "the head branch %q was deleted", p.HeadRef)
	}
	moves := movesHead(way.Strategy, p)
	return find(GateBranch, model.CodeBranchMissing, !moves, "the head branch %q was deleted%s", p.HeadRef,
		either(moves, "; restore it to continue", ", and strategy "+way.Strategy+" does not need it"))
}

// pushableGate refuses a push that the rules forbid. If GitHub does not report the rules, the push itself shows.
func pushableGate(p model.Pull, facts model.MergeFacts, way Way) finding {
	switch {
	case facts.NoWorkflows && workflowOf(p) != "" && (rewrites(way) || way.Strategy == model.StrategyAPI):
		return find(GatePushable, model.CodeForbidden, false, "%s", WorkflowText(workflowOf(p)))
	case model.ByGitHub(way.Strategy):
		return find(GatePushable, model.CodeProtected, true, "GitHub itself moves branch %q", p.BaseRef)
	case RefusedBy(way, p, facts, "") != "":
		return find(GatePushable, model.CodeProtected, false, "%s", RefusedBy(way, p, facts, ""))
	case facts.NoWorkflows && workflowOf(p) != "" && way.Strategy == model.StrategyRebase:
		return find(GatePushable, model.CodeForbidden, true, "only the head as it is can land, on an unchanged branch %q: %s", p.BaseRef, WorkflowText(workflowOf(p)))
	case facts.PushRefused:
		return find(GatePushable, model.CodeProtected, false, "the rules of branch %q do not let MergeXO's token push to it; %s", p.BaseRef, addPusher)
	case len(bound(facts)) > 0 && way.Train:
		return find(GatePushable, model.CodeProtected, true, "branch %q accepts only commits that have passed %s, which the merge train waits for", p.BaseRef, names("", bound(facts)))
	case len(bound(facts)) > 0:
		return find(GatePushable, model.CodeProtected, true, "branch %q accepts only commits that have passed %s; the head can land if it is unchanged", p.BaseRef, names("", bound(facts)))
	case !facts.RuleKnown:
		return find(GatePushable, model.CodeProtected, true, "GitHub does not show the rules of branch %q; the push will", p.BaseRef)
	}
	return find(GatePushable, model.CodeProtected, true, "MergeXO's token may push to branch %q", p.BaseRef)
}

// rewrites reports whether a strategy always makes commits of its own in place of the branch's.
func rewrites(way Way) bool {
	s, _ := model.StrategyNamed(way.Strategy)
	return s.MovesHead && s.Name != model.StrategyRebase
}

// workflowOf is a workflow that a pull request changes, as far as its files were read; "" for none.
func workflowOf(p model.Pull) string {
	i := slices.IndexFunc(p.Files, func(f model.File) bool { return strings.HasPrefix(f.Path, treepath.Workflows+"/") })
	if i < 0 {
		return ""
	}
	return p.Files[i].Path
}

// WorkflowText says why new commits that change a workflow cannot be pushed, and what helps.
func WorkflowText(path string) string {
	return fmt.Sprintf("it changes %s, and MergeXO's token may not push changes of workflows; merge it by hand, or run MergeXO as a GitHub App with the permission workflows", markdown.OneLine(path))
}

// aloneGate allows one merge at a time. If the newest one's run died, the next run continues it; an older one whose run
// died no longer counts, nor does what the request on another pull request left here.
func aloneGate(c Case) finding {
	newest := c.State.Merge()
	for i, m := range c.State.Merges {
		over := m.Marker.Expired(c.Snapshot.ReadAt) && (m.Marker.Leader != "" || &c.State.Merges[i] != newest)
		if m.Marker.State != model.MergeRunning || m.Marker.Command == c.Request.Command || over {
			continue
		}
		return find(GateAlone, model.CodeBusy, false, "a merge is already in progress, requested by %s, see %s", m.Marker.By, m.URL)
	}
	return find(GateAlone, model.CodeBusy, true, "no other merge is in progress")
}

func attemptsGate(c Case) finding {
	n := Attempts(c.State, c.Snapshot.Pull.HeadSHA, c.Facts.BaseSHA)
	if c.Begun {
		n = max(0, n-1)
	}
	met := n < c.Policy.Attempts
	return find(GateAttempts, model.CodeAttempts, met, "%d of %d attempts made on this head and this tip of branch %q%s", n, c.Policy.Attempts, c.Snapshot.Pull.BaseRef,
		either(met, "", lastCause(c.State, c.Snapshot.Pull.HeadSHA, c.Facts.BaseSHA)+"; the next one needs a new commit on either branch"))
}

// lastCause says how the last attempt on this head and base tip ended.
func lastCause(st model.State, head, base string) string {
	var last model.Posted[model.MergeMarker]
	for _, s := range st.Merges {
		if isOf(s.Marker, head, base) && s.Marker.Attempt >= last.Marker.Attempt {
			last = s
		}
	}
	m := last.Marker
	why := m.Cause
	if why == "" && m.State == model.MergeFailed && m.Reason != "" {
		why = Cause(m.Reason, m.Detail)
	}
	at := either(m.State == model.MergeRunning && m.RunURL != "", m.RunURL, last.URL) // has the details
	return fmt.Sprintf(". The last one: %s, see %s", either(why != "", why, "its run was cancelled, killed, or timed out"), at)
}

// maxCause limits a cause, in bytes.
const maxCause = 500

// Cause says in one line how an attempt ended.
func Cause(code model.MergeCode, detail string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(detail), "\n")
	first = strings.TrimSuffix(markdown.OneLine(first), ".")
	if len(first) > maxCause {
		first = strings.ToValidUTF8(first[:maxCause], "") + " […]"
	}
	switch {
	case code == "":
		return first
	case first == "":
		return string(code)
	}
	return string(code) + ": " + first
}

// LastGate is how the newest request for this head ended, if it failed: its reason, such as its tests, may be none of the
// other gates. None for any other request, or for a try.
func LastGate(st model.State, head string) []model.Gate {
	newest := st.Merge()
	if newest == nil || newest.Marker.State != model.MergeFailed || newest.Marker.Reason == model.CodeCancelled || newest.Marker.Tries() {
		return nil
	}
	if m := newest.Marker; m.Head != head && !slices.Contains(m.Tips(), head) {
		return nil
	}
	return []model.Gate{find(GateLast, newest.Marker.Reason, false, "refused (%s), see %s; once that is resolved, %s", newest.Marker.Reason, newest.URL, either(newest.Marker.ByApproval, approveAgain, "repeat /mergexo merge")).Gate}
}

// Attempts is the highest attempt number on this head and base tip. The head may be a tip made by an attempt.
func Attempts(st model.State, head, base string) int {
	n := 0
	for _, s := range st.Merges {
		if isOf(s.Marker, head, base) {
			n = max(n, s.Marker.Attempt)
		}
	}
	return n
}

// isOf reports whether a request was last tried on this head (or a tip made of it) and this base tip.
func isOf(m model.MergeMarker, head, base string) bool {
	return m.BaseSHA == base && (m.Head == head || slices.Contains(m.Tips(), head))
}

// unfinished begins the title of a pull request whose author says that it is not ready, as other merge bots have it.
var unfinished = regexp.MustCompile(`(?i)^[\s\[(*_]*(WIP|do[ -]not[ -]merge)\b`)

// holds are the gates that people close by what they say of a pull request: its state, its title, and its labels.
func holds(p model.Pull, policy Policy) []finding {
	draft := find(GateDraft, model.CodeDraft, !p.Draft, "%s", either(p.Draft, "it is a draft", "it is not a draft"))
	if begins := unfinished.FindStringSubmatch(p.Title); begins != nil {
		draft = find(GateDraft, model.CodeDraft, false, "its title begins with %q", begins[1])
	}
	out := []finding{{Gate: p.TakenGate(policy.Ignore), code: model.CodeBlocked}, draft, frozenGate(p, policy)}
	if len(policy.NeedLabels) > 0 {
		out = append(out, lacking(GateLabels, model.CodeFrozen, "label", slices.DeleteFunc(slices.Clone(policy.NeedLabels), func(l string) bool { return model.Named(p.Labels, l) })))
	}
	return out
}

// lacking is the gate of what has to be there.
func lacking(name model.GateName, code model.MergeCode, what string, missing []string) finding {
	return find(name, code, len(missing) == 0, "%s", either(len(missing) == 0, "no "+what+" is missing", names("missing "+what+"s: ", missing)))
}

// Held is why people want a pull request not to be merged now; "": they do not.
func Held(p model.Pull, policy Policy) string {
	for _, f := range holds(p, policy) {
		if !f.Met {
			return f.Evidence
		}
	}
	return ""
}

func frozenGate(p model.Pull, policy Policy) finding {
	for _, label := range policy.Freeze {
		if model.Named(p.Labels, label) {
			return find(GateFrozen, model.CodeFrozen, false, "label %q is on the pull request", label)
		}
	}
	return find(GateFrozen, model.CodeFrozen, true, "%s", names("the pull request has no label that freezes it: ", policy.Freeze))
}

func idleGate(busy *model.Posted[model.TurnMarker]) finding {
	if busy == nil {
		return find(GateIdle, model.CodeBusy, true, "no turn is running")
	}
	return find(GateIdle, model.CodeBusy, false, "a turn is running, see %s; it ends by %s", busy.URL, busy.Marker.Expires.UTC().Format("2006-01-02 15:04 MST"))
}

// mergeableGate follows GitHub's view of conflicts, unless a rule may resolve them.
func mergeableGate(p model.Pull, facts model.MergeFacts, way Way) finding {
	switch {
	case !facts.Conflicting:
		return find(GateMergeable, model.CodeConflict, true, "GitHub reports no conflict with branch %q", p.BaseRef)
	case way.Strategy == model.StrategyUnion || !model.ByGitHub(way.Strategy) && len(way.BaseWins) > 0:
		return find(GateMergeable, model.CodeConflict, true, "it conflicts with branch %q, which the rule may resolve", p.BaseRef)
	}
	return find(GateMergeable, model.CodeConflict, false, "it conflicts with branch %q", p.BaseRef)
}
