package dashboard

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
)

var update = flag.Bool("update", false, "write the golden files anew")

// written is the page of a board.
func written(t *testing.T, b model.Board) string {
	t.Helper()
	var out strings.Builder
	require.NoError(t, Write(&out, b))
	return out.String()
}

// golden compares with testdata/NAME, or writes it.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, string(want), got)
}

func TestPages(t *testing.T) {
	for name, b := range map[string]model.Board{
		"sample.html": sample(),
		"empty.html":  {Repo: model.Repo{Owner: "octo", Name: "empty"}, URL: "https://github.com/octo/empty", At: now},
	} {
		t.Run(name, func(t *testing.T) { golden(t, name, written(t, b)) })
	}
}
