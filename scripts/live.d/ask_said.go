package main

import (
	"context"
	"fmt"
	"strings"
)

// Steps about what people say: edits, lengths, reactions, locked and transferred conversations.

func askEdits(ctx context.Context, w *world) any {
	number := w.issue(ctx, "edits", forTrial)
	said := w.comment(ctx, number, "First.\n\n<!-- a marker -->")
	for _, body := range []string{"Second.", "Third."} {
		got(w.admin.need(ctx, "PATCH", "~/issues/comments/"+said.str("id"), facts{"body": body}, 200))
	}
	a := got(want200(w.admin.graph(ctx, `query($id: ID!) { node(id: $id) { ... on IssueComment { body lastEditedAt editor { login } viewerDidAuthor
		userContentEdits(first: 10) { totalCount nodes { diff createdAt editedAt deletedAt editor { login } } } } } }`, facts{"id": said.at("node_id")})))
	return facts{"errors": graphErrors(a), "comment": a.at("data.node")}
}

// mostCharacters is what a comment holds, by the documentation.
const mostCharacters = 65_536

func askLength(ctx context.Context, w *world) any {
	s := w.setScene(ctx)
	out := facts{}
	for name, body := range map[string]string{
		"65536 letters": strings.Repeat("x", mostCharacters), "65537 letters": strings.Repeat("x", mostCharacters+1),
		"65536 of two bytes": strings.Repeat("é", mostCharacters), "65537 of two bytes": strings.Repeat("é", mostCharacters+1),
		"32768 of four bytes": strings.Repeat("😀", mostCharacters/2), "32769 of four bytes": strings.Repeat("😀", mostCharacters/2+1), "65537 of four bytes": strings.Repeat("😀", mostCharacters+1),
	} {
		of := facts{}
		for place, sent := range map[string]struct {
			path string
			body any
		}{
			"comment": {"~/issues/" + s.issue + "/comments", facts{"body": body}},
			"review":  {"~/pulls/" + s.pull.number + "/reviews", facts{"body": body, "event": "COMMENT"}},
		} {
			a := got(w.admin.rest(ctx, "POST", sent.path, sent.body))
			f := a.refusal()
			if a.status < 300 {
				f["kept"] = len([]rune(a.str("body")))
			}
			of[place] = f
		}
		out[name] = of
	}
	return out
}

func askReactions(ctx context.Context, w *world) any {
	number := w.issue(ctx, "reactions", forTrial)
	said := w.comment(ctx, number, "React to this.")
	on := "~/issues/comments/" + said.str("id") + "/reactions"
	out := facts{}
	var id string
	for _, r := range []struct{ name, content string }{{"new", "eyes"}, {"again", "eyes"}, {"another", "rocket"}, {"unknown", "shrug"}} {
		a := got(w.admin.rest(ctx, "POST", on, facts{"content": r.content}))
		f := a.refusal()
		if a.status < 300 {
			f["content"], id = a.at("content"), a.str("id")
		}
		out[r.name] = f
	}
	list := got(w.admin.rest(ctx, "GET", on, nil))
	out["listed"] = len(list.list())
	for _, name := range []string{"deleted", "deleted again"} {
		out[name] = got(w.admin.rest(ctx, "DELETE", on+"/"+id, nil)).refusal()
	}
	return out
}

func askLocked(ctx context.Context, w *world) any {
	number := w.issue(ctx, "locked", forTrial)
	got(w.admin.need(ctx, "PUT", "~/issues/"+number+"/lock", facts{"lock_reason": "resolved"}, 204))
	out := facts{}
	for _, c := range w.callers() {
		out[c.kind] = got(c.rest(ctx, "POST", "~/issues/"+number+"/comments", facts{"body": "In a locked conversation."})).refusal()
	}
	out["unlocked"] = got(w.admin.rest(ctx, "DELETE", "~/issues/"+number+"/lock", nil)).refusal()
	return out
}

func askTransferred(ctx context.Context, w *world) any {
	if w.control == "" && w.opts.transferTo == "" {
		check(notHere("not asked: it needs another repository of the same owner, by --transfer-to"))
	}
	number := w.issue(ctx, "transferred", forTrial)
	said := w.comment(ctx, number, "It moves.")
	during("transfer #"+number, func() { transfer(ctx, w, number) })
	out := facts{}
	for _, ask := range []struct {
		name, method, path string
		body               any
	}{
		{"read", "GET", "~/issues/" + number, nil},
		{"comments", "GET", "~/issues/" + number + "/comments", nil},
		{"comment on it", "POST", "~/issues/" + number + "/comments", facts{"body": "Still here?"}},
		{"label it", "POST", "~/issues/" + number + "/labels", facts{"labels": []string{prefix}}},
		{"its comment", "GET", "~/issues/comments/" + said.str("id"), nil},
	} {
		a := got(w.admin.rest(ctx, ask.method, ask.path, ask.body))
		f := a.refusal()
		f["location"] = a.header.Get("Location") != ""
		out[ask.name] = f
	}
	a := got(w.admin.graph(ctx, `query($owner: String!, $name: String!, $n: Int!) { repository(owner: $owner, name: $name) { issueOrPullRequest(number: $n) { __typename } } }`,
		facts{"owner": w.repo.Owner, "name": w.repo.Name, "n": plain(atoi(number))}))
	out["by GraphQL"] = facts{"errors": graphErrors(a), "found": a.at("data.repository.issueOrPullRequest") != nil}
	return out
}

// transfer moves an issue to another repository: by a mutation, or in the sandbox, which has none, by its own API.
func transfer(ctx context.Context, w *world, number string) {
	if w.control != "" {
		a, err := (&caller{w: w}).send(ctx, "POST", w.control+"/repositories", facts{"full_name": w.repo.Owner + "/" + prefix + "-other"})
		got(a.want(err, 201, 422))
		check(w.set(ctx, "issues", facts{"number": atoi(number), "state": "transferred", "to": w.repo.Owner + "/" + prefix + "-other"}))
		return
	}
	ids := got(want200(w.admin.graph(ctx, `query($owner: String!, $name: String!, $other: String!, $n: Int!) { repository(owner: $owner, name: $name) { issue(number: $n) { id } } other: repository(owner: $owner, name: $other) { id } }`,
		facts{"owner": w.repo.Owner, "name": w.repo.Name, "other": w.opts.transferTo, "n": atoi(number)})))
	a := got(want200(w.admin.graph(ctx, `mutation($issue: ID!, $to: ID!) { transferIssue(input: {issueId: $issue, repositoryId: $to}) { issue { number } } }`,
		facts{"issue": ids.at("data.repository.issue.id"), "to": ids.at("data.other.id")})))
	there := a.str("data.transferIssue.issue.number")
	if there == "" {
		check(fmt.Errorf("GitHub refuses it: %v", graphErrors(a)))
	}
	got(w.admin.need(ctx, "PATCH", "/repos/"+w.repo.Owner+"/"+w.opts.transferTo+"/issues/"+there, facts{"state": "closed"}, 200))
}
