//go:build all

package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestTheBaseIsRewoundWhileTheTestsRun: what somebody takes away from the base comes back neither as commits nor as settings.
func TestTheBaseIsRewoundWhileTheTestsRun(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"", "--local"} {
		for _, attempts := range []string{"3", "1"} {
			t.Run(attempts+mode, func(t *testing.T) {
				t.Parallel()
				y := newYard(t, map[string]string{".github/mergexo.toml": "[merge]\ntests = \"none\"\n"})
				repository := y.bare
				if mode != "" {
					repository = filepath.Join(y.dir, ".git")
				}
				hook := filepath.Join(t.TempDir(), "hook")
				require.NoError(t, os.WriteFile(hook, []byte("git --git-dir="+repository+" update-ref refs/heads/main main~1\n"), 0o600))
				y.commit("main", "main", "Test", map[string]string{".github/mergexo.toml": "[merge]\nattempts = " + attempts + "\ntests = [\"sh\", \"" + hook + "\"]\n"})
				y.git(y.dir, "pull", "-q")
				y.git(y.dir, "branch", "fix", "origin/fix")
				head, before := y.origin("fix"), y.origin("main~1")
				got := y.merge(strings.Fields("--branch fix --base main --json "+mode)...).exits(t, 3)
				assert.Regexp(t, `^BASE_REWOUND: main moved from [0-9a-f]{10} to `+before[:10]+`, which does not have it$`, object(t, got)["reason"])
				at := func(ref string) string { return y.git(repository, "rev-parse", ref) }
				assert.Equal(t, []string{before, head}, []string{at("main"), at("fix")})
				assert.Empty(t, y.git(repository, "for-each-ref", "refs/mergexo"), "no lock is left")
			})
		}
	}
}
