package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/must"
)

// TestABranchWithoutANetChange: a rebase keeps the commits that people wrote, and says what they come to.
func TestABranchWithoutANetChange(t *testing.T) {
	t.Parallel()
	for _, strategy := range []string{"squash", "no-ff", "rebase"} {
		y := newYard(t, nil)
		y.commit("undone", "main~1", "Shout", map[string]string{"greeting.txt": "HELLO\n"})
		y.commit("undone", "undone", "Do not shout", map[string]string{"greeting.txt": "hello\nworld\n"})
		refs := y.refs()
		got := y.merge("--branch", "undone", "--strategy", strategy).ok(t)
		if strategy == "rebase" {
			assert.Contains(t, got.out, "The commits cancel each other out: no file changes.")
			assert.Equal(t, []string{"Do not shout", "Shout", "Meanwhile"}, y.subjects("main", 3))
			continue
		}
		assert.Equal(t, "result: nothing, undone has no net change, so there is nothing to merge into main\n", got.out)
		assert.Equal(t, refs, y.refs())
	}
}

func TestAMergeWithoutGitHubSaysThatItDeletesNoBranch(t *testing.T) {
	t.Parallel()
	for setting, says := range map[string]bool{"delete_branch = true": true, "delete_branch = false": false} {
		for _, args := range [][]string{nil, {"--local"}} {
			y := newYard(t, map[string]string{".github/mergexo.toml": "[merge]\ntests = \"none\"\n" + setting + "\n"})
			y.git(y.dir, "fetch", "-q", "origin", "main:kept", "fix:fix")
			got := y.merge(append([]string{"--branch", "fix", "--base", map[bool]string{true: "kept", false: "main"}[args != nil]}, args...)...).ok(t)
			assert.Equal(t, says, strings.Contains(got.out, "The branch fix stays: [merge] delete_branch is for pull requests"), got.out)
			assert.NotEmpty(t, y.here("fix"))
			assert.NotEmpty(t, y.origin("fix"))
		}
	}
}

// TestProgramsReadAMerge: with whole SHAs, at every end.
func TestProgramsReadAMerge(t *testing.T) {
	t.Parallel()
	y := newYard(t, nil)
	head, base := y.origin("fix"), y.origin("main")
	planned := object(t, y.merge("--branch", "fix", "--base", "main", "--dry-run", "--json"))
	o := object(t, y.merge("--branch", "fix", "--base", "main", "--json"))
	tip := y.origin("main")
	require.NotEqual(t, base, tip)
	assert.Equal(t, []any{"done", "fix", "main", "rebase", head, base, tip, tip, y.origin("main^{tree}"), 2.0},
		[]any{o["result"], o["branch"], o["into"], o["strategy"], o["head"], o["base"], o["tip"], o["landed"], o["tree"], o["count"]})
	assert.Equal(t, []any{
		map[string]any{"sha": y.origin("main~1"), "subject": "Exclaim", "author": "Ada", "was": y.git(y.writer, "rev-parse", head+"~1")},
		map[string]any{"sha": tip, "subject": "Say more", "author": "Ada", "was": head},
	}, o["commits"])
	assert.Equal(t, []any{[]any{}, []any{}, []any{}}, []any{o["conflicts"], o["left_out"], o["notes"]})
	tests := o["tests"].(map[string]any)
	assert.Equal(t, []any{[]any{"grep", "-q", "hello", "greeting.txt"}, "passed", 0.0, ""}, []any{tests["command"], tests["result"], tests["exit"], tests["output"]})
	assert.Equal(t, []any{"nothing", base, "", "planned"}, []any{planned["result"], planned["base"], planned["landed"], planned["tests"].(map[string]any)["result"]})
	assert.Len(t, planned["tip"], 40)
	assert.Equal(t, []any{
		map[string]any{"kind": "push", "target": "fix", "token": effectOf(o, 0)["token"], "status": "applied"},
		map[string]any{"kind": "merge", "target": "main", "token": effectOf(o, 1)["token"], "status": "applied"},
	}, o["effects"])
	for i := range 2 {
		told := effectOf(planned, i)
		assert.Equal(t, "planned", told["status"])
		told["status"] = "applied"
		assert.Equal(t, effectOf(o, i), told, "the plan has the effects of the merge")
	}

	again := object(t, y.merge("--branch", "fix", "--base", "main", "--json"))
	assert.Equal(t, []any{"nothing", tip, tip, "", "", []any{}, nil}, []any{again["result"], again["head"], again["base"], again["tip"], again["landed"], again["commits"], again["tests"]})

	y.git(y.writer, "pull", "-q", "--rebase", "origin", "main")
	y.commit("clash", "main", "Clash", map[string]string{"greeting.txt": "one\n"})
	y.commit("main", "main", "Other", map[string]string{"greeting.txt": "hello\n"})
	o = object(t, y.merge("--branch", "clash", "--base", "main", "--json"))
	assert.Equal(t, []any{"blocked", y.origin("clash"), y.origin("main"), "", "", nil}, []any{o["result"], o["head"], o["base"], o["tip"], o["landed"], o["tests"]})
	conflict := o["conflicts"].([]any)[0].(map[string]any)
	assert.Equal(t, []any{"greeting.txt", "content"}, []any{conflict["path"], conflict["kind"]})
	assert.Contains(t, conflict["hunks"], "=======")

	y.commit("bad", "main", "Bad", map[string]string{"greeting.txt": "bye\n"})
	o = object(t, y.merge("--branch", "bad", "--base", "main", "--json"))
	tests = o["tests"].(map[string]any)
	assert.Equal(t, []any{"blocked", "", "failed", 1.0}, []any{o["result"], o["landed"], tests["result"], tests["exit"]})
	assert.Len(t, o["tip"], 40, "what was tested")
}

// TestProgramsReadHowAMergeCameAbout: what was left out, what people should know, and how it was tested.
func TestProgramsReadHowAMergeCameAbout(t *testing.T) {
	t.Parallel()
	settings := func(text string) map[string]string {
		return map[string]string{".github/mergexo.toml": "[merge]\n" + text}
	}
	for name, tt := range map[string]struct {
		base  map[string]string
		tests []any // command, result, exit, why and output
	}{
		"no tests are wanted": {settings("tests = \"none\"\n"), []any{[]any{}, "none", 0.0, "", ""}},
		"tests are found": {
			map[string]string{".github/mergexo.toml": "", "Makefile": "test:\n\t@true\n"}, []any{[]any{"make", "test"}, "passed", 0.0, "detected from Makefile", ""},
		},
		"tests fail":        {settings("tests = [\"sh\", \"-c\", \"echo the end of it; exit 3\"]\n"), []any{[]any{"sh", "-c", "echo the end of it; exit 3"}, "failed", 3.0, "", "the end of it"}},
		"tests are missing": {settings("tests = [\"sh\", \"-c\", \"exit 127\"]\n"), []any{[]any{"sh", "-c", "exit 127"}, "failed", 127.0, "the command was not found", ""}},
		"tests do not end": {
			settings("test_timeout = \"100ms\"\ntests = [\"sleep\", \"100000\"]\n"), []any{[]any{"sleep", "100000"}, "failed", 0.0, "they timed out after 100ms", ""},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			y := newYard(t, tt.base)
			y.limits = name == "tests do not end"
			tests := object(t, y.merge("--branch", "fix", "--json"))["tests"].(map[string]any)
			assert.Equal(t, tt.tests, []any{tests["command"], tests["result"], tests["exit"], tests["why"], tests["output"]})
		})
	}
	y := newYard(t, nil)
	y.git(y.writer, "checkout", "-q", "main")
	y.git(y.writer, "cherry-pick", "fix~1")
	y.git(y.writer, "push", "-q", "origin", "main")
	y.commit("fix", "fix", "Publish", map[string]string{".github/workflows/publish.yml": "on: push\n"})
	o := object(t, y.merge("--branch", "fix", "--json"))
	require.Equal(t, "done", o["result"])
	left := o["left_out"].([]any)
	require.Len(t, left, 1)
	assert.Equal(t, []any{y.git(y.writer, "rev-parse", "fix~2"), "Exclaim"}, []any{left[0].(map[string]any)["sha"], left[0].(map[string]any)["subject"]})
	notes := fmt.Sprint(o["notes"])
	assert.Contains(t, notes, ".github/workflows/publish.yml")
	assert.Contains(t, notes, "is left out because the base already had its changes: Exclaim")
}

// TestAGitThatCannotBeStartedForNow: it is being replaced, and nobody has to mend anything.
func TestAGitThatCannotBeStartedForNow(t *testing.T) {
	t.Parallel()
	y := newYard(t, nil)
	bin := t.TempDir()
	f := must.Get(os.OpenFile(filepath.Join(bin, "git"), os.O_CREATE|os.O_WRONLY, 0o755))(t)
	require.NoError(t, must.Err(f.WriteString("#!/bin/sh\nPATH="+os.Getenv("PATH")+"\nexec git \"$@\"\n")))
	merge := func() ran {
		return program(t, y.env("PATH="+bin+":"+os.Getenv("PATH")), "merge", "--checkout", y.dir, "--branch", "fix", "--base", "main")
	}
	merge().fails(t, 75, "text file busy")
	require.NoError(t, f.Close())
	merge().ok(t)
}

// TestAShallowCloneStaysShallow: what a merge has to fetch is nothing that its person asked for.
func TestAShallowCloneStaysShallow(t *testing.T) {
	t.Parallel()
	for _, strategy := range []string{"rebase", "no-ff"} {
		y := newYard(t, nil)
		y.clone("clone", "-q", "--depth=1", "--no-single-branch", "file://"+y.bare)
		was := text(t, filepath.Join(y.dir, ".git", "shallow"))
		y.merge("--branch", "fix", "--base", "main", "--strategy", strategy).ok(t)
		assert.Equal(t, was, text(t, filepath.Join(y.dir, ".git", "shallow")))
		assert.Equal(t, "1", y.git(y.dir, "rev-list", "--count", "HEAD"))
		y.git(y.dir, "pull", "-q", "--ff-only")
		assert.Equal(t, y.origin("main"), y.here("HEAD"))
		y.git(y.dir, "fsck", "--connectivity-only")
	}
}

// TestAPersonsMachineIsLeftAsItIs: tests run in a tree of their own, and what installs things for the whole machine does not.
func TestAPersonsMachineIsLeftAsItIs(t *testing.T) {
	t.Parallel()
	y := newYard(t, map[string]string{
		".github/mergexo.toml": "[merge]\ntests_in = \"checkout\"\ntests = [\"sh\", \"-c\", \"test ! -e mine.txt\"]\n", "package-lock.json": "{}\n", "requirements.txt": "six\n",
	})
	require.NoError(t, os.WriteFile(filepath.Join(y.dir, "mine.txt"), []byte("mine\n"), 0o600))
	bin, log := t.TempDir(), filepath.Join(t.TempDir(), "log")
	for _, name := range []string{"npm", "python3"} {
		require.NoError(t, os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\necho "+name+" $1 >> "+log+"\n"), 0o755))
	}
	program(t, y.env("PATH="+bin+":"+os.Getenv("PATH")), "merge", "--checkout", y.dir, "--branch", "fix", "--strategy", "squash").ok(t)
	assert.Equal(t, "npm ci\n", text(t, log), "pip would install for everybody")
	assert.FileExists(t, filepath.Join(y.dir, "mine.txt"))
}

// effectOf is an effect that a report lists.
func effectOf(report map[string]any, at int) map[string]any {
	return report["effects"].([]any)[at].(map[string]any)
}
