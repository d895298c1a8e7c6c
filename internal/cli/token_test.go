package cli_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/must"
)

// without is an environment without these variables.
func without(env []string, names ...string) []string {
	var kept []string
	for _, e := range env {
		drop := false
		for _, name := range names {
			drop = drop || strings.HasPrefix(e, name+"=")
		}
		if !drop {
			kept = append(kept, e)
		}
	}
	return kept
}

// GH_TOKEN is what GitHub's own command line reads. It counts only where no other token is given, and no agent gets it.
func TestTheTokenOfGitHubsCommandLineIsRead(t *testing.T) {
	t.Parallel()
	leak := filepath.Join(t.TempDir(), "leak")
	h := newHub(t, command(looksAround))
	env := without(h.env("LEAK="+leak, "RUNNER_TEMP="+t.TempDir()), "GITHUB_TOKEN")
	program(t, append(env, "GH_TOKEN=sandbox-actions"), "run").ok(t)
	seen := text(t, leak)
	assert.Contains(t, seen, "saw the program", "the script really looked at our process")
	for _, secret := range []string{"GH_TOKEN", "sandbox-actions"} {
		assert.NotContains(t, seen, secret)
	}

	program(t, append(h.terminal("octo"), "GH_TOKEN=nonsense"), "status").ok(t)
	program(t, append(without(h.terminal("octo"), "GITHUB_TOKEN"), "GH_TOKEN=nonsense"), "status").fails(t, 2, "401")
}

func TestWhatIsMissingIsNamedAtOnce(t *testing.T) {
	t.Parallel()
	const app = ", or set MERGEXO_APP_ID and MERGEXO_PRIVATE_KEY for a GitHub App\n"
	const atTerminal = "no token: run export GITHUB_TOKEN=$(gh auth token)" + app
	const noEvent = "mergexo: GITHUB_EVENT_PATH is not set: run this in a workflow, or use mergexo replay --event FILE"
	const noRepo = "mergexo: which repository? give --repo OWNER/NAME, or run this in a clone whose remote origin is on https://github.com"
	type row struct {
		env  []string
		args []string
		want string
	}
	must.Each(t, map[string]row{
		"a run of nothing":      {nil, []string{"run"}, noEvent + "; also " + atTerminal},
		"a run with a token":    {[]string{"GH_TOKEN=x"}, []string{"run"}, noEvent + "\n"},
		"a status of nothing":   {nil, []string{"status"}, noRepo + "; also " + atTerminal},
		"a sweep of nothing":    {nil, []string{"sweep"}, noRepo + "; also " + atTerminal},
		"a repository alone":    {[]string{"GITHUB_REPOSITORY=o/r"}, []string{"status"}, "mergexo: " + atTerminal},
		"another server":        {[]string{"GITHUB_SERVER_URL=https://ghe.example"}, []string{"status", "--repo", "o/r"}, "mergexo: no token: run export GITHUB_TOKEN=$(gh auth token --hostname ghe.example)" + app},
		"a step of a workflow":  {[]string{"GITHUB_ACTIONS=true"}, []string{"status", "--repo", "o/r"}, "mergexo: no token: set the action's token input, INPUT_TOKEN or GITHUB_TOKEN" + app},
		"doctor, of a name":     {[]string{"GITHUB_REPOSITORY=o/r"}, []string{"doctor"}, "mergexo: found neither a checkout of o/r nor a token for GitHub: give --checkout DIR, or export GITHUB_TOKEN=$(gh auth token)\n"},
		"only half of an App":   {[]string{"MERGEXO_APP_ID=1"}, []string{"run"}, noEvent + "\n"},
		"a token that is empty": {[]string{"GH_TOKEN= "}, []string{"status", "--repo", "o/r"}, "mergexo: " + atTerminal},
	}, func(t *testing.T, tt row) {
		t.Parallel()
		got := programIn(t, t.TempDir(), "", tt.env, tt.args...).exits(t, 2)
		assert.Equal(t, tt.want, got.errout)
		assert.Empty(t, got.out)
	})
}

// A token for another server goes there, also where only its web address is given. A proxy that is not there keeps everything else in.
func TestATokenGoesToTheServerThatIsNamed(t *testing.T) {
	t.Parallel()
	h := newHub(t, command(answers))
	env := append(without(h.terminal("octo"), "GITHUB_API_URL", "GITHUB_GRAPHQL_URL"), "HTTPS_PROXY=http://127.0.0.1:1")
	program(t, env, "status", "--repo", "octo/widgets").ok(t)
}
