package external_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/external"
	"github.com/mergexo/mergexo/internal/model"
)

var (
	noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	// Commits by their first digit.
	b, c, d = sha('b'), sha('c'), sha('d')
)

func sha(r rune) string { return strings.Repeat(string(r), 40) }

const (
	page   = "https://github.com/octo/widgets/pull/7"
	accept = "external:accept"
)

// labelled are the facts of a fork's pull request at b, pushed a minute before an operator let it in at noon.
func labelled() external.Facts {
	return external.Facts{
		Pull: model.Pull{
			Number: 7, Title: "Greet", State: model.PullOpen, URL: page, Author: model.Actor{Login: "alice"}, CrossRepo: true, HeadExists: true,
			BaseRef: "main", HeadRef: "fix", HeadSHA: b, ForkPushedAt: noon.Add(-time.Minute), Labels: []string{"bug", accept},
			LabelChanges: []model.LabelChange{{Label: accept, On: true, At: noon, By: model.Actor{Login: "olga"}}},
		},
		Policy:   external.Policy{Enabled: true, Label: accept, Ignore: "agent:ignore", Fix: true, MaxRounds: 2, MaxAttempts: 3},
		Operator: func(login string) bool { return login == "olga" || login == "octo-bot[bot]" },
	}
}

// entry is a letting in of b by the label of noon, as its marker says it.
func entry(change ...func(*model.ExternalMarker)) model.Posted[model.ExternalMarker] {
	m := model.ExternalMarker{
		Repo: "octo/widgets", Number: 7, State: model.ExternalLetIn, Head: b, At: noon, By: "olga", Label: accept, Base: "main",
		Mirror: "gh-pr-7/fix", Tip: b, Attempt: 1, Lease: model.Lease{Claim: "c", Run: 9, RunURL: "https://github.com/octo/widgets/actions/runs/9"},
	}
	for _, ch := range change {
		ch(&m)
	}
	return model.Posted[model.ExternalMarker]{Marker: m, CommentID: 50, At: noon.Add(time.Second), URL: page + "#issuecomment-50"}
}

func in(s model.ExternalState) func(*model.ExternalMarker) {
	return func(m *model.ExternalMarker) { m.State = s }
}

// linked is a mirror by other hands, of which nobody has said anything.
func linked(m *model.ExternalMarker) { m.State, m.By = model.ExternalLinked, "" }

// was adds a letting in to what is remembered.
func was(f *external.Facts, change ...func(*model.ExternalMarker)) {
	f.State.Externals = append(f.State.Externals, entry(change...))
}

// merging adds a request to merge what was let in.
func merging(f *external.Facts, state model.MergeState, change ...func(*model.MergeMarker)) {
	m := model.MergeMarker{Repo: "octo/widgets", Number: 7, At: noon, State: state, Head: b, Base: "main", Mirror: "gh-pr-7/fix", MirrorSHA: b, Reason: model.CodeTests}
	for _, ch := range change {
		ch(&m)
	}
	f.State.Merges = append(f.State.Merges, model.Posted[model.MergeMarker]{Marker: m, URL: page + "#issuecomment-60"})
}

// relabel puts the label on again, a minute after noon.
func relabel(f *external.Facts) {
	f.Pull.LabelChanges = append(f.Pull.LabelChanges, model.LabelChange{Label: accept, At: noon.Add(time.Minute)},
		model.LabelChange{Label: strings.ToUpper(accept), On: true, At: noon.Add(time.Minute), By: model.Actor{Login: "olga"}})
}

// stories are what there can be, and what is done about it.
var stories = map[string]struct {
	change func(*external.Facts)
	act    external.Act
	says   string // part of why
}{
	"labeled":          {func(*external.Facts) {}, external.LetIn, `accepted by olga with label "external:accept", at bbbbbbbbbb`},
	"a branch of ours": {func(f *external.Facts) { f.Pull.CrossRepo = false }, external.Nothing, "a branch of this repository"},
	"merged":           {func(f *external.Facts) { f.Pull.State = model.PullMerged }, external.Nothing, "pull request 7 is merged"},
	"closed":           {func(f *external.Facts) { f.Pull.State = model.PullClosed }, external.Nothing, "pull request 7 is closed"},
	"switched off":     {func(f *external.Facts) { f.Policy.Enabled = false }, external.Nothing, "[external] enabled is false"},
	"not labeled":      {func(f *external.Facts) { f.Pull.Labels = nil }, external.Nothing, `label "external:accept" is not on`},
	"no label is set":  {func(f *external.Facts) { f.Policy.Label = ""; f.Pull.Labels = []string{""} }, external.Nothing, `label "" is not on`},
	"in other letters": {func(f *external.Facts) { f.Pull.Labels = []string{"External:Accept"} }, external.LetIn, ""},
	"labeled long ago": {func(f *external.Facts) { f.Pull.LabelChanges = nil }, external.Nothing, "GitHub does not show who"},
	"taken off since": {func(f *external.Facts) {
		f.Pull.LabelChanges = append(f.Pull.LabelChanges, model.LabelChange{Label: accept})
	}, external.Nothing, "GitHub does not show who"},
	"by a deleted user":  {func(f *external.Facts) { f.Pull.LabelChanges[0].By = model.Actor{} }, external.Nothing, "GitHub does not show who"},
	"by a bot":           {func(f *external.Facts) { f.Pull.LabelChanges[0].By = model.Actor{Login: "octo-bot[bot]", Bot: true} }, external.Nothing, "octo-bot[bot], which is not a person"},
	"by the contributor": {func(f *external.Facts) { f.Pull.LabelChanges[0].By.Login = "alice" }, external.Nothing, "alice, who may not"},
	"nobody may":         {func(f *external.Facts) { f.Operator = nil }, external.Nothing, "olga, who may not"},
	"put on again by another": {func(f *external.Facts) { relabel(f); f.Pull.LabelChanges[2].By.Login = "alice" },
		external.Nothing, "alice, who may not"},
	"taken over on an issue that the author names": {func(f *external.Facts) {
		f.Pull.Issue = &model.Issue{Number: 3, Labels: []string{"agent:ignore"}}
	}, external.LetIn, ""},
	"taken over": {func(f *external.Facts) { f.Pull.Labels = append(f.Pull.Labels, "Agent:Ignore") }, external.Nothing, "a person has taken over"},
	"paused": {func(f *external.Facts) {
		f.State.Paused = &model.Posted[model.CommandMarker]{Marker: model.CommandMarker{By: "olga"}}
	}, external.Nothing, "paused by olga"},
	"released": {func(f *external.Facts) {
		f.State.Released = &model.Posted[model.CommandMarker]{Marker: model.CommandMarker{By: "olga"}}
	}, external.Nothing, "released by olga"},
	"blocked": {func(f *external.Facts) {
		f.State.Block = &model.Posted[model.BlockMarker]{Marker: model.BlockMarker{Reason: "x"}}
	}, external.Nothing, "blocked (x)"},
	"our comment was edited": {func(f *external.Facts) {
		f.State.Distrusted = []model.Distrust{{Spoilt: true, Editor: "mallory", URL: page}}
	},
		external.Nothing, "was edited by mallory"},
	"another comment was edited": {func(f *external.Facts) { f.State.Distrusted = []model.Distrust{{Editor: "mallory"}} }, external.LetIn, ""},

	"pushed since": {func(f *external.Facts) { f.Pull.ForkPushedAt = noon.Add(time.Second) }, external.Relabel, "pushed to at 2026-01-02 12:00:01 UTC and the label was added at 2026-01-02 12:00:00 UTC"},
	"pushed in the same second": {func(f *external.Facts) {
		f.Pull.ForkPushedAt = noon
		f.Pull.LabelChanges[0].At = noon.Add(time.Second - 1)
	}, external.Relabel, "so it may be for another head"},
	"asked to put it on again": {func(f *external.Facts) { f.Pull.ForkPushedAt = noon; was(f, in(model.ExternalVoid)) }, external.Nothing, "again, see " + page},
	"asked, and pushed since": {func(f *external.Facts) {
		f.Pull.HeadSHA = c
		f.Pull.ForkPushedAt = noon.Add(1e9)
		was(f, in(model.ExternalVoid))
	}, external.Nothing, "again"},
	"put on again":           {func(f *external.Facts) { f.Pull.ForkPushedAt = noon; was(f, in(model.ExternalVoid)); relabel(f) }, external.LetIn, ""},
	"pushed, let in before":  {func(f *external.Facts) { f.Pull.ForkPushedAt = noon.Add(time.Hour); was(f); relabel(f) }, external.Relabel, ""},
	"pushed elsewhere since": {func(f *external.Facts) { f.Pull.ForkPushedAt = noon.Add(time.Hour); was(f) }, external.GoOn, "accepted since " + page},

	"the fork is gone":        {func(f *external.Facts) { f.Pull.ForkDeleted = true }, external.Relabel, "GitHub no longer shows"},
	"the fork is not shown":   {func(f *external.Facts) { f.Pull.ForkPushedAt = time.Time{} }, external.Relabel, "GitHub no longer shows"},
	"gone, and asked for":     {func(f *external.Facts) { f.Pull.ForkDeleted = true; goneBefore(f); relabel(f) }, external.LetIn, ""},
	"gone, asked for another": {func(f *external.Facts) { f.Pull.ForkDeleted = true; goneBefore(f); relabel(f); f.Pull.HeadSHA = c }, external.Relabel, ""},
	"gone, asked for too late": {func(f *external.Facts) {
		f.Pull.ForkDeleted = true
		goneBefore(f)
		relabel(f)
		f.State.Externals[0].At = noon.Add(time.Minute)
	}, external.Relabel, ""},
	"gone since it was asked": {func(f *external.Facts) { f.Pull.ForkDeleted = true; was(f, in(model.ExternalVoid)); relabel(f) }, external.Relabel, ""},
	"gone, let in before":     {func(f *external.Facts) { f.Pull.ForkDeleted = true; was(f, in(model.ExternalFailed)); relabel(f) }, external.LetIn, ""},
	"gone while it goes on":   {func(f *external.Facts) { f.Pull.ForkDeleted = true; was(f) }, external.GoOn, ""},
	"gone, back at what it was": {func(f *external.Facts) {
		f.Pull.ForkDeleted = true
		was(f, in(model.ExternalVoid), func(m *model.ExternalMarker) { m.Moved = c })
		relabel(f)
	}, external.LetIn, ""},

	"the label was renamed since":   {func(f *external.Facts) { changedAt(f, time.Minute) }, external.Relabel, "the label itself was changed at 2026-01-02 12:01:00 UTC and added at 2026-01-02 12:00:00 UTC"},
	"the label was made for it":     {func(f *external.Facts) { changedAt(f, time.Second-1) }, external.LetIn, ""},
	"the label was renamed before":  {func(f *external.Facts) { changedAt(f, -time.Hour) }, external.LetIn, ""},
	"renamed, and said so":          {func(f *external.Facts) { changedAt(f, time.Minute); was(f, in(model.ExternalVoid)) }, external.Nothing, "again"},
	"renamed, and put on again":     {func(f *external.Facts) { changedAt(f, time.Second); was(f, in(model.ExternalVoid)); relabel(f) }, external.LetIn, ""},
	"renamed after it was let in":   {func(f *external.Facts) { changedAt(f, time.Minute); was(f) }, external.GoOn, ""},
	"renamed, and the fork is gone": {func(f *external.Facts) { changedAt(f, time.Minute); f.Pull.ForkDeleted = true }, external.Relabel, "GitHub no longer shows"},
	"renamed, gone, and asked for again": {func(f *external.Facts) {
		f.Pull.ForkDeleted = true
		goneBefore(f)
		relabel(f)
		f.Pull.LabelChanges[2].LabelAt = noon.Add(time.Hour)
	}, external.Relabel, "the label itself was changed"},

	"the base changed since":          {func(f *external.Facts) { f.Pull.BaseChangedAt = noon.Add(time.Minute) }, external.Relabel, `the base was changed to "main" at 2026-01-02 12:01:00 UTC and the label was added at 2026-01-02 12:00:00 UTC`},
	"the base changed in that second": {func(f *external.Facts) { f.Pull.BaseChangedAt = noon }, external.Relabel, "so it may be for another branch"},
	"the base changed before":         {func(f *external.Facts) { f.Pull.BaseChangedAt = noon.Add(-time.Second) }, external.LetIn, ""},
	"the base changed, and said so":   {func(f *external.Facts) { f.Pull.BaseChangedAt = noon; was(f, in(model.ExternalVoid)) }, external.Nothing, "again"},
	"the base changed, put on again": {func(f *external.Facts) { f.Pull.BaseChangedAt = noon; was(f, in(model.ExternalVoid)); relabel(f) },
		external.LetIn, ""},
	"the base changed, the fork is gone": {func(f *external.Facts) {
		f.Pull.BaseChangedAt, f.Pull.ForkDeleted = noon, true
		goneBefore(f)
		f.State.Externals[0].At = noon.Add(-time.Hour)
		f.State.Externals[0].Marker.At = noon.Add(-2 * time.Hour)
	}, external.Relabel, "for another branch"},

	"linked only":                  {func(f *external.Facts) { was(f, linked) }, external.LetIn, ""},
	"linked later than labeled":    {func(f *external.Facts) { was(f, linked, func(m *model.ExternalMarker) { m.At = noon.Add(time.Hour) }) }, external.LetIn, ""},
	"linked, and the fork is gone": {func(f *external.Facts) { f.Pull.ForkDeleted = true; was(f, linked) }, external.Relabel, ""},

	"a run died":               {func(f *external.Facts) { was(f) }, external.GoOn, "accepted since"},
	"a run died at the repair": {func(f *external.Facts) { was(f, in(model.ExternalFix)) }, external.GoOn, "fix since"},
	"approved":                 {func(f *external.Facts) { was(f, in(model.ExternalApproved)) }, external.GoOn, "approved since"},
	"approved, and tried often": {func(f *external.Facts) {
		was(f, in(model.ExternalApproved), func(m *model.ExternalMarker) { m.Attempt = 3 })
	}, external.GoOn, ""},
	"tried as often as it may be": {func(f *external.Facts) { was(f, func(m *model.ExternalMarker) { m.Attempt = 3 }) }, external.GiveUp, "3 of 3 attempts"},
	"the head moved":              {func(f *external.Facts) { was(f); f.Pull.HeadSHA = c }, external.Void, b + " was accepted, but the head is now " + c},
	"it moved after the approval": {func(f *external.Facts) { was(f, in(model.ExternalApproved)); f.Pull.HeadSHA = c }, external.Void, ""},
	"it moved, as was wanted":     {func(f *external.Facts) { was(f, in(model.ExternalWanting)); f.Pull.HeadSHA = c }, external.Void, ""},
	"moved, and said so":          {func(f *external.Facts) { was(f, in(model.ExternalVoid)); f.Pull.HeadSHA = d }, external.Nothing, "again"},
	"moved, and put on again":     {func(f *external.Facts) { was(f); f.Pull.HeadSHA = c; relabel(f) }, external.LetIn, "at cccccccccc"},
	"it goes elsewhere":           {func(f *external.Facts) { was(f, in(model.ExternalApproved)); f.Pull.BaseRef = "release" }, external.Void, `accepted for branch "main", but the base is now "release"`},
	"changes are wanted":          {func(f *external.Facts) { was(f, in(model.ExternalWanting)) }, external.Nothing, "wanting; add label"},
	"it failed":                   {func(f *external.Facts) { was(f, in(model.ExternalFailed)) }, external.Nothing, "failed; add label"},
	"failed, and put on again":    {func(f *external.Facts) { was(f, in(model.ExternalFailed)); relabel(f) }, external.LetIn, ""},
	"rejected and not closed":     {func(f *external.Facts) { was(f, in(model.ExternalRejected)) }, external.Finish, "not closed yet"},
	"landed and not closed":       {func(f *external.Facts) { was(f, in(model.ExternalLanded)) }, external.Finish, ""},
	"rejected, moved, not closed": {func(f *external.Facts) { was(f, in(model.ExternalRejected)); f.Pull.HeadSHA = c }, external.Void, ""},
	"the label is off by now":     {func(f *external.Facts) { was(f); f.Pull.Labels = nil }, external.Nothing, "is not on the pull request"},
	"an older list of labels":     {func(f *external.Facts) { was(f, func(m *model.ExternalMarker) { m.At = noon.Add(time.Hour) }) }, external.Nothing, "a newer label"},
	"it merges":                   {func(f *external.Facts) { was(f, in(model.ExternalApproved)); merging(f, model.MergeRunning) }, external.GoOn, ""},
	"it is merged": {func(f *external.Facts) {
		was(f, in(model.ExternalApproved))
		merging(f, model.MergeDone)
		f.Pull.HeadSHA = c
	}, external.Nothing, "it is merged, see"},
	"its merge failed": {func(f *external.Facts) { was(f, in(model.ExternalApproved)); merging(f, model.MergeFailed) }, external.Nothing, "(PRE_MERGE_FAILED), see " + page},
	"its merge failed, and moved": {func(f *external.Facts) {
		was(f, in(model.ExternalApproved))
		merging(f, model.MergeFailed)
		f.Pull.HeadSHA = c
	}, external.Void, ""},
	"its merge failed, labeled": {func(f *external.Facts) { was(f, in(model.ExternalApproved)); merging(f, model.MergeFailed); relabel(f) }, external.LetIn, ""},
	"a merge of before the label": {func(f *external.Facts) {
		was(f, in(model.ExternalApproved))
		merging(f, model.MergeFailed, func(m *model.MergeMarker) { m.At = noon.Add(-1e9) })
	}, external.GoOn, ""},
	"a merge of another tip": {func(f *external.Facts) {
		was(f, in(model.ExternalApproved))
		merging(f, model.MergeFailed, func(m *model.MergeMarker) { m.MirrorSHA = c })
	}, external.GoOn, ""},
	"a merge without a mirror": {func(f *external.Facts) {
		was(f, in(model.ExternalApproved))
		merging(f, model.MergeFailed, func(m *model.MergeMarker) { m.Mirror, m.MirrorSHA = "", "" })
	}, external.GoOn, ""},
	"a merge before there is some": {func(f *external.Facts) {
		was(f, func(m *model.ExternalMarker) { m.Mirror, m.Tip = "", "" })
		merging(f, model.MergeFailed, func(m *model.MergeMarker) { m.Mirror, m.MirrorSHA = "", "" })
	}, external.GoOn, ""},
}

// changedAt changes the label itself so long after it was put on.
func changedAt(f *external.Facts, after time.Duration) {
	f.Pull.LabelChanges[0].LabelAt = noon.Add(after)
}

// goneBefore adds what a Relabel says when the fork is gone.
func goneBefore(f *external.Facts) {
	was(f)
	f.State.Externals[0].Marker = external.Next(external.Facts{Pull: f.Pull, Policy: f.Policy, Operator: f.Operator}).Marker
}

func TestWhatBecomesOfAForksPullRequest(t *testing.T) {
	t.Parallel()
	for name, tt := range stories {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := labelled()
			tt.change(&f)
			s := external.Next(f)
			assert.Equal(t, tt.act, s.Act, s.Why)
			assert.Contains(t, s.Why, tt.says)
			assert.NotEmpty(t, s.Why)
			assert.Equal(t, f.State.External(), s.From)
			unmet := ""
			for _, g := range external.Gates(f) {
				if !g.Met && unmet == "" {
					unmet = g.Evidence
				}
			}
			if s.Act == external.Nothing || s.Act == external.Void || s.Act == external.Relabel {
				assert.Equal(t, s.Why, unmet, "why tells the same")
			} else {
				assert.Empty(t, unmet)
			}
		})
	}
}

// Whatever is said once is not said again, however often somebody looks.
func TestWhatIsSaidIsRemembered(t *testing.T) {
	t.Parallel()
	for name, tt := range stories {
		f := labelled()
		tt.change(&f)
		s := external.Next(f)
		if s.Act != external.Void && s.Act != external.Relabel && s.Act != external.GiveUp {
			continue
		}
		said := entry()
		said.Marker = s.Marker
		f.State.Externals = append(f.State.Externals, said)
		assert.Equal(t, external.Nothing, external.Next(f).Act, name)
		f.Pull.HeadSHA = d
		if s.Act != external.GiveUp {
			assert.Equal(t, external.Nothing, external.Next(f).Act, name+", moved again")
		}
	}
}

func TestWhatTheMarkersSay(t *testing.T) {
	t.Parallel()
	f := labelled()
	begun := model.ExternalMarker{Number: 7, State: model.ExternalLetIn, Head: b, At: noon, By: "olga", Label: accept, Base: "main"}
	assert.Equal(t, begun, external.Next(f).Marker)
	f.Pull.ForkPushedAt = noon
	begun.State = model.ExternalVoid
	assert.Equal(t, begun, external.Next(f).Marker)

	f = labelled()
	was(&f)
	f.Pull.HeadSHA = c
	want := entry(in(model.ExternalVoid), func(m *model.ExternalMarker) { m.Moved, m.Run, m.RunURL, m.Claim = c, 0, "", "" }).Marker
	assert.Equal(t, want, external.Next(f).Marker)

	f = labelled()
	was(&f, func(m *model.ExternalMarker) { m.Attempt = 3 })
	s := external.Next(f)
	assert.Equal(t, model.ExternalFailed, s.Marker.State)
	assert.Equal(t, "every run that started it was interrupted", s.Marker.Reason)
	assert.Empty(t, s.Marker.Claim)
	assert.Equal(t, "olga", s.By)
	assert.Equal(t, noon, s.At)
}

func TestTheNewestLabelCounts(t *testing.T) {
	t.Parallel()
	p := model.Pull{Labels: []string{"x"}, LabelChanges: []model.LabelChange{
		{Label: "x", On: true, At: noon}, {Label: "x", At: noon.Add(1e9)}, {Label: "X", On: true, At: noon.Add(2e9)}, {Label: "y", At: noon.Add(3e9)},
	}}
	got, ok := p.LabelledBy("x")
	assert.True(t, ok)
	assert.Equal(t, noon.Add(2e9), got.At)
	p.Labels = nil
	_, ok = p.LabelledBy("x")
	assert.False(t, ok, "it is off by now")
	_, ok = p.LabelledBy("z")
	assert.False(t, ok)
}

func TestWhatAnAnswerComesTo(t *testing.T) {
	t.Parallel()
	policy := labelled().Policy
	decide := func(verdict string, round int, p external.Policy) model.ExternalMarker {
		m := entry(func(m *model.ExternalMarker) { m.Round, m.Attempt = round, 2 }).Marker
		got := external.Decide(p, m, model.EvaluationResult{Verdict: verdict, Reason: "r"})
		require.Equal(t, verdict, got.Verdict)
		require.False(t, got.Evaluated, "only the caller knows that a command said so")
		return got
	}
	assert.Equal(t, model.ExternalApproved, decide(model.VerdictApprove, 0, policy).State)
	assert.Equal(t, model.ExternalRejected, decide(model.VerdictReject, 0, policy).State)
	fix := decide(model.VerdictFix, 1, policy)
	assert.Equal(t, model.ExternalFix, fix.State)
	assert.Equal(t, "r", fix.Reason)
	assert.Equal(t, []int{2, 1}, []int{fix.Round, fix.Attempt})
	assert.Equal(t, model.ExternalWanting, decide(model.VerdictFix, 2, policy).State, "the rounds are used up")
	policy.Fix = false
	assert.Equal(t, model.ExternalWanting, decide(model.VerdictFix, 0, policy).State, "nobody repairs here")
	assert.Equal(t, model.ExternalFailed, decide("maybe", 0, policy).State)
}

func TestWhatStandsForAnApproval(t *testing.T) {
	t.Parallel()
	m := entry(in(model.ExternalApproved)).Marker
	assert.Equal(t, `accepted by olga with label "external:accept", which covers bbbbbbbbbb`, external.Evidence(m))
	m.Evaluated, m.Tip = true, d
	assert.Equal(t, `accepted by olga with label "external:accept", and the evaluation approved dddddddddd`, external.Evidence(m))
}
