package landing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mergexo/mergexo/internal/command"
	"github.com/mergexo/mergexo/internal/config"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/github"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/lineage"
	"github.com/mergexo/mergexo/internal/merge"
	"github.com/mergexo/mergexo/internal/model"
)

// gather finds the pull requests that land together with this one, which comes alone where there is no group. All of them
// have to be ready.
func gather(ctx context.Context, g *merger, way merge.Way) error {
	own := self(g, way)
	list := g.marker.Members
	if len(list) == 0 && own.mirror.Name == "" { // the text of a stranger brings nothing else along
		var err error
		if list, err = linkedPulls(ctx, g); err != nil {
			return err
		}
	}
	g.members = nil
	first := error(nil)
	for _, is := range list {
		m := own
		if is.Repo != own.is.Repo || is.Number != own.is.Number {
			var err error
			m, err = join(ctx, g, is)
			if s := (*Failure)(nil); is.Tip != "" && errors.As(err, &s) { // what has landed of the others still has to be known
				first = cmp.Or(first, err)
				continue
			}
			if err != nil {
				return err
			}
			if m == nil {
				continue
			}
		} else if is.Head != "" {
			m.is = is
		}
		if m.is.Tip != "" || m.is.Landed != "" {
			if err := m.landedSince(ctx, requestOf(g, m)); err != nil {
				return err
			}
		}
		g.members = append(g.members, m)
	}
	if first != nil {
		return first
	}
	for _, m := range g.members { // once it is known what has landed
		if err := refused(g, m); err != nil {
			return err
		}
		if err := held(ctx, g, m); err != nil {
			return err
		}
	}
	if len(g.members) == 0 {
		g.members = []*member{own}
	}
	return nil
}

// parts are the pull requests of the group in their order, as they are recorded where this run could not read them.
func parts(g *merger) []model.MergeMember {
	all := slices.Clone(g.marker.Members)
	for _, m := range g.members {
		at := slices.IndexFunc(all, func(is model.MergeMember) bool { return is.Repo == m.is.Repo && is.Number == m.is.Number })
		if at < 0 {
			all = append(all, m.is)
			continue
		}
		all[at] = m.is
	}
	return all
}

// landedInPart says that some member has landed and another one has not. One that was about to land and cannot be read may have
// landed. They land in their order.
func landedInPart(g *merger) bool {
	all, landed := parts(g), 0
	for _, is := range all {
		if is.Landed != "" {
			landed++
		}
	}
	if landed > 0 {
		return landed < len(all)
	}
	read := func(m *member) bool { return m.is.Repo == all[0].Repo && m.is.Number == all[0].Number }
	return len(all) > 1 && all[0].Tip != "" && !slices.ContainsFunc(g.members, read)
}

// refused refuses a member that no strategy can land by now, and one that GitHub's merge queue would have to merge: it takes one at
// a time, and nothing goes past it.
func refused(g *merger, m *member) error {
	if m.is.Landed != "" {
		return nil
	}
	var s *Failure
	switch m.way.Strategy {
	default:
		return nil
	case "":
		_, err := merge.ChooseFor(policy(m.Request), m.Snap.Pull, *m.MergeFacts, requestOf(g, m))
		why := (*merge.Refusal)(nil)
		if !errors.As(err, &why) {
			return err
		}
		s = &Failure{Failure: merge.Failure{Code: why.Code, Detail: why.Text}}
	case model.StrategyQueue:
		s = &Failure{Failure: merge.QueueAlone()}
	}
	if !isSelf(g, m) {
		s.Pull, s.Repo = &m.Snap.Pull, m.is.Repo
	}
	return s
}

// held is what a member has to wait for that was about to land: its tests need not run before.
func held(ctx context.Context, g *merger, m *member) error {
	if m.is.Landed != "" || m.is.Tip == "" {
		return nil
	}
	v, err := m.Evaluate(ctx, requestOf(g, m), "")
	if err != nil || !v.Wait {
		return err
	}
	return of(g, m, &Failure{Failure: merge.Failure{Code: v.Code, Detail: v.Reason}, waits: true})
}

// self is the pull request of the request itself.
func self(g *merger, way merge.Way) *member {
	m := &member{Request: g.Request, at: onGitHub{}, command: g.marker.Command, own: true, way: way, title: g.marker.Title, head: g.Snap.Pull.HeadSHA, is: model.MergeMember{
		Repo: g.Event.Repo.String(), Number: g.Event.Number, Head: g.marker.Head, Base: g.marker.Base, BaseSHA: g.marker.BaseSHA,
	}}
	if g.marker.Car {
		m.is.BaseSHA = ""
	}
	if g.marker.Mirror != "" {
		m.mirror = git.Ref{Name: "refs/heads/" + g.marker.Mirror, SHA: g.marker.MirrorSHA}
	}
	return m
}

// linkedPulls lists the pull requests of the group that this one is part of, in the order of the group's repositories: those
// from a branch of the same name, and those that its text names. A text can name none outside of the group.
func linkedPulls(ctx context.Context, g *merger) ([]model.MergeMember, error) {
	named := merge.DependsOf(g.Snap.Pull).Others
	for _, group := range g.Settings.Merge.Groups {
		if !model.Named(group.Repositories, g.Event.Repo.String()) {
			continue
		}
		var list []model.MergeMember
		for _, name := range group.Repositories {
			numbers, err := inRepository(ctx, g, name, named[strings.ToLower(name)])
			if err != nil {
				return nil, err
			}
			list = append(list, numbers...)
		}
		if len(list) > 1 {
			return list, nil
		}
	}
	return nil, nil
}

// inRepository is the pull request that one repository of the group brings in; none, where it has none.
func inRepository(ctx context.Context, g *merger, name string, named int) ([]model.MergeMember, error) {
	repo, err := model.ParseRepo(name)
	switch {
	case err != nil:
		return nil, err
	case strings.EqualFold(name, g.Event.Repo.String()):
		return []model.MergeMember{{Repo: g.Event.Repo.String(), Number: g.Event.Number}}, nil
	case named != 0:
		return []model.MergeMember{{Repo: name, Number: named}}, nil
	}
	var open []model.PullRef
	if err = thread.Extend(ctx, g.World, repo); err == nil {
		open, err = g.GitHub.Pulls.FromBranch(ctx, repo, g.Snap.Pull.HeadRef)
	}
	switch {
	case github.KindOf(err) == github.NotFound, github.KindOf(err) == github.Forbidden:
		return nil, &Failure{Failure: merge.Unreadable(name)}
	case err != nil || len(open) == 0:
		return nil, err
	case len(open) > 1:
		return nil, &Failure{waits: true, Failure: merge.Failure{Code: model.CodeMember, Detail: fmt.Sprintf("%s has several open pull requests from %s: name one with a line Depends-on: %s#NUMBER", name, g.Snap.Pull.HeadRef, name)}}
	}
	return []model.MergeMember{{Repo: name, Number: open[0].Number}}, nil
}

// join reads a further pull request of the group, which has to be as ready as the first.
func join(ctx context.Context, g *merger, is model.MergeMember) (*member, error) {
	repo, err := model.ParseRepo(is.Repo)
	if err != nil {
		return nil, err
	}
	refuse := func(code model.MergeCode, waits bool, why string) error {
		return &Failure{waits: waits, Failure: merge.Failure{Code: code, Detail: fmt.Sprintf("%s#%d: %s", is.Repo, is.Number, why)}}
	}
	p := &Request{Thread: thread.Another(g.Thread, model.Event{Name: g.Event.Name, Repo: repo, Number: is.Number}, nil), grouped: true}
	if err = thread.Extend(ctx, g.World, repo); err == nil {
		err = thread.BeginPull(ctx, p.Thread)
	}
	switch {
	case github.KindOf(err) == github.NotFound, github.KindOf(err) == github.Forbidden:
		return nil, &Failure{Failure: merge.Unreadable(fmt.Sprintf("%s#%d", is.Repo, is.Number))}
	case errors.Is(err, config.ErrInvalid):
		return nil, refuse(model.CodeMember, true, err.Error())
	case errors.Is(err, thread.ErrNumber):
		return nil, refuse(model.CodeMember, false, "it is not a pull request")
	case err != nil:
		return nil, err
	case p.Snap.Pull.State == model.PullMerged && is.Tip == "": // before the others
		return nil, nil
	}
	if is.Landed == "" {
		if err := untilIdle(ctx, p); err != nil {
			return nil, err
		}
	}
	if is.Tip == "" {
		if err := p.Ask(ctx, []string{strings.ToLower(g.marker.By)}); err != nil {
			return nil, err
		}
		if p.Operators.Role(g.marker.By, p.Memory.Rights[strings.ToLower(g.marker.By)]) != command.Operator {
			return nil, &Failure{Failure: merge.MayNotCommand(fmt.Sprintf("%s#%d", is.Repo, is.Number), g.marker.By)}
		}
	}
	pull := p.Snap.Pull
	m := &member{Request: p, at: onGitHub{}, command: g.marker.Command, head: pull.HeadSHA, is: is}
	if is.Head == "" {
		m.is.Head, m.is.Base = pull.HeadSHA, pull.BaseRef
	}
	if m.is.Landed != "" {
		return m, nil
	}
	v, err := p.Evaluate(ctx, requestOf(g, m), "")
	if err != nil {
		return nil, err
	}
	m.way = v.Way
	switch {
	case v.Go || m.is.Tip != "":
		return m, nil
	case v.Code == model.CodeBusy: // which nobody has to do anything about
		return nil, refuse(v.Code, v.Wait, v.Reason)
	}
	return nil, refuse(model.CodeMember, v.Wait, v.Reason)
}

// landedSince notes that a member has landed in a run that died before it could say so, or that somebody else has merged it. It
// landed by the strategy that was recorded, whatever the settings say by now.
func (m *member) landedSince(ctx context.Context, k model.MergeMarker) error {
	by, merged := m.way, m.Snap.Pull.State == model.PullMerged
	by.Strategy = cmp.Or(m.is.Strategy, by.Strategy)
	if m.is.Landed != "" {
		m.way = by
		if m.is.Landed != m.is.Tip {
			mergedByHand(m, m.is.Landed)
		}
		return nil
	}
	if err := thread.ReadMergeFacts(ctx, m.Thread); err != nil || m.MergeFacts.BaseSHA == "" {
		return err
	}
	facts, tips := m.MergeFacts, k.Tips()
	if model.ByGitHub(m.is.Strategy) {
		tips = nil // GitHub made a commit of its own of what was tested, and the record names the tested one
		if merged && facts.HeadSHA == m.is.Head && facts.MergeCommit != "" {
			m.way, m.is.Tip, m.is.Landed = by, facts.MergeCommit, facts.MergeCommit
			if by.Strategy == model.StrategyQueue {
				return fromQueue(ctx, m, k.Queue)
			}
			return compare(ctx, m)
		}
	}
	for _, tip := range tips {
		relation, err := m.Relation(ctx, tip, facts.BaseSHA)
		if err != nil {
			return err
		}
		if lineage.Decide(relation) == lineage.Pass {
			m.way, m.is.Tip, m.is.Landed, m.made.Tip = by, tip, tip, tip
			return nil
		}
	}
	if merged {
		m.way = by
		mergedByHand(m, cmp.Or(facts.MergeCommit, facts.BaseSHA))
	}
	return nil
}

// requestOf is the request as it is for one member.
func requestOf(g *merger, m *member) model.MergeMarker {
	k := g.marker
	if !isSelf(g, m) {
		k.Head, k.Base, k.BaseSHA, k.Tip, k.Was, k.Label = m.is.Head, m.is.Base, m.is.BaseSHA, m.is.Tip, nil, ""
		if said := m.announced(g); said != nil {
			k.Was = said.Marker.Tips()
		}
	}
	return k
}

// leaderOf names the request that the members of a group belong to.
func leaderOf(g *merger) string { return fmt.Sprintf("%s#%d", g.Event.Repo, g.Event.Number) }

// announced is what was said of this merge on the pull request of a member; nil for nothing.
func (m *member) announced(g *merger) *model.Posted[model.MergeMarker] {
	for i := range m.State.Merges {
		if k := m.State.Merges[i].Marker; k.Leader == leaderOf(g) && k.Command == g.marker.Command {
			return &m.State.Merges[i]
		}
	}
	return nil
}

// announce says on the pull request of a member what is about to happen to it, so that its own history guard knows the tip
// and no turn begins there meanwhile; and how it ended.
func announce(ctx context.Context, g *merger, m *member, state model.MergeState, code model.MergeCode, text string) error {
	k := requestOf(g, m)
	k.Repo, k.Number, k.State, k.Reason, k.Detail, k.Leader, k.Members = m.is.Repo, m.is.Number, state, code, "", leaderOf(g), nil
	k.Tip, k.Tree, k.Landed, k.Strategy, k.BaseSHA = m.is.Tip, m.is.Tree, m.is.Landed, m.way.Strategy, m.is.BaseSHA
	k.Badge = m.badge
	one := &merger{Request: m.Request, heading: fmt.Sprintf("**Merged together with %s**", leaderOf(g)), marker: k}
	said := m.announced(g)
	if said != nil {
		one.comment = said.CommentID
	}
	r := requested(one)
	r.Token = memberToken(k)
	if err := r.Write(ctx, text); err != nil || said != nil {
		return err
	}
	return m.Read(ctx)
}

// memberToken names what is said on the pull request of a member.
func memberToken(m model.MergeMarker) string {
	return journal.Token("merge_member", m.Command, m.Repo, strconv.Itoa(m.Number))
}

// tellMember says on a pull request that landed with another one what happened there.
func tellMember(ctx context.Context, g *merger, m *member) error {
	listMembers(g)
	k := requestOf(g, m)
	k.Members = g.marker.Members
	k.Landed, k.Strategy, k.BaseSHA, k.Tip = m.is.Landed, m.way.Strategy, m.is.BaseSHA, m.is.Tip
	return announce(ctx, g, m, model.MergeDone, "", merge.DoneText(m.Snap.Pull, k, landingText(g, m)))
}
