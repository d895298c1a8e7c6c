package merging_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/git/gittest"
	"github.com/mergexo/mergexo/internal/git/merging"
)

// BenchmarkRadarOfThousandBranches tells which of 1,000 branches conflict with their base, in a repository of 50,000 files
// and 20,000 commits, asking the server what is where among it, and compares that with a bare git merge-tree --stdin over
// the same input, which writes its objects anew, too. The budget is what that takes.
func BenchmarkRadarOfThousandBranches(b *testing.B) { benchmarkConflicts(b, 1000, 0) }

// BenchmarkRadarOfThousandBranchesAndPairs has a thousand pairs of them besides, in both.
func BenchmarkRadarOfThousandBranchesAndPairs(b *testing.B) { benchmarkConflicts(b, 1000, 1000) }

// BenchmarkRadarOfTenThousandBranches is that of ten thousand.
func BenchmarkRadarOfTenThousandBranches(b *testing.B) { benchmarkConflicts(b, 10000, 0) }

func benchmarkConflicts(b *testing.B, branches, pairs int) {
	r := gittest.NewRepo(b, gittest.GitPath())
	base, _ := gittest.GrowLarge(r)
	heads, input := growHeads(b, r, base, branches)
	h := gittest.NewHub(b)
	require.NoError(b, os.WriteFile(filepath.Join(h.Bare, "objects", "info", "alternates"), []byte(filepath.Join(r.Dir, ".git", "objects")+"\n"), 0o600))
	var refs strings.Builder
	for _, head := range heads {
		fmt.Fprintf(&refs, "%s %s\n", head.SHA, head.Ref)
	}
	require.NoError(b, os.WriteFile(filepath.Join(h.Bare, "packed-refs"), []byte(refs.String()), 0o600))
	h.Git(h.Bare, "update-ref", "refs/heads/main", base)
	r.Git("remote", "set-url", "origin", h.Url)
	r.Git("update-ref", "refs/heads/main", base)
	c := h.Open(r.Dir)
	var ours, bare, ourCPU, bareCPU time.Duration
	grown, n := 0, 0
	for b.Loop() {
		n++
		var began time.Time
		var found merging.Matrix
		var err error
		grown = max(grown, gittest.Growth(b, func() {
			used := gittest.CPU()
			began = time.Now()
			found, err = merging.FindConflicts(gittest.Ctx, c, heads, pairs)
			ours, ourCPU = ours+time.Since(began), ourCPU+gittest.CPU()-used
		}))
		require.NoError(b, err)
		require.Empty(b, found.Gone)
		objects := b.TempDir()
		require.NoError(b, os.MkdirAll(filepath.Join(objects, "info"), 0o700))
		require.NoError(b, os.WriteFile(filepath.Join(objects, "info", "alternates"), []byte(filepath.Join(r.Dir, ".git", "objects")+"\n"), 0o600))
		cmd := exec.Command("git", "merge-tree", "--stdin", "-z")
		cmd.Dir, cmd.Stdin = objects, strings.NewReader(input(pairs))
		cmd.Env = []string{"PATH=" + gittest.GitPath(), "HOME=" + r.Home, "GIT_OBJECT_DIRECTORY=" + objects, "GIT_DIR=" + filepath.Join(r.Dir, ".git"), "GIT_WORK_TREE=" + objects}
		used := gittest.CPU()
		began = time.Now()
		out, err := cmd.Output()
		bare, bareCPU = bare+time.Since(began), bareCPU+gittest.CPU()-used
		require.NoError(b, err)
		if pairs == 0 {
			require.Equal(b, bytes.Count(append([]byte{0}, out...), []byte("\x000\x00")), len(found.Conflicts))
		}
	}
	require.Equal(b, n, c.NetworkCalls())
	b.ReportMetric(float64(ours.Microseconds())/1000/float64(n), "ms/radar")
	b.ReportMetric(float64(bare.Microseconds())/1000/float64(n), "ms/bare")
	b.ReportMetric(float64(ours)/float64(bare), "ratio-of-1")
	b.ReportMetric(float64(ourCPU)/float64(bareCPU), "cpu-ratio-of-1")
	b.ReportMetric(float64(grown)/1024, "MiB-more")
}

// growHeads makes branches of two commits each, that began within the last thousand commits of the base: some of them
// conflict with it. input is what git merge-tree is to be told for them and for so many pairs of neighbors.
func growHeads(b *testing.B, r *gittest.Repo, base string, count int) (heads []merging.PullHead, input func(pairs int) string) {
	starts := strings.Fields(r.Git("rev-list", "--first-parent", "--max-count=1000", base))
	var s strings.Builder
	for i := range count {
		for k := range 2 {
			text := fmt.Sprintln("branch", i) + gittest.Numbers(8)
			file := (i/2*37 + k*4999) % 50000
			fmt.Fprintf(&s, "commit refs/pull/%d/head\ncommitter Dev <dev@example.com> %d +0200\ndata 1\nc\n", i+1, 1700000000+i)
			if k == 0 {
				fmt.Fprintf(&s, "from %s\n", starts[i*7%len(starts)])
			}
			fmt.Fprintf(&s, "M 644 inline d%d/e%d/f%d\ndata %d\n%s\n", file%50, file/50%20, file, len(text), text)
		}
	}
	out, err := r.Run(r.Dir, s.String(), "fast-import", "--quiet")
	require.NoError(b, err, out)
	r.Git("repack", "-adq")
	var lines strings.Builder
	for i := range count {
		ref := fmt.Sprintf("refs/pull/%d/head", i+1)
		heads = append(heads, merging.PullHead{Number: i + 1, Ref: ref, Base: "main"})
	}
	for i, sha := range strings.Fields(r.Git("for-each-ref", "--sort=version:refname", "--format=%(objectname)", "refs/pull")) {
		heads[i].SHA = sha
		fmt.Fprintf(&lines, "%s %s\n", base, sha)
	}
	return heads, func(pairs int) string {
		text := lines.String()
		for i := range pairs {
			at := 2 * i % (count - 1)
			text += heads[at].SHA + " " + heads[at+1].SHA + "\n"
		}
		return text
	}
}
