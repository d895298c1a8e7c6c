package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/mergexo/mergexo/internal/github/workflow"

	"github.com/urfave/cli/v2"

	"github.com/mergexo/mergexo/internal/agent"
	"github.com/mergexo/mergexo/internal/config"
	"github.com/mergexo/mergexo/internal/doctor"
	"github.com/mergexo/mergexo/internal/merge"
	"github.com/mergexo/mergexo/internal/nearest"
	"github.com/mergexo/mergexo/internal/treepath"
)

// usualAgent and usualProgram are what init takes unless it is told otherwise.
const (
	usualAgent   = "codex"
	usualProgram = "scripts/agent"
)

// merging are the answers to what merges a pull request, and their values in the settings.
var merging = []struct{ name, auto string }{{"command", config.AutoNever}, {"label", config.AutoLabel}, {"approval", config.AutoApproval}}

// choiceFlags are the flags that answer init's questions.
func choiceFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "agent", Usage: "`NAME` of the agent: codex, claude, command or suggestion"},
		&cli.StringFlag{Name: "command", Usage: "`PROGRAM` that --agent command runs; by default " + usualProgram},
		&cli.StringSliceFlag{Name: "ci", Usage: "`NAME` of a workflow whose failures go to the agent, or none; may be repeated"},
		&cli.StringFlag{Name: "merge", Usage: "`WHAT` starts a merge: command, label or approval"},
		&cli.BoolFlag{Name: "yes", Usage: "take the defaults, and ask nothing"},
		&cli.BoolFlag{Name: "split", Usage: "run the agent in a separate job, whose token can only read"},
		&cli.BoolFlag{Name: "app", Usage: "with --github: create a GitHub App in your browser and use it, so that pushes start CI"},
		&cli.BoolFlag{Name: "ghes", Usage: "write the workflow for GitHub Enterprise Server, which cannot run newer artifact actions"},
	}
}

// questioner asks at a terminal, or whatever standard input is.
type questioner struct {
	ctx context.Context
	in  *bufio.Reader
	out io.Writer
}

func newQuestioner(ctx context.Context, s Streams) *questioner {
	q := &questioner{ctx: ctx, out: s.Err}
	if s.In != nil {
		q.in = bufio.NewReader(io.LimitReader(s.In, 1<<16))
	}
	return q
}

// ask asks one question. given is false where nobody answers, or somebody interrupts it.
func (q *questioner) ask(format string, args ...any) (answer string, given bool) {
	fmt.Fprintf(q.out, format, args...)
	if q.in != nil {
		typed := make(chan string, 1)
		go func() {
			line, _ := q.in.ReadString('\n') // EOF counts as an empty answer
			typed <- line
		}()
		select {
		case answer = <-typed:
		case <-q.ctx.Done():
		}
	}
	if answer == "" {
		fmt.Fprintln(q.out)
	}
	return strings.TrimSpace(answer), answer != ""
}

// until asks until an answer is one that take accepts.
func (q *questioner) until(take func(answer string) error, format string, args ...any) error {
	for {
		answer, given := q.ask(format, args...)
		if !given {
			return usagef("nobody answered, so nothing was written; give --agent codex, claude, command or suggestion, and --yes for the other defaults")
		}
		err := take(answer)
		if err == nil {
			return nil
		}
		fmt.Fprintf(q.out, "%v\n", err)
	}
}

// chooser makes a choice from what is there already, from flags, and from answers.
type chooser struct {
	*questioner
	c      *cli.Context
	root   *os.Root
	others []*workflow.Workflow
	was    doctor.Choice
	text   string          // of the settings that are there
	before config.Settings // likewise; zero where these are invalid
	there  bool            // an installation is there
	// answered are the keys of the settings that flags and answers decide. The others stay as they are.
	answered []string
}

// chooser is what finds out what to write the files for.
func (s setup) chooser(c *cli.Context, q *questioner) *chooser {
	ch := &chooser{questioner: q, c: c, root: s.root, others: doctor.Own(localWorkflows(s.root))}
	ch.look()
	return ch
}

// choose finds out what to write the files for.
func (ch *chooser) choose(hub *hubSetup) (doctor.Choice, error) {
	c := ch.c
	out := doctor.Choice{Split: c.Bool("split") || ch.was.Split, Server: c.Bool("ghes") || ch.was.Server, App: c.Bool("app") || ch.was.App}
	if out.App && out.Split { // the agent's job has the workflow's token, and has to know the App's comments
		if out.Bot = appBot(ch.before.Repo.Bots); out.Bot == "" && hub != nil {
			out.Bot = hub.registration().Name() + "[bot]"
		}
		if !slices.Contains(ch.before.Repo.Bots, out.Bot) {
			ch.answered = append(ch.answered, "repo.bots")
		}
	}
	for _, step := range []func(*doctor.Choice) error{ch.agent, ch.hears, ch.merges} {
		if err := step(&out); err != nil {
			return out, err
		}
	}
	if _, _, keys := agent.SetUp(out.Adapter); len(keys) > 0 {
		out.Key = keys[0]
	}
	out.Setup = true
	out.Tests, out.Found = requiredTests(rootFiles(ch.root))
	ch.train(&out, hub)
	out.Strategy, out.Seldom = ch.before.Merge.Strategy, ch.was.Seldom
	if hub != nil {
		out.Seldom = hub.facts.Private && !out.Server && len(out.Bases) == 0 // a train that is stuck is found by the sweep
		out.Strategy = doctor.StrategyFor(out.Strategy, hub.facts, out.App)
	}
	if out.Strategy != ch.before.Merge.Strategy { // the branch refuses that one
		ch.answered = append(ch.answered, "merge.strategy")
	}
	return out, nil
}

// appBot is the account of an App among those that work here.
func appBot(bots []string) string {
	i := slices.IndexFunc(bots, func(b string) bool { return b != "github-actions[bot]" })
	if i < 0 {
		return ""
	}
	return bots[i]
}

// look reads what an installation that is there was made for.
func (ch *chooser) look() {
	there, settings := workflow.File{Path: doctor.WorkflowPath}, workflow.File{Path: doctor.SettingsPath}
	if !readLocal(ch.root, &settings) {
		return
	}
	ch.text = settings.Text
	if parsed, err := config.ParseWithoutAgent(settings.Text, settings.Path); err == nil {
		ch.before = parsed
	}
	if !readLocal(ch.root, &there) {
		return
	}
	_, err := config.Parse(settings.Text, settings.Path)
	if was, ok := doctor.Chosen(there, settings); ok && err == nil {
		ch.was, ch.there = was, true
	}
}

// asks reports whether flags ask for something else than what is there.
func (ch *chooser) asks() bool {
	return slices.ContainsFunc([]string{"agent", "command", "ci", "merge", "split", "app", "ghes"}, ch.c.IsSet)
}

// chosenBefore is what the files that are there were made for.
func (ch *chooser) chosenBefore() doctor.Choice {
	out := ch.was
	out.Adapter, out.Setup = ch.before.Agent.Adapter, true
	if _, _, keys := agent.SetUp(out.Adapter); len(keys) > 0 {
		out.Key = keys[0]
	}
	return out
}

// leftForbidden adds that an agent may change what jobs install, where settings of one's own have it so.
func (ch *chooser) leftForbidden(l *left) {
	if config.Has(ch.text, "feedback.forbid_paths") && treepath.Matched(workflow.SetupPath, ch.before.Feedback.ForbidPaths) == "" {
		l.add(fmt.Sprintf("Add \".github/mergexo/**\" to [feedback] forbid_paths of %s, so that no agent changes what jobs run.", doctor.SettingsPath))
	}
}

// keeps says that the settings that are there decide a key. Otherwise a flag or an answer does.
func (ch *chooser) keeps(flag, key string) bool {
	kept := !ch.c.IsSet(flag) && (ch.there || ch.before.Agent.Adapter != "" && config.Has(ch.text, key))
	if !kept {
		ch.answered = append(ch.answered, key)
	}
	return kept
}

func (ch *chooser) agent(out *doctor.Choice) error {
	take := func(answer string) error {
		out.Adapter = cmp.Or(answer, usualAgent)
		if slices.Contains(agent.Names(), out.Adapter) {
			return nil
		}
		return fmt.Errorf("agent %q is unknown%s", answer, nearest.Hint(answer, agent.Names()))
	}
	var err error
	switch {
	case ch.keeps("agent", "agent.adapter"):
		out.Adapter = ch.before.Agent.Adapter
	case ch.c.IsSet("agent"):
		err = atFlag("agent", take(ch.c.String("agent")))
	case ch.c.Bool("yes"):
		err = take("")
	default:
		err = ch.until(take, "Agent: codex, claude, command (your own program) or suggestion (no model) [%s]: ", usualAgent)
	}
	if ch.c.IsSet("command") && out.Adapter != "command" {
		return usagef("--command is for --agent command")
	}
	if out.Command = cmp.Or(ch.c.String("command"), usualProgram); ch.keeps("command", "agent.command") && len(ch.before.Agent.Command) > 0 {
		out.Command = ch.before.Agent.Command[0]
	}
	return err
}

func atFlag(name string, err error) error {
	if err != nil {
		return usagef("--%s: %w", name, err)
	}
	return nil
}

// hears chooses the workflows whose failures go to the agent.
func (ch *chooser) hears(out *doctor.Choice) error {
	var names, usual []string
	for _, o := range ch.others {
		if names = append(names, o.Name); o.OnCommits() {
			usual = append(usual, o.Name)
		}
	}
	take := func(answer string) (err error) {
		if answer == "" {
			out.CI = usual
			return nil
		}
		out.CI, err = picked(strings.Split(answer, ","), names)
		return err
	}
	switch {
	case ch.c.IsSet("ci"):
		var err error
		out.CI, err = picked(ch.c.StringSlice("ci"), names)
		if off := ch.before.Feedback.CI == "never"; off == (len(out.CI) > 0) {
			ch.answered = append(ch.answered, "feedback.ci")
		}
		return atFlag("ci", err)
	case ch.there:
		out.CI = ch.was.CI
		return nil
	case len(names) == 0 || ch.c.Bool("yes"):
		return take("")
	}
	fmt.Fprintln(ch.out, "Workflows of this repository:")
	for i, o := range ch.others {
		fmt.Fprintf(ch.out, "  %d  %s (%s)\n", i+1, oneLine(o.Name), o.Path)
	}
	return ch.until(take, "Whose failures go to the agent? Numbers separated by commas, or none [%s]: ", cmp.Or(numbers(usual, names), "none"))
}

// numbers are the places of some names among all, as people count.
func numbers(some, all []string) string {
	var out []string
	for i, name := range all {
		if slices.Contains(some, name) {
			out = append(out, strconv.Itoa(i+1))
		}
	}
	return strings.Join(out, ",")
}

// picked are the workflows that somebody named, by their names or numbers.
func picked(answers, names []string) ([]string, error) {
	var out []string
	for _, a := range answers {
		a = strings.TrimSpace(a)
		n, err := strconv.Atoi(a)
		switch {
		case slices.Contains(names, a):
			out = append(out, a)
		case err == nil && n >= 1 && n <= len(names):
			out = append(out, names[n-1])
		case len(answers) == 1 && a == "none":
		case a == "none":
			return nil, errors.New("none means no workflow: give it alone")
		case len(names) == 0:
			return nil, fmt.Errorf("there is no workflow %q: .github/workflows has none besides MergeXO's", a)
		default:
			return nil, fmt.Errorf("workflow %q is unknown%s", a, oneLine(nearest.Hint(a, names)))
		}
	}
	return slices.Compact(out), nil
}

// merges chooses what asks for a merge.
func (ch *chooser) merges(out *doctor.Choice) error {
	take := func(answer string) error {
		for _, m := range merging {
			if m.name == cmp.Or(answer, merging[0].name) {
				out.Auto = m.auto
				return nil
			}
		}
		return fmt.Errorf("%q is unknown%s", answer, nearest.Hint(answer, []string{"command", "label", "approval"}))
	}
	switch {
	case ch.keeps("merge", "merge.auto"):
		out.Auto = ch.before.Merge.Auto
		return nil
	case ch.c.IsSet("merge"):
		return atFlag("merge", take(ch.c.String("merge")))
	case ch.c.Bool("yes"):
		return take("")
	}
	return ch.until(take, "What starts a merge: the command /mergexo merge, a label or an approval [command]: ")
}

// oneLine is a text that moves nothing in a terminal.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return '?'
		}
		return r
	}, text)
}

// localWorkflows reads the workflows of a checkout.
func localWorkflows(root *os.Root) []workflow.File {
	entries, err := fs.ReadDir(root.FS(), workflowDir)
	if err != nil {
		return nil // none, or nothing that GitHub would run
	}
	var out []workflow.File
	for _, e := range entries {
		file := workflow.File{Path: workflowDir + "/" + e.Name()}
		if (strings.HasSuffix(e.Name(), ".yml") || strings.HasSuffix(e.Name(), ".yaml")) && readLocal(root, &file) {
			out = append(out, file)
		}
	}
	return out
}

// rootFiles reads the top of a checkout, for the detection of tests.
func rootFiles(root *os.Root) merge.Root {
	return func(name string) (string, bool) {
		if name == merge.Nested {
			return strings.Join(named(root, merge.Manifests), "\n"), true
		}
		if dir, isDir := strings.CutSuffix(name, "/"); isDir {
			entries, err := fs.ReadDir(root.FS(), dir)
			var names []string
			for _, e := range entries {
				names = append(names, e.Name())
			}
			return strings.Join(names, "\n"), err == nil
		}
		file := workflow.File{Path: name}
		found := readLocal(root, &file)
		return file.Text, found && file.Bad == ""
	}
}

// named are the paths of the files of a checkout that have one of some names. Others' modules, and directories that cannot be read,
// are left out.
func named(root *os.Root, names []string) (list []string) {
	_ = fs.WalkDir(root.FS(), ".", func(file string, e fs.DirEntry, err error) error {
		switch {
		case err != nil || e.IsDir() && file != "." && merge.PassedOver(file+"/"):
			return fs.SkipDir
		case !e.IsDir() && slices.Contains(names, e.Name()):
			list = append(list, file)
		}
		return nil
	})
	return list
}

// project is the one in the checkout, for its local action.
func (ch *chooser) project(c doctor.Choice) workflow.Project {
	root := rootFiles(ch.root)
	read := func(name string) string { text, _ := root(name); return text }
	tests, _, _ := merge.DetectTests(root)
	return workflow.Project{
		Workflows: ch.others, Paths: named(ch.root, workflow.Signs()), Read: read, Tests: tests,
		Agent: agent.Installs(c.Adapter), Pushes: len(c.Bases) > 0 && !c.Split, NoCaches: c.Split,
	}
}

// requiredTests finds the command for required_tests, and what shows it. Tests of an agent's work run in the checkout, so the command
// makes that ready too, as a merge does for its own tests.
func requiredTests(root merge.Root) (argv []string, found string) {
	argv, found, ok := merge.DetectTests(root)
	if !ok {
		return nil, ""
	}
	var script []string
	venv := false
	for _, setup := range merge.DetectSetup(root, argv) {
		switch setup.Argv[0] {
		case "go", "cargo", "bundle": // they get what they need themselves, or want it installed for all
			continue
		case "python3":
			venv = true
		}
		script = append(script, strings.Join(setup.Argv, " "))
	}
	if venv = venv || argv[0] == "python3"; venv {
		ready := []string{`python3 -m venv "$TMPDIR/venv"`, `. "$TMPDIR/venv/bin/activate"`}
		if argv[0] == "python3" { // python3 -m pytest or tox
			ready = append(ready, "python3 -m pip install --quiet "+argv[2])
		}
		script = append(ready, script...)
	}
	if len(script) == 0 {
		return argv, found
	}
	return []string{"sh", "-c", strings.Join(append(script, strings.Join(argv, " ")), " && ")}, found
}
