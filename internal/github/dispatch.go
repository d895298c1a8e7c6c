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
	path := fmt.Sprintf("actions/workflows/%s/dispatches", url.PathEscape(workflow))
	err := c.write(ctx, op, repo, http.MethodPost, path, body, nil)
	return explained(err, dispatchRefusals(inputs)...)
}

// dispatchRefusals say what to do about "Resource not accessible by integration", "Workflow does not have
// 'workflow_dispatch' trigger", `Unexpected inputs provided: ["number"]` and "No ref found for: main".
func dispatchRefusals(inputs map[string]string) []refusalRow {
	trigger := "on: workflow_dispatch"
	if len(inputs) > 0 {
		trigger += ": inputs: " + strings.Join(slices.Sorted(maps.Keys(inputs)), ", ")
	}
	return []refusalRow{
		noActions,
		{status: http.StatusNotFound, fix: "put the workflow's file into .github/workflows on the default branch, and check that the token " +
			"may see the repository"},
		{status: http.StatusUnprocessableEntity, says: "disabled workflow", fix: "enable the workflow on the repository's Actions page"},
		{status: http.StatusUnprocessableEntity, says: "no ref found", fix: "name a branch that the repository has"},
		{status: http.StatusUnprocessableEntity, fix: "add to the workflow on the default branch: `" + trigger + "`"},
	}
}
