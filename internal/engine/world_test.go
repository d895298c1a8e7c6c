package engine_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/agent"
	"github.com/mergexo/mergexo/internal/clock/clocktest"
	"github.com/mergexo/mergexo/internal/credential"
	"github.com/mergexo/mergexo/internal/engine"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/github"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
	"github.com/mergexo/mergexo/internal/sandbox"
	"github.com/mergexo/mergexo/internal/transcript"
)

var repo = model.Repo{Owner: "octo", Name: "widgets"}

// world is a GitHub with people in it, and MergeXO beside it.
type world struct {
	alone    bool // no run but the story's own may look at it
	t        *testing.T
	sandbox  *sandbox.Server
	close    func() // ends the servers; what they hold stays in the directory
	gate     *gate
	state    string        // the sandbox's directory
	people   string        // where people reach GitHub
	origin   string        // where MergeXO does, through the gate
	now      time.Time     // by our clock
	skew     time.Duration // of GitHub's clock against ours
	number   int
	head     string // branch
	key      string
	token    string            // MergeXO's; "": the workflow's own
	agent    string            // what the fake agent does
	log      string            // where it notes its calls
	workdir  string            // GITHUB_WORKSPACE; empty for an own clone
	env      map[string]string // what the runner has set beside what every story needs
	gitPath  string            // where MergeXO finds git; "": where we do
	keeps    string            // where a runner that keeps its disk has the transcripts of sessions
	seals    transcript.Key    // for transcripts that travel
	runs     int64
	random   int
	tested   map[string]bool // commits that CI has tested
	testRuns int
	logged   record
	clock    *clockwork.FakeClock // what limits go by; only passing moves it
	printed  clocktest.Words      // what agents and tests print
	slept    atomic.Int64         // how long runs have waited for GitHub, in nanoseconds
	passes   bool                 // time passes while they do
}

// record is a log that can be read while it is written.
type record struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (r *record) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.Write(b)
}

func (r *record) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.String()
}

// settings that most stories live by; the agent's adapter and command are filled in.
const settings = `[repo]
track = ["agent/*"]
%s
[agent]
adapter = "command"
command = [%q]
timeout = "1m"
isolation = "none"
pass_env = ["FAKE_AGENT", "FAKE_AGENT_LOG", "FAKE_AGENT_API", "GOCOVERDIR"]
%s
`

// newWorld has one open pull request from agent/greet to main. more goes into the settings' [repo] section and behind.
func newWorld(t *testing.T, more ...string) *world {
	t.Helper()
	self := must.Get(os.Executable())(t)
	section := func(i int) string {
		if i < len(more) {
			return more[i]
		}
		return ""
	}
	text := fmt.Sprintf(settings, section(0), self, section(1))
	return begin(t, text, func() *world {
		w := openWorld(t, t.TempDir(), "")
		for login, permission := range map[string]string{"alice": "write", "bob": "write", "carol": "maintain", "eve": "none"} {
			w.put("/_sandbox/users/"+login, object{"type": "User", "repository": repo.String(), "permission": permission})
		}
		w.write("octo", "main", ".github/mergexo.toml", text)
		w.write("octo", "main", "greeting.txt", "hello\n")
		w.branch(w.head)
		w.write("octo", w.head, "greeting.txt", "hello\nworld\n")
		w.number = int(w.api("octo", "POST", w.path("/pulls"), object{"title": "Greet people", "body": "It greets.", "head": w.head, "base": "main"})["number"].(float64))
		return w
	})
}

// facts are what git said in any world: most of them have the same commits.
var facts sandbox.Facts

// openWorld serves the sandbox that a directory holds, or a new one. What it recorded under another origin is its own now.
func openWorld(t *testing.T, dir, was string) *world {
	t.Helper()
	w := &world{t: t, state: dir, clock: clockwork.NewFakeClock(), now: time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC), head: "agent/greet", agent: "answer", log: filepath.Join(t.TempDir(), "calls"), gate: &gate{}}
	gated := httptest.NewServer(w.gate)
	w.origin = gated.URL
	if was != "" {
		moveOrigin(t, dir, was, w.origin)
	}
	w.sandbox = must.Get(sandbox.New(sandbox.Options{StateDir: dir, Facts: &facts}))(t)
	w.sandbox.SetClock(w.now)
	w.sandbox.SetOrigin(w.origin)
	w.gate.next = w.sandbox
	open := httptest.NewServer(w.sandbox)
	w.people = open.URL
	w.close = sync.OnceFunc(func() {
		gated.Close()
		open.Close()
		require.NoError(t, w.sandbox.Close())
	})
	t.Cleanup(w.close)
	return w
}

// object is JSON as it comes and goes.
type object map[string]any

func (o object) at(path ...string) any {
	var v any = map[string]any(o)
	for _, p := range path {
		v = v.(map[string]any)[p]
	}
	return v
}

func (o object) id() int64 { return int64(o["id"].(float64)) }

func (w *world) path(rest string) string { return "/api/v3/repos/" + repo.String() + rest }

func (w *world) pull(rest string) string { return w.path(fmt.Sprintf("/pulls/%d%s", w.number, rest)) }

// send makes one request to GitHub as a person.
func (w *world) send(login, method, path string, body any) (int, []byte) {
	w.t.Helper()
	raw := must.Get(json.Marshal(body))(w.t)
	req := must.Get(http.NewRequestWithContext(context.Background(), method, w.people+path, bytes.NewReader(raw)))(w.t)
	if login != "" {
		req.Header.Set("Authorization", "Bearer sandbox-"+login)
	}
	resp := must.Get(http.DefaultClient.Do(req))(w.t)
	defer resp.Body.Close()
	out := must.Get(io.ReadAll(resp.Body))(w.t)
	return resp.StatusCode, out
}

// api is send for what has to go well.
func (w *world) api(login, method, path string, body any) object {
	w.t.Helper()
	status, out := w.send(login, method, path, body)
	require.Less(w.t, status, 300, "%s %s: %s", method, path, out)
	o := object{}
	if len(out) > 0 {
		require.NoError(w.t, json.Unmarshal(out, &o), "%s", out)
	}
	return o
}

func (w *world) list(login, path string) []object {
	w.t.Helper()
	var all []object
	for page := 1; ; page++ {
		sep := "?"
		if strings.Contains(path, "?") {
			sep = "&"
		}
		status, out := w.send(login, "GET", fmt.Sprintf("%s%sper_page=100&page=%d", path, sep, page), nil)
		require.Equal(w.t, 200, status, "%s", out)
		var some []object
		require.NoError(w.t, json.Unmarshal(out, &some))
		all = append(all, some...)
		if len(some) < 100 {
			return all
		}
	}
}

func (w *world) put(path string, body any) { w.t.Helper(); w.api("", "PUT", path, body) }

// later lets time pass, so that what happens next has a time of its own.
func (w *world) later(d time.Duration) {
	w.now = w.now.Add(d)
	w.sandbox.SetClock(w.now.Add(w.skew))
}

// write commits a file through the contents API.
func (w *world) write(login, branch, path, text string) {
	w.t.Helper()
	body := object{"message": "Write " + path, "branch": branch, "content": base64.StdEncoding.EncodeToString([]byte(text))}
	if status, out := w.send(login, "GET", w.path("/contents/"+path+"?ref="+branch), nil); status == 200 {
		o := object{}
		require.NoError(w.t, json.Unmarshal(out, &o))
		body["sha"] = o["sha"]
	}
	w.api(login, "PUT", w.path("/contents/"+path), body)
}

// setting adds a line to the settings' [repo] section.
func (w *world) setting(line string) {
	w.t.Helper()
	w.resets("[repo]\n", "[repo]\n"+line+"\n")
}

// review leaves a comment on line 2 of greeting.txt, where "world" stands.
func (w *world) review(login, text string) int64 {
	w.t.Helper()
	w.later(time.Minute)
	return w.api(login, "POST", w.pull("/comments"), object{"body": text, "commit_id": w.tip(), "path": "greeting.txt", "line": 2, "side": "RIGHT"}).id()
}

// remark is review, and gives the event.
func (w *world) remark(login, text string) model.Event {
	w.t.Helper()
	w.review(login, text)
	return w.delivery("pull_request_review_comment")
}

// whoseAgent is the world with an agent that does this.
func (w *world) whoseAgent(how string) *world { w.agent = how; return w }

// commented is a world with a comment to answer, and its event. how is what the agent does where that is not its answer.
func commented(t *testing.T, how ...string) (*world, model.Event) {
	t.Helper()
	w := newWorld(t)
	if len(how) > 0 {
		w.agent = how[0]
	}
	return w, w.remark("alice", "Answer me.")
}

// talk comments in the conversation.
func (w *world) talk(login, text string) int64 {
	w.t.Helper()
	w.later(time.Minute)
	return w.api(login, "POST", w.path(fmt.Sprintf("/issues/%d/comments", w.number)), object{"body": text}).id()
}

// chatter is what a stranger says in the conversation, so many times.
func (w *world) chatter(times int) {
	w.t.Helper()
	for i := range times {
		w.talk("eve", fmt.Sprintf("Chatter %d.", i))
	}
}

// tip is the head of the pull request's branch.
func (w *world) tip() string {
	w.t.Helper()
	return w.api("octo", "GET", w.path("/git/ref/heads/"+w.head), nil).at("object", "sha").(string)
}

// move sets the branch by force, as somebody who rewrites history does.
func (w *world) move(sha string) {
	w.t.Helper()
	w.api("octo", "PATCH", w.path("/git/refs/heads/"+w.head), object{"sha": sha, "force": true})
}

// rewritten makes a commit that is no descendant of the branch's tip and moves the branch there.
func (w *world) rewritten() string {
	w.t.Helper()
	parent := w.at("main")
	tree := w.api("octo", "GET", w.path("/git/commits/"+w.tip()), nil).at("tree", "sha")
	sha := w.api("octo", "POST", w.path("/git/commits"), object{"message": "Rewritten " + w.now.String(), "tree": tree, "parents": []any{parent}})["sha"].(string)
	w.move(sha)
	return sha
}

// delivery is the newest webhook payload of this name.
func (w *world) delivery(name string) model.Event {
	w.t.Helper()
	all := w.payloads(name)
	require.NotEmpty(w.t, all, name)
	return w.event(name, all[len(all)-1])
}

// deliveries are the webhook payloads of this name, oldest first.
func (w *world) deliveries(name string) []model.Event {
	w.t.Helper()
	var events []model.Event
	for _, p := range w.payloads(name) {
		events = append(events, w.event(name, p))
	}
	return events
}

func (w *world) event(name string, payload json.RawMessage) model.Event {
	w.t.Helper()
	return must.Get(github.ParseEvent(name, payload))(w.t)
}

// payloads are those of deliveries, not yet read: most stories want one of many.
func (w *world) payloads(name string) []json.RawMessage {
	w.t.Helper()
	_, out := w.send("", "GET", "/_sandbox/deliveries", nil)
	var all []struct {
		Event   string          `json:"event"`
		Payload json.RawMessage `json:"payload"`
	}
	require.NoError(w.t, json.Unmarshal(out, &all))
	var found []json.RawMessage
	for _, d := range all {
		if d.Event == name {
			found = append(found, d.Payload)
		}
	}
	return found
}

// engine is a new process: it knows nothing but what GitHub holds.
func (w *world) engine() *engine.Engine { return w.engineAs(cmp.Or(w.token, "sandbox-actions")) }

// engineAs is a new process with somebody's token.
func (w *world) engineAs(token string) *engine.Engine {
	w.t.Helper()
	return w.engineWith(credential.Fixed(token))
}

// engineWith is a new process with a credential.
func (w *world) engineWith(source credential.Source) *engine.Engine {
	w.t.Helper()
	w.runs++
	log := slog.New(slog.NewTextHandler(&w.logged, nil))
	gh, err := github.New(github.Options{
		APIURL: w.origin + "/api/v3", GraphQLURL: w.origin + "/api/graphql", Credential: source, Log: log, Now: w.time,
		Sleep: w.sleep, Clock: w.clock,
	})
	require.NoError(w.t, err)
	env := map[string]string{"FAKE_AGENT": w.agent, "FAKE_AGENT_LOG": w.log, "FAKE_AGENT_API": w.people, "PATH": os.Getenv("PATH")}
	if v, ok := os.LookupEnv("GOCOVERDIR"); ok {
		env["GOCOVERDIR"] = v
	}
	maps.Copy(env, w.env)
	self := must.Get(agent.Self())(w.t)
	return &engine.Engine{World: thread.World{
		GitHub: gh, Codec: journal.Codec{Key: []byte(w.key)}, ServerURL: w.origin,
		Git:    git.Options{Credential: source, Workspace: w.workdir, Temp: w.t.TempDir(), Now: w.time, Log: log, Path: cmp.Or(w.gitPath, os.Getenv("PATH"))},
		Run:    thread.Run{ID: w.runs, Attempt: 1, Workflow: ".github/workflows/mergexo.yml", URL: fmt.Sprintf("%s/octo/widgets/actions/runs/%d", w.origin, w.runs)},
		Lookup: func(name string) (string, bool) { v, ok := env[name]; return v, ok }, Foreign: &w.printed, Log: log, Now: w.time, Clock: w.clock, Sessions: w.keeps, Transcripts: w.seals, Isolator: self,
		Random: func() string { w.random++; return fmt.Sprintf("random%d", w.random) },
	}}
}

func (w *world) time() time.Time { return w.now }

// sleep is how runs wait for GitHub.
func (w *world) sleep(ctx context.Context, d time.Duration) error {
	w.slept.Add(int64(d))
	if w.passes {
		w.later(d)
	}
	return ctx.Err()
}

// passing lets as much time pass for what is limited as soon as the agent, or whatever else prints it, has said the word.
func (w *world) passing(d time.Duration, word string) {
	w.printed.At(word, func() { w.clock.Advance(d) })
}

// handle lets a new process take an event, and then tells GitHub that its run is over.
func (w *world) handle(ev model.Event) model.Report {
	w.t.Helper()
	rep := w.foresee(ev, !everyRow)
	w.over(w.runs)
	w.t.Logf("%s: %s", rep.Result, rep.Reason)
	return rep
}

// by lets a process take an event, and leaves its run open.
func (w *world) by(e *engine.Engine, ev model.Event) model.Report {
	w.t.Helper()
	return must.Get(e.Handle(context.Background(), ev))(w.t)
}

// dry is a dry run of an event.
func (w *world) dry(ev model.Event) model.Report {
	w.t.Helper()
	e := w.engine()
	e.DryRun(true)
	return w.by(e, ev)
}

// dies lets a new process take an event and die on the way.
func (w *world) dies(ev model.Event) {
	w.t.Helper()
	w.handle(ev)
	require.True(w.t, w.gate.died())
	w.gate.revive()
}

// done requires that a run did its work.
func (w *world) done(rep model.Report) model.Report {
	w.t.Helper()
	return w.gives(model.ResultDone, rep)
}

// blocked requires that a run ended with a block for this reason.
func (w *world) blocked(reason string, rep model.Report) model.Report {
	w.t.Helper()
	w.gives(model.ResultBlocked, rep)
	require.Equal(w.t, reason, rep.BlockedReason, rep.Reason)
	return rep
}

// gives requires that a run ended so.
func (w *world) gives(result model.Result, rep model.Report) model.Report {
	w.t.Helper()
	require.Equal(w.t, result, rep.Result, rep.Reason)
	return rep
}

// ended requires that a run ended so and says this of it.
func (w *world) ended(result model.Result, says string, rep model.Report) model.Report {
	w.t.Helper()
	w.gives(result, rep)
	require.Contains(w.t, rep.Reason, says)
	return rep
}

// over says that a workflow run has ended.
func (w *world) over(run int64) {
	w.put(fmt.Sprintf("/_sandbox/runs/%d", run), object{"status": "completed"})
}

// comments are the pull request's conversation, oldest first.
func (w *world) comments() []object {
	w.t.Helper()
	return w.list("octo", w.path(fmt.Sprintf("/issues/%d/comments", w.number)))
}

// replies are all review comments that answer another one.
func (w *world) replies() []object {
	w.t.Helper()
	return slices.DeleteFunc(w.list("octo", w.pull("/comments")), func(o object) bool { return o["in_reply_to_id"] == nil })
}

// marked are the conversation comments whose last line is a marker of this kind and, for turns, phase.
func (w *world) marked(kind, phase string) []object {
	w.t.Helper()
	return slices.DeleteFunc(w.comments(), func(o object) bool {
		body := strings.TrimSpace(o["body"].(string))
		last := body[strings.LastIndex(body, "\n")+1:]
		return !strings.HasPrefix(last, "<!-- mergexo-"+kind+":") || phase != "" && !strings.Contains(last, `"phase":"`+phase+`"`) && !strings.Contains(last, `"status":"`+phase+`"`)
	})
}

// saidOnce is the text of the one comment of ours with such a marker.
func (w *world) saidOnce(kind, phase string) string {
	w.t.Helper()
	all := w.marked(kind, phase)
	require.Len(w.t, all, 1, "%s %s", kind, phase)
	return all[0]["body"].(string)
}

// commits are the messages on the branch since main, oldest first, without what they say of their turn.
func (w *world) commits() []string {
	w.t.Helper()
	var out []string
	for _, c := range w.list("octo", w.pull("/commits")) {
		message, _, _ := strings.Cut(c.at("commit", "message").(string), "\n\nMergeXO-Turn: ")
		out = append(out, message)
	}
	return out
}

// file is what a file on the branch holds.
func (w *world) file(path string) string { w.t.Helper(); return w.fileOf(w.head, path) }

// fileOf is what a file on any branch holds.
func (w *world) fileOf(branch, path string) string {
	w.t.Helper()
	raw := w.api("octo", "GET", w.path("/contents/"+path+"?ref="+branch), nil)["content"].(string)
	return string(must.Get(base64.StdEncoding.DecodeString(strings.ReplaceAll(raw, "\n", "")))(w.t))
}

// lacks sees that a branch does not have a file.
func (w *world) lacks(branch, path string) {
	w.t.Helper()
	status, _ := w.send("octo", "GET", w.path("/contents/"+path+"?ref="+branch), nil)
	assert.Equal(w.t, http.StatusNotFound, status, "%s on %s", path, branch)
}

// calls is how often the agent was called.
func (w *world) calls() int {
	w.t.Helper()
	raw, err := os.ReadFile(w.log)
	if os.IsNotExist(err) {
		return 0
	}
	require.NoError(w.t, err)
	return bytes.Count(raw, []byte("\n"))
}

// stages are the hidden refs that MergeXO left, but for the word of a sweep that it has looked around.
func (w *world) stages() []string {
	w.t.Helper()
	var left []string
	for line := range strings.Lines(w.bare("for-each-ref", "--format=%(objectname) %(refname)", "refs/mergexo")) {
		if !strings.Contains(line, "refs/mergexo/radar/") {
			left = append(left, strings.Fields(line)...)
		}
	}
	return left
}

// clone checks out a branch as actions/checkout does.
func (w *world) clone(args ...string) {
	w.t.Helper()
	w.workdir = filepath.Join(w.t.TempDir(), "workspace")
	args = append([]string{"clone", "--quiet"}, append(args, w.origin+"/"+repo.String(), w.workdir)...)
	out, err := exec.CommandContext(context.Background(), "git", args...).CombinedOutput()
	require.NoError(w.t, err, "%s", out)
}

// gate stands between MergeXO and GitHub: it counts, and it can fail at a chosen write.
type gate struct {
	next http.Handler

	mu     sync.Mutex
	seen   []string // every request, as "METHOD path"
	writes int
	// at is asked before each write, with its number from 1; it says what happens to it.
	at    func(n int, r *http.Request) fate
	after func(n int) // is called when a write is applied and before it is answered
	dead  bool
}

// fate is what becomes of a write.
type fate int

const (
	passes    fate = iota
	diesFirst      // the process is dead before the write is applied
	diesAfter      // the write is applied, the process never hears of it
	unclear        // the write is applied, the connection breaks, the process lives
	lost           // the connection breaks before the write is applied, the process lives
)

// only lets write n, counted from 1, have this fate, and all others pass.
func (g *gate) only(n int, f fate) {
	g.at = func(i int, _ *http.Request) fate {
		if i == n {
			return f
		}
		return passes
	}
}

// when lets writes that match have this fate, and all others pass.
func (g *gate) when(f fate, match func(*http.Request) bool) {
	g.at = func(_ int, r *http.Request) fate {
		if match(r) {
			return f
		}
		return passes
	}
}

// pushes lets those pushes have this fate whose number matches, counted from 1.
func (g *gate) pushes(f fate, match func(n int) bool) {
	n := 0
	g.when(f, func(r *http.Request) bool {
		if isPush(r) {
			n++
		}
		return isPush(r) && match(n)
	})
}

// answers has something else answer the requests that match, until again is called.
func (g *gate) answers(match func(*http.Request) bool, answer func(http.ResponseWriter)) (again func()) {
	next := g.next
	g.next = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if match(r) {
			answer(rw)
			return
		}
		next.ServeHTTP(rw, r)
	})
	return func() { g.next = next }
}

// isPush matches what git pushes.
func isPush(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/git-receive-pack") }

func isWrite(r *http.Request) bool {
	if strings.HasSuffix(r.URL.Path, "/graphql") {
		body, _ := io.ReadAll(r.Body) // what is cut off the sandbox refuses
		r.Body = io.NopCloser(bytes.NewReader(body))
		return bytes.HasPrefix(body, []byte(`{"query":"mutation`))
	}
	if strings.Contains(r.URL.Path, "/api/") {
		return r.Method != http.MethodGet && r.Method != http.MethodHead
	}
	return strings.HasSuffix(r.URL.Path, "/git-receive-pack") && r.Method == http.MethodPost
}

func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n, f := g.admit(r)
	switch {
	case f == diesFirst || f == lost:
		g.bury(f)
		panic(http.ErrAbortHandler)
	case n == 0:
		g.next.ServeHTTP(w, r)
		return
	}
	rec := httptest.NewRecorder()
	g.next.ServeHTTP(rec, r)
	if f == diesAfter || f == unclear {
		g.bury(f)
		panic(http.ErrAbortHandler)
	}
	if g.after != nil {
		g.after(n)
	}
	maps.Copy(w.Header(), rec.Header())
	w.WriteHeader(rec.Code)
	_, _ = w.Write(rec.Body.Bytes())
}

// admit numbers a write from 1 (0: no write) and asks for its fate. Nobody holds the lock meanwhile: what is asked may
// let another process in.
func (g *gate) admit(r *http.Request) (int, fate) {
	g.mu.Lock()
	if g.dead {
		g.mu.Unlock()
		return 0, lost
	}
	g.seen = append(g.seen, r.Method+" "+r.URL.RequestURI())
	n := 0
	if isWrite(r) {
		g.writes++
		n = g.writes
	}
	at := g.at
	g.mu.Unlock()
	if n > 0 && at != nil {
		return n, at(n, r)
	}
	return n, passes
}

func (g *gate) bury(f fate) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.dead = g.dead || f == diesFirst || f == diesAfter
}

// died says whether the process was killed.
func (g *gate) died() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.dead
}

// revive starts counting anew, with nothing failing.
func (g *gate) revive() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.seen, g.writes, g.at, g.after, g.dead = nil, 0, nil, nil, false
}

// counted are the requests so far: API calls, and network operations of git, each of which begins with one advertisement.
func (g *gate) counted() (api, git int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, s := range g.seen {
		switch {
		case strings.Contains(s, "/info/refs"):
			git++
		case strings.Contains(s, "/api/"):
			api++
		}
	}
	return api, git
}
