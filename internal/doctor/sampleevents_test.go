package doctor

import (
	"maps"
	"strings"

	"github.com/mergexo/mergexo/internal/github/workflow"

	"github.com/mergexo/mergexo/internal/sandbox/expression"
)

// sampleEvent is an event by its name.
type sampleEvent struct{ event string }

const (
	person, app = "ada", "some-app[bot]"
	here, fork  = "octo/widgets", "mallory/widgets"
)

func user(login, kind string) expression.Open {
	return expression.Open{"login": login, "type": kind}
}

func event(action, login, kind string, parts expression.Object) expression.Object {
	parts["action"], parts["sender"] = action, user(login, kind)
	parts["repository"] = repositoryNamed(here)
	return expression.Object{"event": parts, "actor": login, "triggering_actor": login}
}

// repositoryNamed is one of the two. The fork has another owner and another id.
func repositoryNamed(name string) expression.Open {
	owner, bare, _ := strings.Cut(name, "/")
	return expression.Open{"full_name": name, "name": bare, "owner": user(owner, "User"), "id": float64(len(name)), "fork": name != here, "default_branch": "main"}
}

func pull(number float64, head string) expression.Open {
	end := func(repo, ref string) expression.Open {
		return expression.Open{"ref": ref, "repo": repositoryNamed(repo)}
	}
	return expression.Open{"number": number, "head": end(head, "agent/greet"), "base": end(here, "main"), "user": user(person, "User"), "author_association": "OWNER",
		"draft": false, "state": "open", "merged": false, "labels": expression.Unknown{}}
}

func atPull(o expression.Object, number float64) expression.Object {
	name, _ := expression.Text("${{ n }}/merge", expression.Object{"n": number})
	o["ref"], o["ref_name"], o["head_ref"], o["base_ref"] = "refs/pull/"+name, name, "agent/greet", "main"
	return o
}

// contexts are what a workflow's expressions can read for an event.
func contexts(w *workflow.Workflow, event string, own expression.Object) expression.Object {
	github := expression.Object{"event_name": event, "repository": here, "repository_owner": "octo", "workflow": w.Name,
		"event": expression.Object{}, "head_ref": "", "base_ref": ""}
	maps.Copy(github, own)
	work := expression.Object{"outputs": expression.Object{"work": "true"}} // of the step that finds out, for an event that has some
	return expression.Object{"github": github, "steps": expression.Open{"plan": work}}
}
