//go:build examples

package github

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
)

// recordedAnswers is a transport that answers with what GitHub has answered to the SDK of its own, from npm's
// @octokit/fixtures: the first answer whose request has the method and ends with the path. Anything else is not found.
type recordedAnswers struct {
	method, path string
	all          []recordedAnswer
	used         int
}

type recordedAnswer struct {
	Method, Path string
	Status       int
	Response     json.RawMessage
}

func answersOf(t *testing.T, scenario, method, path string) *recordedAnswers {
	t.Helper()
	raw := must.Get(os.ReadFile(filepath.Join(os.Getenv("MERGEXO_OCTOKIT_FIXTURES"), "scenarios", "api.github.com", scenario, "normalized-fixture.json")))(t)
	r := &recordedAnswers{method: method, path: path}
	require.NoError(t, json.Unmarshal(raw, &r.all))
	return r
}

// RoundTrip implements http.RoundTripper.
func (r *recordedAnswers) RoundTrip(req *http.Request) (*http.Response, error) {
	answer := recordedAnswer{Status: http.StatusNotFound, Response: json.RawMessage(`{"message": "Not Found"}`)}
	if i := slices.IndexFunc(r.all, func(a recordedAnswer) bool {
		return strings.EqualFold(a.Method, r.method) && a.Method == strings.ToLower(req.Method) && strings.HasSuffix(a.Path, r.path)
	}); i >= 0 && r.used == 0 {
		r.used++
		answer = r.all[i]
	}
	header := http.Header{"Content-Type": {"application/json; charset=utf-8"}}
	return &http.Response{StatusCode: answer.Status, Header: header, Body: io.NopCloser(bytes.NewReader(answer.Response)), Request: req}, nil
}

func TestGitHubsRecordedAnswersAreUnderstood(t *testing.T) {
	repo := model.Repo{Owner: "octokit-fixture-org", Name: "hello-world"}
	const sha = "0000000000000000000000000000000000000001"
	for _, c := range []struct {
		scenario, method, path string
		read                   func(ctx context.Context, c *Client) (any, error)
		want                   string
	}{
		{"git-refs", "GET", "/git/refs/", func(ctx context.Context, c *Client) (any, error) { return c.Refs.List(ctx, repo, "refs/heads/") }, "[{refs/heads/main " + sha + "}]"},
		{"git-refs", "POST", "/git/refs", func(ctx context.Context, c *Client) (any, error) {
			return "made", c.Refs.Create(ctx, repo, "refs/heads/test", sha)
		}, "made"},
		{"git-refs", "DELETE", "/git/refs/heads/test", func(ctx context.Context, c *Client) (any, error) {
			return "gone", c.Refs.Delete(ctx, repo, "refs/heads/test")
		}, "gone"},
		{"labels", "GET", "/labels/test-label", func(ctx context.Context, c *Client) (any, error) {
			has, why := c.Repositories.HasLabel(ctx, repo, "test-label")
			return fmt.Sprint(has, why), nil
		}, "true"},
		{"get-content", "GET", "/contents/", func(ctx context.Context, c *Client) (any, error) {
			files, err := c.Repositories.Files(ctx, repo, "", ".github")
			return len(files), err
		}, "1"},
		{"add-labels-to-issue", "POST", "/issues", func(ctx context.Context, c *Client) (any, error) {
			number, url, err := c.Issues.Open(ctx, repo, "Issue without a label", "")
			return fmt.Sprint(number, " ", url), err
		}, "1 https://github.com/octokit-fixture-org/add-labels-to-issue/issues/1"},
		{"get-repository", "GET", "/hello-world", func(ctx context.Context, c *Client) (any, error) {
			f, err := c.Repositories.Facts(ctx, repo)
			return f.DefaultBranch, err
		}, "master"},
		{"branch-protection", "GET", "/protection", func(ctx context.Context, c *Client) (any, error) {
			return c.Repositories.PushDemands(ctx, repo, "main", Pusher{})
		}, "[]"},
		{"errors", "POST", "/labels", func(ctx context.Context, c *Client) (any, error) {
			_, _, err := c.Issues.Open(ctx, repo, "Any", "")
			return string(KindOf(err)) + ": " + err.Error(), nil
		}, "invalid: open an issue in octokit-fixture-org/hello-world: Validation Failed; Label.color: invalid (422)"},
		{"rename-repository", "GET", "/rename-repository", func(ctx context.Context, c *Client) (any, error) {
			_, err := c.Repositories.Facts(ctx, repo)
			return KindOf(err), nil // without the header that says where to
		}, "moved"},
	} {
		answers := answersOf(t, c.scenario, c.method, c.path)
		client := must.Get(New(Options{APIURL: "https://api.github.com", Token: "none", Transport: answers, Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }}))(t)
		assert.Equal(t, c.want, fmt.Sprint(must.Get(c.read(t.Context(), client))(t, c.scenario)), c.scenario+" "+c.method)
		assert.Equal(t, 1, answers.used, "%s: the answer was not asked for", c.scenario)
	}
}
