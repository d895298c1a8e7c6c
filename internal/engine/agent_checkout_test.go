package engine_test

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
)

// Where the checkout is: in a workspace that is there again in the next run, damage and all, or in a clone of our own.
const (
	workspace = "workspace"
	ownClone  = "own clone"
)

// happens tells for each trouble what GitHub shows of it, and that the next run makes it good.
func happens(t *testing.T, place string, troubles []trouble) {
	t.Helper()
	t.Parallel()
	for _, c := range troubles {
		t.Run(c.how, func(t *testing.T) {
			w := newWorld(t)
			if place == workspace {
				w.clone()
			}
			files := w.neighbour()
			theirs := files()
			w.agent = c.how
			before := w.tip()
			ev := w.remark("alice", "Answer me.")
			c.result = model.ResultFailed
			if c.blocked != "" {
				c.result = model.ResultBlocked
			}
			w.shown(c, w.handle(ev), before)
			assert.Equal(t, theirs, files(), "somebody else's repository")
			w.recovers(ev, c.blocked != "")
			assert.Equal(t, theirs, files(), "somebody else's repository")
		})
	}
}

// neighbour is a repository beside the checkout, with a merge under way; files are all that it has.
func (w *world) neighbour() (files func() map[string]string) {
	w.t.Helper()
	dir := w.log + ".elsewhere"
	require.NoError(w.t, os.Mkdir(dir, 0o700))
	out, err := exec.CommandContext(w.t.Context(), "sh", "-ec", `cd "$0"; git init -q; git config user.name o; git config user.email o@example.com
		git commit -q --allow-empty -m Theirs; git branch side; git commit -q --allow-empty -m More
		git config alias.mine log; git config remote.origin.url "$1"`, dir, w.origin+"/"+repo.String()).CombinedOutput()
	require.NoError(w.t, err, "%s", out)
	require.NoError(w.t, os.WriteFile(filepath.Join(dir, ".git", "MERGE_HEAD"), []byte(strings.Repeat("1", 40)+"\n"), 0o600))
	return func() map[string]string {
		all := map[string]string{}
		require.NoError(w.t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			text, err := os.ReadFile(path)
			all[strings.TrimPrefix(path, dir)] = fmt.Sprintf("%x", sha256.Sum256(text))[:8]
			return err
		}))
		return all
	}
}

func TestADamagedConfigurationIsPutBack(t *testing.T) {
	w := newWorld(t)
	w.clone()
	was := contents(t, filepath.Join(w.workdir, ".git/config"))
	w.agent = "talk+the config is garbage"
	w.done(w.handle(w.remark("alice", "Answer me.")))
	w.settled(1, 1, 1)
	assert.Equal(t, string(was), string(contents(t, filepath.Join(w.workdir, ".git/config"))))
}

func TestAWorkspaceThatStaysDamagedIsGotOver(t *testing.T) {
	happens(t, workspace, []trouble{
		{how: "no trees", says: "tree"},
	})
}
