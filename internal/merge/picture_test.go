package merge_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/golden"
	"github.com/mergexo/mergexo/internal/merge"
	"github.com/mergexo/mergexo/internal/model"
)

func line(name string, n int) []model.Commit {
	var out []model.Commit
	for i := range n {
		out = append(out, model.Commit{SHA: fmt.Sprintf("%s%039d", name, i), Subject: fmt.Sprintf("Change %s %d", name, i)})
	}
	return out
}

func TestThePictureOfAMerge(t *testing.T) {
	t.Parallel()
	before := line("a", 4)
	hostile := []model.Commit{{SHA: b, Subject: "x\" type: REVERSE\ncheckout main %%{init: {\"theme\": \"dark\"}}%% ``` <img src=x onerror=alert(1)> #35; ünïcode"}, {SHA: b, Subject: "x"}, {SHA: b, Subject: "x"}}
	var all strings.Builder
	for _, h := range []merge.History{
		{Base: "main", Branch: "agent/greet", Strategy: "rebase", Before: before, Fork: before[1].SHA, Commits: line("b", 2), Landed: line("c", 2)},
		{Base: "main", Branch: "gh-pr-8/fix", Strategy: "no-ff", Before: before, Fork: before[3].SHA, Commits: line("b", 2), Landed: line("c", 1)},
		{Base: "master", Branch: "main", Strategy: "squash", Before: before, Commits: line("b", 40), Landed: line("c", 1)},
		{Base: "main", Branch: "x", Strategy: "cherry-pick", Before: line("a", 60), Fork: "gone", Commits: line("b", 15), Landed: line("c", 16)},
		{Base: "ma\"in", Branch: "ma'in", Strategy: "no-ff", Commits: hostile, Landed: []model.Commit{{SHA: c, Subject: hostile[0].Subject}}},
		{Base: "main", Strategy: "no-ff", Before: before[:1], Fork: before[0].SHA, Landed: line("c", 1)},
		{Base: "\"\"", Branch: "", Commits: []model.Commit{{}, {}, {}}},
		{Base: "main", Branch: "forward", Strategy: "rebase", Before: before[:2], Fork: before[1].SHA, Commits: line("b", 2), Landed: line("b", 2)},
		{Base: "main", Branch: "merged", Strategy: "api", Before: before, Fork: before[1].SHA, Commits: line("b", 2), Landed: append(line("b", 2), line("c", 1)...)},
		{Base: "main", Branch: "squashed", Strategy: "api", Before: before, Fork: before[1].SHA, Commits: line("b", 2), Landed: line("c", 1)},
	} {
		all.WriteString(merge.Picture(h) + "\n\n")
	}
	golden.Text(t, "pictures.md", all.String())
}

// statement is every line that a picture may have between its fences.
var statement = regexp.MustCompile(`^(gitGraph|%%\{init: \{"gitGraph": \{"mainBranchName": "Q"\}\}\}%%|   (branch "Q"|checkout "Q"|(commit|merge "Q") id: "Q"( type: (REVERSE|HIGHLIGHT))?( tag: "(landed|merged)")?))$`)

// quoted is a name in quotes as a picture writes it.
var quoted = regexp.MustCompile(`"[\pL\pNd\-_.,/()+=!? ]*"`)

func FuzzNothingInAPictureMeansAnything(f *testing.F) {
	f.Add("main", "agent/greet", "Greet all", "b")
	f.Add("x\"\ncommit", "`\n```\n", "%%{init: {}}%%\r\ncheckout main", "\x00\"")
	f.Add("", "\u2028", "#quot;<script>\u202e---", "---\n")
	f.Fuzz(func(t *testing.T, base, branch, subject, id string) {
		commits := []model.Commit{{SHA: id, Subject: subject}, {SHA: subject, Subject: id}, {SHA: id, Subject: subject}}
		for _, strategy := range []string{"rebase", "no-ff"} {
			got := merge.Picture(merge.History{Base: base, Branch: branch, Strategy: strategy, Before: commits, Fork: id, Commits: commits, Landed: commits})
			lines := strings.Split(got, "\n")
			if len(lines) < 3 || lines[0] != "```mermaid" || lines[len(lines)-1] != "```" {
				t.Fatalf("%q is not fenced", got)
			}
			ids := map[string]bool{}
			for _, l := range lines[1 : len(lines)-1] {
				reduced := l
				if !statement.MatchString(l) || l != "gitGraph" {
					reduced = quoted.ReplaceAllStringFunc(l, func(s string) string {
						if s == `"gitGraph"` || s == `"mainBranchName"` || s == `"landed"` || s == `"merged"` {
							return s
						}
						return `"Q"`
					})
				}
				if !statement.MatchString(reduced) {
					t.Fatalf("%q is no statement of ours", l)
				}
				if _, rest, ok := strings.Cut(l, ` id: "`); ok {
					name, _, _ := strings.Cut(rest, `"`)
					if ids[name] {
						t.Fatalf("%q twice", name)
					}
					ids[name] = true
				}
			}
		}
	})
}

func FuzzNothingEndsAFence(f *testing.F) {
	f.Add("```\n# not code\n", "a.txt")
	f.Add("~~~~\r````\r\n</details>\n```````", "`|x\n</code>")
	f.Add(strings.Repeat("`", 9000), "\xff")
	f.Add("\n`````\n\x00\n```\n", "a\x00b")
	f.Fuzz(func(t *testing.T, text, path string) {
		for _, got := range []string{
			merge.TestsText(merge.TestRun{Argv: []string{path}, Exit: 1, Tail: "x" + text}),
			merge.ConflictText(pull(), merge.Conflicts{Files: []merge.Conflict{{Path: path, Kind: "content", Hunks: "x" + text}}}),
			merge.FailText(pull(), asked(), merge.Failure{Code: model.CodeRejected, Detail: "x\n" + strings.Repeat("y", 300) + text}),
		} {
			at := regexp.MustCompile("(?m)^(`{3,})text$").FindStringSubmatchIndex(got)
			if at == nil {
				t.Fatalf("nothing is fenced in %q", got)
			}
			fence := got[at[2]:at[3]]
			inside := regexp.MustCompile("[\r\n]"+fence+"`*[ \t]*([\r\n]|$)").FindAllStringIndex(got[at[1]:], -1)
			if len(inside) != 1 {
				t.Fatalf("the fence %s ends %d times in %q", fence, len(inside), got)
			}
			if strings.Contains(got, "\x00") {
				t.Fatal("a zero byte")
			}
		}
	})
}

func TestAPictureIsBounded(t *testing.T) {
	t.Parallel()
	h := merge.History{Base: strings.Repeat("m", 500), Branch: strings.Repeat("b", 500), Strategy: "rebase", Before: line("a", 5000), Commits: line("b", 5000), Landed: line("c", 5000)}
	assert.Less(t, len(merge.Picture(h)), 6_000)
	assert.Equal(t, 1+15+15+15, strings.Count(merge.Picture(h), "commit id:"))
}
