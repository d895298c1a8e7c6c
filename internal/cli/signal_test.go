package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/cli"
	"github.com/mergexo/mergexo/internal/must"
)

// toll stands between mergexo and a hub. When the chosen request comes, mergexo is told to stop; the request then gets
// through, or the connection breaks.
type toll struct {
	*hub
	origin string
	at     *regexp.Regexp // of "METHOD path"
	nth    int            // of those that match, from 1
	broken bool

	mu     sync.Mutex
	seen   []string
	stops  *running
	began  chan struct{} // is closed when stops is set
	passed bool          // the chosen request came
	pushed time.Time     // when the newest push had been applied
}

func newToll(h *hub) *toll {
	g := &toll{hub: h, began: make(chan struct{})}
	server := httptest.NewServer(g)
	h.t.Cleanup(server.Close)
	g.origin = server.URL
	return g
}

// ServeHTTP passes a request on even when whoever sent it is gone: what has left for GitHub arrives there.
func (g *toll) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil || g.due(r) && g.broken {
		panic(http.ErrAbortHandler) // the connection breaks: https://pkg.go.dev/net/http#ErrAbortHandler
	}
	next, err := http.NewRequestWithContext(context.Background(), r.Method, g.url+r.URL.RequestURI(), bytes.NewReader(body))
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	next.Header = r.Header.Clone()
	resp, err := http.DefaultTransport.RoundTrip(next)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	defer resp.Body.Close()
	maps.Copy(w.Header(), resp.Header)
	w.WriteHeader(resp.StatusCode)
	_, _ = io.Copy(w, resp.Body) // the client may be gone
	if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/git-receive-pack") {
		g.mu.Lock()
		g.pushed = time.Now()
		g.mu.Unlock()
	}
}

// due sends the signal when the chosen request has come.
func (g *toll) due(r *http.Request) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	name := r.Method + " " + r.URL.RequestURI()
	g.seen = append(g.seen, name)
	if g.passed || g.at == nil || !g.at.MatchString(name) {
		return false
	}
	if g.nth--; g.nth > 0 {
		return false
	}
	g.passed = true
	<-g.began
	_ = g.stops.Process.Signal(syscall.SIGTERM) // if it has ended, the test's story fails anyway
	return true
}

// through are the addresses behind the toll.
func (g *toll) through(env []string, more ...string) []string {
	return append(append(env,
		"GITHUB_API_URL="+g.origin+"/api/v3", "GITHUB_GRAPHQL_URL="+g.origin+"/api/graphql", "GITHUB_SERVER_URL="+g.origin), more...)
}

// start runs mergexo behind the toll.
func (g *toll) start(env []string, more ...string) *running {
	g.t.Helper()
	p := start(g.t, g.through(env, more...), "run", "--json")
	g.stops = p
	close(g.began)
	return p
}

var (
	passing  = regexp.MustCompile(`, attempt \d|\n*This took \d+ s.*`) // the time it took is left out where it is none
	changing = regexp.MustCompile(`\b[0-9a-f]{10,64}\b|runs/\d+|http://127\.0\.0\.1:\d+`)
	hidden   = regexp.MustCompile(`(?m)^<!-- mergexo-([a-z]+):(.*) -->$`)
	status   = regexp.MustCompile(`"(?:status|phase)":"([a-z_]+)"`)
)

// plain is what a person sees of a text, without what differs from run to run, and what its markers are.
func plain(text string) string {
	text = hidden.ReplaceAllStringFunc(text, func(m string) string {
		parts := hidden.FindStringSubmatch(m)
		return strings.Join(append([]string{parts[1]}, status.FindStringSubmatch(parts[2])...), " ")
	})
	return changing.ReplaceAllString(passing.ReplaceAllString(text, ""), "#")
}

// shows is all that a person sees of an issue and what came of it, and what is hidden beside that.
func (h *hub) shows(number int) string {
	h.t.Helper()
	var b strings.Builder
	for _, said := range h.bodies(number) {
		fmt.Fprintf(&b, "# on the issue\n%s\n", plain(said))
	}
	for _, p := range h.list("/pulls?state=all") {
		if n := int(p["number"].(float64)); n != 1 {
			head := p["head"].(map[string]any)
			fmt.Fprintf(&b, "# pull request %q from %s, %s\n%s\n", p["title"], head["ref"], p["state"], plain(p["body"].(string)))
			for _, said := range h.bodies(n) {
				fmt.Fprintf(&b, "# on the pull request\n%s\n", plain(said))
			}
		}
	}
	for _, name := range h.branches() {
		fmt.Fprintf(&b, "# branch %s\n%s", name, h.file(name, "song.txt"))
		for _, c := range h.list("/commits?sha=" + name) {
			fmt.Fprintf(&b, "- %s\n", plain(c["commit"].(map[string]any)["message"].(string)))
		}
	}
	fmt.Fprintf(&b, "# %d stages\n", h.stages())
	return b.String()
}

const (
	sings = `cat >/dev/null; echo >> "$LEAK/calls"; echo first line > song.txt; echo '{"pr_title": "A song", "pr_summary": "One line.", "commit_message": "Write a line"}'`
	asks  = `cat >/dev/null; echo >> "$LEAK/calls"; echo first line > song.txt; echo '{"blocked_reason": "Is one line enough?"}'`
)

// moment is a request at which mergexo is told to stop.
type moment struct {
	at    string
	nth   int
	reads bool // whether it gets through makes no difference then
}

// toldToStop tells one story for every moment and both fates of its request: mergexo is told to stop, GitHub hears that the
// workflow run is over, and the next run brings it all to the end that an uninterrupted one comes to.
func toldToStop(t *testing.T, agent string, exit int, moments map[string]moment) {
	g := newToll(newHub(t, command(agent)))
	number, env := g.label(91)
	got := g.start(env, "LEAK="+t.TempDir()).ended()
	require.Equal(t, exit, got.exit, got.errout)
	want := g.shows(number)
	for name, m := range moments {
		for fate, broken := range map[string]bool{"gets through": false, "is lost": true} {
			if m.reads && broken {
				continue
			}
			t.Run(name+" "+fate, func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				g := newToll(newHub(t, command(agent)))
				g.at, g.nth, g.broken = regexp.MustCompile(m.at), m.nth, broken
				number, env := g.label(91)
				got := g.start(env, "LEAK="+dir).ended()
				require.True(t, g.passed, "%q", g.seen)
				var report struct{ Result string }
				require.NoError(t, json.Unmarshal([]byte(got.out), &report), "%s%s", got.out, got.errout)
				if exit == cli.ExitOK && name != "the receipt" { // after that there is next to nothing to be left
					assert.Equal(t, "retry", report.Result)
					assert.Equal(t, cli.ExitRetry, got.exit, got.errout)
				}
				g.over(91)
				got = program(t, g.through(g.delivered("issues", 92), "LEAK="+dir), "run", "--json")
				assert.Equal(t, exit, got.exit, got.errout)
				assert.Equal(t, want, g.shows(number))
				assert.Len(t, text(t, filepath.Join(dir, "calls")), 1, "one call of the agent in both runs")
			})
		}
	}
}

func TestARunThatIsToldToStopWhenItWaitsForAPerson(t *testing.T) {
	t.Parallel()
	toldToStop(t, asks, cli.ExitBlocked, map[string]moment{
		"the checkpoint": {at: `^POST .*/git-receive-pack$`, nth: 1},
	})
}

func TestARunThatIsToldToStopWhileItsAgentWorks(t *testing.T) {
	t.Parallel()
	type row struct {
		first  os.Signal // nil: when the first push comes
		again  bool      // and once more when it comes
		every  string    // how often work is saved
		broken bool
	}
	must.Each(t, map[string]row{
		"in between":                       {first: syscall.SIGTERM, every: "100ms"},
		"while the work is saved":          {every: "100ms"},
		"while the work is saved, in vain": {every: "100ms", broken: true},
		"and once more":                    {first: os.Interrupt, again: true, every: "1h"}, // as the runner does it
	}, func(t *testing.T, c row) {
		t.Parallel()
		h, dir := longJob(t, `{"pr_title": "A song", "pr_summary": "Two lines.", "commit_message": "Write the last line"}`, c.every)
		g := newToll(h)
		if c.first == nil || c.again {
			g.at, g.broken = regexp.MustCompile(`^POST .*/git-receive-pack$`), c.broken
		}
		number, env := g.label(91)
		p := g.start(env, "LEAK="+dir)
		if c.first != nil {
			atWork(t, dir)
			require.NoError(t, p.Process.Signal(c.first))
		}
		got := p.ended()
		assert.Equal(t, cli.ExitRetry, got.exit, got.errout)
		assert.Equal(t, g.at != nil, g.passed)
		require.Equal(t, []string{"agent/small/2-write-a-song"}, g.branches(), "nothing else is left")
		assert.Equal(t, "first line\n", g.file("agent/small/2-write-a-song", "song.txt"))
		require.Len(t, g.bodies(number), 1)
		stop := g.bodies(number)[0]
		assert.Contains(t, stop, "(`cancelled`)")
		assert.Contains(t, stop, "/compare/main...")
		assert.Contains(t, stop, `"waiting_reason":"cancelled"`)

		require.NoError(t, os.Remove(filepath.Join(dir, "hold")))
		g.over(91)
		g.rest("alice", "POST", fmt.Sprintf("/issues/%d/comments", number), map[string]any{"body": "Go on."})
		program(t, g.through(g.delivered("issue_comment", 92), "LEAK="+dir), "run", "--json").ok(t)
		assert.Equal(t, "first line\nfirst line\nlast line\n", g.file("agent/small/2-write-a-song", "song.txt"))
		assert.Len(t, g.list("/pulls?head=octo:agent/small/2-write-a-song"), 1)
		assert.Len(t, g.bodies(number), 3, "the stop, what alice said, the receipt")
		assert.Len(t, g.branches(), 1)
		assert.Zero(t, g.stages())
	})
}
