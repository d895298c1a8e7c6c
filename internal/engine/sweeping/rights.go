package sweeping

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/mergexo/internal/command"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/flow"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/turn"
)

// unasked are the logins, in lower case, whose rights decide about what is due here and are not known yet.
func (g *item) unasked(known map[string]model.Permission) []string {
	ask := turn.UnknownRights(slices.Concat(g.candidates, g.unanswered), known, g.settled, g.policy)
	more := func(logins []string, listed func(string) bool) {
		for _, login := range logins {
			if _, is := known[login]; !is && login != "" && !listed(login) && !slices.Contains(ask, login) {
				ask = append(ask, login)
			}
		}
	}
	more(g.foreign, func(string) bool { return false })
	more(g.commanders, g.operators.Listed)
	more(g.whisperers, g.operators.Listed)
	more(g.hosts, g.operators.Listed)
	more([]string{g.readied}, func(string) bool { return false })
	if len(g.policy.AllowedUsers) == 0 {
		more(g.starters, func(string) bool { return false })
		if g.unlooked != nil {
			more(flow.Editors(*g.unlooked), func(string) bool { return false })
		}
	}
	return ask
}

// reasons is why there is something to be done, now that everybody's rights are known.
func (g *item) reasons(rights map[string]model.Permission) []model.Reason {
	allowed := turn.Allowed(g.candidates, rights, g.policy)
	g.pending = len(allowed) + len(turn.Allowed(g.unanswered, rights, g.policy))
	stands := func(login string) command.Role { return g.operators.Role(login, rights[login]) }
	if slices.ContainsFunc(g.foreign, func(login string) bool { return rights[login] >= model.PermissionWrite }) {
		g.due(model.DueIdentity, time.Time{})
	}
	if g.readied != "" && rights[g.readied] >= model.PermissionWrite {
		g.due(model.DueReview, time.Time{})
	}
	if slices.ContainsFunc(g.whisperers, func(login string) bool { return rights[login] >= model.PermissionWrite }) {
		for _, said := range g.listen(rights) {
			g.commanders = append(g.commanders, strings.ToLower(said.Comment.Author.Login))
		}
	}
	for _, login := range g.commanders {
		if stands(login) != command.Stranger || rights[login] >= model.PermissionRead && slices.Contains(g.delegates, login) {
			g.due(model.DueCommand, time.Time{})
			break
		}
	}
	if slices.ContainsFunc(g.hosts, func(login string) bool { return stands(login) == command.Operator }) {
		g.due(model.DueExternal, g.since)
	}
	why, since := g.work(rights, allowed)
	if g.left = why != "" && g.needs != nil && g.step.Act != flow.Redirect; why != "" && !g.left {
		g.due(why, since)
	}
	return g.why
}

// work is what there is to be done by an agent, or to be said in its place; "" for nothing.
func (g *item) work(rights map[string]model.Permission, allowed []model.Comment) (why model.Reason, since time.Time) {
	switch {
	case g.isIssue:
		if g.step.Act == flow.Finish && g.quiet.Act != flow.Finish { // of people who may, and so have answered
			return model.DueFlow, g.since
		}
		if slices.Contains([]flow.Act{flow.Begin, flow.GoOn, flow.Redirect}, g.step.Act) && g.mayGoOn(rights, len(allowed)) {
			return model.DueFlow, g.since
		}
	case len(allowed) > 0 && g.failed:
		return model.DueRetry, allowed[0].UpdatedAt
	case len(allowed) > 0:
		return model.DueFeedback, allowed[0].UpdatedAt
	}
	return "", since
}

// hear forgets on an issue what was said by people who may not: it moves nothing there.
func (g *item) hear(rights map[string]model.Permission) {
	if g.isIssue && len(g.candidates) > 0 && len(turn.Allowed(g.candidates, rights, g.policy)) == 0 {
		g.candidates, g.step = nil, g.quiet
		g.facts.Queued, g.facts.Untold = 0, 0
	}
}

// mayGoOn says that somebody who may has asked for the next step on an issue.
func (g *item) mayGoOn(rights map[string]model.Permission, allowed int) bool {
	if g.step.Act == flow.Redirect {
		return allowed > 0
	}
	may := func(login string) bool { return thread.MaySetOff(g.policy, rights, login) }
	if g.unlooked != nil {
		if ok, _ := flow.Untouched(*g.unlooked, may); ok {
			return true
		}
	}
	return slices.ContainsFunc(g.starters, may)
}

// leaveOutResolved takes out what is said in threads that people have resolved, of which the survey does not know. Only pull requests
// are asked about that would be visited for comments on lines.
func (s *sweeper) leaveOutResolved(ctx context.Context, f *scan, rights map[string]model.Permission) error {
	var ask []int
	onLine := func(c model.Comment) bool { return c.Kind == model.KindReview }
	for _, g := range f.items {
		if !g.isIssue && slices.ContainsFunc(turn.Allowed(g.candidates, rights, g.policy), onLine) {
			ask = append(ask, g.number)
		}
	}
	if len(ask) == 0 {
		return nil
	}
	by, err := s.GitHub.Threads.Resolved(ctx, s.repo, ask)
	for _, g := range f.items {
		g.candidates = slices.DeleteFunc(g.candidates, func(c model.Comment) bool { return onLine(c) && turn.DoneBy(by[c.Thread()], f.viewer.Login) })
	}
	return err
}
