//go:build agents

package agent_test

import (
	"bytes"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/must"
	"github.com/mergexo/mergexo/internal/sandbox/modelstub"
)

// public is what any process of the same user reads of those of a run, which are known by its directory.
func public(t *testing.T, temp string) (all []byte) {
	t.Helper()
	for _, file := range must.Get(filepath.Glob("/proc/[0-9]*/environ"))(t) {
		environ, err := os.ReadFile(file)
		if err != nil || !bytes.Contains(environ, []byte(temp)) {
			continue // it has ended, or is somebody else's
		}
		cmdline, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "cmdline"))
		all = slices.Concat(all, environ, cmdline)
	}
	return all
}

// written are all files below some directories, one behind the other.
func written(t *testing.T, dirs ...string) (all []byte) {
	t.Helper()
	for _, dir := range dirs {
		require.NoError(t, filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			if err == nil && entry.Type().IsRegular() {
				text, _ := os.ReadFile(path)
				all = append(all, text...)
			}
			return nil
		}))
	}
	return all
}

func TestTheRealKeyIsNowhereThatAnAgentCanLook(t *testing.T) {
	each(t, func(t *testing.T, r modelstub.Rig) {
		dir := checkout(t)
		s := modelstub.New(t)
		opt := rigged(t, r, s)
		opt.Sessions = t.TempDir()
		var log, events bytes.Buffer
		opt.Log, opt.Events = &log, slog.New(slog.NewTextHandler(&events, nil))
		var seen, files []byte
		look := func() { seen, files = public(t, opt.Temp), written(t, opt.Temp, opt.Sessions, dir) }
		s.Play(r.Run("true"), r.Done(greeted).After(look)) // the stub answers only those who have the key
		_ = must.Get(ask(t, opt, dir, feedback("please")))(t)

		placeholder := regexp.MustCompile(`API_KEY=(mergexo-[A-Z2-7]{26})\x00`).FindSubmatch(seen)
		require.NotNil(t, placeholder, "the program's own environment was looked at")
		assert.Contains(t, string(files), "please", "and so were its files")
		for place, text := range map[string][]byte{
			"processes": seen, "files": slices.Concat(files, written(t, opt.Temp, opt.Sessions, dir)), "log": log.Bytes(), "events": events.Bytes(),
		} {
			assert.NotContains(t, string(text), modelstub.Key, place)
		}
		assert.Empty(t, events.String(), "nothing that these programs ask for is refused")
	})
}

func TestAProgramGetsToItsModelWhereTheMachineHasAProxy(t *testing.T) {
	each(t, func(t *testing.T, r modelstub.Rig) {
		opt := rigged(t, r, modelstub.New(t, r.Done(greeted)))
		for _, name := range []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY"} {
			opt.Env = append(opt.Env, name+"=http://127.0.0.1:1")
		}
		opt.Env = append(opt.Env, "NO_PROXY=example.com")
		assert.NoError(t, must.Err(ask(t, opt, checkout(t), feedback("please"))))
	})
}

func TestATokenForAGatewayIsKeptToo(t *testing.T) {
	t.Parallel()
	r := modelstub.Claude()
	s := modelstub.New(t, r.Done(greeted))
	opt := rigged(t, r, s)
	opt.Access = append(opt.Access, "ANTHROPIC_AUTH_TOKEN=token-of-a-gateway")
	_ = must.Get(ask(t, opt, checkout(t), feedback("please")))(t)
}
