package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/mergexo/mergexo/internal/doctor"
	"github.com/mergexo/mergexo/internal/git"
)

func (p *program) initCommand() *cli.Command {
	return &cli.Command{
		Name: "init", Usage: "write " + doctor.SettingsPath + " and " + doctor.WorkflowPath,
		Description: "Asks before it overwrites a file with another text; without an answer it writes nothing.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "dir", Usage: "`DIR` in the repository", Value: "."},
			&cli.BoolFlag{Name: "force", Usage: "overwrite without asking"},
			&cli.BoolFlag{Name: "split", Usage: "write the workflow that gives the agent a job of its own, with a token that can only read"},
			&cli.BoolFlag{Name: "ghes", Usage: "write the workflow for GitHub Enterprise Server, where newer artifact actions do not run"},
		},
		Action: func(c *cli.Context) error {
			searched, _ := p.lookup("PATH")
			found, err := git.Look(c.Context, c.String("dir"), searched)
			if errors.Is(err, git.ErrNoRepository) {
				return usagef("%w: run git init there first, or give --dir DIR", err)
			}
			if err != nil {
				return usageError{err}
			}
			root, err := os.OpenRoot(found.Top)
			if err != nil {
				return usagef("open the repository: %w", err)
			}
			return errors.Join(setup{p.Streams, root, c.Bool("force")}.install(c.Bool("split"), c.Bool("ghes")), root.Close())
		},
	}
}

// setup is one run of init in a repository.
type setup struct {
	Streams
	root  *os.Root
	force bool // overwrite without asking
}

// draft is a file that init is about to write.
type draft struct {
	path, text string
	state      draftState
}

type draftState int

const (
	draftNew draftState = iota
	draftSame
	draftOther
	draftKept
)

// install writes both files, or nothing where a question was left without an answer.
func (s setup) install(split, ghes bool) error {
	workflow, step := doctor.Workflow(), "its step"
	if split {
		workflow, step = doctor.SplitWorkflow(), "its step in the job agent"
	}
	if ghes {
		workflow = doctor.ForServer(workflow)
	}
	drafts := []*draft{
		{path: doctor.SettingsPath, text: doctor.SettingsFile(func(name string) (string, bool) {
			file := doctor.File{Path: name}
			found := readLocal(s.root, &file)
			return file.Text, found && file.Bad == ""
		})},
		{path: doctor.WorkflowPath, text: workflow},
	}
	for _, d := range drafts {
		if err := d.look(s.root); err != nil {
			return err
		}
	}
	if err := s.askAll(drafts); err != nil {
		return err
	}
	for _, d := range drafts {
		if err := s.write(d); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(s.Out, "\nnext:\n"+
		"  1. choose the agent in %s\n"+
		"  2. in %s, install what the agent and your tests need, and give the agent's keys to %s\n"+
		"  3. make a signing key, so that no other workflow can pass for MergeXO: put what `openssl rand -hex 32` prints\n"+
		"     into the repository's secret MERGEXO_SIGNING_KEY, before the first run\n"+
		"  4. commit both to the default branch\n"+
		"  5. mergexo doctor\n", doctor.SettingsPath, doctor.WorkflowPath, step)
	return err
}

// look compares a draft with what is there.
func (d *draft) look(root *os.Root) error {
	there := doctor.File{Path: d.path}
	info, err := root.Stat(d.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if _, err := root.Lstat(d.path); err == nil {
			d.state = draftOther // a dangling link
		}
	case err != nil:
		return usagef("%s: %s: nothing was written", d.path, reason(err))
	case !info.Mode().IsRegular():
		return usagef("%s is not a file: move it away; nothing was written", d.path)
	default:
		readLocal(root, &there)
		d.state = draftOther
		if there.Bad == "" && there.Text == d.text {
			d.state = draftSame
		}
	}
	return nil
}

// askAll asks about every file that would be overwritten before it writes any.
func (s setup) askAll(drafts []*draft) error {
	var in *bufio.Reader
	for _, d := range drafts {
		if d.state != draftOther || s.force {
			continue
		}
		if in == nil && s.In != nil {
			in = bufio.NewReader(io.LimitReader(s.In, 1<<10))
		}
		if _, err := fmt.Fprintf(s.Err, "%s is there, with another text. Overwrite it? [y/N] ", d.path); err != nil {
			return err
		}
		answer := ""
		if in != nil {
			answer, _ = in.ReadString('\n') // EOF counts as an empty answer
		}
		if answer == "" {
			fmt.Fprintln(s.Err)
			return usagef("%s is there and nobody answered, so nothing was written; give --force to overwrite it", d.path)
		}
		if answer = strings.ToLower(strings.TrimSpace(answer)); answer != "y" && answer != "yes" {
			d.state = draftKept
		}
	}
	return nil
}

// write writes a draft atomically, and never outside the repository.
func (s setup) write(d *draft) error {
	said := "wrote " + d.path
	switch d.state {
	case draftSame:
		said = "kept  " + d.path + ", which is the same already"
	case draftKept:
		said = "kept  " + d.path
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
