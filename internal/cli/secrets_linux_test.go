package cli_test

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/must"
)

// Also without a token there is something in our environment or memory: the variables that a workflow sets for other
// programs, among others. The user is one without privileges: from root nothing is kept.
func TestOurProcessIsShutWithoutAToken(t *testing.T) {
	dir := must.Get(os.MkdirTemp("/tmp", "mergexo-shut-"))(t)
	t.Cleanup(func() { assert.NoError(t, os.RemoveAll(dir)) })
	self := must.Get(os.Executable())(t)
	var who *syscall.Credential
	if os.Getuid() == 0 {
		who = &syscall.Credential{Uid: 23457, Gid: 23457}
		self = moved(t, self, dir)
		require.NoError(t, os.Chown(dir, 23457, 23457))
	}
	start := func(program string, args ...string) (*exec.Cmd, io.Reader) {
		cmd := exec.Command(program, args...)
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "MERGEXO_TEST_MAIN=1", "NPM_TOKEN=secret", "TMPDIR=" + dir}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: who}
		cmd.Dir, cmd.Stderr = "/", os.Stderr
		out := must.Get(cmd.StdoutPipe())(t)
		require.NoError(t, cmd.Start())
		return cmd, out
	}
	sandbox, out := start(self, "sandbox", "--listen", "127.0.0.1:0", "--state", filepath.Join(dir, "state"))
	line := must.Get(bufio.NewReader(out).ReadString('\n'))(t)
	require.Contains(t, line, "api_url")
	at := "/proc/" + strconv.Itoa(sandbox.Process.Pid)
	cat, out := start("/bin/sh", "-c", "cat "+at+"/environ "+at+"/maps 2>/dev/null; cat "+at+"/stat; tr '\\0' '\\n' < /proc/self/environ")
	seen := must.Get(io.ReadAll(out))(t)
	require.NoError(t, cat.Wait())
	assert.Regexp(t, `^\d+ \(cli.test\) S (.|\n)*\nNPM_TOKEN=secret\n`, string(seen), "nothing before the line that everybody can read")
	require.NoError(t, sandbox.Process.Signal(syscall.SIGTERM))
	_ = sandbox.Wait()
}

// moved is a copy of this program that every user can get to.
func moved(t *testing.T, program, dir string) string {
	t.Helper()
	at := filepath.Join(dir, "cli.test")
	require.NoError(t, os.WriteFile(at, []byte(text(t, program)), 0o755)) //nolint:gosec // a program
	return at
}
