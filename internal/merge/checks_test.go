package merge_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/merge"
	"github.com/mergexo/mergexo/internal/model"
)

func TestARequiredCheckThatNothingReportsIsNamedOnceNothingRuns(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(*merge.Case)
		want   []string
	}{
		"all are reported":            {func(*merge.Case) {}, nil},
		"one of the settings is not":  {func(cs *merge.Case) { cs.Policy.RequiredChecks = []string{"ci", "lint"} }, []string{"lint"}},
		"one of the rules is not":     {func(cs *merge.Case) { cs.Facts.RequiredChecks = []string{"docs"} }, []string{"docs"}},
		"one of Actions is not":       {func(cs *merge.Case) { cs.Policy.RequiredChecks = []string{"lint@github-actions"} }, []string{"lint"}},
		"another App is to report it": {func(cs *merge.Case) { cs.Policy.RequiredChecks = []string{"deploy@other"} }, nil},
		"another App's counts for it": {func(cs *merge.Case) { cs.Facts.Checks[0].App = "other" }, nil},
		"it is red, but reported":     {func(cs *merge.Case) { cs.Facts.Checks[0].State = model.CheckFailed }, nil},
		"something is still running": {func(cs *merge.Case) {
			cs.Policy.RequiredChecks = []string{"lint"}
			cs.Facts.Checks[0].State = model.CheckPending
		}, nil},
		"not all of them could be read": {func(cs *merge.Case) {
			cs.Policy.RequiredChecks, cs.Facts.Partial, cs.Facts.Missing = []string{"lint"}, true, []string{"checks"}
		}, nil},
	} {
		cs := ready()
		tt.change(&cs)
		assert.Equal(t, tt.want, merge.Unreported(cs), name)
	}
}

func TestWhyShowsHowTheLastRequestForThisHeadFailed(t *testing.T) {
	t.Parallel()
	failed := func(change func(*model.MergeMarker)) model.MergeMarker {
		return with(func(m *model.MergeMarker) {
			m.State, m.Reason, m.Was, m.Tip = model.MergeFailed, model.CodeTests, []string{c}, d
			change(m)
		})
	}
	nothing := func(*model.MergeMarker) {}
	for name, tt := range map[string]struct {
		merges []model.MergeMarker
		head   string
		shown  bool
	}{
		"none":                         {nil, b, false},
		"its tests failed":             {[]model.MergeMarker{failed(nothing)}, b, true},
		"at a tip that it made":        {[]model.MergeMarker{failed(nothing)}, d, true},
		"at a tip that it made before": {[]model.MergeMarker{failed(nothing)}, c, true},
		"the head has moved since":     {[]model.MergeMarker{failed(nothing)}, e, false},
		"it was cancelled":             {[]model.MergeMarker{failed(func(m *model.MergeMarker) { m.Reason = model.CodeCancelled })}, b, false},
		"it is running":                {[]model.MergeMarker{failed(nothing), asked()}, b, false},
	} {
		var st model.State
		for _, m := range tt.merges {
			st.Merges = append(st.Merges, request(m))
		}
		gates := merge.LastGate(st, tt.head)
		if !tt.shown {
			assert.Empty(t, gates, name)
			continue
		}
		if assert.Len(t, gates, 1, name) {
			assert.False(t, gates[0].Met, name)
			assert.Equal(t, "refused (PRE_MERGE_FAILED), see "+page+"#issuecomment-50; once that is resolved, repeat /mergexo merge", gates[0].Evidence, name)
		}
	}
}
