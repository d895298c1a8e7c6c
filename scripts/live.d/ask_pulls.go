package main

import (
	"context"
	"fmt"
	"net/http"

	"github.com/mergexo/mergexo/internal/github"
	"github.com/mergexo/mergexo/internal/model"
)

// Steps about pull requests: many of them, long ones, and how they end.

// each20 is how often the badge is asked for in each way.
const each20 = 20

// heavyPulls, heavyComments and heavyThreads are more than a page of the gateway's holds.
const heavyPulls, heavyComments, heavyThreads = 3 * each20, 200, 120

func askHeavy(ctx context.Context, w *world) any {
	pulls := w.openPulls(ctx, "many", heavyPulls)
	long := pulls[0]
	for i := range heavyComments {
		w.comment(ctx, long.number, fmt.Sprintf("Comment %d of %d.", i+1, heavyComments))
	}
	const inOneReview = 40
	for from := 0; from < heavyThreads; from += inOneReview {
		var comments []facts
		for i := from; i < from+inOneReview; i++ {
			comments = append(comments, facts{"path": "many-1.txt", "line": i + 1, "side": "RIGHT", "body": fmt.Sprintf("Thread %d.", i+1)})
		}
		_, err := w.admin.need(ctx, "POST", "~/pulls/"+long.number+"/reviews", facts{"event": "COMMENT", "commit_id": long.headSHA, "comments": comments}, 200)
		check(named(fmt.Sprintf("review with %d comments", inOneReview), err))
	}
	c := got(github.New(github.Options{APIURL: w.api, GraphQLURL: w.graphql, Token: w.admin.token}))
	seen := map[int]bool{}
	surveyed := c.Threads.Survey(ctx, github.SurveyQuery{Repo: w.repo}, func(s model.Snapshot) error { seen[s.Pull.Number] = true; return nil })
	ours := 0
	for _, p := range pulls {
		if seen[atoi(p.number)] {
			ours++
		}
	}
	snap, read := c.Threads.Snapshot(ctx, github.Query{Repo: w.repo, Number: atoi(long.number)})
	kinds := facts{}
	for _, c := range snap.Comments {
		n, _ := kinds[fmt.Sprint(c.Kind)].(int)
		kinds[fmt.Sprint(c.Kind)] = n + 1
	}
	_, queries := c.Calls()
	w.pace.calls, w.pace.queries = w.pace.calls+queries, w.pace.queries+queries
	return facts{"survey": outcome(facts{"our pull requests": ours}, surveyed), "snapshot": outcome(facts{"comments": kinds, "complete": snap.CommentsComplete}, read)}
}

// askBadge lands pull requests as MergeXO does, which is by moving the head onto the base and the base to the same commit.
func askBadge(ctx context.Context, w *world) any {
	pulls := w.openPulls(ctx, "many", heavyPulls)
	out := facts{}
	for i, way := range []struct {
		name string
		land func(ctx context.Context, w *world, pulls []livePull)
	}{{"our order", inOurOrder}, {"no wait", withoutWait}, {"one atomic push", atomically}} {
		of := pulls[i*each20 : (i+1)*each20]
		during(way.name, func() {
			way.land(ctx, w, of)
			out[way.name] = badges(ctx, w, of)
		})
	}
	delete(w.pulls, "many")
	return out
}

func (w *world) moveHead(ctx context.Context, p livePull) {
	got(w.git.run(ctx, "push", "-q", "--force-with-lease=refs/heads/"+p.head+":"+p.headSHA, w.git.remote(w.admin), p.tip+":refs/heads/"+p.head))
}

func (w *world) moveBase(ctx context.Context, p livePull) {
	got(w.git.run(ctx, "push", "-q", w.git.remote(w.admin), p.tip+":refs/heads/"+p.base))
}

// inOurOrder moves the heads, waits until GitHub shows each of them, and then moves the bases.
func inOurOrder(ctx context.Context, w *world, pulls []livePull) {
	for _, p := range pulls {
		w.moveHead(ctx, p)
	}
	for _, p := range pulls {
		there := got(w.until(ctx, func() (bool, error) {
			a, err := w.pull(ctx, p.number)
			return a.str("head.sha") == p.tip, err
		}))
		if !there {
			check(fmt.Errorf("#%s does not show its new head after %s", p.number, w.patience))
		}
		w.moveBase(ctx, p)
	}
}

func withoutWait(ctx context.Context, w *world, pulls []livePull) {
	for _, p := range pulls {
		w.moveHead(ctx, p)
		w.moveBase(ctx, p)
	}
}

func atomically(ctx context.Context, w *world, pulls []livePull) {
	for _, p := range pulls {
		got(w.git.run(ctx, "push", "-q", "--atomic", w.git.remote(w.admin), "+"+p.tip+":refs/heads/"+p.head, p.tip+":refs/heads/"+p.base))
	}
}

// badges counts how pull requests are shown, once none of them is open or there is no more patience.
func badges(ctx context.Context, w *world, pulls []livePull) facts {
	n := map[string]int{}
	for _, p := range pulls {
		var how string
		got(w.until(ctx, func() (bool, error) {
			a, err := w.pull(ctx, p.number)
			how = shown(a)
			return how != "open", err
		}))
		n[how]++
	}
	return facts{"merged": n["merged"], "closed": n["closed"], "open": n["open"]}
}

// askClosing closes one that has landed before GitHub has seen that, and one that is shown as merged.
func askClosing(ctx context.Context, w *world) any {
	pulls := w.openPulls(ctx, "closing", 3)
	out := facts{}
	closed := func(name string, p livePull) {
		f := got(w.admin.rest(ctx, http.MethodPatch, "~/pulls/"+p.number, facts{"state": "closed"})).refusal()
		f["shown"] = badges(ctx, w, []livePull{p})
		out[name] = f
	}
	inOurOrder(ctx, w, pulls[:1])
	badges(ctx, w, pulls[:1])
	closed("once it is shown as merged", pulls[0])
	inOurOrder(ctx, w, pulls[1:2])
	closed("at once", pulls[1])
	// The head goes to the base's tip before the base has it: nothing is left to merge.
	base := got(w.git.run(ctx, "rev-parse", pulls[2].tip+"^"))
	got(w.git.run(ctx, "push", "-q", w.git.remote(w.admin), "+"+base+":refs/heads/"+pulls[2].head))
	out["a head without anything new"] = badges(ctx, w, pulls[2:])
	out["opened again"] = got(w.admin.rest(ctx, http.MethodPatch, "~/pulls/"+pulls[2].number, facts{"state": "open"})).refusal()
	return out
}
