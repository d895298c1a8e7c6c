package git_test

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
	h := newHub(t)
	start := h.commit("agent/x", "work", map[string]string{"a.txt": "one\n"})
	side := h.commit("side", "work", map[string]string{"b.txt": "two\n"})
	path, notes := recorder(t)
	temp := t.TempDir()
	settle := func(o *git.Options) {
		o.Path, o.Temp, o.Network = path, temp, []string{"http_proxy=http://user:proxy-password@proxy.invalid:1", "no_proxy=127.0.0.1"}
	}
	hidden := []string{token, encoded, "proxy-password", "uthorization"}
	c, partial := h.open("", settle), h.open(h.workspace("agent/x", "--filter=blob:none"), settle)
	var sha string
	kept, lease := git.Hidden{Ref: "refs/mergexo/session/7", Content: []byte("session")}, git.Lease{Holder: "us", Until: time.Unix(1800000060, 0)}
	for _, operation := range []struct {
		name string
		do   func() error
	}{
		{"clone", func() (err error) {
			if err = c.Restore(ctx, "agent/x", "main", start); err == nil {
				sha = h.git(c.Dir(), "commit-tree", "-p", start, "-m", "more", start+"^{tree}")
			}
			return err
		}},
		{"objects of a partial clone", func() error { return partial.Restore(ctx, "agent/x", "main", start) }},
		{"listing", func() error { _, err := c.Remote(ctx, "refs/heads/main"); return err }},
		{"fetch", func() error { _, err := c.FetchRef(ctx, "refs/heads/side"); return err }},
		{"conflicts", func() error {
			_, err := c.Radar(ctx, []git.RadarHead{{Number: 1, Ref: "refs/heads/side", SHA: side, Base: "main"}}, 0)
			return err
		}},
		{"keep", func() error { return c.Keep(ctx, kept) }},
		{"kept", func() error { _, err := c.Kept(ctx, kept.Ref, 100); return err }},
		{"lock", func() error { _, err := c.Lock(ctx, "main", lease); return err }},
		{"stage", func() error { return c.StageWith(ctx, stage, sha, kept) }},
		{"push", func() error {
			return c.Publish(ctx, git.Publish{Branch: "agent/x", Start: start, SHA: sha, Stage: stage, Drop: []git.Ref{{Name: kept.Ref}}})
		}},
		{"push beside an agent", func() error { return c.PublishBeside(ctx, git.Publish{Branch: "agent/y", SHA: sha}) }},
		{"rewrite", func() error { return c.Rewrite(ctx, "agent/y", sha, start) }},
		{"delete", func() error { return c.Delete(ctx, git.Ref{Name: "refs/heads/agent/y", SHA: start}) }},
	} {
		require.NoError(t, during(h, operation.do, func(address string, processes []process) {
			assert.NotEmpty(t, address, "git knows where the server is said to be: %s", operation.name)
			talks := slices.ContainsFunc(processes, func(p process) bool { return strings.Contains(p.argv, "remote-http") })
			assert.True(t, talks, "that which talks is looked at: %q", processes)
			assert.Empty(t, holding(t, processes, temp, hidden...), operation.name)
		}), operation.name)
	}
	assert.Empty(t, holding(t, nil, notes, hidden...), "every git, those that have ended too")
	assert.Empty(t, holding(t, nil, partial.Dir(), hidden...), "what was there before the first operation is gone")
	// What is not found above would be found.
	require.NoError(t, during(h, func() error {
		_, err := h.with(temp, []string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=http.extraheader", "GIT_CONFIG_VALUE_0=" + header}, "ls-remote", h.url)
		return err
	}, func(_ string, processes []process) {
		assert.NotEmpty(t, holding(t, processes, t.TempDir(), encoded))
	}))
}
