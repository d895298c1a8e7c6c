package sandbox

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

var dispatchRoutes = []route{{"POST /repos/{owner}/{repo}/actions/workflows/{workflow}/dispatches", needWrite, "actions=write", withBody(dispatchWorkflow)}}

// workflowFile is what a dispatch asks of a workflow's file.
type workflowFile struct {
	path, name string
	inputs     map[string]struct {
		Required bool
		Default  *string
	}
}

// readWorkflow reads the file of a workflow at a commit; {workflow} is its name or its id. GitHub's words are from
// https://github.com/benc-uk/workflow-dispatch/issues/46.
func readWorkflow(q *request, sha string) (*workflowFile, error) {
	name := q.r.PathValue("workflow")
	if id, err := strconv.ParseInt(name, 10, 64); err == nil {
		at := slices.IndexFunc(q.repo.Runs, func(run *Run) bool { return workflowID(q.repo, run) == id })
		if at < 0 {
			return nil, errNotFound
		}
		name = path.Base(q.repo.Runs[at].workflow())
	}
	f := &workflowFile{path: ".github/workflows/" + name, name: ".github/workflows/" + name}
	_, text, err := q.s.git.objects(q.repo).read(sha + ":" + f.path)
	if ext := path.Ext(name); err != nil || ext != ".yml" && ext != ".yaml" || strings.Contains(name, "/") {
		return nil, errNotFound
	}
	var in struct {
		Name string
		On   yaml.Node
	}
	if err := yaml.Unmarshal(text, &in); err != nil {
		return nil, unprocessable("failed to parse workflow: " + err.Error())
	}
	if in.Name != "" {
		f.name = in.Name
	}
	var events []string
	if in.On.Kind == yaml.MappingNode {
		for at := 0; at+1 < len(in.On.Content); at += 2 {
			events = append(events, in.On.Content[at].Value)
		}
		var on struct {
			Dispatch struct{ Inputs yaml.Node } `yaml:"workflow_dispatch"`
		}
		if err = in.On.Decode(&on); err == nil {
			err = on.Dispatch.Inputs.Decode(&f.inputs)
		}
	} else if err = in.On.Decode(&events); err != nil { // a single word
		events, err = []string{in.On.Value}, nil
	}
	switch {
	case err != nil:
		return nil, unprocessable("failed to parse workflow: " + err.Error())
	case !slices.Contains(events, "workflow_dispatch"):
		return nil, unprocessable("Workflow does not have 'workflow_dispatch' trigger")
	}
	return f, nil
}

// take gives the inputs of a run: those that were sent, as texts, and what the file has for the others; nil: none.
func (f *workflowFile) take(sent map[string]any) (map[string]string, error) {
	unknown := slices.DeleteFunc(slices.Sorted(maps.Keys(sent)), func(name string) bool { _, ok := f.inputs[name]; return ok })
	if len(unknown) > 0 {
		list, err := json.Marshal(unknown)
		if err != nil {
			return nil, err
		}
		return nil, unprocessable(fmt.Sprintf("Unexpected inputs provided: %s", list))
	}
	var taken map[string]string
	for _, name := range slices.Sorted(maps.Keys(f.inputs)) {
		value, given := sent[name]
		switch in := f.inputs[name]; {
		case given:
		case in.Default != nil:
			value = *in.Default
		case in.Required:
			return nil, unprocessable(fmt.Sprintf("Required input '%s' not provided", name))
		default:
			continue
		}
		if taken == nil {
			taken = map[string]string{}
		}
		taken[name] = fmt.Sprint(value)
	}
	return taken, nil
}

// dispatchWorkflow starts a run of a workflow, whoever asks for it: this is what a workflow's own token may start, too.
// https://docs.github.com/en/rest/actions/workflows#create-a-workflow-dispatch-event
func dispatchWorkflow(q *request, in struct {
	Ref     string
	Inputs  map[string]any
	Details bool `json:"return_run_details"`
}) (any, error) {
	if in.Ref == "" {
		return nil, unprocessable("Invalid request.\n\n\"ref\" wasn't supplied.")
	}
	at := slices.IndexFunc(refNames(in.Ref), func(ref string) bool { return q.repo.Refs[ref] != "" })
	if at < 0 {
		return nil, unprocessable("No ref found for: " + in.Ref)
	}
	ref := refNames(in.Ref)[at]
	sha := q.s.git.peel(q.repo, q.repo.Refs[ref])
	f, err := readWorkflow(q, sha)
	if err != nil {
		return nil, err
	}
	inputs, err := f.take(in.Inputs)
	if err != nil {
		return nil, err
	}
	id := q.s.world.nextID()
	q.s.world.nextID() // of the job that a run has whom nobody gives jobs
	q.s.hooks.deliver("workflow_dispatch", q.repo, q.user, obj{"inputs": inputs, "ref": ref, "workflow": f.path})
	branch := strings.TrimPrefix(strings.TrimPrefix(ref, "refs/heads/"), "refs/tags/")
	run := q.s.world.putRun(q.repo, &Run{ID: id, Name: f.name, Path: f.path, Event: "workflow_dispatch", HeadSHA: sha, HeadBranch: branch, Actor: q.user.Login})
	if !in.Details {
		return &reply{status: http.StatusNoContent}, nil
	}
	made := q.s.json.run(q.repo, run)
	return obj{"workflow_run_id": run.ID, "run_url": made["url"], "html_url": made["html_url"]}, nil
}

// refNames are the refs that a name may stand for, the first that is there.
func refNames(name string) []string {
	if strings.HasPrefix(name, "refs/") {
		return []string{name}
	}
	return []string{"refs/heads/" + name, "refs/tags/" + name}
}
