package github

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mergexo/mergexo/internal/model"
)

// ErrNotOurs is an event that mergexo does not handle: nothing is wrong and nothing is to do.
var ErrNotOurs = errors.New("not an event that mergexo handles")

type trigger struct {
	name         string
	read         func(object, *model.Event)
	with, unlike []string
}

// triggers are the events that are read, each with the reader of the fields that are its own, and with the keys that tell it from
// others: those that must be there, and those that only other events have. Adding a trigger is one line here.
// https://docs.github.com/actions/reference/workflows-and-actions/events-that-trigger-workflows
var triggers = []trigger{
	{"pull_request_review_comment", readText(readPull, "comment", "updated_at", "created_at"), []string{"comment", "pull_request"}, nil},
	{"pull_request_review", readText(readPull, "review", "submitted_at"), []string{"review", "pull_request"}, nil},
	{"issue_comment", readText(readIssue, "comment", "updated_at", "created_at"), []string{"comment", "issue"}, nil},
	{"pull_request", readPull, []string{"pull_request", "number", "action"}, []string{"thread"}},
	{"issues", readTheIssue, []string{"issue", "action"}, []string{"comment"}},
	{"workflow_run", readRun, []string{"workflow_run", "workflow"}, []string{"deployment", "deployment_status", "check_run"}},
	{"check_run", readCheckRun, []string{"check_run", "action"}, []string{"deployment", "deployment_status", "workflow_run"}},
	{"check_suite", readCheckSuite, []string{"check_suite", "action"}, nil},
	{"status", readStatus, []string{"sha", "state", "context", "branches"}, nil},
	{"push", readPush, []string{"ref", "before", "after", "pusher"}, nil},
	{"delete", readDelete, []string{"ref", "ref_type", "pusher_type"}, []string{"master_branch"}},
	{"workflow_dispatch", readDispatch, []string{"inputs", "ref", "workflow"}, nil},
	{"schedule", func(object, *model.Event) {}, []string{"schedule"}, nil},
}

// ParseEvent reads a webhook payload as GitHub Actions leaves it in a file. An event of another name is ErrNotOurs,
// whatever its payload. A payload that is not what GitHub sends is a *PayloadError that names the position or the field.
// Only a schedule may come without its repository, since that of the workflow is meant.
func ParseEvent(name string, payload []byte) (model.Event, error) {
	i := slices.IndexFunc(triggers, func(t trigger) bool { return t.name == name })
	if i < 0 {
		return model.Event{}, fmt.Errorf("event %q: %w", cut(oneLine(name)), ErrNotOurs)
	}
	o, err := readObject(payload)
	if err != nil {
		return model.Event{}, err
	}
	e := model.Event{Name: name, Action: o.text("action", false)}
	if name != "schedule" || o.has("repository") {
		e.Repo = readRepo(o.object("repository"))
	}
	if o.has("sender") {
		e.Sender = o.actor("sender")
	}
	triggers[i].read(o, &e)
	if *o.trouble != nil {
		return model.Event{}, *o.trouble
	}
	return e, nil
}

func readRepo(o object) model.Repo {
	full := o.text("full_name", true)
	repo, err := model.ParseRepo(full)
	if err == nil {
		err = checkRepo(repo)
	}
	if err != nil && full != "" {
		o.fail("full_name", "want owner/name, got "+describe(full))
	}
	return repo
}

func readIssue(o object, e *model.Event) {
	issue := o.object("issue")
	e.Number, e.IsPull = issue.number("number"), issue.has("pull_request")
}

// readTheIssue takes the issue's author for the one who said something: its own text is what an issue's event carries.
func readTheIssue(o object, e *model.Event) {
	readIssue(o, e)
	if issue := o.object("issue"); issue.has("user") {
		e.Author = issue.actor("user")
	}
}

func readPull(o object, e *model.Event) {
	e.Number, e.IsPull = o.object("pull_request").number("number"), true
}

// readText reads a text within a thread, and its time from the first of the keys that is there.
func readText(thread func(object, *model.Event), within string, times ...string) func(object, *model.Event) {
	return func(payload object, e *model.Event) {
		thread(payload, e)
		o := payload.object(within)
		e.CommentID, e.CommentNode, e.CommentBody = o.id("id"), o.text("node_id", false), o.text("body", false)
		e.Author = o.actor("user")
		for _, key := range times {
			if at := o.time(key); e.CommentAt.IsZero() {
				e.CommentAt = at
			}
		}
	}
}

// readChecked takes the commit and the pull requests that GitHub connects with it. It connects none with the commit of a
// fork's pull request; then the event is about no number. Numbers of another repository do not count.
// https://docs.github.com/webhooks/webhook-events-and-payloads#check_suite
func readChecked(payload, o object, e *model.Event) {
	e.SHA, e.Branch = o.text("head_sha", false), o.text("head_branch", false)
	for _, pull := range o.objects("pull_requests") {
		if isHere(payload, pull) {
			e.Numbers = append(e.Numbers, pull.number("number"))
		}
	}
	if len(e.Numbers) > 0 {
		e.Number, e.IsPull = e.Numbers[0], true
	}
}

func readCheckSuite(o object, e *model.Event) { readChecked(o, o.object("check_suite"), e) }

// readCheckRun takes the branch from the check suite, which alone has it.
// https://docs.github.com/webhooks/webhook-events-and-payloads#check_run
func readCheckRun(o object, e *model.Event) {
	run := o.object("check_run")
	readChecked(o, run, e)
	if run.has("check_suite") {
		e.Branch = run.object("check_suite").text("head_branch", false)
	}
}

// readStatus takes the commit and the branches that are at it: GitHub lists up to ten that have it. A status names no pull request.
// https://docs.github.com/webhooks/webhook-events-and-payloads#status
func readStatus(o object, e *model.Event) {
	e.SHA = o.text("sha", true)
	for _, b := range o.objects("branches") {
		if name := b.text("name", true); !b.has("commit") || b.object("commit").text("sha", false) == e.SHA {
			e.Branches = append(e.Branches, name)
		}
	}
}

// isHere reports whether a pull request is one of the payload's repository. GitHub also lists those that merge the commit's branch
// into a fork, with the fork's numbers.
func isHere(payload, pull object) bool {
	if !pull.has("base") {
		return true
	}
	base := pull.object("base")
	if !base.has("repo") {
		return true
	}
	here, there := payload.object("repository"), base.object("repo")
	if here.has("id") && there.has("id") {
		return here.id("id") == there.id("id")
	}
	url := strings.ToLower(there.text("url", false))
	return url == "" || strings.HasSuffix(url, "/repos/"+strings.ToLower(here.text("full_name", true)))
}

// readRun takes the run, too. How it ended is null until it is completed.
// https://docs.github.com/webhooks/webhook-events-and-payloads#workflow_run
func readRun(o object, e *model.Event) {
	run := o.object("workflow_run")
	readChecked(o, run, e)
	if run.has("head_repository") && !strings.EqualFold(run.object("head_repository").text("full_name", false), e.Repo.String()) {
		e.Branch = "" // a fork's is none of this repository
	}
	e.RunID, e.Conclusion = run.id("id"), run.text("conclusion", false)
}

// readPush takes the branch that was moved, made or deleted, and where it is now. A tag is no branch.
// https://docs.github.com/webhooks/webhook-events-and-payloads#push
func readPush(o object, e *model.Event) {
	if branch, is := strings.CutPrefix(o.text("ref", true), "refs/heads/"); is {
		e.Branch = branch
	}
	if deleted, _ := o.fields["deleted"].(bool); !deleted {
		e.SHA = o.text("after", true)
	}
}

// readDelete takes the branch that was deleted. GitHub delivers a push for it as well, which starts no workflow everywhere.
// https://docs.github.com/webhooks/webhook-events-and-payloads#delete
func readDelete(o object, e *model.Event) {
	if name := o.text("ref", true); o.text("ref_type", true) == "branch" {
		e.Branch = name
	}
}

// readDispatch takes the number from whichever of the usual inputs is given; inputs are strings, whatever their type says.
func readDispatch(o object, e *model.Event) {
	if !o.has("inputs") {
		return
	}
	inputs := o.object("inputs")
	for _, key := range []string{"pull_request", "number", "pr"} {
		v := inputs.fields[key]
		switch v.(type) {
		case nil, string, json.Number:
		default:
			inputs.fail(key, "want a number, got "+describe(v))
		}
		text := strings.TrimPrefix(strings.TrimSpace(fmt.Sprint(v)), "#")
		if v == nil || text == "" {
			continue
		}
		n, err := strconv.ParseInt(text, 10, 32)
		if err != nil || n <= 0 {
			inputs.fail(key, "want the number of a pull request, got "+describe(v))
			return
		}
		e.Number = int(n)
		return
	}
}

// InferEvent says which of our events a payload belongs to, by its keys. Any other payload is ErrNotOurs.
func InferEvent(payload []byte) (string, error) {
	o, err := readObject(payload)
	if err != nil {
		return "", err
	}
	there := func(key string) bool { _, ok := o.fields[key]; return ok }
	for _, s := range triggers {
		if !slices.ContainsFunc(s.with, func(k string) bool { return !there(k) }) && !slices.ContainsFunc(s.unlike, there) {
			return s.name, nil
		}
	}
	return "", fmt.Errorf("a payload with none of the keys that tell: %w", ErrNotOurs)
}
