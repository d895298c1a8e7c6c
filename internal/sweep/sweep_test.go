package sweep_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/golden"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
	"github.com/mergexo/mergexo/internal/sweep"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

const page = "https://github.com/octo/widgets/pull/7"

func due(number int, minutes int, why ...model.Reason) model.Work {
	w := model.Work{Number: number, Why: why}
	if minutes >= 0 {
		w.Since = noon.Add(time.Duration(minutes) * time.Minute)
	}
	return w
}

func numbers(work []model.Work) []int {
	out := make([]int, len(work))
	for i, w := range work {
		out[i] = w.Number
	}
	return out
}

func TestTheMostPressingAndOldestComesFirst(t *testing.T) {
	work := []model.Work{
		due(0, -1, model.DueCleanUp, model.DueConflicts), due(9, 5, model.DueFeedback), due(8, -1, model.DueFeedback), due(7, 3, model.DueFeedback),
		due(6, 3, model.DueFeedback), due(5, 9, model.DueCI, model.DueLink), due(4, 0), due(3, 0, "unheard of"), due(2, 1, model.DueRetry, model.DueTurn),
	}
	before := fmt.Sprint(work)
	got := sweep.Order(work)
	assert.Equal(t, []int{5, 2, 6, 7, 9, 8, 0, 3, 4}, numbers(got))
	assert.Equal(t, []model.Reason{model.DueLink, model.DueCI}, got[0].Why)
	assert.Equal(t, []model.Reason{model.DueConflicts, model.DueCleanUp}, got[6].Why)
	assert.Equal(t, before, fmt.Sprint(work), "what is given stays as it is")
}

func TestAMatrixOfWork(t *testing.T) {
	assert.JSONEq(t, `{"include": []}`, string(must.Get(json.Marshal(sweep.Matrix(nil, 256)))(t)))

	work := []model.Work{due(0, 0, model.DueCleanUp), due(9, 0, model.DueFeedback), due(7, 0, model.DueTurn), due(9, 0, model.DueCI)}
	assert.Equal(t, []model.MatrixJob{
		{Group: "7", Only: "7", Why: "turn"}, {Group: "9", Only: "9", Why: "feedback, ci"}, {Group: "repository", Only: "repository", Why: "clean up"},
	}, sweep.Matrix(work, 3).Include)
	assert.Equal(t, []model.MatrixJob{{Group: "sweep-1", Only: "7,9", Why: "2 numbers"}, {Group: "repository", Only: "repository", Why: "clean up"}}, sweep.Matrix(work, 2).Include)
	assert.Equal(t, []model.MatrixJob{{Group: "sweep-1", Only: "7,9,repository", Why: "3 numbers"}}, sweep.Matrix(work, 1).Include)
}

func TestEveryNumberIsInOneJobOfAMatrix(t *testing.T) {
	for _, n := range []int{1, 255, 256, 257, 1000, 10_000} {
		work := []model.Work{due(0, 0, model.DueConflicts)}
		for i := range n {
			work = append(work, due(i+1, i, model.DueFeedback))
		}
		m := sweep.Matrix(work, 256)
		assert.LessOrEqual(t, len(m.Include), 256)
		var all, sizes []int
		groups := map[string]bool{}
		whole := 0
		for _, j := range m.Include {
			assert.False(t, groups[j.Group], "two jobs in one group")
			groups[j.Group] = true
			only, repository, err := sweep.ParseOnly(j.Only)
			require.NoError(t, err)
			all = append(all, only...)
			if repository {
				whole++
				continue
			}
			sizes = append(sizes, len(only))
		}
		slices.Sort(all)
		assert.Len(t, slices.Compact(all), n)
		assert.Equal(t, 1, whole)
		assert.LessOrEqual(t, slices.Max(sizes)-slices.Min(sizes), 1, "as even as can be")
		slices.Reverse(work)
		assert.Equal(t, m, sweep.Matrix(work, 256), "the same whatever the order")
	}
}

func TestWhatAJobIsAbout(t *testing.T) {
	got, whole, err := sweep.ParseOnly(" 9,7, 9,repository")
	require.NoError(t, err)
	assert.Equal(t, []int{9, 7}, got)
	assert.True(t, whole)
	for _, bad := range []string{"", "x", "7,", "-1", "0", "7;8", "1.5", "99999999999999999999", "Repository"} {
		_, _, err := sweep.ParseOnly(bad)
		assert.ErrorContains(t, err, fmt.Sprintf(`%q: want numbers of pull requests or issues such as 7,9, or "repository"`, bad))
	}
}

func TestWhenACommentOnConflictsIsWritten(t *testing.T) {
	with := func(n int, paths ...string) model.ConflictWith {
		return model.ConflictWith{Number: n, Head: "h", Paths: paths}
	}
	clean := model.ConflictMarker{Number: 7, Base: "main"}
	base := clean
	base.Paths = []string{"a", "b"}
	peers := clean
	peers.With = []model.ConflictWith{with(8, "a"), with(9, "b", "c")}
	change := func(m model.ConflictMarker, f func(*model.ConflictMarker)) model.ConflictMarker {
		f(&m)
		return m
	}
	type row struct {
		old  *model.ConflictMarker
		now  model.ConflictMarker
		want sweep.Act
	}
	must.Each(t, map[string]row{
		"clean":             {nil, clean, sweep.None},
		"new with the base": {nil, base, sweep.Post},
		"new with another":  {nil, peers, sweep.Post},
		"the same":          {&base, base, sweep.None},
		"resolved":          {&base, clean, sweep.Delete},
		"only heads moved": {&peers, change(peers, func(m *model.ConflictMarker) {
			m.Head, m.BaseSHA, m.With = "x", "y", []model.ConflictWith{{Number: 9, Head: "z", Paths: []string{"c", "b"}}, with(8, "a")}
		}), sweep.None},
		"in another order":      {&base, change(base, func(m *model.ConflictMarker) { m.Paths = []string{"b", "a"} }), sweep.None},
		"one file more":         {&base, change(base, func(m *model.ConflictMarker) { m.Paths = []string{"a", "b", "c"} }), sweep.Edit},
		"another file":          {&base, change(base, func(m *model.ConflictMarker) { m.Paths = []string{"a", "c"} }), sweep.Edit},
		"a peer less":           {&peers, change(peers, func(m *model.ConflictMarker) { m.With = m.With[:1] }), sweep.Edit},
		"another file with one": {&peers, change(peers, func(m *model.ConflictMarker) { m.With = []model.ConflictWith{with(8, "x"), m.With[1]} }), sweep.Edit},
		"another base":          {&base, change(base, func(m *model.ConflictMarker) { m.Base = "next" }), sweep.Edit},
	}, func(t *testing.T, tt row) {
		var old *model.Posted[model.ConflictMarker]
		if tt.old != nil {
			old = &model.Posted[model.ConflictMarker]{Marker: *tt.old}
		}
		assert.Equal(t, tt.want, sweep.Sticky(old, tt.now))
	})
}

func TestAConflictThatIsNotLookedAtIsNotGone(t *testing.T) {
	t.Parallel()
	with := func(n int, path string) model.ConflictWith {
		return model.ConflictWith{Number: n, Head: "h", Paths: []string{path}}
	}
	old := &model.Posted[model.ConflictMarker]{Marker: model.ConflictMarker{Base: "main", Head: "a", With: []model.ConflictWith{with(5, "was"), with(8, "was"), with(9, "was")}}}
	none, all := func(int) bool { return false }, func(int) bool { return true }
	but9 := func(n int) bool { return n != 9 }
	now := model.ConflictMarker{Base: "main", Head: "b", Paths: []string{"x"}, With: []model.ConflictWith{with(8, "is")}}
	want := now
	want.With = []model.ConflictWith{with(5, "was"), with(8, "is")}
	assert.Equal(t, want, sweep.Kept(old, now, but9))
	assert.Len(t, now.With, 1, "what is given stays as it is")
	now.Paths, now.With = nil, nil
	assert.Equal(t, sweep.None, sweep.Sticky(old, sweep.Kept(old, now, all)))
	assert.Equal(t, sweep.Edit, sweep.Sticky(old, sweep.Kept(old, now, but9)), "the other one is closed")
	assert.Equal(t, sweep.Delete, sweep.Sticky(old, sweep.Kept(old, now, none)))
	assert.Equal(t, now, sweep.Kept(nil, now, all))
	now.Base = "next"
	assert.Equal(t, now, sweep.Kept(old, now, all), "those of another base are other ones")
}

func TestConflictsAsPeopleReadThem(t *testing.T) {
	c := strings.Repeat("c", 40)
	m := model.ConflictMarker{Number: 7, Base: "ma`in", Paths: []string{"a.go", "we`ird | @octo\n.txt", strings.Repeat("d/", 200)}}
	culprits := []sweep.Culprit{
		{Path: "a.go", Commit: model.Commit{SHA: c, Subject: "Say `two` <!-- x --> @octo " + strings.Repeat("x", 200)}, Pull: 12},
		{Path: m.Paths[1], Commit: model.Commit{SHA: c}},
	}
	golden.Text(t, "conflict_base.md", sweep.ConflictText(page, m, culprits))
	m.With = []model.ConflictWith{{Number: 8, Paths: []string{"a.go"}}, {Number: 9, Paths: []string{"a", "b", "c", "d", "e", "f"}}}
	golden.Text(t, "conflict_both.md", sweep.ConflictText(page, m, nil))
	m.Paths = nil
	golden.Text(t, "conflict_peers.md", sweep.ConflictText(page, m, nil))
	for i := range 5000 {
		m.Paths = append(m.Paths, fmt.Sprintf("%04d/%s", i, strings.Repeat("p", 4000)))
		m.With = append(m.With, model.ConflictWith{Number: i, Paths: m.Paths})
	}
	text := sweep.ConflictText(page, m, nil)
	assert.Less(t, len(text), 40_000, "it fits into a comment beside its marker")
	assert.Contains(t, text, "\n- and 4970 more\n")
}
