package journal_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
)

func digits(r rune) string { return strings.Repeat(string(r), 40) }

// letIn is a letting in of the head with this digit, by a label that was put on at noon.
func letIn(head rune, state model.ExternalState) model.ExternalMarker {
	return model.ExternalMarker{
		Repo: "octo/widgets", Number: 7, State: state, Head: digits(head), At: noon, By: "olga", Label: "external:accept", Base: "main",
		Mirror: "gh-pr-7/fix", Tip: digits(head),
	}
}

// conflicting is a pull request that conflicts with its base and with another one.
func conflicting() model.ConflictMarker {
	return model.ConflictMarker{
		Repo: "octo/widgets", Number: 7, Head: digits('1'), Base: "main", BaseSHA: digits('2'), Paths: []string{"a--b.txt"},
		With: []model.ConflictWith{{Number: 8, Head: digits('3'), Paths: []string{"c.txt"}}},
	}
}

func TestWhatASweepRemembersReadsBackAsItWasWritten(t *testing.T) {
	t.Parallel()
	m := letIn('1', model.ExternalLanded)
	m.Verdict, m.Reason, m.Evaluated, m.Round, m.Attempt, m.Moved = model.VerdictFix, "--> no", true, 2, 3, digits('5')
	m.Next = digits('6')
	m.Landed = []model.Commit{{SHA: digits('4'), Subject: "Greet", Author: "alice"}}
	m.Run, m.RunAttempt, m.RunURL, m.Expires, m.Claim = 9, 1, "https://github.com/octo/widgets/actions/runs/9", noon.Add(time.Hour), "c"
	for _, key := range []string{"", "secret"} {
		c := journal.Codec{Key: []byte(key)}
		st := c.Fold([]model.Comment{
			ours(1, encode(t, c, journal.Body{Text: "Landed", Kind: journal.KindExternal, Marker: m})),
			ours(2, encode(t, c, journal.Body{Text: "It conflicts", Kind: journal.KindConflicts, Marker: conflicting()})),
		}, scope)
		require.Len(t, st.Externals, 1)
		assert.Equal(t, m, st.External().Marker)
		assert.Equal(t, "Landed", st.External().Text)
		require.NotNil(t, st.Conflicts)
		assert.Equal(t, conflicting(), st.Conflicts.Marker)
		assert.Equal(t, int64(2), st.Conflicts.CommentID)
		assert.Empty(t, st.Distrusted)
		assert.Empty(t, st.Surplus)
	}
	linked := letIn('1', model.ExternalLinked)
	linked.By = ""
	assert.Len(t, fold(said(t, journal.Codec{}, 1, linked)).Externals, 1, "nobody has let it in")
	assert.Nil(t, fold().External())
}

func TestAFlakyTestIsRememberedInTheReceiptAndInTheOutbox(t *testing.T) {
	t.Parallel()
	runs := []model.Rerun{{Run: 3, Attempt: 1}}
	done := marker(model.PhaseDone)
	done.Flaky = &model.FlakyMark{Issue: 12, Runs: runs, Head: digits('2')}
	planned := marker(model.PhasePlanned)
	planned.Outbox = &model.Outbox{Flaky: &model.FlakyTest{Title: "TestX -->", Summary: strings.Repeat("it --- ", 4000)}, Reruns: runs}
	for _, want := range []model.TurnMarker{done, planned} {
		st := journal.Codec{}.Fold([]model.Comment{ours(1, encode(t, journal.Codec{}, journal.Body{Kind: journal.KindTurn, Marker: journal.Packed(want)}))}, scope)
		require.Len(t, st.Turns, 1)
		assert.Equal(t, want, st.Turns[0].Marker)
	}
}

func TestOneLettingInHasOneState(t *testing.T) {
	t.Parallel()
	later := letIn('1', model.ExternalLetIn)
	later.At = noon.Add(time.Minute)
	moved := letIn('1', model.ExternalVoid)
	moved.Moved = digits('9')
	in := func(s model.ExternalState) model.ExternalMarker { return letIn('1', s) }
	type row struct {
		said    []model.ExternalMarker
		states  []model.ExternalState
		surplus []int64
	}
	must.Each(t, map[string]row{
		"two runs begin it":              {[]model.ExternalMarker{in(model.ExternalLetIn), in(model.ExternalLetIn)}, []model.ExternalState{model.ExternalLetIn}, []int64{2}},
		"one is further":                 {[]model.ExternalMarker{in(model.ExternalApproved), in(model.ExternalLetIn)}, []model.ExternalState{model.ExternalApproved}, []int64{2}},
		"its end is said anew":           {[]model.ExternalMarker{in(model.ExternalLetIn), in(model.ExternalRejected)}, []model.ExternalState{model.ExternalRejected}, []int64{1}},
		"two ends":                       {[]model.ExternalMarker{in(model.ExternalRejected), in(model.ExternalFailed)}, []model.ExternalState{model.ExternalRejected}, []int64{2}},
		"it moved":                       {[]model.ExternalMarker{in(model.ExternalApproved), moved}, []model.ExternalState{model.ExternalVoid}, []int64{1}},
		"it moved after the end":         {[]model.ExternalMarker{in(model.ExternalRejected), moved, moved}, []model.ExternalState{model.ExternalRejected, model.ExternalVoid}, []int64{3}},
		"nothing comes after it is void": {[]model.ExternalMarker{moved, in(model.ExternalRejected)}, []model.ExternalState{model.ExternalVoid}, []int64{2}},
		"linked twice, and let in": {[]model.ExternalMarker{in(model.ExternalLinked), in(model.ExternalLinked), in(model.ExternalLetIn), in(model.ExternalLinked)},
			[]model.ExternalState{model.ExternalLinked, model.ExternalLetIn}, []int64{2, 4}},
		"another label": {[]model.ExternalMarker{in(model.ExternalLetIn), later}, []model.ExternalState{model.ExternalLetIn, model.ExternalLetIn}, nil},
		"another head":  {[]model.ExternalMarker{in(model.ExternalLetIn), letIn('2', model.ExternalVoid)}, []model.ExternalState{model.ExternalLetIn, model.ExternalVoid}, nil},
		"the end of an earlier one": {[]model.ExternalMarker{in(model.ExternalLetIn), later, in(model.ExternalFailed)},
			[]model.ExternalState{model.ExternalFailed, model.ExternalLetIn}, []int64{1}},
	}, func(t *testing.T, tt row) {
		t.Parallel()
		var comments []model.Comment
		for i, m := range tt.said {
			comments = append(comments, said(t, journal.Codec{}, int64(i+1), m))
		}
		st := journal.Codec{}.Fold(comments, scope)
		var states []model.ExternalState
		for _, e := range st.Externals {
			states = append(states, e.Marker.State)
		}
		assert.Equal(t, tt.states, states)
		assert.Equal(t, tt.surplus, st.Surplus)
	})
}

func TestTheFirstCommentOnConflictsStays(t *testing.T) {
	t.Parallel()
	other := conflicting()
	other.Paths = nil
	first := said(t, journal.Codec{}, 1, conflicting())
	st := fold(said(t, journal.Codec{}, 2, other), first, said(t, journal.Codec{}, 3, other))
	require.NotNil(t, st.Conflicts)
	assert.Equal(t, conflicting(), st.Conflicts.Marker)
	assert.Equal(t, []int64{2, 3}, st.Surplus)

	first.EditedByOther, first.Editor = true, "mallory"
	st = fold(first, said(t, journal.Codec{}, 2, other))
	assert.Equal(t, int64(2), st.Conflicts.CommentID, "one that somebody edited is no comment of ours any more")
	assert.Empty(t, st.Surplus)
}

func TestAnEditedCommentOnConflictsBlocksNothing(t *testing.T) {
	t.Parallel()
	receipt, conflicts := said(t, journal.Codec{}, 1, marker(model.PhaseDone)), said(t, journal.Codec{}, 1, conflicting())
	receipt.Posted, conflicts.Posted = receipt.Body, conflicts.Body
	type row struct {
		comment model.Comment
		change  func(*model.Comment)
		spoilt  bool
	}
	must.Each(t, map[string]row{
		"its text":                            {conflicts, func(c *model.Comment) { c.Body = "x\n" + c.Body }, false},
		"nothing is left":                     {conflicts, func(c *model.Comment) { c.Body = "x" }, false},
		"into another marker":                 {conflicts, func(c *model.Comment) { c.Body = receipt.Body }, false},
		"what it was posted with is not told": {conflicts, func(c *model.Comment) { c.Posted = "" }, true},
		"a receipt into one on conflicts":     {receipt, func(c *model.Comment) { c.Body = conflicts.Body }, true},
		"a letting in":                        {said(t, journal.Codec{}, 1, letIn('1', model.ExternalLetIn)), func(*model.Comment) {}, true},
	}, func(t *testing.T, tt row) {
		t.Parallel()
		c := tt.comment
		c.EditedByOther, c.WasMarked, c.Editor = true, true, "mallory"
		tt.change(&c)
		st := fold(c)
		require.Len(t, st.Distrusted, 1, "it is reported")
		assert.Equal(t, []any{"edited by mallory", tt.spoilt}, []any{st.Distrusted[0].Reason, st.Distrusted[0].Spoilt})
		assert.Equal(t, fold(), trusted(st))
	})
}

func TestMarkersOfASweepThatDoNotHold(t *testing.T) {
	t.Parallel()
	refused(t, func() model.ExternalMarker { return letIn('1', model.ExternalLetIn) }, map[string]func(*model.ExternalMarker){
		`state "merged" is unknown`:                           func(m *model.ExternalMarker) { m.State = "merged" },
		`state "" is unknown`:                                 func(m *model.ExternalMarker) { m.State = "" },
		`head "" is no commit's id`:                           func(m *model.ExternalMarker) { m.Head = "" },
		`head "HEAD" is no commit's id`:                       func(m *model.ExternalMarker) { m.Head = "HEAD" },
		`tip "12" is no commit's id`:                          func(m *model.ExternalMarker) { m.Tip = "12" },
		`next "12" is no commit's id`:                         func(m *model.ExternalMarker) { m.Next = "12" },
		`moved "main" is no commit's id`:                      func(m *model.ExternalMarker) { m.Moved = "main" },
		`landed "x" is no commit's id`:                        func(m *model.ExternalMarker) { m.State, m.Landed = model.ExternalLanded, []model.Commit{{SHA: "x"}} },
		"state landed without commits":                        func(m *model.ExternalMarker) { m.State = model.ExternalLanded },
		"state approved without a mirror":                     func(m *model.ExternalMarker) { m.State, m.Mirror = model.ExternalApproved, "" },
		"approved without a mirror or its ti":                 func(m *model.ExternalMarker) { m.State, m.Tip = model.ExternalApproved, "" },
		"it does not say who put the label":                   func(m *model.ExternalMarker) { m.By = "" },
		"label on, when":                                      func(m *model.ExternalMarker) { m.At = time.Time{} },
		"for which base":                                      func(m *model.ExternalMarker) { m.Base = "" },
		"mergexo-external marker: it is about octo/widgets#8": func(m *model.ExternalMarker) { m.Number = 8 },
		"it is about octo/gadgets#7":                          func(m *model.ExternalMarker) { m.Repo = "octo/gadgets" },
	})
	refused(t, conflicting, map[string]func(*model.ConflictMarker){
		`"x" is no commit's id`:                                func(m *model.ConflictMarker) { m.Head = "x" },
		`marker: "" is no commit's id`:                         func(m *model.ConflictMarker) { m.BaseSHA = "" },
		"it names no base":                                     func(m *model.ConflictMarker) { m.Base = "" },
		"pull request 0 with head":                             func(m *model.ConflictMarker) { m.With[0].Number = 0 },
		`pull request 8 with head "y" cannot`:                  func(m *model.ConflictMarker) { m.With[0].Head = "y" },
		"mergexo-conflicts marker: it is about octo/widgets#8": func(m *model.ConflictMarker) { m.Number = 8 },
	})
}

func TestTheOrderOfReadingLettingsInDoesNotMatter(t *testing.T) {
	t.Parallel()
	states := []model.ExternalState{model.ExternalLetIn, model.ExternalRejected, model.ExternalVoid, model.ExternalFix, model.ExternalLinked}
	rng := rand.New(rand.NewPCG(3, 4))
	for range 30 {
		var comments []model.Comment
		for i := range int64(12) {
			m := letIn(rune('1'+rng.IntN(2)), states[rng.IntN(len(states))])
			m.At = noon.Add(time.Duration(rng.IntN(2)) * time.Minute)
			cm := said(t, journal.Codec{}, i+1, m)
			cm.CreatedAt = noon.Add(time.Duration(i/4) * time.Second) // several in one second
			comments = append(comments, cm)
		}
		want := inAnyOrder(t, comments)
		assert.Len(t, want.Surplus, 12-len(want.Externals))
		// Once what is surplus is deleted, as every run does, the same is left.
		kept := slices.DeleteFunc(comments, func(c model.Comment) bool { return slices.Contains(want.Surplus, c.ID) })
		tidy := journal.Codec{}.Fold(kept, scope)
		require.Equal(t, want.Externals, tidy.Externals)
		require.Empty(t, tidy.Surplus)
	}
}
