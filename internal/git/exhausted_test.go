package git_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/gittest"
	"github.com/mergexo/mergexo/internal/must"
)

// TestWhatTheMachineLacksIsToldFromWhatIsWrong: by how git cannot be started, and by what it says where it starts others.
func TestWhatTheMachineLacksIsToldFromWhatIsWrong(t *testing.T) {
	t.Parallel()
	type row struct {
		program string
		want    bool
	}
	must.Each(t, map[string]row{
		"git cannot fork":      {"#!/bin/sh\necho 'fatal: cannot fork: Resource temporarily unavailable' >&2\nexit 128\n", true},
		"git lacks memory":     {"#!/bin/sh\necho 'fatal: Out of memory, malloc failed (tried to allocate 5 bytes)' >&2\nexit 128\n", true},
		"git is not all there": {"#!/nowhere/sh\n", true},
		"git fails":            {"#!/bin/sh\necho 'fatal: bad object' >&2\nexit 128\n", false},
		"git is no program":    {"\x00", false},
	}, func(t *testing.T, c row) {
		t.Parallel()
		bin := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(bin, "git"), []byte(c.program), 0o755))
		_, err := git.Look(gittest.Ctx, t.TempDir(), bin)
		require.Error(t, err)
		assert.Equal(t, c.want, git.Exhausts(fmt.Errorf("look: %w", err)), err)
	})
}
