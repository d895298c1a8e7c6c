package sandbox

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/must"
)

func TestObjectsAreFoundAsGitFindsThem(t *testing.T) {
	w := newTown(t)
	r := w.s.st.Repositories[0]
	git := func(stdin string, args ...string) string {
		t.Helper()
		return strings.TrimSpace(string(must.Get(runGit(w.s.git.path(r), identity("Ada", "ada@example.com", inventedAt), []byte(stdin), args...))(t)))
	}
	o := w.s.git.objects(r)
	head := must.Get(o.find("main"))(t)
	assert.Equal(t, "commit", head.kind)
	assert.Equal(t, git("", "rev-parse", "main"), head.sha)

	// What another process adds is seen, in files of its own and in packs.
	text := "one\n\x00two"
	blob := git(text, "hash-object", "-w", "--stdin")
	for range 2 {
		found, data, err := o.read(blob)
		require.NoError(t, err)
		assert.Equal(t, foundObject{blob, "blob", len(text)}, found)
		assert.Equal(t, text, string(data))
		git("100644 blob "+blob+"\todd name\n", "mktree")
		git("", "repack", "-adkq")
	}
	tree := git("100644 blob "+blob+"\todd name\n", "mktree")
	assert.Equal(t, blob, must.Get(o.find(tree+":odd name"))(t).sha)

	for _, none := range []string{"", "gone", "main:gone", strings.Repeat("0", 40), blob + "^{commit}", "main\ninfo main", "-x", "--batch"} {
		require.ErrorIs(t, must.Err(o.find(none)), errNoObject, none)
		_, _, err := o.read(none)
		require.ErrorIs(t, err, errNoObject, none)
	}
	require.NoError(t, o.cmd.Process.Kill())
	require.Error(t, must.Err(o.find("main")), "the process is gone")
	require.NoError(t, must.Err(o.find("main")), "and the next one answers")
}

func TestOfManyReadersFewKeepAProcess(t *testing.T) {
	w := newTown(t)
	dir := w.s.git.path(w.s.st.Repositories[0])
	readers := make([]*objectReader, 2*mostAwake)
	for range 2 { // those whose process was ended answer again
		for i := range readers {
			if readers[i] == nil {
				readers[i] = &objectReader{dir: dir}
				t.Cleanup(readers[i].close)
			}
			require.NoError(t, must.Err(readers[i].find("main")))
		}
	}
	running := 0
	for _, o := range readers {
		o.mu.Lock()
		if o.cmd != nil {
			running++
		}
		o.mu.Unlock()
	}
	assert.LessOrEqual(t, running, mostAwake)
	assert.Positive(t, running)
}

func TestRefsAreReadAsGitReadsThem(t *testing.T) {
	w := newTown(t)
	r := w.s.st.Repositories[0]
	git := func(args ...string) string {
		t.Helper()
		return strings.TrimSpace(string(must.Get(runGit(w.s.git.path(r), identity("Ada", "ada@example.com", inventedAt), nil, args...))(t)))
	}
	same := func() {
		t.Helper()
		refs := must.Get(w.s.git.readRefs(r))(t)
		want := map[string]string{}
		for line := range strings.Lines(git("for-each-ref", "--format=%(refname) %(objectname)")) {
			name, sha, _ := strings.Cut(strings.TrimSpace(line), " ")
			want[name] = sha
		}
		assert.Equal(t, want, refs)
	}
	same()
	for _, name := range []string{"refs/heads/a/b", "refs/mergexo/turn/1/x", "refs/tags/v1"} {
		git("update-ref", name, "main")
	}
	same()
	git("pack-refs", "--all")
	same()
	git("update-ref", "refs/heads/a/b", git("commit-tree", "-m", "next", "-p", "main", "main^{tree}"))
	git("update-ref", "-d", "refs/tags/v1")
	same()
}
