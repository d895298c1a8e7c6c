package landing

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/mergexo/mergexo/internal/config"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/git/transport"
	"github.com/mergexo/mergexo/internal/github"
	"github.com/mergexo/mergexo/internal/lineage"
	"github.com/mergexo/mergexo/internal/merge"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/train"
)

// look reads the record of the train, and what GitHub shows of it: three calls, where nobody has asked for anything.
func (l *line) look(ctx context.Context) error {
	err := find(ctx, l)
	if err != nil {
		return err
	}
	l.view, err = l.home.GitHub.Threads.Train(ctx, github.TrainQuery{Repo: l.Repo, Base: l.Base, Branches: train.Root + l.Base + "/", Manifest: l.at})
	if err != nil {
		return err
	}
	if err := l.configure(ctx); err != nil {
		return err
	}
	alone := !l.All && l.Of != nil // only a run that knows all requests can make the record again
	var asked []train.Request
	if l.manifest, err = l.recorded(); err == nil || !alone {
		if asked, err = l.requests(ctx); err != nil {
			return err
		}
		l.manifest, err = l.recorded() // the requests may have told how the repository was called, or of a newer record
	}
	if was := l.at; errors.Is(err, errSetBack) {
		if err := find(ctx, l); err != nil {
			return err
		}
		if l.at != was { // another run has written it since
			return l.look(ctx)
		}
	}
	if err != nil {
		l.home.Log.Error("train_record_lost", "base", l.Base, "ref", transport.TrainRef(l.Base), "error", err)
		if alone {
			return thread.End(model.ResultRetry, "the record of the merge train of %s is damaged (%v); the next sweep makes it again from the requests", l.Base, err)
		}
		l.count = max(l.count, l.Seen)
		l.manifest = train.Rebuild(l.Base, asked, l.next()).Lose(lost(l), strings.TrimPrefix(err.Error(), "the train's manifest: "))
	}
	if l.stored, err = l.manifest.Encode(); err != nil {
		return err
	}
	l.facts = train.Facts{Base: l.view.BaseSHA, Gone: l.view.BaseSHA == "", Asked: asked, Branches: l.branches()}
	if l.facts.Requests, err = l.standings(ctx); err != nil {
		return err
	}
	if l.facts.Reached, err = l.reached(ctx); err != nil {
		return err
	}
	if err := l.checks(ctx); err != nil {
		return err
	}
	l.facts.Trouble = trouble(l)
	return nil
}

// find looks for the record of the train, which is a ref.
func find(ctx context.Context, l *line) error {
	ref := transport.TrainRef(l.Base)
	refs, err := l.home.GitHub.Refs.List(ctx, l.Repo, ref)
	if err != nil {
		return err
	}
	l.at = ""
	for _, r := range refs {
		if r.Name == ref {
			l.at = r.SHA
		}
	}
	if l.at == "" && l.Perhaps {
		return thread.End(model.ResultNothing, "branch %s has no merge train", l.Base)
	}
	return nil
}

// configure takes over the settings of the base branch, or those of the default branch to end what was asked for a base that is gone.
func (l *line) configure(ctx context.Context) (err error) {
	l.settings = config.Defaults()
	text, source, found := string(l.view.Settings), l.Base, l.view.SettingsFound
	if l.view.BaseSHA == "" && l.at != "" {
		var file model.RepositoryFile
		if file, found, err = l.home.GitHub.Repositories.File(ctx, l.Repo, "", thread.SettingsPath); err != nil {
			return err
		}
		text, source = file.Text, "the default branch"
	}
	l.found = found || l.view.BaseSHA == ""
	if found {
		if l.settings, err = config.ParseWithoutAgent(text, source+":"+thread.SettingsPath); err != nil {
			return err
		}
	}
	m := l.settings.Merge
	l.limits = train.Defaults()
	l.limits.Batch, l.limits.Speculate, l.limits.Retries, l.limits.Timeout, l.limits.Attempts = m.Batch, m.Speculate, m.CIRetries, m.CITimeout, m.Attempts
	l.home.Settings = l.settings
	l.home.Snap.Viewer = l.view.Viewer
	return nil
}

// next is a number that no car has whose branch there is.
func (l *line) next() int {
	next := 1
	for n := range l.branches() {
		next = max(next, n+1)
	}
	return next
}

// branches are the tips of the train branches by the numbers of their cars; nil where not all were read.
func (l *line) branches() map[int]string {
	if l.view.Cut {
		l.home.Log.Warn("train_branches_unknown", "base", l.Base, "read", len(l.view.Branches))
		return nil
	}
	out := map[int]string{}
	for _, b := range l.view.Branches {
		if n := carOf(l, b); n > 0 {
			out[n] = b.SHA
		}
	}
	return out
}

// mostNumber is more cars than any train has had. A branch with a greater number is somebody else's.
const mostNumber = 1_000_000_000

// carOf is the number of the car that a branch is named after; 0: of none, so that somebody else has made it.
func carOf(l *line, b model.TrainBranch) int {
	name := strings.TrimPrefix(b.Name, train.Root+l.Base+"/")
	n, err := strconv.Atoi(name)
	if err != nil || strconv.Itoa(n) != name || n > mostNumber {
		return 0
	}
	return max(n, 0)
}

// trouble says why no car can be tested; "": nothing is known of any reason.
func trouble(l *line) string {
	switch {
	case testedHere(l):
		return ""
	case l.view.Viewer.Login == thread.ActionsBot:
		return "pushes with the workflow's own token start no CI, so nothing would test the train: give MergeXO the token of a GitHub App"
	case l.view.ChecksHidden:
		return "MergeXO's token cannot read the checks: give it checks: read and statuses: read"
	case len(l.required()) == 0 && l.manifest.Rules != nil && len(l.manifest.Demanded()) == 0:
		return "no check is required, so nothing says that a commit was tested: name the checks in [merge] required_checks, or in the rules of the branch"
	}
	return ""
}

// testedHere says that all that is required of a car are the tests of the settings, which a run does itself.
func testedHere(l *line) bool {
	required := l.required()
	return l.manifest.Rules != nil && len(l.manifest.Demanded()) == 0 && len(required) == 1 && required[0] == ownEntry(l)
}

// standings look at the pull requests that matter now: those aboard, those that may board next, and what they depend on.
func (l *line) standings(ctx context.Context) (map[int]train.Standing, error) {
	wanted := l.manifest.Wanted()
	numbers := slices.Concat(wanted.Requests[:min(len(wanted.Requests), l.manifest.Near(l.limits))], l.Asked, wanted.Needs)
	for _, r := range l.facts.Asked {
		numbers = append(numbers, r.Needs...)
	}
	slices.Sort(numbers)
	numbers = slices.Compact(numbers)
	out := map[int]train.Standing{}
	if len(numbers) == 0 {
		return out, nil
	}
	now, err := l.home.GitHub.Pulls.AllNow(ctx, l.Repo, numbers)
	if err != nil {
		return nil, err
	}
	for _, n := range numbers {
		if p, there := now[n]; there {
			out[n] = l.standing(n, p)
		} else {
			out[n] = train.Standing{State: model.PullClosed} // GitHub knows of none
		}
	}
	return out, nil
}

// standing is how a pull request stands, as far as this run knows.
func (l *line) standing(number int, p model.PullNow) train.Standing {
	s := train.Standing{State: p.State, Head: p.HeadSHA, SHA: p.MergeCommit, Off: p.BaseRef != l.Base}
	s.Waits = merge.Held(model.Pull{Title: p.Title, Draft: p.Draft, Labels: p.Labels}, policyOf(l.settings))
	a, known := l.opened[number]
	if !known {
		return s
	}
	at := slices.IndexFunc(l.manifest.Queue, func(r train.Request) bool { return r.Number == number })
	switch {
	case a == nil && at >= 0:
		s.Ended = l.manifest.Queue[at].Token
	case a != nil && a.g.marker.Reason == model.CodeCancelled:
		s.Cancelled = a.g.marker.By // who has taken it back
	case a != nil:
		s.Held = a.held()
		if at >= 0 && l.manifest.Queue[at].Token != a.g.marker.Command { // another one has taken its place
			s.Ended = l.manifest.Queue[at].Token
		}
	}
	return s
}

// reached says which landings the base has, where it went on since.
func (l *line) reached(ctx context.Context) (map[string]bool, error) {
	out := map[string]bool{}
	for _, tip := range l.manifest.Wanted().Ancestors {
		if l.view.BaseSHA == "" || l.view.BaseSHA == tip || l.view.BaseSHA == l.manifest.SHA {
			continue
		}
		relation, err := l.home.Relation(ctx, tip, l.view.BaseSHA)
		if err != nil {
			return nil, err
		}
		out[tip] = lineage.Decide(relation) == lineage.Pass
	}
	return out, nil
}

// checks are how the required checks of the cars stand. The rules of the base are read again before anything that they decide.
func (l *line) checks(ctx context.Context) error {
	l.facts.Checks = map[string]train.Checks{}
	unread := l.manifest.Rules == nil || len(l.required())+len(l.manifest.Demanded()) == 0 // somebody may have named a check since
	if unread && len(l.manifest.Queue)+len(l.facts.Asked) > 0 {
		if err := l.readRules(ctx); err != nil {
			return err
		}
	}
	l.facts.Needed = merge.CarRequired(l.required(), l.manifest.Demanded(), nil)
	for _, b := range l.view.Branches {
		c := l.checksOf(b)
		waits := slices.ContainsFunc(l.manifest.Cars, func(car train.Car) bool { return car.Tip == b.SHA && car.Overdue() })
		if (c.State != model.CheckPending || waits) && !l.ruled {
			if err := l.readRules(ctx); err != nil {
				return err
			}
			c = l.checksOf(b)
		}
		l.facts.Checks[b.SHA] = c
	}
	return nil
}

// ownCheck is the name of the check by which the tests of the settings report on a car.
const ownCheck = "mergexo/tests"

// required are the checks that the settings demand of a car.
func (l *line) required() []string {
	list := l.settings.Merge.RequiredChecks
	if l.settings.Merge.Verify == config.VerifyBoth && !l.settings.Merge.Tests.None {
		list = append(slices.Clone(list), ownEntry(l))
	}
	return list
}

// ownEntry demands ownCheck as the settings would: everybody who may push can set a status of that name, so that only that of our App
// counts. A person's account has no App.
func ownEntry(l *line) string {
	if by := l.view.Viewer; by.Bot {
		return ownCheck + "@" + strings.TrimSuffix(by.Login, "[bot]")
	}
	return ownCheck
}

func (l *line) checksOf(b model.TrainBranch) train.Checks {
	state, failed, open, begun := merge.CarChecks(l.required(), l.manifest.Demanded(), b.Checks)
	if b.More && state == model.CheckPassed { // a newer one may be among those that were not read
		state = model.CheckPending
	}
	c := train.Checks{State: state, Open: open, Begun: seconds(begun), Required: merge.CarRequired(l.required(), l.manifest.Demanded(), b.Checks)}
	for _, f := range failed {
		c.Failed = append(c.Failed, train.Check{Name: f.Name, URL: f.URL, ID: f.RunID, Run: f.Node, At: seconds(f.At)})
	}
	return c
}

// readRules reads the checks that the rules of the base demand of a commit.
func (l *line) readRules(ctx context.Context) error {
	demands, err := l.home.GitHub.Repositories.PushDemands(ctx, l.Repo, l.Base, github.Pusher{Login: l.view.Viewer.Login})
	if err != nil {
		return err
	}
	var names []string
	for _, d := range demands {
		if d.Kind == model.DemandChecks {
			names = append(names, d.Names...)
		}
	}
	slices.Sort(names)
	l.demands = demands
	l.manifest.Rules, l.ruled = &train.Rules{Checks: slices.Compact(names)}, true
	return nil
}
