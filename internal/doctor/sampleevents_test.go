package doctor

import (
	"maps"
	"strings"

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

// said is a comment or a review with unknown text.
func said(login, kind string) expression.Open {
	return expression.Open{"user": user(login, kind), "author_association": "OWNER", "body": expression.Unknown{}, "id": float64(1), "state": "commented"}
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

func inConversation(number float64, login, kind string) expression.Object {
	o := event("created", login, kind, expression.Object{
		"issue": expression.Open{"number": number, "pull_request": expression.Object{"url": "x"}, "user": user(person, "User"), "state": "open",
			"labels": expression.Unknown{}},
		"comment": said(login, kind),
	})
	o["ref"], o["ref_name"] = "refs/heads/main", "main"
	return o
}

func onLine(number float64, head, login, kind string) expression.Object {
	o := event("created", login, kind, expression.Object{"pull_request": pull(number, head), "comment": said(login, kind)})
	return atPull(o, number)
}

func review(number float64, head, login string) expression.Object {
	o := event("submitted", login, "User", expression.Object{"pull_request": pull(number, head), "review": said(login, "User")})
	return atPull(o, number)
}

func atPull(o expression.Object, number float64) expression.Object {
	name, _ := expression.Text("${{ n }}/merge", expression.Object{"n": number})
	o["ref"], o["ref_name"], o["head_ref"], o["base_ref"] = "refs/pull/"+name, name, "agent/greet", "main"
	return o
}

// mergedDesign is the merge of a branch that the design flow named.
func mergedDesign() expression.Object { return ended("agent/design/9-greet", true) }

// endedItem is a pull request for an item of a roadmap that was closed without a merge.
func endedItem() expression.Object { return ended("agent/small/9-greet", false) }

// ended is the end of a pull request from a branch.
func ended(branch string, merged bool) expression.Object {
	p := pull(7, here)
	p["state"], p["merged"] = "closed", merged
	if head, ok := p["head"].(expression.Open); ok {
		head["ref"] = branch
	}
	o := atPull(event("closed", person, "User", expression.Object{"pull_request": p}), 7)
	o["head_ref"] = branch
	return o
}

// closedItem is the issue of an item, which a workflow's token has opened.
func closedItem() expression.Object {
	i := issue()
	i["user"], i["state"] = user("github-actions[bot]", "Bot"), "closed"
	o := event("closed", person, "User", expression.Object{"issue": i})
	o["ref"], o["ref_name"] = "refs/heads/main", "main"
	return o
}

func issue() expression.Open {
	return expression.Open{"number": float64(9), "pull_request": nil, "author_association": "OWNER", "user": user(person, "User"), "state": "open", "labels": expression.Unknown{}}
}

func onIssue() expression.Object {
	o := event("created", person, "User", expression.Object{"issue": issue(), "comment": said(person, "User")})
	o["ref"], o["ref_name"] = "refs/heads/main", "main"
	return o
}

func label() expression.Object {
	o := event("labeled", person, "User", expression.Object{"issue": issue(), "label": expression.Object{"name": expression.Unknown{}}})
	o["ref"], o["ref_name"] = "refs/heads/main", "main"
	return o
}

// scheduled events run as the person who last changed the schedule.
func scheduled() expression.Object {
	return expression.Object{"event": expression.Object{"schedule": "17 * * * *"}, "actor": person, "triggering_actor": person, "ref": "refs/heads/main", "ref_name": "main"}
}

// dispatched runs are started by hand, or by a sweep without an agent.
func dispatched() expression.Object {
	o := event("", person, "User", expression.Object{"inputs": expression.Object{"number": "7"}})
	o["ref"], o["ref_name"] = "refs/heads/main", "main"
	return o
}

// contexts are what a workflow's expressions can read for an event.
func contexts(w *workflow, event string, own expression.Object) expression.Object {
	github := expression.Object{"event_name": event, "repository": here, "repository_owner": "octo", "workflow": w.name,
		"event": expression.Object{}, "head_ref": "", "base_ref": ""}
	maps.Copy(github, own)
	work := expression.Object{"outputs": expression.Object{"work": "true"}} // of the step that finds out, for an event that has some
	return expression.Object{"github": github, "steps": expression.Open{"plan": work}}
}
