package cli_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/config"
	"github.com/mergexo/mergexo/internal/golden"
	"github.com/mergexo/mergexo/internal/manual"
	"github.com/mergexo/mergexo/internal/must"
)

// example is an output that the README or a page of the manual shows in a block of text.
type example struct {
	page  string // from the top of the repository
	below string // the line above the block
	made  func(t *testing.T) string
}

const (
	readme = "README.md"
	pages  = "internal/manual/"
)

// examples are all outputs that the README and the manual show.
func examples() []example {
	return []example{
		{readme, "    go run ./cmd/mergexo replay --event scripts/events/pull_request_review_comment.json", replayed("--event", pull7)},
		{readme, "    go run ./cmd/mergexo sandbox --demo", recorded("demo.txt")},
		{pages + "issues.md", "    mergexo replay --make issues", recorded("replay/issues.txt")},
		{pages + "roadmaps.md", "    mergexo replay --make roadmap", recorded("replay/roadmap.txt")},
		{pages + "issues.md", "The comment on the issue says where the work is, and what you can do:", anAgentThatIsStuck},
		{pages + "reviewing.md", `    mergexo replay --make pull_request_review_comment`, recorded("replay/review_comment.txt")},
		{pages + "reviewing.md", "    mergexo replay --event scripts/events/issue_comment.json", replayed("--event", "../../scripts/events/issue_comment.json")},
		{pages + "reviewing.md", `    mergexo replay --make issue_comment --body "/mergexo review"`, recorded("replay/review_asked.txt")},
		{pages + "merging.md", `    mergexo replay --make issue_comment --body "/mergexo merge"`, recorded("replay/merge.txt")},
		{pages + "merging.md", "    mergexo replay --make workflow_run", recorded("replay/train.txt")},
		{pages + "merging.md", "    mergexo train", aShownTrain},
		{pages + "merging.md", "Landed per hour, drawn:", theDayInBars},
		{pages + "merging.md", "    mergexo merge --checkout ../widgets --branch fix --base main", aMergeWithoutGitHub},
		{pages + "forks.md", "Mallory has opened pull request 2, and octo has added the label. This happens:", aForksPullRequest},
		{pages + "operations.md", "    mergexo status", aStuckPull("", "status")},
		{pages + "operations.md", "    mergexo why --pr 1", aStuckPull("", "why", "--pr", "1")},
		{pages + "operations.md", "    mergexo log --pr 1", aStuckPull("", "log", "--pr", "1")},
		{pages + "operations.md", "    mergexo sweep", aQuietSweep},
		{pages + "operations.md", "    mergexo sweep --matrix", aMatrix},
		{pages + "operations.md", "    mergexo doctor", recorded("doctor/fresh.txt")},
		{pages + "sandbox.md", "    mergexo sandbox --demo", recorded("demo.txt")},
	}
}

// block is a block of text on a page, with the line above it.
var block = regexp.MustCompile("(?m)^(\\S.*|    .*)\n\n```text\n((?s:.*?))^```$")

// TestTheManualShowsWhatReallyHappens compares every byte of what the pages show, or writes it there.
func TestTheManualShowsWhatReallyHappens(t *testing.T) {
	for _, e := range examples() {
		t.Run(e.page+" "+strings.TrimSpace(e.below), func(t *testing.T) {
			if !golden.Update() { // which writes one page several times
				t.Parallel()
			}
			got := e.made(t)
			path := "../../" + e.page
			before, rest, ok := strings.Cut(text(t, path), "\n"+e.below+"\n\n```text\n")
			require.True(t, ok, "no block of text below that line")
			shown, after, ok := strings.Cut("\n"+rest, "\n```\n")
			require.True(t, ok)
			if golden.Update() {
				require.NoError(t, os.WriteFile(path, []byte(before+"\n"+e.below+"\n\n```text\n"+got+"```\n"+after), 0o600))
				return
			}
			assert.Equal(t, strings.TrimPrefix(shown, "\n")+"\n", got)
		})
	}
}

// heldElsewhere are the pages whose outputs have a test of their own.
var heldElsewhere = []string{pages + "install.md"}

func TestEveryShownOutputIsHeld(t *testing.T) {
	held := map[string]bool{}
	for _, e := range examples() {
		held[e.page+": "+e.below] = true
	}
	for _, page := range slices.DeleteFunc(allPages(), func(page string) bool { return slices.Contains(heldElsewhere, page) }) {
		for _, found := range block.FindAllStringSubmatch(read(t, page), -1) {
			name := page + ": " + found[1]
			assert.True(t, held[name], "%s: no test holds the output below this line", name)
			delete(held, name)
		}
	}
	assert.Empty(t, held)
}

func allPages() []string {
	all := []string{readme}
	for _, topic := range manual.Topics {
		all = append(all, pages+topic.Name+".md")
	}
	return all
}

func read(t *testing.T, page string) string {
	t.Helper()
	return text(t, "../../"+page)
}

// fenced is a block in a language.
func fenced(language string) *regexp.Regexp {
	return regexp.MustCompile("(?m)^```" + language + "\n((?s:.*?))^```$")
}

// TestTheSettingsThatAreShownHold reads every example of settings as the program reads the file.
func TestTheSettingsThatAreShownHold(t *testing.T) {
	seen := 0
	for _, page := range allPages() {
		for _, found := range fenced("toml").FindAllStringSubmatch(read(t, page), -1) {
			seen++
			assert.NoError(t, must.Err(config.ParseWithoutAgent(found[1], page)), found[1])
		}
	}
	assert.Greater(t, seen, 5)
}

// commandLine is one of ours on a page.
var commandLine = regexp.MustCompile("(?m)^    (?:go run \\./cmd/)?mergexo ([a-z].*)$|`mergexo ([a-z][^`]*)`")

// TestTheCommandsThatAreShownExist asks every command on the pages for its help, and looks for the flags there.
func TestTheCommandsThatAreShownExist(t *testing.T) {
	helps := map[string]ran{}
	for _, page := range allPages() {
		for _, found := range commandLine.FindAllStringSubmatch(read(t, page), -1) {
			words := strings.Fields(found[1] + found[2])
			if words[0] == "help" {
				continue
			}
			end := 1
			for end < len(words) && regexp.MustCompile(`^[a-z]+$`).MatchString(words[end]) {
				end++
			}
			name := strings.Join(words[:end], " ")
			if _, asked := helps[name]; !asked {
				helps[name] = program(t, nil, append(words[:end:end], "--help")...)
			}
			help := helps[name]
			require.Equal(t, 0, help.exit, "%s: mergexo %s: %s", page, name, help.errout)
			for _, flag := range regexp.MustCompile(`(?:^| )(--[a-z-]+)`).FindAllStringSubmatch(strings.Join(words, " "), -1) {
				assert.Contains(t, help.out, flag[1]+" ", "%s: mergexo %s", page, strings.Join(words, " "))
			}
		}
	}
	assert.Greater(t, len(helps), 8)
}

func TestTheReadmeHasAPicture(t *testing.T) {
	assert.Regexp(t, `(?m)^!\[[^\]]{20,}\]\([a-z/]+\.png\)$`, read(t, readme), "which a test of links finds")
}

func TestTheReadmeIsShort(t *testing.T) {
	assert.Less(t, strings.Count(read(t, readme), "\n"), 200, "what does not help a newcomer belongs in the manual")
}
