package treepath_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/treepath"
)

func TestWhatIsForbiddenIsFoundUnderEveryNameThatAFileSystemTakesForIt(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"a.go": "", "github/workflows/x.yml": "", ".github/workflow/x.yml": "", ".github/ISSUE_TEMPLATE/x.yml": "", "src/.github/workflows/x.yml": "",
		"src/CODEOWNERS": "", "CODEOWNERS.md": "", "lib/.gitmodules": "", ".github/mergexo.toml.orig": "", "workfl~1/x": "",
		".github/workflows/x.yml": ".github/workflows/**", ".github/workflows/a/b.yml": ".github/workflows/**", ".github/workflows": ".github/workflows/**",
		".GITHUB/Workflows/x.yml": ".github/workflows/**", ".github/wor\u212Aflows/x.yml": ".github/workflows/**", ".github/workﬂows/x.yml": ".github/workflows/**",
		".github/workflow\u017F/x.yml": ".github/workflows/**", ".git\u200Chub/workflows/x.yml": ".github/workflows/**", "\uFEFF.github/workflows/x": ".github/workflows/**",
		".github./workflows /x.yml": ".github/workflows/**", ".github/workflows::$INDEX_ALLOCATION/x": ".github/workflows/**", `.github\workflows\x.yml`: ".github/workflows/**",
		".github/.../workflows/x.yml": ".github/workflows/**", "GITHUB~1/WORKFL~2/x.yml": ".github/workflows/**", "．github/workflows/x.yml": ".github/workflows/**",
		".github/actions/x/action.yml": ".github/actions/**", ".github/Actions/x/action.yml": ".github/actions/**",
		".github/mergexo/setup/action.yml": ".github/mergexo/**", ".github/mergexos/x": "",
		".github/mergexo.toml": ".github/mergexo.toml", ".github/MergeXO.toml": ".github/mergexo.toml", ".github/MERGEX~1.TOM": ".github/mergexo.toml",
		"CODEOWNERS": "CODEOWNERS", ".github/CODEOWNERS": "CODEOWNERS", "docs/CODEOWNERS": "CODEOWNERS", "Docs/codeowners.": "CODEOWNERS",
		".gitmodules": ".gitmodules", ".GitModules": ".gitmodules", "GITMOD~1": ".gitmodules", "gi7eba~1": ".gitmodules", ".gitmodules:x": ".gitmodules",
	} {
		assert.Equal(t, want, treepath.Matched(path, treepath.Forbidden()), path)
	}
	assert.Equal(t, "Secrets/**", treepath.Matched("SECRETS/ß", []string{"Secrets/**"}))
	assert.Equal(t, "PASSWORDS", treepath.Matched("paßwords", []string{"PASSWORDS"}))
	assert.Equal(t, "[A-C]x.", treepath.Matched("Bx.", []string{"[A-C]x."}), "as it is written, it matches too")
}

func TestALinkCannotTakeThePlaceOfADirectory(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{".github": ".github/workflows/**", ".GitHub": ".github/workflows/**", "docs": "CODEOWNERS", "doc": "", ".git": "", "src": ""} {
		assert.Equal(t, want, treepath.Above(path, treepath.Forbidden()), path)
	}
}

func TestALinkStaysInItsTree(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		link, target string
		leaves       bool
	}{
		{"a/b", "../c", false}, {"a/b", "c", false}, {"b", "a/./c", false}, {"a/b/c", "../../d/e", false}, {"a", "", false}, {"a", "...", false}, {"a", "x..y", false},
		{"a/b", "../../c", true}, {"b", "..", true}, {"b", "/etc/passwd", true}, {"b", "C:/x", true}, {"b", `\\host\share`, true}, {"a/b", `..\..\c`, true},
		{"b", ".git/config", true}, {"a/b", "../.GIT/config", true}, {"b", "git~1/config", true}, {"b", ".g\u200Cit", true}, {"b", "x/.git./y", true},
		{"d/e/f", "s/../x", true}, // s may be a link to the top
	} {
		assert.Equal(t, tt.leaves, treepath.Leaves(tt.link, tt.target), "%s -> %s", tt.link, tt.target)
	}
}

func FuzzFold(f *testing.F) {
	for _, seed := range []string{".github/workflows/x", "a\\..\\b", "\xff~1", "ſﬂ:/.. ."} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, path string) {
		once := treepath.Fold(path)
		if again := treepath.Fold(once); again != once {
			t.Errorf("%q folds to %q and then to %q", path, once, again)
		}
		treepath.Matched(path, treepath.Forbidden())
		treepath.Leaves(path, path)
	})
}
