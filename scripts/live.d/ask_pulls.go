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

func askHeavy(ctx context.Context, w *world) (any, error) {
	pulls, err := w.openPulls(ctx, "many", heavyPulls)
	if err != nil {
		return nil, err
	}
	long := pulls[0]
	for i := range heavyComments {
		if _, err := w.comment(ctx, long.number, fmt.Sprintf("Comment %d of %d.", i+1, heavyComments)); err != nil {
			return nil, err
		}
	}
	const inOneReview = 40
	for from := 0; from < heavyThreads; from += inOneReview {
		var comments []facts
		for i := from; i < from+inOneReview; i++ {
			comments = append(comments, facts{"path": "many-1.txt", "line": i + 1, "side": "RIGHT", "body": fmt.Sprintf("Thread %d.", i+1)})
		}
		a, err := w.admin.rest(ctx, "POST", "~/pulls/"+long.number+"/reviews", facts{"event": "COMMENT", "commit_id": long.headSHA, "comments": comments})
		if _, err = a.want(err, 200); err != nil {
			return nil, fmt.Errorf("review with %d comments: %w", inOneReview, err)
		}
	}
	c, err := github.New(github.Options{APIURL: w.api, GraphQLURL: w.graphql, Token: w.admin.token})
	if err != nil {
		return nil, err
	}
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
	for kind, n := range countKinds(snap.Comments) {
		kinds[kind] = n
	}
	_, queries := c.Calls()
	w.pace.calls, w.pace.queries = w.pace.calls+queries, w.pace.queries+queries
	return facts{"survey": outcome(facts{"our pull requests": ours}, surveyed), "snapshot": outcome(facts{"comments": kinds, "complete": snap.CommentsComplete}, read)}, nil
}

func countKinds(comments []model.Comment) map[string]int {
	n := map[string]int{}
	for _, c := range comments {
		n[fmt.Sprint(c.Kind)]++
	}
	return n
}

// askBadge lands pull requests as MergeXO does, which is by moving the head onto the base and the base to the same commit.
func askBadge(ctx context.Context, w *world) (any, error) {
	pulls, err := w.openPulls(ctx, "many", heavyPulls)
	if err != nil {
		return nil, err
	}
	out := facts{}
	for i, way := range []struct {
		name string
		land func(ctx context.Context, w *world, pulls []livePull) error
	}{{"our order", inOurOrder}, {"no wait", withoutWait}, {"one atomic push", atomically}} {
		of := pulls[i*each20 : (i+1)*each20]
		if err := way.land(ctx, w, of); err != nil {
			return nil, fmt.Errorf("%s: %w", way.name, err)
		}
		if out[way.name], err = badges(ctx, w, of); err != nil {
			return nil, fmt.Errorf("%s: %w", way.name, err)
		}
	}
	delete(w.pulls, "many")
	return out, nil
}

func (w *world) moveHead(ctx context.Context, p livePull) error {
	_, err := w.git.run(ctx, "push", "-q", "--force-with-lease=refs/heads/"+p.head+":"+p.headSHA, w.git.remote(w.admin), p.tip+":refs/heads/"+p.head)
	return err
}

func (w *world) moveBase(ctx context.Context, p livePull) error {
	_, err := w.git.run(ctx, "push", "-q", w.git.remote(w.admin), p.tip+":refs/heads/"+p.base)
	return err
}

// inOurOrder moves the heads, waits until GitHub shows each of them, and then moves the bases.
func inOurOrder(ctx context.Context, w *world, pulls []livePull) error {
	for _, p := range pulls {
		if err := w.moveHead(ctx, p); err != nil {
			return err
		}
	}
	for _, p := range pulls {
		there, err := w.until(ctx, func() (bool, error) {
			a, err := w.pull(ctx, p.number)
			return a.str("head.sha") == p.tip, err
		})
		if err != nil {
			return err
		}
		if !there {
			return fmt.Errorf("#%s does not show its new head after %s", p.number, w.patience)
		}
		if err := w.moveBase(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

func withoutWait(ctx context.Context, w *world, pulls []livePull) error {
	for _, p := range pulls {
		if err := w.moveHead(ctx, p); err != nil {
			return err
		}
		if err := w.moveBase(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

func atomically(ctx context.Context, w *world, pulls []livePull) error {
	for _, p := range pulls {
		if _, err := w.git.run(ctx, "push", "-q", "--atomic", w.git.remote(w.admin), "+"+p.tip+":refs/heads/"+p.head, p.tip+":refs/heads/"+p.base); err != nil {
			return err
		}
	}
	return nil
}

// badges counts how pull requests are shown, once none of them is open or there is no more patience.
func badges(ctx context.Context, w *world, pulls []livePull) (facts, error) {
	n := map[string]int{}
	for _, p := range pulls {
		var how string
		if _, err := w.until(ctx, func() (bool, error) {
			a, err := w.pull(ctx, p.number)
			how = shown(a)
			return how != "open", err
		}); err != nil {
			return nil, err
		}
		n[how]++
	}
	return facts{"merged": n["merged"], "closed": n["closed"], "open": n["open"]}, nil
}

// askClosing closes one that has landed before GitHub has seen that, and one that is shown as merged.
func askClosing(ctx context.Context, w *world) (any, error) {
	pulls, err := w.openPulls(ctx, "closing", 3)
	if err != nil {
		return nil, err
	}
	out := facts{}
	closed := func(name string, p livePull) error {
		a, err := w.admin.rest(ctx, http.MethodPatch, "~/pulls/"+p.number, facts{"state": "closed"})
		if err != nil {
			return err
		}
		f := a.refusal()
		after, err := badges(ctx, w, []livePull{p})
		f["shown"] = after
		out[name] = f
		return err
	}
	if err := inOurOrder(ctx, w, pulls[:1]); err != nil {
		return nil, err
	}
	if _, err := badges(ctx, w, pulls[:1]); err != nil {
		return nil, err
	}
	if err := closed("once it is shown as merged", pulls[0]); err != nil {
		return nil, err
	}
	if err := inOurOrder(ctx, w, pulls[1:2]); err != nil {
		return nil, err
	}
	if err := closed("at once", pulls[1]); err != nil {
		return nil, err
	}
	// The head goes to the base's tip before the base has it: nothing is left to merge.
	base, err := w.git.run(ctx, "rev-parse", pulls[2].tip+"^")
	if err != nil {
		return nil, err
	}
	if _, err := w.git.run(ctx, "push", "-q", w.git.remote(w.admin), "+"+base+":refs/heads/"+pulls[2].head); err != nil {
		return nil, err
	}
	if out["a head without anything new"], err = badges(ctx, w, pulls[2:]); err != nil {
		return nil, err
	}
	a, err := w.admin.rest(ctx, http.MethodPatch, "~/pulls/"+pulls[2].number, facts{"state": "open"})
	if err != nil {
		return nil, err
	}
	out["opened again"] = a.refusal()
	return out, nil
}
