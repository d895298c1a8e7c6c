package runner_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/mergexo/mergexo/internal/clock/clocktest"
	"github.com/mergexo/mergexo/internal/must"
	"github.com/mergexo/mergexo/internal/sandbox"
	"github.com/mergexo/mergexo/internal/sandbox/runner"
)

// yard is a sandbox whose events a shell script hears.
type yard struct {
	t    *testing.T
	dir  string
	runs *runner.Runner
	urls sandbox.URLs
}

func newYard(t *testing.T, script string) *yard {
	t.Helper()
	y := &yard{t: t, dir: t.TempDir()}
	y.runs = runner.New(runner.Options{Program: []string{"sh", "-c", script}, Env: []string{"PATH=" + os.Getenv("PATH")}, Token: "sandbox-actions", Dir: y.dir, Patience: clocktest.Hang})
	s := must.Get(sandbox.New(sandbox.Options{StateDir: t.TempDir(), Deliver: y.runs.Hear}))(t)
	y.urls = must.Get(s.Start("127.0.0.1:0"))(t)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return y
}

// ask sends a request as login and gives the answer.
func (y *yard) ask(login, method, path, body string) string {
	y.t.Helper()
	req := must.Get(http.NewRequestWithContext(y.t.Context(), method, y.urls.API+"/repos/octo/widgets"+path, strings.NewReader(body)))(y.t)
	req.Header.Set("Authorization", "Bearer sandbox-"+login)
	client := &http.Client{CheckRedirect: func(r *http.Request, _ []*http.Request) error {
		r.Header.Del("Authorization") // where logs are, it is refused
		return nil
	}}
	resp := must.Get(client.Do(req))(y.t)
	defer resp.Body.Close()
	raw := must.Get(io.ReadAll(resp.Body))(y.t)
	require.Less(y.t, resp.StatusCode, 300, "%s", raw)
	return string(raw)
}

func (y *yard) comment(login, number, body string) {
	y.t.Helper()
	y.ask(login, http.MethodPost, "/issues/"+number+"/comments", `{"body": "`+body+`"}`)
}

// served runs what has been heard.
func (y *yard) served() {
	y.t.Helper()
	ctx, cancel := context.WithCancel(y.t.Context())
	ended := make(chan error, 1)
	go func() { ended <- y.runs.Serve(ctx, y.urls) }()
	require.NoError(y.t, y.runs.Idle(y.t.Context()))
	cancel()
	require.NoError(y.t, <-ended)
}

// logs are the conclusions and the logs of all runs, oldest first.
func (y *yard) logs() []string {
	y.t.Helper()
	var all struct {
		Runs []struct {
			ID                        int64
			Status, Conclusion, Event string
			Actor                     struct{ Login string }
		} `json:"workflow_runs"`
	}
	require.NoError(y.t, json.Unmarshal([]byte(y.ask("octo", http.MethodGet, "/actions/runs", "")), &all))
	var logs []string
	for _, r := range slices.Backward(all.Runs) {
		var jobs struct{ Jobs []struct{ ID json.Number } }
		require.NoError(y.t, json.Unmarshal([]byte(y.ask("octo", http.MethodGet, fmt.Sprintf("/actions/runs/%v/jobs", r.ID), "")), &jobs))
		require.Len(y.t, jobs.Jobs, 1)
		log := y.ask("octo", http.MethodGet, "/actions/jobs/"+jobs.Jobs[0].ID.String()+"/logs", "")
		var said []string
		for line := range strings.Lines(log) {
			_, text, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
			if strings.HasPrefix(text, "said ") || strings.HasPrefix(text, "exit code") {
				said = append(said, text)
			}
		}
		logs = append(logs, r.Status+" "+r.Conclusion+", "+r.Event+" by "+r.Actor.Login+": "+strings.Join(said, "; "))
	}
	return logs
}

const says = `echo "said $GITHUB_EVENT_NAME $(grep -o 'an old one\|a newer one\|this one [a-z]*' "$GITHUB_EVENT_PATH") $GITHUB_REPOSITORY $INPUT_TOKEN"
grep -q fails "$GITHUB_EVENT_PATH" && exit 1; grep -q waits "$GITHUB_EVENT_PATH" && exit 75; exit 0`

func TestEachEventStartsARun(t *testing.T) {
	y := newYard(t, says)
	for _, title := range []string{"One", "Two", "Three"} {
		y.ask("octo", http.MethodPost, "/issues", `{"title": "`+title+`"}`)
	}
	y.comment("octo", "1", "an old one")
	y.comment("octo", "2", "this one fails")
	y.comment("octo", "1", "a newer one")
	y.comment("octo", "3", "this one waits")
	y.comment("actions", "1", "what a workflow says starts nothing")
	y.ask("octo", http.MethodPost, "/issues/3/reactions", `{"content": "eyes"}`)
	assert.Equal(t, 3, y.runs.Pending(), "of two that wait for the same issue one is left")
	y.served()
	assert.Zero(t, y.runs.Pending())
	assert.Equal(t, []string{
		"completed failure, issue_comment by octo: said issue_comment this one fails octo/widgets sandbox-actions; exit code 1",
		"completed success, issue_comment by octo: said issue_comment a newer one octo/widgets sandbox-actions; exit code 0",
		"completed success, issue_comment by octo: said issue_comment this one waits octo/widgets sandbox-actions; exit code 75",
	}, y.logs())
}

func TestRunsAreTitledByWhatStartedThem(t *testing.T) {
	y := newYard(t, says)
	y.ask("octo", http.MethodPost, "/issues", `{"title": "One"}`)
	titles := func() []string {
		var all struct {
			Runs []struct {
				Title string `json:"display_title"`
			} `json:"workflow_runs"`
		}
		y.served()
		require.NoError(t, json.Unmarshal([]byte(y.ask("octo", http.MethodGet, "/actions/runs", "")), &all))
		var found []string
		for _, r := range slices.Backward(all.Runs) {
			found = append(found, r.Title)
		}
		return found
	}
	for _, do := range []func(){
		func() { y.comment("octo", "1", "hello") },
		func() { y.comment("octo", "1", "/mergexo merge\\r\\nplease") },
		func() { y.ask("octo", http.MethodPost, "/issues/1/labels", `{"labels": ["bug"]}`) },
		func() { y.ask("octo", http.MethodDelete, "/issues/1/labels/bug", "") },
	} {
		do()
		titles()
	}
	assert.Equal(t, []string{"octo commented on #1", "octo commented on #1: /mergexo merge", "octo added bug to #1", "octo removed bug from #1"}, titles())
}

func TestTheEndInterruptsARun(t *testing.T) {
	y := newYard(t, `trap 'echo said stopped; kill $!; exit 1' INT; sleep 1000 & echo > began; wait`)
	began := filepath.Join(y.dir, "began")
	require.NoError(t, syscall.Mkfifo(began, 0o600))
	y.ask("octo", http.MethodPost, "/issues", `{"title": "One"}`)
	y.comment("octo", "1", "go")
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- y.runs.Serve(ctx, y.urls) }()
	_, err := os.ReadFile(began) // until the script has written
	require.NoError(t, err)
	assert.Equal(t, 1, y.runs.Pending())
	short, stop := context.WithCancel(t.Context())
	stop()
	assert.ErrorIs(t, y.runs.Idle(short), context.Canceled)
	cancel()
	require.NoError(t, <-ended)
	assert.Equal(t, []string{"completed failure, issue_comment by octo: said stopped; exit code 1"}, y.logs())
}

func TestAProgramThatCannotStartEndsTheRunner(t *testing.T) {
	y := newYard(t, says)
	*y.runs = *runner.New(runner.Options{Program: []string{filepath.Join(y.dir, "nothing")}, Token: "sandbox-actions", Dir: y.dir})
	y.ask("octo", http.MethodPost, "/issues", `{"title": "One"}`)
	y.comment("octo", "1", "go")
	assert.ErrorContains(t, y.runs.Serve(t.Context(), y.urls), "nothing: no such file or directory")
}

// The workflow to copy and the demo start runs for the same events.
func TestWhatIsHeardIsWhatTheWorkflowHears(t *testing.T) {
	raw := must.Get(os.ReadFile("../../../.github/workflows/mergexo.yml"))(t)
	var file struct {
		On map[string]yaml.Node
	}
	require.NoError(t, yaml.Unmarshal(raw, &file))
	want := map[string][]string{}
	for name, node := range file.On {
		var on struct{ Types []string }
		if name != "schedule" && name != "workflow_dispatch" { // which are nobody's events here
			require.NoError(t, node.Decode(&on))
			want[name] = on.Types
		}
	}
	assert.Equal(t, want, runner.Heard())
}
