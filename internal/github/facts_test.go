package github

import (
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
	"github.com/mergexo/mergexo/internal/sandbox/conform"
)

func TestFactsOfTheSandbox(t *testing.T) {
	w := newWorld(t)
	f := must.Get(w.client("octo").Repositories.Facts(t.Context(), widgets))(t)
	assert.Equal(t, model.RepositoryFacts{
		Repo: widgets, DefaultBranch: "main", Push: true, PushKnown: true,
		Actions: model.ActionsRights{Known: true, DefaultWrite: true, PullRequests: true}, Demands: model.BranchDemands{Known: true},
		Methods: []string{"merge", "squash", "rebase"},
	}, f)

	w.as("octo", "PATCH", "", map[string]any{"allow_merge_commit": false, "allow_rebase_merge": false})
	assert.Equal(t, []string{"squash"}, must.Get(w.client("octo").Repositories.Facts(t.Context(), widgets))(t).Methods)

	w.as("octo", "PUT", "actions/permissions/workflow", map[string]any{"default_workflow_permissions": "read", "can_approve_pull_request_reviews": false})
	w.as("octo", "PUT", "branches/main/protection", map[string]any{"enforce_admins": true, "required_pull_request_reviews": nil,
		"required_status_checks": map[string]any{"strict": false, "contexts": []string{"ci"}}, "restrictions": map[string]any{"users": []string{"grace"}, "teams": []string{}}})
	c := w.client("octo")
	f = must.Get(c.Repositories.Facts(t.Context(), widgets))(t)
	assert.Equal(t, "6 REST, 0 GraphQL", calls(c))
	assert.Equal(t, model.ActionsRights{Known: true}, f.Actions)
	assert.Equal(t, model.BranchDemands{Known: true, List: []model.Demand{
		{Kind: model.DemandChecks, Source: "branch protection", Names: []string{"ci"}},
		{Kind: model.DemandPushers, Source: "branch protection", Names: []string{"grace"}},
	}}, f.Demands)

	f = must.Get(w.client("actions").Repositories.Facts(t.Context(), widgets))(t)
	const hidden = "GitHub does not show it to this token"
	assert.Equal(t, model.ActionsRights{Why: hidden}, f.Actions)
	assert.Equal(t, model.BranchDemands{Why: hidden, List: []model.Demand{{Kind: model.DemandChecks, Source: "branch protection", Names: []string{"ci"}}}}, f.Demands)

	_, err := w.client("octo").Repositories.Facts(t.Context(), model.Repo{Owner: "octo", Name: "nope"})
	assert.Equal(t, NotFound, KindOf(err))
	_, err = w.client("octo").Repositories.Facts(t.Context(), model.Repo{Owner: "octo", Name: "../nope"})
	assert.Equal(t, Invalid, KindOf(err))
}

func TestFilesOfTheSandbox(t *testing.T) {
	w := newWorld(t)
	w.put("main", ".github/workflows/a.yml", "on: push\n")
	w.put("main", ".github/workflows/b/c.yml", "on: push\n")
	w.put("main", ".github/mergexo.toml", "[agent]\n")
	c := w.client("octo")
	files := must.Get(c.Repositories.Files(t.Context(), widgets, "", ".github/workflows"))(t)
	require.Len(t, files, 1, "a directory is no file")
	assert.Equal(t, model.RepositoryFile{Path: ".github/workflows/a.yml", SHA: "b83836ed8c80558d4e40ea4ac5d69f4405334799", Size: 9}, files[0])
	f, ok, err := c.Repositories.File(t.Context(), widgets, "", ".github/workflows/a.yml")
	require.NoError(t, err)
	assert.True(t, ok)
	assert.Equal(t, "on: push\n", f.Text)
	assert.Equal(t, files[0].SHA, f.SHA)

	assert.Empty(t, must.Get(c.Repositories.Files(t.Context(), widgets, "", "nowhere"))(t))
	_, ok, err = c.Repositories.File(t.Context(), widgets, "", ".github/workflows")
	require.NoError(t, err)
	assert.False(t, ok, "a directory is no file")
	_, ok, err = c.Repositories.File(t.Context(), widgets, "", "nowhere")
	require.NoError(t, err)
	assert.False(t, ok)
}

// answers is a GitHub that gives what its description allows: path -> body, with a status before it unless it is 200.
func answers(t *testing.T, header map[string]string, bodies map[string]string) *Client {
	t.Helper()
	server := httptest.NewServer(conform.Handler(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		for k, v := range header {
			w.Header().Set(k, v)
		}
		body, ok := bodies[strings.TrimPrefix(r.URL.Path, "/api/v3/repos/octo/widgets")]
		status := http.StatusOK
		if !ok {
			status, body = http.StatusNotFound, `{"message": "Not Found", "documentation_url": "https://docs.github.com/rest", "status": "404"}`
		} else if _, err := fmt.Sscanf(body, "%d ", &status); err == nil {
			body = body[4:]
		}
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	})))
	t.Cleanup(server.Close)
	return must.Get(New(Options{APIURL: server.URL + "/api/v3", Token: secret}))(t)
}

// repository is what GitHub says of octo/widgets, cut from the sandbox.
func repository(t *testing.T) string {
	t.Helper()
	return newWorld(t).read("")
}

// read is what the sandbox answers octo.
func (w *world) read(path string) string {
	w.t.Helper()
	req := must.Get(http.NewRequestWithContext(w.t.Context(), http.MethodGet, w.urls.API+"/repos/octo/widgets"+path, nil))(w.t)
	req.Header.Set("Authorization", "Bearer sandbox-octo")
	resp := must.Get(http.DefaultClient.Do(req))(w.t)
	defer resp.Body.Close()
	return string(must.Get(io.ReadAll(resp.Body))(w.t))
}

const unprotected = `{"message": "Branch not protected", "documentation_url": "https://docs.github.com/rest", "status": "404"}`

func TestDemandsOfRulesets(t *testing.T) {
	c := answers(t, nil, map[string]string{
		"": repository(t),
		"/rules/branches/main": `[
			{"type": "deletion", "ruleset_source_type": "Repository", "ruleset_source": "octo/widgets", "ruleset_id": 42},
			{"type": "pull_request", "ruleset_source_type": "Repository", "ruleset_source": "octo/widgets", "ruleset_id": 42, "parameters": {"allowed_merge_methods": ["squash"],
				"dismiss_stale_reviews_on_push": false, "require_code_owner_review": false, "require_last_push_approval": false, "required_approving_review_count": 1, "required_review_thread_resolution": false}},
			{"type": "required_status_checks", "ruleset_source_type": "Organization", "ruleset_source": "octo", "ruleset_id": 73,
				"parameters": {"required_status_checks": [{"context": "lint", "integration_id": 1234}], "strict_required_status_checks_policy": true}},
			{"type": "required_linear_history", "ruleset_id": 42}, {"type": "required_signatures", "ruleset_id": 42}, {"type": "update", "ruleset_id": 42}]`,
		"/branches/main":            branchBody(t, true),
		"/branches/main/protection": "404 " + unprotected,
	})
	f := must.Get(c.Repositories.Facts(t.Context(), widgets))(t)
	assert.Equal(t, model.BranchDemands{Known: true, List: []model.Demand{
		{Kind: model.DemandPull, Source: "ruleset 42", Bypass: true, Ruleset: 42, Methods: []string{"squash"}},
		{Kind: model.DemandChecks, Source: "ruleset 73", Names: []string{"lint"}, Bypass: true, Ruleset: 73},
		{Kind: model.DemandLinear, Source: "ruleset 42", Bypass: true, Ruleset: 42},
		{Kind: model.DemandSignatures, Source: "ruleset 42", Bypass: true, Ruleset: 42},
		{Kind: model.DemandPushers, Source: "ruleset 42", Bypass: true, Ruleset: 42},
	}}, f.Demands)
	assert.False(t, f.Actions.Known)
}

func TestDemandsOfBranchProtection(t *testing.T) {
	c := answers(t, nil, map[string]string{
		"":                     repository(t),
		"/rules/branches/main": `[]`,
		"/branches/main":       branchBody(t, true),
		"/branches/main/protection": `{"url": "http://x", "enforce_admins": {"url": "http://x", "enabled": true},
			"required_pull_request_reviews": {"url": "http://x", "dismiss_stale_reviews": true, "require_code_owner_reviews": false, "required_approving_review_count": 2,
				"require_last_push_approval": false, "bypass_pull_request_allowances": {"users": [], "teams": [], "apps": []}},
			"required_linear_history": {"enabled": true}, "required_signatures": {"url": "http://x", "enabled": true}, "lock_branch": {"enabled": true},
			"required_status_checks": {"url": "http://x", "strict": true, "contexts": ["old"], "contexts_url": "http://x", "checks": [{"context": "new", "app_id": null}]}}`,
	})
	f := must.Get(c.Repositories.Facts(t.Context(), widgets))(t)
	const protection = "branch protection"
	assert.Equal(t, model.BranchDemands{Known: true, List: []model.Demand{
		{Kind: model.DemandPull, Source: protection}, {Kind: model.DemandChecks, Source: protection, Names: []string{"new"}},
		{Kind: model.DemandLinear, Source: protection}, {Kind: model.DemandSignatures, Source: protection}, {Kind: model.DemandLocked, Source: protection},
	}}, f.Demands)
}

func TestDemandsThatAreNotShown(t *testing.T) {
	type row struct {
		bodies map[string]string
		known  bool
		why    string
	}
	must.Each(t, map[string]row{
		"no rulesets on this server": {map[string]string{}, false, "GitHub does not show it to this token"},
		"no branch yet":              {map[string]string{"/rules/branches/main": "[]"}, false, "GitHub does not show it to this token"},
		"not protected":              {map[string]string{"/rules/branches/main": "[]", "/branches/main": branchBody(t, false)}, true, ""},
	}, func(t *testing.T, c row) {
		c.bodies[""] = repository(t)
		f := must.Get(answers(t, nil, c.bodies).Repositories.Facts(t.Context(), widgets))(t)
		assert.Equal(t, model.BranchDemands{Known: c.known, Why: c.why}, f.Demands)
	})
}

func branchBody(t *testing.T, protected bool) string {
	t.Helper()
	w := newWorld(t)
	if protected {
		w.as("octo", "PUT", "branches/main/protection", map[string]any{"enforce_admins": true, "required_pull_request_reviews": nil, "required_status_checks": nil, "restrictions": nil})
	}
	return w.read("/branches/main")
}

func TestScopesOfClassicTokens(t *testing.T) {
	for header, want := range map[string][]string{"repo, workflow": {"repo", "workflow"}, "": nil} {
		f := must.Get(answers(t, map[string]string{"X-OAuth-Scopes": header}, map[string]string{"": repository(t)}).Repositories.Facts(t.Context(), widgets))(t)
		assert.True(t, f.ScopesKnown)
		assert.ElementsMatch(t, want, f.Scopes)
	}
	assert.False(t, must.Get(answers(t, nil, map[string]string{"": repository(t)}).Repositories.Facts(t.Context(), widgets))(t).ScopesKnown)
}

func TestLargeAndSpoiltFiles(t *testing.T) {
	entry := func(size int, content string) string {
		return fmt.Sprintf(`{"type": "file", "encoding": "base64", "size": %d, "name": "a", "path": "a", "content": %q, "sha": "x", "url": "http://x",
			"git_url": null, "html_url": null, "download_url": null, "_links": {"git": null, "html": null, "self": "http://x"}}`, size, content)
	}
	c := answers(t, nil, map[string]string{
		"/contents/large":  entry(LargestFile+1, ""),
		"/contents/spoilt": entry(4, "!!"),
		"/contents/fine":   entry(6, base64.StdEncoding.EncodeToString([]byte("abc"))[:2]+"\n"+base64.StdEncoding.EncodeToString([]byte("abc"))[2:]+"\n"),
	})
	f, ok, err := c.Repositories.File(t.Context(), widgets, "", "large")
	require.NoError(t, err)
	assert.True(t, ok && f.Large && f.Text == "")
	_, _, err = c.Repositories.File(t.Context(), widgets, "", "spoilt")
	assert.ErrorContains(t, err, "not base64")
	f, _, err = c.Repositories.File(t.Context(), widgets, "", "fine")
	require.NoError(t, err)
	assert.Equal(t, "abc", f.Text)
}

func TestNamesOfFilesAreAskedForAsTheyAre(t *testing.T) {
	w := newWorld(t)
	for _, name := range []string{"docs/v1..v2.md", "docs/..a", "docs/a b?#%2F.md"} {
		w.put("main", (&url.URL{Path: name}).EscapedPath(), name)
		f, ok, err := w.client("actions").Repositories.File(t.Context(), widgets, "main", name)
		require.NoError(t, err, name)
		assert.True(t, ok && f.Path == name && f.Text == name, "%q: %q", name, f.Path)
	}
	c := w.client("actions")
	for dir, want := range map[string]int{"docs": 3, "./docs/": 3, "docs/x..y": 0} {
		assert.Len(t, must.Get(c.Repositories.Files(t.Context(), widgets, "", dir))(t, dir), want, dir)
	}
	assert.NotEmpty(t, must.Get(c.Repositories.Files(t.Context(), widgets, "", "."))(t))
	before := calls(c)
	for _, name := range []string{"..", "../gadgets/contents/a.md", "docs/../../gadgets"} {
		_, ok, err := c.Repositories.File(t.Context(), widgets, "", name)
		require.NoError(t, err, name)
		assert.False(t, ok, name)
	}
	assert.Equal(t, before, calls(c), "no repository has such a file")
}

func TestTokenKind(t *testing.T) {
	assert.Equal(t, "fine-grained personal token", TokenKind("github_pat_11A"))
	assert.Equal(t, "App's or workflow's token", TokenKind(secret))
	assert.Empty(t, TokenKind("0123456789abcdef"))
	assert.True(t, HasPerson("github_pat_11A"))
	assert.False(t, HasPerson(secret) || HasPerson("0123456789abcdef"))
}
