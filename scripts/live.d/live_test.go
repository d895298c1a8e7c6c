package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/must"
	"github.com/mergexo/mergexo/internal/sandbox"
)

// shipped are the records that are checked in.
const shipped = "testdata/live"

// TestMain lets the test binary be this program: mergexo in a story, or itself where it is to be killed.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == asMergeXO || os.Getenv("MERGEXO_TEST_LIVE") != "" {
		main()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// recorded runs steps against the sandbox, and gives where their records are.
func recorded(t *testing.T, front func(http.Handler) http.Handler, only ...string) string {
	t.Helper()
	dir := t.TempDir()
	o := options{sandbox: true, only: only, record: dir, front: front, patience: time.Minute}
	if front != nil {
		o.patience = 1 // what does not come is not waited for
	}
	var said bytes.Buffer
	err := o.run(t.Context(), func(string) string { return "" }, io.Discard, &said)
	if front == nil {
		require.NoError(t, err, "%s", said.String())
	}
	return dir
}

// A difference is one of the record, be it the sandbox's or the step's. Where it is meant: scripts/live --sandbox --record
// scripts/live.d/testdata/live/sandbox.
func TestTheSandboxAnswersAsRecorded(t *testing.T) {
	some := []string{"identity", "gateway", "edits", "reactions", "locked"}
	var table bytes.Buffer
	assert.NoError(t, compareDirs(shipped+"/sandbox", recorded(t, nil, some...), some, &table), "%s", table.String())
	assert.Contains(t, table.String(), "5 steps compared, 0 differences, 0 of them matter")
}

func TestADifferenceOfTheSandboxIsNamed(t *testing.T) {
	found(t, planted{"a reaction that is there is made again", "reactions", "again/status", answers(func(r *http.Request, a *altered) {
		if strings.HasSuffix(r.URL.Path, "/reactions") && a.status == 200 && r.Method == "POST" {
			a.status = 201
		}
	})})
}

// planted is a sandbox that answers otherwise, and the field of a step that has to show it.
type planted struct {
	what, step, field string
	front             func(http.Handler) http.Handler
}

// found fails unless the program exits with 1 and names the step and the field.
func found(t *testing.T, p planted) {
	t.Helper()
	var table bytes.Buffer
	err := run(t.Context(), []string{"--compare", "--only", p.step, shipped + "/sandbox", recorded(t, p.front, p.step)}, os.Getenv, &table, io.Discard)
	require.ErrorIs(t, err, errFound, "%s: %s", p.what, table.String())
	named := false
	for line := range strings.Lines(table.String()) {
		f := strings.Fields(line)
		named = named || len(f) > 2 && f[0] == p.step && strings.Contains(line, p.field) && strings.HasSuffix(strings.TrimSpace(line), "yes")
	}
	assert.True(t, named, "%s: want %s %s in\n%s", p.what, p.step, p.field, table.String())
}

// altered is an answer on its way.
type altered struct {
	status int
	header http.Header
	body   []byte
}

// replace changes the body by its text.
func (a *altered) replace(old, by string) {
	a.body = bytes.Replace(a.body, []byte(old), []byte(by), 1)
}

// answers lets a function change what the sandbox's API answers; git is left alone.
func answers(change func(r *http.Request, a *altered)) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !strings.HasPrefix(r.URL.Path, "/api/") {
				next.ServeHTTP(w, r)
				return
			}
			kept := &kept{header: w.Header(), status: http.StatusOK}
			next.ServeHTTP(kept, r)
			a := &altered{kept.status, w.Header(), kept.text.Bytes()}
			change(r, a)
			w.WriteHeader(a.status)
			_, _ = w.Write(a.body)
		})
	}
}

// requests lets a function change what the sandbox is asked.
func requests(change func(r *http.Request, body string) string) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasPrefix(r.URL.Path, "/api/") || strings.HasPrefix(r.URL.Path, "/_sandbox/") {
				raw, err := io.ReadAll(r.Body)
				if err != nil {
					http.Error(w, err.Error(), http.StatusBadRequest)
					return
				}
				text := change(r, string(raw))
				r.Body, r.ContentLength = io.NopCloser(strings.NewReader(text)), int64(len(text))
			}
			next.ServeHTTP(w, r)
		})
	}
}

type kept struct {
	header http.Header
	status int
	text   bytes.Buffer
}

func (k *kept) Header() http.Header         { return k.header }
func (k *kept) WriteHeader(status int)      { k.status = status }
func (k *kept) Write(b []byte) (int, error) { return k.text.Write(b) }

// scratch is a sandbox that stands for GitHub: this program is told its address, and a token.
type scratch struct {
	t   *testing.T
	url string
}

func newScratch(t *testing.T, description string) *scratch {
	t.Helper()
	s := must.Get(sandbox.New(sandbox.Options{StateDir: t.TempDir()}))(t)
	t.Cleanup(func() { assert.NoError(t, s.Close()) })
	urls := must.Get(s.Start("127.0.0.1:0"))(t)
	w := &scratch{t, urls.Server}
	w.call("PATCH", "", facts{"description": description})
	return w
}

// call asks the repository's API as its owner.
func (s *scratch) call(method, path string, body any) any {
	s.t.Helper()
	raw := must.Get(json.Marshal(body))(s.t)
	req := must.Get(http.NewRequestWithContext(context.Background(), method, s.url+"/api/v3/repos/octo/widgets"+path, bytes.NewReader(raw)))(s.t)
	req.Header.Set("Authorization", "Bearer sandbox-octo")
	resp := must.Get(http.DefaultClient.Do(req))(s.t)
	defer resp.Body.Close()
	var out any
	_ = json.NewDecoder(resp.Body).Decode(&out) // nothing is of no interest
	require.Less(s.t, resp.StatusCode, 300, "%s %s: %v", method, path, out)
	return out
}

// env is what the program finds in its environment.
func (s *scratch) env(token string) func(string) string {
	return func(name string) string {
		return map[string]string{"GITHUB_API_URL": s.url + "/api/v3", "GITHUB_GRAPHQL_URL": s.url + "/api/graphql", "GITHUB_SERVER_URL": s.url, "GITHUB_TOKEN": token}[name]
	}
}

// left is everything of ours that is still there.
func (s *scratch) left() []string {
	s.t.Helper()
	var left []string
	note := func(list any, key string) {
		all, _ := list.([]any)
		for _, e := range all {
			if text := fmt.Sprint(at(e, key)); strings.Contains(text, prefix) {
				left = append(left, text)
			}
		}
	}
	note(s.call("GET", "/git/matching-refs/", nil), "ref")
	note(s.call("GET", "/issues?state=open", nil), "title")
	note(s.call("GET", "/labels", nil), "name")
	note(s.call("GET", "/rulesets", nil), "name")
	note(s.call("GET", "/branches?protected=true", nil), "name")
	note(s.call("GET", "/contents/", nil), "name")
	return left
}

func TestARepositoryThatIsNoScratchIsLeftAlone(t *testing.T) {
	unmarked, marked := newScratch(t, "Widgets of all kinds"), newScratch(t, "a mergexo scratch")
	for _, c := range []struct {
		s     *scratch
		token string
		args  []string
		want  string
	}{
		{unmarked, "sandbox-octo", []string{"--only", "identity", "octo/widgets"}, `octo/widgets is not marked as a scratch repository: put "mergexo scratch" into its description, or say --i-know`},
		{marked, "sandbox-eve", []string{"--only", "identity", "octo/widgets"}, "the token's account is no administrator of octo/widgets: use one that is"},
		{marked, "", []string{"octo/widgets"}, "GITHUB_TOKEN is not set: want a token of an administrator of octo/widgets"},
		{marked, "sandbox-octo", []string{"octo"}, `"octo": want OWNER/SCRATCH`},
		{marked, "sandbox-octo", []string{"--only", "everything", "octo/widgets"}, "--only everything: there is no such step; --list names them"},
		{marked, "sandbox-octo", nil, usage},
	} {
		assert.EqualError(t, run(t.Context(), c.args, c.s.env(c.token), io.Discard, io.Discard), c.want)
		assert.Empty(t, c.s.left())
	}
	for i := range most + 1 {
		marked.call("POST", "/issues", facts{"title": fmt.Sprint("Somebody's ", i)})
	}
	assert.ErrorContains(t, run(t.Context(), []string{"--only", "identity", "octo/widgets"}, marked.env("sandbox-octo"), io.Discard, io.Discard), "has 11 open issues and pull requests that this script has not made")
	require.NoError(t, run(t.Context(), []string{"--i-know", "--only", "identity", "octo/widgets"}, unmarked.env("sandbox-octo"), io.Discard, io.Discard))
}

func TestNothingIsLeftBehind(t *testing.T) {
	s := newScratch(t, marked)
	o := options{repository: "octo/widgets", only: []string{"protection", "hidden", "refs", "locked"}, record: t.TempDir(), between: 1}
	require.NoError(t, o.run(t.Context(), s.env("sandbox-octo"), io.Discard, io.Discard))
	assert.Empty(t, s.left())
	got := must.Get(readRecords(o.record))(t)
	assert.Len(t, got, 4)
	assert.Equal(t, "github", got["refs"].Who)
}

// What a token says is in no record.
func TestRecordsHaveNoSecrets(t *testing.T) {
	files := must.Get(filepath.Glob(shipped + "/*/*.json"))(t)
	require.NotEmpty(t, files)
	for _, file := range files {
		raw := must.Get(os.ReadFile(file))(t)
		assert.NotRegexp(t, tokenLike, string(raw), file)
		for _, word := range []string{"sandbox-", "127.0.0.1", "octo"} {
			assert.NotContains(t, string(raw), word, file)
		}
	}
}
