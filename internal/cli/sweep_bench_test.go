package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/must"
	"github.com/mergexo/mergexo/internal/sandbox"
)

// door stands before a sandbox and counts what is asked of it, and the points that GitHub's GraphQL would take for it.
type door struct {
	http.Handler
	mu            sync.Mutex
	calls, points int
}

func (d *door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	rec := httptest.NewRecorder()
	d.Handler.ServeHTTP(rec, r)
	var answer struct {
		Data struct{ RateLimit struct{ Cost int } }
	}
	if r.URL.Path == "/api/graphql" {
		_ = json.Unmarshal(rec.Body.Bytes(), &answer) // a page of Git's has none
	}
	d.mu.Lock()
	d.calls++
	d.points += answer.Data.RateLimit.Cost
	d.mu.Unlock()
	for name, values := range rec.Header() {
		w.Header()[name] = values
	}
	w.WriteHeader(rec.Code)
	_, _ = w.Write(rec.Body.Bytes())
}

// crowd is a sandbox with so many open pull requests, all tracked, whose conflicts one sweep has looked at already.
func crowd(b *testing.B, count int) (d *door, env []string) {
	b.Helper()
	s, err := sandbox.New(sandbox.Options{StateDir: b.TempDir(), Unlimited: true}) // what is measured here is how much a sweep asks for
	require.NoError(b, err)
	d = &door{Handler: s}
	server := httptest.NewServer(s)
	counted := httptest.NewServer(d)
	s.SetOrigin(server.URL)
	b.Cleanup(func() { server.Close(); counted.Close(); require.NoError(b, s.Close()) })
	require.NoError(b, s.Seed(func(d *sandbox.Seeder) error {
		_, err := d.Commit("octo/widgets", "main", "main", map[string]string{".github/mergexo.toml": command(answers)}, "Let MergeXO in", time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC))
		return err
	}))
	h := &hub{t: b, url: server.URL}
	h.raw("", "PUT", "/_sandbox/pulls", map[string]any{"repository": "octo/widgets", "count": count,
		"comment": "Tracked.\n\n<!-- mergexo-pr:{\"repo\":\"octo/widgets\",\"number\":$NUMBER,\"branch\":\"$BRANCH\",\"agent\":\"command\",\"base\":\"main\",\"head\":\"$HEAD\"} -->"})
	got := program(b, h.terminal("actions"), "sweep")
	require.Equal(b, 0, got.exit, got.out+got.errout)
	h.raw("", "PUT", "/_sandbox/latency", map[string]any{"ms": 100})
	h.url = counted.URL
	return d, append(h.terminal("actions"), "GITHUB_SERVER_URL="+server.URL, "MERGEXO_TEST_MAIN=1", "PATH="+os.Getenv("PATH"))
}

// BenchmarkQuietSweep is one mergexo sweep over so many open pull requests with nothing to be done, as a process of its own,
// where every answer of GitHub's takes 100 ms.
func BenchmarkQuietSweep(b *testing.B) {
	self := must.Get(os.Executable())(b)
	for _, count := range []int{100, 1000, 10000} {
		b.Run(fmt.Sprint(count), func(b *testing.B) {
			d, env := crowd(b, count)
			var peak int64
			var took time.Duration
			n := 0
			for b.Loop() {
				n++
				d.calls, d.points = 0, 0
				cmd := exec.CommandContext(b.Context(), self, "sweep")
				cmd.Env = env
				began := time.Now()
				out, err := cmd.Output()
				took += time.Since(began)
				require.NoError(b, err)
				require.True(b, bytes.HasPrefix(out, fmt.Appendf(nil, "nothing to do; looked at %d open pull requests; ", count)), "%s", out)
				peak = max(peak, cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss) // in KiB on Linux, and in bytes on macOS
			}
			b.ReportMetric(float64(d.calls), "calls")
			b.ReportMetric(float64(d.points), "points")
			b.ReportMetric(took.Seconds()/float64(n), "s/sweep")
			b.ReportMetric(float64(peak)/1024, "MiB-peak")
		})
	}
}
