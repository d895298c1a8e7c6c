package dashboard

import (
	"encoding/xml"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/model"
)

// marked is a lineage in one line: its marks, * for the accepted head, / for what lies aside.
func marked(l Lineage) string {
	var all []string
	for _, m := range l.Marks {
		s := m.Kind
		if m.Accepted {
			s += "*"
		}
		if m.Y != markRow {
			s = "/" + s
		}
		all = append(all, s)
	}
	return strings.Join(all, " ")
}

func TestLineages(t *testing.T) {
	done := func(from, to string) model.BoardTurn {
		return model.BoardTurn{Kind: "turn", Phase: "done", From: from, To: to}
	}
	ended := func(kind, phase, from string) model.BoardTurn {
		return model.BoardTurn{Kind: kind, Phase: phase, From: from}
	}
	for _, c := range []struct {
		name  string
		pull  model.Status
		turns []model.BoardTurn
		want  string
	}{
		{"nothing is known", model.Status{}, nil, ""},
		{"tracked", model.Status{Accepted: "a", Head: "a"}, nil, "start*"},
		{"somebody pushed", model.Status{Accepted: "a", Head: "b"}, nil, "start* other"},
		{"two turns", model.Status{Accepted: "c", Head: "c"}, []model.BoardTurn{done("a", "b"), done("b", "c")}, "start head head*"},
		{"a push between", model.Status{Accepted: "d", Head: "d"}, []model.BoardTurn{done("a", "b"), done("c", "d")}, "start head other head*"},
		{"an answer alone", model.Status{Accepted: "b", Head: "b"}, []model.BoardTurn{done("a", "b"), done("b", "b"), done("b", "")}, "start head* same same"},
		{"failed twice", model.Status{Accepted: "b", Head: "b"}, []model.BoardTurn{done("a", "b"), ended("turn", "failed", "b"), ended("turn", "failed", "b")}, "start head* fail fail"},
		{"at work", model.Status{Accepted: "a", Head: "a"}, []model.BoardTurn{ended("turn", "started", "a")}, "start* run"},
		{"merged", model.Status{Accepted: "c", Head: "c"}, []model.BoardTurn{done("a", "b"), {Kind: "merge", Phase: "done", From: "b", To: "c"}}, "start head merge*"},
		{"a merge waits", model.Status{Accepted: "b", Head: "b"}, []model.BoardTurn{done("a", "b"), ended("merge", "merge_failed", "b"), ended("merge", "in_approval", "b")}, "start head* fail wait"},
		{"rewritten", model.Status{Accepted: "b", Head: "x", Block: &model.Blocked{Expected: "b", Observed: "x"}}, []model.BoardTurn{done("a", "b")}, "start head* /block"},
		{"rewritten to what it was", model.Status{Accepted: "b", Head: "a", Block: &model.Blocked{Expected: "b", Observed: "a"}}, []model.BoardTurn{done("a", "b")}, "start head* /block"},
		{"blocked on its head", model.Status{Accepted: "b", Head: "b", Block: &model.Blocked{}}, []model.BoardTurn{done("a", "b")}, "start head* block"},
		{"begun anew", model.Status{Accepted: "b", Head: "b"}, []model.BoardTurn{ended("flow", "failed", "m1"), {Kind: "flow", Phase: "done", From: "m2", To: "b"}}, "start fail head*"},
		{"a phase of later", model.Status{}, []model.BoardTurn{ended("turn", "resting", "a")}, "start quiet"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := drawer{now: now}.lineage(model.BoardPull{Status: c.pull, Turns: c.turns})
			assert.Equal(t, c.want, marked(l))
			assert.Equal(t, len(l.Marks) > 0, l.Said != "", "what is drawn is said")
		})
	}
}

func TestALongLineageShowsItsEnd(t *testing.T) {
	var turns []model.BoardTurn
	for i := range 40 {
		turns = append(turns, model.BoardTurn{Kind: "turn", Phase: "done", From: fmt.Sprint(i), To: fmt.Sprint(i + 1)})
	}
	l := drawer{now: now}.lineage(model.BoardPull{Status: model.Status{Accepted: "40", Head: "40"}, Turns: turns})
	assert.Len(t, l.Marks, mostMarks)
	assert.True(t, l.Marks[mostMarks-1].Accepted)
	assert.True(t, strings.HasPrefix(l.Said, "29 older marks left out; "), l.Said)
	assert.Equal(t, "M0 14H253", l.Line, "the line comes in from outside")
}

func TestColumnsOfThePlots(t *testing.T) {
	at := func(before time.Duration) model.BoardTurn {
		return model.BoardTurn{Phase: "done", Began: now.Add(-before)}
	}
	const day = 24 * time.Hour
	for _, c := range []struct {
		name    string
		turns   []model.BoardTurn
		columns int
		counted int
		note    string
	}{
		{"none", nil, 0, 0, ""},
		{"without a time, or from the future", []model.BoardTurn{{Phase: "done"}, at(-time.Hour)}, 0, 0, ""},
		{"now", []model.BoardTurn{at(0)}, 1, 1, "One column is an hour, in UTC."},
		{"a day", []model.BoardTurn{at(day), at(0)}, 25, 2, "One column is an hour, in UTC."},
		{"a week", []model.BoardTurn{at(7 * day), at(time.Hour)}, 29, 2, "One column is six hours, in UTC."},
		{"a month", []model.BoardTurn{at(30 * day), at(5 * day)}, 31, 2, "One column is a day, in UTC."},
		{"half a year", []model.BoardTurn{at(180 * day)}, 27, 1, "One column is a week, in UTC."},
		{"for ever", []model.BoardTurn{at(20000 * day), at(400 * day), at(0)}, mostBuckets, 1, "One column is a week, in UTC. 2 older turns are left out."},
	} {
		t.Run(c.name, func(t *testing.T) {
			buckets, note := ledger(c.turns, now)
			counted := 0
			for _, b := range buckets {
				counted += b.Done
			}
			assert.Equal(t, c.note, note)
			assert.Equal(t, [2]int{c.columns, c.counted}, [2]int{len(buckets), counted})
		})
	}
}

// TestPlotsStayWithinTheirFrame holds for numbers that nobody meant, too: a marker may say anything.
func TestPlotsStayWithinTheirFrame(t *testing.T) {
	drawn := map[string]int{}
	for _, usd := range []float64{0, -3, 1e-9, 0.07, 41, 999_999, 1e308} {
		turns := []model.BoardTurn{
			{Phase: "done", Began: now.Add(-time.Hour), Ended: now.Add(time.Duration(usd) * time.Second), CostUSD: usd},
			{Phase: "failed", Began: now.Add(-50 * time.Minute), Ended: now.Add(-6 * time.Hour), CostUSD: usd},
			{Phase: "started", Began: now.Add(-3 * time.Hour), CostUSD: usd}, {Phase: "done", Began: now.Add(-5 * time.Hour), CostUSD: usd},
		}
		buckets, _ := ledger(turns, now)
		for _, p := range plots(buckets) {
			drawn[p.ID]++
			assert.GreaterOrEqual(t, len(p.Rows), 2, "%v %s", usd, p.ID)
			assert.LessOrEqual(t, len(p.Rows), 6)
			for _, s := range append(p.Bars, p.Dots...) {
				for _, y := range []float64{s.Y, s.M} {
					assert.True(t, y == 0 || y >= plotTop && y <= plotBottom, "%v %s: %v", usd, p.ID, s)
				}
				assert.True(t, s.X >= plotLeft && s.X+s.W <= plotRight, "%v %s: %v", usd, p.ID, s)
			}
		}
	}
	assert.Positive(t, min(drawn["turns"], drawn["cost"]))
}

// A chart of one or two points shows nothing that a table does not show better.
func TestAChartNeedsThreePoints(t *testing.T) {
	turn := func(hours, minutes int, usd float64) model.BoardTurn {
		began := now.Add(-time.Duration(hours) * time.Hour)
		return model.BoardTurn{Phase: "done", Began: began, Ended: began.Add(time.Duration(minutes) * time.Minute), CostUSD: usd}
	}
	one, two, three := turn(1, 5, 1), turn(2, 5, 1), turn(3, 5, 1)
	for _, c := range []struct {
		name  string
		turns []model.BoardTurn
		want  string
	}{
		{"none", nil, ""}, {"one", []model.BoardTurn{one}, ""}, {"two", []model.BoardTurn{one, two}, ""},
		{"three in two columns", []model.BoardTurn{one, one, two}, ""}, {"three", []model.BoardTurn{one, two, three}, "turns cost took"},
		{"two with a cost", []model.BoardTurn{one, two, turn(4, 5, 0)}, "turns took"}, {"two that have ended", []model.BoardTurn{one, two, turn(4, 0, 1)}, "turns cost"},
	} {
		buckets, _ := ledger(c.turns, now)
		var got []string
		for _, p := range plots(buckets) {
			got = append(got, p.ID)
		}
		assert.Equal(t, c.want, strings.Join(got, " "), c.name)
		page := written(t, model.Board{Repo: model.Repo{Owner: "octo", Name: "widgets"}, URL: repoURL, At: now, Issues: []model.BoardIssue{{Number: 7, Turns: c.turns}}})
		assert.Equal(t, c.want == "", !strings.Contains(page, "<figure"), c.name)
		assert.Equal(t, len(c.turns) > 0 && c.want == "", strings.Contains(page, "A chart needs at least three points"), c.name)
		assert.Equal(t, len(c.turns) > 0, strings.Contains(page, "The numbers as a table"), c.name)
	}
}

func TestThePageIsWellFormed(t *testing.T) {
	page := written(t, everything())
	for _, svg := range strings.SplitAfter(page, "</svg>") {
		if i := strings.Index(svg, "<svg"); i >= 0 {
			assert.NoError(t, xml.Unmarshal([]byte(svg[i:]), new(struct{})), svg[i:])
		}
	}
}
