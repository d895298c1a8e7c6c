package merge

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
)

// partly is the evidence if GitHub returned only some of the reviews or checks.
const partly = "GitHub returned only part of the %s, so the result is unknown"

// lacks reports whether GitHub did not return something that counts for a gate. If the facts do not say what is missing, it
// may be anything.
func lacks(facts model.MergeFacts, what string) bool {
	return facts.Partial && (len(facts.Missing) == 0 || slices.Contains(facts.Missing, what))
}

// opinions are the newest review of each person.
func opinions(reviews []model.Review) []model.Review {
	var out []model.Review
	for _, r := range reviews {
		i := slices.IndexFunc(out, func(o model.Review) bool { return strings.EqualFold(o.Login, r.Login) })
		switch {
		case i < 0:
			out = append(out, r)
		case !r.At.Before(out[i].At):
			out[i] = r
		}
	}
	return out
}

// approvals are the newest approving reviews by others than the author.
func approvals(c Case) []model.Review {
	return slices.DeleteFunc(opinions(c.Facts.Reviews), func(r model.Review) bool {
		return r.State != "APPROVED" || strings.EqualFold(r.Login, c.Snapshot.Pull.Author.Login)
	})
}

// same says that an approval of a head counts for the current one: it is that head, or the one that the request is for, which
// lands whatever the branch was moved to for it. Where an earlier request has moved the branch, the changes are compared: in a
// merge train it may have been moved to commits that stand on those of others.
func same(c Case, head string) bool {
	now := c.Snapshot.Pull.HeadSHA
	return head == now || head != "" && head == c.Request.Head && slices.Contains(c.Request.Tips(), now)
}

// needed is the number of approvals required: the higher of the settings' and the base branch's rules, even if the token
// could bypass the latter. An admitted fork needs only those of the rules.
func needed(c Case) int {
	if c.LetIn != "" {
		return c.Facts.RequiredApprovals
	}
	return max(c.Policy.Approvals, c.Facts.RequiredApprovals)
}

// fresh splits the approvals into those that count, stale ones, and those of the current head by who had a hand in it.
func fresh(c Case) (fresh, stale, own []model.Review) {
	for _, r := range approvals(c) {
		switch {
		case void(c, r) || !current(c, r):
			stale = append(stale, r)
		case hand(c, r) != "":
			own = append(own, r)
		default:
			fresh = append(fresh, r)
		}
	}
	return fresh, stale, own
}

// current says that an approval is of the change that the head is now.
func current(c Case, r model.Review) bool {
	return same(c, r.SHA) || r.SHA != "" && c.Unchanged[r.SHA]
}

// void says that an approval was for another base: in the second of its change, nobody can tell.
func void(c Case, r model.Review) bool {
	changed := c.Snapshot.Pull.BaseChangedAt
	return !changed.IsZero() && !r.At.After(changed)
}

// approvedAt is when there were as many approvals as are needed; zero if none is, or if there are not.
func approvedAt(c Case) time.Time {
	now, _, _ := fresh(c)
	n := needed(c)
	if n == 0 || len(now) < n {
		return time.Time{}
	}
	slices.SortFunc(now, func(a, b model.Review) int { return a.At.Compare(b.At) })
	return now[n-1].At
}

// Stale are the older approved heads whose change would supply missing approvals if it equals the head's; nil if that would
// not help. Heads in Unchanged are left out.
func Stale(c Case) []string {
	now, old, _ := fresh(c)
	if len(now) >= needed(c) || len(now)+len(old) < needed(c) || lacks(c.Facts, "reviews") {
		return nil
	}
	var out []string
	for _, r := range old {
		if _, known := c.Unchanged[r.SHA]; !known && r.SHA != "" && !void(c, r) && !slices.Contains(out, r.SHA) {
			out = append(out, r.SHA)
		}
	}
	return out
}

func approvedGate(c Case) finding {
	now, old, own := fresh(c)
	n := needed(c)
	head := markdown.Short(c.Snapshot.Pull.HeadSHA)
	var who []string
	for _, r := range now {
		who = append(who, r.Login)
	}
	count := fmt.Sprintf("%d of %s", len(now), markdown.Count(n, "approval"))
	missing := markdown.Count(n-len(now), either(len(now) > 0, "more approval", "approval"))
	switch {
	case n == 0:
		return find(GateApproved, model.CodeApproval, true, "%s", either(c.LetIn != "", c.LetIn, "no approval is needed")+names("; approved by ", who))
	case lacks(c.Facts, "reviews"):
		return find(GateApproved, model.CodeApproval, false, partly, "reviews")
	case len(now) >= n:
		return find(GateApproved, model.CodeApproval, true, "%s%s", count, names(" of "+head+" by ", who))
	case len(old)+len(own) == 0:
		return find(GateApproved, model.CodeApproval, false, "waiting for %s from %s with write access other than the author%s", missing, either(n-len(now) == 1, "somebody", "people"), names("; approved by ", who))
	}
	var was []string
	for _, r := range old {
		said := fmt.Sprintf("%s approved %s, but the change is no longer the same", r.Login, either(r.SHA == "", "an earlier head", markdown.Short(r.SHA)))
		if void(c, r) {
			said = fmt.Sprintf("%s approved it before its base was changed to %q", r.Login, c.Snapshot.Pull.BaseRef)
		}
		was = append(was, said)
	}
	code := model.CodeStale
	if len(old) == 0 {
		code = model.CodeApproval
	}
	for _, r := range own {
		was = append(was, fmt.Sprintf("the approval by %s does not count, since %s, and nobody else has approved that", r.Login, hand(c, r)))
	}
	return find(GateApproved, code, false, "waiting for %s of %s%s; %s", missing, head, names("; approved by ", who), names("", was))
}

func changesGate(c Case) finding {
	var who []string
	for _, r := range opinions(c.Facts.Reviews) {
		if r.State == "CHANGES_REQUESTED" {
			who = append(who, either(r.URL == "", r.Login, r.Login+" ("+r.URL+")"))
		}
	}
	switch {
	case len(who) > 0:
		return find(GateChanges, model.CodeChanges, false, "changes are requested by %s", names("", who))
	case lacks(c.Facts, "reviews"):
		return find(GateChanges, model.CodeChanges, false, partly, "reviews")
	}
	return find(GateChanges, model.CodeChanges, true, "nobody with write access requests changes")
}

// names formats a list after a text; "" for an empty list.
func names(before string, list []string) string {
	const most = 10
	if len(list) == 0 {
		return ""
	}
	if n := len(list) - most; n > 0 {
		list = append(slices.Clone(list[:most]), fmt.Sprintf("%d more", n))
	}
	return before + strings.Join(list, ", ")
}
