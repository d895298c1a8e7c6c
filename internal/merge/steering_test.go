package merge_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/golden"
	"github.com/mergexo/mergexo/internal/merge"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
)

func TestAMergeOfWhatSteersARepositorySaysSo(t *testing.T) {
	t.Parallel()
	assert.Empty(t, merge.SteeringNotes([]string{"a.go", "docs/workflows/x.yml"}))
	all := []string{".github/mergexo.toml", ".github/mergexo/setup/action.yml", ".github/workflows/a.yml", ".GITHUB/workflows/b.yml", "a.go", ".gitmodules", "docs/CODEOWNERS"}
	assert.Equal(t, []string{"It changes files that control this repository: MergeXO's settings (.github/mergexo.toml), workflows (.github/workflows/a.yml, .GITHUB/workflows/b.yml), " +
		"what MergeXO's jobs install (.github/mergexo/setup/action.yml), code owners (docs/CODEOWNERS), submodules (.gitmodules)"}, merge.SteeringNotes(all))
	paths := []string{".github/mergexo.toml", ".github/CODEOWNERS", ".GitHub/Workflows/@octo`<b>.yml", "a.go"}
	for i := range 6 {
		paths = append(paths, fmt.Sprintf(".github/actions/a%d/action.yml", i))
	}
	m := with(func(m *model.MergeMarker) { m.Landed = d })
	golden.Text(t, "done_steering.md", merge.DoneText(pull(), m, merge.Landing{Tests: passed, Notes: merge.SteeringNotes(paths)}))
	v := merge.Verdict{Go: true, Way: merge.Way{Strategy: "rebase"}}
	golden.Text(t, "dry_run_steering.md", merge.DryRunText(pull(), asked(), v, &merge.Plan{BaseSHA: a, Tip: d, Tests: passed, Notes: merge.SteeringNotes(paths)}))
}

func TestWhyTellsWhatAPullRequestSteers(t *testing.T) {
	t.Parallel()
	type row struct {
		files    []model.File
		complete bool
		says     string
	}
	must.Each(t, map[string]row{
		"nothing":         {[]model.File{{Path: "a.go"}}, true, ""},
		"no files known":  {nil, false, ""},
		"settings":        {[]model.File{{Path: "a.go"}, {Path: ".github/mergexo.toml"}}, true, "MergeXO's settings (.github/mergexo.toml); check them before you approve"},
		"too many to see": {[]model.File{{Path: "a.go"}}, false, "none among the first 1 of its files; the merge checks all of them"},
	}, func(t *testing.T, tt row) {
		t.Parallel()
		c := ready()
		c.Snapshot.Pull.Files, c.Snapshot.Pull.FilesComplete = tt.files, tt.complete
		v := merge.Evaluate(c)
		assert.True(t, v.Go, "it keeps nothing from being merged")
		last := v.Gates[len(v.Gates)-1]
		assert.Equal(t, tt.says != "", last.Name == merge.GateSteering)
		if tt.says != "" {
			assert.Contains(t, last.Evidence, tt.says)
		}
	})
}
