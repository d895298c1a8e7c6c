package cli_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/must"
	"github.com/mergexo/mergexo/internal/sandbox"
)

// BenchmarkStartToFirstCall is the time from the start of the process to its first request, the token's removal from the
// environment included.
func BenchmarkStartToFirstCall(b *testing.B) {
	first := make(chan time.Time, 16)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		first <- time.Now()
		w.WriteHeader(http.StatusUnauthorized)
	}))
	defer server.Close()
	payload := filepath.Join(b.TempDir(), "event.json")
	require.NoError(b, os.WriteFile(payload, []byte(`{"action":"created","issue":{"number":1,"pull_request":{}},"comment":{"id":1,"node_id":"x","body":"hi","user":{"login":"alice","id":1,"type":"User"}},"repository":{"full_name":"octo/widgets"},"sender":{"login":"alice","id":1,"type":"User"}}`), 0o600))
	self := must.Get(os.Executable())(b)
	var total time.Duration
	for b.Loop() {
		cmd := exec.CommandContext(b.Context(), self, "run")
		cmd.Env = []string{
			"MERGEXO_TEST_MAIN=1", "PATH=" + os.Getenv("PATH"), "GITHUB_TOKEN=x", "GITHUB_EVENT_NAME=issue_comment", "GITHUB_EVENT_PATH=" + payload,
			"GITHUB_API_URL=" + server.URL + "/api/v3", "GITHUB_GRAPHQL_URL=" + server.URL + "/api/graphql", "GITHUB_SERVER_URL=" + server.URL,
		}
		began := time.Now()
		require.NoError(b, cmd.Start())
		total += (<-first).Sub(began)
		require.Error(b, cmd.Wait(), "401 is exit code 2")
	}
	b.ReportMetric(float64(total.Microseconds())/1000/float64(b.N), "ms/first-call")
}

// BenchmarkStatusOfAThousandPullRequests is one mergexo status over 1,000 open pull requests, each with a comment, as a
// process of its own: what it took at most, and how often it asked.
func BenchmarkStatusOfAThousandPullRequests(b *testing.B) {
	s, err := sandbox.New(sandbox.Options{StateDir: b.TempDir(), Unlimited: true}) // b.N runs in one hour
	require.NoError(b, err)
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		s.ServeHTTP(w, r)
	}))
	s.SetOrigin(server.URL)
	defer func() { server.Close(); require.NoError(b, s.Close()) }()
	require.NoError(b, s.Seed(func(d *sandbox.Seeder) error { return seedThousand(d) }))
	self := must.Get(os.Executable())(b)
	var peak int64
	for b.Loop() {
		asked = 0
		cmd := exec.CommandContext(b.Context(), self, "status", "--json")
		cmd.Env = []string{
			"MERGEXO_TEST_MAIN=1", "PATH=" + os.Getenv("PATH"), "GITHUB_TOKEN=sandbox-octo", "GITHUB_REPOSITORY=octo/widgets",
			"GITHUB_API_URL=" + server.URL + "/api/v3", "GITHUB_GRAPHQL_URL=" + server.URL + "/api/graphql", "GITHUB_SERVER_URL=" + server.URL,
		}
		require.Equal(b, 1000, bytes.Count(must.Get(cmd.Output())(b), []byte(`"number":`)))
		peak = max(peak, cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss) // in KiB on Linux, and in bytes on macOS
	}
	b.ReportMetric(float64(peak)/1024, "MiB-peak-of-64")
	b.ReportMetric(float64(asked), "calls-of-23")
}

func seedThousand(d *sandbox.Seeder) error {
	var many []sandbox.SeedPull
	for i := range 1000 {
		many = append(many, sandbox.SeedPull{Base: "main", Head: fmt.Sprint("agent/", 1001+i), SeedIssue: sandbox.SeedIssue{
			Number: 1001 + i, Title: fmt.Sprint("Number ", 1001+i), Author: "octo", CreatedAt: time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)}})
	}
	if _, err := d.Commit("octo/widgets", "main", "main", map[string]string{".github/mergexo.toml": command(answers)}, "Let MergeXO in", time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)); err != nil {
		return err
	}
	if err := d.Pulls("octo/widgets", many); err != nil {
		return err
	}
	for _, p := range many {
		if err := d.Comment("octo/widgets", p.Number, sandbox.SeedComment{Author: "alice", Body: "Answer me."}); err != nil {
			return err
		}
	}
	return nil
}
