//go:build shells

package internal_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/must"
)

// releases is a gh whose release is in a file: "true" for a draft, "false" for one that is out. It refuses a second one of the same
// tag, as GitHub does, and dies where DIES says until there is a second attempt. What it changes is in the file calls.
const releases = `state=$STATE/release
case "$1 $2" in
"release view") [ -f "$state" ] || { echo "release not found" >&2; exit 1; }; cat "$state"; exit ;;
"release create") [ ! -f "$state" ] || { echo "a release with the same tag name already exists" >&2; exit 1; }; echo true >"$state" ;;
"release delete") rm "$state" ;;
esac
echo "$1 $2 $3 $4 $5" >>"$STATE/calls"
[ "$1 $2" != "$DIES" ] || [ -f "$STATE/again" ] || exit 1
[ "$1 $2" != "release create" ] || echo false >"$state"
`

// TestAReleaseIsPublishedOnce: whatever the first attempt died at, the next one goes on, and assets that are out never change.
func TestAReleaseIsPublishedOnce(t *testing.T) {
	const create, remove, move = "release create v1.0.0 --verify-tag --title", "release delete v1.0.0 --yes ", "api --silent -X PATCH repos/org/mergexo/git/refs/tags/v1"
	for name, c := range map[string]struct {
		dies  string
		calls []string
	}{
		"in one go":    {"", []string{create, move}},
		"at its draft": {"release create", []string{create, remove, create, move}},
		"at the tag":   {"api --silent", []string{create, move, "api --silent -X POST repos/org/mergexo/git/refs", move}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStep(t)
			s.gh(releases)
			run := func(dir string, argv ...string) ([]byte, error) {
				cmd := exec.Command(argv[0], argv[1:]...)
				cmd.Dir = dir
				cmd.Env = append(os.Environ(), "PATH="+s.bin+":"+os.Getenv("PATH"), "STATE="+s.temp, "DIES="+c.dies, "GITHUB_REPOSITORY=org/mergexo")
				return cmd.CombinedOutput()
			}
			repo := t.TempDir()
			require.NoError(t, os.CopyFS(filepath.Join(repo, "scripts", "action"), os.DirFS(s.scripts)))
			require.NoError(t, os.WriteFile(filepath.Join(repo, "CHANGELOG.md"), []byte("## v1.0.0\n\nThe first.\n"), 0o600))
			for _, argv := range [][]string{{"init", "-q"}, {"-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "--allow-empty", "-m", "One"}, {"tag", "v1.0.0"}} {
				out, err := run(repo, append([]string{"git"}, argv...)...)
				require.NoError(t, err, string(out))
			}
			for _, name := range []string{"mergexo_v1.0.0_linux_amd64.gz", "checksums.txt", "bundle"} {
				require.NoError(t, os.WriteFile(filepath.Join(repo, name), nil, 0o600))
			}
			publish := []string{"bash", "scripts/action/publish", "v1.0.0", repo, filepath.Join(repo, "bundle")}
			out, err := run(repo, publish...)
			if c.dies != "" {
				require.Error(t, err, string(out))
				require.NoError(t, os.WriteFile(filepath.Join(s.temp, "again"), nil, 0o600))
				out, err = run(repo, publish...)
			}
			require.NoError(t, err, string(out))
			assert.Contains(t, string(out), "v1 is v1.0.0")
			assert.Equal(t, c.calls, strings.Split(strings.TrimSuffix(string(must.Get(os.ReadFile(filepath.Join(s.temp, "calls")))(t)), "\n"), "\n"))
		})
	}
}
