package sandbox

import (
	"bytes"
	"fmt"
	"strings"
)

// mergeTest is the pair of commits that GitHub tests, or has tested, for conflicts.
type mergeTest struct {
	Base, Head string
	Result     string `json:",omitempty"` // MERGEABLE or CONFLICTING, once it was asked for
	Commit     string `json:",omitempty"` // that merges them for trial, see showMerge
	since      int64  // the request that began it
}

// testMerge begins the test of a pull request as it is now, unless it has begun. GitHub does it in the background and answers
// "not known" until then: https://docs.github.com/rest/guides/using-the-rest-api-to-interact-with-your-git-database#checking-mergeability-of-pull-requests
func (pr pulls) testMerge(i *Issue) {
	t := mergeTest{Base: pr.baseSHA(i), Head: pr.headSHA(i), since: pr.requests}
	if i.Pull.Test.Base != t.Base || i.Pull.Test.Head != t.Head {
		i.Pull.Test = t
		pr.world.changed()
	}
}

// tested tells whether the test of a pull request as it is now began before this request.
func (pr pulls) tested(i *Issue) bool {
	t := i.Pull.Test
	return t.since != pr.requests && t.Base == pr.baseSHA(i) && t.Head == pr.headSHA(i)
}

// shownMergeable is GraphQL's MergeableState as GitHub tells it: UNKNOWN until the request after the one that began the test.
func (pr pulls) shownMergeable(i *Issue) string {
	if !pr.tested(i) {
		return "UNKNOWN"
	}
	if i.Pull.Test.Result == "" && i.State == "open" {
		pr.finishTests(i.repo)
	}
	result := i.Pull.Test.Result
	if result == "" || i.State != "open" {
		result = pr.mergeable(i)
	}
	if result == "MERGEABLE" && pr.showMerge(i) != nil {
		return "UNKNOWN"
	}
	return result
}

// finishTests asks git once about all pull requests whose tests have begun. What git does not answer is asked for one by one.
func (pr pulls) finishTests(r *Repository) {
	var waiting []*Issue
	var in bytes.Buffer
	for _, i := range r.openPulls() {
		if i.Pull.Test.Result == "" && i.Pull.Test.Base != "" && pr.tested(i) {
			waiting = append(waiting, i)
			fmt.Fprintf(&in, "%s %s\n", i.Pull.Test.Base, i.Pull.Test.Head)
		}
	}
	if len(waiting) < 2 {
		return
	}
	out, _ := runGit(pr.git.path(r), nil, in.Bytes(), "merge-tree", "--write-tree", "--allow-unrelated-histories", "--stdin", "--no-messages", "--name-only")
	words := strings.Split(string(out), "\x00")
	for _, i := range waiting { // status, tree, the files that conflict, and an empty word
		if len(words) < 3 {
			return
		}
		i.Pull.Test.Result = map[string]string{"1": "MERGEABLE", "0": "CONFLICTING"}[words[0]]
		for words = words[2:]; len(words) > 0 && words[0] != ""; words = words[1:] {
		}
		words = words[min(1, len(words)):]
	}
	pr.world.changed()
}

// mergeable is the result of the test: MERGEABLE, CONFLICTING or UNKNOWN (closed pull requests).
func (pr pulls) mergeable(i *Issue) string {
	base := pr.baseSHA(i)
	if i.State != "open" || base == "" {
		return "UNKNOWN"
	}
	_, clean, err := pr.git.mergeTree(i.repo, base, pr.headSHA(i))
	switch {
	case err != nil:
		return "UNKNOWN"
	case clean:
		return "MERGEABLE"
	}
	return "CONFLICTING"
}
