package command_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/command"
	"github.com/mergexo/mergexo/internal/golden"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
)

var (
	noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	a, b = strings.Repeat("a", 40), strings.Repeat("b", 40)
)

// posted is a comment as an operator posted it.
func posted(text string) model.Comment {
	return model.Comment{
		Kind: model.KindIssue, ID: 41, Author: model.Actor{Login: "olga"}, Body: text, Posted: text, CreatedAt: noon, UpdatedAt: noon,
		URL: "https://github.com/octo/widgets/pull/7#issuecomment-41",
	}
}

// blocked is a pull request whose history was rewritten: head b, last accepted a.
func blocked() command.Case {
	c := free()
	c.State.Block = &model.Posted[model.BlockMarker]{
		Marker: model.BlockMarker{Reason: "history_rewrite", Expected: a, Observed: b}, CommentID: 40, URL: "https://github.com/octo/widgets/pull/7#issuecomment-40", At: noon,
	}
	c.Gates = []model.Gate{{Name: "tracked", Met: true}, {Name: "not_blocked", Evidence: "blocked (history_rewrite), see https://github.com/octo/widgets/pull/7#issuecomment-40"}}
	c.Status.Block = &model.Blocked{Reason: "history_rewrite", URL: c.State.Block.URL}
	c.Status.State = model.StatusBlocked
	c.Facts = command.Facts{Relation: model.Diverged, Lost: []model.Commit{{SHA: a, Subject: "Greet `all` @everyone", Author: "alice"}}, More: true}
	return c
}

// free is a tracked pull request with nothing in its way.
func free() command.Case {
	return command.Case{
		By: "olga", Key: "7:issue:41:2026-01-02T12:00:00Z", At: noon, Thread: 7, Agent: "codex",
		Target: model.Snapshot{Of: model.PullNumber(7), Pull: model.Pull{
			Number: 7, State: model.PullOpen, URL: "https://github.com/octo/widgets/pull/7", HeadRef: "agent/greet", BaseRef: "main", HeadSHA: b,
			Issue: &model.Issue{Number: 3},
		}},
		State: model.State{Accepted: a, Tracked: &model.Posted[model.PRMarker]{URL: "https://github.com/octo/widgets/pull/7#issuecomment-39"}},
		Gates: []model.Gate{{Name: "tracked", Met: true, Evidence: "tracked since https://github.com/octo/widgets/pull/7#issuecomment-39"}, {Name: "not_blocked", Met: true, Evidence: "not blocked"}},
		Status: model.Status{
			Number: 7, Issue: 3, Branch: "agent/greet", State: model.StatusPending, Head: b, Accepted: a, Pending: 2,
			LastTurn: &model.LastTurn{Phase: model.PhaseDone, At: noon, URL: "https://github.com/octo/widgets/pull/7#issuecomment-38"},
		},
	}
}

func paused(c command.Case) command.Case {
	c.State.Paused = &model.Posted[model.CommandMarker]{Marker: model.CommandMarker{By: "olga"}, URL: "https://github.com/octo/widgets/pull/7#issuecomment-37"}
	c.Gates = append(c.Gates, model.Gate{Name: "not_paused", Evidence: "paused by olga, see https://github.com/octo/widgets/pull/7#issuecomment-37; /mergexo resume continues"})
	return c
}

func mergeFailed() command.Case {
	return with(free(), func(c *command.Case) {
		c.State.Merges = []model.Posted[model.MergeMarker]{{Marker: model.MergeMarker{State: model.MergeFailed, Reason: model.CodeTests, Head: b}}}
	})
}

func with(c command.Case, change func(*command.Case)) command.Case {
	change(&c)
	return c
}

func TestRepliesAsPeopleReadThem(t *testing.T) {
	released := func(c *command.Case) {
		c.State.Released = &model.Posted[model.CommandMarker]{}
		c.Gates[0] = model.Gate{Name: "tracked", Evidence: "released by olga, see https://u; /mergexo adopt tracks it again"}
	}
	tests := []struct {
		name, text string
		c          command.Case
		want       model.Verdict
	}{
		{"unblock_restored", "/mergexo unblock", with(blocked(), func(c *command.Case) { c.Facts = command.Facts{Relation: model.Ahead} }), model.Applied},
		{"unblock_not_restored", "/mergexo unblock", blocked(), model.Rejected},
		{"unblock_accept", "/mergexo unblock head_sha=bbbbbbb", blocked(), model.Applied},
		{"unblock_other_head", "/mergexo unblock head_sha=" + a, blocked(), model.Rejected},
		{"unblock_missing", "/mergexo unblock head_sha=" + strings.Repeat("c", 40), with(blocked(), func(c *command.Case) { c.Facts.Missing = true }), model.Rejected},
		{"unblock_ambiguous", "/mergexo unblock head_sha=bbbbbbb", with(blocked(), func(c *command.Case) { c.Facts.Ambiguous = true }), model.Rejected},
		{"unblock_unknown", "/mergexo unblock", with(blocked(), func(c *command.Case) {
			c.Facts = command.Facts{Relation: model.Unknown, Problem: "The head has not been compared with the last accepted one yet"}
		}), model.Failed},
		{"unblock_spoilt", "/mergexo unblock", with(blocked(), func(c *command.Case) {
			c.State.Block.Marker.Reason = "marker_edited"
			c.Facts = command.Facts{Relation: model.Identical}
		}), model.Applied},
		{"unblock_no_baseline", "/mergexo unblock", with(blocked(), func(c *command.Case) { c.State.Accepted = "" }), model.Rejected},
		{"unblock_paused", "/mergexo unblock", with(paused(blocked()), func(c *command.Case) { c.Facts = command.Facts{Relation: model.Ahead} }), model.Applied},
		{"unblock_odd_branch", "/mergexo unblock", with(blocked(), func(c *command.Case) { c.Target.Pull.HeadRef = "agent/x;echo${IFS}pwned|sh" }), model.Rejected},
		{"unblock_not_blocked", "/mergexo unblock", free(), model.Rejected},
		{"unblock_closed", "/mergexo unblock", with(blocked(), func(c *command.Case) { c.Target.Pull.State = model.PullMerged }), model.Rejected},
		{"unblock_taken_over", "/mergexo unblock", with(blocked(), func(c *command.Case) { c.Away = true }), model.Rejected},
		{"retry", "/mergexo retry", free(), model.Applied},
		{"retry_one", "/mergexo retry", with(free(), func(c *command.Case) { c.Status.Pending = 1 }), model.Applied},
		{"retry_nothing", "/mergexo retry", with(free(), func(c *command.Case) { c.Status.Pending = 0 }), model.Rejected},
		{"retry_blocked", "/mergexo retry", blocked(), model.Rejected},
		{"retry_paused", "/mergexo retry", paused(free()), model.Rejected},
		{"retry_merge", "/mergexo retry", with(mergeFailed(), func(c *command.Case) {
			c.Found = &command.Found{Verdict: model.Applied, Text: "**Merging** it.", Marker: &model.MergeMarker{}}
		}), model.Applied},
		{"retry_merge_unknown", "/mergexo retry", mergeFailed(), model.Failed},
		{"retry_merge_taken_over", "/mergexo retry", with(mergeFailed(), func(c *command.Case) { c.Away = true }), model.Rejected},
		{"retry_untracked", "/mergexo retry", with(free(), released), model.Rejected},
		{"status", "/mergexo status", free(), model.Applied},
		{"status_blocked", "/mergexo status", blocked(), model.Applied},
		{"why_blocked", "/mergexo why", blocked(), model.Applied},
		{"why_nothing", "/mergexo why", with(free(), func(c *command.Case) {
			c.Status.Pending = 0
			c.Gates = append(c.Gates, model.Gate{Name: "feedback_pending", Evidence: "all feedback is answered. Ignored: bob (no write access)"})
		}), model.Applied},
		{"adopt", "/mergexo adopt", with(free(), func(c *command.Case) { c.State.Tracked = nil }), model.Applied},
		{"adopt_again", "/mergexo adopt", with(free(), released), model.Applied},
		{"adopt_tracked", "/mergexo adopt", free(), model.Rejected},
		{"adopt_fork", "/mergexo adopt", with(free(), func(c *command.Case) {
			c.State.Tracked = nil
			c.Gates = []model.Gate{{Name: "own_branch", Evidence: "the head of pull request 7 is in a fork"}}
		}), model.Rejected},
		{"release", "/mergexo release", free(), model.Applied},
		{"release_untracked", "/mergexo release", with(free(), released), model.Rejected},
		{"pause", "/mergexo pause", free(), model.Applied},
		{"pause_again", "/mergexo pause", paused(free()), model.Rejected},
		{"resume", "/mergexo resume", paused(free()), model.Applied},
		{"resume_not_paused", "/mergexo resume", free(), model.Rejected},
		{"why_merge", "/mergexo why", with(free(), func(c *command.Case) {
			c.MergeGates = []model.Gate{{Name: "open", Met: true, Evidence: "pull request 7 is open"}, {Name: "checks_passed", Evidence: "waiting for the check `ci` | <b>"}}
		}), model.Applied},
		{"why_untracked", "/mergexo why", with(free(), func(c *command.Case) {
			c.State.Tracked, c.Status.Pending = nil, 0
			c.Gates = []model.Gate{{Name: "tracked", Evidence: "no marker of ours says that it is"}}
			c.MergeGates = []model.Gate{{Name: "open", Met: true, Evidence: "pull request 7 is open"}}
		}), model.Applied},
		{"merge_unknown", "/mergexo merge", free(), model.Failed},
		{"merge_rejected", "/mergexo merge sha=abcdef1", with(free(), func(c *command.Case) { c.Found = &command.Found{Verdict: model.Rejected, Text: "**Not merged.**"} }), model.Rejected},
		{"merge_dry_run", "/mergexo merge dry-run", with(free(), func(c *command.Case) {
			c.Found = &command.Found{Verdict: model.Applied, Text: "**Ready to merge.**"}
		}), model.Applied},
		{"merge_closed", "/mergexo merge", with(free(), func(c *command.Case) { c.Target.Pull.State = model.PullMerged }), model.Rejected},
		{"merge_taken_over", "/mergexo merge", with(free(), func(c *command.Case) { c.Away = true }), model.Rejected},
		{"merge_cancel_nothing", "/mergexo merge cancel", with(free(), func(c *command.Case) { c.State.Merges = requested(model.MergeFailed) }), model.Rejected},
		{"merge_cancel_done", "/mergexo merge cancel", with(free(), func(c *command.Case) { c.State.Merges = requested(model.MergeDone) }), model.Rejected},
		{"merge_cancel_merged", "/mergexo merge cancel", merged(), model.Rejected},
		{"merge_cancel_member", "/mergexo merge cancel", with(free(), func(c *command.Case) {
			c.State.Merges = requested(model.MergeRunning)
			c.State.Merges[0].Marker.Leader = "octo/api#3"
		}), model.Rejected},
		{"merge_cancel_nothing", "/mergexo merge cancel", with(free(), func(c *command.Case) {
			c.Target.ReadAt, c.State.Merges = noon, requested(model.MergeRunning)
			c.State.Merges[0].Marker.Leader, c.State.Merges[0].Marker.Expires = "octo/api#3", noon
		}), model.Rejected},
		{"merge_cancel_running", "/mergexo merge cancel", with(free(), func(c *command.Case) { c.State.Merges = requested(model.MergeRunning) }), model.Rejected},
		{"revert", "/mergexo revert", with(merged(), func(c *command.Case) {
			c.Found = &command.Found{Verdict: model.Applied, Text: "**Opened a revert:** #9 reverts it."}
		}), model.Applied},
		{"revert_unknown", "/mergexo revert", merged(), model.Failed},
		{"revert_open", "/mergexo revert", free(), model.Rejected},
		{"revert_taken_over", "/mergexo revert", with(merged(), func(c *command.Case) { c.Away = true }), model.Rejected},
		{"help", "/mergexo help", with(free(), func(c *command.Case) { c.Policy.OperationsIssue = 12 }), model.Help},
		{"mistake", "/mergexo unblok", free(), model.Rejected},
		{"mistake_far", "/mergexo make-me-a-sandwich", free(), model.Rejected},
		{"status_delegates", "/mergexo status", with(free(), func(c *command.Case) { c.Status.Delegates = []string{"dave", "erin"} }), model.Applied},
		{"why_failed", "/mergexo why", with(free(), func(c *command.Case) {
			c.Gates = append(c.Gates, model.Gate{Name: "last_turn", Evidence: "it failed (timed out), see https://u; the next attempt starts with the next event or scheduled run, or with /mergexo retry"})
			c.MergeGates = []model.Gate{{Name: "approved", Evidence: "waiting for 1 approval"}, {Name: "checks_passed", Evidence: "waiting for the check `ci`"}}
		}), model.Applied},
		{"why_next", "/mergexo why", free(), model.Applied},
		{"mistake_key", "/mergexo unblock pr=x", free(), model.Rejected},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			said := command.Said{Comment: posted(tt.text), Commands: command.Parse(tt.text)}
			tt.c.Command = said.Commands[0]
			got := command.Decide(tt.c)
			assert.Equal(t, tt.want, got.Verdict)
			golden.Text(t, tt.name+".md", command.Text(said, 0, got))
			if m, ok := got.Marker.(model.CommandMarker); ok {
				assert.Equal(t, model.CommandMarker{Key: tt.c.Key, Command: said.Commands[0].Name, Result: tt.want, By: "olga", At: noon}, m)
			}
		})
	}
	many := strings.Repeat("/mergexo status\n", 500)
	said := command.Said{Comment: posted(many), Commands: command.Parse(many)}
	golden.Text(t, "too_many.md", command.Text(said, command.MaxPerComment, command.TooMany(free())))
	said = command.Said{Comment: posted("/mergexo pause"), Commands: command.Parse("/mergexo pause")}
	golden.Text(t, "refused.md", command.Text(said, 0, command.Refuse(free())))
	golden.Text(t, "refused_named.md", command.Text(said, 0, command.Refuse(with(free(), func(c *command.Case) { c.Policy.Operators = []string{"root"} }))))
}

func TestWhatAnUnblockAccepts(t *testing.T) {
	c := blocked()
	c.Command = command.Command{Name: "unblock", Head: "bbbbbbb"}
	assert.Equal(t, model.UnblockMarker{Head: b, By: "olga", Command: c.Key, Block: 40}, command.Decide(c).Marker, "the whole head, not the abbreviation")
	c.Command.Head = ""
	assert.IsType(t, model.CommandMarker{}, command.Decide(c).Marker, "what was observed is never accepted without being named")
	c.Facts.Relation = model.Ahead
	assert.Equal(t, model.UnblockMarker{Head: b, By: "olga", Command: c.Key, Block: 40, Restored: true}, command.Decide(c).Marker)
	c.State.Accepted = ""
	assert.Equal(t, model.Rejected, command.Decide(c).Verdict, "without a baseline nothing is restored")
	c.State.Accepted = a
	for _, r := range []model.Relation{model.Behind, model.Diverged, model.Unknown} {
		c.Facts.Relation = r
		assert.Equal(t, model.Rejected, command.Decide(c).Verdict, r)
	}
}

func TestAnAdoptedPullRequestIsFollowedFromItsHead(t *testing.T) {
	c := free()
	c.State.Tracked = nil
	c.Command = command.Command{Name: "adopt"}
	assert.Equal(t, model.PRMarker{Issue: 3, Branch: "agent/greet", Agent: "codex", Base: "main", Head: b, Command: c.Key, By: "olga", At: noon}, command.Decide(c).Marker)
	c.State.Released = &model.Posted[model.CommandMarker]{Marker: model.CommandMarker{At: noon.Add(-time.Hour)}}
	assert.Equal(t, noon.Add(-time.Hour), command.Decide(c).Marker.(model.PRMarker).AwayFrom)
}

func TestWhoMayCommand(t *testing.T) {
	tests := []struct {
		operators  []string
		permission model.Permission
		want       command.Role
	}{
		{nil, model.PermissionAdmin, command.Operator},
		{nil, model.PermissionMaintain, command.Operator},
		{nil, model.PermissionWrite, command.Refused},
		{nil, model.PermissionTriage, command.Stranger},
		{nil, model.PermissionNone, command.Stranger},
		{[]string{"OLGA"}, model.PermissionNone, command.Operator},
		{[]string{"root"}, model.PermissionAdmin, command.Refused},
		{[]string{"root"}, model.PermissionRead, command.Stranger},
	}
	for _, tt := range tests {
		assert.Equal(t, tt.want, command.Policy{Operators: tt.operators}.Role("olga", tt.permission), "%v", tt)
	}
	steers := command.Policy{Users: []string{"Olga"}}
	assert.Equal(t, command.Refused, steers.Role("olga", model.PermissionNone), "who may steer the agent is told why a command does not count")
	assert.True(t, steers.Audible(posted("/mergexo merge"), model.Snapshot{ReadAt: noon}, model.Event{}, model.PermissionNone))
}

func TestCommandsAreReadAsTheyWerePosted(t *testing.T) {
	plain := posted("/mergexo pause")
	edited := posted("/mergexo release") // now; it was harmless when it was posted
	edited.Edited, edited.Posted = true, "Nice."
	taken := posted("Never mind.")
	taken.Edited, taken.Posted = true, "/mergexo pause"
	untold := posted("/mergexo release")
	untold.Kind, untold.Edited, untold.Posted = model.KindReview, true, ""

	names := func(c model.Comment, ev model.Event) (out []string) {
		said, _ := command.Read(c, ev)
		for _, cmd := range said.Commands {
			out = append(out, cmd.Name)
		}
		return out
	}
	line := func(action, body string) model.Event {
		return model.Event{Name: "pull_request_review_comment", Action: action, CommentID: 41, CommentBody: body}
	}
	assert.Equal(t, []string{"pause"}, names(plain, model.Event{}))
	assert.Empty(t, names(edited, model.Event{Name: "issue_comment", Action: "edited", CommentID: 41, CommentBody: "/mergexo release"}), "an edit makes no command")
	assert.Equal(t, []string{"pause"}, names(taken, model.Event{}), "an edit takes none back")
	assert.Empty(t, names(untold, line("edited", "/mergexo release")))
	assert.Equal(t, []string{"status"}, names(untold, line("created", "/mergexo status")), "the trigger tells what it said")
	other := line("created", "/mergexo status")
	other.Name = "issue_comment"
	assert.Empty(t, names(untold, other), "an id of another kind")
}

func TestWhoseCommentsAreLookedThrough(t *testing.T) {
	policy := command.Policy{Operators: []string{"Olga"}}
	s := model.Snapshot{ReadAt: noon.Add(time.Hour)}
	tests := map[string]struct {
		change func(*model.Comment, *model.Event)
		want   bool
	}{
		"an operator of the settings": {func(*model.Comment, *model.Event) {}, true},
		"a stranger":                  {func(c *model.Comment, _ *model.Event) { c.Author.Login = "eve" }, false},
		"a member":                    {func(c *model.Comment, _ *model.Event) { c.Author.Login, c.Association = "bob", "MEMBER" }, true},
		"a stranger's own event": {func(c *model.Comment, e *model.Event) {
			c.Author.Login = "eve"
			e.Name, e.Action, e.CommentID = "issue_comment", "created", 41
		}, true},
		"an edit of what was said long ago": {func(c *model.Comment, e *model.Event) {
			c.CreatedAt = noon.Add(-48 * time.Hour)
			e.Name, e.Action, e.CommentID = "issue_comment", "edited", 41
		}, false},
		"ours":  {func(c *model.Comment, _ *model.Event) { c.Ours = true }, false},
		"a bot": {func(c *model.Comment, _ *model.Event) { c.Author.Bot = true }, false},
		"a bot's own event": {func(c *model.Comment, e *model.Event) {
			c.Author.Bot = true
			e.Name, e.Action, e.CommentID = "issue_comment", "created", 41
		}, false},
		"one that quotes us": {func(c *model.Comment, _ *model.Event) { c.Marked = true }, true},
		"nobody":             {func(c *model.Comment, _ *model.Event) { c.Author.Login = "" }, false},
		"long ago":           {func(c *model.Comment, _ *model.Event) { c.CreatedAt = noon.Add(-48 * time.Hour) }, false},
		"drafted long ago":   {func(c *model.Comment, _ *model.Event) { c.CreatedAt, c.Submitted = noon.Add(-48*time.Hour), noon }, true},
		"submitted long ago": {func(c *model.Comment, _ *model.Event) {
			c.CreatedAt, c.Submitted = noon.Add(-72*time.Hour), noon.Add(-48*time.Hour)
		}, false},
		"long ago, and begun with": {func(c *model.Comment, _ *model.Event) { c.CreatedAt, c.Seen = noon.Add(-48*time.Hour), true }, true},
	}
	for name, tt := range tests {
		c, ev := posted("/mergexo pause"), model.Event{}
		tt.change(&c, &ev)
		assert.Equal(t, tt.want, policy.Audible(c, s, ev, model.PermissionNone), name)
	}
}

// Who hides the membership in the organization shows as a stranger.
func TestWhoseRightTellsWhetherACommandIsHeard(t *testing.T) {
	policy, s := command.Policy{Operators: []string{"Olga"}}, model.Snapshot{ReadAt: noon.Add(time.Hour)}
	for name, tt := range map[string]struct {
		change func(*model.Comment)
		want   bool
	}{
		"a stranger":           {func(*model.Comment) {}, true},
		"in other letters":     {func(c *model.Comment) { c.Posted = "/MergeXO pause" }, true},
		"without the word":     {func(c *model.Comment) { c.Posted = strings.Repeat("[a](", 16_000) }, false},
		"who is named":         {func(c *model.Comment) { c.Author.Login = "olga" }, false},
		"a visible member":     {func(c *model.Comment) { c.Association = "MEMBER" }, false},
		"long ago":             {func(c *model.Comment) { c.CreatedAt = noon.Add(-48 * time.Hour) }, false},
		"answered to the end":  {func(c *model.Comment) { c.Closed = true }, false},
		"a bot":                {func(c *model.Comment) { c.Author.Bot = true }, false},
		"nobody":               {func(c *model.Comment) { c.Author.Login = "" }, false},
		"with a token of ours": {func(c *model.Comment) { c.Marked = true }, true},
	} {
		c := posted("/mergexo pause")
		c.Author.Login = "eve"
		tt.change(&c)
		assert.Equal(t, tt.want, policy.Whispered(c, s, model.Event{}), name)
		if tt.want {
			assert.False(t, policy.Audible(c, s, model.Event{}, model.PermissionRead), name)
			assert.True(t, policy.Audible(c, s, model.Event{}, model.PermissionWrite), name)
		}
	}
}

func TestEachCommandOfACommentHasAKeyOfItsOwn(t *testing.T) {
	c := posted("")
	c.UpdatedAt = noon.Add(time.Hour)
	s := command.Said{Comment: c}
	assert.Equal(t, "7:issue:41:2026-01-02T12:00:00Z", s.Key(7, 0), "an edit does not change it")
	assert.Equal(t, "7:issue:41:2026-01-02T12:00:00Z#2", s.Key(7, 1))
}

func TestWhatACommandIsAbout(t *testing.T) {
	pull := free().Target
	issue := func(pulls ...int) model.Snapshot {
		return model.Snapshot{Of: &model.Issue{Number: 3, Pulls: pulls}}
	}
	ops := command.Policy{OperationsIssue: 12}
	type row struct {
		policy command.Policy
		line   string
		thread model.Snapshot
		number int
		want   command.Target
	}
	must.Each(t, map[string]row{
		"its own pull request":             {ops, "unblock", pull, 7, command.Target{Number: 7}},
		"named":                            {ops, "unblock pr=7", pull, 7, command.Target{Number: 7}},
		"by its issue":                     {ops, "retry issue=3", pull, 7, command.Target{Number: 7}},
		"another issue":                    {ops, "retry issue=4", pull, 7, command.Target{Problem: "Pull request 7 does not come from issue 4; leave `issue` out to mean this pull request."}},
		"another pull request":             {ops, "unblock pr=8", pull, 7, command.Target{Problem: "This is pull request 7; give the command in the conversation of pull request 8."}},
		"both":                             {ops, "retry pr=7 issue=3", pull, 7, command.Target{Problem: "`pr` and `issue` both name the target. Give only one of them."}},
		"operations":                       {ops, "unblock pr=8", issue(), 12, command.Target{Number: 8}},
		"operations by issue":              {ops, "retry issue=5", issue(), 12, command.Target{Issue: 5}},
		"operations without a number":      {ops, "unblock", issue(), 12, command.Target{Problem: "In this issue, a command must name its pull request: `pr=NUMBER`."}},
		"help in operations":               {ops, "help", issue(), 12, command.Target{}},
		"a mistake in operations":          {ops, "unblok", issue(), 12, command.Target{}},
		"the source issue":                 {ops, "retry", issue(7), 3, command.Target{Number: 7}},
		"the source issue, named":          {ops, "unblock pr=7", issue(7, 8), 3, command.Target{Number: 7}},
		"the source issue by itself":       {ops, "retry issue=3", issue(7), 3, command.Target{Issue: 3}},
		"the source issue of two":          {ops, "status", issue(7, 8), 3, command.Target{Problem: "Issue 3 has several open pull requests: #7, #8. Name one with `pr=NUMBER`."}},
		"an issue without a pull request":  {ops, "status", issue(), 3, command.Target{Problem: "Issue 3 has no open pull request that would close it."}},
		"another issue from an issue":      {ops, "retry issue=4", issue(7), 3, command.Target{Problem: "Ask about issue 4 in its own conversation or in the operations issue, #12."}},
		"anywhere else":                    {ops, "unblock pr=8", issue(7), 3, command.Target{Problem: "Give the command in the conversation of pull request 8 or in the operations issue, #12."}},
		"anywhere else without operations": {command.Policy{}, "unblock pr=8", issue(7), 3, command.Target{Problem: "Give the command in the conversation of pull request 8, or make this the operations issue with `[repo] operations_issue` in the settings."}},
	}, func(t *testing.T, tt row) {
		c := command.Parse("/mergexo " + tt.line)[0]
		assert.Equal(t, tt.want, tt.policy.Target(c, tt.thread, tt.number))
	})
}

// The name of a branch, of a label or of a check is anybody's.
func TestAReasonWithWordsOfOthersLinksAndMentionsNothing(t *testing.T) {
	evidence := `head branch "[free](https://evil.example)&#64;mallory@octo" is not tracked`
	for _, gate := range []model.GateName{"tracked", "own_branch", "not_paused"} {
		for _, text := range []string{"retry", "release", "adopt", "unblock", "why"} {
			c := blocked()
			if text != "unblock" {
				c = free()
			}
			c.Command, c.State.Tracked, c.Facts = command.Parse("/mergexo " + text)[0], nil, command.Facts{Relation: model.Ahead}
			c.Gates = []model.Gate{{Name: gate, Evidence: evidence}}
			said := command.Decide(c).Text
			assert.NotContains(t, said, "[free](", "%s, %s", gate, text)
			assert.NotContains(t, said, "&#64;", "%s, %s", gate, text)
			assert.NotContains(t, said, "@octo", "%s, %s", gate, text)
		}
	}
}

// Each comment is a command or feedback.
func TestAnEditMakesNoCommandOfFeedback(t *testing.T) {
	for _, c := range []struct {
		posted, now string
		want        bool
	}{
		{"/mergexo merge", "/mergexo merge", true},
		{"Fix X.", "Fix X.", false},
		{"", "Fix X.\n\n/mergexo merge", true}, // GitHub does not say what it was
		{"Fix X.", "Fix X.\n\n/mergexo merge", false},
		{"Fix X /mergexo merge", "Fix X.\n/mergexo merge", false},
		{"Fix X.", "/mergexo merge\r\n\r\n/mergexo why\r\n", true}, // nothing is left for the agent
		{"/mergexo mrege", "/mergexo merge", true},
		{"/mergexo merge", "Fix X.", false},
	} {
		assert.Equal(t, c.want, command.IsCommand(model.Comment{Posted: c.posted, Body: c.now}), "%q, then %q", c.posted, c.now)
	}
}

// What the answer to a mistake lists is what people can type, of the very command that they gave.
func TestAMistakeListsWhatCanBeTyped(t *testing.T) {
	_, all, _ := strings.Cut(command.Parse("/mergexo xyzzy")[0].Problem, "; use one of ")
	names := strings.Split(strings.ReplaceAll(all, "`", ""), ", ")
	require.Contains(t, names, "delegate")
	sample := strings.NewReplacer("SHA", "abcdef1", "NUMBER", "7", "NAME", "squash", "TEXT", "it broke", "@login", "@octocat")
	for _, name := range names {
		c := free()
		c.Command = command.Parse("/mergexo " + name + " xy=1")[0]
		assert.Equal(t, name, c.Command.Name)
		assert.Contains(t, command.Decide(c).Text, "`/mergexo "+name, "how it is written")
		_, all, _ = strings.Cut(c.Command.Problem, "; use ")
		keys := strings.Split(strings.TrimPrefix(all, "one of "), ", ")
		assert.Contains(t, keys, "`pr=NUMBER`", name)
		for _, key := range keys {
			text := "/mergexo " + name + " " + sample.Replace(strings.Trim(key, "`"))
			if name == "delegate" && strings.Contains(key, "pr=") {
				text += " @octocat"
			}
			assert.Empty(t, command.Parse(text)[0].Problem, text)
		}
	}
}
