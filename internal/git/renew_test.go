package git_test

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/model"
)

// tested is a merge whose tests are about to run: its parts lie in a workspace that they can write to.
type tested struct {
	*hub
	c          *git.Checkout
	temp, tree string
	merge      git.Merge
	made       git.Merged
	remove     func() error
}

func newTested(t *testing.T) *tested {
	t.Helper()
	h := newHub(t)
	x := &tested{hub: h}
	h.commit("main", "start", map[string]string{"f": numbers(20)})
	head := h.commit("agent/x", "work", map[string]string{"f": numbers(20, "20", "twenty"), "g": "g\n"})
	base := h.commit("main", "meanwhile", map[string]string{"f": numbers(20, "1", "one")})
	x.c = h.open(h.workspace("main"), func(o *git.Options) { x.temp = o.Temp })
	_, err := x.c.Meet(ctx, "main", "refs/heads/agent/x")
	require.NoError(t, err)
	x.merge = git.Merge{Strategy: model.StrategySquash, Base: base, Head: head, Title: "Work (#7)"}
	x.made, err = x.c.Build(ctx, x.merge)
	require.NoError(t, err)
	x.tree, x.remove, err = x.c.TestTree(ctx, x.made.Tip)
	require.NoError(t, err)
	return x
}

// found are the objects that a tree for tests leads to.
func (x *tested) found() string {
	return strings.TrimSpace(read(x.t, x.tree, ".git", "objects", "info", "alternates"))
}

// write puts a file among the objects in the place of what is there.
func (x *tested) write(name string, text []byte) {
	x.t.Helper()
	file := filepath.Join(x.found(), filepath.FromSlash(name))
	require.NoError(x.t, os.MkdirAll(filepath.Dir(file), 0o755))
	require.NoError(x.t, os.RemoveAll(file))
	require.NoError(x.t, os.WriteFile(file, text, 0o444))
}

func loose(id string) string { return id[:2] + "/" + id[2:] }

func deflated(text string) []byte {
	var raw bytes.Buffer
	to := zlib.NewWriter(&raw)
	_, _ = to.Write([]byte(text))
	_ = to.Close()
	return raw.Bytes()
}

// lie puts another content in the place of an object.
func (x *tested) lie(id, kind, content string) {
	x.write(loose(id), deflated(fmt.Sprintf("%s %d\x00%s", kind, len(content), content)))
}

// packedLie does so in a pack, whose index says that the object is there (https://git-scm.com/docs/gitformat-pack).
func (x *tested) packedLie(id string, kind byte, content string) {
	x.t.Helper()
	head := []byte{kind<<4 | byte(len(content)&15) | 1<<7, byte(len(content) >> 4)}
	require.Less(x.t, len(content), 1<<11)
	entry := append(head, deflated(content)...)
	pack := append([]byte("PACK\x00\x00\x00\x02\x00\x00\x00\x01"), entry...)
	sum := sha1.Sum(pack)
	name, err := hex.DecodeString(id)
	require.NoError(x.t, err)
	index := []byte("\xfftOc\x00\x00\x00\x02")
	for first := range 256 {
		there := byte(0)
		if first >= int(name[0]) {
			there = 1
		}
		index = append(index, 0, 0, 0, there)
	}
	index = append(binary.BigEndian.AppendUint32(append(index, name...), crc32.ChecksumIEEE(entry)), 0, 0, 0, 12)
	index = append(index, sum[:]...)
	end := sha1.Sum(index)
	x.write(loose(id), nil)
	require.NoError(x.t, os.Remove(filepath.Join(x.found(), filepath.FromSlash(loose(id)))))
	file := fmt.Sprintf("pack/pack-%x", sum)
	x.write(file+".pack", append(pack, sum[:]...))
	x.write(file+".idx", append(index, end[:]...))
}

// land publishes what was tested.
func (x *tested) land() error {
	x.t.Helper()
	require.NoError(x.t, x.c.Renew())
	require.NoError(x.t, x.remove())
	return x.c.Publish(ctx, git.Publish{Branch: "main", Start: x.merge.Base, SHA: x.made.Tip})
}

func TestWhatTestsWriteToOurGitDirectoryHasNoEffect(t *testing.T) {
	t.Parallel()
	x := newTested(t)
	run, traces := canary(t)
	ours, err := filepath.Glob(filepath.Join(x.temp, "mergexo-git-*"))
	require.NoError(t, err)
	require.Len(t, ours, 1)
	workspace := filepath.Join(x.c.Dir(), ".git")
	for _, dir := range append(ours, workspace) {
		for key, value := range map[string]string{
			"http.proxy": "http://127.0.0.1:1", "core.hooksPath": filepath.Join(dir, "hooks"), "credential.helper": "!" + run, "core.sshCommand": run, "core.fsmonitor": run,
			"url.http://127.0.0.1:1/.insteadOf": x.url, "remote.origin.pushurl": "http://127.0.0.1:1/", "push.gpgSign": "true", "gpg.program": run, "core.commitGraph": "true",
		} {
			x.git(x.temp, "config", "--file", filepath.Join(dir, "config"), key, value)
		}
		for _, hook := range []string{"pre-push", "reference-transaction"} {
			require.NoError(t, os.MkdirAll(filepath.Join(dir, "hooks"), 0o755))
			require.NoError(t, os.Symlink(run, filepath.Join(dir, "hooks", hook)))
		}
		for name, text := range map[string]string{
			"refs/replace/" + x.made.Tip: x.merge.Head, "info/grafts": x.merge.Base + "\n", "shallow": x.merge.Base + "\n", "info/attributes": "* merge=binary\n",
			"objects/info/alternates": x.temp + "\n",
		} {
			file := filepath.Join(dir, filepath.FromSlash(name))
			require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
			require.NoError(t, os.WriteFile(file, []byte(text+"\n"), 0o644))
		}
	}
	require.NoError(t, x.land())
	assert.Equal(t, x.made.Tip, x.tip("main"))
	assert.Empty(t, traces())
	assert.NoDirExists(t, ours[0])
	assert.NoFileExists(t, filepath.Join(workspace, "objects", "info", "alternates"))
	assert.NotContains(t, read(t, workspace, "config"), "proxy")

	// What is made afterwards is what would have been made before.
	again, err := x.c.Build(ctx, x.merge)
	require.NoError(t, err)
	assert.Equal(t, x.made.Tip, again.Tip)
}
