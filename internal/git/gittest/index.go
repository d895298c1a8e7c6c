package gittest

import (
	"bytes"
	"crypto/sha1" //nolint:gosec // an index of git has its sum
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// ForgeIndex gives a checkout an index with one regular file, whose path git itself would not take, and whose content is nowhere.
// The stage is 0, or 1 to 3 in a conflict.
func ForgeIndex(t *testing.T, dir, path string, stage byte) {
	t.Helper()
	entry := append(make([]byte, 24), 0, 0, 0x81, 0xa4)                                   // no times, its mode
	entry = append(append(entry, make([]byte, 12)...), bytes.Repeat([]byte{0xab}, 20)...) // no owner, no size; any id
	entry = append(append(entry, stage<<4, byte(len(path))), path...)
	text := append([]byte("DIRC\x00\x00\x00\x02\x00\x00\x00\x01"), entry...)
	text = append(text, make([]byte, 8-len(entry)%8)...)
	sum := sha1.Sum(text) //nolint:gosec // as above
	require.NoError(t, os.WriteFile(filepath.Join(dir, ".git", "index"), append(text, sum[:]...), 0o644))
}
