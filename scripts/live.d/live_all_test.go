//go:build all

package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/must"
)

func TestTheSandboxAnswersAllAsRecorded(t *testing.T) {
	var table bytes.Buffer
	assert.NoError(t, compareDirs(shipped+"/sandbox", recorded(t, nil), nil, &table), "%s", table.String())
	assert.Contains(t, table.String(), "0 differences")
}

// on changes the answers to a method and an end of a path.
func on(method, end string, change func(a *altered)) func(http.Handler) http.Handler {
	return answers(func(r *http.Request, a *altered) {
		if r.Method == method && strings.HasSuffix(r.URL.Path, end) {
			change(a)
		}
	})
}

// without changes nothing but that requests to an end of a path are swallowed.
func without(end string) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, end) {
				w.WriteHeader(http.StatusNoContent)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

// query changes the answers to those GraphQL queries that ask for a field.
func query(field string, change func(a *altered)) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		asked := requests(func(r *http.Request, body string) string {
			if strings.HasSuffix(r.URL.Path, "/graphql") && strings.Contains(body, field) {
				r.Header.Set("X-Planted", "here")
			}
			return body
		})
		return asked(answers(func(r *http.Request, a *altered) {
			if r.Header.Get("X-Planted") != "" {
				change(a)
			}
		})(next))
	}
}

// data changes the data of a GraphQL answer.
func data(t *testing.T, change func(data map[string]any)) func(a *altered) {
	return func(a *altered) {
		var in map[string]any
		if err := json.Unmarshal(a.body, &in); err != nil {
			t.Errorf("%v: %s", err, a.body)
			return
		}
		if d, ok := in["data"].(map[string]any); ok {
			change(d)
		}
		a.body, _ = json.Marshal(in)
	}
}

// slowMerges is a sandbox that does not notice that a base has a head.
func slowMerges(next http.Handler) http.Handler {
	var once sync.Once
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		once.Do(func() {
			in, _ := http.NewRequestWithContext(r.Context(), "PUT", "/_sandbox/lag", strings.NewReader(`{"merges": 1000000}`))
			next.ServeHTTP(&kept{header: http.Header{}}, in)
		})
		next.ServeHTTP(w, r)
	})
}

func TestEveryPlantedDifferenceIsFound(t *testing.T) {
	for _, p := range []planted{
		{"another status for a ref that exists", "refs", "by the API/branch/2 create again/status", on("POST", "/git/refs", func(a *altered) {
			if bytes.Contains(a.body, []byte("already exists")) {
				a.status = 409
			}
		})},
		{"other words for a ref that exists", "refs", "by the API/branch/2 create again/message", on("POST", "/git/refs", func(a *altered) { a.replace("Reference already exists", "Reference exists") })},
		{"a forced update that nobody forced", "refs", "by the API/hidden ref/5 back/status", requests(func(r *http.Request, body string) string {
			if r.Method == "PATCH" && strings.Contains(r.URL.Path, "/git/refs/") {
				return strings.Replace(body, "{", `{"force":true,`, 1)
			}
			return body
		})},
		{"a missing field", "identity", "admin/permissions/triage", on("GET", "/widgets", func(a *altered) { a.replace(`"triage":true`, `"other":true`) })},
		{"65,537 characters that are taken", "length", "65537 letters/comment/status", requests(func(r *http.Request, body string) string {
			if strings.HasSuffix(r.URL.Path, "/comments") {
				return strings.Replace(body, strings.Repeat("x", mostCharacters+1), strings.Repeat("x", mostCharacters), 1)
			}
			return body
		})},
		{"a merge that is not seen", "closing", "once it is shown as merged/shown/merged", slowMerges},
		{"a first version that is gone", "edits", "comment/userContentEdits/nodes/2/diff", query("userContentEdits", data(t, func(d map[string]any) {
			edits := d["node"].(map[string]any)["userContentEdits"].(map[string]any)["nodes"].([]any)
			edits[len(edits)-1].(map[string]any)["diff"] = nil
		}))},
		{"no limit for pushes", "limit", "02 three branches/refs/refs∕heads∕mergexo-live∕limit∕a", without("/_sandbox/pushes")},
		{"a locked conversation for Apps", "locked", "app/status", answers(func(r *http.Request, a *altered) {
			if r.Method == "POST" && strings.HasSuffix(r.URL.Path, "/comments") && strings.HasSuffix(r.Header.Get("Authorization"), "-actions") {
				a.status, a.body = 403, []byte(`{"message": "Unable to create comment because issue is locked."}`)
			}
		})},
		{"no redirect to where an issue went", "transferred", "read/location", on("GET", "/issues/1", func(a *altered) { a.header.Del("Location") })},
		{"a rule that administrators are told", "protection", "admin/classic/refUpdateRule/rule/viewerCanPush", query("refUpdateRule", data(t, func(d map[string]any) {
			ref := d["repository"].(map[string]any)["ref"].(map[string]any)
			if ref["refUpdateRule"] == nil {
				ref["refUpdateRule"] = map[string]any{"viewerCanPush": false}
			}
		}))},
		{"a field of a query that is null", "queries", "admin/mergefacts/shape/repository.pullRequest.checks", query("query MergeFacts", data(t, func(d map[string]any) {
			d["repository"].(map[string]any)["pullRequest"].(map[string]any)["checks"] = nil
		}))},
		{"HTML where JSON should be", "gateway", "understood/error", query("query PullsNow", func(a *altered) { a.body = []byte("<!DOCTYPE html>") })},
	} {
		t.Run(p.what, func(t *testing.T) { found(t, p) })
	}
}

// signalled runs the program as a process against a scratch repository, and sends it a signal when it has opened a pull request.
func signalled(t *testing.T, signal syscall.Signal) *scratch {
	t.Helper()
	s := newScratch(t, marked)
	self := must.Get(os.Executable())(t)
	cmd := exec.CommandContext(t.Context(), self, "--only", "protection,badge", "octo/widgets")
	env := s.env("sandbox-octo")
	for _, name := range []string{"GITHUB_API_URL", "GITHUB_GRAPHQL_URL", "GITHUB_SERVER_URL", "GITHUB_TOKEN"} {
		cmd.Env = append(cmd.Env, name+"="+env(name))
	}
	temp := t.TempDir()
	cmd.Env = append(cmd.Env, "MERGEXO_TEST_LIVE=1", "PATH="+os.Getenv("PATH"), "TMPDIR="+temp)
	var said bytes.Buffer
	cmd.Stderr = &said
	require.NoError(t, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for opened := false; !opened; {
		select {
		case err := <-ended:
			require.Fail(t, "it ended by itself", "%v: %s", err, said.String())
		default:
			pulls, _ := s.call("GET", "/pulls", nil).([]any)
			opened = len(pulls) > 0
		}
	}
	require.NoError(t, cmd.Process.Signal(signal))
	err := <-ended
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit, "%s", said.String())
	if signal != syscall.SIGKILL {
		assert.Equal(t, 130, exit.ExitCode(), "%s", said.String())
		assert.Contains(t, said.String(), "interrupted: cleaning up")
		assert.Contains(t, said.String(), "scripts/live: interrupted in step badge, of which there is no record: context canceled")
		assert.Empty(t, must.Get(os.ReadDir(temp))(t), "files of its own")
	}
	return s
}

func TestItCleansUpAfterASignal(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		assert.Empty(t, signalled(t, signal).left(), signal.String())
	}
}

func TestTheNextRunCleansUpAfterAKilledOne(t *testing.T) {
	s := signalled(t, syscall.SIGKILL)
	require.NotEmpty(t, s.left())
	require.NoError(t, run(t.Context(), []string{"--clean", "octo/widgets"}, s.env("sandbox-octo"), io.Discard, io.Discard))
	assert.Empty(t, s.left())
}
