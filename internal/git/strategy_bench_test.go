package git_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/model"
)

// BenchmarkRebaseOfTenCommits puts ten commits onto a repository of 50,000 files and 20,000 commits, and compares that with
// what has to be done whatever else is: git merge-tree and git commit-tree for each of them, in a loop. The budget is 1.5
// times that. Beside it stands what is done elsewhere, git rebase in a working tree of its own, and by how much the memory
// of this process grows, which must not depend on what the repository holds.
func BenchmarkRebaseOfTenCommits(b *testing.B) {
	r := newRepo(b, gitPath())
	base, head := growLarge(r)
	elsewhere, rebased := inWorktree(r, base, head)
	var ours, bare time.Duration
	grown, n := 0, 0
	for b.Loop() {
		n++
		var began time.Time
		var made git.Merged
		var err error
		grown = max(grown, growth(b, func() {
			began = time.Now()
			made, err = r.c.Build(ctx, git.Merge{Strategy: model.StrategyRebase, Base: base, Head: head})
			ours += time.Since(began)
		}))
		require.NoError(b, err)
		require.Equal(b, 10, made.Count)
		began = time.Now()
		tree := bareLoop(r, base, head)
		bare += time.Since(began)
		require.Equal(b, made.Tree, tree)
		require.Equal(b, made.Tree, rebased)
	}
	b.ReportMetric(float64(ours.Microseconds())/1000/float64(n), "ms/rebase")
	b.ReportMetric(float64(bare.Microseconds())/1000/float64(n), "ms/bare-loop")
	b.ReportMetric(float64(ours)/float64(bare), "ratio-of-1.5")
	b.ReportMetric(float64(elsewhere.Microseconds())/1000, "ms/git-rebase")
	b.ReportMetric(float64(grown)/1024, "MiB-more")
}

// inWorktree is the same by git rebase, with the working tree that it needs.
func inWorktree(r *repo, base, head string) (took time.Duration, tree string) {
	dir := filepath.Join(r.temp, "rebase")
	began := time.Now()
	r.git("worktree", "add", "-q", "--detach", dir, head)
	r.git("-C", dir, "rebase", "-q", base)
	tree = r.git("-C", dir, "rev-parse", "HEAD^{tree}")
	r.git("worktree", "remove", "--force", dir)
	return time.Since(began), tree
}

// growth is by how many KiB this process was larger during do than before it, at most; 0 where the system does not tell.
// https://man7.org/linux/man-pages/man5/proc_pid_clear_refs.5.html
func growth(b *testing.B, do func()) int {
	debug.FreeOSMemory()
	if os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) != nil { // the peak is now what there is now
		do()
		return 0
	}
	before := peak(b)
	do()
	return peak(b) - before
}

// peak is how much memory this process has had at most, in KiB.
func peak(b *testing.B) int {
	text, err := os.ReadFile("/proc/self/status")
	require.NoError(b, err)
	_, rest, found := strings.Cut(string(text), "VmHWM:")
	require.True(b, found)
	kib, err := strconv.Atoi(strings.Fields(rest)[0])
	require.NoError(b, err)
	return kib
}

// bareLoop is what a script would do; what it lists beforehand is part of it.
func bareLoop(r *repo, base, head string) (tree string) {
	tip, tree := base, base+"^{tree}"
	for row := range strings.Lines(r.git("rev-list", "--reverse", "--parents", head, "^"+base)) {
		ids := strings.Fields(row)
		standIn := r.git("commit-tree", tree, "-p", ids[1], "-m", "x")
		tree = r.git("merge-tree", "--write-tree", standIn, ids[0])
		tip = r.git("commit-tree", tree, "-p", tip, "-m", "x")
	}
	return tree
}

// growLarge makes the repository of the budget: a base that has gone on for a thousand commits since the branch began.
func growLarge(r *repo) (base, head string) {
	var s strings.Builder
	file := func(i int, first string) {
		path := fmt.Sprintf("d%d/e%d/f%d", i%50, i/50%20, i)
		text := first + numbers(8)
		fmt.Fprintf(&s, "M 644 inline %s\ndata %d\n%s\n", path, len(text), text)
	}
	commit := func(ref string, n int, from string) {
		mark := ""
		if from == "begun" {
			mark, from = "mark :1\n", ""
		}
		fmt.Fprintf(&s, "commit refs/%s\n%scommitter Dev <dev@example.com> %d +0200\ndata 1\nc\n%s", ref, mark, 1600000000+n, from)
	}
	commit("base", 0, "")
	for i := range 50000 {
		file(i, fmt.Sprintln("file", i))
	}
	for k := 1; k < 20000; k++ {
		mark := ""
		if k == 19000 {
			mark = "begun"
		}
		commit("base", k, mark)
		file(k*7919%50000, fmt.Sprintln("changed", k))
	}
	for k := range 10 {
		from := ""
		if k == 0 {
			from = "from :1\n"
		}
		commit("head", 20000+k, from)
		file(k*4999, "by the branch\n")
	}
	out, err := r.run(r.dir, s.String(), "fast-import", "--quiet")
	require.NoError(r.t, err, out)
	return r.git("rev-parse", "refs/base"), r.git("rev-parse", "refs/head")
}
