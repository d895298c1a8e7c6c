//go:build all

package git_test

import (
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Tests find the objects by their tree, and can write to them where they run as our own user.
func TestObjectsThatTestsSpoiltAreNotPushed(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(x *tested, tree, blob string){
		"a file": func(x *tested, _, blob string) { x.lie(blob, "blob", "evil\n") },
		"a packed file": func(x *tested, _, blob string) {
			x.packedLie(blob, 3, "evil\n")
			require.Equal(x.t, "evil", x.git(x.c.Dir(), "cat-file", "blob", blob), "git believes it")
		},
		"a tree": func(x *tested, tree, blob string) {
			raw, err := hex.DecodeString(blob)
			require.NoError(x.t, err)
			x.lie(tree, "tree", "100644 evil\x00"+string(raw))
		},
		"the tip": func(x *tested, _, _ string) {
			x.lie(x.made.Tip, "commit", x.git(x.c.Dir(), "cat-file", "commit", x.merge.Head)+"\n")
		},
		"the tip, on another parent": func(x *tested, tree, _ string) {
			x.lie(x.made.Tip, "commit", "tree "+tree+"\nparent "+x.merge.Base+"\nauthor E <e@x> 0 +0000\ncommitter E <e@x> 0 +0000\n\nevil\n")
		},
		"the tip is gone": func(x *tested, _, _ string) {
			require.NoError(x.t, os.Remove(filepath.Join(x.found(), filepath.FromSlash(loose(x.made.Tip)))))
		},
		"a file is elsewhere": func(x *tested, _, blob string) {
			elsewhere := filepath.Join(x.t.TempDir(), "objects")
			require.NoError(x.t, os.MkdirAll(filepath.Join(elsewhere, blob[:2]), 0o755))
			require.NoError(x.t, os.Rename(filepath.Join(x.found(), filepath.FromSlash(loose(blob))), filepath.Join(elsewhere, filepath.FromSlash(loose(blob)))))
			x.write("info/alternates", []byte(elsewhere+"\n"))
		},
		"a commit-graph":     func(x *tested, _, _ string) { x.write("info/commit-graph", []byte("CGPH\x01\x01\x00\x00")) },
		"other packs' names": func(x *tested, _, _ string) { x.write("info/packs", []byte("P pack-evil.pack\n")) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := newTested(t)
			tree, blob := x.made.Tree, x.git(x.c.Dir(), "rev-parse", x.made.Tip+":f")
			spoil(x, tree, blob)
			err := x.land()
			x.git(x.bare, "fsck", "--full", "--strict")
			if name == "a commit-graph" || name == "other packs' names" {
				require.NoError(t, err)
			} else {
				require.Error(t, err)
			}
			if err != nil {
				assert.Equal(t, x.merge.Base, x.tip("main"))
				return
			}
			assert.Equal(t, x.made.Tip, x.tip("main"))
			assert.Equal(t, tree, x.git(x.bare, "rev-parse", "main^{tree}"))
		})
	}
}
