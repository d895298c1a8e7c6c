package sandbox

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/nacl/box"

	"github.com/mergexo/mergexo/internal/must"
	"github.com/mergexo/mergexo/internal/sandbox/conform"
)

// unlisted are routes that GitHub serves and does not describe.
var unlisted = map[string]string{
	"GET /repositories/{id}": "where GitHub's own Link headers and redirects of renamed repositories lead",
}

func TestEveryRouteIsDocumented(t *testing.T) {
	api := must.Get(conform.Load())(t)
	for _, r := range allRoutes() {
		if unlisted[r.pattern] != "" {
			continue
		}
		method, path, _ := strings.Cut(r.pattern, " ")
		assert.True(t, api.Documents(method, path), "GitHub documents no %s", r.pattern)
	}
}

// TestTheProgramHasNoValidator keeps the description and the validator out of everything that contains the sandbox.
func TestTheProgramHasNoValidator(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").CombinedOutput()
	require.NoError(t, err, "%s", out)
	assert.Contains(t, string(out), "internal/sandbox")
	assert.NotContains(t, string(out), "kin-openapi")
}

// step is one request and the status that it must get. $NAME in path and body stands for what an earlier step kept, and alone in
// as for a token.
type step struct {
	as, method, path, body string
	want                   int
	keep                   string // "name=field.field": keep a value of the answer
}

// drive sends the steps in order through the validator, which fails the test for every answer that GitHub would not give.
// It returns which routes answered with success.
func drive(t *testing.T, s *Server, steps []step, known map[string]string) map[string]bool {
	t.Helper()
	server := httptest.NewServer(conform.Handler(t, s))
	defer server.Close()
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	s.SetOrigin(server.URL)
	reached := map[string]bool{}
	router := &router{}
	router.add(allRoutes()...)
	for n, st := range steps {
		path, body := st.path, st.body
		token := "sandbox-" + st.as
		if name, own := strings.CutPrefix(st.as, "$"); own {
			token = known[name]
		}
		for name, value := range known {
			path, body = strings.ReplaceAll(path, "$"+name, value), strings.ReplaceAll(body, "$"+name, value)
		}
		path = strings.Replace(path, "~", "/repos/octo/widgets", 1)
		r := must.Get(http.NewRequest(st.method, server.URL+restPrefix+path, strings.NewReader(body)))(t)
		if st.as != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		answer := must.Get(client.Do(r))(t)
		text := must.Get(io.ReadAll(answer.Body))(t)
		require.NoError(t, answer.Body.Close())
		require.Equal(t, st.want, answer.StatusCode, "step %d: %s %s as %s\n%s\n%s", n, st.method, path, st.as, body, text)
		if route, ok := router.find(r, restPrefix); ok && answer.StatusCode < 400 {
			reached[route.pattern] = true
		}
		if st.keep != "" {
			name, field, _ := strings.Cut(st.keep, "=")
			known[name] = pluck(t, text, field)
		}
	}
	return reached
}

var listIndex = regexp.MustCompile(`^\d+$`)

func pluck(t *testing.T, text []byte, path string) string {
	t.Helper()
	var v any
	require.NoError(t, json.Unmarshal(text, &v), "%s", text)
	for _, key := range strings.Split(path, ".") {
		if listIndex.MatchString(key) {
			v = v.([]any)[0]
			continue
		}
		v = v.(map[string]any)[key]
	}
	if f, ok := v.(float64); ok {
		return fmt.Sprintf("%.0f", f)
	}
	return fmt.Sprint(v)
}

func TestEveryAnswerIsGitHubs(t *testing.T) {
	s := must.Get(New(Options{StateDir: t.TempDir()}))(t)
	defer func() { require.NoError(t, s.Close()) }()
	steps := [][]step{peopleSteps, labelSteps, issueSteps, gitSteps, pullSteps, reviewSteps, commentSteps, checkSteps, runSteps, mergeSteps, settingSteps, appSteps}
	var all []step
	for _, some := range steps {
		all = append(all, some...)
	}
	s.mu.Lock()
	run := s.world.putRun(s.world.repository("octo", "widgets"), &Run{ID: 77, Name: "ci", Status: "in_progress", Event: "push", Attempt: 1})
	tag := tagMain(t, s)
	s.world.repository("octo", "widgets").Protections["ruled"] = &Protection{Ruleset: 42, Bypass: []string{"ann"}, Pull: true, Checks: []string{"ci"}, Linear: true}
	key, err := sealingOf(s.world, s.world.repository("octo", "widgets"))
	s.mu.Unlock()
	require.NoError(t, err)
	for i := range all {
		all[i].path = strings.NewReplacer("$run", fmt.Sprint(run.ID), "$tag", tag).Replace(all[i].path)
	}
	app := newApp(t, s, "")
	sealed := must.Get(box.SealAnonymous(nil, []byte("word"), key.Public, rand.Reader))(t)
	reached := drive(t, s, all, map[string]string{
		"jwt": app.sign(app.id, -time.Minute, 9*time.Minute), "keyid": key.id(), "sealed": base64.StdEncoding.EncodeToString(sealed), "code": agreed(t, s),
	})
	assert.Equal(t, "word", s.world.repository("octo", "widgets").Secrets["WORD"].Value)
	for _, r := range allRoutes() {
		assert.True(t, reached[r.pattern] || unlisted[r.pattern] != "", "no step gets an answer from %s", r.pattern)
	}
}

// agreed is the code of a manifest to which somebody has agreed.
func agreed(t *testing.T, s *Server) string {
	t.Helper()
	form := url.Values{"manifest": {`{"name": "MergeXO of octo", "url": "https://example.com", "redirect_url": "http://127.0.0.1:1/made", "default_permissions": {"contents": "write"}}`}}
	w := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodPost, "/settings/apps/new?state=s", strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	s.ServeHTTP(w, r)
	to := must.Get(url.Parse(w.Header().Get("Location")))(t)
	require.Equal(t, "s", to.Query().Get("state"), w.Body)
	return to.Query().Get("code")
}

// tagMain makes an annotated tag, which no route can.
func tagMain(t *testing.T, s *Server) string {
	t.Helper()
	r := s.world.repository("octo", "widgets")
	text := "object " + s.git.branchSHA(r, "main") + "\ntype commit\ntag v1\ntagger ann <ann@example.com> 1700000000 +0100\n\nFirst\n"
	sha := must.Get(runGit(s.git.path(r), nil, []byte(text), "mktag"))(t)
	require.NoError(t, must.Err(s.git.run(r, "update-ref", "refs/tags/v1", strings.TrimSpace(string(sha)))))
	require.NoError(t, s.refs.sync(r, s.world.user("octo")))
	return strings.TrimSpace(string(sha))
}

// TestTheValidatorRefuses makes sure that what is checked can fail.
func TestTheValidatorRefuses(t *testing.T) {
	api := must.Get(conform.Load())(t)
	label := `{"id":1,"node_id":"x","url":"http://x/y","name":"bug","description":null,"color":"ff0000","default":true`
	type row struct {
		method, path, sent string
		status             int
		body, want         string
	}
	must.Each(t, map[string]row{
		"fine":                  {"GET", "/repos/o/r/labels/bug", "", 200, label + "}", ""},
		"missing field":         {"GET", "/repos/o/r/labels/bug", "", 200, `{"id":1}`, "not as GitHub describes"},
		"wrong type":            {"GET", "/repos/o/r/labels/bug", "", 200, strings.Replace(label, `"id":1`, `"id":"1"`, 1) + "}", "not as GitHub describes"},
		"unknown field":         {"GET", "/repos/o/r/labels/bug", "", 200, label + `,"shade":"dark"}`, "GitHub describes no .shade"},
		"undocumented status":   {"GET", "/repos/o/r/labels/bug", "", 202, label + "}", "not documented"},
		"undocumented path":     {"GET", "/repos/o/r/shelves", "", 200, "{}", "no such operation"},
		"accepts a bad request": {"POST", "/repos/o/r/labels", `{"color":"ff0000"}`, 201, label + "}", "what GitHub's description refuses"},
		"refuses a bad request": {"POST", "/repos/o/r/labels", `{"color":"ff0000"}`, 422, `{"message":"Validation Failed","documentation_url":"http://x","errors":[{"code":"missing_field"}]}`, ""},
		"general error":         {"GET", "/repos/o/r/labels/bug", "", 401, `{"message":"Bad credentials","documentation_url":"http://x","status":"401"}`, ""},
		"error without words":   {"GET", "/repos/o/r/labels/bug", "", 403, `{"message":17}`, "403"},
		"slashes in a ref":      {"GET", "/repos/o/r/git/ref/heads/a/b", "", 404, `{"message":"Not Found","documentation_url":"http://x","status":"404"}`, ""},
	}, func(t *testing.T, c row) {
		r := httptest.NewRequest(c.method, conform.Prefix+c.path, strings.NewReader(c.sent))
		err := api.Check(r, []byte(c.sent), c.status, http.Header{"Content-Type": {"application/json"}}, []byte(c.body))
		if c.want == "" {
			assert.NoError(t, err)
		} else {
			assert.ErrorContains(t, err, c.want)
		}
	})
}
