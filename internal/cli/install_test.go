package cli_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mergexo/mergexo/internal/github/workflow"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/doctor"
	"github.com/mergexo/mergexo/internal/engine/thread"
	gateway "github.com/mergexo/mergexo/internal/github"
	"github.com/mergexo/mergexo/internal/golden"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
)

// standInGH is GitHub's own program as far as the install page uses it, for the sandbox, which it cannot speak to.
func standInGH(args []string) error {
	switch line := strings.Join(args, " "); {
	case len(args) == 6 && strings.HasPrefix(line, "release download --repo mergexo/mergexo --pattern "):
		return downloadProgram(args[5])
	case len(args) == 5 && args[0] == "attestation" && args[1] == "verify" && strings.HasSuffix(line, " --repo mergexo/mergexo"):
		_, err := os.Stat(args[2]) // scripts/act.d/release looks at what it is
		return err
	case line == "auth token":
		fmt.Println("sandbox-octo")
		return nil
	case len(args) == 3 && strings.HasPrefix(line, "secret set "):
		value, err := io.ReadAll(os.Stdin)
		if err != nil {
			return err
		}
		return storeSecret(context.Background(), os.Getenv("GITHUB_API_URL"), args[2], strings.TrimSpace(string(value)))
	default:
		return fmt.Errorf("gh %s: the stand-in does not know this", line)
	}
}

// downloadProgram writes the asset of a release: a program that is this one.
func downloadProgram(pattern string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	var asset bytes.Buffer
	packed := gzip.NewWriter(&asset)
	if _, err := fmt.Fprintf(packed, "#!/bin/sh\nexec '%s' \"$@\"\n", self); err != nil {
		return err
	}
	if err := packed.Close(); err != nil {
		return err
	}
	return os.WriteFile(strings.Replace(pattern, "*", "v1.2.3", 1), asset.Bytes(), 0o600)
}

// storeSecret makes a secret of octo/widgets.
func storeSecret(ctx context.Context, api, name, value string) error {
	given, err := gateway.Given("sandbox-octo")
	if err != nil {
		return err
	}
	gh, err := gateway.New(gateway.Options{APIURL: api, Credential: given})
	if err != nil {
		return err
	}
	return gh.Setup.SetSecret(ctx, model.Repo{Owner: "octo", Name: "widgets"}, name, value)
}

// standInCodex answers as codex exec does: it writes a file, and says so.
const standInCodex = `#!/bin/sh
case "$1" in
--version) echo "codex-cli 0.169.0" ;;
exec)
	cat > /dev/null
	echo "package widgets" > greet.go
	echo '{"type":"thread.started","thread_id":"0199a213-81c0-7800-8aa1-bbab2a035a53"}'
	echo '{"type":"item.completed","item":{"type":"agent_message","text":"{\"pr_title\":\"Greet\",\"pr_summary\":\"It greets.\",\"commit_message\":\"Greet\",\"git_ops\":[],\"blocked_reason\":null}"}}'
	echo '{"type":"turn.completed","usage":{"input_tokens":1,"output_tokens":1}}' ;;
esac
`

// newcomer is somebody with a clone, who does what the install page says.
type newcomer struct {
	*hub
	dir, bin string
	home     string
	exports  []string
	said     string // what mergexo init printed
	settings string // and wrote
}

// newNewcomer has a repository with the files of a directory.
func newNewcomer(t *testing.T, files string) *newcomer {
	n := &newcomer{hub: newHub(t, ""), dir: filepath.Join(t.TempDir(), "widgets"), bin: t.TempDir(), home: t.TempDir()}
	n.api("octo", "PUT", rightsOfWorkflows, map[string]any{"can_approve_pull_request_reviews": false})
	for name, text := range filesIn(t, files) {
		n.write("main", name, text)
	}
	require.NoError(t, os.Symlink(must.Get(os.Executable())(t), filepath.Join(n.bin, "gh")))
	require.NoError(t, os.WriteFile(filepath.Join(n.bin, "codex"), []byte(standInCodex), 0o755))
	gitIn(t, ".", "clone", "-q", n.url+"/octo/widgets.git", n.dir)
	for key, value := range map[string]string{"user.name": "octo", "user.email": "octo@example.com", "http.extraHeader": "Authorization: Bearer sandbox-octo"} {
		gitIn(t, n.dir, "config", key, value)
	}
	return n
}

// types runs a line of the page in a shell in the clone, and answers what is asked.
func (n *newcomer) types(line, answers string) {
	n.t.Helper()
	if strings.HasPrefix(line, "export ") {
		n.exports = append(n.exports, line)
		return
	}
	cmd := exec.CommandContext(n.t.(*testing.T).Context(), "sh", "-ec", strings.Join(append(slices.Clone(n.exports), line), "\n"))
	cmd.Dir, cmd.Stdin = n.dir, strings.NewReader(answers)
	cmd.Env = []string{"MERGEXO_TEST_MAIN=1", "PATH=" + filepath.Join(n.home, ".local", "bin") + ":" + n.bin + ":" + os.Getenv("PATH"), "HOME=" + n.home, "GITHUB_API_URL=" + n.url + "/api/v3", "GITHUB_SERVER_URL=" + n.url}
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	require.NoError(n.t, cmd.Run(), "%s\n%s", line, &said)
	if strings.HasPrefix(line, "mergexo init") {
		host := strings.TrimPrefix(n.url, "http://")
		n.said = strings.ReplaceAll(strings.ReplaceAll(said.String(), host+"/octo", "octo"), "]: ", "]:\n") // as a terminal shows it after Enter
		// What isolates has stories of its own, and not every machine on which this runs can.
		file := filepath.Join(n.dir, thread.SettingsPath)
		n.settings = text(n.t, file)
		unheld := strings.NewReplacer(`# isolation = "auto"`, `isolation = "none"`, `network = ["model", "packages"]`, `network = "open"`).Replace(n.settings)
		require.NoError(n.t, os.WriteFile(file, []byte(unheld), 0o644))
	}
}

var givenSecret = regexp.MustCompile(`(?m)^          ([A-Za-z_-]+): \$\{\{ secrets\.(\w+) \}\}$`)

// actions runs the workflow that is on main for the newest delivery of an event, as far as the program goes.
func (n *newcomer) actions(event string) ran {
	n.t.Helper()
	require.NoError(n.t, os.WriteFile(n.payload, n.newest(event), 0o600))
	job := string(n.file(doctor.WorkflowPath))
	assert.Contains(n.t, job, "- uses: "+workflow.UsesSetup+"\n")
	assert.Contains(n.t, string(n.file(workflow.SetupPath)), "- run: npm install -g @openai/codex@")
	secrets, env := n.secrets(), n.env("GITHUB_EVENT_NAME="+event, "HOME="+n.dir, "PATH="+n.bin+":"+os.Getenv("PATH"))
	for _, found := range givenSecret.FindAllStringSubmatch(job, -1) {
		require.NotEmpty(n.t, secrets[found[2]], "the secret %s was made", found[2])
		name := found[1]
		if name == strings.ToLower(name) { // an input of the action, and no variable
			name = "INPUT_" + strings.ToUpper(name)
		}
		env = append(env, fmt.Sprintf("%s=%v", name, secrets[found[2]]))
	}
	got := program(n.t.(*testing.T), env, "run", "--plan")
	require.Contains(n.t, got.out, "there is work: ", got.errout)
	got, _, _ = step(n.t.(*testing.T), env, "run")
	return got
}

// file is a file on main.
func (n *newcomer) file(name string) []byte {
	n.t.Helper()
	gitIn(n.t.(*testing.T), n.dir, "fetch", "-q")
	out := must.Get(exec.CommandContext(n.t.(*testing.T).Context(), "git", "-C", n.dir, "show", "origin/main:"+name).Output())(n.t, name)
	return out
}

// commandsOf are the commands of a page: what is indented.
func commandsOf(page string) (all []string) {
	for line := range strings.Lines(fenced("text").ReplaceAllString(page, "")) {
		if command, ok := strings.CutPrefix(line, "    "); ok {
			all = append(all, strings.TrimSpace(command))
		}
	}
	return all
}

// indentedIn is the first indented block below a line of a page that begins so.
func indentedIn(page, begin string) (lines []string) {
	_, below, _ := strings.Cut(page, "\n"+begin)
	_, below, _ = strings.Cut(below, "\n\n")
	block, _, _ := strings.Cut(below, "\n\n")
	for line := range strings.Lines(block) {
		lines = append(lines, strings.TrimSpace(line))
	}
	return lines
}

// TestTheInstallPageWordByWord does what the page says, from a clone to a merged pull request.
func TestTheInstallPageWordByWord(t *testing.T) {
	const name = pages + "install.md"
	page := read(t, name)
	n := newNewcomer(t, "testdata/install/plain")
	commands := commandsOf(page)
	begin, end := slices.Index(commands, "mergexo init --github"), slices.Index(commands, "git push")
	build := slices.Index(commands, built)
	require.Equal(t, 5, build, "the other way to get the program, which CI tries by building it")
	assert.Equal(t, commands[:build], indentedIn(read(t, readme), "1. Install the program."), "the README says the same")
	require.Equal(t, len(commands)-2, end)
	assert.LessOrEqual(t, end-begin+1, 5, "commands from init to the first pull request")
	n.follows(commands)
	shown := fenced("text").FindStringSubmatch(page)
	if golden.Update() {
		require.NoError(t, os.WriteFile("../../"+name, []byte(strings.Replace(page, shown[0], "```text\n"+n.said+"```", 1)), 0o600))
	} else {
		assert.Equal(t, shown[1], n.said)
	}
	n.lands(commands[len(commands)-1])
}

const built = "go install github.com/mergexo/mergexo/cmd/mergexo@latest"

// follows types the commands of the page, but for the last one, which is a comment.
func (n *newcomer) follows(commands []string) {
	n.t.Helper()
	for _, line := range commands[:len(commands)-1] {
		if line != built {
			n.types(line, map[string]string{"mergexo init --github": "\n\n\n", "gh secret set OPENAI_API_KEY": "sk-test\n"}[line])
		}
	}
}

// lands labels an issue, approves the pull request of the agent and has it merged.
func (n *newcomer) lands(command string) {
	t := n.t.(*testing.T)
	t.Helper()
	number, _ := n.labelIssue("Greet")
	n.actions("issues").ok(t)
	var pulls []struct {
		Number int
		Merged *string `json:"merged_at"`
	}
	look := func() {
		t.Helper()
		require.NoError(t, json.Unmarshal(n.raw("octo", "GET", fmt.Sprintf("/api/v3/repos/octo/widgets/pulls?state=all&head=octo:agent/small/%d-greet", number), nil), &pulls))
		require.Len(t, pulls, 1)
	}
	look()
	n.api("alice", "POST", fmt.Sprintf("/api/v3/repos/octo/widgets/pulls/%d/reviews", pulls[0].Number), map[string]any{"event": "APPROVE"})
	require.Equal(t, "/mergexo merge", command)
	n.api("octo", "POST", fmt.Sprintf("/api/v3/repos/octo/widgets/issues/%d/comments", pulls[0].Number), map[string]any{"body": command})
	n.actions("issue_comment").ok(t)
	look()
	assert.NotNil(t, pulls[0].Merged)
	assert.Equal(t, "package widgets\n", string(n.file("greet.go")))
}

// Repositories as people have them, each from nothing to a merged pull request. Programs that stand in for their tools say how the tests
// were run.
func TestTheInstallPageOnOtherRepositories(t *testing.T) {
	for name, want := range map[string]struct{ tools, ran []string }{
		"node":   {[]string{"pnpm"}, []string{"pnpm test"}},
		"python": {[]string{"uv"}, []string{"uv run python -m pytest"}},
	} {
		t.Run(name, func(t *testing.T) {
			n := newNewcomer(t, "testdata/install/"+name)
			calls := filepath.Join(n.home, "calls")
			for _, tool := range want.tools {
				require.NoError(t, os.WriteFile(filepath.Join(n.bin, tool), []byte("#!/bin/sh\necho "+tool+" \"$*\" >> "+calls+"\n"), 0o755))
			}
			commands := commandsOf(read(t, pages+"install.md"))
			n.follows(commands)
			shows(t, "init/setup_"+name+".yml", "", string(n.file(workflow.SetupPath)))
			assert.Equal(t, name != "node", strings.Contains(n.settings, "\nnetwork = [\"model\", \"packages\"]"), "tests with services reach them")
			n.lands(commands[len(commands)-1])
			assert.Subset(t, strings.Split(text(t, calls), "\n"), want.ran)
		})
	}
}
