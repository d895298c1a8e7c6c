package cli_test

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/must"
)

// idle is an agent that has nothing to do.
const idle = `cat >/dev/null; echo '{"general_comment": "It is fine as it is."}'`

// BenchmarkTurnAroundAnIdleAgent is what MergeXO itself costs: a whole turn, as a process of its own, around an agent that
// does nothing, side by side with nothing else than the same calls of GitHub's API, the same fetch and the same agent.
func BenchmarkTurnAroundAnIdleAgent(b *testing.B) {
	var ours, bare time.Duration
	for b.Loop() {
		b.StopTimer()
		h, twin := newHub(b, command(idle)), newHub(b, command(idle))
		b.StartTimer()
		began := time.Now()
		got := program(b, h.env("RUNNER_TEMP="+b.TempDir()), "run", "--json")
		ours += time.Since(began)
		require.Equal(b, 0, got.exit, got.errout)
		require.Contains(b, got.out, `"git":1}`, "the bare twin fetches once too")
		bare += twin.bare(h.asked)
	}
	b.ReportMetric(float64(ours.Milliseconds())/float64(b.N), "ms/turn")
	b.ReportMetric(float64(bare.Milliseconds())/float64(b.N), "ms/bare")
	b.ReportMetric(ours.Seconds()/bare.Seconds(), "ratio")
}

// bare makes the calls that a run made elsewhere, one after the other, with a fetch and the agent before the first write.
func (h *hub) bare(calls []*request) time.Duration {
	h.t.Helper()
	began := time.Now()
	dir, worked := filepath.Join(h.t.TempDir(), "checkout"), false
	for i, c := range calls {
		if !worked && i > 0 && c.method == http.MethodPatch {
			worked = true
			for _, argv := range [][]string{
				{"git", "init", "-q", dir},
				{"git", "-C", dir, "fetch", "-q", "--depth=50", h.url + "/octo/widgets", "agent/greet", "main"},
				{"git", "-C", dir, "checkout", "-q", "FETCH_HEAD"},
				{"sh", "-c", idle},
			} {
				cmd := exec.CommandContext(h.t.Context(), argv[0], argv[1:]...)
				cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir}
				out, err := cmd.CombinedOutput()
				require.NoError(h.t, err, "%s: %s", argv, out)
			}
		}
		req := must.Get(http.NewRequestWithContext(h.t.Context(), c.method, h.url+c.path, bytes.NewReader(c.body)))(h.t)
		req.Header = c.header
		resp := must.Get(http.DefaultClient.Do(req))(h.t)
		require.NoError(h.t, must.Err(io.Copy(io.Discard, resp.Body)))
		require.NoError(h.t, resp.Body.Close())
		require.Less(h.t, resp.StatusCode, 300, "%s %s", c.method, c.path)
	}
	require.True(h.t, worked)
	return time.Since(began)
}
