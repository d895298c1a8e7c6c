package cli

import (
	"bytes"
	"context"
	"crypto/sha1" //nolint:gosec // git's name for a file, no secret
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mergexo/mergexo/internal/github/workflow"

	"github.com/mergexo/mergexo/internal/agent"
	"github.com/mergexo/mergexo/internal/config"
	"github.com/mergexo/mergexo/internal/doctor"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/github"
	"github.com/mergexo/mergexo/internal/merge"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/turn"
)

const workflowDir = ".github/workflows"

// repo is the repository's name as GitHub reports it.
func (s *scene) repo() model.Repo { return s.hub.Facts.Repo }

// settings reads the settings file and interprets it as a run would.
func (s *scene) settings(ctx context.Context) (doctor.Settings, error) {
	file, found, err := s.read(ctx, thread.SettingsPath)
	out := doctor.Settings{File: file, Found: found}
	if err != nil || !found || file.Bad != "" {
		return out, err
	}
	out.Main = s.onMain(ctx, file)
	parsed, err := config.Parse(file.Text, file.Path)
	if err != nil {
		out.Problems = strings.Split(err.Error(), "\n")
		return out, nil
	}
	if err := agent.CheckPass(parsed.Agent.Adapter, parsed.Agent.PassEnv); err != nil {
		out.Problems = []string{file.Path + ": agent." + err.Error()}
		return out, nil
	}
	a := parsed.Agent
	if a.None() {
		a.Adapter = ""
	} else {
		out.AdapterBad = unfit(a)
	}
	out.Adapter, out.BuiltIn = a.Adapter, agent.BuiltIn(a.Adapter)
	out.Model = modelOf(a.Adapter)
	if r := parsed.Reviewer(); !parsed.Agent.None() && !r.None() {
		if out.ReviewerBad = unfit(r); r.Adapter != a.Adapter {
			out.Reviewer, out.ReviewerModel = r.Adapter, modelOf(r.Adapter)
		}
	}
	out.Labels = startingLabels(parsed)
	out.PassEnv, out.RunTime, out.CI = a.PassEnv, a.RunTimeout, parsed.Feedback.CI
	out.Isolation, out.User, out.Bots = a.Isolation, a.User, parsed.Repo.Bots
	if !a.Network.Open() {
		out.Network = a.Network.String()
	}
	if out.Strategies = strategies(parsed.Merge); !parsed.Merge.Tests.None {
		out.TestTime, out.TestsInCheckout = parsed.Merge.TestTimeout, parsed.Merge.InCheckout()
	}
	out.Train = parsed.Merge.Verify == config.VerifyCI || parsed.Merge.Verify == config.VerifyBoth
	out.TrainByRules, out.RequiredChecks = parsed.Merge.Verify == "", parsed.Merge.RequiredChecks
	if parsed.External.Enabled {
		out.External = parsed.External.Label
	}
	out.Programs, out.Tested, out.Ignore = s.programs(ctx, parsed), s.tested(parsed), parsed.Doctor.Ignore
	for key, logins := range map[string][]string{"repo.operators": parsed.Repo.Operators, "repo.allowed_users": parsed.Repo.AllowedUsers} {
		for _, login := range logins {
			out.People = append(out.People, doctor.Person{Key: key, Login: login})
		}
	}
	if file := parsed.Repo.CodingGuidelines; file != config.Defaults().Repo.CodingGuidelines { // the default is optional
		if _, found, err := s.read(ctx, path.Clean(file)); err == nil && !found {
			out.Guidelines = file
		}
	}
	return out, nil
}

// unfit says why there can be no agent with such settings; "" if there can.
func unfit(a config.Agent) string {
	err := agent.CheckPass(a.Adapter, a.PassEnv)
	if err == nil {
		_, err = agent.New(agent.Options{Adapter: a.Adapter, Command: a.Command, Model: a.Model, ExtraArgs: a.ExtraArgs, User: a.User})
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

// modelOf is what an adapter needs to reach its model; nil: it knows of none.
func modelOf(adapter string) *doctor.Model {
	program, install, keys := agent.SetUp(adapter)
	if program == "" {
		return nil
	}
	return &doctor.Model{Program: program, Install: install, Keys: keys}
}

// startingLabels are the labels by which people start something.
func startingLabels(s config.Settings) (labels []string) {
	if !s.Agent.None() {
		labels = []string{s.Labels.SmallJob, s.Labels.Bugfix, s.Labels.Design, s.Labels.Roadmap}
	}
	if s.Review.Auto == config.AutoLabel && !s.Reviewer().None() {
		labels = append(labels, s.Review.Label)
	}
	if s.Merge.Auto == config.AutoLabel {
		labels = append(labels, s.Merge.AutoLabel)
	}
	return labels
}

func strategies(m config.Merge) []doctor.Strategy {
	out := []doctor.Strategy{{Place: "merge.strategy", Name: m.Strategy}}
	for _, r := range m.Rules {
		if r.Enabled {
			out = append(out, doctor.Strategy{Place: fmt.Sprintf("the merge.rule for %q", r.Branch), Name: r.Strategy})
		}
	}
	return out
}

// programs looks up all programs that the settings name.
func (s *scene) programs(ctx context.Context, c config.Settings) []doctor.Program {
	var out []doctor.Program
	add := func(key string, argv []string) {
		for _, name := range programsOf(argv) {
			out = append(out, doctor.Program{Key: key, Name: name, State: s.program(ctx, name)})
		}
	}
	if reviewer := c.Reviewer(); c.Agent.Adapter == "command" {
		add("agent.command", c.Agent.Command)
	} else if reviewer.Adapter == "command" && len(c.Review.Command) == 0 {
		add("agent.command", reviewer.Command)
	}
	add("review.command", c.Review.Command)
	add("repo.required_tests", c.Repo.RequiredTests)
	for _, t := range c.Tests {
		add("tests.run", []string{"sh", "-c", t.Run})
	}
	add("merge.setup", c.Merge.Setup.Argv)
	add("merge.tests", c.Merge.Tests.Argv)
	if c.External.Enabled {
		add("external.evaluate", c.External.Evaluate)
		add("external.fix", c.External.Fix)
	}
	return out
}

// programsOf are the programs of a command: its first word, and what a script given to a shell calls by a plain name. A script may
// bring programs with it once it has changed its environment.
func programsOf(argv []string) []string {
	if len(argv) == 0 {
		return nil
	}
	names := argv[:1:1]
	if len(argv) < 3 || argv[1] != "-c" && argv[1] != "-ec" || !slices.Contains([]string{"sh", "bash"}, path.Base(argv[0])) {
		return names
	}
	for _, command := range shellEnds.Split(argv[2], -1) {
		words := strings.Fields(command)
		for len(words) > 0 && assignment.MatchString(words[0]) {
			words = words[1:]
		}
		switch {
		case len(words) == 0 || !programName.MatchString(words[0]):
		case slices.Contains(movers, words[0]):
			return names
		case slices.Contains(turn.Builtins, words[0]):
		case !slices.Contains(names, words[0]):
			names = append(names, words[0])
		}
	}
	return names
}

var (
	shellEnds   = regexp.MustCompile(`&&|\|\||[;|\n]`)
	assignment  = regexp.MustCompile(`^[A-Za-z_]\w*=`)
	programName = regexp.MustCompile(`^[\w.+/-]+$`)
	movers      = strings.Fields(". source cd pushd alias")
)

// tested is what tests a merge or an agent's work; "": nothing that is named or found.
func (s *scene) tested(c config.Settings) string {
	switch {
	case c.Merge.Tests.None:
		return "none, by merge.tests"
	case len(c.Repo.RequiredTests) > 0 || len(c.Merge.Tests.Argv) > 0:
		return strings.Join(append(c.Repo.RequiredTests, c.Merge.Tests.Argv...), " ")
	case len(c.Tests) > 0:
		return "[[tests]]"
	case s.root == nil: // too many questions
		return "not looked for"
	}
	argv, _, _ := merge.DetectTests(rootFiles(s.root))
	return strings.Join(argv, " ")
}

// program looks up a program as the agent would: a path starts at the repository's root, a name is searched in PATH.
func (s *scene) program(ctx context.Context, name string) doctor.ProgramState {
	switch {
	case filepath.IsAbs(name) && !s.actions:
		return doctor.ProgramElsewhere
	case filepath.IsAbs(name):
		return executable(os.Stat(name))
	case !strings.Contains(name, "/"):
		for _, dir := range filepath.SplitList(s.path) {
			if filepath.IsAbs(dir) && executable(os.Stat(filepath.Join(dir, name))) == doctor.ProgramFound {
				return doctor.ProgramFound
			}
		}
		return doctor.ProgramMissing
	case s.root != nil:
		return executable(s.root.Stat(filepath.Clean(name)))
	}
	_, found, err := s.gh.Repositories.File(ctx, s.repo(), "", path.Clean(name))
	switch {
	case err != nil:
		return doctor.ProgramElsewhere
	case found:
		return doctor.ProgramFound
	}
	return doctor.ProgramMissing
}

func executable(info fs.FileInfo, err error) doctor.ProgramState {
	switch {
	case err != nil || !info.Mode().IsRegular():
		return doctor.ProgramMissing
	case info.Mode()&0o111 == 0:
		return doctor.ProgramNotExecutable
	}
	return doctor.ProgramFound
}

// workflows reads the files that GitHub takes for workflows.
func (s *scene) workflows(ctx context.Context) ([]workflow.File, error) {
	names, err := s.list(ctx)
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	var out []workflow.File
	for _, name := range names {
		if ext := path.Ext(name); ext != ".yml" && ext != ".yaml" {
			continue
		}
		file, found, err := s.read(ctx, workflowDir+"/"+name)
		if err != nil {
			return nil, err
		}
		if found {
			file.Main = s.onMain(ctx, file)
			out = append(out, file)
		}
	}
	return out, nil
}

// list names the files in the directory of workflows; none if there is no such directory.
func (s *scene) list(ctx context.Context) ([]string, error) {
	var names []string
	if s.root == nil {
		files, err := s.gh.Repositories.Files(ctx, s.repo(), "", workflowDir)
		for _, f := range files {
			names = append(names, path.Base(f.Path))
		}
		return names, s.trouble(err)
	}
	entries, err := fs.ReadDir(s.root.FS(), workflowDir)
	if err != nil { // missing, not a directory, or outside the repository: nothing that GitHub would run
		return nil, nil
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, nil
}

// read reads a file of the checkout, or without one of the default branch.
func (s *scene) read(ctx context.Context, name string) (file workflow.File, found bool, err error) {
	file = workflow.File{Path: name}
	if s.root != nil {
		found = readLocal(s.root, &file)
		return file, found, nil
	}
	got, found, err := s.gh.Repositories.File(ctx, s.repo(), "", name)
	if err != nil || !found {
		return file, found, s.trouble(err)
	}
	if file.Text = got.Text; got.Large {
		file.Bad = tooLarge
	}
	sift(&file)
	return file, true, nil
}

func (s *scene) trouble(err error) error {
	if err == nil {
		return nil
	}
	return byGitHub(fmt.Errorf("read the files of %s: %w", s.name, err))
}

const tooLarge = "larger than 1 MiB, so it was not read"

// readLocal reads a file below root, never one outside.
func readLocal(root *os.Root, file *workflow.File) (found bool) {
	info, err := root.Stat(file.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false
	case err != nil:
		file.Bad = "cannot be read: " + reason(err)
	case info.IsDir():
		file.Bad = "a directory, not a file"
	case !info.Mode().IsRegular(): // opening a pipe would block forever
		file.Bad = "not a file"
	case info.Size() > github.LargestFile:
		file.Bad = tooLarge
	default:
		text, err := root.ReadFile(file.Path)
		if file.Text = string(text); err != nil {
			file.Text, file.Bad = "", "cannot be read: "+reason(err)
		}
		sift(file)
	}
	return true
}

// reason is an error without the operation and path, which the output names already.
func reason(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}

// sift clears a file that is not text.
func sift(file *workflow.File) {
	if !utf8.ValidString(file.Text) || strings.Contains(file.Text, "\x00") {
		file.Text, file.Bad = "", "not text"
	}
}

// onMain compares a file of the checkout with the default branch by its blob SHA.
func (s *scene) onMain(ctx context.Context, file workflow.File) workflow.Main {
	if s.root == nil || s.gh == nil || file.Bad != "" {
		return workflow.MainUnknown
	}
	dir := path.Dir(file.Path)
	if s.main == nil {
		s.main = map[string][]model.RepositoryFile{}
	}
	files, asked := s.main[dir]
	if !asked {
		var err error
		if files, err = s.gh.Repositories.Files(ctx, s.repo(), "", dir); err != nil {
			return workflow.MainUnknown
		}
		s.main[dir] = files
	}
	i := slices.IndexFunc(files, func(f model.RepositoryFile) bool { return f.Path == file.Path })
	switch {
	case i < 0:
		return workflow.MainMissing
	case files[i].SHA == blob([]byte(file.Text)), files[i].SHA == blob(bytes.ReplaceAll([]byte(file.Text), []byte("\r\n"), []byte("\n"))):
		return workflow.MainSame
	}
	return workflow.MainOther
}

// blob is git's object ID for a content: https://git-scm.com/book/en/v2/Git-Internals-Git-Objects
func blob(content []byte) string {
	h := sha1.New() //nolint:gosec // as above
	fmt.Fprintf(h, "blob %d\x00", len(content))
	h.Write(content)
	return hex.EncodeToString(h.Sum(nil))
}
