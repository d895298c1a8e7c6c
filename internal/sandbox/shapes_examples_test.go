//go:build examples

package sandbox

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/must"
)

// kinds are the types that values have at each path: lists count as their entries.
type kinds map[string]map[string]bool

func (k kinds) add(path string, v any) {
	kind := "null"
	switch v := v.(type) {
	case bool:
		kind = "boolean"
	case string:
		kind = "text"
	case float64:
		kind = "number"
	case []any:
		kind = "list"
		for _, e := range v {
			k.add(path+"[]", e)
		}
	case map[string]any:
		kind = "object"
		for name, e := range v {
			k.add(path+"."+name, e)
		}
	}
	if k[path] == nil {
		k[path] = map[string]bool{}
	}
	k[path][kind] = true
}

// lacking lists what GitHub's values have and ours lack, or have of another type. Null may be any type, on both sides; what
// is below something that we have null or empty is not missed.
func lacking(github, ours kinds) []string {
	var wrong []string
	for _, path := range slices.Sorted(maps.Keys(github)) {
		above := path
		if i := strings.LastIndexAny(path, ".["); i > 0 {
			above = strings.TrimSuffix(path[:i], "[")
		}
		switch got := ours[path]; {
		case got == nil && strings.HasSuffix(path, "[]"):
		case got == nil && (ours[above]["object"] || above == path):
			wrong = append(wrong, path+" is missing")
		case got == nil:
		case !slices.ContainsFunc(slices.Collect(maps.Keys(got)), func(kind string) bool { return kind == "null" || github[path][kind] }) &&
			!maps.Equal(github[path], map[string]bool{"null": true}):
			wrong = append(wrong, fmt.Sprintf("%s is %v, GitHub's %v", path, slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(github[path]))))
		}
	}
	return wrong
}

func TestLackingSeesWhatIsWrong(t *testing.T) {
	of := func(text string) kinds {
		var v any
		require.NoError(t, json.Unmarshal([]byte(text), &v))
		k := kinds{}
		k.add("", v)
		return k
	}
	assert.Empty(t, lacking(of(`{"a": 1, "b": [{"c": "x"}], "d": null, "e": {"f": 1}}`), of(`{"a": 2, "b": [], "d": 7, "e": null, "more": 1}`)))
	assert.Equal(t, []string{".a is [text], GitHub's [number]", ".b[].c is missing", ".d is missing"},
		lacking(of(`{"a": 1, "b": [{"c": "x"}], "d": null}`), of(`{"a": "1", "b": [{}]}`)))
}

// recordedAnswer is one answer of GitHub's, as npm's @octokit/fixtures has it.
type recordedAnswer struct {
	Method, Path   string
	Body, Response any
	Status         int
}

func recordedAnswers(t *testing.T, scenario string) []recordedAnswer {
	t.Helper()
	raw := must.Get(os.ReadFile(filepath.Join(os.Getenv("MERGEXO_OCTOKIT_FIXTURES"), "scenarios", "api.github.com", scenario, "normalized-fixture.json")))(t)
	var all []recordedAnswer
	require.NoError(t, json.Unmarshal(raw, &all))
	require.NotEmpty(t, all)
	return all
}

// unsent are fields of answers that the sandbox does not send, and why.
var unsent = map[string]string{
	".organization":     "the recorded owner is an organization, the sandbox's a person",
	".temp_clone_token": "for cloning a private repository without a token, which nothing of ours does",
	".required_pull_request_reviews.dismissal_restrictions": "who may dismiss reviews is not served",
}

// unserved are the requests that the sandbox does not serve, by what is in their path.
var unserved = map[string]string{
	"invitations":                  "collaborators are made by the sandbox's own API",
	"/collaborators/octokit-":      "the same, and such a user is not there",
	"/hello-world/contents/README": "it was asked for as it is, not as JSON",
	"1/status":                     "MergeXO reads the statuses of a commit by GraphQL",
}

var fixtureRepository = regexp.MustCompile(`^/repos/octokit-fixture-org/[^/?]+|^/repositories/1000`)

// answeredAs sends a recorded request to the sandbox and compares the answers. It says whether there were any to compare.
func answeredAs(t *testing.T, w *town, a recordedAnswer, known *strings.Replacer) bool {
	t.Helper()
	sent := must.Get(json.Marshal(a.Body))(t)
	var body any
	require.NoError(t, json.Unmarshal([]byte(known.Replace(string(sent))), &body))
	if body == "" {
		body = nil
	}
	path := known.Replace(fixtureRepository.ReplaceAllString(a.Path, repoPath))
	got := w.as("octo", strings.ToUpper(a.Method), path, body)
	assert.Equal(t, a.Status, got.status, "%s %s: %s", a.Method, a.Path, got.body)
	var ours any
	if a.Response == "" || json.Unmarshal(got.body, &ours) != nil {
		return false
	}
	want, have := kinds{}, kinds{}
	want.add("", a.Response)
	have.add("", ours)
	for _, l := range lacking(want, have) {
		field, _, _ := strings.Cut(l, " ")
		if unsent[field] == "" {
			assert.Fail(t, l, "%s %s", a.Method, a.Path)
		}
	}
	return true
}

// The requests that were recorded are sent to the sandbox in their order. It answers with the same status, and with all that
// GitHub's answer has, of the same types.
func TestTheSandboxAnswersAsGitHubDid(t *testing.T) {
	for scenario, least := range map[string]int{
		"add-labels-to-issue": 2, "branch-protection": 3, "create-file": 1, "create-status": 2, "errors": 1, "get-content": 1, "get-repository": 1, "labels": 4,
		"lock-issue": 0, "paginate-issues": 5, "git-refs": 4, "add-and-remove-repository-collaborator": 2,
	} {
		t.Run(scenario, func(t *testing.T) {
			w := newTown(t)
			main := w.as("octo", "GET", repoPath+"/git/ref/heads/main", nil).want(200).obj()["object"].(obj)["sha"].(string)
			tree := w.as("octo", "GET", repoPath+"/git/commits/"+main, nil).want(200).obj()["tree"].(obj)["sha"]
			further := w.as("octo", "POST", repoPath+"/git/commits", obj{"message": "More", "tree": tree, "parents": []any{main}}).want(201).obj()["sha"].(string)
			for n := range 13 {
				if n == 0 || scenario == "paginate-issues" {
					w.as("octo", "POST", repoPath+"/issues", obj{"title": fmt.Sprint("Issue ", n)}).want(201)
				}
			}
			const sha = "000000000000000000000000000000000000000"
			known := strings.NewReplacer(sha+"1", further, sha+"2", main)
			compared := 0
			for _, a := range recordedAnswers(t, scenario) {
				if slices.ContainsFunc(slices.Collect(maps.Keys(unserved)), func(s string) bool { return strings.Contains(a.Path, s) }) {
					continue
				}
				if strings.HasSuffix(a.Path, "/git/refs/") { // as it was called then
					a.Path = strings.TrimSuffix(a.Path, "refs/") + "matching-refs/"
				}
				if answeredAs(t, w, a, known) {
					compared++
				}
			}
			assert.GreaterOrEqual(t, compared, least)
		})
	}
}
