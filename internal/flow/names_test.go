package flow_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/flow"
	"github.com/mergexo/mergexo/internal/model"
)

func TestATitleBecomesPartOfAName(t *testing.T) {
	for title, want := range map[string]string{
		"Say hello":                    "say-hello",
		"  --Don't panic!! (v2.1)--  ": "dont-panic-v2-1",
		"Crème brûlée für Ångström":    "creme-brulee-fur-angstrom",
		"Straße, Æther, Łódź, Øre":     "strasse-aether-lodz-ore",
		"ﬁle №9 ½":                     "file-no9-1-2",
		"İstanbul ılık":                "istanbul-ilik",
		"":                             "issue",
		"🎉🎉":                           "issue",
		"修正する":                         "issue",
		"修正 login":                     "login",
		"../../etc/passwd.lock":        "etc-passwd-lock",
		"a\x00b\xffc":                  "a-b-c",
		"one two three four five six seven eight nine": "one-two-three-four-five-six-seven-eight",
		"one two three four five six seven eight- nin": "one-two-three-four-five-six-seven-eight",
		"one two three four five six seven abcdefgh":   "one-two-three-four-five-six-seven",
		"one two three four five six seven abcdef":     "one-two-three-four-five-six-seven-abcdef",
		strings.Repeat("x", 500):                       strings.Repeat("x", 40),
		strings.Repeat("\uFDFA", 500):                  "issue",
	} {
		assert.Equal(t, want, flow.Slug(title), "%q", title)
	}
}

func TestTheMergeOfAForkNamesItsBranchAndSaysItsTitle(t *testing.T) {
	long := strings.Repeat("one-two_", 20) + "Three"
	for slug, want := range map[string]string{
		"contributor/arcium": "contributor/arcium",
		"Fix/GH-12_It.2":     "Fix/GH-12_It.2",
		"gh-pr-7":            "gh-pr-7",
		"Größe/ändern":       "Größe/ändern",
		"исправление":        "исправление",
		"修正/login":           "修正/login",
		"🎉":                  "🎉",
		long:                 long,
		"fix/#3":             "fix\u200b/#\u200b3", // closes no issue
		"@octo/fix":          "@\u200bocto/fix",    // notifies nobody
		"a\u202eb":           "ab",                 // hides nothing
	} {
		subject, body := flow.ExternalMerge(7, slug, "Привет, Some other title")
		assert.Equal(t, "Merge external GitHub PR #7: "+want, subject)
		assert.Equal(t, "Привет, Some other title", body)
	}
	_, body := flow.ExternalMerge(7, "x", "Fix it\n[skip ci] closes #3 @octo")
	assert.NotContains(t, body, "\n")
	assert.NotContains(t, body, "[skip ci]", "a stranger's title skips no workflow")
	assert.NotContains(t, body, "closes #3", "and closes no issue")
	assert.NotContains(t, body, "@octo", "and notifies nobody")
	_, body = flow.ExternalMerge(7, "x", "")
	assert.Empty(t, body, "a branch without a pull request has no title")
}

func TestBranchesAndDocumentsAreNamed(t *testing.T) {
	for f, want := range map[model.Flow]string{
		model.FlowDesign: "agent/design/7-say-hello", model.FlowBugfix: "agent/bugfix/7-say-hello",
		model.FlowSmallJob: "agent/small/7-say-hello", model.FlowImplementation: "agent/impl/7-say-hello",
		"x..y": "agent/x-y/7-say-hello",
	} {
		assert.Equal(t, want, flow.Branch(f, 7, "Say hello", 1))
	}
	assert.Equal(t, "agent/bugfix/7-issue", flow.Branch(model.FlowBugfix, 7, "", 0))
	assert.Equal(t, "agent/bugfix/7-issue-3", flow.Branch(model.FlowBugfix, 7, "", 3))
	assert.Equal(t, "docs/design/7-say-hello.md", flow.DocPath("docs/design/", 7, "Say hello", 1))
	assert.Equal(t, "7-say-hello-2.md", flow.DocPath("", 7, "Say hello", 2))
}

// valid is stricter than git: https://git-scm.com/docs/git-check-ref-format
var valid = regexp.MustCompile(`^agent/(?:design|bugfix|small|impl)/\d+-[a-z0-9]+(?:-[a-z0-9]+)*$`)

func FuzzBranch(f *testing.F) {
	for _, title := range []string{"Say hello", "", "x..y.lock", "@{-1}", "a//b/.c", "-x-", "é~^:?*[\\", "İ\u0301\u0307", "\xff\x00", "refs/heads/main", strings.Repeat("ab ", 200)} {
		f.Add(title, 2)
	}
	f.Fuzz(func(t *testing.T, title string, nth int) {
		for _, kind := range []model.Flow{model.FlowDesign, model.FlowBugfix, model.FlowSmallJob, model.FlowImplementation} {
			assert.Regexp(t, valid, flow.Branch(kind, 7, title, nth))
		}
		assert.LessOrEqual(t, len(flow.Slug(title)), 40)
		assert.Equal(t, flow.Slug(title), flow.Slug(flow.Slug(title)))
	})
}
