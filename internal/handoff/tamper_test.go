package handoff_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/golden"
	"github.com/mergexo/mergexo/internal/handoff"
	"github.com/mergexo/mergexo/internal/must"
)

// rewritten puts another text in place of the outcome.
func rewritten(t *testing.T, dir string, change func(text string) string) {
	t.Helper()
	file := filepath.Join(dir, handoff.OutcomeFile)
	text := must.Get(os.ReadFile(file))(t)
	after := change(string(text))
	require.NotEqual(t, string(text), after)
	require.NoError(t, os.WriteFile(file, []byte(after), 0o600))
}

// field sets a field of the outcome file, by its path, or removes it.
func field(value any, path ...string) func(t *testing.T, dir string) {
	return func(t *testing.T, dir string) {
		t.Helper()
		rewritten(t, dir, func(text string) string {
			var all map[string]any
			require.NoError(t, json.Unmarshal([]byte(text), &all))
			at := all
			for _, p := range path[:len(path)-1] {
				at = at[p].(map[string]any)
			}
			if at[path[len(path)-1]] = value; value == nil {
				delete(at, path[len(path)-1])
			}
			return string(must.Get(json.Marshal(all))(t))
		})
	}
}

// text puts the second, fourth, ... in place of the first, third, ...
func text(fromTo ...string) func(t *testing.T, dir string) {
	return func(t *testing.T, dir string) {
		t.Helper()
		rewritten(t, dir, strings.NewReplacer(fromTo...).Replace)
	}
}

func both(one, then func(t *testing.T, dir string)) func(t *testing.T, dir string) {
	return func(t *testing.T, dir string) {
		t.Helper()
		one(t, dir)
		then(t, dir)
	}
}

func file(name string, do func(path string) error) func(t *testing.T, dir string) {
	return func(t *testing.T, dir string) {
		t.Helper()
		require.NoError(t, do(filepath.Join(dir, name)))
	}
}

// linked moves a file elsewhere and puts a link in its place.
func linked(link func(old, new string) error) func(path string) error {
	return func(path string) error {
		elsewhere := filepath.Join(filepath.Dir(filepath.Dir(path)), "elsewhere")
		if err := os.Rename(path, elsewhere); err != nil {
			return err
		}
		return link(elsewhere, path)
	}
}

func replacedBy(make func(path string) error) func(path string) error {
	return func(path string) error {
		if err := os.Remove(path); err != nil {
			return err
		}
		return make(path)
	}
}

func grown(size int64) func(path string) error {
	return func(path string) error { return os.Truncate(path, size) }
}

// alone is an outcome without a bundle.
func alone(text string) func(t *testing.T, dir string) {
	return func(t *testing.T, dir string) {
		t.Helper()
		require.NoError(t, os.Remove(handoff.BundlePath(dir)))
		require.NoError(t, os.WriteFile(filepath.Join(dir, handoff.OutcomeFile), []byte(text), 0o600))
	}
}

// failing is an outcome of an attempt that failed, with one thing more.
func failing(more string) string {
	return fmt.Sprintf(`{"version":1,"repository":"octo/widgets","number":7,"ended":"failed","detail":"x","turn_key":"%s","start":"%s","events":["%s"],%s,"outcome":{}}`,
		key, start, events[0], more)
}

type tamper struct {
	name string
	of   func() handoff.Handoff
	do   func(t *testing.T, dir string)
}

// tampers are changes to a handoff of a turn that was right.
var tampers = []tamper{
	{"another repository", planned, field("octo/gadgets", "repository")},
	{"no repository", planned, field("gadgets", "repository")},
	{"another pull request", planned, field(8, "number")},
	{"pull request 0", planned, field(0, "number")},
	{"another pull request with its events", planned, text(`"number":7`, `"number":8`, `"7:`, `"8:`)},
	{"another turn key", planned, field(strings.Repeat("d", 64), "turn_key")},
	{"a turn key that is none", planned, field("../../x", "turn_key")},
	{"another start", planned, field(strings.Repeat("d", 40), "start")},
	{"a start that is a branch", planned, field("main", "start")},
	{"on another head", planned, field(strings.Repeat("d", 40), "onto")},
	{"on a head that is none", planned, field("HEAD~1", "onto")},
	{"on its own start", planned, field(start, "onto")},
	{"an event that was not asked", planned, field([]string{events[0], "7:review:99:2026-01-02T03:04:05Z"}, "events")},
	{"an event of another pull request", planned, field([]string{events[0], "8:review:11:2026-01-02T03:04:05Z"}, "events")},
	{"an event twice", planned, field([]string{events[0], events[0]}, "events")},
	{"an event that is none", planned, field([]string{"7:review:11:now\n<!-- mergexo-turn:{} -->"}, "events")},
	{"no events", planned, field([]string{}, "events")},
	{"201 events", planned, field(make([]string, 201), "events")},
	{"no head", planned, field(nil, "head")},
	{"a head that is an option", planned, field("--upload-pack=x", "head")},
	{"a head without commits", planned, field(start, "head")},
	{"no bundle said", planned, field(nil, "bundle")},
	{"a bundle of no size", planned, field(0, "bundle", "size")},
	{"a sum that is none", planned, field("x", "bundle", "sha256")},
	{"a bundle sum missing", planned, field(nil, "bundle", "sha256")},
	{"ended in another way", planned, field("merged", "ended")},
	{"ended as blocked", planned, field("blocked", "ended")},
	{"ended as nothing", planned, field("nothing", "ended")},
	{"blocked for what is not the agent's to say", planned, text(`"ended":"planned"`, `"ended":"blocked","reason":"marker_edited","detail":"x"`)},
	{"blocked with answers", planned, text(`"ended":"planned"`, `"ended":"blocked","reason":"agent_blocked","detail":"x"`)},
	{"failed with a reason", planned, text(`"ended":"planned"`, `"ended":"failed","reason":"agent_blocked","detail":"x"`)},
	{"a reason for a plan", planned, field("agent_blocked", "reason")},
	{"a detail for a plan", planned, field("x", "detail")},
	{"an observed head without a rewrite", planned, field(head, "observed")},
	{"a detail over its limit", planned, text(`"ended":"planned"`, `"ended":"failed","detail":"`+strings.Repeat("x", 70_000)+`"`)},
	{"seconds below zero", planned, field(-1, "seconds")},
	{"years", planned, field(1<<40, "seconds")},
	{"half a second", planned, field(0.5, "seconds")},
	{"too many notes", planned, field(make([]string, 51), "notes")},
	{"a note over its limit", planned, field([]string{"", strings.Repeat("x", 2001)}, "notes")},
	{"over 1000 items", planned, field(make([]string, 1001), "notes")},
	{"another version", planned, field(2, "version")},
	{"no version", planned, field(nil, "version")},
	{"an unknown field", planned, field(true, "force")},
	{"an unknown field with a name to be printed", planned, field(1, "a\n::error::\u202e"+strings.Repeat("x", 100))},
	{"an unknown field in the outcome", planned, field("main", "outcome", "push_to")},
	{"a field of what begins a pull request", planned, field("x", "outcome", "pr_title")},
	{"a name in other case", planned, text(`"number":7`, `"number":7,"Number":8`)},
	{"a field twice", planned, text(`"number":7`, `"number":7,"number":8`)},
	{"a field twice, once escaped", planned, text(`"number":7`, `"number":7,"\u006eumber":8`)},
	{"a wrong type", planned, field("7", "number")},
	{"a list for an object", planned, field([]any{}, "outcome")},
	{"nothing for a field", planned, text(`"number":7`, `"number":null`)},
	{"a number that is none", planned, text(`"number":7`, `"number":7e0`)},
	{"a number over 64 bits", planned, text(`"review_comment_id":11`, `"review_comment_id":18446744073709551627`)},
	{"a reply without a body", planned, text(`,"body":"done`, `,"bodi":"done`)},
	{"a reply without an id", planned, text(`"review_comment_id":11,`, ``)},
	{"a reply over its limit", planned, text(`"body":"done`, `"body":"`+strings.Repeat("x", 300_000))},
	{"a comment over its limit", planned, text(`see above`, strings.Repeat("x", 300_000))},
	{"a commit message over its limit", planned, text(`Say two`, strings.Repeat("x", 300_000))},
	{"a title over its limit", planned, text(`"title":"t"`, `"title":"`+strings.Repeat("x", 1001)+`"`)},
	{"201 replies", planned, text(`"review_replies":[`, `"review_replies":[`+strings.Repeat(`{"review_comment_id":1,"body":"x"},`, 200))},
	{"a session over its limit", planned, field(strings.Repeat("s", 1025), "outcome", "session")},
	{"a plan that is blocked", planned, field("help", "outcome", "blocked_reason")},
	{"git operations", planned, field([]any{map[string]any{"op": "fetch_origin"}}, "outcome", "git_ops")},
	{"costs below zero", planned, field(-1, "outcome", "usage", "cost_usd")},
	{"costs without end", planned, text(`"cost_usd":0.25`, `"cost_usd":1e300`)},
	{"costs beyond numbers", planned, text(`"cost_usd":0.25`, `"cost_usd":1e400`)},
	{"more behind the object", planned, text(`"notes":["a file was left out"]}`, `"notes":["a file was left out"]}`+"\n{}")},
	{"half an object", planned, file(handoff.OutcomeFile, grown(100))},
	{"nothing, but a turn", planned, alone(`{"version":1,"repository":"octo/widgets","number":7,"ended":"nothing","detail":"x","onto":"` + start + `","outcome":{}}`)},
	{"nothing, but events", planned, alone(`{"version":1,"repository":"octo/widgets","number":7,"ended":"nothing","detail":"x","events":["` + events[0] + `"],"outcome":{}}`)},
	{"nothing, but commits", planned, alone(`{"version":1,"repository":"octo/widgets","number":7,"ended":"nothing","detail":"x","head":"` + head + `","outcome":{}}`)},
	{"nothing, but a session", planned, alone(`{"version":1,"repository":"octo/widgets","number":7,"ended":"nothing","detail":"x","outcome":{"session":"s"}}`)},
	{"nothing, about another pull request", planned, alone(`{"version":1,"repository":"octo/widgets","number":8,"ended":"nothing","detail":"x","outcome":{}}`)},
	{"nothing, and a bundle beside it", planned, both(alone(`{"version":1,"repository":"octo/widgets","number":7,"ended":"nothing","detail":"x","outcome":{}}`), file(handoff.BundleFile, bundle))},
	{"failed, with a head and no commits", planned, alone(failing(`"head":"` + start + `"`))},
	{"failed, with a head that is none", planned, alone(failing(`"head":"main"`))},
	{"failed, with an observed head", planned, alone(failing(`"observed":"` + head + `"`))},
	{"rewritten to what is no head", planned, alone(strings.Replace(failing(`"reason":"history_rewrite","observed":"main"`), "failed", "blocked", 1))},
	{"no JSON", planned, file(handoff.OutcomeFile, func(path string) error { return os.WriteFile(path, []byte("done"), 0o600) })},
	{"an empty file", planned, file(handoff.OutcomeFile, grown(0))},
	{"zeros behind it", planned, file(handoff.OutcomeFile, grown(5000))},
	{"not UTF-8", planned, text("see above", "\xff\xfe")},
	{"objects in each other without end", planned, file(handoff.OutcomeFile, func(path string) error {
		return os.WriteFile(path, []byte(strings.Repeat(`{"outcome":`, 700_000)), 0o600)
	})},
	{"an outcome over the limit", planned, file(handoff.OutcomeFile, grown(8<<20+1))},
	{"no outcome", planned, file(handoff.OutcomeFile, os.Remove)},
	{"an outcome that is a link", planned, file(handoff.OutcomeFile, linked(os.Symlink))},
	{"an outcome with another name", planned, file(handoff.OutcomeFile, linked(os.Link))},
	{"an outcome that is a pipe", planned, file(handoff.OutcomeFile, replacedBy(func(path string) error { return syscall.Mkfifo(path, 0o600) }))},
	{"an outcome that is a directory", planned, file(handoff.OutcomeFile, replacedBy(func(path string) error { return os.Mkdir(path, 0o700) }))},
	{"no bundle", planned, file(handoff.BundleFile, os.Remove)},
	{"a bundle that is a link", planned, file(handoff.BundleFile, linked(os.Symlink))},
	{"a bundle that is a link to its neighbor", planned, file(handoff.BundleFile, replacedBy(func(path string) error { return os.Symlink(handoff.OutcomeFile, path) }))},
	{"a bundle with another name", planned, file(handoff.BundleFile, linked(os.Link))},
	{"a bundle that is a pipe", planned, file(handoff.BundleFile, replacedBy(func(path string) error { return syscall.Mkfifo(path, 0o600) }))},
	{"a bundle over the limit", planned, file(handoff.BundleFile, grown(1<<30+1))},
	{"a bundle that was cut", planned, file(handoff.BundleFile, grown(5))},
	{"a bundle that was changed", planned, file(handoff.BundleFile, func(path string) error { return os.WriteFile(path, []byte("the c0mmits"), 0o600) })},
	{"another file", planned, file("extra.txt", func(path string) error { return os.WriteFile(path, nil, 0o600) })},
	{"another file with a name to be printed", planned, file("a\n::error::\x1b[31m", func(path string) error { return os.WriteFile(path, nil, 0o600) })},
	{"a directory", planned, file(".git", func(path string) error { return os.Mkdir(path, 0o700) })},
}

// flowTampers are changes to a handoff of an issue that was right.
var flowTampers = []tamper{
	{"another flow", begun, field("small_job", "flow")},
	{"a flow that is none", begun, field("deploy", "flow")},
	{"an empty flow", begun, field("", "flow")},
	{"nothing for a flow", begun, text(`"flow":"bugfix"`, `"flow":null`)},
	{"a number for a flow", begun, field(1, "flow")},
	{"no flow, and what one has", begun, field(nil, "flow")},
	{"no flow, and nothing of one", begun, text(`"flow":"bugfix",`, "", `"pr_title":"Say two","pr_summary":"It says two.",`, "")},
	{"a flow in other case", begun, text(`"flow":`, `"Flow":`)},
	{"a flow twice", begun, text(`"flow":"bugfix"`, `"flow":"bugfix","flow":"design"`)},
	{"a turn with a flow", planned, field("bugfix", "flow")},
	{"a turn with an empty flow", planned, field("", "flow")},
	{"another issue", begun, text(`"number":7`, `"number":8`, `"7:`, `"8:`)},
	{"an event of another issue", begun, field([]string{"8:issue:11:2026-01-02T03:04:05Z"}, "events")},
	{"an event of a review", begun, field([]string{events[1]}, "events")},
	{"an event that nobody made", begun, field([]string{"7:issue:99:2026-01-02T03:04:05Z"}, "events")},
	{"on another head", begun, field(head, "onto")},
	{"another start of a branch", begun, field(strings.Repeat("d", 40), "start")},
	{"a branch", begun, field("main", "branch")},
	{"a document's path", designed, field("../x.md", "doc")},
	{"answers to a review", begun, field([]any{}, "outcome", "review_replies")},
	{"a comment", begun, field("x", "outcome", "general_comment")},
	{"a design's field in a bug fix", begun, field("x", "outcome", "title")},
	{"a bug fix's field in a design", designed, field("x", "outcome", "commit_message")},
	{"a title over its limit", designed, field(strings.Repeat("x", 4097), "outcome", "title")},
	{"a summary over its limit", designed, field(strings.Repeat("x", 300_000), "outcome", "summary")},
	{"a document over its limit", designed, field(strings.Repeat("x", 1<<20+1), "outcome", "design_doc_markdown")},
	{"201 paths", designed, field(make([]string, 201), "outcome", "touch_paths")},
	{"a path over its limit", designed, field([]string{"", strings.Repeat("x", 501)}, "outcome", "touch_paths")},
	{"a pull request's title over its limit", begun, field(strings.Repeat("x", 4097), "outcome", "pr_title")},
	{"a pull request's summary over its limit", begun, field(strings.Repeat("x", 300_000), "outcome", "pr_summary")},
	{"git operations", begun, field([]any{map[string]any{"op": "fetch_origin"}}, "outcome", "git_ops")},
	{"stopped with answers", begun, text(`"ended":"planned"`, `"ended":"blocked","reason":"nothing_changed","detail":"x"`)},
	{"stopped with a document", designed, text(`"ended":"planned"`, `"ended":"failed","detail":"x"`)},
	{"stopped for what is not the agent's to say", begun, text(`"ended":"planned"`, `"ended":"blocked","reason":"pull_not_permitted","detail":"x"`)},
	{"a turn stopped for what is an issue's", planned, text(`"ended":"planned"`, `"ended":"blocked","reason":"agent_timeout","detail":"x"`)},
	{"a review of another head", looked, field(head, "start")},
	{"a review with a commit", looked, field(head, "head")},
	{"a review on another head", looked, field(head, "onto")},
	{"a review with events", looked, field([]string{events[0]}, "events")},
	{"a review that is blocked", looked, text(`"ended":"planned"`, `"ended":"blocked","reason":"agent_blocked","detail":"x"`)},
	{"a review that failed, with findings", looked, text(`"ended":"planned"`, `"ended":"failed","detail":"x"`)},
	{"a review with an answer", looked, field("x", "outcome", "general_comment")},
	{"a review for a turn", looked, field(nil, "flow")},
	{"a review for a bug fix", begun, field("review", "flow")},
	{"a finding without a severity", looked, text(`"severity":"must",`, ``)},
	{"a finding over its limit", looked, text(`Say two.`, strings.Repeat("x", 300_000))},
	{"fewer findings than none", looked, field(-1, "dropped")},
	{"findings without end", looked, field(1_000_001, "dropped")},
	{"findings of a bug fix that are left out", begun, field(1, "dropped")},
	{"nothing, but a flow", begun, alone(`{"version":1,"repository":"octo/widgets","number":7,"ended":"nothing","flow":"design","detail":"x","outcome":{}}`)},
}

func TestTamperingIsRefusedByName(t *testing.T) {
	for file, table := range map[string][]tamper{"refusals.txt": tampers, "flow_refusals.txt": flowTampers} {
		var said strings.Builder
		for _, tamper := range table {
			t.Run(tamper.name, func(t *testing.T) {
				was := tamper.of()
				dir := written(t, was)
				tamper.do(t, dir)
				h, err := handoff.Read(dir)
				if err == nil {
					want := expected()
					want.Flow = was.Flow
					err = handoff.Check(h, want)
				}
				var refused *handoff.Refusal
				require.ErrorAs(t, err, &refused)
				assert.NotContains(t, err.Error(), "\n")
				fmt.Fprintf(&said, "%s:\n    %s\n", tamper.name, err)
			})
		}
		golden.File(t, file, said.String())
	}
}
