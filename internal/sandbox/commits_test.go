package sandbox

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/must"
)

// row puts n commits onto a new branch that begins where main is, the first of them with the message "c0".
func (w *gqlWorld) row(branch string, n int) {
	w.t.Helper()
	var in strings.Builder
	for i := range n {
		subject := fmt.Sprint("c", i)
		fmt.Fprintf(&in, "commit refs/heads/%s\ncommitter ann <ann@example.com> %d +0000\ndata %d\n%s\n", branch, w.now.Unix()+int64(i), len(subject), subject)
		if i == 0 {
			in.WriteString("from refs/heads/main^0\n")
		}
	}
	require.NoError(w.t, must.Err(runGit(w.git.path(w.repo), nil, []byte(in.String()), "fast-import", "--quiet")))
	require.NoError(w.t, w.refs.sync(w.repo, w.world.user("octo")))
}

func (w *gqlWorld) get(path string, out any) int {
	w.t.Helper()
	rec := httptest.NewRecorder()
	w.ServeHTTP(rec, httptest.NewRequest(http.MethodGet, restPrefix+"/repos/octo/widgets/"+path, nil))
	require.NoError(w.t, json.Unmarshal(rec.Body.Bytes(), out), rec.Body.String())
	return rec.Code
}

// https://docs.github.com/rest/commits/commits#compare-two-commits: pages begin with the oldest, no page has the newest 250.
func TestALongComparison(t *testing.T) {
	w := newGQLWorld(t)
	w.row("long", 260)
	for query, want := range map[string][3]any{
		"":                    {250, "c10", "c259"},
		"?per_page=100":       {100, "c0", "c99"},
		"?page=1":             {30, "c0", "c29"},
		"?per_page=5&page=52": {5, "c255", "c259"},
	} {
		var got struct {
			Total   int `json:"total_commits"`
			Commits []struct{ Commit struct{ Message string } }
		}
		require.Equal(t, 200, w.get("compare/main...long"+query, &got))
		assert.Equal(t, 260, got.Total)
		last := len(got.Commits) - 1
		assert.Equal(t, want, [3]any{len(got.Commits), got.Commits[0].Commit.Message, got.Commits[last].Commit.Message}, query)
	}
}
