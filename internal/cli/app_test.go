package cli_test

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/must"
)

// appOf installs an App on octo/widgets and gives its id and its key.
func appOf(h *hub, more map[string]any) (id, key string) {
	h.t.Helper()
	made := must.Get(rsa.GenerateKey(rand.Reader, 2048))(h.t)
	public := must.Get(x509.MarshalPKIXPublicKey(&made.PublicKey))(h.t)
	body := map[string]any{
		"public_key": string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public})), "account": "octo",
		"permissions": map[string]string{"contents": "write", "issues": "write", "pull_requests": "write", "actions": "write", "checks": "read", "statuses": "read", "workflows": "write"},
	}
	for name, v := range more {
		body[name] = v
	}
	id = fmt.Sprintf("%.0f", h.api("", "PUT", "/_sandbox/apps/robot", body)["id"])
	return id, string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(made)}))
}

// What a child can look at: its environment, that of every process above it, their command lines, and what lies about.
const looksAround = `cat >/dev/null; { env; pid=$$; while [ "$pid" -gt 1 ]; do
	tr '\0' '\n' < /proc/$pid/environ; tr '\0' ' ' < /proc/$pid/cmdline; [ $pid = $$ ] || [ -z "$(tr '\0' '\n' < /proc/$pid/environ | grep MERGEXO_TEST_MAIN)" ] || echo "saw the program";
	pid=$(sed -n 's/^PPid:[[:space:]]*//p' /proc/$pid/status); done
	git config --list --show-origin; git remote -v; cat /proc/self/mounts; grep -rs -e "gh[s]_" -e "PRIVATE [K]EY" "$TMPDIR" .git; git push origin HEAD; } > "$LEAK" 2>&1
	echo more >> world.txt; echo '{"commit_message": "Say more", "general_comment": "Said."}'`

func TestAnAppsKeyIsNowhereInReach(t *testing.T) {
	leak := filepath.Join(t.TempDir(), "leak")
	h := newHub(t, command(looksAround))
	id, key := appOf(h, nil)
	temp := t.TempDir()
	// The key on one line, as a variable in a file holds it; and a token beside it, as the action always gives one.
	env := h.env("GITHUB_ACTIONS=true", "INPUT_TOKEN=nonsense", "MERGEXO_APP_ID="+id, "MERGEXO_PRIVATE_KEY="+strings.ReplaceAll(key, "\n", `\n`), "LEAK="+leak, "RUNNER_TEMP="+temp)
	got := program(t, env, "run", "--verbose", "--json").ok(t)
	assert.Contains(t, got.out, `"result":"done"`)
	assert.Contains(t, h.comments(), `"login":"robot[bot]"`)
	seen := text(t, leak)
	assert.Contains(t, seen, "saw the program", "the script really looked at our process")
	secrets := append(strings.Split(key, "\n")[1:26], strings.ReplaceAll(key, "\n", `\n`), "ghs_", "PRIVATE_KEY")
	for _, secret := range secrets {
		assert.NotContains(t, seen, secret)
	}
	// The runner is told to hide the token, and is shown it in no other line.
	masks := regexp.MustCompile(`(?m)^::add-mask::(ghs_\S+)$`).FindAllStringSubmatch(got.errout, -1)
	require.Len(t, masks, 1, got.errout)
	rest := strings.Replace(got.errout, masks[0][0], "", 1)
	for _, secret := range append(secrets[:25], masks[0][1]) {
		assert.NotContains(t, rest+got.out, secret)
	}
	var left []string
	require.NoError(t, filepath.WalkDir(temp, func(path string, _ os.DirEntry, err error) error {
		left = append(left, path)
		return err
	}))
	assert.Len(t, left, 1, "%v", left)
}

func TestMistakesWithAnAppAreOneLineEach(t *testing.T) {
	h := newHub(t, command(answers))
	id, key := appOf(h, nil)
	said := h.comments()
	for want, env := range map[string][]string{
		"app-id is given, and private-key is not":           {"MERGEXO_APP_ID=" + id},
		"private-key is given, and app-id is not":           {"MERGEXO_PRIVATE_KEY=" + key},
		"private-key: not a PEM file":                       {"MERGEXO_APP_ID=" + id, "MERGEXO_PRIVATE_KEY=secret"},
		"app-id: want the number or the client id":          {"MERGEXO_APP_ID=my app", "MERGEXO_PRIVATE_KEY=" + key},
		"sign in as App 4711: there is no App with this id": {"MERGEXO_APP_ID=4711", "MERGEXO_PRIVATE_KEY=" + key},
	} {
		got := program(t, h.env(env...), "run").exits(t, 2)
		assert.Regexp(t, `(?m)^mergexo: (read octo/widgets#1: )?`+regexp.QuoteMeta(want), got.errout)
		assert.Equal(t, 1, strings.Count(got.errout, "mergexo: "), got.errout)
		assert.NotContains(t, got.errout, strings.Split(key, "\n")[3])
	}
	assert.Equal(t, said, h.comments(), "nothing was said")
}

func TestDoctorKnowsTheApp(t *testing.T) {
	h, env := newClinic(t)
	for want, app := range map[string]map[string]any{
		"ok    the App robot: installed on octo, with all permissions that it needs": nil,
		"fix   the App robot: its installation on octo lacks issues: write":          {"permissions": map[string]string{"contents": "write", "pull_requests": "write", "issues": "read"}},
		"the token: sign in as App ID: the App is not installed on octo/widgets":     {"account": "somebody"},
	} {
		id, key := appOf(h, app)
		got := programIn(t, t.TempDir(), "", append(env, "MERGEXO_APP_ID="+id, "MERGEXO_PRIVATE_KEY="+key), "doctor")
		if !strings.HasPrefix(want, "the token") {
			assert.Contains(t, got.out, want, got.errout)
			continue
		}
		assert.Equal(t, 2, got.exit)
		assert.Contains(t, got.out+got.errout, strings.ReplaceAll(strings.TrimPrefix(want, "the token: "), "ID", id))
	}
}
