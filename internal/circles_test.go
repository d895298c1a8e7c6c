package internal_test

import (
	"go/build/constraint"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/must"
)

// circles are the build tags of tests that only scripts/test --all runs. A test in a file without one is run at every change.
var circles = []string{"all", "agents", "browser", "shells", "examples"}

// circleOf is the circle that a test file's name says; "" for none.
func circleOf(name string) string {
	parts := strings.Split(strings.TrimSuffix(strings.TrimSuffix(name, "_test.go"), "_linux"), "_")
	if last := parts[len(parts)-1]; len(parts) > 1 && slices.Contains(circles, last) {
		return last
	}
	return ""
}

// checkCircle lists what keeps a test file out of the circle that its name says, or out of all of them.
func checkCircle(path, text string) []string {
	var wrong []string
	want, found := circleOf(filepath.Base(path)), ""
	for line := range strings.Lines(text) {
		if !constraint.IsGoBuild(line) {
			if strings.HasPrefix(line, "package ") {
				break
			}
			continue
		}
		found = strings.TrimSpace(strings.TrimPrefix(line, "//go:build "))
	}
	if found != want {
		wrong = append(wrong, path+": its build tag is "+orNone(found)+" and its name says "+orNone(want))
	}
	for _, m := range needs.FindAllString(text, -1) {
		if tag := needed[m]; tag != want {
			wrong = append(wrong, path+" needs "+m+", which only circle "+tag+" has")
		}
	}
	return wrong
}

func orNone(tag string) string {
	if tag == "" {
		return "none"
	}
	return tag
}

// needed are what only one circle has on the machine.
var needed = map[string]string{
	"MERGEXO_WEBHOOK_EXAMPLES": "examples", "MERGEXO_OCTOKIT_FIXTURES": "examples", "MERGEXO_TEST_BROWSER": "browser", "chromedp.NewContext(": "browser",
	`"--warnings=w"`: "shells", `"--no-config"`: "shells", "curl -f": "shells",
}

var needs = regexp.MustCompile(`MERGEXO_WEBHOOK_EXAMPLES|MERGEXO_OCTOKIT_FIXTURES|MERGEXO_TEST_BROWSER|chromedp\.NewContext\(|"--warnings=w"|"--no-config"|curl -f`)

func TestEveryTestIsInACircle(t *testing.T) {
	seen := map[string]int{}
	for _, p := range packages(t) {
		for _, f := range slices.Concat(p.TestGoFiles, p.XTestGoFiles, p.IgnoredFiles) {
			if !strings.HasSuffix(f, "_test.go") || p.name() == "internal" {
				continue
			}
			assert.Empty(t, checkCircle(p.name()+"/"+f, string(must.Get(os.ReadFile(filepath.Join(p.Dir, f)))(t))))
			seen[circleOf(f)]++
		}
	}
	for _, c := range append(circles, "") {
		assert.Positive(t, seen[c], "circle %q", c)
	}
}

func TestCheckCircleSeesWhatIsWrong(t *testing.T) {
	assert.Empty(t, checkCircle("a_all_test.go", "//go:build all\n\npackage a\n"))
	assert.Empty(t, checkCircle("a_agents_linux_test.go", "//go:build agents\n\npackage a\n"))
	assert.Empty(t, checkCircle("all_test.go", "package a\n// //go:build all\n"))
	for path, text := range map[string]string{
		"a_all_test.go": "package a\n", "a_test.go": "//go:build all\n\npackage a\n", "b_all_test.go": "//go:build windows\n\npackage a\n",
		"c_test.go": "//go:build slow\n\npackage a\n", "d_test.go": "package a\nvar x = os.Getenv(\"MERGEXO_TEST_BROWSER\")\n",
		"e_test.go": "package a\nconst tests = \"curl -fsS $url\"\n",
	} {
		assert.Len(t, checkCircle(path, text), 1, path)
	}
}

// The race detector watches what goroutines share, told by the words in a test's name: each of them has to be in one.
func TestTheRaceDetectorWatchesSomethingByEachWord(t *testing.T) {
	raw := must.Get(os.ReadFile("../scripts/test.d/circles.go"))(t)
	m := regexp.MustCompile(`const beside = "([^"]+)"`).FindStringSubmatch(string(raw))
	require.NotNil(t, m)
	var names []string
	for _, dir := range []string{"agent", "engine", "git", "git/*", "leak"} {
		files := must.Get(filepath.Glob(dir + "/*_test.go"))(t)
		for _, f := range files {
			text := must.Get(os.ReadFile(f))(t)
			for _, found := range regexp.MustCompile(`(?m)^func (Test\w+)`).FindAllStringSubmatch(string(text), -1) {
				names = append(names, found[1])
			}
		}
	}
	for word := range strings.SplitSeq(m[1], "|") {
		assert.True(t, slices.ContainsFunc(names, func(n string) bool { return strings.Contains(n, word) }), word)
	}
	for _, tag := range circles {
		assert.Contains(t, string(must.Get(os.ReadFile("../scripts/test.d/circles.go"))(t)), `{tag: "`+tag+`"`)
	}
}
