package config

import "github.com/mergexo/mergexo/internal/model"

// table is a table of the settings, or a list of tables: "merge", "merge.rule".
type table struct {
	name string
	read func(*walk, any, *Settings)
	keys func() []Key
}

func one[T any](name string, keys []key[T], in func(*Settings) *T) table {
	read := func(w *walk, raw any, s *Settings) { read(w, name, raw, keys, in(s), s) }
	return table{name, read, func() []Key {
		s := Defaults()
		return keysOf(name, keys, *in(&s))
	}}
}

func each[T any](name string, keys []key[T], fresh T, in func(*Settings) *[]T) table {
	read := func(w *walk, raw any, s *Settings) { *in(s) = readList(w, name, raw, keys, fresh) }
	return table{name, read, func() []Key { return keysOf("["+name+"]", keys, fresh) }}
}

// tables are in the manual's order.
var tables = []table{
	one("repo", repoKeys, func(s *Settings) *Repo { return &s.Repo }),
	one("labels", labelKeys, func(s *Settings) *Labels { return &s.Labels }),
	one("agent", agentKeys, func(s *Settings) *Agent { return &s.Agent }),
	one("feedback", feedbackKeys, func(s *Settings) *Feedback { return &s.Feedback }),
	one("merge", mergeKeys, func(s *Settings) *Merge { return &s.Merge }),
	each("merge.rule", ruleKeys, Rule{Enabled: true}, func(s *Settings) *[]Rule { return &s.Merge.Rules }),
	each("merge.group", groupKeys, Group{}, func(s *Settings) *[]Group { return &s.Merge.Groups }),
	one("review", reviewKeys, func(s *Settings) *Review { return &s.Review }),
	one("external", externalKeys, func(s *Settings) *External { return &s.External }),
	one("roadmap", roadmapKeys, func(s *Settings) *Roadmap { return &s.Roadmap }),
	each("tests", testKeys, PathTests{}, func(s *Settings) *[]PathTests { return &s.Tests }),
	one("sweep", sweepKeys, func(s *Settings) *Sweep { return &s.Sweep }),
	one("doctor", doctorKeys, func(s *Settings) *Doctor { return &s.Doctor }),
}

// key is one setting of a table: its name, how its value is stored in the table's struct and found there again, and its meaning,
// in sentences of Markdown for the manual.
type key[T any] struct {
	name    string
	apply   func(*T, any) error
	value   func(T) any
	meaning string
}

// set makes a key from a value's reader and its destination.
func set[T, V any](name string, read func(any) (V, error), at func(*T) *V, meaning string) key[T] {
	apply := func(t *T, raw any) error {
		v, err := read(raw)
		if err == nil {
			*at(t) = v
		}
		return err
	}
	return key[T]{name, apply, func(t T) any { return *at(&t) }, meaning}
}

var repoKeys = []key[Repo]{
	set("allowed_users", logins, func(r *Repo) *[]string { return &r.AllowedUsers },
		"Logins whose comments reach the agent. Empty: everybody with write access to the repository. A bot counts only if it is listed, as `name[bot]`."),
	set("operators", logins, func(r *Repo) *[]string { return &r.Operators },
		"Logins that may give commands. Empty: everybody with the maintain or admin role."),
	set("bots", logins, func(r *Repo) *[]string { return &r.Bots },
		"Accounts that have worked as MergeXO here, besides the one of the current token. Needed after a change of the token."),
	set("operations_issue", atLeast(0), func(r *Repo) *int { return &r.OperationsIssue },
		"An issue in which commands for any pull request may be given, with `pr=NUMBER`. 0: none."),
	set("coding_guidelines", path, func(r *Repo) *string { return &r.CodingGuidelines },
		"A file in the repository that the agent is told to follow. A missing file sets no rules."),
	set("design_dir", path, func(r *Repo) *string { return &r.DesignDir },
		"The directory in the repository for design documents."),
	set("required_tests", argv, func(r *Repo) *[]string { return &r.RequiredTests },
		"The command that has to succeed before every push of an agent's work. Empty: none."),
	set("test_file_regex", regexes, func(r *Repo) *[]string { return &r.TestFileRegex },
		"Regular expressions for test files. Where set, a bug fix must change at least one file that matches."),
	set("track", branchFilters, func(r *Repo) *[]string { return &r.Track },
		"The branches of this repository whose pull requests are handled. Patterns as in a workflow's `branches` filter; see [agents](agents.md#tracked-branches)."),
}

var labelKeys = []key[Labels]{
	set("design", nonEmpty, func(l *Labels) *string { return &l.Design },
		"The label on an issue that asks for a design document, and for the implementation once that is merged."),
	set("roadmap", nonEmpty, func(l *Labels) *string { return &l.Roadmap },
		"The label on an issue that asks for a roadmap, whose items become issues once it is merged. See [roadmaps](roadmaps.md)."),
	set("bugfix", nonEmpty, func(l *Labels) *string { return &l.Bugfix },
		"The label on an issue that asks for a bug fix."),
	set("small_job", nonEmpty, func(l *Labels) *string { return &l.SmallJob },
		"The label on an issue that asks for a small change."),
	set("ignore", nonEmpty, func(l *Labels) *string { return &l.Ignore },
		"The label on an issue or pull request that makes MergeXO leave it alone."),
	set("freeze", nonEmpty, func(l *Labels) *string { return &l.Freeze },
		"The label on a pull request that keeps it from being merged."),
}

var agentKeys = []key[Agent]{
	set("adapter", nonEmpty, func(a *Agent) *string { return &a.Adapter },
		"Which agent runs: `\"codex\"`, `\"claude\"`, `\"command\"` (a program of yours) or `\"suggestion\"` (no model). See [agents](agents.md)."),
	set("command", argv, func(a *Agent) *[]string { return &a.Command },
		"The program and arguments of the adapter `\"command\"`."),
	set("model", text, func(a *Agent) *string { return &a.Model },
		"The model that Codex or Claude Code is told to use. Empty: its own default."),
	set("extra_args", arguments, func(a *Agent) *[]string { return &a.ExtraArgs },
		"Further arguments for Codex or Claude Code."),
	set("pass_env", passEnv, func(a *Agent) *[]string { return &a.PassEnv },
		"Environment variables that the agent gets besides `PATH`, `HOME`, `LANG` and `TMPDIR`. Names of MergeXO's own credentials and of the model's key are refused. "+
			"A commit with the value of one that is named like a secret is not pushed; see [security](security.md#promises)."),
	set("timeout", duration, func(a *Agent) *timeout { return &a.Timeout },
		"How long the agent may run each time."),
	set("test_timeout", duration, func(a *Agent) *timeout { return &a.TestTimeout },
		"How long `required_tests` may run. If they time out, the agent gets one round to repair them."),
	set("run_timeout", duration, func(a *Agent) *timeout { return &a.RunTimeout },
		"How long the whole run may take. Then its work is saved. Set it a little below the workflow's `timeout-minutes`."),
	set("checkpoint_every", duration, func(a *Agent) *timeout { return &a.CheckpointEvery },
		"How often unfinished work for an issue is saved on a branch."),
	set("cost_per_day_usd", amount, func(a *Agent) *float64 { return &a.CostPerDayUSD },
		"How much all agents may cost in a day in the whole repository, as far as they report it. It takes a few calls per turn to find out. 0: no limit."),
	set("isolation", oneOf("auto", "none"), func(a *Agent) *string { return &a.Isolation },
		"How agents and tests are isolated; see [security](security.md#isolation). `\"none\"` turns it off."),
	set("network", network, func(a *Agent) *model.Network { return &a.Network },
		"What agents and tests can reach: everything, only the model, or the model and these hosts. `\"packages\"` stands for the public registries; see [agents](agents.md#network)."),
	set("user", userName, func(a *Agent) *string { return &a.User },
		"An existing user of the runner to run agents and tests as. Empty: a user made for the run."),
}

var feedbackKeys = []key[Feedback]{
	set("ci", oneOf("never", "first_fail", "all_complete"), func(f *Feedback) *string { return &f.CI },
		"When failed workflow runs become feedback: never, after the first failure, or after all runs have finished. See [ci](ci.md)."),
	set("merge", oneOf("never", "first_fail"), func(f *Feedback) *string { return &f.Merge },
		"Whether a failed merge becomes feedback. People approve what the agent then changes, and ask for the merge again. See [ci](ci.md#failed-merges)."),
	set("listen", oneOf("all", "reviews", "mention"), func(f *Feedback) *string { return &f.Listen },
		"Which comments on a pull request wake the agent: all, those of reviews, or those and mentions in the conversation. See [reviewing](reviewing.md#what-wakes-the-agent)."),
	set("names", logins, func(f *Feedback) *[]string { return &f.Names },
		"Names by which a comment mentions MergeXO, without the `@`, besides that of its account."),
	set("max_per_turn", atLeast(1), func(f *Feedback) *int { return &f.MaxPerTurn },
		"How many comments one run of the agent answers at most. The rest follows in the next one."),
	set("repair_rounds", atLeast(0), func(f *Feedback) *int { return &f.RepairRounds },
		"How many times the agent may repair its work within one run, for example when required tests fail."),
	set("turns_per_day", atLeast(0), func(f *Feedback) *int { return &f.TurnsPerDay },
		"How many turns a pull request gets in a day. Above that, comments wait until the next day. 0: no limit."),
	set("cost_per_day_usd", amount, func(f *Feedback) *float64 { return &f.CostPerDayUSD },
		"How much one pull request may cost in a day, as far as the agent reports its cost. 0: no limit. `[agent] cost_per_day_usd` limits all together."),
	set("on_missing_session", oneOf("rehydrate", "block"), func(f *Feedback) *string { return &f.OnMissingSession },
		"What happens when the agent's session is gone: start a new one from what GitHub holds, or block."),
	set("resolve", boolean, func(f *Feedback) *bool { return &f.Resolve },
		"Whether review threads are resolved once the commits are pushed, if the agent says that it has done all that they ask for."),
	set("forbid_paths", globs, func(f *Feedback) *[]string { return &f.ForbidPaths },
		"Globs of files that an agent must not change, ignoring case. `CODEOWNERS` stands for all three places of that file."),
	set("allow_secrets", globs, func(f *Feedback) *[]string { return &f.AllowSecrets },
		"Globs of files in which apparent secrets are accepted, such as test fixtures. MergeXO's own secrets are always refused."),
	set("max_file_mb", between(1, 100), func(f *Feedback) *int { return &f.MaxFileMB },
		"The largest file that is pushed, in megabytes."),
}

var strategy = oneOf(model.Strategies()...)

// mergeKeys leaves out rule and group, which are tables.
var mergeKeys = []key[Merge]{
	set("strategy", strategy, func(m *Merge) *string { return &m.Strategy },
		"How to merge; see [merging](merging.md#strategies). `\"frontmatter-union\"` is for a `[[merge.rule]]` only."),
	set("attempts", atLeast(1), func(m *Merge) *int { return &m.Attempts },
		"How many times a merge is tried on the same head and base."),
	set("approvals", atLeast(0), func(m *Merge) *int { return &m.Approvals },
		"How many approvals a pull request needs, by people with write access other than its author. The rules of the base may ask for more."),
	set("four_eyes", oneOf("pushed", EyesStrict), func(m *Merge) *string { return &m.FourEyes },
		"Whose approval of MergeXO's own pull requests does not count: that of who pushed to them, or with `\"strict\"` also that of who asked the agent, on everybody's pull requests. See [merging](merging.md#four-eyes)."),
	set("hold_labels", texts, func(m *Merge) *[]string { return &m.HoldLabels },
		"Further labels that keep a pull request from being merged, besides `[labels] freeze`."),
	set("need_labels", texts, func(m *Merge) *[]string { return &m.NeedLabels },
		"Labels without which a pull request is not merged."),
	set("wait_for_reviewers", boolean, func(m *Merge) *bool { return &m.WaitForReviewers },
		"Whether a merge waits for everybody who was asked for a review."),
	set("required_checks", texts, func(m *Merge) *[]string { return &m.RequiredChecks },
		"Checks that must pass, in addition to those that the rules of the base require: `name@app`, or `name` for everybody's; see [merging](merging.md#required-checks)."),
	set("setup", argvOrNone(`["npm", "ci"]`), func(m *Merge) *Tests { return &m.Setup },
		"The command that prepares the tree for the tests. `\"none\"`: nothing. Empty: detected from the lockfile; see [merging](merging.md#setup-and-tests)."),
	set("tests", argvOrNone(`["make", "test"]`), func(m *Merge) *Tests { return &m.Tests },
		"The command that tests what is about to land. `\"none\"`: merge without tests. Empty: detected from `go.mod`, `package.json`, a `Makefile` and the like."),
	set("tests_in", oneOf("fresh", "checkout"), func(m *Merge) *string { return &m.TestsIn },
		"Where the tests run: in a fresh tree, or in the workflow's own checkout."),
	set("test_timeout", duration, func(m *Merge) *timeout { return &m.TestTimeout },
		"How long setup and tests together may run."),
	set("lock_timeout", duration, func(m *Merge) *timeout { return &m.LockTimeout },
		"How long to wait for another merge into the same base."),
	set("delete_branch", written, func(m *Merge) **bool { return &m.DeleteBranch },
		"Whether the branch of a pull request is deleted after the merge. Empty: MergeXO's own branches are, others if GitHub is set to delete them; see [merging](merging.md#the-branch-of-a-pull-request). `mergexo merge` deletes no branch."),
	set("verify", oneOf(VerifyLocal, VerifyCI, VerifyBoth), func(m *Merge) *string { return &m.Verify },
		"What tests the commit that lands: the tests on this runner, the repository's own checks in a merge train, or both. Empty: `\"ci\"` if the base requires checks and the token is an App's, otherwise `\"local\"`."),
	set("batch", between(1, 32), func(m *Merge) *int { return &m.Batch },
		"How many pull requests one car of the merge train holds at most."),
	set("speculate", between(1, 16), func(m *Merge) *int { return &m.Speculate },
		"How many cars of the merge train are tested at the same time."),
	set("ci_retries", between(0, 5), func(m *Merge) *int { return &m.CIRetries },
		"How many times the failed jobs of a car are rerun before a pull request is blamed. Only jobs of GitHub Actions can be rerun."),
	set("ci_timeout", duration, func(m *Merge) *timeout { return &m.CITimeout },
		"How long a car waits for a check to begin before the train pauses, and then for its end."),
	set("auto", oneOf(AutoNever, AutoLabel, AutoApproval), func(m *Merge) *string { return &m.Auto },
		"What requests a merge without a command: nothing, the label `auto_label` by somebody who may merge, or an approval."),
	set("auto_label", nonEmpty, func(m *Merge) *string { return &m.AutoLabel },
		"The label for `auto = \"label\"`."),
}

var ruleKeys = []key[Rule]{
	set("branch", branchFilter, func(r *Rule) *string { return &r.Branch },
		"Required. The branches that the rule is for, as a pattern of `track` without `!`. `gh-pr-*` stands for the mirrors of all forks' pull requests."),
	set("strategy", strategy, func(r *Rule) *string { return &r.Strategy },
		"Required unless `enabled = false`. How these branches are merged."),
	set("enabled", boolean, func(r *Rule) *bool { return &r.Enabled },
		"`false`: the rule is ignored. With `branch = \"gh-pr-*\"` it changes how forks are merged; see [forks](forks.md#without-merge-commits)."),
	set("base_wins", globs, func(r *Rule) *[]string { return &r.BaseWins },
		"Globs of files. A conflict in these files only is resolved with the base's version."),
	set("union_fields", texts, func(r *Rule) *[]string { return &r.UnionFields },
		"The front matter lists that `\"frontmatter-union\"` merges; required with it."),
}

var groupKeys = []key[Group]{
	set("name", nonEmpty, func(g *Group) *string { return &g.Name },
		"Required. The name of the group."),
	set("repositories", repositories, func(g *Group) *[]string { return &g.Repositories },
		"Required. The repositories whose pull requests land together, in this order."),
}

var testKeys = []key[PathTests]{
	set("paths", globs, func(t *PathTests) *[]string { return &t.Paths },
		"Globs of files. A change that touches one of them is tested with `run`, before a push and before a merge. Left out: for files that no other `[[tests]]` names; see [merging](merging.md#several-test-commands)."),
	set("run", nonEmpty, func(t *PathTests) *string { return &t.Run },
		"Required. The command, as a line for a shell."),
}

var reviewKeys = []key[Review]{
	set("adapter", oneOf("codex", "claude", "command"), func(r *Review) *string { return &r.Adapter },
		"Which agent reviews. Left out: that of `[agent]`, in a session of its own. See [reviewing](reviewing.md)."),
	set("command", argv, func(r *Review) *[]string { return &r.Command },
		"The program and arguments of the adapter `\"command\"`. Empty: those of `[agent]`."),
	set("model", text, func(r *Review) *string { return &r.Model },
		"The model that Codex or Claude Code is told to use for reviews. Empty: that of `[agent]` if the adapter is the same, otherwise its own default."),
	set("rounds", between(0, 10), func(r *Review) *int { return &r.Rounds },
		"How many times the author agent may fix what the reviewer says must be fixed, before its pull request is opened."),
	set("on", reviewedWork, func(r *Review) *[]string { return &r.On },
		"The work that is reviewed before its pull request is opened: `\"implementation\"`, `\"bugfix\"`, `\"small_job\"`; and before the commits of a turn are pushed: `\"feedback\"`."),
	set("auto", oneOf(AutoNever, AutoLabel, AutoReady), func(r *Review) *string { return &r.Auto },
		"What requests a review without a command: nothing, the label `label`, or that a pull request is ready for review."),
	set("label", nonEmpty, func(r *Review) *string { return &r.Label },
		"The label for `auto = \"label\"`. It is removed when the review is posted."),
}

var externalKeys = []key[External]{
	set("enabled", boolean, func(e *External) *bool { return &e.Enabled },
		"Handle pull requests from forks; see [forks](forks.md)."),
	set("label", nonEmpty, func(e *External) *string { return &e.Label },
		"The label with which an operator accepts a fork's pull request."),
	set("evaluate", argv, func(e *External) *[]string { return &e.Evaluate },
		"A program of yours that evaluates the pull request. Empty: the label alone approves it."),
	set("fix", argv, func(e *External) *[]string { return &e.Fix },
		"A program of yours that makes the changes that the evaluation asked for."),
}

var roadmapKeys = []key[Roadmap]{
	set("dir", path, func(r *Roadmap) *string { return &r.Dir },
		"The directory in the repository for roadmaps."),
	set("max_active", between(1, 100), func(r *Roadmap) *int { return &r.MaxActive },
		"How many items of a roadmap are worked on at the same time."),
}

var doctorKeys = []key[Doctor]{
	set("ignore", arguments, func(d *Doctor) *[]string { return &d.Ignore },
		"Rules of `mergexo doctor` whose findings are left out, by the ids at the end of its lines."),
}

var sweepKeys = []key[Sweep]{
	// A matrix makes at most 256 jobs: https://docs.github.com/actions/reference/limits
	set("max_parallel", between(1, 256), func(s *Sweep) *int { return &s.MaxParallel },
		"How many jobs of a sweep run at the same time."),
	set("max_items", atLeast(1), func(s *Sweep) *int { return &s.MaxItems },
		"How many pull requests and issues one sweep without jobs handles. The next one continues."),
	set("conflicts", oneOf("tracked", "all", "never"), func(s *Sweep) *string { return &s.Conflicts },
		"Which pull requests are told about conflicts."),
}
