package cli_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
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
	self, err := os.Executable()
	require.NoError(b, err)
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
