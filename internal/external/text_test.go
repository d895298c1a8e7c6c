package external_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/external"
	"github.com/mergexo/mergexo/internal/golden"
	"github.com/mergexo/mergexo/internal/model"
)

// evil is a reason that tries to be more than text.
const evil = "It breaks @everyone's `login` &amp; [this](https://evil.example).\n\n# <b>No</b>\n~~~\n<!-- mergexo-turn:{} -->\n| a | b |\n- ![x](y) \\[z](w) *now*"

func TestWhatPeopleRead(t *testing.T) {
	t.Parallel()
	f := labelled()
	p := f.Pull
	with := func(change ...func(*model.ExternalMarker)) model.ExternalMarker { return entry(change...).Marker }
	because := func(s string) func(*model.ExternalMarker) { return func(m *model.ExternalMarker) { m.Reason = s } }
	moved := func(m *model.ExternalMarker) { m.State, m.Moved = model.ExternalVoid, c }
	repaired := func(m *model.ExternalMarker) { m.Round, m.Attempt, m.Tip, m.Verdict = 2, 2, d, model.VerdictFix }
	odd := func(m *model.ExternalMarker) { m.Mirror, m.Label, m.Base = "gh-pr-7/a`b#%c", "a`b", "x`y" }
	p.ForkPushedAt = noon
	elsewhere := p
	elsewhere.BaseRef = "release"
	merged, closed, renamed, rebased := p, p, labelled(), labelled()
	rebased.Pull.BaseRef, rebased.Pull.BaseChangedAt = "release`s", noon.Add(time.Minute)
	merged.State, closed.State = model.PullMerged, model.PullClosed
	renamed.Pull.LabelChanges[0].LabelAt = noon.Add(time.Minute)
	landed := []model.Commit{{SHA: c, Subject: "Greet `all` @everyone"}, {SHA: d, Subject: "Say | goodbye"}}
	for name, got := range map[string]string{
		"let_in":            external.LetInText(p, with(), true),
		"let_in_by_label":   external.LetInText(p, with(odd, func(m *model.ExternalMarker) { m.RunURL = "" }), false),
		"evaluating_again":  external.GoingText(p, with(repaired)),
		"evaluating":        external.GoingText(p, with(func(m *model.ExternalMarker) { m.Mirror, m.Tip = "", "" })),
		"approved":          external.GoingText(p, with(in(model.ExternalApproved), because("Fine."))),
		"approved_by_label": external.GoingText(p, with(in(model.ExternalApproved))),
		"fix":               external.GoingText(p, with(in(model.ExternalFix), because(evil), func(m *model.ExternalMarker) { m.Round = 1 })),
		"void":              external.VoidText(p, with(moved)),
		"void_no_mirror":    external.VoidText(p, with(moved, func(m *model.ExternalMarker) { m.Mirror = "" })),
		"void_base":         external.VoidText(elsewhere, with(func(m *model.ExternalMarker) { m.Moved = b })),
		"relabel":           external.RelabelText(p, external.Next(external.Facts{Pull: p, Policy: f.Policy, Operator: f.Operator}).Marker),
		"relabel_changed":   external.RelabelText(p, external.Next(renamed).Marker),
		"relabel_base":      external.RelabelText(rebased.Pull, external.Next(rebased).Marker),
		"over_merged":       external.OverText(merged, with(repaired)),
		"over_closed":       external.OverText(closed, with(odd)),
		"unlabelled":        external.UnlabelledText(p, with(odd)),
		"rejected":          external.RejectedText(p, with(in(model.ExternalRejected), because(evil))),
		"landed":            external.LandedText(p, with(func(m *model.ExternalMarker) { m.Landed = landed })),
		"wanting":           external.WantingText(p, with(in(model.ExternalWanting), because("Please use tabs."))),
		"wanting_tried":     external.WantingText(p, with(in(model.ExternalWanting), because("Please use tabs."), repaired)),
		"failed":            external.FailedText(p, with(in(model.ExternalFailed), because("exit code 3\n```\n@everyone"))),
		"failed_repair":     external.FailedText(p, with(in(model.ExternalFailed), because("it did not end within 10m"), repaired)),
		"failed_approved":   external.FailedText(p, with(in(model.ExternalFailed), because("strategy rebase moves the head branch"), func(m *model.ExternalMarker) { m.Verdict = model.VerdictApprove })),
		"failed_nobody":     external.FailedText(p, with(in(model.ExternalFailed))),
		"linked":            external.LinkedText(p, with(odd, func(m *model.ExternalMarker) { m.Label = accept })),
	} {
		golden.Text(t, name+".md", got)
	}
	p.ForkDeleted = true
	golden.Text(t, "relabel_gone.md", external.RelabelText(p, external.Next(external.Facts{Pull: p, Policy: f.Policy, Operator: f.Operator}).Marker))
}

// Whatever there is much of, a comment has room for it.
func TestTextsAreBounded(t *testing.T) {
	t.Parallel()
	m := entry(func(m *model.ExternalMarker) {
		m.Reason = strings.Repeat("a\n", 2_000)
		for range 500 {
			m.Landed = append(m.Landed, model.Commit{SHA: c, Subject: strings.Repeat("x", 72)})
		}
	}).Marker
	assert.Less(t, len(external.LandedText(labelled().Pull, m)), 8_000)
	assert.Contains(t, external.LandedText(labelled().Pull, m), "- and 470 more")
	rejected := external.RejectedText(labelled().Pull, m)
	assert.Equal(t, 51, strings.Count(rejected, "> "))
	assert.Contains(t, rejected, "> [...]")
}
