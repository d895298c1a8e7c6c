package transport_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/gittest"
	"github.com/mergexo/mergexo/internal/git/transport"
)

// forked is a server with the pull request of a fork, which is on no branch of the server.
func forked(t *testing.T, files map[string]string) (h *gittest.Hub, sha string) {
	h = gittest.NewHub(t)
	h.Commit("main", "files", map[string]string{"a.txt": gittest.Lines("a", 30, nil), "b.txt": gittest.Lines("b", 30, nil)})
	h.Commit("theirs", "one", map[string]string{"a.txt": gittest.Lines("a", 30, map[int]string{3: "theirs"})})
	sha = h.Commit("theirs", "two", files)
	h.Git(h.Bare, "update-ref", "refs/pull/7/head", sha)
	h.Git(h.Bare, "update-ref", "-d", "refs/heads/theirs")
	h.Git(h.Bare, "config", "receive.hideRefs", "refs/pull")
	h.Commit("main", "meanwhile", map[string]string{"b.txt": gittest.Lines("b", 30, map[int]string{3: "ours"})})
	return h, sha
}

func TestAMirrorIsMadeAndMovedAhead(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"own", "full", "--depth=1", "--filter=blob:none"} {
		t.Run(how, func(t *testing.T) {
			h, sha := forked(t, map[string]string{"c.txt": "c\n"})
			h.Grow("main", 60)
			dir := ""
			switch how {
			case "own":
			case "full":
				dir = h.Workspace("main")
			default:
				dir = h.Workspace("main", how)
			}
			c := h.Open(dir)
			require.NoError(t, transport.Mirror(gittest.Ctx, c, "refs/pull/7/head", sha, "gh-pr-7/theirs", ""))
			assert.Equal(t, sha, h.Tip("refs/heads/gh-pr-7/theirs"))
			require.NoError(t, transport.Mirror(gittest.Ctx, c, "refs/pull/7/head", sha, "gh-pr-7/theirs", ""), "it exists already")
			h.Git(h.Bare, "fsck", "--connectivity-only", "--no-dangling")

			h.Git(h.Dev, "checkout", "-q", "theirs")
			more := h.Commit("theirs", "more", map[string]string{"d.txt": "d\n"})
			h.Git(h.Bare, "update-ref", "refs/pull/7/head", more)
			require.NoError(t, transport.Mirror(gittest.Ctx, c, "refs/pull/7/head", more, "gh-pr-7/theirs", sha))
			assert.Equal(t, more, h.Tip("refs/heads/gh-pr-7/theirs"))
		})
	}
}

func TestAMirrorNeverOverwrites(t *testing.T) {
	t.Parallel()
	h, sha := forked(t, map[string]string{"c.txt": "c\n"})
	c := h.Open("")
	require.NoError(t, transport.Mirror(gittest.Ctx, c, "refs/pull/7/head", sha, "gh-pr-7/theirs", ""))
	h.Git(h.Dev, "checkout", "-q", "-B", "theirs", "main")
	forced := h.Commit("theirs", "anew", map[string]string{"c.txt": "another\n"})
	h.Git(h.Bare, "update-ref", "refs/pull/7/head", forced)

	none := gittest.As[*git.ErrNoRef](t, transport.Mirror(gittest.Ctx, c, "refs/pull/7/head", sha, "gh-pr-7/other", ""))
	assert.Equal(t, "refs/pull/7/head at "+sha, none.Ref)
	require.ErrorAs(t, transport.Mirror(gittest.Ctx, c, "refs/pull/8/head", sha, "gh-pr-7/other", ""), &none)
	assert.Equal(t, "refs/pull/8/head", none.Ref)
	require.ErrorAs(t, transport.Mirror(gittest.Ctx, c, "refs/pull/7/head", forced, "gh-pr-7/theirs", sha), new(*git.ErrRewind))
	rejected := gittest.As[*git.ErrRejected](t, transport.Mirror(gittest.Ctx, c, "refs/pull/7/head", forced, "gh-pr-7/theirs", ""))
	assert.Equal(t, git.Stale, rejected.Reason)
	assert.Equal(t, sha, h.Tip("refs/heads/gh-pr-7/theirs"))
	require.NoError(t, transport.Mirror(gittest.Ctx, c, "refs/pull/7/head", forced, "gh-pr-7/theirs-2", ""))
	assert.Equal(t, forced, h.Tip("refs/heads/gh-pr-7/theirs-2"))
	for _, bad := range [][4]string{{"--upload-pack=x", sha, "x", ""}, {"refs/pull/7/head", "HEAD", "x", ""}, {"refs/pull/7/head", sha, "a:b", ""}, {"refs/pull/7/head", sha, "x", "main"}} {
		assert.ErrorContains(t, transport.Mirror(gittest.Ctx, c, bad[0], bad[1], bad[2], bad[3]), "not refs and commit ids")
	}
}

func TestAMirrorCannotBeBesideABranchOfItsFirstPart(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ there, wanted string }{{"gh-pr-7", "gh-pr-7/theirs"}, {"gh-pr-7/theirs/x", "gh-pr-7/theirs"}} {
		for _, packed := range []bool{false, true} {
			h, sha := forked(t, map[string]string{"c.txt": "c\n"})
			h.Git(h.Bare, "update-ref", "refs/heads/"+test.there, "main")
			if packed {
				h.Git(h.Bare, "pack-refs", "--all")
			}
			taken := gittest.As[*transport.ErrNameTaken](t,
				transport.Mirror(gittest.Ctx, h.Open(""), "refs/pull/7/head", sha, test.wanted, ""))
			assert.Equal(t, transport.ErrNameTaken{Ref: "refs/heads/" + test.wanted, Other: "refs/heads/" + test.there}, *taken)
		}
	}
}

func TestAMirrorWithWorkflowsIsRefusedForThem(t *testing.T) {
	t.Parallel()
	h, sha := forked(t, map[string]string{".github/workflows/x.yml": "on: push\n"})
	hook := "#!/bin/sh\necho 'refusing to allow a GitHub App to create or update workflow `.github/workflows/x.yml` without `workflows` permission' >&2\nexit 1\n"
	require.NoError(t, os.WriteFile(filepath.Join(h.Bare, "hooks", "update"), []byte(hook), 0o755))
	rejected := gittest.As[*git.ErrRejected](t,
		transport.Mirror(gittest.Ctx, h.Open(""), "refs/pull/7/head", sha, "gh-pr-7/theirs", ""))
	assert.Equal(t, git.Workflow, rejected.Reason)
}

func TestManyRefsAreDeletedAtOnce(t *testing.T) {
	t.Parallel()
	h := gittest.NewHub(t)
	sha := h.Tip("refs/heads/main")
	var refs []git.Ref
	var update strings.Builder
	for i := range 500 {
		refs = append(refs, git.Ref{Name: fmt.Sprintf("refs/heads/mergexo/old/%d", i), SHA: sha})
		fmt.Fprintf(&update, "%s %s\n", sha, refs[i].Name)
	}
	require.NoError(t, os.WriteFile(filepath.Join(h.Bare, "packed-refs"), []byte(update.String()), 0o600))
	moved := h.Commit("mergexo/old/7", "a person's", nil)
	h.Git(h.Bare, "update-ref", "refs/heads/mergexo/old/7", moved)
	h.Git(h.Bare, "update-ref", "-d", "refs/heads/mergexo/old/8")
	hook := "#!/bin/sh\nif [ \"$1\" = refs/heads/mergexo/old/9 ]; then echo 'GH006: Protected branch update failed' >&2; exit 1; fi\n"
	require.NoError(t, os.WriteFile(filepath.Join(h.Bare, "hooks", "update"), []byte(hook), 0o755))
	c := h.Open("")
	left, err := transport.DeleteAll(gittest.Ctx, c, refs)
	assert.Equal(t, git.Protected, gittest.As[*git.ErrRejected](t, err).Reason)
	assert.ElementsMatch(t, []git.Ref{refs[7], refs[9]}, left)
	assert.Equal(t, "refs/heads/mergexo/old/7\nrefs/heads/mergexo/old/9", h.Git(h.Bare, "for-each-ref", "--format=%(refname)", "refs/heads/mergexo"))
	assert.Equal(t, moved, h.Tip("refs/heads/mergexo/old/7"))
	assert.LessOrEqual(t, c.NetworkCalls(), 4)

	left = gittest.Must(transport.DeleteAll(gittest.Ctx, c, append(refs[:9], refs[10:]...)))(t, "what somebody moved is no error")
	assert.Equal(t, []git.Ref{refs[7]}, left)
	assert.Empty(t, gittest.Must(transport.DeleteAll(gittest.Ctx, c, nil))(t))
	one := []git.Ref{{Name: "refs/heads/main", SHA: sha}, {Name: "refs/tags/v1", SHA: sha}}
	left, err = transport.DeleteAll(gittest.Ctx, c, one)
	require.ErrorContains(t, err, "not a branch or a hidden ref")
	assert.Equal(t, one, left)
	h.Behave(false, nil)
	c = h.Open("", func(o *git.Options) { o.Token = "wrong" })
	left, err = transport.DeleteAll(gittest.Ctx, c, refs[:2])
	require.Error(t, err)
	assert.Equal(t, refs[:2], left)
}
