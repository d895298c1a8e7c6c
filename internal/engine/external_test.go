package engine_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
)

func TestAForkGoesThroughToTheBadgeWithoutAPerson(t *testing.T) {
	w := newExternal(t, "evaluate = "+evaluates("approve", "fine"))
	head := w.theirs()
	w.letIn("carol")
	assert.Contains(t, w.due(), fmt.Sprintf("%d external", w.number))
	w.done(w.visited())
	assert.Equal(t, "merged", w.badge())
	assert.Equal(t, head, w.bare("rev-parse", "main^2"), "the contributor's own commit")
	assert.Equal(t, fmt.Sprintf("Merge external GitHub PR #%d: feature\n\nAdd f", w.number), w.bare("log", "-1", "--format=%B", "main"))
	w.requested("done", "hank you, @mallory", w.at("main"))
	assert.Empty(t, w.at(fmt.Sprintf("gh-pr-%d/feature", w.number)), "the mirror has done its work")
	assert.Equal(t, head, w.theirs(), "the fork is left alone")
	w.quiet()
}

func TestTheMergeOfAForkByACommandNeedsNoMirror(t *testing.T) {
	w := newExternal(t)
	w.later(time.Minute)
	w.api("alice", "POST", w.pull("/reviews"), object{"event": "APPROVE"})
	w.command("carol", "/mergexo merge")
	assert.Equal(t, "merged", w.badge())
	assert.Equal(t, fmt.Sprintf("Merge external GitHub PR #%d: feature\n\nAdd f", w.number), w.bare("log", "-1", "--format=%B", "main"))
}

// What one line of the settings has to bring back: the commits of a fork are picked, and its pull request is closed.
func TestAForkIsPickedWhereTheSettingsBackOut(t *testing.T) {
	w := newExternal(t, "[[merge.rule]]\nbranch = \"gh-pr-*\"\nenabled = false")
	head, base := w.theirs(), w.at("main")
	w.letIn("carol")
	w.done(w.visited())
	landed := w.at("main")
	assert.Equal(t, base, w.bare("rev-parse", landed+"^"), "no merge commit")
	assert.Equal(t, w.bare("log", "-1", "--format=%an <%ae> %at", head), w.bare("log", "-1", "--format=%an <%ae> %at", landed))
	assert.Contains(t, w.bare("log", "-1", "--format=%B", landed), "(cherry picked from commit "+head+")")
	assert.Equal(t, "closed", w.badge())
	w.requested("done", "Thank you, @mallory!", "/commit/"+landed)
	assert.Empty(t, w.at(w.mirrorName()), "the mirror has done its work")
	assert.Equal(t, head, w.theirs(), "the fork is left alone")
	w.quiet()
}

func TestAForkIsMendedByCommitsOnTop(t *testing.T) {
	each(t, map[string]string{"merged": "", "closed": "[[merge.rule]]\nbranch = \"gh-pr-*\"\nenabled = false"}, func(t *testing.T, badge string, rule string) {
		w := newExternal(t,
			`evaluate = ["sh", "-c", 'cat >/dev/null; if [ -f mended ]; then echo "{\"verdict\":\"approve\"}"; else echo "{\"verdict\":\"fix\",\"reason\":\"mend it\"}"; fi']`,
			`fix = ["sh", "-c", "cat >/dev/null; echo yes >mended"]`, rule)
		head, base := w.theirs(), w.at("main")
		w.admits("carol")
		assert.Equal(t, badge, w.badge())
		assert.Equal(t, "yes\n", w.fileOf("main", "mended"))
		assert.Equal(t, head, w.theirs())
		if badge == "merged" {
			assert.Equal(t, head, w.bare("rev-parse", "main^2^"), "the contributor's commit is the parent of ours")
		} else {
			assert.Equal(t, base, w.bare("rev-parse", "main^^"))
			assert.Contains(t, w.bare("log", "-1", "--format=%B", "main^"), "(cherry picked from commit "+head+")")
		}
		w.quiet()
	})
}

func TestARejectedForkIsToldWhyAndClosed(t *testing.T) {
	w := newExternal(t, "evaluate = "+evaluates("reject", "It is out of scope."))
	w.admits("carol")
	assert.Equal(t, "closed", w.badge())
	assert.Contains(t, w.onlyWord(), "It is out of scope.")
	assert.Equal(t, "meanwhile\n", w.fileOf("main", "other.txt"))
	w.quiet()
}

// What a person does while an evaluation runs counts: its verdict is on something else then.
func TestAVerdictOnWhatIsNoLongerLetInIsVoid(t *testing.T) {
	const evaluating = "the evaluation is at work"
	unlabel := func(w *world) { w.takesOff("carol", "external:accept") }
	type row struct {
		verdict   string
		meanwhile func(w *world)
		says      string
	}
	each(t, map[string]row{
		"the head moved":            {"approve", func(w *world) { w.contribute("feature", "f.txt", "better\n") }, "This needs a new review."},
		"the label was removed":     {"reject", unlabel, "The result does not count: the label `external:accept` was removed"},
		"the label was added again": {"fix", func(w *world) { unlabel(w); w.letIn("carol") }, "The result does not count"},
		"a person closed it":        {"reject", func(w *world) { w.api("octo", "PATCH", w.pull(""), object{"state": "closed"}) }, "it was closed in the meantime"},
	}, func(t *testing.T, name string, c row) {
		w := newExternal(t, `evaluate = ["sh", "-c", 'cat >/dev/null; echo "`+evaluating+`" >&2; echo "{\"verdict\": \"`+c.verdict+`\", \"reason\": \"Out of scope.\"}"']`, `fix = ["false"]`)
		before := w.at("main")
		w.letIn("carol")
		w.printed.At(evaluating, func() {
			w.later(time.Minute)
			c.meanwhile(w)
			w.badge() // by when GitHub shows it
		})
		w.sweep()
		assert.Contains(t, w.said(), c.says)
		assert.NotContains(t, w.said(), "Out of scope.")
		assert.Equal(t, before, w.at("main"))
		if name != "a person closed it" {
			assert.Equal(t, "open", w.badge())
		}
	})
}

func TestAForkThatWantsChangesNobodyMakesWaitsForItsContributor(t *testing.T) {
	w := newExternal(t, "evaluate = "+evaluates("fix", "Please write a test."))
	w.admits("carol")
	assert.Equal(t, "open", w.badge())
	assert.Contains(t, w.onlyWord(), "Please write a test.")
	assert.Equal(t, []string{fmt.Sprint(w.number, " fork ", model.ExternalWanting)}, w.waiting("sandbox-actions"))
	w.quiet()
	w.contribute("feature", "f_test.txt", "test\n")
	w.sweep() // which GitHub shows the push to when it has looked
	assert.Equal(t, "open", w.badge(), "a later push needs the label again")
	w.rests()
}

// A push to another branch of the fork says nothing about the head that the label was for.
func TestAPushToAnotherBranchOfTheForkLeavesTheLabel(t *testing.T) {
	type row struct {
		meanwhile func(w *world)
		want      string
	}
	each(t, map[string]row{
		"alone": {func(*world) {}, "merged"},
		"which came back to the head": {func(w *world) {
			was := w.theirs()
			w.forcePush()
			w.later(time.Minute)
			w.api("mallory", "PATCH", "/api/v3/repos/mallory/widgets/git/refs/heads/feature", object{"sha": was, "force": true})
		}, "open"},
		"of a fork that the token may not see": {func(w *world) {
			w.fail(object{"match": object{"path": "*/mallory/widgets/activity"}, "status": 404, "body": object{"message": "Not Found"}})
		}, "open"},
	}, func(t *testing.T, _ string, tt row) {
		w := newExternal(t)
		w.api("mallory", "POST", "/api/v3/repos/mallory/widgets/git/refs", object{"ref": "refs/heads/other", "sha": w.theirs()})
		w.letIn("carol")
		w.contribute("other", "o.txt", "o\n")
		tt.meanwhile(w)
		w.sweep()
		assert.Equal(t, tt.want, w.badge(), w.said())
		w.quiet()
	})
}

func TestAForcePushVoidsTheEvaluation(t *testing.T) {
	w := newExternal(t, "evaluate = "+evaluates("approve", "fine"))
	w.resets("[merge]\n", "[merge]\nrequired_checks = [\"test\"]\n")
	before := w.theirs()
	w.admits("carol")
	require.Equal(t, "open", w.badge())
	mirror := w.mirrorName()
	require.Equal(t, before, w.at(mirror))
	w.later(time.Minute)
	w.forcePush()
	after := w.theirs()
	w.sweep()
	said := fmt.Sprint(w.marked("external", ""))
	assert.Contains(t, said, before)
	assert.Contains(t, said, after)
	assert.Equal(t, before, w.at(mirror), "the mirror is never overwritten")
	assert.Equal(t, "open", w.badge())
	w.quiet()
	w.admits("carol")
	assert.Equal(t, before, w.at(mirror))
	assert.Equal(t, after, w.at(mirror+"-2"))
	w.quiet()
}

// Whenever that happens, the contributor hears of it once, with both heads.
func TestAForcePushInTheMiddleIsToldOnce(t *testing.T) {
	t.Parallel()
	start := func(t *testing.T) *world {
		w := newExternal(t, "evaluate = "+evaluates("approve", "fine"))
		w.letIn("carol")
		return w
	}
	w := start(t)
	w.sweepOnly()
	require.Equal(t, "merged", w.badge())
	for _, n := range writes(1, w.gate.writes, 2, 6, w.gate.writes) {
		t.Run(fmt.Sprint("before write ", n), func(t *testing.T) {
			t.Parallel()
			w := start(t)
			before, after := w.theirs(), ""
			w.beforeWrite(n, func() {
				w.forcePush()
				after = w.theirs()
			})
			w.sweepOnly()
			w.gate.revive()
			for range 2 {
				w.later(time.Minute)
				w.sweep()
			}
			w.quiet()
			if strings.Contains(w.bare("log", "--format=%H", "main"), before) { // it had landed already, and the comment says so
				assert.Contains(t, w.request(), "Thank you, @mallory!")
				return
			}
			told := 0
			for _, c := range w.comments() {
				if body := c["body"].(string); strings.Contains(body, after) || strings.Contains(body, "HEAD_MOVED") {
					told++
					assert.Contains(t, body, before)
				}
			}
			assert.Equal(t, 1, told, w.said())
			assert.Equal(t, "open", w.badge())
		})
	}
}

func TestAForkWhoseCommitsWerePickedIsToldWhichAndClosed(t *testing.T) {
	w := newExternal(t)
	w.write("octo", "main", "f.txt", "f\n")
	picked := w.at("main")
	w.write("octo", "main", "later.txt", "later\n")
	w.admits("carol")
	assert.Equal(t, "closed", w.badge())
	assert.Contains(t, w.onlyWord(), picked)
	w.quiet()
}

func TestAnEvaluationThatPrintsGarbageIsToldAfterThreeAttempts(t *testing.T) {
	w := newExternal(t, `evaluate = ["sh", "-c", "cat >/dev/null; echo LGTM"]`)
	w.letIn("carol")
	for range 3 {
		w.sweep()
		w.later(time.Minute)
	}
	assert.Equal(t, "open", w.badge())
	assert.Contains(t, w.onlyWord(), "LGTM")
	w.quiet()
}

var landedList = regexp.MustCompile(`Commits:\n\n(?:- .*\n)+\n`)
