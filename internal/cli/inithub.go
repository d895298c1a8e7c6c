package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/github/workflow"

	"github.com/mergexo/mergexo/internal/agent"
	"github.com/mergexo/mergexo/internal/config"
	"github.com/mergexo/mergexo/internal/doctor"
	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/github"
	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
)

// signingSecret is the secret with the key that signs markers.
const signingSecret = "MERGEXO_SIGNING_KEY"

// hubSetup is the part of init that needs GitHub. Each step looks first, so that nothing is made twice.
type hubSetup struct {
	setup
	gh      *github.Client
	server  string
	repo    model.Repo
	facts   model.RepositoryFacts
	options github.Options
	choice  doctor.Choice
	left    *left
	secrets map[string]bool // nil: not known
	unseen  error           // why
}

// hub finds the repository on GitHub before anything is written.
func (s setup) hub(ctx context.Context) (*hubSetup, error) {
	w, err := s.program.where()
	if err != nil {
		return nil, err
	}
	name := w.repository
	if name == "" {
		var ok bool
		if name, ok = git.Named(s.place.Origin, w.server); !ok {
			return nil, usagef("the remote origin is not a repository at %s: set it with git remote add origin, or give GITHUB_REPOSITORY", w.server)
		}
	}
	repo, err := model.ParseRepo(name)
	if err != nil {
		return nil, usageError{err}
	}
	options := github.Options{APIURL: w.api, GraphQLURL: w.graphql, UserAgent: "mergexo/" + version, Transport: transport(), Clock: s.Clock}
	if s.program.secrets.Token == "" {
		return nil, usagef("no token: run %s", exportToken(w.server))
	}
	if options.Credential, err = github.Given(s.program.secrets.Token); err != nil {
		return nil, usageError{err}
	}
	h := &hubSetup{setup: s, server: w.server, repo: repo, options: options}
	if h.gh, err = github.New(options); err != nil {
		return nil, usageError{err}
	}
	if h.facts, err = h.gh.Repositories.Facts(ctx, repo); err != nil {
		return nil, unreachable(err)
	}
	if h.facts.Archived {
		return nil, usagef("%s is archived: unarchive it first", repo)
	}
	if h.facts.Parent != "" {
		fmt.Fprintf(s.Err, "%s is a fork of %s, and is what this sets up. For the other one, run GITHUB_REPOSITORY=%[2]s mergexo init --github\n", repo, oneLine(h.facts.Parent))
	}
	return h, nil
}

// unreachable is byGitHub for init: what may pass is tried again later.
func unreachable(err error) error {
	if mayPass(err) {
		err = fmt.Errorf("%w; run mergexo init --github again, it continues from here", err)
	}
	return byGitHub(err)
}

// byGitHub is an error of GitHub's with its exit code.
func byGitHub(err error) error {
	if mayPass(err) {
		return retryError{err}
	}
	return usageError{err}
}

// mayPass says that GitHub did not do something now and may later.
func mayPass(err error) bool {
	return slices.Contains([]github.Kind{github.Unavailable, github.RateLimited, github.Unclear}, github.KindOf(err))
}

// retryError is a failure that may pass: exit code 75.
type retryError struct{ error }

func (e retryError) Unwrap() error { return e.error }

// setUp does what can be done on GitHub, and adds the rest to what is left.
func (h *hubSetup) setUp(ctx context.Context, c doctor.Choice, l *left) error {
	h.choice, h.left = c, l
	for _, step := range []func(context.Context) error{h.labels, h.pullRequests, h.keys, h.makeApp, h.strategy, h.minutes, h.files} {
		if err := step(ctx); err != nil {
			return unreachable(err)
		}
	}
	return nil
}

// refusals are the kinds of errors that trying again does not help.
var refusals = []github.Kind{github.Forbidden, github.NotFound, github.Invalid}

// may sorts out the errors of a write: what the token may not do is left to do, everything else ends init.
func (h *hubSetup) may(err error, what string, commands ...string) error {
	var refused *github.Error
	if !errors.As(err, &refused) || !slices.Contains(refusals, refused.Kind) {
		return err
	}
	h.left.add(fmt.Sprintf("%s. GitHub refused this token: %s", what, oneLine(refused.Message)), commands...)
	return nil
}

func (h *hubSetup) say(format string, args ...any) error {
	_, err := fmt.Fprintf(h.Out, format+"\n", args...)
	return err
}

// gh is a command line of GitHub's own program, for this repository.
func (h *hubSetup) ghLine(words ...string) string {
	for i := range words {
		words[i] = markdown.Quoted(words[i])
	}
	return "gh " + strings.Join(words, " ") + " --repo " + markdown.Quoted(ghRepo(h.server, h.repo.String()))
}

// wantedLabel is a label that the settings name.
type wantedLabel struct{ name, color, about string }

// wanted are the labels of the settings as they are in the checkout.
func (h *hubSetup) wanted() (config.Settings, []wantedLabel) {
	file := workflow.File{Path: doctor.SettingsPath}
	readLocal(h.root, &file)
	s, err := config.Parse(file.Text, file.Path)
	if err != nil {
		s, _ = config.Parse(h.choice.Settings(), file.Path) // doctor tells what is wrong with the file
	}
	all := []wantedLabel{
		{s.Labels.SmallJob, "0e8a16", "MergeXO does what the issue says"}, {s.Labels.Bugfix, "d73a4a", "MergeXO fixes the bug"},
		{s.Labels.Design, "5319e7", "MergeXO writes a design document"},
		{s.Labels.Roadmap, "0969da", "MergeXO writes a plan of many issues"}, {s.Labels.Ignore, "cfd3d7", "MergeXO leaves it alone"},
	}
	if s.Review.Auto == config.AutoLabel {
		all = append(all, wantedLabel{s.Review.Label, "bfd4f2", "MergeXO reviews it"})
	}
	if s.Merge.Auto == config.AutoLabel {
		all = append(all, wantedLabel{s.Merge.AutoLabel, "1d76db", "MergeXO merges it"})
	}
	if s.External.Enabled {
		all = append(all, wantedLabel{s.External.Label, "fbca04", "MergeXO handles this pull request from a fork"})
	}
	return s, all
}

func (h *hubSetup) labels(ctx context.Context) error {
	s, all := h.wanted()
	h.left.label = s.Labels.SmallJob
	var refused []wantedLabel
	var why error
	for _, l := range all {
		if there, unseen := h.gh.Repositories.HasLabel(ctx, h.repo, l.name); there || unseen != "" && len(refused) > 0 {
			continue
		}
		err := h.gh.Setup.CreateLabel(ctx, h.repo, l.name, l.color, l.about)
		switch {
		case err == nil:
			err = h.say("created the label %s", oneLine(l.name))
		case slices.Contains(refusals, github.KindOf(err)):
			refused, why, err = append(refused, l), err, nil
		}
		if err != nil {
			return err
		}
	}
	if refused == nil {
		return nil
	}
	var commands []string
	for _, l := range refused {
		commands = append(commands, h.ghLine("label", "create", l.name, "--color", l.color, "--description", l.about))
	}
	return h.may(why, "Create the labels", commands...)
}

// pullRequests lets workflows open pull requests, which an App may anyway.
func (h *hubSetup) pullRequests(ctx context.Context) error {
	if h.choice.App || h.facts.Actions.Known && h.facts.Actions.PullRequests {
		return nil
	}
	host := ""
	if name := ghRepo(h.server, ""); name != "" {
		host = " --hostname " + strings.TrimSuffix(name, "/")
	}
	err := h.gh.Setup.AllowPullRequests(ctx, h.repo)
	if err == nil {
		return h.say("workflows of %s may open pull requests now", h.repo)
	}
	if refused := (*github.Error)(nil); errors.As(err, &refused) && refused.Status == http.StatusConflict && h.facts.Organization {
		h.left.add(fmt.Sprintf("Have an owner of %s allow that workflows open pull requests, at %s/organizations/%[1]s/settings/actions; or use a GitHub App:", h.repo.Owner, h.server), "mergexo init --github --app")
		return nil
	}
	return h.may(err, "Let workflows open pull requests",
		"gh api"+host+" -X PUT repos/"+h.repo.String()+"/actions/permissions/workflow -F can_approve_pull_request_reviews=true")
}

// keys makes the signing key, and looks for the agent's.
func (h *hubSetup) keys(ctx context.Context) error {
	secrets, err := h.gh.Setup.Secrets(ctx, h.repo)
	signing := "openssl rand -hex 32 | " + h.ghLine("secret", "set", signingSecret)
	store := "Store a random signing key, so that no other workflow can write as MergeXO"
	if err != nil {
		store += ", unless gh secret list shows " + signingSecret
	}
	h.secrets, h.unseen = secrets, err
	_, _, keys := agent.SetUp(h.choice.Adapter)
	if err == nil && !secrets[signingSecret] {
		if err = h.gh.Setup.SetSecret(ctx, h.repo, signingSecret, random()+random()); err == nil {
			err = h.say("created the secret %s, a random key that is stored nowhere else", signingSecret)
		}
	}
	if err != nil {
		if err = h.may(err, store, signing); err != nil {
			return err
		}
	}
	there := workflow.File{Path: doctor.WorkflowPath}
	readLocal(h.root, &there)
	if h.choice.Key != "" && !slices.ContainsFunc(keys, func(k string) bool { return secrets[k] && strings.Contains(there.Text, "secrets."+k+" ") }) {
		h.left.add(fmt.Sprintf("Store the key of %s as the secret %s; gh asks for it:", h.choice.Adapter, h.choice.Key), h.ghLine("secret", "set", h.choice.Key))
	}
	return nil
}

// strategy tells whether the branch accepts what the settings of the checkout have land, which nobody knows without its rules.
func (h *hubSetup) strategy(context.Context) error {
	s, _ := h.wanted()
	branch := oneLine(h.facts.DefaultBranch)
	if why, fix := doctor.Refused(s.Merge.Strategy, h.facts, h.choice.App); why != "" {
		h.left.add(fmt.Sprintf("Make merging possible: %s. In %s, [merge] strategy is %q: %s", oneLine(why), doctor.SettingsPath, s.Merge.Strategy, fix))
	} else if !h.facts.Demands.Known {
		h.left.add(fmt.Sprintf("Check that %s accepts [merge] strategy %q. Some of its rules were not read: %s", branch, s.Merge.Strategy, oneLine(h.facts.Demands.Why)))
	}
	return nil
}

// minutes tells what the sweep costs, except on a server of one's own. A job that finds nothing takes seconds, and GitHub bills it as a
// minute: https://docs.github.com/billing/concepts/product-billing/github-actions
func (h *hubSetup) minutes(context.Context) error {
	if h.choice.Server {
		return nil
	}
	n, costs := h.choice.Sweeps(), "GitHub bills no minutes for it, because "+h.repo.String()+" is public"
	if h.facts.Private {
		costs = fmt.Sprintf("GitHub bills about %d minutes a month for it, because %s is private", 30*n, h.repo)
	}
	return h.say("the sweep runs every %s; %s", map[int]string{24: "hour", 4: "six hours"}[n], costs)
}

// files compares the files with those on the default branch.
func (h *hubSetup) files(ctx context.Context) error {
	for _, name := range []string{doctor.SettingsPath, doctor.WorkflowPath, workflow.SetupPath} {
		here := workflow.File{Path: name}
		readLocal(h.root, &here)
		there, found, err := h.gh.Repositories.File(ctx, h.repo, "", name)
		if err != nil {
			return err
		}
		if !found || there.Text != here.Text || len(h.edited) > 0 {
			h.commitAll()
			return nil
		}
	}
	return nil
}

// restrictive are the rules of a branch by which a push of the files may be refused.
var restrictive = []model.DemandKind{model.DemandPull, model.DemandChecks, model.DemandPushers, model.DemandLocked, model.DemandQueue}

// commitAll tells how the files get to the default branch: by a pull request where its rules ask for one, or are not known.
func (h *hubSetup) commitAll() {
	branch, d := oneLine(h.facts.DefaultBranch), h.facts.Demands
	at := slices.IndexFunc(d.List, func(one model.Demand) bool { return slices.Contains(restrictive, one.Kind) })
	switch open := h.ghLine("pr", "create", "--fill", "--base", branch); {
	case at >= 0:
		h.left.add(fmt.Sprintf("Bring the files to the branch %s with a pull request, because it is protected (%s):", branch, oneLine(d.List[at].Source)), h.commit(open)...)
	case !d.Known:
		h.left.add(fmt.Sprintf("Bring the files to the branch %s with a pull request, because some of its rules were not read:", branch), h.commit(open)...)
	default:
		h.left.add(fmt.Sprintf("Commit the files to the branch %s and push:", branch), h.commit("")...)
	}
}
