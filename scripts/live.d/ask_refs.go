package main

import (
	"context"
	"fmt"
	"strconv"
)

func atoi(s string) int { n, _ := strconv.Atoi(s); return n }

// Steps about refs, by the API and by pushes.

// chain gives the tip of the default branch, and two commits of which one is on top of the other.
func chain(ctx context.Context, w *world) (base, one, two string) {
	base = got(w.git.base(ctx))
	one = got(w.git.commit(ctx, base, "One", map[string]string{"one.txt": "one\n"}))
	two = got(w.git.commit(ctx, one, "Two", map[string]string{"two.txt": "two\n"}))
	return base, one, two
}

func askRefs(ctx context.Context, w *world) any {
	base, one, two := chain(ctx, w)
	check(w.git.place(ctx, map[string]string{branch("refs/objects"): two}))
	return facts{"by the API": refsByAPI(ctx, w, base, one, two), "by pushes": refsByPush(ctx, w, base, one, two)}
}

func refsByAPI(ctx context.Context, w *world, base, one, two string) facts {
	out := facts{}
	const none = "0123456789012345678901234567890123456789"
	for kind, ref := range map[string]string{"branch": branch("refs/api"), "hidden ref": "refs/" + prefix + "/api"} {
		at, of := "~/git/"+ref, facts{}
		for _, ask := range []struct {
			name, method, path string
			body               any
		}{
			{"1 create", "POST", "~/git/refs", facts{"ref": ref, "sha": one}},
			{"2 create again", "POST", "~/git/refs", facts{"ref": ref, "sha": one}},
			{"3 create elsewhere", "POST", "~/git/refs", facts{"ref": ref, "sha": two}},
			{"4 forward", "PATCH", at, facts{"sha": two}},
			{"5 back", "PATCH", at, facts{"sha": base}},
			{"6 back by force", "PATCH", at, facts{"sha": base, "force": true}},
			{"7 to no object", "PATCH", at, facts{"sha": none}},
			{"8 delete", "DELETE", at, nil},
			{"9 delete again", "DELETE", at, nil},
		} {
			a, err := w.admin.rest(ctx, ask.method, ask.path, ask.body)
			check(named(ask.name, err))
			of[ask.name] = a.refusal()
		}
		out[kind] = of
	}
	for name, in := range map[string]facts{
		"without refs/": {"ref": prefix, "sha": one}, "with two dots": {"ref": "refs/heads/" + prefix + "..x", "sha": one}, "of no object": {"ref": branch("refs/none"), "sha": none},
		"of half a SHA": {"ref": branch("refs/half"), "sha": one[:20]}, "of pull requests": {"ref": "refs/pull/1/head", "sha": one},
	} {
		out[name] = got(w.admin.rest(ctx, "POST", "~/git/refs", in)).refusal()
	}
	for name, path := range map[string]string{"read one that is not there": "~/git/ref/heads/" + prefix + "/refs/none", "list none": "~/git/matching-refs/heads/" + prefix + "/refs/none"} {
		out[name] = got(w.admin.rest(ctx, "GET", path, nil)).refusal()
	}
	return out
}

// pushed is one push of several, in their order.
type pushed struct {
	name  string
	how   []string
	specs []string
}

// pushes pushes one after the other.
func (w *world) pushes(ctx context.Context, c *caller, all []pushed) facts {
	out := facts{}
	for i, p := range all {
		out[fmt.Sprintf("%02d %s", i+1, p.name)] = got(w.git.push(ctx, c, p.how, p.specs...))
	}
	return out
}

func refsByPush(ctx context.Context, w *world, base, one, two string) facts {
	out := facts{}
	for kind, ref := range map[string]string{"branch": branch("refs/push"), "hidden ref": "refs/" + prefix + "/push"} {
		side := ref + "-side"
		out[kind] = w.pushes(ctx, w.admin, []pushed{
			{"create, leased to be new", []string{"--force-with-lease=" + ref + ":"}, []string{one + ":" + ref}},
			{"create again, leased to be new", []string{"--force-with-lease=" + ref + ":"}, []string{two + ":" + ref}},
			{"forward", nil, []string{two + ":" + ref}},
			{"back", nil, []string{base + ":" + ref}},
			{"back by force", nil, []string{"+" + base + ":" + ref}},
			{"leased on what is not there", []string{"--force-with-lease=" + ref + ":" + two}, []string{one + ":" + ref}},
			{"leased on what is there", []string{"--force-with-lease=" + ref + ":" + base}, []string{one + ":" + ref}},
			{"two at once, one of them back", nil, []string{base + ":" + ref, one + ":" + side}},
			{"two at once, atomic, one of them back", []string{"--atomic"}, []string{base + ":" + ref, two + ":" + side}},
			{"two at once, atomic", []string{"--atomic"}, []string{two + ":" + ref, two + ":" + side}},
			{"delete, leased on what is not there", []string{"--force-with-lease=" + ref + ":" + one}, []string{":" + ref}},
			{"delete both", nil, []string{":" + ref, ":" + side}},
		})
	}
	out["of pull requests"] = got(w.git.push(ctx, w.admin, nil, "+"+one+":refs/pull/1/head"))
	return out
}

func askHidden(ctx context.Context, w *world) any {
	base, one, _ := chain(ctx, w)
	shown, hidden := branch("hidden/branch"), "refs/"+prefix+"/hidden"
	check(w.git.place(ctx, map[string]string{shown: one, hidden: one}))
	made, err := w.admin.need(ctx, "POST", "~/rulesets", facts{
		"name": prefix + " all", "target": "branch", "enforcement": "active", "conditions": facts{"ref_name": facts{"include": []string{"~ALL"}, "exclude": []string{}}},
		"rules": []facts{{"type": "deletion"}, {"type": "non_fast_forward"}},
	}, 201)
	check(named("make a ruleset", err))
	out := w.pushes(ctx, w.admin, []pushed{
		{"a branch back by force", nil, []string{"+" + base + ":" + shown}},
		{"delete a branch", nil, []string{":" + shown}},
		{"a hidden ref back by force", nil, []string{"+" + base + ":" + hidden}},
		{"delete a hidden ref", nil, []string{":" + hidden}},
		{"make a hidden ref", nil, []string{one + ":" + hidden + "-new"}},
	})
	check(w.delete(ctx, "~/rulesets/"+made.str("id")))
	return out
}

func askLimit(ctx context.Context, w *world) any {
	switch {
	case w.control != "":
		check(w.set(ctx, "pushes", facts{"refs": 2}))
	case w.opts.pushLimit != 2:
		check(notHere("not asked: set the limit to 2 by hand (Settings, General, Pushes), and say --push-limit 2"))
	}
	_, one, two := chain(ctx, w)
	names := []string{branch("limit/a"), branch("limit/b"), branch("limit/c")}
	three := func(sha, place string) []string {
		return []string{sha + ":" + place + "a", sha + ":" + place + "b", sha + ":" + place + "c"}
	}
	out := w.pushes(ctx, w.admin, []pushed{
		{"two branches", nil, []string{one + ":" + names[0], one + ":" + names[1]}},
		{"three branches", nil, three(two, branch("limit/"))},
		{"three branches, atomic", []string{"--atomic"}, three(two, branch("limit/"))},
		{"three hidden refs", nil, three(one, "refs/"+prefix+"/limit-")},
		{"two branches and a hidden ref", nil, []string{two + ":" + names[0], two + ":" + names[1], two + ":refs/" + prefix + "/limit-d"}},
	})
	if w.control != "" {
		check(w.set(ctx, "pushes", facts{}))
	}
	return out
}
