package engine_test

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"log/slog"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/engine"
	"github.com/mergexo/mergexo/internal/github"
	"github.com/mergexo/mergexo/internal/github/app"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
)

// robot is an App with its key, and the tokens that were made for it.
type robot struct {
	w     *world
	key   string // PEM
	id    string
	given []string
}

func newRobot(w *world, repositories ...string) *robot {
	w.t.Helper()
	key := must.Get(rsa.GenerateKey(rand.Reader, 2048))(w.t)
	public := must.Get(x509.MarshalPKIXPublicKey(&key.PublicKey))(w.t)
	r := &robot{w: w, key: string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}))}
	r.id = strconv.FormatFloat(w.api("", "PUT", "/_sandbox/apps/robot", object{
		"public_key": string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public})), "account": "octo", "repositories": repositories,
		"permissions": map[string]string{"contents": "write", "issues": "write", "pull_requests": "write", "actions": "write", "checks": "read", "statuses": "read"},
	})["id"].(float64), 'f', 0, 64)
	return r
}

// engine is a new process that is given the App.
func (r *robot) engine(needs []app.Need) *engine.Engine {
	r.w.t.Helper()
	tokens, err := app.New(app.Options{
		ID: r.id, Key: r.key, Repo: repo, Needs: needs, Given: func(token string) error { r.given = append(r.given, token); return nil },
		GitHub: github.Options{
			APIURL: r.w.origin + "/api/v3", Now: r.w.time, Log: slog.New(slog.NewTextHandler(&r.w.logged, nil)),
			Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }, Clock: r.w.clock,
		},
	})
	require.NoError(r.w.t, err)
	e := r.w.engineWith(tokens)
	e.Secrets, e.Reach = []string{r.key}, tokens.Reach
	return e
}

// handle lets a new process take an event, and tells GitHub that its run is over.
func (r *robot) handle(ev model.Event) model.Report {
	r.w.t.Helper()
	rep := must.Get(r.engine(app.ToWrite).Handle(context.Background(), ev))(r.w.t)
	r.w.over(r.w.runs)
	return rep
}

// hours lets more than an hour pass each time that the word is printed.
func (w *world) hours(word string) {
	w.printed.At(word, func() {
		w.hours(word)
		w.later(70 * time.Minute)
	})
}

func TestAnAppOutlivesItsTokens(t *testing.T) {
	w := newWorld(t, `required_tests = ["sh", "-c", "echo tests are running; test -f fixed.txt"]`, `test_timeout = "90m"`)
	r := newRobot(w, "octo/widgets")
	w.agent = "answer+repair"
	w.hours("tests are running")
	w.review("alice", "Answer me.")
	begin := w.now
	r.w.done(r.handle(w.delivery("pull_request_review_comment")))
	w.settled(1, 1, 2)
	assert.Equal(t, 2*70*time.Minute, w.now.Sub(begin))
	assert.Len(t, r.given, 2, "one before the agent, and one after its last tests: a first use is soon enough")
	assert.Equal(t, "robot[bot]", w.replies()[0].at("user", "login"))
	for _, secret := range append(r.given, strings.Split(r.key, "\n")[4]) {
		assert.NotContains(t, w.logged.String(), secret)
	}
}

func TestAnAppsTokenForTheAgentsJobOnlyReads(t *testing.T) {
	w := newWorld(t)
	r := newRobot(w, "octo/widgets")
	ev := w.remark("alice", "Answer me.")
	_, _ = r.engine(app.ToRead).Handle(t.Context(), ev) // whatever becomes of it
	require.NotEmpty(t, r.given)
	for path, want := range map[string]int{w.path("/git/refs"): 403, w.path("/issues"): 403} {
		req := must.Get(http.NewRequest(http.MethodPost, w.origin+path, strings.NewReader(`{"title": "no", "ref": "refs/heads/no", "sha": "`+w.tip()+`"}`)))(t)
		req.Header.Set("Authorization", "Bearer "+r.given[0])
		answer := must.Get(http.DefaultClient.Do(req))(t)
		require.NoError(t, answer.Body.Close())
		assert.Equal(t, want, answer.StatusCode, path)
	}
	w.settled(0, 0, 0)
}

func TestAnAppLandsAGroup(t *testing.T) {
	g := newGroup(t)
	r := newRobot(g.world, "octo/widgets", "octo/client")
	r.w.done(r.handle(g.say("carol", "/mergexo merge")))
	assert.Equal(t, "merged merged", g.badges())
	assert.Len(t, r.given, 2, "one for the run's own repository, and one for both")
}

func TestAGroupThatTheAppIsNotInstalledOnIsTold(t *testing.T) {
	g := newGroup(t)
	r := newRobot(g.world, "octo/widgets")
	here, there := g.at("main"), g.main()
	rep := r.handle(g.say("carol", "/mergexo merge"))
	assert.NotEqual(t, model.ResultDone, rep.Result, rep.Reason)
	assert.Contains(t, g.marked("merge", "")[0]["body"], "octo/client does not exist, or the token may not see it")
	assert.Equal(t, []string{here, there}, []string{g.at("main"), g.main()})
}

// An agent should not get to see our secrets. If it does, they still go nowhere.
func TestOurOwnSecretsAreNeverPublished(t *testing.T) {
	w := newWorld(t, "", "[feedback]\nallow_secrets = [\"**\"]")
	r := newRobot(w, "octo/widgets")
	line := strings.Split(r.key, "\n")[4]
	settings := w.fileOf("main", ".github/mergexo.toml")
	script := func(text string) {
		command := `command = ["sh", "-c", ` + strconv.Quote("cat > /dev/null; "+text) + "]"
		w.write("octo", "main", ".github/mergexo.toml", regexp.MustCompile(`(?m)^command = .*$`).ReplaceAllLiteralString(settings, command))
	}
	script(`echo '{"general_comment": "I found ` + line + ` there."}'`)
	require.Equal(t, model.ResultDone, r.handle(w.say("alice", "What is there?")).Result)
	said := w.marked("turn", "done")[0]["body"]
	assert.Contains(t, said, "I found *** there.")

	script(`echo "` + line + `" > fixture; echo '{"commit_message": "A fixture"}'`)
	rep := r.w.blocked(model.ReasonSecret, r.handle(w.say("alice", "Write it down.")))
	assert.Contains(t, rep.Reason, "a secret of MergeXO's own")
	assert.NotContains(t, rep.Reason, line)
	for _, c := range w.comments() {
		assert.NotContains(t, c["body"], line)
	}
	assert.NotContains(t, w.bare("for-each-ref"), "refs/mergexo/turn", "not even on a hidden ref")
}
