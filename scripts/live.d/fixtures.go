package main

import (
	"context"
	"fmt"
)

// livePull is a pull request that a step has opened.
type livePull struct {
	number     string
	head, base string // branches
	headSHA    string // as it was opened
	tip        string // the head on the tip of the base: what would land
}

// branch is the full name of a branch of ours.
func branch(name string) string { return "refs/heads/" + prefix + "/" + name }

// forTrial is the text of an issue that no step reads.
const forTrial = "For a trial. " + ownMark + "."

// issue opens one, and gives its number.
func (w *world) issue(ctx context.Context, about, body string) string {
	a, err := w.admin.need(ctx, "POST", "~/issues", facts{"title": prefix + ": " + about, "body": body}, 201)
	check(named("open an issue", err))
	return a.str("number")
}

// comment says something in a conversation, and gives the comment's id.
func (w *world) comment(ctx context.Context, number, body string) answer {
	a, err := w.admin.need(ctx, "POST", "~/issues/"+number+"/comments", facts{"body": body}, 201)
	check(named("comment on #"+number, err))
	return a
}

// openPulls opens n pull requests, each from a branch and to a base of its own, which has gone on meanwhile. What would land
// is the same change on top of the base. All refs are made by few pushes.
func (w *world) openPulls(ctx context.Context, kind string, n int) []livePull {
	if made := w.pulls[kind]; len(made) >= n {
		return made[:n]
	}
	old := got(w.git.base(ctx))
	refs := map[string]string{}
	var all []livePull
	for i := range n {
		p := livePull{head: fmt.Sprintf("%s/%s/%d/head", prefix, kind, i+1), base: fmt.Sprintf("%s/%s/%d/base", prefix, kind, i+1)}
		file := map[string]string{fmt.Sprintf("%s-%d.txt", kind, i+1): lines(130)}
		p.headSHA = got(w.git.commit(ctx, old, "Add a file", file))
		further := got(w.git.commit(ctx, old, "Go on", map[string]string{"meanwhile.txt": fmt.Sprintln(kind, i+1)}))
		p.tip = got(w.git.commit(ctx, further, "Add a file", file))
		refs["refs/heads/"+p.head], refs["refs/heads/"+p.base] = p.headSHA, further
		all = append(all, p)
	}
	check(named(fmt.Sprintf("make %d branches", len(refs)), w.git.place(ctx, refs)))
	for i := range all {
		p := &all[i]
		a, err := w.admin.need(ctx, "POST", "~/pulls", facts{"title": fmt.Sprintf("%s: %s %d", prefix, kind, i+1), "head": p.head, "base": p.base, "body": "For a trial."}, 201)
		check(named(fmt.Sprintf("open pull request %d of %d", i+1, n), err))
		p.number = a.str("number")
	}
	w.pulls[kind] = all
	return all
}

// lines is a text of n lines.
func lines(n int) string {
	text := ""
	for i := range n {
		text += fmt.Sprintln("line", i+1)
	}
	return text
}

// pull reads a pull request.
func (w *world) pull(ctx context.Context, number string) (answer, error) {
	a, err := w.admin.rest(ctx, "GET", "~/pulls/"+number, nil)
	if a, err = a.want(err, 200); err != nil {
		return a, fmt.Errorf("read #%s: %w", number, err)
	}
	return a, nil
}

// shown is merged, closed or open.
func shown(pull answer) string {
	if pull.at("merged") == true {
		return "merged"
	}
	return pull.str("state")
}
