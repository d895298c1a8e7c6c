package report

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/golden"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
)

func TestASweepAsPeopleReadIt(t *testing.T) {
	board := model.Board{Pulls: make([]model.BoardPull, 9), Untracked: 3, Issues: make([]model.BoardIssue, 1)}
	own := func(r model.Result, reason string) model.Report {
		return model.Report{Result: r, Reason: reason, Calls: model.Calls{REST: 1, GraphQL: 2}}
	}
	done := model.Report{Number: 7, Result: model.ResultDone, HeadSHA: newHead, Calls: model.Calls{REST: 3, GraphQL: 4, Git: 2}, Said: []model.Saying{{Where: "comment on #7", Text: "Done.\x1b[31m"}}}
	opened := model.Report{Number: 9, IsIssue: true, Result: model.ResultDone, Opened: model.PullRef{Number: 12, HeadSHA: newHead}}
	for name, c := range map[string]struct {
		board model.Board
		all   []model.Report
	}{
		"quiet":        {board, []model.Report{own(model.ResultNothing, "")}},
		"empty":        {model.Board{}, []model.Report{own(model.ResultNothing, "")}},
		"visited":      {board, []model.Report{{Number: 8, Result: model.ResultNothing, Reason: "nothing pending"}, own(model.ResultNothing, "")}},
		"worked":       {board, []model.Report{done, opened, {Number: 8, Result: model.ResultBlocked, Reason: "blocked: x"}, own(model.ResultNothing, "")}},
		"stopped":      {board, []model.Report{done, {Number: 11, Result: model.ResultFailed, Reason: "the agent failed\nmore"}, own(model.ResultRetry, "40 more need work, left for the next sweep")}},
		"went nowhere": {model.Board{}, []model.Report{own(model.ResultRetry, "the limit\n::error::x")}},
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			require.NoError(t, SweepAccount(&b, c.board, c.all))
			golden.File(t, "sweep_"+strings.ReplaceAll(name, " ", "_")+".txt", b.String())
		})
	}
	var b bytes.Buffer
	require.NoError(t, Results(&b, []model.Report{{Result: model.ResultNothing}}))
	assert.Contains(t, b.String(), `{"results":[{"result":"nothing","exit":0`)
	assert.Contains(t, b.String(), `"effects":[]`)
	b.Reset()
	require.NoError(t, Results(&b, nil))
	assert.Equal(t, "{\"results\":[]}\n", b.String())
}

// Whatever stands in a matrix, it is one output, since JSON has no line break in it.
func TestAMatrixIsOneOutput(t *testing.T) {
	file := filepath.Join(t.TempDir(), "output")
	m := model.Matrix{Include: []model.MatrixJob{{Group: "7", Only: "7", Why: "a\nwork=false\r\nmatrix<<EOF"}}}
	require.NoError(t, MatrixOutput(file, m, 0))
	raw := must.Get(os.ReadFile(file))(t)
	assert.Equal(t, "matrix={\"include\":[{\"group\":\"7\",\"only\":\"7\",\"why\":\"a\\nwork=false\\r\\nmatrix\\u003c\\u003cEOF\"}]}\nwork=true\nmax-parallel=1\n", string(raw))
	require.NoError(t, MatrixOutput("", m, 1))
}
