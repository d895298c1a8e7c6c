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
	"github.com/mergexo/mergexo/internal/git/checkout"
	"github.com/mergexo/mergexo/internal/git/gittest"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/git/merging"
	"github.com/mergexo/mergexo/internal/git/transport"
	"github.com/mergexo/mergexo/internal/model"
)

// tested is a merge whose tests are about to run: its parts lie in a workspace that they can write to.
type tested struct {
	*gittest.Hub
	c          *git.Checkout
	temp, tree string
	merge      merging.Request
	made       merging.Merged
	remove     func() error
}

func newTested(t *testing.T) *tested {
	t.Helper()
	h := gittest.NewHub(t)
	x := &tested{Hub: h}
	h.Commit("main", "start", map[string]string{"f": gittest.Numbers(20)})
	head := h.Commit("agent/x", "work", map[string]string{"f": gittest.Numbers(20, "20", "twenty"), "g": "g\n"})
	base := h.Commit("main", "meanwhile", map[string]string{"f": gittest.Numbers(20, "1", "one")})
	x.c = h.Open(h.Workspace("main"), func(o *git.Options) { x.temp = o.Temp })
	_ = gittest.Must(history.FetchMergeBase(gittest.Ctx, x.c, "main", "refs/heads/agent/x"))(t)
	x.merge = merging.Request{Strategy: model.StrategySquash, Base: base, Head: head, Title: "Work (#7)"}
	x.made = gittest.Must(merging.Build(gittest.Ctx, x.c, x.merge))(t)
	var err error
	x.tree, x.remove, err = checkout.TestTree(gittest.Ctx, x.c, x.made.Tip)
	require.NoError(t, err)
	return x
}

// found are the objects that a tree for tests leads to.
func (x *tested) found() string {
	return strings.TrimSpace(gittest.Read(x.T, x.tree, ".git", "objects", "info", "alternates"))
}

// write puts a file among the objects in the place of what is there.
func (x *tested) write(name string, text []byte) {
	x.T.Helper()
	file := filepath.Join(x.found(), filepath.FromSlash(name))
	require.NoError(x.T, os.MkdirAll(filepath.Dir(file), 0o755))
	require.NoError(x.T, os.RemoveAll(file))
	require.NoError(x.T, os.WriteFile(file, text, 0o444))
}

func loose(id string) string { return id[:2] + "/" + id[2:] }

func deflated(text string) []byte {
	var raw bytes.Buffer
	to := zlib.NewWriter(&raw)
	_, _ = to.Write([]byte(text))
	_ = to.Close()
	return raw.Bytes()
}

// forge puts another content in the place of an object.
func (x *tested) forge(id, kind, content string) {
	x.write(loose(id), deflated(fmt.Sprintf("%s %d\x00%s", kind, len(content), content)))
}

// forgePacked does so in a pack, whose index says that the object is there (https://git-scm.com/docs/gitformat-pack).
func (x *tested) forgePacked(id string, kind byte, content string) {
	x.T.Helper()
	head := []byte{kind<<4 | byte(len(content)&15) | 1<<7, byte(len(content) >> 4)}
	require.Less(x.T, len(content), 1<<11)
	entry := append(head, deflated(content)...)
	pack := append([]byte("PACK\x00\x00\x00\x02\x00\x00\x00\x01"), entry...)
	sum := sha1.Sum(pack)
	name := gittest.Must(hex.DecodeString(id))(x.T)
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
	require.NoError(x.T, os.Remove(filepath.Join(x.found(), filepath.FromSlash(loose(id)))))
	file := fmt.Sprintf("pack/pack-%x", sum)
	x.write(file+".pack", append(pack, sum[:]...))
	x.write(file+".idx", append(index, end[:]...))
}

// land publishes what was tested.
func (x *tested) land() error {
	x.T.Helper()
	require.NoError(x.T, x.c.Recreate())
	require.NoError(x.T, x.remove())
	return transport.Publish(gittest.Ctx, x.c, transport.Update{Branch: "main", Start: x.merge.Base, SHA: x.made.Tip})
}

func TestWhatTestsWriteToOurGitDirectoryHasNoEffect(t *testing.T) {
	t.Parallel()
	x := newTested(t)
	run, traces := gittest.Canary(t)
	ours := gittest.Must(filepath.Glob(filepath.Join(x.temp, "mergexo-git-*")))(t)
	require.Len(t, ours, 1)
	workspace := filepath.Join(x.c.Dir(), ".git")
	for _, dir := range append(ours, workspace) {
		for key, value := range map[string]string{
			"http.proxy": "http://127.0.0.1:1", "core.hooksPath": filepath.Join(dir, "hooks"), "credential.helper": "!" + run, "core.sshCommand": run, "core.fsmonitor": run,
			"url.http://127.0.0.1:1/.insteadOf": x.Url, "remote.origin.pushurl": "http://127.0.0.1:1/", "push.gpgSign": "true", "gpg.program": run, "core.commitGraph": "true",
		} {
			x.Git(x.temp, "config", "--file", filepath.Join(dir, "config"), key, value)
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
	assert.Equal(t, x.made.Tip, x.Tip("main"))
	assert.Empty(t, traces())
	assert.NoDirExists(t, ours[0])
	assert.NoFileExists(t, filepath.Join(workspace, "objects", "info", "alternates"))
	assert.NotContains(t, gittest.Read(t, workspace, "config"), "proxy")

	// What is made afterwards is what would have been made before.
	assert.Equal(t, x.made.Tip, gittest.Must(merging.Build(gittest.Ctx, x.c, x.merge))(t).Tip)
}
