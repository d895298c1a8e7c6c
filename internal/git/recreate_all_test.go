//go:build all

package git_test

import (
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/must"
)

// Tests find the objects by their tree, and can write to them where they run as our own user.
func TestObjectsThatTestsSpoiltAreNotPushed(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(x *tested, tree, blob string){
		"a file": func(x *tested, _, blob string) { x.forge(blob, "blob", "evil\n") },
		"a packed file": func(x *tested, _, blob string) {
			x.forgePacked(blob, 3, "evil\n")
			require.Equal(x.T, "evil", x.Git(x.c.Dir(), "cat-file", "blob", blob), "git believes it")
		},
		"a tree": func(x *tested, tree, blob string) {
			raw := must.Get(hex.DecodeString(blob))(x.T)
			x.forge(tree, "tree", "100644 evil\x00"+string(raw))
		},
		"the tip": func(x *tested, _, _ string) {
			x.forge(x.made.Tip, "commit", x.Git(x.c.Dir(), "cat-file", "commit", x.merge.Head)+"\n")
		},
		"the tip, on another parent": func(x *tested, tree, _ string) {
			x.forge(x.made.Tip, "commit", "tree "+tree+"\nparent "+x.merge.Base+"\nauthor E <e@x> 0 +0000\ncommitter E <e@x> 0 +0000\n\nevil\n")
		},
		"the tip is gone": func(x *tested, _, _ string) {
			require.NoError(x.T, os.Remove(filepath.Join(x.found(), filepath.FromSlash(loose(x.made.Tip)))))
		},
		"a file is elsewhere": func(x *tested, _, blob string) {
			elsewhere := filepath.Join(x.T.TempDir(), "objects")
			require.NoError(x.T, os.MkdirAll(filepath.Join(elsewhere, blob[:2]), 0o755))
			require.NoError(x.T, os.Rename(filepath.Join(x.found(), filepath.FromSlash(loose(blob))), filepath.Join(elsewhere, filepath.FromSlash(loose(blob)))))
			x.write("info/alternates", []byte(elsewhere+"\n"))
		},
		"a commit-graph":     func(x *tested, _, _ string) { x.write("info/commit-graph", []byte("CGPH\x01\x01\x00\x00")) },
		"other packs' names": func(x *tested, _, _ string) { x.write("info/packs", []byte("P pack-evil.pack\n")) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := newTested(t)
			tree, blob := x.made.Tree, x.Git(x.c.Dir(), "rev-parse", x.made.Tip+":f")
			spoil(x, tree, blob)
			err := x.land()
			x.Git(x.Bare, "fsck", "--full", "--strict")
			if name == "a commit-graph" || name == "other packs' names" {
				require.NoError(t, err)
			} else {
				require.Error(t, err)
			}
			if err != nil {
				assert.Equal(t, x.merge.Base, x.Tip("main"))
				return
			}
			assert.Equal(t, x.made.Tip, x.Tip("main"))
			assert.Equal(t, tree, x.Git(x.Bare, "rev-parse", "main^{tree}"))
		})
	}
}
