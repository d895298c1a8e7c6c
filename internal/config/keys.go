package config

import "github.com/mergexo/mergexo/internal/model"

// key is one setting of a table: its name, and how its value is stored in the table's struct.
type key[T any] struct {
	name  string
	apply func(*T, any) error
}

// set makes a key from a value's reader and its destination.
func set[T, V any](name string, read func(any) (V, error), at func(*T) *V) key[T] {
	return key[T]{name, func(t *T, raw any) error {
		v, err := read(raw)
		if err == nil {
			*at(t) = v
		}
		return err
	}}
}

var repoKeys = []key[Repo]{
	set("allowed_users", logins, func(r *Repo) *[]string { return &r.AllowedUsers }),
	set("operators", logins, func(r *Repo) *[]string { return &r.Operators }),
	set("bots", logins, func(r *Repo) *[]string { return &r.Bots }),
	set("operations_issue", atLeast(0), func(r *Repo) *int { return &r.OperationsIssue }),
	set("coding_guidelines", path, func(r *Repo) *string { return &r.CodingGuidelines }),
	set("design_dir", path, func(r *Repo) *string { return &r.DesignDir }),
	set("required_tests", argv, func(r *Repo) *[]string { return &r.RequiredTests }),
	set("test_file_regex", regexes, func(r *Repo) *[]string { return &r.TestFileRegex }),
	set("track", branchFilters, func(r *Repo) *[]string { return &r.Track }),
}

var labelKeys = []key[Labels]{
	set("design", nonEmpty, func(l *Labels) *string { return &l.Design }),
	set("bugfix", nonEmpty, func(l *Labels) *string { return &l.Bugfix }),
	set("small_job", nonEmpty, func(l *Labels) *string { return &l.SmallJob }),
	set("ignore", nonEmpty, func(l *Labels) *string { return &l.Ignore }),
	set("freeze", nonEmpty, func(l *Labels) *string { return &l.Freeze }),
}

var agentKeys = []key[Agent]{
	set("adapter", nonEmpty, func(a *Agent) *string { return &a.Adapter }),
	set("command", argv, func(a *Agent) *[]string { return &a.Command }),
	set("model", text, func(a *Agent) *string { return &a.Model }),
	set("extra_args", arguments, func(a *Agent) *[]string { return &a.ExtraArgs }),
	set("pass_env", passEnv, func(a *Agent) *[]string { return &a.PassEnv }),
	set("timeout", duration, func(a *Agent) *timeout { return &a.Timeout }),
	set("test_timeout", duration, func(a *Agent) *timeout { return &a.TestTimeout }),
	set("run_timeout", duration, func(a *Agent) *timeout { return &a.RunTimeout }),
	set("checkpoint_every", duration, func(a *Agent) *timeout { return &a.CheckpointEvery }),
	set("isolation", oneOf("auto", "none"), func(a *Agent) *string { return &a.Isolation }),
	set("network", network, func(a *Agent) *model.Network { return &a.Network }),
	set("user", userName, func(a *Agent) *string { return &a.User }),
}

var feedbackKeys = []key[Feedback]{
	set("ci", oneOf("never", "first_fail", "all_complete"), func(f *Feedback) *string { return &f.CI }),
	set("max_per_turn", atLeast(1), func(f *Feedback) *int { return &f.MaxPerTurn }),
	set("repair_rounds", atLeast(0), func(f *Feedback) *int { return &f.RepairRounds }),
	set("turns_per_day", atLeast(0), func(f *Feedback) *int { return &f.TurnsPerDay }),
	set("cost_per_day_usd", amount, func(f *Feedback) *float64 { return &f.CostPerDayUSD }),
	set("on_missing_session", oneOf("rehydrate", "block"), func(f *Feedback) *string { return &f.OnMissingSession }),
	set("forbid_paths", globs, func(f *Feedback) *[]string { return &f.ForbidPaths }),
	set("allow_secrets", globs, func(f *Feedback) *[]string { return &f.AllowSecrets }),
	set("max_file_mb", between(1, 100), func(f *Feedback) *int { return &f.MaxFileMB }),
}

var strategy = oneOf(model.Strategies()...)

// mergeKeys leaves out rule and group, which are tables.
var mergeKeys = []key[Merge]{
	set("strategy", strategy, func(m *Merge) *string { return &m.Strategy }),
	set("attempts", atLeast(1), func(m *Merge) *int { return &m.Attempts }),
	set("approvals", atLeast(0), func(m *Merge) *int { return &m.Approvals }),
	set("required_checks", texts, func(m *Merge) *[]string { return &m.RequiredChecks }),
	set("setup", argvOrNone(`["npm", "ci"]`), func(m *Merge) *Tests { return &m.Setup }),
	set("tests", argvOrNone(`["make", "test"]`), func(m *Merge) *Tests { return &m.Tests }),
	set("tests_in", oneOf("fresh", "checkout"), func(m *Merge) *string { return &m.TestsIn }),
	set("test_timeout", duration, func(m *Merge) *timeout { return &m.TestTimeout }),
	set("lock_timeout", duration, func(m *Merge) *timeout { return &m.LockTimeout }),
	set("delete_branch", boolean, func(m *Merge) *bool { return &m.DeleteBranch }),
	set("verify", oneOf(VerifyLocal, VerifyCI, VerifyBoth), func(m *Merge) *string { return &m.Verify }),
	set("batch", between(1, 32), func(m *Merge) *int { return &m.Batch }),
	set("speculate", between(1, 16), func(m *Merge) *int { return &m.Speculate }),
	set("ci_retries", between(0, 5), func(m *Merge) *int { return &m.CIRetries }),
	set("ci_timeout", duration, func(m *Merge) *timeout { return &m.CITimeout }),
	set("auto", oneOf(AutoNever, AutoLabel, AutoApproval), func(m *Merge) *string { return &m.Auto }),
	set("auto_label", nonEmpty, func(m *Merge) *string { return &m.AutoLabel }),
}

var ruleKeys = []key[Rule]{
	set("branch", branchFilter, func(r *Rule) *string { return &r.Branch }),
	set("strategy", strategy, func(r *Rule) *string { return &r.Strategy }),
	set("enabled", boolean, func(r *Rule) *bool { return &r.Enabled }),
	set("base_wins", globs, func(r *Rule) *[]string { return &r.BaseWins }),
	set("union_fields", texts, func(r *Rule) *[]string { return &r.UnionFields }),
}

var groupKeys = []key[Group]{
	set("name", nonEmpty, func(g *Group) *string { return &g.Name }),
	set("repositories", repositories, func(g *Group) *[]string { return &g.Repositories }),
}

var externalKeys = []key[External]{
	set("enabled", boolean, func(e *External) *bool { return &e.Enabled }),
	set("label", nonEmpty, func(e *External) *string { return &e.Label }),
	set("evaluate", argv, func(e *External) *[]string { return &e.Evaluate }),
	set("fix", argv, func(e *External) *[]string { return &e.Fix }),
}

var sweepKeys = []key[Sweep]{
	// A matrix makes at most 256 jobs: https://docs.github.com/actions/reference/limits
	set("max_parallel", between(1, 256), func(s *Sweep) *int { return &s.MaxParallel }),
	set("max_items", atLeast(1), func(s *Sweep) *int { return &s.MaxItems }),
	set("conflicts", oneOf("tracked", "all", "never"), func(s *Sweep) *string { return &s.Conflicts }),
}
