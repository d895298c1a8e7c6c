package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"

	"github.com/mergexo/mergexo/internal/github/workflow"

	"github.com/urfave/cli/v2"

	"github.com/mergexo/mergexo/internal/agent"
	"github.com/mergexo/mergexo/internal/config"
	"github.com/mergexo/mergexo/internal/doctor"
	"github.com/mergexo/mergexo/internal/git"
)

func (p *program) initCommand() *cli.Command {
	return &cli.Command{
		Name: "init", Usage: "set up a repository: write its settings, its workflow and what that installs",
		Description: "Writes " + doctor.SettingsPath + ", " + doctor.WorkflowPath + " and\n" + workflow.SetupPath + ".\n" +
			"Asks which agent to run, which failed workflows go to it, and what starts a merge. Flags answer in advance. If the\n" +
			"files exist, it takes the answers from them and keeps every setting; a flag changes what it is about, and nothing else.\n" +
			"It shows a diff and asks before it overwrites anything; without an answer it writes nothing. If a merge train needs your\n" +
			"CI to run on its branches, it shows what would change in your CI, and asks once.\n" +
			"With --github, it creates the labels, the signing key and whatever else is missing, and lists what is left to do, with a\n" +
			"command for what the token may not do.",
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "dir", Usage: "`DIR` in the repository", Value: "."},
			&cli.BoolFlag{Name: "force", Usage: "overwrite without asking"},
			&cli.BoolFlag{Name: "github", Usage: "set up the repository on GitHub too; needs a token in GITHUB_TOKEN or GH_TOKEN"},
		}, choiceFlags()...),
		Action: func(c *cli.Context) error {
			found, err := p.look(c)
			if err != nil {
				return err
			}
			root, err := os.OpenRoot(found.Top)
			if err != nil {
				return usagef("open the repository: %w", err)
			}
			s := setup{Streams: p.Streams, program: p, place: found, root: root, force: c.Bool("force"), yes: c.Bool("yes"), github: c.Bool("github")}
			return errors.Join(s.install(c), root.Close())
		},
	}
}

// look finds the repository that --dir is in.
func (p *program) look(c *cli.Context) (git.Place, error) {
	found, err := git.Look(c.Context, c.String("dir"), env(p, "PATH"))
	switch {
	case errors.Is(err, git.ErrBare):
		return found, usagef("%w: clone it, and run init in the clone", err)
	case errors.Is(err, git.ErrNoRepository):
		return found, usagef("%w: run git init there first, or give --dir DIR", err)
	case err != nil:
		return found, usageError{err}
	}
	return found, nil
}

// setup is one run of init in a repository.
type setup struct {
	Streams
	program *program
	place   git.Place
	root    *os.Root
	force   bool     // overwrite without asking
	yes     bool     // ask nothing: a file with another text is kept
	github  bool     // set up the repository on GitHub too
	edited  []string // workflows that init has changed, beside its own
}

// draft is a file that init is about to write.
type draft struct {
	path, text string
	state      draftState
	asked      bool // a flag asks for what changes, and nothing else does
}

type draftState int

const (
	draftNew draftState = iota
	draftSame
	draftOther
	draftKept
)

// install writes both files, or nothing where a question was left without an answer.
func (s setup) install(c *cli.Context) error {
	q := newQuestioner(c.Context, s.Streams)
	if c.Bool("app") && !s.github {
		return usagef("--app needs --github, which creates the App")
	}
	var hub *hubSetup
	if s.github {
		var err error
		if hub, err = s.hub(c.Context); err != nil {
			return err
		}
	}
	drafts := []*draft{{path: doctor.SettingsPath}, {path: doctor.WorkflowPath}, {path: workflow.SetupPath}}
	for _, d := range drafts {
		if err := d.check(s.root); err != nil {
			return err
		}
	}
	ch := s.chooser(c, q)
	choice, err := ch.choose(hub)
	if err != nil {
		return err
	}
	project := ch.project(choice)
	choice.Reaches = ch.text != "" || project.HasServices()
	drafts[0].text, drafts[1].text, drafts[2].text = config.Complete(ch.text, choice.Settings(), ch.answered), choice.Workflow(), project.Setup()
	if drafts[0].asked = ch.there && ch.asks(); ch.there {
		if err := s.keepEdits(c.Context, ch, drafts[1], drafts[2]); err != nil {
			return err
		}
	}
	for _, d := range drafts {
		d.compare(s.root)
	}
	if err := s.askAll(q, drafts); err != nil {
		return err
	}
	edits, byHand := ch.trainEdits(choice, hub)
	edits, refused, err := s.askTrain(q, edits)
	if err == nil {
		err = s.writeAll(drafts, edits)
	}
	if err != nil {
		return err
	}
	for _, e := range edits {
		s.edited = append(s.edited, e.Path)
	}
	l := s.leftHere(choice, append(byHand, refused...))
	ch.leftForbidden(&l)
	if hub != nil {
		hub.edited = s.edited
		if err := hub.setUp(c.Context, choice, &l); err != nil {
			return err
		}
	}
	return s.tellLeft(l)
}

// writeAll writes what was granted.
func (s setup) writeAll(drafts []*draft, edits []doctor.TrainEdit) error {
	for _, d := range drafts {
		if err := s.write(d); err != nil {
			return err
		}
	}
	return s.writeTrain(edits)
}

// check refuses what cannot be overwritten.
func (d *draft) check(root *os.Root) error {
	info, err := root.Stat(d.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return usagef("%s: %s: nothing was written", d.path, reason(err))
	case !info.Mode().IsRegular():
		return usagef("%s is not a file: move it away; nothing was written", d.path)
	}
	return nil
}

// compare compares a draft with what is there.
func (d *draft) compare(root *os.Root) {
	there := workflow.File{Path: d.path}
	switch found := readLocal(root, &there); {
	case found && there.Bad == "" && there.Text == d.text:
		d.state = draftSame
	case found:
		d.state = draftOther
	default:
		if _, err := root.Lstat(d.path); err == nil {
			d.state = draftOther // a dangling link
		}
	}
}

// askAll asks about every file that would be overwritten before it writes any.
func (s setup) askAll(q *questioner, drafts []*draft) error {
	for _, d := range drafts {
		switch {
		case d.state != draftOther:
			continue
		case s.yes && !s.force && !d.asked:
			d.state = draftKept
			continue
		}
		if err := s.showDiff(q.ctx, d.path, d.text); err != nil {
			return err
		}
		if s.force || s.yes {
			continue
		}
		answer, given := q.ask("%s already exists with different content: you changed it, or another version of mergexo wrote it. Overwrite it? [y/N] ", d.path)
		if !given {
			return usagef("%s already exists and nobody answered, so nothing was written; give --force to overwrite it, or --yes to keep it", d.path)
		}
		if answer = strings.ToLower(answer); answer != "y" && answer != "yes" {
			d.state = draftKept
		}
	}
	return nil
}

// keepEdits changes in files that are there only what their choice has changed since. A workflow is written as
// a new one where no flag asks for anything, as after an update, and both are where people have edited the same lines.
func (s setup) keepEdits(ctx context.Context, ch *chooser, jobs, setUp *draft) error {
	searched, _ := s.program.lookup("PATH")
	before := ch.chosenBefore()
	temp, err := s.program.scratch.Make(os.TempDir(), "init", nil)
	if err != nil {
		return err
	}
	for d, base := range map[*draft]string{jobs: before.Workflow(), setUp: ch.project(before).Setup()} {
		there := workflow.File{Path: d.path}
		if !readLocal(s.root, &there) || d == jobs && (!ch.asks() || !strings.Contains(there.Text, workflow.UsesSetup)) {
			continue
		}
		for _, command := range agent.Installs(before.Adapter)[:min(1, len(agent.Installs(before.Adapter)))] { // of whatever version
			name := command[:strings.LastIndex(command, "@")+1]
			there.Text = regexp.MustCompile(regexp.QuoteMeta(name)+`[\w.-]+`).ReplaceAllLiteralString(there.Text, command)
		}
		merged, clean, err := s.place.Merge(ctx, searched, temp, there.Text, base, d.text)
		if err != nil {
			return usageError{err}
		}
		if clean {
			d.text, d.asked = merged, ch.asks()
		}
	}
	return nil
}

// showDiff shows how a text differs from the file that is there.
func (s setup) showDiff(ctx context.Context, name, text string) error {
	searched, _ := s.program.lookup("PATH")
	diff, err := s.place.Diff(ctx, searched, name, text)
	for line := range strings.Lines(diff) {
		fmt.Fprintln(s.Err, oneLine(strings.ReplaceAll(strings.TrimSuffix(line, "\n"), "\t", "  ")))
	}
	return err
}

// write writes a draft atomically, and never outside the repository.
func (s setup) write(d *draft) error {
	said := "wrote " + d.path
	switch d.state {
	case draftSame:
		said = "kept  " + d.path + ", which is unchanged"
	case draftKept:
		said = "kept  " + d.path + ", whose content differs; mergexo doctor checks whether it works"
	default:
		if err := replace(s.root, d.path, d.text); err != nil {
			return usagef("write %s: %s", d.path, reason(err))
		}
	}
	_, err := fmt.Fprintln(s.Out, said)
	return err
}

// replace writes a temporary file and renames it.
func replace(root *os.Root, name, text string) error {
	if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err
	}
	draft := name + "." + random()
	f, err := root.OpenFile(draft, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = root.Rename(draft, name)
	}
	if err != nil {
		return errors.Join(err, root.Remove(draft))
	}
	return nil
}
