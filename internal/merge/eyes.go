package merge

import (
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/model"
)

// hand says what the author of an approval did since the last head that somebody else approved; "": nothing. GitHub keeps the author of
// a pull request from approving it. MergeXO opens its own ones, so that rule keeps nobody from approving what they pushed there.
func hand(c Case, r model.Review) string {
	if !c.Own && !c.Policy.Strict {
		return ""
	}
	pushes, commits, all := since(c, r.Login)
	switch {
	case slices.ContainsFunc(pushes, func(p model.Push) bool { return strings.EqualFold(p.By.Login, r.Login) }):
		return r.Login + " pushed to it"
	case slices.ContainsFunc(commits, func(t model.CommitText) bool { return strings.EqualFold(t.Author, r.Login) }):
		return r.Login + " wrote a commit of it"
	case c.Policy.Strict && all && slices.ContainsFunc(c.Starters, func(login string) bool { return strings.EqualFold(login, r.Login) }):
		return r.Login + " asked the agent for it"
	case c.Policy.Strict:
		return asked(c, r.Login, pushes, commits)
	}
	return ""
}

// since are the pushes and commits after the last head that somebody other than login approved. all says that nobody did.
func since(c Case, login string) (pushes []model.Push, commits []model.CommitText, all bool) {
	heads := map[string]bool{}
	for _, r := range approvals(c) {
		switch {
		case strings.EqualFold(r.Login, login), void(c, r):
		case current(c, r):
			return nil, nil, false
		case r.SHA != "":
			heads[r.SHA] = true
		}
	}
	pushes, commits, all = c.Pushes, c.Snapshot.Pull.Commits, true
	if i := slices.IndexFunc(pushes, func(p model.Push) bool { return heads[p.After] }); i >= 0 {
		pushes, all = pushes[:i], false
	}
	for i, t := range slices.Backward(commits) {
		if heads[t.SHA] {
			commits, all = commits[i+1:], false
			break
		}
	}
	if slices.Contains(c.Request.Tips(), c.Snapshot.Pull.HeadSHA) { // ours, made of commits that were looked at before
		commits = nil
	}
	return pushes, commits, all
}

// asked says whether somebody asked the agent for what turns pushed, or may have: anybody can delete their own comment, and GitHub does
// not tell.
func asked(c Case, login string, pushes []model.Push, commits []model.CommitText) string {
	for _, t := range c.State.Turns {
		m := t.Marker
		pushed := slices.ContainsFunc(pushes, func(p model.Push) bool { return p.After == m.Head })
		if m.Head == m.Start || !pushed && !slices.ContainsFunc(commits, func(t model.CommitText) bool { return t.SHA == m.Head }) {
			continue
		}
		for _, event := range m.Events {
			i := slices.IndexFunc(c.Snapshot.Comments, func(said model.Comment) bool { return said.Is(event) })
			switch {
			case i < 0 && !model.KindOfEvent(event).Happened():
				return "nobody can tell who asked the agent for it"
			case i >= 0 && strings.EqualFold(c.Snapshot.Comments[i].Author.Login, login):
				return login + " asked the agent for it"
			}
		}
	}
	return ""
}

// AsksPushes reports whether it matters who pushed: an approval may not count, and nothing else is missing.
func AsksPushes(c Case) bool {
	now, _, _ := fresh(c)
	if !c.Own && !c.Policy.Strict || c.Snapshot.Pull.CrossRepo || c.Request.Tries() || needed(c) == 0 || len(now) < needed(c) {
		return false
	}
	return !slices.ContainsFunc(Evaluate(c).Gates, func(g model.Gate) bool { return !g.Met && g.Name != GateMergeable })
}
