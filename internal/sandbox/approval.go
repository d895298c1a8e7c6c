package sandbox

import (
	"path"
	"slices"

	"go.yaml.in/yaml/v3"
)

// heldActions are what happens to a pull request that starts a workflow which names no types:
// https://docs.github.com/en/actions/reference/workflows-and-actions/events-that-trigger-workflows#pull_request
var heldActions = []string{"opened", "synchronize", "reopened"}

// hold makes the runs that a pull request of GITHUB_TOKEN, or a push of it to one, starts: none of them does anything before
// somebody with write access approves it, which PUT /_sandbox/runs/{id} with the status "queued" stands for. Webhooks hear that it is completed, with the conclusion "action_required".
// https://github.blog/changelog/2026-06-11-github-actions-workflows-triggered-by-github_token
func (h hooks) hold(i *Issue, action string, actor *User) {
	if actor.Login != actionsLogin || i.Pull.HeadRepo != i.repo.ID {
		return
	}
	for _, f := range h.git.workflowsOf(i.repo, h.pulls.headSHA(i)) {
		if slices.Contains(f.types, action) {
			h.world.putRun(i.repo, &Run{
				ID: h.world.nextID(), Name: f.name, Path: f.path, Event: "pull_request", Status: "completed", Conclusion: "action_required",
				HeadSHA: h.pulls.headSHA(i), HeadBranch: i.Pull.HeadRef, Actor: actor.Login,
			})
		}
	}
}

// pullWorkflow is a workflow's file, as far as pull requests start it.
type pullWorkflow struct {
	path, name string
	types      []string
}

// workflowsOf reads the files of a commit that pull requests start. What is no workflow starts nothing.
func (g gitStore) workflowsOf(r *Repository, sha string) []pullWorkflow {
	const dir = ".github/workflows"
	e, err := g.trees.at(r, sha, dir)
	if err != nil || e == nil {
		return nil
	}
	list, err := g.trees.list(r, e.sha, dir)
	if err != nil {
		return nil // a file is there
	}
	var found []pullWorkflow
	for _, e := range list {
		file := e.path
		_, text, err := g.objects(r).read(e.sha)
		if ext := path.Ext(file); err != nil || ext != ".yml" && ext != ".yaml" {
			continue
		}
		var in struct {
			Name string
			On   yaml.Node
		}
		if yaml.Unmarshal(text, &in) != nil {
			continue
		}
		if types := pullTypes(&in.On); types != nil {
			name := in.Name
			if name == "" {
				name = file
			}
			found = append(found, pullWorkflow{path: file, name: name, types: types})
		}
	}
	return found
}

// pullTypes are the types of pull_request that start a workflow, by what it has below "on"; nil where none does.
func pullTypes(on *yaml.Node) []string {
	var one string
	var many []string
	var each map[string]*struct{ Types []string }
	switch {
	case on.Decode(&one) == nil && one == "pull_request", on.Decode(&many) == nil && slices.Contains(many, "pull_request"):
		return heldActions
	case on.Decode(&each) != nil:
		return nil
	}
	switch trigger, named := each["pull_request"]; {
	case !named:
		return nil
	case trigger == nil || trigger.Types == nil:
		return heldActions
	default:
		return trigger.Types
	}
}
