package isolate_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/agent/isolate"
	"github.com/mergexo/mergexo/internal/must"
)

// them is the agent's user: another one where we may give files away, else ourselves, so that only the modes change.
func them() int {
	if os.Getuid() == 0 {
		return 23456
	}
	return os.Getuid()
}

func way(back bool) isolate.Owners {
	there := isolate.Owners{From: os.Getuid(), To: them(), FromGroup: os.Getgid(), ToGroup: os.Getgid()}
	if back {
		there.From, there.To, there.Back = there.To, there.From, true
	}
	return there
}

func owner(t *testing.T, path string) int {
	t.Helper()
	return int(must.Get(os.Lstat(path))(t).Sys().(*syscall.Stat_t).Uid)
}

func TestOwnedPathsGoThereAndBack(t *testing.T) {
	top := t.TempDir()
	dir := filepath.Join(top, "a")
	deep := filepath.Join(dir, strings.Repeat("d/", 100))
	require.NoError(t, os.MkdirAll(deep, 0o755))
	for _, file := range []string{top + "/outside", deep + "/file", dir + "/evil", dir + "/executable"} {
		require.NoError(t, os.WriteFile(file, nil, 0o600))
	}
	require.NoError(t, os.Symlink(top, dir+"/up"))
	require.NoError(t, os.Symlink(top+"/outside", dir+"/link"))
	require.NoError(t, os.Link(top+"/outside", dir+"/shared"))
	require.NoError(t, os.Chmod(dir+"/executable", 0o711))

	var shared []isolate.File
	for range 2 { // the second time there is nothing to do
		shared = must.Get(isolate.Chown(way(false), []string{dir}))(t)
		require.Len(t, shared, 1)
		for _, path := range []string{dir, deep, deep + "/file", dir + "/up", dir + "/link"} {
			assert.Equal(t, them(), owner(t, path), path)
		}
		for _, path := range []string{top, top + "/outside"} {
			assert.Equal(t, os.Getuid(), owner(t, path), path)
		}
	}

	require.NoError(t, os.Chmod(dir+"/evil", 0o777|os.ModeSetuid|os.ModeSetgid))
	require.NoError(t, os.Chmod(deep+"/file", 0))
	require.NoError(t, os.Chmod(deep, os.ModeSticky))
	for range 2 {
		back := way(true)
		back.Shared = shared
		require.NoError(t, must.Err(isolate.Chown(back, []string{dir})))
		for path, mode := range map[string]os.FileMode{dir + "/evil": 0o755, deep + "/file": 0o600, deep: 0o700, dir + "/executable": 0o711} {
			assert.Equal(t, mode, must.Get(os.Stat(path))(t).Mode()&^os.ModeDir, path)
			assert.Equal(t, os.Getuid(), owner(t, path), path)
		}
		assert.FileExists(t, dir+"/shared", "it was there before")
	}
}

// Where fs.protected_hardlinks is 0 an agent can take a name in the checkout for a file that it cannot read, so that we
// would push it.
func TestANameForSomebodysFileIsRemoved(t *testing.T) {
	top := t.TempDir()
	dir := filepath.Join(top, "checkout")
	require.NoError(t, os.Mkdir(dir, 0o755))
	require.NoError(t, os.WriteFile(top+"/secret", []byte("key"), 0o600))
	require.NoError(t, os.Link(top+"/secret", dir+"/readme"))
	back := isolate.Owners{From: os.Getuid() + 1, To: os.Getuid(), Back: true, Unknown: true}
	require.NoError(t, must.Err(isolate.Chown(back, []string{dir})))
	assert.FileExists(t, dir+"/readme", "it may have been there before: whoever knew is dead")
	back.Unknown = false
	require.NoError(t, must.Err(isolate.Chown(back, []string{dir})))
	assert.NoFileExists(t, dir+"/readme")
	assert.FileExists(t, top+"/secret")

	theirs := isolate.Owners{From: os.Getuid(), To: os.Getuid(), Back: true}
	require.NoError(t, os.Link(top+"/secret", dir+"/own"))
	require.NoError(t, must.Err(isolate.Chown(theirs, []string{dir})))
	assert.FileExists(t, dir+"/own", "two names of a file of the agent's own")
}

func TestOwnedPathsThatAreNotThere(t *testing.T) {
	require.NoError(t, must.Err(isolate.Chown(way(false), []string{filepath.Join(t.TempDir(), "none")})), "nothing to give")
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	assert.EqualError(t, must.Err(isolate.Chown(way(false), []string{file})), "change the owner of "+file+": not a directory")
}

func TestAnotherFileSystemIsNotGivenAway(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(dir+"/mounted", 0o755))
	if err := syscall.Mount("tmpfs", dir+"/mounted", "tmpfs", 0, ""); err != nil {
		require.ErrorIs(t, err, syscall.EPERM, "where nobody may mount, nobody has mounted in a checkout")
		return
	}
	defer func() { assert.NoError(t, syscall.Unmount(dir+"/mounted", 0)) }()
	require.NoError(t, must.Err(isolate.Chown(way(false), []string{dir})))
	assert.Equal(t, them(), owner(t, dir))
	assert.Equal(t, os.Getuid(), owner(t, dir+"/mounted"))
}
