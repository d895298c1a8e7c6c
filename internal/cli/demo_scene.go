package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/mergexo/mergexo/internal/sandbox"
	"github.com/mergexo/mergexo/internal/sandbox/pages"
)

// demoRepository is the demo's only one.
const demoRepository = "octo/widgets"

// demoSettings let an agent work that needs no model. Its tests read one file, so nothing has to be isolated from anything.
const demoSettings = `[repo]
track = ["agent/*"]
[agent]
adapter = "suggestion"
isolation = "none"
[merge]
tests = ["grep", "-q", "def greet", "greet.py"]
`

const (
	demoProgram = `def greet(name):
    return "hello, " + name


if __name__ == "__main__":
    print(greet("world"))
`
	demoChange = `def greet(name, language="en"):
    if language == "fr":
        return "salut, " + name
    return "hello, " + name


if __name__ == "__main__":
    print(greet("world"))
`
)

// demoIssues are what people want. The agent takes the diff blocks as they are, whatever was merged before.
var demoIssues = []sandbox.SeedIssue{
	{Number: 1, Title: "Say in the README how to try it", Author: "bob", Body: "It says what it is, but not how to run it.\n\n" +
		"```diff\n--- a/README.md\n+++ b/README.md\n@@ -1,3 +1,7 @@\n # widgets\n \n Greets people.\n+\n+Try it:\n+\n+    python3 greet.py\n```\n"},
	{Number: 3, Title: "Greet the moon", Author: "alice", Body: "Only the world is greeted so far. Put the label `agent:small-job` on this issue, and the agent does it.\n\n" +
		"```diff\n--- /dev/null\n+++ b/moon.py\n@@ -0,0 +1,3 @@\n+from greet import greet\n+\n+print(greet(\"moon\"))\n```\n"},
	{Number: 4, Title: "Greet the whole sky", Author: "alice", Body: "Put the label `agent:roadmap` on this issue, and the agent plans one issue for each entry:\n\n" +
		"- Greet the sun\n- Greet the stars\n"},
}

// demoTips lists things to try, in this order.
var demoTips = []pages.Tip{
	{Path: "/pull/2", Name: "#2", Text: "press Merge as octo, then approve it as alice."},
	{Path: "/issues/3", Name: "#3", Text: "add the label agent:small-job."},
	{Path: "/issues/4", Name: "#4", Text: "add the label agent:roadmap, then merge the pull request that the agent opens."},
	{Path: "/pull/5/files", Name: "the diff of #5", Text: "click on a line, and suggest a change."},
}

// demoScene is the repository as it is before anything happens.
func demoScene(d *sandbox.Seeder) error {
	errs := []error{d.Repository(sandbox.SeedRepository{FullName: demoRepository, Files: map[string]string{
		"README.md": "# widgets\n\nGreets people.\n", "greet.py": demoProgram, ".github/mergexo.toml": demoSettings,
	}})}
	for login, permission := range map[string]string{"octo": "admin", "alice": "write", "bob": "read"} {
		errs = append(errs, d.Permission(demoRepository, login, permission))
	}
	for _, i := range demoIssues {
		errs = append(errs, d.Issue(demoRepository, i))
	}
	_, err := d.Commit(demoRepository, "agent/greet-in-french", "main", map[string]string{"greet.py": demoChange}, "Greet in French", demoTime)
	return errors.Join(errors.Join(errs...), err, d.Pull(demoRepository, sandbox.SeedPull{
		SeedIssue: sandbox.SeedIssue{Number: 2, Title: "Greet in French", Author: "octo", Body: "French speakers are greeted in French where they ask for it."},
		Base:      "main", Head: "agent/greet-in-french",
	}))
}

// demoTime is when the first commits were made.
var demoTime = replayTime

// demoBegins lets people do what the agent works on first: a review of the pull request, and a label on an issue.
func demoBegins(ctx context.Context, urls sandbox.URLs, key string) (err error) {
	post := func(by, path string, fields map[string]any) {
		if err == nil {
			_, err = asked(ctx, key+".sandbox-"+by, http.MethodPost, urls.API+"/repos/"+demoRepository+path, fields)
		}
	}
	for _, label := range []string{"agent:small-job", "agent:bugfix", "agent:design", "agent:roadmap", "agent:ignore"} {
		post("octo", "/labels", map[string]any{"name": label, "color": "1d76db"})
	}
	post("alice", "/pulls/2/reviews", map[string]any{"event": "COMMENT", "comments": []any{map[string]any{
		"path": "greet.py", "line": 3, "side": "RIGHT", "body": "A greeting for strangers, please:\n\n```suggestion\n        return \"bonjour, \" + name\n```\n",
	}}})
	post("octo", "/issues/1/labels", map[string]any{"labels": []string{"agent:small-job"}})
	if err != nil {
		return fmt.Errorf("begin the demo: %w", err)
	}
	return nil
}
