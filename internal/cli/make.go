package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/mergexo/mergexo/internal/github"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/nearest"
	"github.com/mergexo/mergexo/internal/report"
	"github.com/mergexo/mergexo/internal/sandbox"
)

// madeEvent is an event that replay makes from nothing: somebody does something in an invented repository.
type madeEvent struct {
	name, about string
	by          string
	path        string                // below the repository's address in the API
	fields      func(text string) any // what is sent there
	text        string                // where no other is given
	event       string                // of the payload; "" for the name
}

// madeEvents are all of them.
var madeEvents = []madeEvent{
	{
		"issue_comment", "octo comments on pull request 7, which alice has approved", "octo", "issues/7/comments",
		func(text string) any { return map[string]any{"body": text} }, "/mergexo merge", "",
	},
	{
		"issues", "octo opens an issue with the label agent:small-job", "octo", "issues",
		func(text string) any {
			return map[string]any{"title": "Greet the moon", "body": text, "labels": []string{"agent:small-job"}}
		}, "It is greeted by nobody.\n\n```diff\n--- a/greeting.txt\n+++ b/greeting.txt\n@@ -1 +1,2 @@\n hello\n+hello, moon\n```\n", "",
	},
	{
		"pull_request_review", "alice reviews pull request 7", "alice", "pulls/7/reviews",
		func(text string) any { return map[string]any{"event": "COMMENT", "body": text} }, "Please greet the moon as well.", "",
	},
	{
		"pull_request_review_comment", "alice comments on a line of pull request 7", "alice", "pulls/7/comments",
		func(text string) any {
			return map[string]any{"body": text, "path": "world.txt", "line": 1, "side": "RIGHT"}
		}, "A capital letter?\n\n```suggestion\nhello, World\n```\n", "",
	},
	{
		"roadmap", "octo opens an issue with the label agent:roadmap", "octo", "issues",
		func(text string) any {
			return map[string]any{"title": "Greet the sky", "body": text, "labels": []string{"agent:roadmap"}}
		}, "Everything above us is greeted.\n\n- Greet the moon\n- Greet the sun\n", "issues",
	},
	{name: trainEvent, about: "CI passes on the first car of a merge train, with pull request 7 in it"},
}

// madeAssumed is what there is in the repository where they happen.
var madeAssumed = []string{
	"octo/widgets is invented: octo has admin access, alice has write access, its agent is suggestion, its reviewer is a script",
	"pull request #7 merges agent/greet into main, which has gained one commit since; alice has approved it; the tests are grep hello greeting.txt",
}

// madeSettings are those of the invented repository. The test and the reviewer are our own, so nothing has to be isolated from
// anything.
const madeSettings = `[repo]
track = ["agent/*"]
[agent]
adapter = "suggestion"
isolation = "none"
[merge]
tests = ["grep", "hello", "greeting.txt"]
[review]
adapter = "command"
command = ["sh", "-c", """cat > /dev/null; echo '{"findings": [
  {"path": "world.txt", "line": 1, "severity": "should", "text": "Begin with a capital letter.", "suggestion": "Hello, world"},
  {"path": "greeting.txt", "line": 1, "severity": "nit", "text": "This one, too."}]}'"""]
`

// listMade prints the events that can be made.
func listMade(p *program, c *cli.Context) error {
	var all []report.Made
	for _, m := range madeEvents {
		all = append(all, report.Made{Event: m.name, About: m.about, Body: m.text})
	}
	return answer(p, c, nil, map[string]any{"events": all}, func() error { return report.MadeEvents(p.Out, all) })
}

// making is the event that the flags ask for.
func making(c *cli.Context) (madeEvent, error) {
	name := c.String("make")
	i := slices.IndexFunc(madeEvents, func(m madeEvent) bool { return m.name == name })
	if i < 0 {
		var names []string
		for _, m := range madeEvents {
			names = append(names, m.name)
		}
		return madeEvent{}, usagef("--make: event %q is unknown%s", name, nearest.Hint(name, names))
	}
	m := madeEvents[i]
	if m.fields == nil && strings.TrimSpace(c.String("body")) != "" {
		return m, usagef("--body: the event %s has no text", name)
	}
	if c.IsSet("body") {
		m.text = c.String("body")
	}
	if m.fields != nil && strings.TrimSpace(m.text) == "" {
		return m, usagef("--body: want a text, got nothing")
	}
	return m, nil
}

// make lets the event happen in a fresh sandbox, and reads it as GitHub delivers it.
func (m madeEvent) make(ctx context.Context, s *sandbox.Server, urls sandbox.URLs) (model.Event, error) {
	head := ""
	err := s.Seed(func(d *sandbox.Seeder) (err error) {
		head, err = madeScene(d, madeSettings)
		return err
	})
	if err != nil {
		return model.Event{}, err
	}
	fields := m.fields(m.text)
	if f, ok := fields.(map[string]any); ok && f["path"] != nil {
		f["commit_id"] = head
	}
	if _, err := asked(ctx, "sandbox-"+m.by, http.MethodPost, urls.API+"/repos/octo/widgets/"+m.path, fields); err != nil {
		return model.Event{}, usagef("--make %s: %w", m.name, err)
	}
	return delivered(ctx, urls, cmp.Or(m.event, m.name))
}

// delivered is the newest event of this name, as GitHub delivers it.
func delivered(ctx context.Context, urls sandbox.URLs, name string) (model.Event, error) {
	raw, err := asked(ctx, "sandbox-octo", http.MethodGet, urls.Server+"/_sandbox/deliveries", nil)
	if err != nil {
		return model.Event{}, err
	}
	var deliveries []struct {
		Event   string
		Payload json.RawMessage
	}
	if err := json.Unmarshal(raw, &deliveries); err != nil {
		return model.Event{}, fmt.Errorf("read the sandbox's deliveries: %w", err)
	}
	for _, d := range slices.Backward(deliveries) {
		if d.Event == name {
			return github.ParseEvent(name, d.Payload)
		}
	}
	return model.Event{}, fmt.Errorf("make %s: the sandbox delivered none", name)
}

// madeScene seeds the repository with these settings, and returns the head of its pull request.
func madeScene(d *sandbox.Seeder, settings string) (head string, err error) {
	const repo = "octo/widgets"
	at := func(minute int) time.Time { return replayTime.Add(time.Duration(minute-60) * time.Minute) }
	err = errors.Join(d.Repository(sandbox.SeedRepository{FullName: repo, At: at(0), Files: map[string]string{
		"README.md": "# widgets\n", "greeting.txt": "hello\n", ".github/mergexo.toml": settings,
	}}), d.Permission(repo, "octo", "admin"), d.Permission(repo, "alice", "write"))
	head, unmade := d.Commit(repo, "agent/greet", "main", map[string]string{"world.txt": "hello, world\n"}, "Greet the world", at(1))
	err = errors.Join(err, unmade, approved(d, 7, "Greet the world", "agent/greet", at(2), at(3)))
	_, unmade = d.Commit(repo, "main", "", map[string]string{"later.txt": "later\n"}, "Add a file for later", at(4))
	return head, errors.Join(err, unmade)
}

// approved opens a pull request of octo's, which alice approves.
func approved(d *sandbox.Seeder, number int, title, branch string, opened, at time.Time) error {
	const repo = "octo/widgets"
	issue := sandbox.SeedIssue{Number: number, Title: title, Author: "octo", CreatedAt: opened}
	return errors.Join(d.Pull(repo, sandbox.SeedPull{SeedIssue: issue, Base: "main", Head: branch}),
		d.Review(repo, number, sandbox.SeedReview{SeedComment: sandbox.SeedComment{Author: "alice", CreatedAt: at}, State: "APPROVED"}))
}

// asked sends a request to the sandbox with a token.
func asked(ctx context.Context, token, method, address string, body any) ([]byte, error) {
	raw, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := (&http.Client{Transport: &http.Transport{}}).Do(req) // no proxy stands between us and our own process
	if err != nil {
		return nil, fmt.Errorf("ask the sandbox: %w", err)
	}
	defer resp.Body.Close()
	out, err := io.ReadAll(resp.Body)
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the sandbox's answer: %w", err)
	case resp.StatusCode >= http.StatusMultipleChoices:
		return nil, fmt.Errorf("the sandbox answered %s: %s", resp.Status, bytes.TrimSpace(out))
	}
	return out, nil
}
