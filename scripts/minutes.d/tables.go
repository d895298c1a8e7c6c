package main

import (
	"fmt"
	"strings"

	"github.com/mergexo/mergexo/internal/sandbox/expression"
)

const person, here = "alice", "octo/widgets"

// What a job is taken to last, in minutes as GitHub bills them: it rounds up for each job.
const (
	looks  = 1 // without work: the first step, under 10 seconds
	works  = 7 // 5 minutes of an agent, 1 of tools and tests, and seconds of ours
	merges = 3 // 2 minutes of tools and tests, and seconds of ours
)

func by(kind string, more expression.Object) expression.Object {
	payload := expression.Object{"sender": expression.Object{"login": person, "type": kind}}
	for k, v := range more {
		payload[k] = v
	}
	return payload
}

// on is an event on a pull request whose head is in this repository.
func on(name, action, kind, repository string) event {
	return event{name, action, by(kind, expression.Object{"pull_request": expression.Object{
		"number": 7.0, "head": expression.Object{"ref": "agent/small/3-greet", "repo": expression.Object{"full_name": repository}},
	}})}
}

// said is a comment in the conversation of a pull request.
func said(kind string) event {
	return event{"issue_comment", "created", by(kind, expression.Object{
		"issue": expression.Object{"number": 7.0, "user": expression.Object{"type": "User"}}, "comment": expression.Object{"id": 1.0},
	})}
}

// onLine is a comment on a line.
func onLine(kind string) event {
	e := on("pull_request_review_comment", "created", kind, here)
	e.payload["comment"] = expression.Object{"id": 1.0}
	return e
}

func review() event {
	e := on("pull_request_review", "submitted", "User", here)
	e.payload["review"] = expression.Object{"id": 1.0}
	return e
}

var (
	labeled = event{"issues", "labeled", by("User", expression.Object{"issue": expression.Object{"number": 3.0, "user": expression.Object{"type": "User"}}})}
	ended   = event{"issues", "closed", by("Bot", expression.Object{"issue": expression.Object{"number": 3.0, "user": expression.Object{"type": "User"}}})}
	checked = event{"workflow_run", "completed", by("User", expression.Object{"workflow_run": expression.Object{"id": 1.0, "pull_requests": expression.Unknown{}}})}
	swept   = event{"schedule", "", expression.Object{"schedule": "17 0 * * *"}}
)

// part is an event and what its job, if it has one, is taken to last.
type part struct {
	event
	minutes int
}

// happening is something that people know, with the events that it is made of.
type happening struct {
	about string
	parts []part
}

// turn is a comment that the agent answers with a commit, and byApp what GitHub tells of that commit if an App has pushed it.
var (
	turn  = []part{{said("User"), works}, {said("Bot"), looks}}
	byApp = []part{{on("pull_request", "synchronize", "Bot", here), looks}, {checked, looks}}
)

var happenings = []happening{
	{"a sweep without work", []part{{swept, looks}}},
	{"a comment that starts nothing", []part{{said("User"), looks}}},
	{"a comment of MergeXO or of another bot", []part{{said("Bot"), looks}}},
	{"what somebody does to a pull request from a fork", []part{{on("pull_request", "synchronize", "User", "eve/widgets"), looks}}},
	{"a push by a person", []part{{on("pull_request", "synchronize", "User", here), looks}}},
	{"the end of a CI run", []part{{checked, looks}}},
	{"a turn: a comment, and the agent's commit", turn},
	{"a turn: a review with 3 comments on lines", []part{{review(), works}, {onLine("User"), looks}, {onLine("User"), looks}, {onLine("User"), looks}}},
	{"`/mergexo merge`, with tests", []part{{said("User"), merges}, {said("Bot"), looks}, {on("pull_request", "closed", "Bot", here), looks}, {ended, looks}}},
}

// landed is a pull request from the label on its issue to the merge, with one turn and an approval.
func landed(app bool) []part {
	parts := []part{{labeled, works}}
	if app { // what a workflow's own token does starts no workflow
		parts = append(append(parts, part{on("pull_request", "opened", "Bot", here), looks}, part{checked, looks}), byApp...)
	}
	parts = append(append(parts, turn...), part{review(), looks}, part{said("User"), merges})
	if app {
		parts = append(parts, part{on("pull_request", "closed", "Bot", here), looks}, part{ended, looks})
	}
	return parts
}

// sum is how many jobs these events start, and their minutes.
func (w workflow) sum(parts []part) (jobs, minutes int, err error) {
	for _, p := range parts {
		n, err := w.jobs(p.event)
		if err != nil {
			return 0, 0, err
		}
		jobs, minutes = jobs+n, minutes+n*p.minutes
	}
	return jobs, minutes, nil
}

// eventTable has the jobs and minutes of what happens.
func eventTable(w workflow) (string, error) {
	var b strings.Builder
	b.WriteString("| what happens | jobs | minutes |\n| --- | ---: | ---: |\n")
	rows := append(happenings[:len(happenings):len(happenings)],
		happening{"a landed pull request, with the workflow's token", landed(false)}, happening{"a landed pull request, with the token of an App, and CI", landed(true)})
	for _, h := range rows {
		jobs, minutes, err := w.sum(h.parts)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "| %s | %d | %d |\n", h.about, jobs, minutes)
	}
	return b.String(), nil
}

// months are what a repository sees in 30 days.
var months = []struct {
	about           string
	landed, nothing int // pull requests, and comments or pushes that start nothing
}{
	{"idle", 0, 0}, {"quiet: 5 landed pull requests, 30 other events", 5, 30}, {"busy: 100 landed pull requests, 1,000 other events", 100, 1000},
}

// totalTable has the minutes of a month, which are billed if the repository is private.
func totalTable(w workflow) (string, error) {
	var b strings.Builder
	b.WriteString("| a month of a private repository | sweeps | minutes |\n| --- | ---: | ---: |\n")
	sweeps, err := w.sweeps(30)
	if err != nil {
		return "", err
	}
	_, each, err := w.sum(happenings[0].parts)
	if err != nil {
		return "", err
	}
	_, nothing, err := w.sum(happenings[1].parts)
	if err != nil {
		return "", err
	}
	_, pull, err := w.sum(landed(true))
	if err != nil {
		return "", err
	}
	for _, m := range months {
		fmt.Fprintf(&b, "| %s | %d | %d |\n", m.about, sweeps, sweeps*each+m.landed*pull+m.nothing*nothing)
	}
	return b.String(), nil
}
