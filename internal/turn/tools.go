package turn

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// SetupAction is the local action that installs what agents and tests need. init writes it.
const SetupAction = ".github/mergexo/setup/action.yml"

// Install says where a program gets installed.
const Install = "install it in " + SetupAction + ", or in a step before MergeXO's"

var (
	// notFound are the words of shells, make and env for a program that is not there, with its name.
	notFound = regexp.MustCompile(`^\S+: (?:line )?\d+: (?:exec: )?([\w.+-]+): (?:command )?not found$` +
		`|^make(?:\[\d+\])?: ([\w.+-]+): No such file or directory$|^\S*env: [‘'"]?([\w.+-]+)[’'"]?: No such file or directory$`)
	// unnumbered are those of other shells, which count where the exit code says the same.
	unnumbered = regexp.MustCompile(`^\S+: (?:exec: )?([\w.+-]+): (?:command )?not found$`)
)

// Unstarted says what tests lacked on the runner, by their exit code and the end of their output, and how that is fixed; "" where they
// ran. What the agent itself can fix does not count: a script of the repository that the tests call.
// https://pubs.opengroup.org/onlinepubs/9799919799/utilities/V3_chap02.html#tag_19_08_02
func Unstarted(argv []string, exit int, output string) (missing, fix string) {
	lines := strings.Split(strings.TrimSpace(output), "\n")
	for _, line := range lines[max(0, len(lines)-5):] {
		m := notFound.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil && exit == 127 {
			m = unnumbered.FindStringSubmatch(strings.TrimSpace(line))
		}
		if m != nil {
			return strings.Join(m[1:], "") + " is not installed", Install
		}
	}
	missing = map[int]string{126: "the command is not executable", 127: "the command was not found"}[exit]
	switch {
	case missing == "":
	case strings.Contains(argv[0], "/") && strings.Contains(output, argv[0]+": "):
		fix = fmt.Sprintf("commit it with git update-index --chmod=+x %s, or name another command in the settings", argv[0])
	default:
		fix = Install
	}
	return missing, fix
}

// shells run a script that -c gives.
var shells = map[string]bool{"sh": true, "bash": true, "dash": true}

// program is a word that names a program which a shell looks for on PATH.
var program = regexp.MustCompile(`^[A-Za-z0-9][\w.+-]*$`)

// Builtins are words of a shell that may stand where a program's name does
// (https://pubs.opengroup.org/onlinepubs/9799919799/utilities/V3_chap02.html#tag_19_04, #tag_19_15, and those of bash).
var Builtins = strings.Fields(". : alias break case cd command continue declare do done echo elif else esac eval exec exit export false fi for " +
	"function hash if in local popd printf pushd pwd read readonly return set shift shopt source test then time times trap true type ulimit umask " +
	"unalias unset until wait while")

// FirstProgram is the program on PATH that a command begins with, within sh -c too; "" for anything else. Only that one has to be there
// before the command runs: it can install the others.
func FirstProgram(argv []string) string {
	if len(argv) > 2 && shells[path.Base(argv[0])] && strings.HasPrefix(argv[1], "-") && strings.HasSuffix(argv[1], "c") {
		argv = strings.Fields(strings.NewReplacer(";", " ; ", "&", " & ", "|", " | ").Replace(argv[2]))
	}
	if len(argv) == 0 || slices.Contains(Builtins, argv[0]) || !program.MatchString(argv[0]) {
		return ""
	}
	return argv[0]
}
