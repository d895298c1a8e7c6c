package cli

import (
	"fmt"
	"io"
	"net/url"
	"regexp"
	"strings"

	"github.com/mergexo/mergexo/internal/github/workflow"

	"github.com/mergexo/mergexo/internal/agent"
	"github.com/mergexo/mergexo/internal/doctor"
	"github.com/mergexo/mergexo/internal/markdown"
)

// todo is one thing that is left to do, and the commands for it.
type todo struct {
	what     string
	commands []string
}

// left is the list with which init ends. It shrinks to nothing.
type left struct {
	all   []todo
	label string // that begins work
}

func (l *left) add(what string, commands ...string) {
	l.all = append(l.all, todo{what, commands})
}

// leftHere is what the checkout still needs, with the workflows that a person has to edit for a train.
func (s setup) leftHere(c doctor.Choice, byHand []doctor.TrainEdit) (l left) {
	if _, err := s.root.Stat(c.Command); c.Adapter == "command" && err != nil {
		l.add(fmt.Sprintf("Write %s, the agent. What it reads and writes:", c.Command), "mergexo help agents")
	}
	if len(c.Bases) > 0 {
		leftForTrain(&l, c, byHand)
	}
	if !s.github {
		var commands []string
		if s.program.secrets.Token == "" {
			server, _ := s.program.lookup("GITHUB_SERVER_URL")
			commands = append(commands, exportToken(server))
		}
		l.add("Set up the repository on GitHub:", append(commands, "mergexo init --github")...)
		l.add("Commit the files to the default branch and push:", s.commit("")...)
	}
	return l
}

// commit are the commands that bring the files to GitHub. open is the one that opens a pull request; "": the branch takes a push.
func (s setup) commit(open string) []string {
	add := "git add " + doctor.SettingsPath + " " + doctor.WorkflowPath + " " + workflow.SetupPath
	for _, path := range s.edited {
		add += " " + markdown.Quoted(path)
	}
	if open != "" {
		return []string{"git switch -c mergexo-setup", add, `git commit -m "Set up MergeXO"`, "git push -u origin mergexo-setup", open}
	}
	return []string{add, `git commit -m "Set up MergeXO"`, "git push"}
}

// tellLeft prints the list.
func (s setup) tellLeft(l left) error {
	said := l.String()
	if said == "" {
		said = fmt.Sprintf("\nNothing is left to do. Add the label %s to an issue.\n", oneLine(l.label))
	}
	path, _ := s.program.lookup("PATH")
	if calls := regexp.MustCompile(`(?m)^ {7}.*\bgh [a-z]`); calls.MatchString(said) && !agent.Installed("gh", []string{"PATH=" + path}) {
		said += "\ngh is not installed on this machine: get it at https://cli.github.com, or do the same on GitHub's pages.\n"
	}
	_, err := io.WriteString(s.Out, said)
	return err
}

// String is the list with its heading; "" where nothing is left.
func (l left) String() string {
	if len(l.all) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\nLeft to do:\n")
	for i, t := range l.all {
		fmt.Fprintf(&b, "  %d. %s\n", i+1, oneLine(t.what))
		for _, c := range t.commands {
			fmt.Fprintf(&b, "       %s\n", oneLine(c))
		}
	}
	return b.String()
}

// ghRepo names a repository for gh, whose default is github.com.
func ghRepo(server, name string) string {
	if at, err := url.Parse(server); err == nil && at.Host != "" && at.Host != "github.com" {
		return at.Host + "/" + name
	}
	return name
}
