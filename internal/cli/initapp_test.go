package cli_test

import (
	"bufio"
	"bytes"
	"context"
	"html"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/mergexo/mergexo/internal/github/workflow"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/config"
	"github.com/mergexo/mergexo/internal/doctor"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/must"
)

// underway is an init that waits for somebody at a browser.
type underway struct {
	t       *testing.T
	cmd     *exec.Cmd
	out     bytes.Buffer
	errout  *bufio.Reader
	address string
}

// makesAnApp starts init, and reads the address that it prints.
func (h *hub) makesAnApp(dir string, args ...string) *underway {
	h.t.Helper()
	t := h.t.(*testing.T)
	u := &underway{t: t, cmd: mergexo(t, h.terminal("octo"), append([]string{"init", "--github", "--yes", "--app"}, args...)...)}
	u.cmd.Dir, u.cmd.Stdout = dir, &u.out
	pipe := must.Get(u.cmd.StderrPipe())(t)
	require.NoError(t, u.cmd.Start())
	u.errout = bufio.NewReader(pipe)
	line := must.Get(u.errout.ReadString('\n'))(t)
	require.Equal(t, "Open this address in a browser on this machine to create a GitHub App:\n", line)
	line = must.Get(u.errout.ReadString('\n'))(t)
	u.address = strings.TrimSpace(line)
	require.Regexp(t, `^http://127\.0\.0\.1:\d+/[A-Z2-7]{26}$`, u.address)
	return u
}

// ends waits for the end of it.
func (u *underway) ends() ran {
	u.t.Helper()
	errout := must.Get(io.ReadAll(u.errout))(u.t)
	_ = u.cmd.Wait() // the exit code tells
	return ran{u.cmd.ProcessState.ExitCode(), u.out.String(), string(errout)}
}

// browse opens an address, or sends a form to it, as far as follow lets redirects lead.
func browse(t *testing.T, form url.Values, address string, follow func(*http.Request) bool) (status int, body string) {
	t.Helper()
	client := &http.Client{CheckRedirect: func(r *http.Request, _ []*http.Request) error {
		if !follow(r) {
			return http.ErrUseLastResponse
		}
		return nil
	}}
	method, text := http.MethodGet, ""
	if form != nil {
		method, text = http.MethodPost, form.Encode()
	}
	r := must.Get(http.NewRequestWithContext(context.Background(), method, address, strings.NewReader(text)))(t)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	answer := must.Get(client.Do(r))(t)
	defer answer.Body.Close()
	return answer.StatusCode, string(must.Get(io.ReadAll(answer.Body))(t))
}

var (
	action   = regexp.MustCompile(`action="([^"]*)"`)
	manifest = regexp.MustCompile(`name="manifest" value="([^"]*)"`)
)

// agrees says yes to all that GitHub asks, as far as follow lets it.
func (u *underway) agrees(follow func(*http.Request) bool) (status int, body string) {
	u.t.Helper()
	_, page := browse(u.t, nil, u.address, follow)
	to, what := action.FindStringSubmatch(page), manifest.FindStringSubmatch(page)
	require.NotNil(u.t, what, page)
	return browse(u.t, url.Values{"manifest": {html.UnescapeString(what[1])}}, html.UnescapeString(to[1]), follow)
}

func everywhere(*http.Request) bool { return true }

func TestInitMakesAnApp(t *testing.T) {
	for name, flags := range map[string][]string{"one job": nil, "split": {"--split"}} {
		t.Run(name, func(t *testing.T) {
			h, dir := newField(t)
			u := h.makesAnApp(dir, flags...)
			status, _ := browse(t, nil, u.address+"/made?code=x&state=guessed", everywhere)
			assert.Equal(t, http.StatusBadRequest, status, "an answer that nobody asked for")
			status, _ = browse(t, nil, u.address+"/installed", everywhere)
			assert.Equal(t, http.StatusBadRequest, status, "nothing is there to be installed")
			status, _ = browse(t, nil, u.address[:strings.LastIndex(u.address, "/")]+"/", everywhere)
			assert.Equal(t, http.StatusNotFound, status, "only who has the address sees the page")
			status, page := u.agrees(everywhere)
			assert.Equal(t, http.StatusOK, status)
			assert.Contains(t, page, "MergeXO will work as mergexo-octo[bot] in octo/widgets. You can close this window.")
			got := u.ends().ok(t)
			assert.Contains(t, got.out, "created the App mergexo-octo, the secret MERGEXO_PRIVATE_KEY and the variable MERGEXO_APP_ID\n")
			key := h.secrets()["MERGEXO_PRIVATE_KEY"].(string)
			assert.Contains(t, key, "BEGIN RSA PRIVATE KEY")
			assert.NotContains(t, got.out+got.errout, key[40:80])

			files := filesIn(t, dir)
			for _, name := range []string{thread.SettingsPath, doctor.WorkflowPath, workflow.SetupPath} {
				h.write("main", name, files[name])
			}
			settings := must.Get(config.Parse(files[thread.SettingsPath], thread.SettingsPath))(t)
			if flags != nil {
				assert.Equal(t, []string{"github-actions[bot]", "mergexo-octo[bot]"}, settings.Repo.Bots)
			}
			h.store("OPENAI_API_KEY", "sk-1")
			before := h.writes("")
			assert.Contains(t, h.onGitHub(dir, "octo").ok(t).out, "\nNothing is left to do.")
			assert.Equal(t, before, h.writes(""), "nothing is made twice")
			id := h.api("octo", "GET", "/api/v3/repos/octo/widgets/actions/variables", nil)["variables"].([]any)[0].(map[string]any)["value"].(string)
			programIn(t, dir, "", append(h.terminal("octo"), "MERGEXO_APP_ID="+id, "MERGEXO_PRIVATE_KEY="+key), "doctor").ok(t)
		})
	}
}

// Whoever stops between the App and its installation keeps the App.
func TestInitIsInterruptedWhileAnAppIsMade(t *testing.T) {
	h, dir := newField(t)
	u := h.makesAnApp(dir)
	u.agrees(func(r *http.Request) bool { return !strings.HasSuffix(r.URL.Path, "/installations/new") })
	status, page := browse(t, nil, u.address+"/installed", everywhere)
	assert.Equal(t, http.StatusOK, status)
	assert.Contains(t, page, "The App mergexo-octo is not installed on octo/widgets.")
	require.NoError(t, u.cmd.Process.Signal(os.Interrupt))
	got := u.ends()
	assert.NotEqual(t, 0, got.exit)
	key := h.secrets()["MERGEXO_PRIVATE_KEY"]
	require.NotNil(t, key)
	got = h.onGitHub(dir, "octo").ok(t)
	assert.Contains(t, got.out, "Install your GitHub App on the repository, and store the App ID that its settings show; gh asks for it:\n       gh variable set MERGEXO_APP_ID --repo ")
	assert.Equal(t, key, h.secrets()["MERGEXO_PRIVATE_KEY"], "no second App")

	got = h.onGitHub(dir, "bob", "--app")
	assert.Contains(t, got.out, "Run this with a token that may write secrets and variables, to create a GitHub App. GitHub refused this token: ")
	programIn(t, newRepository(t), "", nil, "init", "--yes", "--app").fails(t, 2, "--app needs --github, which creates the App")
}

// A key that cannot be stored is not lost: nobody can ask for it again.
func TestTheKeyOfAnAppIsKept(t *testing.T) {
	h, dir := newField(t)
	h.raw("", "PUT", "/_sandbox/faults", []map[string]any{{"match": map[string]any{"method": "PUT", "path": "/api/v3/repos/octo/widgets/actions/secrets/MERGEXO_PRIVATE_KEY"}, "status": 403}})
	u := h.makesAnApp(dir)
	status, page := u.agrees(everywhere)
	assert.Equal(t, http.StatusBadGateway, status)
	got := u.ends()
	assert.Equal(t, 2, got.exit, got.errout)
	file := regexp.MustCompile(`the key of the App \d+ is in (\S+): store it with gh secret set MERGEXO_PRIVATE_KEY`).FindStringSubmatch(got.errout)
	require.NotNil(t, file, got.errout)
	assert.Equal(t, os.FileMode(0o600), must.Get(os.Stat(file[1]))(t).Mode().Perm())
	key := text(t, file[1])
	assert.Contains(t, key, "BEGIN RSA PRIVATE KEY")
	assert.NotContains(t, page+got.errout, strings.Split(key, "\n")[1])
}
