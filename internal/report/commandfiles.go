package report

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
)

// commandFileNames are the variables that name the files through which a step sends commands to the runner and to later steps
// (https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands#environment-files).
var commandFileNames = []string{"GITHUB_ENV", "GITHUB_PATH", "GITHUB_OUTPUT", "GITHUB_STATE", "GITHUB_STEP_SUMMARY"}

// CommandFiles are the contents of these files before an agent or a test ran.
type CommandFiles []commandFile

type commandFile struct {
	name, path string
	content    []byte
	mode       fs.FileMode
	there      bool
}

// ReadCommandFiles remembers the files that lookup knows.
func ReadCommandFiles(lookup func(string) (string, bool)) (CommandFiles, error) {
	var all CommandFiles
	for _, name := range commandFileNames {
		path, _ := lookup(name)
		if path == "" {
			continue
		}
		f, err := readCommandFile(path)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		f.name = name
		all = append(all, f)
	}
	return all, nil
}

func readCommandFile(path string) (commandFile, error) {
	f := commandFile{path: path, mode: 0o644}
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err != nil {
		return f, fmt.Errorf("read a file of the runner: %w", err)
	}
	f.mode, f.there = info.Mode(), true
	if f.mode.IsRegular() {
		if f.content, err = os.ReadFile(path); err != nil {
			return f, fmt.Errorf("read a file of the runner: %w", err)
		}
	}
	return f, nil
}

// Restore resets each file, and returns for each changed one what was written there: names of variables, paths, or the amount.
// No agent or test may run after it.
func (c CommandFiles) Restore() (found []string, err error) {
	for _, was := range c {
		now, rerr := readCommandFile(was.path)
		if rerr == nil && now.there == was.there && now.mode == was.mode && bytes.Equal(now.content, was.content) {
			continue
		}
		found = append(found, was.name+" ("+was.added(now)+")")
		err = errors.Join(err, was.restore())
	}
	return found, err
}

func (c commandFile) restore() error {
	err := os.RemoveAll(c.path)
	if err == nil && c.there {
		err = os.WriteFile(c.path, c.content, c.mode.Perm())
	}
	if err == nil && c.there {
		err = os.Chmod(c.path, c.mode.Perm())
	}
	if err != nil {
		return fmt.Errorf("restore %s: %w", c.name, err)
	}
	return nil
}

// assigned matches the start of a line that sets a variable, an output or a state.
var assigned = regexp.MustCompile(`(?m)^([A-Za-z_][A-Za-z0-9_.-]{0,63})(?:=|<<)`)

// maxAdded is how many names are reported.
const maxAdded = 10

// added names what is new in a file.
func (c commandFile) added(now commandFile) string {
	switch {
	case !now.there:
		return "it was removed"
	case !now.mode.IsRegular():
		return "it was replaced by something that is no file"
	}
	if now.mode != c.mode {
		return "its permissions were changed"
	}
	fresh, appended := bytes.CutPrefix(now.content, c.content)
	if !appended {
		return "it was rewritten"
	}
	var names []string
	if c.name != "GITHUB_STEP_SUMMARY" && c.name != "GITHUB_PATH" {
		for _, m := range assigned.FindAllSubmatch(fresh, maxAdded) {
			names = append(names, string(m[1]))
		}
	}
	if len(names) == 0 {
		return fmt.Sprintf("%d bytes", len(fresh))
	}
	return strings.Join(slices.Compact(names), ", ")
}
