package merging_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/git/gittest"
	"github.com/mergexo/mergexo/internal/git/merging"
	"github.com/mergexo/mergexo/internal/model"
)

// BenchmarkRebaseOfTenCommits puts ten commits onto a repository of 50,000 files and 20,000 commits, and compares that with
// what has to be done whatever else is: git merge-tree and git commit-tree for each of them, in a loop. The budget is what that takes. Beside it stands what is done elsewhere, git rebase in a working tree of its own, and by how much the memory
// of this process grows, which must not depend on what the repository holds.
func BenchmarkRebaseOfTenCommits(b *testing.B) {
	r := gittest.NewRepo(b, gittest.GitPath())
	base, head := gittest.GrowLarge(r)
	elsewhere, rebased := inWorktree(r, base, head)
	var ours, bare, ourCPU, bareCPU time.Duration
	grown, n := 0, 0
	for b.Loop() {
		n++
		var began time.Time
		var made merging.Merged
		var err error
		grown = max(grown, gittest.Growth(b, func() {
			used := gittest.CPU()
			began = time.Now()
			made, err = merging.Build(gittest.Ctx, r.C, merging.Request{Strategy: model.StrategyRebase, Base: base, Head: head})
			ours, ourCPU = ours+time.Since(began), ourCPU+gittest.CPU()-used
		}))
		require.NoError(b, err)
		require.Equal(b, 10, made.Count)
		used := gittest.CPU()
		began = time.Now()
		tree := bareLoop(r, base, head)
		bare, bareCPU = bare+time.Since(began), bareCPU+gittest.CPU()-used
		require.Equal(b, made.Tree, tree)
		require.Equal(b, made.Tree, rebased)
	}
	b.ReportMetric(float64(ours.Microseconds())/1000/float64(n), "ms/rebase")
	b.ReportMetric(float64(bare.Microseconds())/1000/float64(n), "ms/bare-loop")
	b.ReportMetric(float64(ours)/float64(bare), "ratio-of-1")
	b.ReportMetric(float64(ourCPU)/float64(bareCPU), "cpu-ratio-of-1")
	b.ReportMetric(float64(elsewhere.Microseconds())/1000, "ms/git-rebase")
	b.ReportMetric(float64(grown)/1024, "MiB-more")
}

// inWorktree is the same by git rebase, with the working tree that it needs.
func inWorktree(r *gittest.Repo, base, head string) (took time.Duration, tree string) {
	dir := filepath.Join(r.Temp, "rebase")
	began := time.Now()
	r.Git("worktree", "add", "-q", "--detach", dir, head)
	r.Git("-C", dir, "rebase", "-q", base)
	tree = r.Git("-C", dir, "rev-parse", "HEAD^{tree}")
	r.Git("worktree", "remove", "--force", dir)
	return time.Since(began), tree
}

// bareLoop is what a script would do; what it lists beforehand is part of it.
func bareLoop(r *gittest.Repo, base, head string) (tree string) {
	tip, tree := base, base+"^{tree}"
	for row := range strings.Lines(r.Git("rev-list", "--reverse", "--parents", head, "^"+base)) {
		ids := strings.Fields(row)
		standIn := r.Git("commit-tree", tree, "-p", ids[1], "-m", "x")
		tree = r.Git("merge-tree", "--write-tree", standIn, ids[0])
		tip = r.Git("commit-tree", tree, "-p", tip, "-m", "x")
	}
	return tree
}
