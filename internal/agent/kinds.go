package agent

import (
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/model"
)

// fields are what an answer has, by the kind of the request and in the order in which a model writes them.
var fields = map[string][]string{
	model.AskDesign:         {"title", "summary", "touch_paths", "design_doc_markdown", "blocked_reason"},
	model.AskRoadmap:        {"title", "goal", "summary", "roadmap_items", "blocked_reason"},
	model.AskBugfix:         {"pr_title", "pr_summary", "commit_message", "git_ops", "blocked_reason"},
	model.AskSmallJob:       {"pr_title", "pr_summary", "commit_message", "git_ops", "blocked_reason"},
	model.AskImplementation: {"pr_title", "pr_summary", "commit_message", "git_ops", "blocked_reason"},
	model.AskReview:         {"findings"},
	model.AskFeedback:       {"review_replies", "general_comment", "commit_message", "git_ops", "flaky_test_report", "blocked_reason"},
}

// ours are the fields of every answer that no model can know: the adapter fills them in, and a command may give them.
var ours = []string{"session", "usage"}

// begins says that a request is for a new pull request.
func begins(req model.Request) bool { return shape(req) != model.AskFeedback && !reads(req) }

// reads reports whether the agent is only to look: what it changes is thrown away.
func reads(req model.Request) bool { return req.Kind == model.AskReview }

// shape is the kind of answer that is wanted; a repair wants that of the request that it repairs.
func shape(req model.Request) string {
	kind := req.Kind
	if kind == model.AskRepair && req.PullRequest == nil {
		kind = string(req.Flow)
	}
	if fields[kind] == nil {
		return model.AskFeedback
	}
	return kind
}

// wants are the fields that a model is asked for.
func wants(req model.Request) []string { return slices.Clone(fields[shape(req)]) }

// takes are the fields that may be present. To a repair before there is a pull request, an agent may answer as to any other repair.
func takes(req model.Request) []string {
	names := wants(req)
	if req.Kind == model.AskRepair && begins(req) {
		for _, name := range fields[model.AskFeedback] {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// requestName names a request in an error.
func requestName(req model.Request) string {
	if req.Kind == model.AskRepair && begins(req) {
		return "the repair of a " + strings.ReplaceAll(shape(req), "_", " ")
	}
	return "a request of kind " + shape(req)
}
