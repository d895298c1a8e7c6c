package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/mergexo/mergexo/internal/github"
)

// scene is a pull request and an issue on which there is some of everything that our documents ask for.
type scene struct {
	pull  livePull
	issue string
	node  string // of a comment on the pull request
	login string // of who wrote it
}

// setScene makes one, once in a run.
func (w *world) setScene(ctx context.Context) scene {
	var s scene
	first := len(w.pulls["scene"]) == 0
	s.pull = w.openPulls(ctx, "scene", 1)[0]
	if !first {
		return w.scene
	}
	s.issue = w.issue(ctx, "a scene", forTrial)
	said := w.comment(ctx, s.pull.number, "Said in the conversation.")
	s.node, s.login = said.str("node_id"), said.str("user.login")
	for _, sent := range []struct {
		path string
		body any
	}{
		{"~/pulls/" + s.pull.number + "/reviews", facts{"event": "COMMENT", "body": "A review.", "commit_id": s.pull.headSHA,
			"comments": []facts{{"path": "scene-1.txt", "line": 2, "side": "RIGHT", "body": "On a line."}}}},
		{"~/statuses/" + s.pull.headSHA, facts{"state": "success", "context": prefix, "description": "For a trial"}},
		{"~/issues/comments/" + said.str("id") + "/reactions", facts{"content": "eyes"}},
	} {
		_, err := w.admin.need(ctx, "POST", sent.path, sent.body, 200, 201)
		check(named("set a scene", err))
	}
	w.scene = s
	// GitHub finds out in its own time whether there is a conflict.
	got(w.until(ctx, func() (bool, error) {
		a, err := w.pull(ctx, s.pull.number)
		return a.at("mergeable") != nil, err
	}))
	return s
}

// variables are all that our documents take, by name.
func (w *world) variables(s scene) facts {
	number, _ := strconv.Atoi(s.pull.number)
	issue, _ := strconv.Atoi(s.issue)
	return facts{
		"owner": w.repo.Owner, "name": w.repo.Name, "number": number, "page": 10, "reviews": 5, "posted": true, "pulls": 5, "comments": 5, "issues": 5, "closed": 5,
		"author": s.login, "askAuthor": true, "sender": s.login, "askSender": true, "branch": s.pull.head, "branchRef": "refs/heads/" + s.pull.head, "askBranch": true, "askBase": true,
		"node": s.node, "askNode": true, "ids": []string{s.node}, "askThreads": true, "source": issue, "askSource": true, "moreComments": true, "moreReviews": true, "moreThreads": true, "moreOfReview": false, "review": s.node,
		"labels": []string{prefix}, "askIssues": true, "askClosed": true, "askMirrors": true, "askOurs": true, "moreOpinions": true, "moreChecks": true,
		"l0": s.login, "l1": "ghost", "b0": s.pull.head, "b1": s.pull.head, "c0": s.pull.headSHA, "c1": s.pull.tip, "commit": s.pull.headSHA, "manifest": s.pull.headSHA, "askManifest": true, "base": "refs/heads/main", "cars": "refs/heads/", "most": 5, "n0": number, "n1": issue,
	}
}

var declaredVariable = regexp.MustCompile(`\$(\w+):`)

// document asks one of our documents. The facts are which errors it has, where, and the shape of its data.
func (w *world) document(ctx context.Context, c *caller, name string, s scene) facts {
	text := strings.NewReplacer("(number: 1)", "(number: "+s.pull.number+")", "(number: 2)", "(number: "+s.issue+")").Replace(github.Documents()[name])
	all, sent := w.variables(s), facts{}
	for _, m := range declaredVariable.FindAllStringSubmatch(text, -1) {
		if v, ok := all[m[1]]; ok {
			sent[m[1]] = v
		}
	}
	a := got(c.graph(ctx, text, sent))
	out := facts{"status": a.status, "errors": graphErrors(a)}
	if a.at("data") != nil {
		out["shape"] = shape(a.at("data"))
	}
	return out
}

// documents asks all of our documents. An answer that is just as that of others says so.
func (w *world) documents(ctx context.Context, c *caller, s scene, others any) facts {
	out := facts{}
	for _, name := range slices.Sorted(maps.Keys(github.Documents())) {
		during(name, func() { out[name] = w.document(ctx, c, name, s) })
		if before, ok := others.(facts); ok && maps.Equal(flat(before[name]), flat(out[name])) {
			out[name] = "as the first one"
		}
	}
	return out
}

// graphErrors are the errors of an answer as "TYPE at path", each once, in their order by text.
func graphErrors(a answer) []string {
	list, _ := a.at("errors").([]any)
	said := map[string]bool{}
	for _, e := range list {
		var path []string
		steps, _ := at(e, "path").([]any)
		for _, p := range steps {
			if _, index := p.(json.Number); !index {
				path = append(path, fmt.Sprint(p))
			}
		}
		kind := at(e, "type")
		if kind == nil {
			kind = at(e, "extensions.code")
		}
		said[fmt.Sprintf("%v at %s: %v", kind, strings.Join(path, "."), at(e, "message"))] = true
	}
	return append([]string{}, slices.Sorted(maps.Keys(said))...)
}

func askQueries(ctx context.Context, w *world) any {
	s := w.setScene(ctx)
	out := facts{}
	for _, c := range w.callers() {
		during("as "+c.kind, func() { out[c.kind] = w.documents(ctx, c, s, out["admin"]) })
	}
	return out
}

// askPermissions asks all documents with all permissions of the job, and with each of them removed.
func askPermissions(ctx context.Context, w *world) any {
	switch {
	case w.sandbox != nil && w.set(ctx, "permissions", facts{}) != nil:
		check(notHere(inSandbox + "its tokens have all permissions of their account, none of an App's"))
	case w.sandbox == nil && w.minter == nil:
		check(notHere("not asked: it needs an App, by MERGEXO_LIVE_APP_ID and MERGEXO_LIVE_APP_KEY"))
	}
	s := w.setScene(ctx)
	out := facts{}
	for _, removed := range append([]string{"none"}, slices.Sorted(maps.Keys(jobPermissions))...) {
		permissions := maps.Clone(jobPermissions)
		delete(permissions, removed)
		during("without "+removed, func() {
			c := got(w.withPermissions(ctx, permissions))
			out["without "+removed] = w.documents(ctx, c, s, out["without none"])
		})
	}
	if w.sandbox != nil {
		check(w.set(ctx, "permissions", facts{}))
	}
	return out
}

// withPermissions is a token of the App with these permissions; in the sandbox it is the workflow's, which has them from now on.
func (w *world) withPermissions(ctx context.Context, permissions map[string]string) (*caller, error) {
	if w.sandbox != nil {
		return w.app, w.set(ctx, "permissions", facts{"permissions": permissions})
	}
	token, err := w.minter.mint(ctx, permissions)
	return w.callerOf("app", token), err
}
