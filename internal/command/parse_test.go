package command_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/command"
	"github.com/mergexo/mergexo/internal/model"
)

func TestCommandsAsPeopleGiveThem(t *testing.T) {
	sha := strings.Repeat("a1", 20)
	for body, want := range map[string]command.Command{
		"/mergexo unblock": {Name: "unblock"},
		"Fine.\n\n  /mergexo  Unblock\thead_sha=ABCDEF1 \r\n":   {Name: "unblock", Head: "abcdef1"},
		"/mergexo unblock pr=#12 head_sha=" + sha:               {Name: "unblock", PR: 12, Head: sha},
		"/mergexo retry issue=3":                                {Name: "retry", Issue: 3},
		"/mergexo":                                              {Name: "help"},
		"/mergexo pause PR=4":                                   {Name: "pause", PR: 4},
		"/MergeXO Merge Sha=ABCDEF1":                            {Name: "merge", Head: "abcdef1"},
		"/MERGEXO":                                              {Name: "help"},
		"/mergexo merge":                                        {Name: "merge"},
		"/mergexo merge strategy=No-FF sha=ABCDEF1 Dry-Run":     {Name: "merge", Strategy: "no-ff", Head: "abcdef1", DryRun: true},
		"/mergexo merge dry-run strategy=squash pr=3":           {Name: "merge", Strategy: "squash", DryRun: true, PR: 3},
		"/mergexo merge cancel pr=3":                            {Name: "merge", Cancel: true, PR: 3},
		"/mergexo merge priority=High solo":                     {Name: "merge", Train: model.TrainWish{Priority: 10, Solo: true}},
		"/mergexo merge priority=-3 now":                        {Name: "merge", Train: model.TrainWish{Priority: -3, Now: true}},
		"/mergexo try strategy=squash":                          {Name: "merge", Strategy: "squash", Train: model.TrainWish{Try: true}},
		"/mergexo revert":                                       {Name: "revert"},
		"/mergexo revert now because it breaks now":             {Name: "revert", Train: model.TrainWish{Now: true}, Reason: "it breaks now"},
		"/mergexo revert pr=7 Because  it=breaks `login`, pr=8": {Name: "revert", PR: 7, Reason: "it=breaks `login`, pr=8"},
		"- x\n\nWell.\n/mergexo revert because of #12":          {Name: "revert", Reason: "of #12"},
	} {
		got := command.Parse(body)
		require.Len(t, got, 1, "%q", body)
		want.Text = strings.TrimSpace(body[strings.Index(strings.ToLower(body), "/mergexo"):])
		assert.Equal(t, want, got[0])
	}
	for _, nbsp := range []string{"/mergexo\u00a0pause", "/mergexo pause\u00a0"} {
		assert.Equal(t, "pause", command.Parse(nbsp)[0].Name, "%q", nbsp)
	}
	assert.Empty(t, command.Parse(strings.Repeat("x ", 10_000)+"\n/mergexo pause"), "what is too long is not read to its end")
	assert.Empty(t, command.Parse("/mergexoo status\n> /mergexo status\n"))
	several := command.Parse("/mergexo pause\ntext\n/mergexo status")
	require.Len(t, several, 2)
	assert.Equal(t, "status", several[1].Name)
}

func TestWhatIsWrongWithACommandIsNamed(t *testing.T) {
	for body, want := range map[string]string{
		"/mergexo unblok":                                      "unknown command `unblok`. Did you mean `/mergexo unblock`?",
		"/mergexo merge-it-now":                                "unknown command `merge-it-now`. Did you mean `/mergexo merge`?",
		"please\n/mergexo xyzzy":                               "unknown command `xyzzy`; use one of `merge`, `why`, `status`, `retry`, `unblock`, `pause`, `resume`, `adopt`, `release`, `try`, `review`, `delegate`, `revert`, `help`",
		"/mergexo unblock  now":                                "unknown word `now` of `unblock`; use one of `head_sha=SHA`, `pr=NUMBER`",
		"/mergexo unblock hed_sha=abcdef1":                     "unknown key `hed_sha` of `unblock`. Did you mean `head_sha=SHA`?",
		"/mergexo pause issue=3":                               "unknown key `issue` of `pause`; use `pr=NUMBER`",
		"/mergexo unblock pr=1 pr=2":                           "`pr` is given twice",
		"/mergexo unblock head_sha=abc":                        "`head_sha` needs 7 to 40 hexadecimal digits of a commit, got `abc`",
		"/mergexo unblock head_sha=":                           "`head_sha` needs 7 to 40 hexadecimal digits of a commit, got nothing",
		"/mergexo unblock head_sha=HEAD~1234":                  "`head_sha` needs 7 to 40 hexadecimal digits of a commit, got `HEAD~1234`",
		"/mergexo unblock head_sha=" + strings.Repeat("a", 41): "`head_sha` needs 7 to 40 hexadecimal digits of a commit, got `" + strings.Repeat("a", 41) + "`",
		"/mergexo merge priority=urgent":                       "`priority` needs `high`, `normal`, `low` or a number from -100 to 100, got `urgent`",
		"/mergexo merge priority=101":                          "`priority` needs `high`, `normal`, `low` or a number from -100 to 100, got `101`",
		"/mergexo merge cancel solo":                           "`cancel` takes only `pr`",
		"/mergexo try dry-run":                                 "unknown word `dry-run` of `try`; use one of `strategy=NAME`, `sha=SHA`, `pr=NUMBER`",
		"/mergexo status pr=0":                                 "`pr` needs a number such as 7, got `0`",
		"/mergexo status pr=99999999999":                       "`pr` needs a number such as 7, got `99999999999`",
		"/mergexo merge strategy=yolo":                         "unknown strategy `yolo`; use one of `rebase`, `squash`, `no-ff`, `cherry-pick`, `frontmatter-union`, `api`, `github-queue`",
		"/mergexo merge strategy=rebasse":                      "unknown strategy `rebasse`. Did you mean `rebase`?",
		"/mergexo merge strategy":                              "`strategy` needs a value: `strategy=NAME`",
		"/mergexo merge strategy=squash strategy=rebase":       "`strategy` is given twice",
		"/mergexo merge sha=HEAD":                              "`sha` needs 7 to 40 hexadecimal digits of a commit, got `HEAD`",
		"/mergexo merge head_sha=abcdef1":                      "unknown key `head_sha` of `merge`. Did you mean `sha=SHA`?",
		"/mergexo merge dryrun":                                "unknown word `dryrun` of `merge`. Did you mean `dry-run`?",
		"/mergexo merge cancle":                                "unknown word `cancle` of `merge`. Did you mean `cancel`?",
		"/mergexo merge now please":                            "unknown word `please` of `merge`; use one of `strategy=NAME`, `sha=SHA`, `dry-run`, `cancel`, `priority=high`, `solo`, `now`, `pr=NUMBER`",
		"/mergexo merge dry-run=yes":                           "`dry-run` takes no value, got `yes`",
		"/mergexo merge dry-run dry-run":                       "`dry-run` is given twice",
		"/mergexo merge cancel dry-run":                        "`cancel` takes only `pr`",
		"/mergexo merge sha=abcdef1 cancel":                    "`cancel` takes only `pr`",
		"/mergexo revert cancel":                               "unknown word `cancel` of `revert`; use one of `now`, `because TEXT`, `pr=NUMBER`",
		"/mergexo revert because  ":                            "`because` needs a reason",
		"/mergexo unblock sha=abcdef1":                         "unknown key `sha` of `unblock`. Did you mean `head_sha=SHA`?",
		"/mergexo unblock ABCDEF1":                             "unknown word `abcdef1` of `unblock`. Did you mean `head_sha=SHA`?",
		"/mergexo delegate to=octocat":                         "unknown key `to` of `delegate`; use one of `@login`, `cancel`, `pr=NUMBER`",
		"/mergexo cancel":                                      "unknown command `cancel`. Did you mean `/mergexo merge cancel`?",
		"/mergexo Rebase":                                      "unknown command `Rebase`. Did you mean `/mergexo merge strategy=rebase`?",
		"/mergexo sha=abcdef1":                                 "unknown command `sha=abcdef1`. Did you mean `/mergexo merge sha=SHA`?",
		"/mergexo because it broke":                            "unknown command `because`. Did you mean `/mergexo revert because TEXT`?",
		"/mergexo MERGE-it":                                    "unknown command `MERGE-it`. Did you mean `/mergexo merge`?",
		"/mergexo mrege":                                       "unknown command `mrege`. Did you mean `/mergexo merge`?",
		"/mergexo status pr=seven`@all`":                       "`pr` needs a number such as 7, got `seven'@all'`",
	} {
		got := command.Parse(body)
		require.Len(t, got, 1, "%q", body)
		assert.Equal(t, want, got[0].Problem, "%q", body)
	}
	assert.Less(t, len(command.Parse("/mergexo " + strings.Repeat("x", 5000))[0].Problem), 300)
}

func TestACommandBehindOtherWordsIsAHintAndNoCommand(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		"lgtm /mergexo merge", "lgtm, thanks!\r\nSo /mergexo merge strategy=squash.", "  Please /mergexo retry",
		"Then /mergexo revert because it broke", "Please do not run /MergeXO merge!\nFirst fix X.",
	} {
		got := command.Parse(body)
		require.Len(t, got, 1, "%q", body)
		assert.Equal(t, "a command must be on its own line", got[0].Problem, "%q", body)
		assert.False(t, command.Is(body), "%q is feedback", body)
	}
	for _, body := range []string{
		"What does `x /mergexo merge` do?", "> lgtm /mergexo merge", "lgtm <!-- /mergexo merge -->", "    code /mergexo merge", "- lgtm /mergexo merge",
		"I will /mergexo merge it tomorrow", "Does /mergexo why say so?", "I like /mergexo", "see docs/mergexo merge", "lgtm /mergexomerge", "please do not run /mergexo merge yet, first fix X", "[x /mergexo merge](https://docs.example.com)",
	} {
		assert.Empty(t, command.Parse(body), "%q", body)
	}
	one := command.Parse("lgtm /mergexo status\n\n/mergexo why")
	require.Len(t, one, 1)
	assert.Equal(t, []string{"why", ""}, []string{one[0].Name, one[0].Problem}, "who knows how to give one needs no hint")
}

func TestADelegateIsNamed(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]command.Command{
		"/mergexo delegate @Octo-Cat pr=7": {Name: "delegate", Login: "Octo-Cat", PR: 7},
		"/mergexo delegate cancel":         {Name: "delegate", Cancel: true},
		"/mergexo delegate":                {Name: "delegate", Problem: "`delegate` needs a person, such as `@octocat`"},
		"/mergexo delegate octocat":        {Name: "delegate", Problem: "unknown word `octocat` of `delegate`. Did you mean `@octocat`?"},
		"/mergexo delegate @a @b":          {Name: "delegate", Login: "a", Problem: "`@login` is given twice"},
		"/mergexo delegate @ci[bot]":       {Name: "delegate", Login: "ci[bot]", Problem: "`@login` needs a login such as `@octocat`, got `@ci[bot]`"},
		"/mergexo delegate @a cancel":      {Name: "delegate", Login: "a", Cancel: true, Problem: "`cancel` takes only `pr`"},
		"/mergexo merge @octocat":          {Name: "merge", Problem: "unknown word `@octocat` of `merge`"},
	} {
		got := command.Parse(body)
		require.Len(t, got, 1, "%q", body)
		assert.Contains(t, got[0].Problem, want.Problem, "%q", body)
		want.Text, want.Problem = body, got[0].Problem
		assert.Equal(t, want, got[0], "%q", body)
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"/mergexo unblock head_sha=abcdef1 pr=7", "> /mergexo status\n/mergexo why", "/mergexo retry issue=#3 issue=", "```\n/mergexo help", "/mergexo \u00a0status",
		"/mergexo merge strategy=no-ff sha=abcdef1 dry-run", "/mergexo merge cancel=1 cancel", "/mergexo revert pr=7", "lgtm /mergexo merge", "/MergeXO merge", "/mergexo delegate @octocat", "/mergexo delegate @a @b cancel"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		for _, c := range command.Parse(body) {
			if !strings.HasPrefix(strings.ToLower(c.Text), command.Word) || strings.Contains(c.Text, "\n") {
				t.Fatalf("%q is not a line with a command", c.Text)
			}
			if c.Problem != "" {
				if len(c.Problem) > 600 || strings.Contains(c.Problem, "\n") {
					t.Fatalf("problem %q", c.Problem)
				}
				continue
			}
			// What was understood can be said again, and means the same.
			again := fmt.Sprintf("%s %s", command.Word, c.Name)
			for key, value := range map[string]int{"pr": c.PR, "issue": c.Issue} {
				if value != 0 {
					again += fmt.Sprintf(" %s=%d", key, value)
				}
			}
			key := "head_sha"
			if c.Name == "merge" {
				key = "sha"
			}
			for _, w := range []struct {
				given bool
				word  string
			}{{c.Head != "", key + "=" + c.Head}, {c.Strategy != "", "strategy=" + c.Strategy}, {c.DryRun, "dry-run"}, {c.Cancel, "cancel"}, {c.Login != "", "@" + c.Login}} {
				if w.given {
					again += " " + w.word
				}
			}
			c.Text = again
			if got := command.Parse(again); len(got) != 1 || got[0] != c {
				t.Fatalf("%q gives %+v, want %+v", again, got, c)
			}
		}
	})
}
