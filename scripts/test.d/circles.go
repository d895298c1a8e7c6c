package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
)

// circle is a part of the tests that only --all runs. Its files have its name as build tag and in their own name.
type circle struct {
	tag   string
	what  string
	tools []string // of scripts/tools, without which it cannot run
	env   map[string]string
}

// circles are those with a build tag. What has none is for every change.
func circles(cache string) []circle {
	return []circle{
		{tag: "all", what: "exhaustive tests"},
		{tag: "agents", what: "tests with the real agent programs", tools: []string{"codex", "claude"}},
		{tag: "browser", what: "tests of the dashboard and the demo in a browser", tools: []string{"chromium"}, env: map[string]string{"MERGEXO_TEST_BROWSER": cache + "/tools/chromium"}},
		{tag: "shells", what: "tests of the completions, the manual page and the Action's download with their programs", tools: []string{"shells"}},
		{tag: "examples", what: "tests on GitHub's own payloads and answers", tools: []string{"webhooks-examples", "octokit-fixtures"}, env: map[string]string{
			"MERGEXO_WEBHOOK_EXAMPLES": cache + "/npm/webhooks-examples", "MERGEXO_OCTOKIT_FIXTURES": cache + "/npm/octokit-fixtures",
		}},
	}
}

// The race detector slows down what it watches, most of all the start of a program and a search, and cannot look into other
// programs. It watches the packages whose values goroutines share, and of those that wait for git and for agents, or search, the
// stories in which goroutines of ours are beside each other: what is saved beside an agent, runs at once, relays, pipes to and from
// git and agents, a long text that several search.
var (
	shared  = []string{"./internal/agent/hostproxy", "./internal/agent/modelproxy", "./internal/clock/...", "./internal/report", "./internal/sandbox/..."}
	waiting = []string{"./internal/agent", "./internal/agent/isolate", "./internal/engine", "./internal/git/...", "./internal/leak"}
)

const beside = "Saved|Killed|Cancel|OfTwoRuns|TwoRunsAtOnce|TwoProcesses|TwoSweeps|HandedOut|CannotBeHandedOver|Beside|Outsider|Forwarded|Snapshot|TheRadar|Rebase|LongText|BigRequest|StderrIs|ATimeoutReaches|TakeTurns|EndsWithIt|LineThatNeverEnds"

var testFunc = regexp.MustCompile(`^func (?:Test|Fuzz)[A-Z]\w*\(`)

// tests counts the tests in files with a build tag.
func tests(tag string) (int, error) {
	list, err := exec.Command("git", "ls-files", "*_"+tag+"_test.go", "*_"+tag+"_linux_test.go").Output()
	if err != nil {
		return 0, fmt.Errorf("list the tests of circle %s: %w", tag, err)
	}
	n := 0
	for _, name := range strings.Fields(string(list)) {
		f, err := os.Open(name)
		if err != nil {
			return 0, fmt.Errorf("count the tests of circle %s: %w", tag, err)
		}
		for lines := bufio.NewScanner(f); lines.Scan(); {
			if testFunc.Match(lines.Bytes()) {
				n++
			}
		}
		if err := f.Close(); err != nil {
			return 0, fmt.Errorf("count the tests of circle %s: %w", tag, err)
		}
	}
	return n, nil
}
