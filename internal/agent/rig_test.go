package agent_test

import (
	"context"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/agent"
	"github.com/mergexo/mergexo/internal/model"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares text that people read with the file of that name.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(got+"\n"), 0o600))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, string(want), got+"\n")
}

// programs is where the real programs are: `scripts/tools codex claude` puts them there.
func programs(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../../.cache/tools")
	require.NoError(t, err)
	for _, name := range []string{"codex", "claude"} {
		_, err := os.Stat(filepath.Join(dir, name))
		require.NoError(t, err, "%s is not installed: run scripts/tools codex claude", name)
	}
	return dir
}

// rig is what differs between the two programs for somebody who plays their model.
type rig struct {
	adapter string
	key     string // the variable for the key
	base    func(url string) string
	quick   func(*agent.Options) // no further tries after an error
	edit    func(file, from, to string) []answer
	run     func(command string) answer
	done    func(outcome string) answer // the last word, as the program takes structured output
}

var codex = rig{
	adapter: "codex", key: "OPENAI_API_KEY",
	base: func(url string) string { return "OPENAI_BASE_URL=" + url + "/v1" },
	quick: func(o *agent.Options) {
		o.ExtraArgs = append(o.ExtraArgs, "-c", "model_providers.mergexo.request_max_retries=0", "-c", "model_providers.mergexo.stream_max_retries=0")
	},
	edit: func(file, from, to string) []answer {
		patch := "*** Begin Patch\n*** Update File: " + file + "\n@@\n-" + from + "\n+" + to + "\n*** End Patch\n"
		return []answer{call("exec", "text(await tools.apply_patch("+quote(patch)+"));")}
	},
	run: func(command string) answer {
		return call("exec", "text(await tools.exec_command({cmd: "+quote(command)+"}));")
	},
	done: say,
}

var claude = rig{
	adapter: "claude", key: "ANTHROPIC_API_KEY",
	base:  func(url string) string { return "ANTHROPIC_BASE_URL=" + url },
	quick: func(o *agent.Options) { o.Env = append(o.Env, "CLAUDE_CODE_MAX_RETRIES=0") },
	edit: func(file, from, to string) []answer {
		return []answer{
			call("Read", map[string]any{"file_path": file}),
			call("Edit", map[string]any{"file_path": file, "old_string": from, "new_string": to}),
		}
	},
	run:  func(command string) answer { return call("Bash", map[string]any{"command": command}) },
	done: func(outcome string) answer { return call("StructuredOutput", json.RawMessage(outcome)) },
}

func quote(text string) string {
	quoted, _ := json.Marshal(text)
	return string(quoted)
}

// each tells a story once with each of the programs, at the same time.
func each(t *testing.T, story func(t *testing.T, r rig)) {
	t.Helper()
	t.Parallel()
	for _, r := range []rig{codex, claude} {
		t.Run(r.adapter, func(t *testing.T) {
			t.Parallel()
			story(t, r)
		})
	}
}

// options are what the engine gives an adapter whose model is the stub.
func (r rig) options(t *testing.T, s *stub) agent.Options {
	t.Helper()
	world := map[string]string{
		"PATH": programs(t) + ":" + os.Getenv("PATH"), "HOME": "/nonexistent", "LANG": "C.UTF-8", r.key: stubKey,
		"GITHUB_TOKEN": "ghs_leak", "GH_TOKEN": "ghs_leak", "INPUT_TOKEN": "ghs_leak", "MERGEXO_SIGNING_KEY": "leak", "ACTIONS_RUNTIME_TOKEN": "leak", "NPM_TOKEN": "leak",
	}
	if s != nil {
		name, url, _ := strings.Cut(r.base(s.URL), "=")
		world[name] = url
	}
	lookup := func(name string) (string, bool) { v, ok := world[name]; return v, ok }
	opt := agent.Options{
		Adapter: r.adapter, Env: agent.Environment(lookup, agent.Needs(r.adapter), []string{"GIT_CONFIG_GLOBAL=/dev/null"}),
		Temp: t.TempDir(), Timeout: time.Minute, Grace: time.Second,
	}
	r.quick(&opt)
	return opt
}

// checkout is a repository with one file.
func checkout(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "greet.txt"), []byte("hello\n"), 0o644))
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"-c", "user.name=o", "-c", "user.email=o@example.com", "commit", "-qm", "Greet"}} {
		out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	return dir
}

func ask(t *testing.T, opt agent.Options, dir string, req model.Request) (model.Outcome, error) {
	t.Helper()
	a, err := agent.New(opt)
	require.NoError(t, err)
	return a.Run(context.Background(), dir, req)
}

// feedback is a request as the engine makes it, as far as these programs see it.
func feedback(prompt string) model.Request {
	return model.Request{Version: 1, Kind: "feedback", Prompt: prompt, Feedback: []model.Feedback{{ID: 12, Kind: model.KindReview, Body: prompt}}}
}

// wrapped puts a shell script in front of a program.
func wrapped(t *testing.T, opt agent.Options, name, script string) agent.Options {
	t.Helper()
	dir := t.TempDir()
	script = "#!/bin/sh\n" + script + "\nexec " + filepath.Join(programs(t), name) + ` "$@"` + "\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(script), 0o755))
	for i, entry := range opt.Env {
		if path, ok := strings.CutPrefix(entry, "PATH="); ok {
			opt.Env[i] = "PATH=" + dir + ":" + path
		}
	}
	return opt
}

// steady is an error without what changes from run to run.
func steady(err error, s *stub) string {
	text := err.Error()
	if s != nil {
		text = strings.ReplaceAll(text, strings.TrimPrefix(s.URL, "http://"), "HOST")
	}
	return regexp.MustCompile(`msg_call_\d+`).ReplaceAllString(text, "MESSAGE")
}
