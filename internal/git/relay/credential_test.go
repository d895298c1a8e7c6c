package relay_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/checkout"
	"github.com/mergexo/mergexo/internal/git/gittest"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/git/merging"
	"github.com/mergexo/mergexo/internal/git/transport"
)

// holding are the places where one of these words stands: what processes can be seen to have, and the files below a directory.
func holding(t *testing.T, processes []process, root string, words ...string) (places []string) {
	t.Helper()
	look := func(place, text string) {
		for _, word := range words {
			if strings.Contains(text, word) {
				places = append(places, place+" has "+word)
			}
		}
	}
	for _, p := range processes {
		look("environment of "+p.argv, p.environ)
		look("argv", p.argv)
	}
	require.NoError(t, filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return ignoring(err, fs.ErrNotExist)
		}
		text, err := os.ReadFile(file)
		look(file, string(text))
		return ignoring(err, fs.ErrNotExist)
	}))
	return places
}

func ignoring(err, target error) error {
	if errors.Is(err, target) {
		return nil
	}
	return err
}

func TestNoGitHoldsTheCredential(t *testing.T) {
	h := gittest.NewHub(t)
	start := h.Commit("agent/x", "work", map[string]string{"a.txt": "one\n"})
	side := h.Commit("side", "work", map[string]string{"b.txt": "two\n"})
	path, notes := gittest.Recorder(t)
	temp := t.TempDir()
	settle := func(o *git.Options) {
		o.Path, o.Temp, o.Network = path, temp, []string{"http_proxy=http://user:proxy-password@proxy.invalid:1", "no_proxy=127.0.0.1"}
	}
	hidden := []string{gittest.Token, gittest.Encoded, "proxy-password", "uthorization"}
	c, partial := h.Open("", settle), h.Open(h.Workspace("agent/x", "--filter=blob:none"), settle)
	var sha string
	kept, lease := transport.PrivateRef{Ref: "refs/mergexo/session/7", Content: []byte("session")}, transport.Lease{Holder: "us", Until: time.Unix(1800000060, 0)}
	for _, operation := range []struct {
		name string
		do   func() error
	}{
		{"clone", func() (err error) {
			if err = checkout.Restore(gittest.Ctx, c, "agent/x", "main", start); err == nil {
				sha = h.Git(c.Dir(), "commit-tree", "-p", start, "-m", "more", start+"^{tree}")
			}
			return err
		}},
		{"objects of a partial clone", func() error { return checkout.Restore(gittest.Ctx, partial, "agent/x", "main", start) }},
		{"listing", func() error { _, err := history.RemoteRefs(gittest.Ctx, c, "refs/heads/main"); return err }},
		{"fetch", func() error { _, err := history.FetchRef(gittest.Ctx, c, "refs/heads/side"); return err }},
		{"conflicts", func() error {
			_, err := merging.FindConflicts(gittest.Ctx, c, []merging.PullHead{{Number: 1, Ref: "refs/heads/side", SHA: side, Base: "main"}}, 0)
			return err
		}},
		{"keep", func() error { return transport.WritePrivate(gittest.Ctx, c, kept) }},
		{"kept", func() error { _, err := transport.ReadPrivate(gittest.Ctx, c, kept.Ref, 100); return err }},
		{"lock", func() error { _, err := transport.AcquireLock(gittest.Ctx, c, "main", lease); return err }},
		{"stage", func() error { return transport.Stage(gittest.Ctx, c, gittest.Stage, sha, kept) }},
		{"push", func() error {
			return transport.Publish(gittest.Ctx, c, transport.Update{Branch: "agent/x", Start: start, SHA: sha, Stage: gittest.Stage, Drop: []git.Ref{{Name: kept.Ref}}})
		}},
		{"push beside an agent", func() error {
			return transport.PublishIsolated(gittest.Ctx, c, transport.Update{Branch: "agent/y", SHA: sha})
		}},
		{"rewrite", func() error { return transport.Rewrite(gittest.Ctx, c, "agent/y", sha, start) }},
		{"delete", func() error { return transport.Delete(gittest.Ctx, c, git.Ref{Name: "refs/heads/agent/y", SHA: start}) }},
	} {
		require.NoError(t, during(h, operation.do, func(address string, processes []process) {
			assert.NotEmpty(t, address, "git knows where the server is said to be: %s", operation.name)
			helped := slices.ContainsFunc(processes, func(p process) bool { return strings.Contains(p.argv, "remote-") })
			assert.False(t, helped, "git talks itself: %q", processes)
			assert.Empty(t, holding(t, processes, temp, hidden...), operation.name)
		}), operation.name)
	}
	assert.Empty(t, holding(t, nil, notes, hidden...), "every git, those that have ended too")
	assert.Empty(t, holding(t, nil, partial.Dir(), hidden...), "what was there before the first operation is gone")
	// What is not found above would be found.
	require.NoError(t, during(h, func() error {
		_, err := h.With(temp, []string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=http.extraheader", "GIT_CONFIG_VALUE_0=" + gittest.Header}, "ls-remote", h.Url)
		return err
	}, func(_ string, processes []process) {
		assert.NotEmpty(t, holding(t, processes, t.TempDir(), gittest.Encoded))
	}))
}
