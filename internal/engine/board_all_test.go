//go:build all

package engine_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/golden"
	"github.com/mergexo/mergexo/internal/model"
)

// change opens a pull request of that title, which changes one file.
func (w *world) change(title, branch, file, text string) int {
	w.t.Helper()
	w.head = "agent/" + branch
	w.api("octo", "POST", w.path("/git/refs"), object{"ref": "refs/heads/" + w.head, "sha": w.at("main")})
	w.write("octo", w.head, file, text)
	w.number = int(w.api("octo", "POST", w.path("/pulls"), object{"title": title, "head": w.head, "base": "main"})["number"].(float64))
	w.later(time.Minute)
	w.handle(w.delivery("pull_request"))
	return w.number
}

// hears has a comment of alice answered, which takes some minutes and money.
func (w *world) hears(agent, text string) {
	w.t.Helper()
	w.agent = agent
	w.handle(w.say("alice", text))
}

// landsCar has CI test a car, and the car land.
func (w *world) landsCar(car int) {
	w.t.Helper()
	branch := fmt.Sprint("mergexo/train/main/", car)
	w.handle(w.tests(branch, w.trains()[branch]))
}

// guest is a pull request from mallory's fork that carol lets in.
func (w *world) guest(title string) {
	w.t.Helper()
	w.put("/_sandbox/users/mallory", object{"type": "User", "repository": repo.String(), "permission": "none"})
	w.api("mallory", "POST", w.path("/forks"), object{})
	w.api("mallory", "POST", "/api/v3/repos/mallory/widgets/git/refs", object{"ref": "refs/heads/typo", "sha": w.at("main")})
	w.contribute("typo", "typo.txt", "typo\n")
	w.number = int(w.api("mallory", "POST", w.path("/pulls"), object{"title": title, "head": "mallory:typo", "base": "main"})["number"].(float64))
	w.letIn("carol")
}

// named gives pull requests their titles.
func (w *world) named(numbers []int, titles ...string) {
	w.t.Helper()
	for i, n := range numbers {
		w.on(n).api("octo", "PATCH", w.pull(""), object{"title": titles[i]})
	}
}

// busy is a repository in the middle of its work: nine days of it.
func busy(t *testing.T) *world {
	t.Helper()
	w := newTrain(t, "speculate = 2", "batch = 1", "[external]", "enabled = true", "evaluate = "+evaluates("fix", "the new test passes without the change"))
	w.gate.at = func(n int, r *http.Request) fate { // agents take their time before they push
		if strings.HasSuffix(r.URL.Path, "/git-receive-pack") {
			w.later(time.Duration(2+n%9) * time.Minute)
		}
		return passes
	}
	day := func() { w.later(22 * time.Hour) }
	w.hears("answer+costs", "Greet the moon, too.")
	w.hears("answer+costs", "And the sun.")
	day()
	w.open("alice", "Greet in French", "People in France read this.")
	w.agent = "job+costs"
	w.handle(w.label("carol", smallJob))
	day()
	w.change("Say goodbye at the end", "goodbye", "goodbye.txt", "goodbye\n")
	w.hears("notes+costs", "Say it twice.")
	w.hears("costs", "Why not three times?")
	w.change("Read names from a file", "names", "names.txt", "ada\n")
	w.hears("notes+costs", "Skip empty lines.")
	w.passed("ci")
	day()
	w.change("Greet in upper case", "upper", "goodbye.txt", "GOODBYE\n")
	w.hears("answer+costs", "What about numbers?")
	w.check("ci", "failure")
	day()
	w.change("Print the time of day", "time", "time.txt", "noon\n")
	w.hears("notes+costs", "In UTC, please.")
	w.rewritten()
	w.hears("notes", "And the date.")
	day()
	w.change("Count the greetings", "count", "count.txt", "1\n")
	w.command("carol", "/mergexo pause")
	day()
	landed := w.ready("landed", "one\n", "two\n")
	w.named(landed, "Trim spaces", "Use one line per greeting")
	w.aboard(landed, "")
	w.landsCar(1)
	w.landsCar(2)
	w.open("bob", "Greet robots", "They read this as well.")
	w.agent = "stuck"
	w.handle(w.label("carol", bugfix))
	w.guest("Fix a typo in the greeting")
	w.agent = "answer"
	w.sweep()
	day()
	cars := w.ready("car", "three\n", "four\n", "five\n", "six\n")
	w.named(cars, "Load greetings from disk", "Cache the greetings", "Log what was greeted", "Greet in Spanish")
	w.aboard(cars, "")
	w.landsCar(3)
	w.change("Greet the reader by name", "reader", "reader.txt", "reader\n")
	w.command("carol", "/mergexo merge")
	w.change("Keep the order of names", "order", "order.txt", "a\nb\n")
	w.hears("exit", "Sort them.")
	w.check("ci", "")
	w.change("Greet plants", "plants", "plants.txt", "plants\n")
	w.hears("notes+costs", "Trees, too.")
	w.talk("bob", "Is moss a plant?")
	w.change("Greet in verse", "verse", "verse.txt", "roses are red\n")
	ev := w.say("alice", "Make it rhyme.")
	w.gate.when(diesFirst, func(r *http.Request) bool {
		return r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/git-receive-pack")
	}) // the run is still at work
	_, _ = w.engine().Handle(context.Background(), ev)
	w.later(5 * time.Minute)
	return w
}

var anySHA = regexp.MustCompile(`\b[0-9a-f]{40}\b`)

// The sample of the dashboard's pictures and tests is what the engine reads of a repository at work. What differs from run to run
// is the port of the server and the hashes of commits: they are replaced, and nothing else. To rewrite the sample, then its
// pages:
//
//	go test -tags all ./internal/engine -run TestTheBoardOf -update
//	go test ./internal/dashboard -update
func TestTheBoardOfARepositoryAtWork(t *testing.T) {
	w := busy(t)
	w.gate.revive()
	b := w.board()
	assert.Zero(t, w.gate.writes, "a look changes nothing")
	states := map[model.StatusState]int{}
	for _, p := range b.Pulls {
		states[p.State]++
	}
	t.Log(states, len(b.Issues), len(b.Conflicts), len(b.Needs()))
	raw, err := json.MarshalIndent(b, "", "  ")
	require.NoError(t, err)
	names := map[string]string{}
	text := anySHA.ReplaceAllStringFunc(strings.ReplaceAll(string(raw), w.origin, "https://github.com"), func(sha string) string {
		if names[sha] == "" {
			sum := sha256.Sum256([]byte(fmt.Sprint(len(names))))
			names[sha] = hex.EncodeToString(sum[:20])
		}
		return names[sha]
	})
	golden.Text(t, filepath.Join("..", "..", "dashboard", "testdata", "board.json"), text)
}
