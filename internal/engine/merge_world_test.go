package engine_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
)

// newMerge is a world with a pull request that alice has approved. more are lines of [merge].
func newMerge(t *testing.T, more ...string) *world {
	t.Helper()
	lines := strings.Join(append([]string{"[merge]"}, more...), "\n")
	if !strings.Contains(lines, "tests =") {
		lines = strings.Replace(lines, "[merge]", "[merge]\ntests = \"none\"", 1)
	}
	w := newWorld(t, "", lines)
	w.approve("alice")
	return w
}

// on is the world with this number for what the story is about.
func (w *world) on(number int) *world { w.number = number; return w }

// approve approves the head as it is now.
func (w *world) approve(login string) { w.t.Helper(); w.opinion(login, "APPROVE") }

// endorsed approves the head, and lets a process take the event of that.
func (w *world) endorsed(login string) model.Report {
	w.t.Helper()
	w.approve(login)
	return w.handle(w.delivery("pull_request_review"))
}

// unapproved is a request to merge that waits for an approval.
func unapproved(t *testing.T) *world {
	t.Helper()
	return begin(t, "unapproved", func() *world {
		w := newWorld(t, "", "[merge]\ntests = \"none\"")
		w.command("carol", "/mergexo merge")
		w.requested("in_approval APPROVAL_MISSING")
		return w
	})
}

func (w *world) opinion(login, event string) int64 {
	w.t.Helper()
	w.later(time.Minute)
	body := object{"event": event, "commit_id": w.tip()}
	if event != "APPROVE" { // words would be feedback
		body["body"] = "my opinion"
	}
	return w.api(login, "POST", w.pull("/reviews"), body).id()
}

// command lets somebody give a command, and a process take its event.
func (w *world) command(login, text string) model.Report {
	w.t.Helper()
	return w.handle(w.say(login, text))
}

// lands gives a command to merge that is obeyed at once.
func (w *world) lands(command string) {
	w.t.Helper()
	w.done(w.command("carol", command))
	require.Equal(w.t, "merged", w.badge(), w.logged.String())
}

// requested sees in which state the only request to merge is, and what its comment says.
func (w *world) requested(state string, says ...string) {
	w.t.Helper()
	assert.Equal(w.t, []string{state}, w.merges(), w.logged.String())
	for _, text := range says {
		assert.Contains(w.t, w.request(), text)
	}
}

// landsNothing sees in the end that main is where it is now.
func (w *world) landsNothing() *world {
	w.t.Helper()
	base := w.at("main")
	w.t.Cleanup(func() { assert.Equal(w.t, base, w.at("main"), "nothing lands: %s", w.logged.String()) })
	return w
}

// inVain gives a command to merge that lands nothing by now and leaves no lock, and sees in which state the only request is.
func (w *world) inVain(order, state string, says ...string) model.Report {
	w.t.Helper()
	base := w.at("main")
	rep := w.command("carol", order)
	assert.Equal(w.t, base, w.at("main"), w.logged.String())
	assert.Empty(w.t, w.stages())
	w.requested(state, says...)
	return rep
}

// edits has somebody put words before a comment of the conversation, one minute later.
func (w *world) edits(login string, c object) {
	w.t.Helper()
	w.later(time.Minute)
	w.api(login, "PATCH", w.path(fmt.Sprintf("/issues/comments/%d", c.id())), object{"body": "Edited.\n\n" + c["body"].(string)})
}

// at is where a branch is; "" when there is none.
func (w *world) at(branch string) string {
	w.t.Helper()
	status, out := w.send("octo", "GET", w.path("/git/ref/heads/"+branch), nil)
	if status == 404 {
		return ""
	}
	require.Equal(w.t, 200, status, "%s", out)
	return w.api("octo", "GET", w.path("/git/ref/heads/"+branch), nil).at("object", "sha").(string)
}

// badge is how GitHub shows the pull request: open, closed or merged.
func (w *world) badge() string {
	w.t.Helper()
	pull := w.api("octo", "GET", w.pull(""), nil)
	if pull["merged"].(bool) {
		return "merged"
	}
	return pull["state"].(string)
}

// merges are the states that the requests to merge are in, oldest first, as "state REASON".
func (w *world) merges() []string {
	w.t.Helper()
	var out []string
	for _, c := range w.marked("merge", "") {
		body := strings.TrimSpace(c["body"].(string))
		last := body[strings.LastIndex(body, "\n")+1:]
		said := field(last, "state")
		if why := field(last, "reason"); why != "" {
			said += " " + why
		}
		out = append(out, said)
	}
	return out
}

// field is the value of a field of text in a marker.
func field(marker, name string) string {
	_, rest, ok := strings.Cut(marker, fmt.Sprintf("%q:\"", name))
	if !ok {
		return ""
	}
	value, _, _ := strings.Cut(rest, `"`)
	return value
}

// bare is the repository behind GitHub, for git itself.
func (w *world) bare(args ...string) string {
	w.t.Helper()
	return w.bareTold("", args...)
}

// bareTold is bare with a standard input.
func (w *world) bareTold(input string, args ...string) string {
	w.t.Helper()
	dirs, err := filepath.Glob(filepath.Join(w.state, "repositories", "*.git"))
	require.NoError(w.t, err)
	require.NotEmpty(w.t, dirs)
	cmd := exec.CommandContext(context.Background(), "git", append([]string{"-c", "user.name=Octo", "-c", "user.email=octo@example.com", "--git-dir", dirs[0]}, args...)...)
	cmd.Stdin = strings.NewReader(input)
	out, err := cmd.CombinedOutput()
	require.NoError(w.t, err, "git %v: %s", args, out)
	return strings.TrimSpace(string(out))
}

// asks is a shell command that makes a request of GitHub as a person, for tests in the middle of which something happens there.
// It is this program: a machine with Go and git need not have curl.
func (w *world) asks(login, method, path, body string) string {
	w.t.Helper()
	self, err := os.Executable()
	require.NoError(w.t, err)
	return fmt.Sprintf("%s=%s '%s' %s '%s%s' '%s'", askAs, login, self, method, w.people, path, body)
}

// askAs is the variable that makes this program one that makes a request.
const askAs = "FAKE_PERSON"

// ask makes the request, and is the program's exit code.
func ask(login string, args []string) int {
	method, url, body := args[0], args[1], args[2]
	req, err := http.NewRequestWithContext(context.Background(), method, url, strings.NewReader(body))
	check(err)
	req.Header.Set("Authorization", "Bearer sandbox-"+login)
	resp, err := http.DefaultClient.Do(req)
	check(err)
	defer resp.Body.Close()
	if _, err := io.Copy(os.Stderr, resp.Body); err != nil || resp.StatusCode >= 400 {
		return 1
	}
	return 0
}
