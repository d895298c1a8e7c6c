package agent_test

import (
	"context"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/agent"
	"github.com/mergexo/mergexo/internal/clock/clocktest"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
	"github.com/mergexo/mergexo/internal/sandbox/modelstub"
)

// each tells a story once with each of the programs, at the same time.
func each(t *testing.T, story func(t *testing.T, r modelstub.Rig)) {
	t.Helper()
	t.Parallel()
	for _, r := range modelstub.Rigs() {
		t.Run(r.Adapter, func(t *testing.T) {
			t.Parallel()
			story(t, r)
		})
	}
}

// rigged are the options that the engine gives to an adapter whose model is the stub.
func rigged(t *testing.T, r modelstub.Rig, s *modelstub.Stub) agent.Options {
	t.Helper()
	world := map[string]string{
		"PATH": modelstub.Programs(t) + ":" + os.Getenv("PATH"), "HOME": "/nonexistent", "LANG": "C.UTF-8", r.KeyName: modelstub.Key,
		"GITHUB_TOKEN": "ghs_leak", "GH_TOKEN": "ghs_leak", "INPUT_TOKEN": "ghs_leak", "MERGEXO_SIGNING_KEY": "leak", "ACTIONS_RUNTIME_TOKEN": "leak", "NPM_TOKEN": "leak",
	}
	if s != nil {
		maps.Copy(world, r.Point(s.URL))
	}
	lookup := func(name string) (string, bool) { v, ok := world[name]; return v, ok }
	pass := slices.Collect(maps.Keys(r.Variables))
	return agent.Options{
		Adapter: r.Adapter, ExtraArgs: r.Args, Env: agent.Environment(lookup, pass, []string{"GIT_CONFIG_GLOBAL=/dev/null"}),
		Access: agent.Access(lookup, r.Adapter),
		Temp:   t.TempDir(), Clock: clocktest.Unlimited(),
	}
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
	return must.Get(agent.New(opt))(t).Run(context.Background(), dir, req)
}

// feedback is a request as the engine makes it, as far as these programs see it.
func feedback(prompt string) model.Request {
	return model.Request{Version: 1, Kind: "feedback", Prompt: prompt, Feedback: []model.Feedback{{ID: 12, Kind: model.KindReview, Body: prompt}}}
}

// wrapped puts a shell script in front of a program.
func wrapped(t *testing.T, opt agent.Options, name, script string) agent.Options {
	t.Helper()
	dir := t.TempDir()
	script = "#!/bin/sh\n" + script + "\nexec " + filepath.Join(modelstub.Programs(t), name) + ` "$@"` + "\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(script), 0o755))
	for i, entry := range opt.Env {
		if path, ok := strings.CutPrefix(entry, "PATH="); ok {
			opt.Env[i] = "PATH=" + dir + ":" + path
		}
	}
	return opt
}

// steady is an error without what changes from run to run.
func steady(err error, s *modelstub.Stub) string {
	text := err.Error()
	if s != nil {
		text = strings.ReplaceAll(text, strings.TrimPrefix(s.URL, "http://"), "HOST")
	}
	return regexp.MustCompile(`msg_call_\d+`).ReplaceAllString(text, "MESSAGE")
}

// contents is what a file holds.
func contents(t testing.TB, path string) []byte {
	t.Helper()
	return must.Get(os.ReadFile(path))(t)
}
