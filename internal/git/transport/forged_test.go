package transport_test

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/git/gittest"
	"github.com/mergexo/mergexo/internal/git/transport"
	"github.com/mergexo/mergexo/internal/golden"
)

// forger makes bundles that no git would make. It works in a repository of its own with all that the server has.
type forger struct {
	*gittest.Hub
	dir   string
	file  string // the bundle
	start string
	tree  string // of start
}

func newForger(t *testing.T, h *gittest.Hub, start string) *forger {
	t.Helper()
	f := &forger{Hub: h, dir: filepath.Join(t.TempDir(), "forge"), start: start}
	h.Git(filepath.Dir(f.dir), "clone", "-q", "--bare", h.Bare, f.dir)
	f.tree = h.Git(f.dir, "rev-parse", start+"^{tree}")
	return f
}

// feed runs git with something on stdin and gives its output as it is.
func (f *forger) feed(stdin string, args ...string) string {
	f.T.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Stdin, cmd.Stderr = f.dir, strings.NewReader(stdin), &bytes.Buffer{}
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=Dev", "GIT_AUTHOR_EMAIL=dev@example.com", "GIT_AUTHOR_DATE=@1700000000 +0200",
		"GIT_COMMITTER_NAME=Dev", "GIT_COMMITTER_EMAIL=dev@example.com", "GIT_COMMITTER_DATE=@1700000000 +0200",
	}
	return string(gittest.Must(cmd.Output())(f.T, "git %v: %s", args, cmd.Stderr))
}

// object writes an object of any content.
func (f *forger) object(kind, content string) string {
	f.T.Helper()
	return strings.TrimSpace(f.feed(content, "hash-object", "-t", kind, "-w", "--literally", "--stdin"))
}

// entry is one entry of a tree, as it stands there.
func entry(mode, name, id string) string {
	raw, _ := hex.DecodeString(id)
	return mode + " " + name + "\x00" + string(raw)
}

// commitOn makes a commit of a tree.
func (f *forger) commitOn(tree string, parents ...string) string {
	f.T.Helper()
	args := []string{"commit-tree", tree, "-m", "forged"}
	for _, p := range parents {
		args = append(args, "-p", p)
	}
	return strings.TrimSpace(f.feed("", args...))
}

// with makes a tree of start's and more entries, whose names come after its own.
func (f *forger) with(entries ...string) string {
	f.T.Helper()
	return f.object("tree", f.feed("", "cat-file", "tree", f.tree)+strings.Join(entries, ""))
}

// pack packs exactly these objects.
func (f *forger) pack(ids ...string) string {
	f.T.Helper()
	return f.feed(strings.Join(ids, "\n")+"\n", "pack-objects", "--quiet", "--stdout")
}

// write writes a bundle file.
func (f *forger) write(header []string, pack string) {
	f.T.Helper()
	require.NoError(f.T, os.WriteFile(f.file, []byte(strings.Join(header, "\n")+"\n\n"+pack), 0o600))
}

// bundle writes a bundle with the usual header around a pack of these objects, and returns head.
func (f *forger) bundle(head string, ids ...string) string {
	f.T.Helper()
	f.write(f.header(head), f.pack(ids...))
	return head
}

func (f *forger) header(head string) []string {
	return []string{"# v2 git bundle", "-" + f.start, head + " " + transport.BundleRef}
}

// holding commits one more entry on start and bundles it with these objects. The entry's name comes after start's own.
func (f *forger) holding(one string, ids ...string) string {
	f.T.Helper()
	tree := f.with(one)
	head := f.commitOn(tree, f.start)
	return f.bundle(head, append(ids, tree, head)...)
}

// honest is a commit that changes nothing but one file, with its objects.
func (f *forger) honest() (head string, ids []string) {
	f.T.Helper()
	blob := f.object("blob", "new\n")
	tree := f.with(entry("100644", "z.txt", blob))
	head = f.commitOn(tree, f.start)
	return head, []string{blob, tree, head}
}

// nest makes trees that each name the one before so many times, and gives the ids of all, the outermost last.
func (f *forger) nest(deep, times int) []string {
	f.T.Helper()
	ids, mode := []string{f.object("blob", "x\n")}, "100644"
	for range deep {
		var tree strings.Builder
		for i := range times {
			tree.WriteString(entry(mode, fmt.Sprint(i), ids[len(ids)-1]))
		}
		ids, mode = append(ids, f.object("tree", tree.String())), "40000"
	}
	return ids
}

// inflating is a pack of one commit of so many bytes, all of them zero.
func inflating(t testing.TB, size int) string {
	t.Helper()
	pack := bytes.NewBufferString("PACK\x00\x00\x00\x02\x00\x00\x00\x01")
	// The type, 1, and the size in groups of bits: https://git-scm.com/docs/gitformat-pack
	head := []byte{1<<4 | byte(size&15)}
	for rest := size >> 4; rest > 0; rest >>= 7 {
		head[len(head)-1] |= 1 << 7
		head = append(head, byte(rest&127))
	}
	pack.Write(head)
	out := gittest.Must(zlib.NewWriterLevel(pack, zlib.BestSpeed))(t)
	for range size >> 20 {
		gittest.Must(out.Write(make([]byte, 1<<20)))(t)
	}
	require.NoError(t, out.Close())
	sum := sha1.Sum(pack.Bytes())
	return pack.String() + string(sum[:])
}

const absent = "00000000000000000000000000000000deadbeef"

func TestForgedBundlesAreRefusedByName(t *testing.T) {
	h := gittest.NewHub(t)
	base := map[string]string{"a.txt": "one\n", "base.txt": strings.Repeat("a line of some length\n", 200)}
	start := h.Commit("agent/x", "work", base)
	h.Commit("secret", "secret", map[string]string{"secret.txt": "nobody's business\n"})
	// A full checkout: also what the pull request has nothing to do with is among its objects.
	c := h.Restored("agent/x", "main", start, h.Workspace("agent/x"))
	before, had, calls := gittest.Files(t, c), packs(t, c), c.NetworkCalls()

	var said strings.Builder
	f := newForger(t, h, start)
	for _, test := range forgeries {
		t.Run(test.name, func(t *testing.T) {
			f.file = filepath.Join(t.TempDir(), "commits.bundle")
			head := test.forge(f)
			err := transport.ReadBundle(gittest.Ctx, c, f.file, start, head)
			require.ErrorAs(t, err, new(*transport.ErrBundle))
			fmt.Fprintf(&said, "%s:\n    %s\n", test.name, err)
			assert.Equal(t, had, packs(t, c), "nothing came in")
			assert.Equal(t, before, gittest.Files(t, c))
		})
	}
	golden.File(t, "forged_bundles.txt", said.String())
	assert.LessOrEqual(t, c.NetworkCalls()-calls, 1, "the server is asked for one commit at most, which it has not")

	f.file = filepath.Join(t.TempDir(), "commits.bundle")
	head, ids := f.honest()
	f.bundle(head, ids...)
	require.NoError(t, transport.ReadBundle(gittest.Ctx, c, f.file, start, head), "the rig's own honest bundle is taken")
}

func TestAskingTheServerForACommitDoesNotMakeItOneToBuildOn(t *testing.T) {
	h := gittest.NewHub(t)
	start := h.Commit("agent/x", "work", map[string]string{"a.txt": "one\n"})
	h.Commit("secret", "secret", map[string]string{"secret.txt": "nobody's business\n"})
	h.Grow("secret", 3)
	c := h.Restored("agent/x", "main", start, h.Workspace("agent/x", "--single-branch", "--depth=1"))
	f := newForger(t, h, start)
	f.file = filepath.Join(t.TempDir(), "commits.bundle")
	secret := h.Tip("refs/heads/secret")
	head := f.commitOn(f.tree, start, secret)
	f.write([]string{"# v2 git bundle", "-" + start, "-" + secret, head + " " + transport.BundleRef}, f.pack(head))
	for range 2 {
		refused := gittest.As[*transport.ErrBundle](t, transport.ReadBundle(gittest.Ctx, c, f.file, start, head))
		require.Equal(t, transport.BundlePrerequisite, refused.Reason)
	}
}
