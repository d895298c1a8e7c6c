package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/BurntSushi/toml"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/golden"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
)

const source = ".github/mergexo.toml"

// What people read when their settings are wrong.
func TestMessages(t *testing.T) {
	files := must.Get(filepath.Glob("testdata/bad/*.toml"))(t)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text := must.Get(os.ReadFile(file))(t)
			_, err := Parse(string(text), source)
			require.ErrorIs(t, err, ErrInvalid)
			golden.File(t, "bad/"+strings.TrimSuffix(filepath.Base(file), ".toml")+".out", err.Error()+"\n")
		})
	}
}

// The label for forks is one of its own, but only where forks are let in.
func TestTheLabelForForksMeansNothingElse(t *testing.T) {
	for _, label := range []string{"agent:design", "agent:roadmap", "Agent:Bugfix", "agent:small-job", "agent:ignore", "Merge:Freeze", "go"} {
		text := Minimal + fmt.Sprintf("[merge]\nauto_label = \"Go\"\nauto = \"label\"\n[labels]\nfreeze = \"merge:freeze\"\n[external]\nlabel = %q\n", label)
		require.NoError(t, must.Err(Parse(text, source)), label)
		require.ErrorContains(t, must.Err(Parse(text+"enabled = true\n", source)), "one label cannot mean two things", label)
	}
	_ = must.Get(Parse(Minimal+"[merge]\nauto_label = \"go\"\n[external]\nlabel = \"go\"\nenabled = true\n", source))(t, "nobody looks at merge.auto_label")
}

func TestMissingFile(t *testing.T) {
	err := Missing(source)
	require.ErrorIs(t, err, ErrInvalid)
	var usage interface{ Usage() bool }
	require.True(t, errors.As(err, &usage) && usage.Usage())
	golden.File(t, "missing.out", err.Error()+"\n")

	assert.Equal(t, []string{"./agent"}, must.Get(Parse(Minimal, source))(t, "what is suggested has to work").Agent.Command)
}

func TestEveryKey(t *testing.T) {
	text := must.Get(os.ReadFile("testdata/full.toml"))(t)
	s := must.Get(Parse(string(text), source))(t)
	assert.Equal(t, Settings{
		Repo: Repo{AllowedUsers: []string{"octo", "dependabot[bot]"}, Operators: []string{"octo"}, Bots: []string{"old-mergexo[bot]"}, OperationsIssue: 12,
			CodingGuidelines: "STYLE.md", DesignDir: "design", RequiredTests: []string{"scripts/test", ""},
			TestFileRegex: []string{`_test\.go$`}, Track: []string{"agent/*", "bot/**"}},
		Labels: Labels{Design: "d", Roadmap: "r", Bugfix: "b", SmallJob: "s", Ignore: "i", Freeze: "f"},
		Agent: Agent{Adapter: "codex", Command: []string{"./agent", "arg"}, Model: "m", ExtraArgs: []string{"--x"},
			PassEnv: []string{"CODEX_HOME"}, Timeout: 90 * time.Second, TestTimeout: 45 * time.Second, RunTimeout: 20 * time.Minute, Isolation: "none", User: "nobody", Network: model.Network{Model: true, Hosts: []string{"api.example.com", "docs.example.com"}}, CheckpointEvery: 2 * time.Minute, CostPerDayUSD: 20},
		Feedback: Feedback{CI: "first_fail", Merge: "first_fail", Listen: "mention", Names: []string{"crew"}, MaxPerTurn: 5, TurnsPerDay: 7, CostPerDayUSD: 2, OnMissingSession: "block", ForbidPaths: []string{"secrets/**"}, AllowSecrets: []string{"testdata/**"}, MaxFileMB: 3, Resolve: true},
		Merge: Merge{Strategy: "squash", Attempts: 1, RequiredChecks: []string{"ci"}, Setup: Tests{Argv: []string{"npm", "ci"}}, Tests: Tests{Argv: []string{"make", "test"}}, TestsIn: "checkout", TestTimeout: 5 * time.Minute, LockTimeout: 10 * time.Second, DeleteBranch: new(bool),
			Verify: "both", Batch: 2, Speculate: 5, CITimeout: 90 * time.Minute, Auto: "label", AutoLabel: "ship",
			FourEyes: "strict", HoldLabels: []string{"hold", "later"}, NeedLabels: []string{"qa"}, WaitForReviewers: true,
			Rules: []Rule{
				{Branch: "gh-pr-*", Strategy: "no-ff", Enabled: true, BaseWins: []string{"entities/**"}},
				{Branch: "reweave/*", Strategy: "frontmatter-union", UnionFields: []string{"tags"}},
			},
			Groups: []Group{{Name: "api+client", Repositories: []string{"octo/api", "octo/client"}}}},
		Review:   Review{Adapter: "command", Command: []string{"./review"}, Model: "r", Rounds: 1, On: []string{"bugfix", "small_job"}, Auto: "label", Label: "look"},
		External: External{Enabled: true, Label: "ext", Evaluate: []string{"./evaluate"}, Fix: []string{"./fix"}},
		Roadmap:  Roadmap{Dir: "plans", MaxActive: 7},
		Sweep:    Sweep{MaxParallel: 256, MaxItems: 10, Conflicts: "all"},
		Tests:    []PathTests{{Paths: []string{"web/**"}, Run: "npm test"}},
		Doctor:   Doctor{Ignore: []string{"pins"}},
	}, s)

	var raw map[string]map[string]any
	require.NoError(t, must.Err(toml.Decode(string(text), &raw)))
	for _, path := range known(tables) {
		table, name, nested := strings.Cut(path, ".")
		require.Contains(t, raw, table)
		if nested && !strings.HasPrefix(path, "merge.rule") && !strings.HasPrefix(path, "merge.group") && table != "tests" {
			assert.Contains(t, raw[table], name, "the file above is to have every key")
		}
	}
}

// The defaults themselves are in the manual.
func TestDefaults(t *testing.T) {
	s := must.Get(Parse("[agent]\nadapter = \"suggestion\"\n", source))(t)
	want := Defaults()
	want.Agent.Adapter = "suggestion"
	assert.Equal(t, want, s)
	assert.False(t, s.Merge.InCheckout())
}

// Who only merges names no agent, and may all the same say how tests run.
func TestNoAgent(t *testing.T) {
	for _, text := range []string{"", "[merge]\nstrategy = \"squash\"\n", "[agent]\n", "[agent]\nisolation = \"none\"\nnetwork = \"model\"\n"} {
		assert.True(t, must.Get(Parse(text, source))(t, text).Agent.None(), text)
	}
	for _, text := range []string{"adapter = \"command\"", "command = []", "model = \"m\"", "extra_args = [\"-x\"]", "pass_env = [\"KEY\"]"} {
		require.ErrorContains(t, must.Err(Parse("[agent]\n"+text+"\n", source)), `agent.command: the adapter "command" needs a program`, text)
	}
	for _, text := range []string{"adapter = \"codex\"", "command = [\"./agent\"]"} {
		assert.False(t, must.Get(Parse("[agent]\n"+text+"\n", source))(t, text).Agent.None(), text)
	}
	err := NoAgent(source, "pull request 7")
	require.ErrorIs(t, err, ErrInvalid)
	assert.EqualError(t, err, `.github/mergexo.toml: agent.command: no agent is configured, but pull request 7 needs one: the adapter "command" needs a program, such as command = ["./agent"]`)
}

func TestTestsBeforeAMerge(t *testing.T) {
	for text, want := range map[string]Tests{`"none"`: {None: true}, `[]`: {}, `["go", "test"]`: {Argv: []string{"go", "test"}}} {
		s := must.Get(Parse("agent = {adapter = \"suggestion\"}\nmerge = {tests = "+text+"}\n", source))(t)
		assert.Equal(t, want, s.Merge.Tests)
		assert.Equal(t, want, must.Get(Parse("agent = {adapter = \"suggestion\"}\nmerge = {setup = "+text+"}\n", source))(t).Merge.Setup)
	}
}

// A rule that is off names no strategy: one line brings back what there was without it.
func TestARuleThatIsOff(t *testing.T) {
	s := must.Get(Parse("agent = {adapter = \"suggestion\"}\n[[merge.rule]]\nbranch = \"gh-pr-*\"\nenabled = false\n", source))(t)
	assert.Equal(t, []Rule{{Branch: "gh-pr-*"}}, s.Merge.Rules)
}

// Lines are right whatever way of writing TOML people choose.
func TestLines(t *testing.T) {
	text := "\ufeff# a comment = 1\n" +
		"[ agent ] # adapter = no\n" + // 2
		"adapter = \"suggestion\"\r\n" + // 3
		"model = \"\"\"\\\"\"\"\nwrong = 1\n[repo]\n\"\"\"\n" + // 4
		"command = [ # more\n  \"a # ]\", 'b]',\n]\n" + // 8
		"\"extra_args\" = []\n" + // 11
		"[merge]\n" + // 12
		"rule = [{branch = 'a', strategy = \"squash\"},\n  {branch = \"b\", enabled = true}]\n" // 13
	lines := linesOf(text)
	for place, line := range map[string]int{"agent": 2, "agent.adapter": 3, "agent.model": 4, "agent.command": 8, "agent.extra_args": 11,
		"merge": 12, "merge.rule": 13, "merge.rule[0].strategy": 13, "merge.rule[1].enabled": 14} {
		assert.Equal(t, line, lines[place], place)
	}
	assert.NotContains(t, lines, "agent.wrong")
	assert.NotContains(t, lines, "repo")
}

func TestNearest(t *testing.T) {
	for in, want := range map[[2]string]string{
		{"repo", "alowed_users"}:            "repo.allowed_users",
		{"merge.rule", "stratgy"}:           "merge.rule.strategy",
		{"", "strategy"}:                    "merge.strategy",
		{"", "sweeep"}:                      "sweep",
		{"merge.rule", "union_feilds"}:      "merge.rule.union_fields",
		{"feedback", "max_per_turns"}:       "feedback.max_per_turn",
		{"agent", "lock_timeout"}:           "merge.lock_timeout",
		{"merge", strings.Repeat("y", 9e5)}: closest(known(tables), "merge", strings.Repeat("y", 200)),
	} {
		assert.Equal(t, want, closest(known(tables), in[0], in[1]))
	}
}

// No text panics; what fails says where, and what the library takes for a key has a line.
func FuzzParse(f *testing.F) {
	files := must.Get(filepath.Glob("testdata/*/*.toml"))(f)
	for _, file := range append(files, "testdata/full.toml") {
		text := must.Get(os.ReadFile(file))(f)
		f.Add(string(text))
	}
	f.Add("a.b.'c\".d'.\"e\\u0041\" = '''x''''\n[[a.x]]\n[a.x.y]\nz={q=[[{r=1}]]}\n")
	f.Fuzz(func(t *testing.T, text string) {
		_, err := Parse(text, source)
		var e *Error
		if errors.As(err, &e) {
			require.NotEmpty(t, e.Problems)
			for i, p := range e.Problems {
				require.NotEmpty(t, p.Text)
				require.GreaterOrEqual(t, p.Line, 1)
				require.LessOrEqual(t, p.Line, 2+strings.Count(text, "\n"))
				require.True(t, i == 0 || e.Problems[i-1].Line <= p.Line)
			}
			require.Equal(t, len(e.Problems), 1+strings.Count(e.Error(), "\n"), "one line each: %q", e.Error())
		}
		var raw map[string]any
		md, err := toml.Decode(text, &raw)
		if err != nil {
			return
		}
		seen := map[string]bool{}
		for place := range linesOf(text) {
			seen[shown(place)] = true
		}
		for _, key := range md.Keys() {
			place := ""
			for _, name := range key {
				place = join(place, name)
			}
			require.True(t, seen[shown(place)], "%s has no line in %q", place, text)
		}
	})
}

func TestAReviewerSharesTheAgentsSettings(t *testing.T) {
	a := Agent{Adapter: "codex", Model: "m", ExtraArgs: []string{"--x"}, PassEnv: []string{"CODEX_HOME"}, Timeout: time.Minute}
	same := a
	same.Model = "r"
	for _, c := range []struct {
		name string
		r    Review
		want Agent
	}{
		{"nothing set", Review{}, a},
		{"another model", Review{Model: "r"}, same},
		{"another adapter", Review{Adapter: "claude"}, Agent{Adapter: "claude", PassEnv: a.PassEnv, Timeout: a.Timeout}},
		{"a program", Review{Adapter: "command", Command: []string{"./r"}}, Agent{Adapter: "command", Command: []string{"./r"}, PassEnv: a.PassEnv, Timeout: a.Timeout}},
	} {
		assert.Equal(t, c.want, Settings{Agent: a, Review: c.r}.Reviewer(), c.name)
	}
}
