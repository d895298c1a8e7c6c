package internal_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/must"
)

// step is a place where a step of the action can run: a copy of its scripts, a runner's directories, a server of releases.
type step struct {
	t       *testing.T
	scripts string
	temp    string
	output  string
	server  *httptest.Server
	assets  map[string]string // path -> content
	bin     string            // first in PATH
	asked   atomic.Int32
}

func newStep(t *testing.T) *step {
	t.Helper()
	s := &step{t: t, scripts: t.TempDir(), temp: t.TempDir(), assets: map[string]string{}, bin: t.TempDir()}
	s.gh("exit 1\n") // as one that knows no attestations
	s.output = filepath.Join(s.temp, "output")
	require.NoError(t, os.CopyFS(s.scripts, os.DirFS("../scripts/action")))
	s.pin()
	s.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.asked.Add(1)
		assert.Empty(t, r.Header.Get("Authorization"), "no token goes to a download")
		body, ok := s.assets[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		assert.NoError(t, must.Err(w.Write([]byte(body))))
	}))
	t.Cleanup(s.server.Close)
	s.github(s.server)
	return s
}

// gh puts a stand-in for GitHub's command line before all others.
func (s *step) gh(script string) {
	s.t.Helper()
	require.NoError(s.t, os.WriteFile(filepath.Join(s.bin, "gh"), []byte("#!/bin/sh\n"+script), 0o755))
}

// github has the first step find another server where it looks for github.com, so that no test leaves this machine.
func (s *step) github(server *httptest.Server) {
	s.t.Helper()
	text := must.Get(os.ReadFile("../scripts/action/fetch"))(s.t)
	text = bytes.ReplaceAll(text, []byte("https://github.com"), []byte(server.URL))
	require.NoError(s.t, os.WriteFile(filepath.Join(s.scripts, "fetch"), text, 0o644))
}

// pin writes the checksums that the action's source holds.
func (s *step) pin(lines ...string) {
	s.t.Helper()
	text := "# comment\n" + strings.Join(append(lines, ""), "\n")
	require.NoError(s.t, os.WriteFile(filepath.Join(s.scripts, "checksums.txt"), []byte(text), 0o644))
}

// fetch runs the first step and gives its outputs and what it printed.
func (s *step) fetch(env ...string) (map[string]string, string, error) {
	s.t.Helper()
	require.NoError(s.t, os.WriteFile(s.output, nil, 0o644))
	cmd := exec.Command("bash", filepath.Join(s.scripts, "fetch"))
	cmd.Env = append(append(os.Environ(), "PATH="+s.bin+":"+os.Getenv("PATH"), "GITHUB_OUTPUT="+s.output, "RUNNER_TEMP="+s.temp, "GITHUB_SERVER_URL="+s.server.URL,
		"MERGEXO_REPOSITORY=org/mergexo", "MERGEXO_VERSION="), env...)
	out, runErr := cmd.CombinedOutput()
	written := must.Get(os.ReadFile(s.output))(s.t)
	outputs := map[string]string{}
	for l := range strings.Lines(string(written)) {
		name, value, _ := strings.Cut(strings.TrimSuffix(l, "\n"), "=")
		outputs[name] = value
	}
	return outputs, string(out), runErr
}

func asset(version string) string {
	return fmt.Sprintf("mergexo_%s_%s_%s", version, runtime.GOOS, runtime.GOARCH)
}

// packed is a program as it is published.
func packed(t *testing.T, content string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	require.NoError(t, must.Err(w.Write([]byte(content))))
	require.NoError(t, w.Close())
	return b.String()
}

func sum(content string) string {
	s := sha256.Sum256([]byte(content))
	return hex.EncodeToString(s[:])
}

const program = "#!/bin/sh\necho pinned\n"

func TestTheActionBuildsWhatItCannotHave(t *testing.T) {
	s := newStep(t)
	type row struct {
		pins []string
		env  []string
		why  string
	}
	must.Each(t, map[string]row{
		"nothing pinned": {nil, nil, "no release is pinned"},
		"not published":  {[]string{sum(program) + "  " + asset("v1.2.0")}, nil, "could not be downloaded"},
		"asked for":      {[]string{sum(program) + "  " + asset("v1.2.0")}, []string{"MERGEXO_VERSION=source"}, "version: source"},
	}, func(t *testing.T, c row) {
		s.pin(c.pins...)
		outputs, out, err := s.fetch(c.env...)
		require.NoError(t, err, out)
		assert.Contains(t, out, "building from source: ")
		assert.Contains(t, out, c.why)
		assert.Equal(t, "true", outputs["build"])
		assert.Equal(t, filepath.Join(s.temp, "mergexo-action", "mergexo_source"), outputs["path"])
		assert.NotContains(t, outputs, "go", "Go is here")
	})
}

// actions/setup-go 6 and later export GOTOOLCHAIN=local, with which an older Go refuses this source instead of fetching the one that
// go.mod asks for. A toolchain that was chosen by name stays, as the release chooses one.
//
// https://github.com/actions/setup-go/releases/tag/v6.0.0
func TestTheActionBuildsWhereGoMayNotFetchAToolchain(t *testing.T) {
	type row struct{ env, file, want string }
	must.Each(t, map[string]row{
		"by setup-go":    {"local", "auto", "auto"},
		"by go env -w":   {"", "local", "auto"},
		"chosen by name": {"go1.26.8", "auto", "go1.26.8"},
		"as it comes":    {"", "auto", ""},
	}, func(t *testing.T, c row) {
		s := newStep(t)
		fake := t.TempDir()
		script := "#!/bin/sh\nif [ \"$1\" = env ]; then echo \"${GOTOOLCHAIN:-" + c.file + "}\"; exit; fi\necho \"toolchain:$GOTOOLCHAIN\"\n"
		require.NoError(t, os.WriteFile(filepath.Join(fake, "go"), []byte(script), 0o755))
		cmd := exec.Command("bash", filepath.Join(s.scripts, "build"), filepath.Join(s.temp, "built"))
		cmd.Env = append(os.Environ(), "GOTOOLCHAIN="+c.env, "PATH="+fake+":"+os.Getenv("PATH"))
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
		assert.Equal(t, "toolchain:"+c.want+"\n", string(out))
	})
}

func TestTheActionSetsUpGoWhereThereIsNone(t *testing.T) {
	s := newStep(t)
	old := t.TempDir() // Go before 1.21 knows no GOTOOLCHAIN and prints nothing
	require.NoError(t, os.WriteFile(filepath.Join(old, "go"), []byte("#!/bin/sh\n"), 0o755))
	outputs, out, err := s.fetch("PATH=" + old + ":" + os.Getenv("PATH"))
	require.NoError(t, err, out)
	assert.Equal(t, "missing", outputs["go"])
}

func TestTheActionKnowsOnlyVersionsThatItPins(t *testing.T) {
	s := newStep(t)
	s.pin(sum(program) + "  " + asset("v1.2.0"))
	for _, version := range []string{"v1.2.1", "latest", "v1.2.0_x/../../y", "$(id)", ".*"} {
		_, out, err := s.fetch("MERGEXO_VERSION=" + version)
		require.Error(t, err)
		assert.Contains(t, out, "mergexo: version: "+version+" is not one that this action pins")
	}
	assert.Zero(t, s.asked.Load())
}

// A cancelled step's signal goes to its entry process alone, so the program has to be that process.
//
// https://docs.github.com/en/actions/how-tos/write-workflows/choose-when-workflows-run/cancel-a-workflow-run
func TestTheActionsLastStepBecomesTheProgram(t *testing.T) {
	dir := t.TempDir()
	binary := filepath.Join(dir, "mergexo")
	require.NoError(t, os.WriteFile(binary, []byte("#!/bin/sh\ntrap 'echo got it; exit 75' TERM\nfor a in \"$@\"; do echo \"<$a>\"; done\necho \"pid $$\"\nwhile :; do read -r _ || :; done\n"), 0o755))
	scripts := must.Get(filepath.Abs(".."))(t)
	action := must.Get(os.ReadFile("../action.yml"))(t)
	line := string(action[bytes.LastIndex(action, []byte("run: "))+len("run: "):])
	entry := filepath.Join(dir, "entry.sh")
	require.NoError(t, os.WriteFile(entry, []byte(line), 0o644))

	cmd := exec.Command("bash", "--noprofile", "--norc", "-eo", "pipefail", entry)
	cmd.Env = append(os.Environ(), "GITHUB_ACTION_PATH="+scripts, "MERGEXO_BINARY="+binary, "MERGEXO_COMMAND=sweep --matrix $(id) ;x `y`", "MERGEXO_BUNDLE=/a b/$(id)")
	stdin := must.Get(cmd.StdinPipe())(t)
	stdout := must.Get(cmd.StdoutPipe())(t)
	require.NoError(t, cmd.Start())
	var seen strings.Builder
	buf := make([]byte, 1024)
	for !strings.Contains(seen.String(), "pid ") {
		n := must.Get(stdout.Read(buf))(t)
		seen.Write(buf[:n])
	}
	assert.Equal(t, fmt.Sprintf("<sweep>\n<--matrix>\n<$(id)>\n<;x>\n<`y`>\n<--bundle>\n</a b/$(id)>\npid %d\n", cmd.Process.Pid), seen.String())
	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	// End of input wakes a shell that waits in read; one that the signal has woken already may be gone, and writing to it would fail.
	require.NoError(t, stdin.Close())
	_ = cmd.Wait()
	assert.Equal(t, 75, cmd.ProcessState.ExitCode())
}

// A block in YAML ("command: |") has line breaks, which separate words as spaces do. Without a word there is nothing to run.
func TestTheActionsCommandMayHaveLines(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "mergexo")
	require.NoError(t, os.WriteFile(binary, []byte("#!/bin/sh\nfor a in \"$@\"; do echo \"<$a>\"; done\n"), 0o755))
	const none = "mergexo: command: want a mergexo command such as run, got nothing: set the action's input command, or leave it out\n"
	for command, want := range map[string]string{
		"sweep\n--only 7\n":       "<sweep>\n<--only>\n<7>\n<--bundle>\n</a b>\n",
		"\n  run\r\n\t--json *  ": "<run>\n<--json>\n<*>\n<--bundle>\n</a b>\n",
		"":                        none,
		" \n\t\r\n":               none,
	} {
		t.Run(command, func(t *testing.T) {
			cmd := exec.Command("bash", "../scripts/action/run")
			cmd.Env = append(os.Environ(), "MERGEXO_BINARY="+binary, "MERGEXO_COMMAND="+command, "MERGEXO_BUNDLE=/a b")
			out, err := cmd.CombinedOutput()
			assert.Equal(t, want, string(out))
			if want == none {
				assert.Equal(t, 2, cmd.ProcessState.ExitCode())
			} else {
				assert.NoError(t, err)
			}
		})
	}
}
