package trainsim

import (
	"fmt"
	"slices"

	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/train"
)

// build makes the commits of a car, which only the run has; nil: it is not made.
func (r *trainRun) build(b train.Build) train.Result {
	w, on := r.world, b.Onto
	if by := w.commits[on].run; by != 0 && by != r.id {
		for _, c := range w.record.Cars {
			if c.Tip == on {
				return train.Stale{Car: c.Number, Tip: on, Why: train.WhyLost}
			}
		}
		return nil
	}
	out := train.Built{Car: b.Car, On: b.Onto}
	for _, q := range b.Members {
		p := w.pulls[q.Number]
		if len(b.Members) > 1 && (q.Solo || q.Now || q.Try || q.ByGitHub) {
			w.complain("#%d shares car %d", q.Number, b.Car)
		}
		if now := r.known.Requests[q.Number]; now.Held != "" || now.Waits != "" {
			w.complain("#%d boards and waits", q.Number)
		}
		if w.clash(on, q.Number) {
			p.upset = true
			return train.Conflict{Car: b.Car, Number: q.Number, On: b.Onto, Paths: []string{"file"}}
		}
		if p.unfit {
			return train.Unfit{Car: b.Car, Numbers: []int{q.Number}, Code: "NOTHING_TO_MERGE", Why: "the base has it"}
		}
		tip := w.sha(fmt.Sprint("tip", q.Number))
		w.commits[tip] = commit{parent: on, number: q.Number, tree: w.commits[on].tree ^ content(q.Head), bad: w.commits[on].bad || p.bad, run: r.id}
		out.Members = append(out.Members, train.Member{Number: q.Number, Head: q.Head, Tip: tip})
		on = tip
	}
	return out
}

// push sets a train branch, and starts CI where a workflow runs on it.
func (w *world) push(p train.Push) bool {
	if w.branches[p.Car] != p.From {
		return false
	}
	w.branches[p.Car] = p.Tip
	for at := p.Tip; w.commits[at].run != 0; at = w.commits[at].parent {
		c := w.commits[at]
		c.run = 0
		w.commits[at] = c
	}
	if r := w.checks[p.Tip]; (r == nil || r.stopped) && !w.deaf {
		w.checks[p.Tip] = w.start(p.Tip, w.commits[p.Tip].bad)
	}
	return true
}

func (w *world) deleteBranch(d train.DeleteBranch) bool {
	if w.branches[d.Car] != d.From {
		return false
	}
	delete(w.branches, d.Car)
	if r := w.checks[d.From]; r != nil && !slices.Contains(tipsOf(w), d.From) {
		w.stop(r)
	}
	return true
}

func tipsOf(w *world) []string {
	var all []string
	for _, sha := range w.branches {
		all = append(all, sha)
	}
	return all
}

// workflowRun is the id of the workflow run of a commit, which keeps it when it is run again.
const workflowRun = 1

// rerun runs the failed checks of a commit again, unless that was done already; false: GitHub does not do it.
func (w *world) rerun(e train.Rerun) bool {
	if w.fault(w.day.Faults.Refuse) {
		return false
	}
	r := w.checks[e.Tip]
	if r == nil || !r.over || !r.red || !slices.Contains(e.IDs, workflowRun) || r.begun+1 > e.After {
		return true
	}
	again := w.start(e.Tip, r.bad)
	again.attempts = r.attempts + 1
	w.checks[e.Tip] = again
	return true
}

// land looks at the members once more, moves their heads and then the base, if nobody has moved any of them. Another run may come
// in between, and this one may die there.
func (r *trainRun) land(l train.Land) []train.Result {
	w := r.world
	on := l.From
	for _, m := range l.Members {
		if result := unready(w, l, m); result != nil {
			return []train.Result{result}
		}
		if c := w.commits[m.Tip]; c.parent != on || c.number != m.Number || c.tree != w.commits[on].tree^content(m.Head) {
			return []train.Result{train.Foreign{Car: l.Car, Tip: l.To}}
		}
		on = m.Tip
	}
	refuse := func(why string) []train.Result {
		return []train.Result{train.LandRefused{Car: l.Car, Attempt: l.Attempt, Why: why}}
	}
	byGitHub := slices.ContainsFunc(l.Members, func(m train.Member) bool { return mergesByGitHub(w, m.Number) })
	switch {
	case byGitHub && len(l.Members) > 1:
		var all []train.Result
		for _, m := range l.Members {
			all = append(all, train.Merges{Number: m.Number, ByGitHub: mergesByGitHub(w, m.Number)})
		}
		return append(all, train.Untested{Car: l.Car, Tip: l.To})
	case w.gone:
		return refuse("there is no base")
	case byGitHub && w.base != l.From:
		return refuse("the base has moved")
	case byGitHub && w.fault(w.day.Faults.Refuse):
		return refuse("GitHub refuses")
	case byGitHub:
		return mergedByGitHub(w, l)
	}
	for _, m := range l.Members {
		w.pulls[m.Number].head = m.Tip
	}
	if r.dead = !r.interlude(); r.dead {
		return nil
	}
	if w.fault(w.day.Faults.Refuse) {
		return refuse("GitHub refuses")
	}
	if w.base != l.From {
		return refuse("the base has moved")
	}
	w.move(l, l.To)
	return []train.Result{train.Arrived{Car: l.Car, From: l.From, SHA: l.To}}
}

// unready is what keeps a member from landing; nil: nothing.
func unready(w *world, l train.Land, m train.Member) train.Result {
	p := w.pulls[m.Number]
	u := train.Unready{Car: l.Car, Number: m.Number, Token: p.token()}
	switch {
	case p.ended == p.token():
		u.Over = true
	case p.off:
		u.Over, u.Code, u.Why = true, model.CodeRetargeted, "its base has changed"
	case p.waits != "":
		u.Why = p.waits
	case p.hidden != "":
		u.Why, p.held = p.hidden, p.hidden
	case p.state != model.PullOpen || p.head != m.Head && w.commits[p.head].number != m.Number:
		return train.LandRefused{Car: l.Car, Attempt: l.Attempt, Why: fmt.Sprintf("#%d is not at its head", m.Number)}
	default:
		return nil
	}
	return u
}

// mergesByGitHub says that GitHub itself merges a pull request, as the settings have it now.
func mergesByGitHub(w *world, number int) bool { return w.byGitHub || w.pulls[number].wish.ByGitHub }

// mergedByGitHub has GitHub merge the head of a pull request, with whatever that holds and the base does not.
func mergedByGitHub(w *world, l train.Land) []train.Result {
	m := l.Members[0]
	p := w.pulls[m.Number]
	if p.head != m.Head && p.head != m.Tip {
		return []train.Result{train.Unready{Car: l.Car, Number: m.Number, Token: p.token(), Over: true, Code: model.CodeHeadMoved, Why: "its head has moved"}}
	}
	sha := w.sha("github")
	made := commit{parent: w.base, number: m.Number, tree: w.commits[w.base].tree ^ content(m.Head), bad: w.commits[w.base].bad || p.bad}
	if w.commits[sha] = made; made.tree != w.commits[l.To].tree {
		w.complain("GitHub merges #%d into another tree than was tested", m.Number)
	}
	w.move(l, sha)
	return []train.Result{train.Arrived{Car: l.Car, From: l.From, SHA: sha}}
}

// move has the base at a commit with the tree of one that a train tested, and looks whether that is so.
func (w *world) move(l train.Land, to string) {
	if !w.checks[l.To].green() || w.commits[l.To].bad {
		w.complain("%s landed, which is not green", l.To)
	}
	if w.commits[to].tree != w.commits[l.To].tree {
		w.complain("%s landed, which is not what was tested", to)
	}
	if !w.holds(to, w.base) {
		w.complain("%s does not stand on the base", to)
	}
	var numbers []int
	for at := to; at != w.base && at != ""; at = w.commits[at].parent {
		if numbers = append(numbers, w.commits[at].number); w.commits[at].forged {
			w.complain("%s landed, which is forged", at)
		}
	}
	slices.Reverse(numbers)
	w.base = to
	for _, n := range numbers {
		if n == 0 || w.pulls[n].wish.Try {
			w.complain("#%d landed, which only tries", n)
			continue
		}
		inTurn(w, w.pulls[n])
		w.merge(n, to)
	}
}

// inTurn looks whether nobody waits who was there before a request that lands, and as urgent, and whether it lands after those that
// it depends on.
func inTurn(w *world, p *pull) {
	for _, n := range p.wish.Needs {
		if w.pulls[n].landings == 0 {
			w.complain("#%d landed before #%d, which it depends on", p.number, n)
		}
	}
	hurried := along(w)
	for _, r := range w.record.Queue {
		q := w.pulls[r.Number]
		switch {
		case hurried[p.number] || hurried[q.number]: // they go now while somebody waits for them who does
		case r.End != nil || q.upset || q.unfit || q.state != model.PullOpen || q.ended == q.token() || q.queued == 0 || q.queued > p.approved:
		case q.wish.Try || len(q.wish.Needs) > 0 || q.wish.Now != p.wish.Now || q.wish.Priority != p.wish.Priority || q.approved >= p.approved:
		default:
			w.complain("#%d landed before #%d", p.number, q.number)
		}
	}
}

// along are the requests that others depend on which go now.
func along(w *world) map[int]bool {
	out := map[int]bool{}
	for grows := true; grows; {
		grows = false
		for n, p := range w.pulls {
			if !p.wish.Now && !out[n] {
				continue
			}
			for _, needed := range p.wish.Needs {
				grows = grows || !out[needed]
				out[needed] = true
			}
		}
	}
	return out
}

// merge shows a pull request as merged.
func (w *world) merge(number int, at string) {
	p := w.pulls[number]
	if p.landings++; p.landings > 1 {
		w.complain("#%d landed twice", number)
	}
	p.state, p.merged = model.PullMerged, at
	w.landed = append(w.landed, number)
	w.tally.land(p.change, w.now)
}
