package scratch

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/must"
)

// dies gives the locks of a process back as the system does when it is killed.
func (s *Space) dies(t *testing.T) {
	t.Helper()
	for _, lock := range s.locks {
		require.NoError(t, lock.Close())
	}
}

func names(t *testing.T, dir string) (list []string) {
	t.Helper()
	entries := must.Get(os.ReadDir(dir))(t)
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

func made(t *testing.T, s *Space, temp, purpose string) string {
	t.Helper()
	return must.Get(s.Make(temp, purpose, nil))(t)
}

func TestWhatADeadProcessLeftIsRemovedAndNothingElse(t *testing.T) {
	t.Parallel()
	temp := filepath.Join(t.TempDir(), "t[e]mp*")
	kept := filepath.Join(t.TempDir(), "kept")
	require.NoError(t, os.Mkdir(temp, 0o755))
	require.NoError(t, os.Mkdir(kept, 0o755))
	var dead, live, next Space
	git, tests := made(t, &dead, temp, "git"), made(t, &dead, temp, "tests")
	mine := made(t, &live, temp, "tests")
	require.NoError(t, os.MkdirAll(filepath.Join(tests, "deep", "er"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(tests, "deep", "er", "file"), nil, 0o400))
	require.NoError(t, os.Chmod(filepath.Join(tests, "deep", "er"), 0o500))
	require.NoError(t, os.Symlink(kept, filepath.Join(git, "link")))
	require.NoError(t, os.Symlink(kept, git+"9"))
	unlocked := filepath.Join(temp, "mergexo-git-4711-1")
	require.NoError(t, os.Mkdir(unlocked, 0o755))
	bundle := filepath.Join(temp, "mergexo-kept-7-0123.bundle")
	require.NoError(t, os.WriteFile(bundle, nil, 0o600))

	assert.DirExists(t, git, "its maker lives")
	dead.dies(t)
	also := made(t, &next, temp, "git")
	assert.NoDirExists(t, git)
	assert.NoDirExists(t, tests)
	for _, stays := range []string{mine, also, kept, unlocked} {
		assert.DirExists(t, stays)
	}
	assert.FileExists(t, bundle)
	assert.FileExists(t, git+"9", "a link is no directory of ours")
	for _, s := range []*Space{&live, &next} {
		require.NoError(t, s.Close())
	}
	assert.Empty(t, must.Get(fs.Glob(os.DirFS(temp), lockName+"*"))(t))
}

func TestALockThatIsNoFileOfOursIsLeftAlone(t *testing.T) {
	t.Parallel()
	temp := t.TempDir()
	other := filepath.Join(t.TempDir(), "other")
	require.NoError(t, os.WriteFile(other, nil, 0o600))
	require.NoError(t, os.Symlink(other, filepath.Join(temp, lockName+"1")))
	require.NoError(t, os.Mkdir(filepath.Join(temp, lockName+"2"), 0o755))
	for _, dir := range []string{"mergexo-git-1-1", "mergexo-git-2-1"} {
		require.NoError(t, os.Mkdir(filepath.Join(temp, dir), 0o755))
	}
	was := names(t, temp)
	assert.Empty(t, sweep(temp))
	assert.Equal(t, was, names(t, temp))
}

func TestWithoutASpaceThereIsNoLock(t *testing.T) {
	t.Parallel()
	temp := t.TempDir()
	assert.Equal(t, []string{filepath.Base(made(t, nil, temp, "git"))}, names(t, temp))
	assert.ErrorIs(t, must.Err((&Space{}).Make(filepath.Join(temp, "gone"), "git", nil)), os.ErrNotExist)
}

func TestUnlockOpensDirectoriesAndFollowsNoLink(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	dir, outside := filepath.Join(top, "in"), filepath.Join(top, "outside")
	for _, d := range []string{filepath.Join(dir, "a", "b"), filepath.Join(dir, "a", ".git"), filepath.Join(dir, ".git", "c"), filepath.Join(outside, "d")} {
		require.NoError(t, os.MkdirAll(d, 0o755))
	}
	require.NoError(t, os.Symlink("../outside", filepath.Join(dir, "link")))
	closed := []string{filepath.Join(dir, "a", "b"), filepath.Join(dir, "a", ".git"), filepath.Join(dir, ".git", "c"), filepath.Join(outside, "d"), filepath.Join(dir, "a"), dir}
	for _, d := range closed {
		require.NoError(t, os.Chmod(d, 0o055))
	}
	t.Cleanup(func() { _ = RemoveAll(outside) })

	assert.True(t, must.Get(Unlock(dir, ".git"))(t))
	for _, d := range closed[:4] {
		want := os.FileMode(0o755)
		if strings.Contains(d, "in/.git") || strings.Contains(d, "outside") {
			want = 0o055
		}
		assert.Equal(t, want, must.Get(os.Lstat(d))(t).Mode().Perm(), d)
	}
	require.NoError(t, os.Chmod(filepath.Join(dir, ".git", "c"), 0o755))
	assert.False(t, must.Get(Unlock(dir, ""))(t), "all of it is open")
	assert.False(t, must.Get(Unlock(filepath.Join(dir, "link"), ""))(t), "a link is no directory")
	require.NoError(t, RemoveAll(dir))
	assert.NoDirExists(t, dir)
}
