package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/github/workflow"

	"github.com/urfave/cli/v2"

	"github.com/mergexo/mergexo/internal/credential"
	"github.com/mergexo/mergexo/internal/doctor"
	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/github"
	"github.com/mergexo/mergexo/internal/github/app"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/report"
)

func (p *program) doctorCommand() *cli.Command {
	return &cli.Command{
		Name: "doctor", Usage: "check your setup",
		Description: "Checks the settings and workflows of the checkout, or of the default branch if there is no checkout. With a token in\n" +
			"GITHUB_TOKEN or GH_TOKEN, it checks the repository on GitHub too. It changes nothing, says how to fix what is wrong,\n" +
			"and lists what it could not check.\n\n" +
			"Each line ends with the id of its rule. [doctor] ignore in the settings leaves rules out.\n\n" +
			"Exit code: 0 nothing that has to be fixed, 1 with --strict and warnings, 2 something will not work, 75 GitHub did not answer.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "json", Usage: "print one JSON object on standard output"},
			&cli.BoolFlag{Name: "strict", Usage: "exit 1 if something is worth a look"},
			&cli.StringFlag{Name: "checkout", Usage: "`DIR` in a clone of the repository; by default the current directory"},
		},
		Action: func(c *cli.Context) error {
			w, err := p.where()
			if err != nil {
				return err
			}
			s, err := p.scene(c.Context, w, c.String("checkout"))
			if err != nil {
				return err
			}
			defer s.close()
			facts, err := s.facts(c.Context)
			if err != nil {
				return err
			}
			return p.printFindings(c, s, facts)
		},
	}
}

// printFindings prints the findings and sets the exit code.
func (p *program) printFindings(c *cli.Context, s *scene, facts doctor.Facts) error {
	findings := doctor.Diagnose(facts)
	p.exit = doctor.Exit(facts, findings, c.Bool("strict"))
	if c.Bool("json") {
		return report.Object(p.Out, struct {
			Repository string           `json:"repository"`
			Files      string           `json:"files"`
			Exit       int              `json:"exit"`
			Findings   []doctor.Finding `json:"findings"`
		}{s.name, s.from(), p.exit, findings})
	}
	name := cmp.Or(s.name, "a repository without a name")
	if _, err := fmt.Fprintf(p.Out, "%s, with the files of %s\n\n", name, s.from()); err != nil {
		return err
	}
	return report.Findings(p.Out, doctor.Text(findings))
}

// scene is what doctor examines: a checkout, GitHub, or both.
type scene struct {
	place
	path   string // PATH
	git    string // version
	root   *os.Root
	name   string // owner/name; "" if unknown
	origin string
	gh     *github.Client // nil: no access
	hub    doctor.Hub
	given  bool // there is a token or an App
	token  string
	app    *app.Tokens // nil: there is no App
	signed bool        // there is a signing key
	// credential is what this process proves itself with.
	credential func(github.Options, model.Repo) (credential.Source, error)
	main       map[string][]model.RepositoryFile // files of the default branch, by directory
}

// from names where the files were read.
func (s *scene) from() string {
	if s.root != nil {
		return s.root.Name()
	}
	return s.hub.Facts.DefaultBranch + " on GitHub"
}

func (s *scene) close() {
	if s.root != nil {
		_ = s.root.Close() // nothing was written
	}
}

// scene locates the checkout and the repository's name.
func (p *program) scene(ctx context.Context, w place, dir string) (*scene, error) {
	s := &scene{place: w, name: w.repository, token: p.secrets.Token, signed: p.secrets.SigningKey != ""}
	s.credential = func(o github.Options, repo model.Repo) (credential.Source, error) {
		// What the App lacks is a finding, and no reason to stop.
		source, _, err := p.credential(o, repo, app.Optional(app.ToRead), report.NewConsole(p.Err, w.actions, random).Mask)
		return source, err
	}
	s.given = p.secrets.Token != "" || p.secrets.AppID != "" || p.secrets.AppKey != ""
	s.path, _ = p.lookup("PATH")
	top, err := s.find(ctx, dir)
	if err != nil {
		return nil, err
	}
	named, ok := git.Named(s.origin, w.server)
	switch {
	case s.name == "" && ok:
		s.name = named
	case s.name != "" && dir == "" && s.origin != "" && !strings.EqualFold(named, s.name):
		top = "" // the current directory belongs to another repository
	}
	if top == "" && s.name == "" {
		return nil, usagef("not in a git repository: run doctor in a checkout, or give --checkout DIR or GITHUB_REPOSITORY")
	}
	if top == "" && !s.given {
		return nil, usagef("found neither a checkout of %s nor a token for GitHub: give --checkout DIR, or %s", s.name, exportToken(w.server))
	}
	if top != "" {
		if s.root, err = os.OpenRoot(top); err != nil {
			return nil, usagef("open the checkout: %w", err)
		}
	}
	return s, nil
}

// find asks git about a directory. Without git, it looks for a directory with a .git in it.
func (s *scene) find(ctx context.Context, dir string) (top string, err error) {
	given := dir != ""
	if !given {
		dir = "."
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return "", usagef("--checkout: %s is not a directory", dir)
	}
	found, err := git.Look(ctx, dir, s.path)
	s.git, s.origin = found.Version, found.Origin
	switch {
	case err == nil:
		return found.Top, nil
	case errors.Is(err, git.ErrNoRepository) && given:
		return "", usagef("--checkout: %s is not in a git repository", dir)
	case errors.Is(err, git.ErrNoRepository):
		return "", nil
	case found.Version != "":
		return "", err
	}
	if _, err := os.Lstat(filepath.Join(dir, ".git")); err != nil {
		return "", nil
	}
	return filepath.Abs(dir)
}

// facts gathers the facts that doctor evaluates.
func (s *scene) facts(ctx context.Context) (doctor.Facts, error) {
	if err := s.ask(ctx); err != nil && s.root == nil {
		return doctor.Facts{}, err
	}
	f := doctor.Facts{Repository: s.name, Hub: s.hub, Git: s.git, InActions: s.actions, Signed: s.signed}
	var err error
	if f.Settings, err = s.settings(ctx); err != nil {
		return f, err
	}
	f.Hub.Labels = s.labels(ctx, f.Settings)
	if f.Workflows, err = s.workflows(ctx); err != nil {
		return f, err
	}
	if slices.ContainsFunc(f.Workflows, func(w workflow.File) bool { return strings.Contains(w.Text, workflow.UsesSetup) }) {
		f.Setup, _, err = s.read(ctx, workflow.SetupPath)
	}
	if err != nil || s.gh == nil {
		return f, err
	}
	f.Hub.Versions = s.versions(ctx, f.Workflows)
	f.Hub.Secrets, f.Hub.Variables = names(s.gh.Setup.Secrets(ctx, s.repo())), names(s.gh.Setup.Variables(ctx, s.repo()))
	f.Hub.Users = map[string]doctor.Label{}
	for _, p := range f.Settings.People {
		f.Hub.Users[p.Login] = label(s.gh.Setup.HasUser(ctx, p.Login))
	}
	return f, nil
}

// versions asks whether the versions of MergeXO exist that workflows name.
func (s *scene) versions(ctx context.Context, files []workflow.File) map[string]doctor.Label {
	found := map[string]doctor.Label{}
	for _, name := range doctor.Versions(files) {
		action, ref, _ := strings.Cut(name, "@")
		if repo, err := model.ParseRepo(action); err == nil {
			found[name] = label(s.gh.Setup.HasRef(ctx, repo, ref))
		}
	}
	return found
}

// label is what is known of something that exists or not.
func label(there bool, err error) doctor.Label { return doctor.Label{There: there, Why: unseen(err)} }

// names lists the names of secrets, or of variables.
func names[V any](all map[string]V, err error) doctor.Names {
	return doctor.Names{All: slices.Collect(maps.Keys(all)), Why: unseen(err)}
}

// unseen says in a few words why something could not be read; "": it was.
func unseen(err error) string {
	switch kind := github.KindOf(err); {
	case err == nil:
		return ""
	case kind == github.Forbidden || kind == github.NotFound: // GitHub hides from some what it refuses to others
		return "GitHub does not show it to this token"
	}
	return err.Error()
}

// labels asks for each label that the settings name.
func (s *scene) labels(ctx context.Context, settings doctor.Settings) map[string]doctor.Label {
	found := map[string]doctor.Label{}
	for _, name := range append(slices.Clone(settings.Labels), settings.External) {
		if name != "" && s.gh != nil {
			there, why := s.gh.Repositories.HasLabel(ctx, s.repo(), name)
			found[name] = doctor.Label{There: there, Why: why}
		}
	}
	return found
}

// ask reads what GitHub knows. Its error is also in s.hub: it ends doctor only if there is nothing else to check.
func (s *scene) ask(ctx context.Context) error {
	switch {
	case !s.given && !s.actions:
		s.hub.Fix = exportToken(s.server)
		return nil
	case !s.given:
		return nil
	case s.name == "":
		s.hub = doctor.Hub{State: doctor.HubNoName, Why: "its remote origin is not at " + s.server}
		return nil
	}
	repo, err := model.ParseRepo(s.name)
	if err == nil {
		err = s.connect(ctx, repo)
	}
	if err == nil {
		s.hub.Facts, err = s.gh.Repositories.Facts(ctx, repo)
	}
	if err == nil {
		s.hub.State = doctor.HubRead
		s.hub.Branches = doctor.WorkBranches(func(branch string) model.BranchDemands { return s.gh.Repositories.NewBranchDemands(ctx, repo, branch) })
		f := &s.hub.Facts
		f.PushKnown = f.PushKnown && (f.ScopesKnown || s.app == nil && github.HasPerson(s.token)) // only personal tokens have scopes
		return nil
	}
	s.gh = nil
	s.hub.Why, s.hub.Fix = err.Error(), "check GITHUB_REPOSITORY, and that the token may see the repository"
	var failed *github.Error
	if errors.As(err, &failed) && failed.Fix != "" {
		s.hub.Fix = failed.Fix
	}
	s.hub.State = map[github.Kind]doctor.HubState{
		github.Unauthorized: doctor.HubRefused, github.RateLimited: doctor.HubUnreachable, github.Unavailable: doctor.HubUnreachable,
	}[github.KindOf(err)]
	if s.hub.State == "" {
		s.hub.State = doctor.HubHidden
	}
	return byGitHub(fmt.Errorf("%w; %s", err, s.hub.Fix))
}

// connect makes the client, and asks what an App may.
func (s *scene) connect(ctx context.Context, repo model.Repo) error {
	options := github.Options{APIURL: s.api, GraphQLURL: s.graphql, UserAgent: "mergexo/" + version, Transport: transport()}
	source, err := s.credential(options, repo)
	if err != nil {
		return err
	}
	options.Credential, s.hub.Token = source, github.TokenKind(s.token)
	if s.app, _ = source.(*app.Tokens); s.app != nil {
		s.hub.Token = "App's token"
		installed, err := s.app.Installation(ctx)
		if err != nil {
			return err
		}
		s.hub.App = &doctor.App{Slug: installed.App, Account: installed.Account, URL: installed.URL, Suspended: !installed.Suspended.IsZero()}
		for _, n := range app.Lacking(app.ToWrite, installed) {
			s.hub.App.Lacks = append(s.hub.App.Lacks, doctor.Lack{Permission: n.Permission + ": " + n.Access, Follows: n.Without, Required: n.Required})
		}
	}
	s.gh, err = github.New(options)
	return err
}
