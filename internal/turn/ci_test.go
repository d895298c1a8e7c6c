package turn_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/golden"
	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
	"github.com/mergexo/mergexo/internal/turn"
)

var (
	head  = strings.Repeat("a", 40)
	first = turn.CIPolicy{When: "first_fail", OwnPath: ".github/workflows/mergexo.yml", OwnRun: 77}
)

// ciRun is a run that failed on the head of the snapshot, a second for each of its id after noon.
func ciRun(id int64, change ...func(*model.CIRun)) model.CIRun {
	at := noon.Add(time.Duration(id) * time.Second)
	r := model.CIRun{
		ID: id, Workflow: 3, Path: ".github/workflows/ci.yml@main", Name: "CI", Event: "push", Attempt: 1, HeadSHA: head, Completed: true, Conclusion: "failure",
		CreatedAt: at, UpdatedAt: at, URL: fmt.Sprintf("https://github.com/octo/widgets/actions/runs/%d", id),
	}
	for _, c := range change {
		c(&r)
	}
	return r
}

// failed is the feedback of these runs.
func failed(runs ...model.CIRun) []model.Comment { return turn.Failures(runs, head, 7, first) }

func flaky(title, summary string) *model.FlakyTest {
	return &model.FlakyTest{Title: title, Summary: summary}
}

func TestWhichRunsAreFeedback(t *testing.T) {
	ended := func(conclusion string) func(*model.CIRun) {
		return func(r *model.CIRun) { r.Conclusion = conclusion }
	}
	running := func(r *model.CIRun) { r.Completed, r.Conclusion = false, "" }
	of := func(workflow int64, event string) func(*model.CIRun) {
		return func(r *model.CIRun) { r.Workflow, r.Event = workflow, event }
	}
	at := func(path string) func(*model.CIRun) { return func(r *model.CIRun) { r.Path = path } }
	type row struct {
		runs       []model.CIRun
		first, all []int64
	}
	must.Each(t, map[string]row{
		"none":                   {nil, []int64{}, []int64{}},
		"a failure":              {[]model.CIRun{ciRun(1)}, []int64{1}, []int64{1}},
		"timed out":              {[]model.CIRun{ciRun(1, ended("timed_out"))}, []int64{1}, []int64{1}},
		"startup":                {[]model.CIRun{ciRun(1, ended("startup_failure"))}, []int64{1}, []int64{1}},
		"cancelled":              {[]model.CIRun{ciRun(1, ended("cancelled"))}, []int64{}, []int64{}},
		"action required":        {[]model.CIRun{ciRun(1, ended("action_required"))}, []int64{}, []int64{}},
		"green":                  {[]model.CIRun{ciRun(1, ended("success"))}, []int64{}, []int64{}},
		"another head":           {[]model.CIRun{ciRun(1, func(r *model.CIRun) { r.HeadSHA = "b" })}, []int64{}, []int64{}},
		"another one still runs": {[]model.CIRun{ciRun(1), ciRun(2, of(4, "push"), running)}, []int64{1}, []int64{}},
		"two failed":             {[]model.CIRun{ciRun(2, of(4, "push")), ciRun(1)}, []int64{1, 2}, []int64{1, 2}},
		"two events":             {[]model.CIRun{ciRun(1), ciRun(2, of(3, "pull_request"))}, []int64{1, 2}, []int64{1, 2}},
		"another run is green":   {[]model.CIRun{ciRun(2, ended("success")), ciRun(1)}, []int64{1}, []int64{1}},
		"another run is red":     {[]model.CIRun{ciRun(1, ended("success")), ciRun(2)}, []int64{2}, []int64{2}},
		"run again and green":    {[]model.CIRun{ciRun(1, ended("success"), func(r *model.CIRun) { r.Attempt = 2 })}, []int64{}, []int64{}},
		"run again and running":  {[]model.CIRun{ciRun(1, running, func(r *model.CIRun) { r.Attempt = 2 })}, []int64{}, []int64{}},
		"another run has begun":  {[]model.CIRun{ciRun(1), ciRun(2, running)}, []int64{1}, []int64{}},
		"in one second": {[]model.CIRun{ciRun(2, func(r *model.CIRun) { r.UpdatedAt = noon }), ciRun(1, func(r *model.CIRun) { r.UpdatedAt = noon })},
			[]int64{1, 2}, []int64{1, 2}},
		"our own workflow": {[]model.CIRun{ciRun(1, at(".github/workflows/mergexo.yml@refs/heads/main")), ciRun(2, of(4, "push"))}, []int64{2}, []int64{2}},
		"our own run":      {[]model.CIRun{ciRun(77, running), ciRun(2, of(4, "push"))}, []int64{2}, []int64{2}},
	}, func(t *testing.T, tt row) {
		policy := first
		assert.Equal(t, tt.first, ids(turn.Failures(tt.runs, head, 7, policy)))
		policy.When = "all_complete"
		assert.Equal(t, tt.all, ids(turn.Failures(tt.runs, head, 7, policy)))
		policy.When = "never"
		assert.Empty(t, turn.Failures(tt.runs, head, 7, policy))
	})
}

func TestAFailedRunAsFeedback(t *testing.T) {
	run := ciRun(12, func(r *model.CIRun) {
		r.Name, r.Attempt = "Build\n<b>&\u202e test</b>", 2
		r.Jobs = []model.CIJob{{Name: "test (1.2, linux)", Conclusion: "failure", Step: "Run make test", Log: "FAIL", URL: "https://github.com/octo/widgets/actions/runs/12/job/3"}, {Name: "lint\n", Conclusion: "timed_out"}}
	})
	c := failed(run)[0]
	assert.Equal(t, "7:actions:12:2026-01-02T12:00:12Z", c.Key(7))
	assert.Equal(t, "Build <b>&[U+202E] test</b>", c.Author.Login)
	golden.Text(t, "run.txt", c.Body)
	assert.Equal(t, "GitHub Actions", failed(ciRun(1, func(r *model.CIRun) { r.Name = " " }))[0].Author.Login)
}

func TestLogsShareTheRoomThereIs(t *testing.T) {
	line := strings.Repeat("ä", 99) + "\n"
	jobs := make([]model.CIJob, 40)
	for i := range jobs {
		jobs[i].Log = strings.Repeat(line, 300)
	}
	few := ciRun(1, func(r *model.CIRun) { r.Jobs = jobs[:2] })
	for _, j := range failed(few)[0].Run.Jobs {
		assert.InDelta(t, 20_000, utf8.RuneCountInString(j.Log), 120)
		assert.True(t, j.Cut)
		assert.True(t, strings.HasPrefix(j.Log, "[cut: the end is shown]\nä"), "from the beginning of a line on")
	}
	assert.Len(t, jobs[0].Log, len(line)*300, "what is given stays as it is")
	many := failed(ciRun(1, func(r *model.CIRun) { r.Jobs = jobs }), ciRun(2, func(r *model.CIRun) { r.Workflow, r.Jobs = 4, jobs }))
	total := 0
	for _, c := range many {
		assert.Len(t, c.Run.Jobs, 30)
		for _, j := range c.Run.Jobs {
			total += utf8.RuneCountInString(j.Log)
		}
	}
	assert.LessOrEqual(t, total, 60_000)
	assert.Greater(t, total, 50_000)
}

func TestFailedRunsArePendingUntilAReceiptNamesThem(t *testing.T) {
	s := snapshot(said(20, "alice", "OWNER", "x"))
	s.Failures = failed(ciRun(1), ciRun(30, func(r *model.CIRun) { r.Workflow = 4 }))
	got := turn.Candidates(s, model.State{}, policy)
	assert.Equal(t, []int64{1, 20, 30}, ids(got))
	assert.Empty(t, turn.UnknownRights(got, map[string]model.Permission{"alice": model.PermissionWrite}, model.Mark{}, policy))
	assert.Equal(t, []int64{1, 30}, ids(turn.Allowed(got, nil, policy)), "a run needs nobody's right")
	named := policy
	named.AllowedUsers = []string{"bob"}
	assert.Equal(t, []int64{1, 30}, ids(turn.Allowed(got, nil, named)))
	assert.Equal(t, []int64{1, 30}, ids(turn.MaySteer(got, nil, named)))

	s.Floor = noon.Add(time.Hour)
	settled := model.State{Settled: model.Mark{At: noon.Add(time.Hour)}, Answered: map[string]bool{s.Failures[1].Key(7): true}}
	assert.Equal(t, []int64{1}, ids(turn.Candidates(s, settled, policy)), "no mark settles a run")
	assert.Equal(t, model.Mark{At: s.ReadAt}, turn.Since(s, s.Failures), "nor does one hold a mark back")

	found, missing := turn.Find(s, []string{s.Failures[0].Key(7), "7:actions:9:2026-01-02T12:00:00Z"})
	assert.Equal(t, []int64{1}, ids(found))
	assert.Len(t, missing, 1)

	away := model.State{Away: []model.Span{{From: noon, To: noon.Add(10 * time.Second)}}}
	assert.Equal(t, []int64{20, 30}, ids(turn.Candidates(s, away, policy)), "as with all that was said then")
}

func TestAFailureThatComesAgain(t *testing.T) {
	mark := model.FlakyMark{Issue: 12, Head: head, Runs: []model.Rerun{{Run: 5, Attempt: 1}}}
	said := func(phase model.Phase) model.State {
		return model.State{Turns: []model.Posted[model.TurnMarker]{{Marker: model.TurnMarker{Phase: phase, Flaky: &mark}}, {Marker: model.TurnMarker{Phase: model.PhaseDone}}}}
	}
	again := func(id int64, attempt int) []model.Comment {
		return failed(ciRun(id, func(r *model.CIRun) { r.Attempt = attempt }))
	}
	got, is := turn.Flaky(said(model.PhaseDone), again(5, 2), head)
	assert.True(t, is)
	assert.Equal(t, mark, got)
	for name, c := range map[string]struct {
		st       model.State
		failures []model.Comment
		head     string
	}{
		"nothing was reported": {model.State{}, again(5, 2), head}, "no receipt": {said(model.PhaseFailed), again(5, 2), head},
		"the attempt that was reported": {said(model.PhaseDone), again(5, 1), head}, "another run": {said(model.PhaseDone), again(6, 2), head},
		"another head": {said(model.PhaseDone), again(5, 2), "b"}, "green": {said(model.PhaseDone), nil, head},
	} {
		_, is := turn.Flaky(c.st, c.failures, c.head)
		assert.False(t, is, name)
	}
	answered := said(model.PhaseDone)
	answered.Turns[0].Marker.Number, answered.Answered = 7, map[string]bool{again(5, 2)[0].Key(7): true}
	_, is = turn.Flaky(answered, again(5, 2), head)
	assert.False(t, is, "an operator let the agent look at it")
	golden.Text(t, "flaky_block.txt", turn.FlakyBlock(mark, again(5, 2)))
}

func TestAReceiptCarriesWhatOnlyAnEarlierOneTold(t *testing.T) {
	failures := failed(ciRun(1), ciRun(2, func(r *model.CIRun) { r.Workflow = 4 }))
	mark := &model.FlakyMark{Issue: 12, Head: head}
	st := model.State{
		Answered: map[string]bool{failures[0].Key(7): true, "7:issue:1:x": true},
		Turns:    []model.Posted[model.TurnMarker]{{Marker: model.TurnMarker{Phase: model.PhaseDone, Flaky: mark}}},
	}
	m := model.TurnMarker{Number: 7, Head: head, Events: []string{"7:issue:9:y", "7:issue:8:y"}}
	got := turn.Carry(m, st, failures)
	assert.Equal(t, []string{failures[0].Key(7), "7:issue:8:y", "7:issue:9:y"}, got.Events)
	assert.Equal(t, mark, got.Flaky)
	assert.Equal(t, []string{"7:issue:9:y", "7:issue:8:y"}, m.Events)
	assert.Equal(t, got, turn.Carry(got, st, failures), "once")
	m.Head, m.Events = strings.Repeat("b", 40), m.Events[:1]
	assert.Equal(t, m, turn.Carry(m, st, failures), "a new head has failures of its own")
}

func TestWhatIsReportedIsToBeRunAgain(t *testing.T) {
	feedback := append(failed(ciRun(5, func(r *model.CIRun) { r.Attempt = 3 })), said(1, "alice", "OWNER", "x"))
	o := turn.Outbox(model.Outcome{FlakyTestReport: flaky("t", "s")}, feedback, 1, nil, nil)
	assert.Equal(t, flaky("t", "s"), o.Flaky)
	assert.Equal(t, []model.Rerun{{Run: 5, Attempt: 3}}, o.Reruns)
	assert.Empty(t, turn.Outbox(model.Outcome{}, feedback, 1, nil, nil).Reruns)
}

func TestFlakyTestsAsPeopleReadOfThem(t *testing.T) {
	s := snapshot()
	f := model.FlakyTest{Title: "TestGreet fails\u202e by chance ", Summary: "It waits for a second.\n\n- and then another\n", RelevantLogURL: "https://github.com/octo/widgets/actions/runs/5/job/6#step:3:1"}
	run := failed(ciRun(5, func(r *model.CIRun) { r.Name = "CI *[x](y) | @octo`" }))[0]
	title, body := turn.FlakyIssue(f, s.Pull, []model.Comment{said(1, "alice", "OWNER", "x"), run}, true)
	golden.Text(t, "flaky_issue.md", title+"\n\n"+body)
	_, body = turn.FlakyIssue(f, s.Pull, []model.Comment{run}, false)
	assert.True(t, strings.HasSuffix(body, "\n\nThe failed jobs could not be rerun."), "GitHub refuses it")
	title, _ = turn.FlakyIssue(model.FlakyTest{Title: " ", Summary: "It waits.\n" + strings.Repeat("ä", 300)}, s.Pull, nil, true)
	assert.Equal(t, "It waits. "+strings.Repeat("ä", 190)+"...", title, "a report without a title")
	for _, odd := range []string{"javascript:alert(1)", "https://u:p@x", "https://x/> <b", "see the log", "http://x", "https://x/`"} {
		f.RelevantLogURL = odd
		_, body = turn.FlakyIssue(f, s.Pull, nil, true)
		assert.Contains(t, body, "\nLog: `")
	}
	m := model.TurnMarker{Start: head, Planned: head, Head: head, Attempt: 1, Flaky: &model.FlakyMark{Issue: 12, Head: head, Runs: []model.Rerun{{Run: 5, Attempt: 1}}}}
	golden.Text(t, "claim_run.md", turn.ClaimText(s.Pull, []model.Comment{run, said(1, "alice", "OWNER", "x")}, m))
	golden.Text(t, "receipt_flaky.md", turn.ReceiptText(s.Pull, []turn.Answer{{Feedback: run}}, model.Outbox{Flaky: &f}, m))
	gone := m
	gone.Flaky, gone.Events = nil, []string{"7:actions:5:x", "7:issue:5:x"}
	assert.Contains(t, turn.ReceiptText(s.Pull, nil, model.Outbox{}, gone), "**Answered 1 comment and 1 failed workflow run**")
	golden.Text(t, "block_flaky.md", turn.BlockText(s.Pull, model.BlockMarker{Reason: model.ReasonFlaky, Observed: head}, turn.FlakyBlock(*m.Flaky, failed(ciRun(5, func(r *model.CIRun) { r.Attempt = 2 }))), model.Kept{}, nil))
}

func TestALogAsPeopleReadIt(t *testing.T) {
	golden.Text(t, "job.txt", turn.CleanLog(must.Get(os.ReadFile("testdata/job.log"))(t), false))
}

func TestOfALongLogTheErrorIsKept(t *testing.T) {
	const tail = "2026-01-02T12:00:00.0000000Z "
	long := strings.Repeat(tail+"building\n", 5000) + tail + "FAIL TestGreet\n" + tail + "##[error]Process completed with exit code 1.\n" + strings.Repeat(tail+"cleaning up\n", 5000)
	got := turn.CleanLog([]byte(long), true)
	assert.True(t, strings.HasPrefix(got, "[cut: the end is shown]\nbuilding\n"))
	assert.Contains(t, got, "\nFAIL TestGreet\nerror: Process completed with exit code 1.\ncleaning up\n")
	assert.True(t, strings.HasSuffix(got, "\n[cut: 4980 lines after the last error]"), got[len(got)-100:])
	assert.InDelta(t, turn.LogLimit, utf8.RuneCountInString(got), 10)

	huge := strings.Repeat("x", 100<<20) + "\nthe end"
	assert.Equal(t, "[cut: the end is shown]\nthe end", turn.CleanLog([]byte(huge), false))
	assert.Equal(t, "[cut: the end is shown]\nb", turn.CleanLog([]byte("a\nb\n"), true), "it begins within a line")
	assert.Equal(t, "a\nb", turn.CleanLog([]byte("a\nb\n"), false))
	assert.Empty(t, turn.CleanLog(nil, false))
}

func FuzzCleanLog(f *testing.F) {
	f.Add([]byte("2026-01-02T12:00:00.0000000Z ##[error]x\r\n\x1b[31mred\x1b(B\x1b[m\u202e 1%\r2%\r\n"), false)
	f.Add([]byte("##[group]\n##[endgroup]\n\xff\x00\ufeff"), true)
	f.Add([]byte(strings.Repeat("ä\n", 30_000)), true)
	f.Fuzz(func(t *testing.T, raw []byte, cut bool) {
		for _, raw := range [][]byte{raw, []byte(strings.Repeat(string(raw)+"\n", 1+20_000/(len(raw)+1)))} {
			got := turn.CleanLog(raw, cut)
			require.True(t, utf8.ValidString(got))
			require.LessOrEqual(t, utf8.RuneCountInString(got), turn.LogLimit)
			require.Negative(t, strings.IndexFunc(got, markdown.Invisible), "a character that nobody sees")
			require.NotContains(t, got, "\r")
		}
	})
}
