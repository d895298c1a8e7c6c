package agent_test

import (
	"fmt"
	"os"
	"path/filepath"

	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/agent"
	"github.com/mergexo/mergexo/internal/must"
)

func init() {
	ways["write"] = func(path string) error { return os.WriteFile(path, []byte("planted"), 0o644) } //nolint:gosec // that is the point
}

// writable is what GitHub's hosted image has in /usr/share and /opt: directories in which everybody can write, with programs that
// the next steps run and services that root starts when somebody asks for them by a socket. Beside it are the ways to plant something
// there, and to the socket.
func writable(t *testing.T) (dir string, attacks []string) {
	t.Helper()
	dir = must.Get(os.MkdirTemp("/opt", "mergexo-test-"))(t)
	t.Cleanup(func() { assert.NoError(t, os.RemoveAll(dir)) })
	for _, one := range []string{"", "bin", "dbus-1", "dbus-1/system-services"} {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, one), 0o777))
		require.NoError(t, os.Chmod(filepath.Join(dir, one), 0o777)) //nolint:gosec // as the image has it
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "bin", "node"), []byte("the real one"), 0o777)) //nolint:gosec // as the image has it
	require.NoError(t, os.Chmod(filepath.Join(dir, "bin", "node"), 0o777))                             //nolint:gosec // as the image has it
	bus := listening(t, "unix", filepath.Join(dir, "bus"))
	require.NoError(t, os.Chmod(filepath.Join(dir, "bus"), 0o777)) //nolint:gosec // as a service has it
	return dir, []string{"write!" + dir + "/bin/git", "write!" + dir + "/bin/node", "write!" + dir + "/dbus-1/system-services/x.service", bus, service(t)}
}

// listed are the files of a directory, and what one of them has.
func listed(t *testing.T, dir string) string {
	t.Helper()
	var all []string
	require.NoError(t, filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		all = append(all, strings.TrimPrefix(path, dir))
		return err
	}))
	return fmt.Sprintf("%s %s", all, contents(t, filepath.Join(dir, "bin", "node")))
}

func TestForeignCodePlantsNothingOnAMachineThatEverybodyCanWriteTo(t *testing.T) {
	if !rooted(t) {
		return
	}
	dir, attacks := writable(t)
	before := listed(t, dir)
	for how, m := range probing(t) {
		t.Run(how, func(t *testing.T) {
			m.t = t
			own := []string{"write!work", "write!" + m.opt.Temp + "/user-tmp/x"}
			left := fmt.Sprintf("left-%d-%s", os.Getpid(), strings.NewReplacer(" ", "-", ",", "").Replace(how))
			for _, shared := range []string{"/tmp/", "/var/tmp/", "/dev/shm/"} {
				own = append(own, "write!"+shared+left)
			}
			said := m.runArgv(append([]string{"probe"}, append(attacks, own...)...)...)
			require.Empty(t, said.Error, said.Log)
			for _, way := range attacks {
				assert.Contains(t, said.Log, "shut: "+way, "at level %s", said.Level)
			}
			for _, way := range own {
				assert.Contains(t, said.Log, "open: "+way+"\n", said.Log)
			}
			assert.Equal(t, before, listed(t, dir))
			for _, shared := range []string{"/tmp/", "/var/tmp/", "/dev/shm/"} {
				assert.NoFileExists(t, shared+left, "the next user that gets the same number finds nothing")
			}
		})
	}
}

// Root in a container may be without the right to mount. Then foreign code can write what everybody can, and the level says so.
func TestRootThatMayNotMountSaysSo(t *testing.T) {
	if !rooted(t) {
		return
	}
	dir, attacks := writable(t)
	m := probing(t)["a user of the settings"]
	m.t = t
	for _, user := range []string{m.want.User, ""} {
		m.want.User = user
		argv := append([]string{"probe"}, attacks...)
		cmd, out := play(t, m.isolator, job{Options: m.opt, Isolate: &m.want, Dir: m.dir, Argv: argv}, m.cred)
		cmd.Args = append([]string{"setpriv", "--bounding-set", "-sys_admin", cmd.Path}, cmd.Args[1:]...)
		cmd.Path = "/usr/bin/setpriv"
		require.NoError(t, cmd.Run())
		said := answered(t, out)
		require.Empty(t, said.Error)
		assert.Regexp(t, "no mounts: .*make a file system of its own: operation not permitted", said.Why)
		if user == "" { // namespaces need no right
			assert.Equal(t, agent.LevelNamespace, said.Level)
			assert.NotContains(t, said.Log, "open: ")
			continue
		}
		assert.Equal(t, agent.LevelAccount, said.Level)
		for _, way := range attacks {
			assert.Contains(t, said.Log, "open: "+way+"\n", "what the view is for")
		}
		require.NoError(t, os.WriteFile(filepath.Join(dir, "bin", "node"), []byte("the real one"), 0o777)) //nolint:gosec // as the image has it
	}
}

// A package manager puts links to the programs of its packages into a directory of PATH. Their packages are there, and nothing else.
func TestForeignCodeHasThePackagesThatLinksLeadTo(t *testing.T) {
	if !rooted(t) {
		return
	}
	for how, m := range probing(t) {
		t.Run(how, func(t *testing.T) {
			m.t = t
			hidden := filepath.Dir(m.opt.Temp) // at every level, and wherever temporary directories are
			links, store, home := filepath.Join(hidden, "links"), filepath.Join(hidden, "node_modules", "package"), filepath.Join(hidden, "home")
			for _, dir := range []string{links, filepath.Join(store, "bin"), filepath.Join(home, "bin")} {
				require.NoError(t, os.MkdirAll(dir, 0o755)) //nolint:gosec // for everybody
			}
			packaged, running := filepath.Join(store, "bin", "packaged"), filepath.Join(home, "bin", "running")
			for file, text := range map[string]string{
				packaged: "cat " + store + "/data", filepath.Join(store, "data"): "its own data",
				running: "#!/bin/sh\ncat " + home + "/credentials && echo", filepath.Join(home, "credentials"): "a secret",
			} {
				require.NoError(t, os.WriteFile(file, []byte(text+"\n"), 0o755)) //nolint:gosec // for everybody
			}
			for _, program := range []string{packaged, running} {
				require.NoError(t, os.Symlink(program, filepath.Join(links, filepath.Base(program))))
			}
			m.opt.Env = []string{"PATH=" + links + ":" + m.want.Path}
			said := m.run("sh " + links + "/packaged; running || echo there it is")
			require.Empty(t, said.Error, said.Log)
			assert.Contains(t, said.Log, "its own data\n")
			assert.Contains(t, said.Log, "there it is\n", "the program is there")
			assert.NotContains(t, said.Log, "a secret", "at level %s", said.Level)
		})
	}
}
