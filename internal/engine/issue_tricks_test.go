package engine_test

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
)

// issueTricks are what an agent can do on the way from an issue to a pull request.
var issueTricks = map[string]func(model.Request, *model.Outcome){
	// record writes down what the agent was asked.
	"record": func(r model.Request, _ *model.Outcome) {
		appendLine(os.Getenv("FAKE_AGENT_LOG")+".requests", string(got(json.Marshal(r))))
	},
	// told writes what people said, in the order in which they did, and is done.
	"told": func(r model.Request, o *model.Outcome) {
		for _, f := range r.Feedback {
			appendLine("greeting.txt", f.Body)
		}
		appendLine("greeting.txt", "done "+nth())
		o.PRTitle, o.PRSummary, o.CommitMessage = "Greet as told", "It greets.", "Greet as told"
	},
	// beside adds a file and is done; overwrites takes another one over.
	"beside": func(_ model.Request, o *model.Outcome) {
		appendLine("new.txt", "new")
		o.PRTitle, o.PRSummary, o.CommitMessage = "New", "New.", "New"
	},
	"overwrites": func(_ model.Request, o *model.Outcome) {
		check(os.WriteFile("greeting.txt", []byte("the agent's line\n"), 0o600))
		o.PRTitle, o.PRSummary, o.CommitMessage = "Mine", "Mine.", "Mine"
	},
	// marked leaves both sides of a conflict to a person.
	"marked": func(_ model.Request, o *model.Outcome) {
		appendLine("greeting.txt", "<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs")
		o.BlockedReason = "Which one?"
	},
	// pleased says that all is done already.
	"pleased": func(_ model.Request, o *model.Outcome) { o.PRTitle, o.PRSummary = "Greet in French", "All was there." },
	// quiet changes something and does not say that it is ready.
	"quiet": func(model.Request, *model.Outcome) { appendLine("greeting.txt", "quiet") },
	// tested adds a test when it is told that one is missing.
	"tested": when(model.AskRepair, func(r model.Request, o *model.Outcome) {
		appendLine("greeting_test.txt", r.CI[0].Log)
		o.CommitMessage = "Test it"
	}),
	"lost": types("", `git switch -q -c side; echo side >side.txt; git add -A; git commit -q -m Side; git switch -q -`),
	// unmerged commits something, and leaves a merge with a conflict.
	"unmerged": types("", `echo ours >>greeting.txt; git commit -q -a -m Ours; git switch -q -c theirs HEAD~1; echo theirs >>greeting.txt
		git commit -q -a -m Theirs; git switch -q -; git merge -q theirs || true; git branch -q -D theirs`),
	"sloppy": types("", `echo beside >beside.txt`),
	"astray": func(_ model.Request, o *model.Outcome) {
		*o = model.Outcome{Title: "Greet in French", DesignDoc: "# Greeting\n\nSay bonjour.\n", TouchPaths: []string{"../../etc/passwd"}}
	},
	// waits is at work until what it has done was saved.
	"waits": func(model.Request, *model.Outcome) {
		fmt.Fprintln(os.Stderr, atWork)
		for saved := false; !saved; {
			resp := got(http.Get(os.Getenv("FAKE_AGENT_API") + "/api/v3/repos/" + repo.String() + "/git/matching-refs/heads/mergexo/checkpoint"))
			saved = strings.Contains(string(got(io.ReadAll(resp.Body))), "/wip-")
			check(resp.Body.Close())
		}
	},
	"session1": func(_ model.Request, o *model.Outcome) { o.Session = "session-1" },
}

func init() { maps.Copy(tricks, issueTricks) }

// commitAll commits all that there is, as an agent does that commits by itself.
func commitAll(message string) {
	run("git", "add", "-A")
	run("git", "commit", "-q", "-m", message)
}

// requests are what the agent was asked, where it wrote that down.
func (w *world) requests() []model.Request {
	w.t.Helper()
	var all []model.Request
	for line := range strings.Lines(string(contents(w.t, w.log+".requests"))) {
		var r model.Request
		require.NoError(w.t, json.Unmarshal([]byte(line), &r))
		all = append(all, r)
	}
	return all
}

// words are what people said in a request.
func words(r model.Request) []string {
	var out []string
	for _, f := range r.Feedback {
		out = append(out, f.Body)
	}
	return out
}

// attemptMarker is the marker of the newest comment in this state.
func (w *world) attemptMarker(status model.Phase) model.IssueMarker {
	w.t.Helper()
	all := w.marked("issue", string(status))
	require.NotEmpty(w.t, all)
	body := strings.TrimSpace(all[len(all)-1]["body"].(string))
	last := body[strings.LastIndex(body, "\n")+1:]
	var m model.IssueMarker
	text := strings.ReplaceAll(strings.TrimSuffix(strings.TrimPrefix(last, "<!-- mergexo-issue:"), " -->"), `-\u002d`, "--")
	require.NoError(w.t, json.Unmarshal([]byte(text), &m))
	return m
}
