package cli_test

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/cli"
	"github.com/mergexo/mergexo/internal/must"
)

// BenchmarkCheckpointAfterSIGTERM is the time from the signal that ends a cancelled job, sent while an agent is at work on a
// repository of 50,000 files and 20,000 commits, until what it has done is on the remote, and until mergexo has ended. The
// agent has changed 100 files and added one of 1 MB. First in the checkout that the workflow has made, then without one.
func BenchmarkCheckpointAfterSIGTERM(b *testing.B) {
	h, dir := longJob(b, `{"blocked_reason": "It is never asked."}`, "1h",
		"for f in d1*/f001.txt; do echo more >> $f; done", "head -c 1000000 /dev/urandom > noise")
	h.grow(50_000, 20_000)
	g, workspace := newToll(h), filepath.Join(b.TempDir(), "workspace")
	h.git("clone", "--quiet", g.origin+"/octo/widgets", workspace)
	for name, at := range map[string]string{"workspace": workspace, "own-clone": ""} {
		b.Run(name, func(b *testing.B) {
			var kept, over time.Duration
			for b.Loop() {
				number, env := h.label(91)
				p := start(b, g.through(env, "LEAK="+dir, "GITHUB_WORKSPACE="+at), "run", "--json")
				atWork(b, dir)
				require.NoError(b, os.Remove(filepath.Join(dir, "agent")))
				told := time.Now()
				require.NoError(b, p.Process.Signal(syscall.SIGTERM))
				got := p.ended()
				over += time.Since(told)
				require.Equal(b, cli.ExitRetry, got.exit, got.errout)
				require.Contains(b, h.bodies(number)[0], "The work so far is kept on branch", got.errout)
				kept += g.pushed.Sub(told)
			}
			b.ReportMetric(kept.Seconds()/float64(b.N), "s-to-checkpoint-of-5")
			b.ReportMetric(over.Seconds()/float64(b.N), "s-to-exit")
		})
	}
}

// git runs git as octo, with nobody's settings.
func (h *hub) git(args ...string) {
	h.t.Helper()
	out, err := h.gitCommand(args...).CombinedOutput()
	require.NoError(h.t, err, "%s: %s", args, out)
}

func (h *hub) gitCommand(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(h.t.Context(), "git", args...)
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + h.t.TempDir(), "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=http.extraheader",
		"GIT_CONFIG_VALUE_0=Authorization: basic " + base64.StdEncoding.EncodeToString([]byte("x-access-token:sandbox-octo")),
	}
	return cmd
}

// grow adds so many files to main in one commit, 200 to a directory, and then so many commits that change one each.
func (h *hub) grow(files, commits int) {
	h.t.Helper()
	dir := filepath.Join(h.t.TempDir(), "grown")
	h.git("clone", "--quiet", "--bare", h.url+"/octo/widgets", dir)
	imports := h.gitCommand("-C", dir, "fast-import", "--quiet")
	in := must.Get(imports.StdinPipe())(h.t)
	require.NoError(h.t, imports.Start())
	w := bufio.NewWriter(in)
	from := "from refs/heads/main^0\n"
	random := rand.New(rand.NewPCG(1, 2))
	commit := func(n int, message string) {
		fmt.Fprintf(w, "commit refs/heads/main\ncommitter octo <octo@example.com> %d +0000\ndata %d\n%s\n%s", 1_767_225_600+n, len(message), message, from)
		from = ""
	}
	write := func(n int, text string) {
		fmt.Fprintf(w, "M 100644 inline d%03d/f%03d.txt\ndata %d\n%s\n", n/200, n%200, len(text), text)
	}
	commit(0, "Many files")
	for n := range files {
		var text strings.Builder
		for range 40 {
			fmt.Fprintf(&text, "%x %x %x\n", random.Uint64(), random.Uint64(), random.Uint64())
		}
		write(n, text.String())
	}
	for n := range commits {
		commit(n+1, fmt.Sprint("Commit ", n))
		write(random.IntN(files), fmt.Sprintf("%x\n", random.Uint64()))
	}
	require.NoError(h.t, w.Flush())
	require.NoError(h.t, in.Close())
	require.NoError(h.t, imports.Wait())
	h.git("-C", dir, "push", "--quiet", "origin", "main")
}
