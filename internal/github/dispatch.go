package github

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/model"
)

// Dispatch starts a run of a workflow, by its file's name such as mergexo.yml, on a branch or tag. NotFound means that there
// is no such file, Invalid that it takes no such start, Unclear that the run may have begun: GitHub starts a second one
// for a second call.
// https://docs.github.com/rest/actions/workflows#create-a-workflow-dispatch-event
func (c Actions) Dispatch(ctx context.Context, repo model.Repo, workflow, ref string, inputs map[string]string) error {
	op := fmt.Sprintf("start workflow %s of %s", c.line(workflow), repo)
	if workflow == "" || workflow == "." || workflow == ".." || strings.Contains(workflow, "/") || ref == "" {
		return &Error{Kind: Invalid, Op: op, Message: "a workflow's file name and a branch are needed", Fix: "name the file without its directory, such as mergexo.yml"}
	}
	body := struct {
		Ref    string            `json:"ref"`
		Inputs map[string]string `json:"inputs,omitempty"`
	}{ref, inputs}
	// Answered with 204, by newer versions of the API with 200 and the run: what it is like is nobody's question here.
	err := c.write(ctx, op, repo, http.MethodPost, fmt.Sprintf("actions/workflows/%s/dispatches", url.PathEscape(workflow)), body, nil)
	return explained(err, func(e *Error) { dispatchRefusal(e, inputs) })
}

// dispatchRefusal says what to do about "Resource not accessible by integration", "Workflow does not have
// 'workflow_dispatch' trigger", `Unexpected inputs provided: ["number"]` and "No ref found for: main".
func dispatchRefusal(e *Error, inputs map[string]string) {
	trigger := "on: workflow_dispatch"
	if len(inputs) > 0 {
		trigger += ": inputs: " + strings.Join(slices.Sorted(maps.Keys(inputs)), ", ")
	}
	switch says := strings.ToLower(e.Message); {
	case e.Kind == Forbidden:
		actionsRefusal(e)
	case e.Kind == NotFound:
		e.Fix = "put the workflow's file into .github/workflows on the default branch, and check that the token may see the repository"
	case e.Status != http.StatusUnprocessableEntity:
	case strings.Contains(says, "disabled workflow"):
		e.Fix = "enable the workflow on the repository's Actions page"
	case strings.Contains(says, "no ref found"):
		e.Fix = "name a branch that the repository has"
	default:
		e.Fix = "add to the workflow on the default branch: `" + trigger + "`"
	}
}
