package doctor

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"

	"github.com/mergexo/mergexo/internal/github/workflow"
)

// machine is the kind of machine that a job runs on.
type machine string

const (
	machineHosted    machine = "hosted"    // by GitHub, with Linux
	machineContainer machine = "container" // the job's own
	machineForeign   machine = "foreign"   // a system without isolation
	machineUnknown   machine = "unknown"
)

// hostedLinux are labels of GitHub's own runners, on which sudo needs no password:
// https://docs.github.com/en/actions/reference/runners/github-hosted-runners#administrative-privileges
var (
	hostedLinux   = regexp.MustCompile(`^ubuntu-(latest|\d\d\.\d\d)(-arm)?$`)
	hostedForeign = regexp.MustCompile(`^(macos|windows)-`)
)

// machine determines where a job runs.
func machineOf(j *workflow.Job) machine {
	of := func(shape *regexp.Regexp) bool { return len(j.RunsOn) == 1 && shape.MatchString(j.RunsOn[0]) }
	switch {
	case of(hostedForeign):
		return machineForeign
	case j.Container.Image != "":
		return machineContainer
	case of(hostedLinux):
		return machineHosted
	}
	return machineUnknown
}

// isolation reports how agents and tests are isolated on the workflows' runners, and what the settings ask for.
func isolation(e *exam) {
	s := e.Settings
	switch {
	case (s.BuiltIn || s.Adapter == "") && len(s.Programs) == 0 && s.TestTime == 0:
		e.ok("%s: no agent or test runs that needs isolation", s.Path)
	case s.Isolation == "none" && s.User == "":
		e.warn("remove it, or use the workflow with two jobs that mergexo init --split writes",
			`%s: agent.isolation is "none": agents and tests run as MergeXO's own user: they can read what it can, and leave processes behind`, s.Path)
		if s.Network != "" {
			e.problem(`set isolation = "auto", or network = "open"`, `%s: agent.network is %s, which isolation = "none" cannot enforce: every run that needs an agent fails`, s.Path, s.Network)
		}
	default:
		for _, u := range e.jobs() {
			if u.phase != planPhase {
				e.isolated(u)
			}
		}
	}
}

// isolated reports the isolation of a job.
func (e *exam) isolated(u use) {
	s, labels, privileged := e.Settings, strings.Join(u.j.RunsOn, ", "), strings.Contains(u.j.Container.Options, "--privileged")
	at := fmt.Sprintf("%s: jobs.%s: agents and tests", u.at(u.j.Line), u.j.ID)
	as := " run as a user made for the run"
	if s.User != "" {
		as = " run as user " + quote(s.User)
	}
	if s.Network != "" {
		as += ", and reach what network = " + s.Network + " names"
	}
	const ways = `set runs-on: ubuntu-latest, use the workflow with two jobs that mergexo init --split writes, or set isolation = "none" under [agent]`
	switch on := machineOf(u.j); {
	case on == machineForeign && u.phase == agentPhase && s.Network == "" && s.User == "":
		e.ok("%s run without isolation on %s, in a job without a token that may write", at, quote(labels))
	case on == machineForeign:
		e.problem(ways, "%s cannot be isolated on %s: every run that needs one fails", at, quote(labels))
	case on == machineContainer && s.Network != "" && !privileged:
		e.problem(`add options: --privileged below container:, or set network = "open"`, "%s cannot be kept off the network in this container, as network = %s asks: every run that needs one fails", at, s.Network)
	case on == machineContainer && !privileged:
		e.ok("%s%s (level account: they can write what everybody can write in the container; with options: --privileged, level user)", at, as)
	case on == machineContainer:
		e.ok("%s%s (level user: MergeXO is root in the container, unless its image says otherwise)", at, as)
	case on == machineHosted:
		e.ok("%s%s (level user: on %s sudo asks for no password)", at, as, labels)
	default:
		e.unchecked(`%s: their isolation on %s was not checked: see the line "isolation" in a run's log`, at, quote(cmp.Or(labels, "no runner")))
	}
}
