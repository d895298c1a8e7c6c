package main

import (
	"context"
	"fmt"
	"strconv"
)

func atoi(s string) int { n, _ := strconv.Atoi(s); return n }

// Steps about refs, by the API and by pushes.

// chain gives the tip of the default branch, and two commits of which one is on top of the other.
func chain(ctx context.Context, w *world) (base, one, two string, err error) {
	if base, err = w.git.base(ctx); err != nil {
		return
	}
	if one, err = w.git.commit(ctx, base, "One", map[string]string{"one.txt": "one\n"}); err != nil {
		return
	}
	two, err = w.git.commit(ctx, one, "Two", map[string]string{"two.txt": "two\n"})
	return
}

func askRefs(ctx context.Context, w *world) (any, error) {
	base, one, two, err := chain(ctx, w)
	if err != nil {
		return nil, err
	}
	if err := w.git.place(ctx, map[string]string{branch("refs/objects"): two}); err != nil {
		return nil, err
	}
	out := facts{}
	if out["by the API"], err = refsByAPI(ctx, w, base, one, two); err != nil {
		return nil, err
	}
	out["by pushes"], err = refsByPush(ctx, w, base, one, two)
	return out, err
}

func refsByAPI(ctx context.Context, w *world, base, one, two string) (facts, error) {
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
			if err != nil {
				return nil, fmt.Errorf("%s: %w", ask.name, err)
			}
			of[ask.name] = a.refusal()
		}
		out[kind] = of
	}
	for name, in := range map[string]facts{
		"without refs/": {"ref": prefix, "sha": one}, "with two dots": {"ref": "refs/heads/" + prefix + "..x", "sha": one}, "of no object": {"ref": branch("refs/none"), "sha": none},
		"of half a SHA": {"ref": branch("refs/half"), "sha": one[:20]}, "of pull requests": {"ref": "refs/pull/1/head", "sha": one},
	} {
		a, err := w.admin.rest(ctx, "POST", "~/git/refs", in)
		if err != nil {
			return nil, err
		}
		out[name] = a.refusal()
	}
	for name, path := range map[string]string{"read one that is not there": "~/git/ref/heads/" + prefix + "/refs/none", "list none": "~/git/matching-refs/heads/" + prefix + "/refs/none"} {
		a, err := w.admin.rest(ctx, "GET", path, nil)
		if err != nil {
			return nil, err
		}
		out[name] = a.refusal()
	}
	return out, nil
}

// pushed is one push of several, in their order.
type pushed struct {
	name  string
	how   []string
	specs []string
}

// pushes pushes one after the other.
func (w *world) pushes(ctx context.Context, c *caller, all []pushed) (facts, error) {
	out := facts{}
	for i, p := range all {
		f, err := w.git.push(ctx, c, p.how, p.specs...)
		if err != nil {
			return nil, err
		}
		out[fmt.Sprintf("%02d %s", i+1, p.name)] = f
	}
	return out, nil
}

func refsByPush(ctx context.Context, w *world, base, one, two string) (facts, error) {
	out := facts{}
	for kind, ref := range map[string]string{"branch": branch("refs/push"), "hidden ref": "refs/" + prefix + "/push"} {
		side := ref + "-side"
		of, err := w.pushes(ctx, w.admin, []pushed{
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
		if err != nil {
			return nil, err
		}
		out[kind] = of
	}
	var err error
	out["of pull requests"], err = w.git.push(ctx, w.admin, nil, "+"+one+":refs/pull/1/head")
	return out, err
}

func askHidden(ctx context.Context, w *world) (any, error) {
	base, one, _, err := chain(ctx, w)
	if err != nil {
		return nil, err
	}
	shown, hidden := branch("hidden/branch"), "refs/"+prefix+"/hidden"
	if err := w.git.place(ctx, map[string]string{shown: one, hidden: one}); err != nil {
		return nil, err
	}
	made, err := w.admin.rest(ctx, "POST", "~/rulesets", facts{
		"name": prefix + " all", "target": "branch", "enforcement": "active", "conditions": facts{"ref_name": facts{"include": []string{"~ALL"}, "exclude": []string{}}},
		"rules": []facts{{"type": "deletion"}, {"type": "non_fast_forward"}},
	})
	if made, err = made.want(err, 201); err != nil {
		return nil, fmt.Errorf("make a ruleset: %w", err)
	}
	out, err := w.pushes(ctx, w.admin, []pushed{
		{"a branch back by force", nil, []string{"+" + base + ":" + shown}},
		{"delete a branch", nil, []string{":" + shown}},
		{"a hidden ref back by force", nil, []string{"+" + base + ":" + hidden}},
		{"delete a hidden ref", nil, []string{":" + hidden}},
		{"make a hidden ref", nil, []string{one + ":" + hidden + "-new"}},
	})
	if err != nil {
		return nil, err
	}
	return out, w.delete(ctx, "~/rulesets/"+made.str("id"))
}

func askLimit(ctx context.Context, w *world) (any, error) {
	switch {
	case w.control != "":
		if err := w.set(ctx, "pushes", facts{"refs": 2}); err != nil {
			return nil, err
		}
	case w.opts.pushLimit != 2:
		return nil, notHere("not asked: set the limit to 2 by hand (Settings, General, Pushes), and say --push-limit 2")
	}
	_, one, two, err := chain(ctx, w)
	if err != nil {
		return nil, err
	}
	names := []string{branch("limit/a"), branch("limit/b"), branch("limit/c")}
	three := func(sha, place string) []string {
		return []string{sha + ":" + place + "a", sha + ":" + place + "b", sha + ":" + place + "c"}
	}
	out, err := w.pushes(ctx, w.admin, []pushed{
		{"two branches", nil, []string{one + ":" + names[0], one + ":" + names[1]}},
		{"three branches", nil, three(two, branch("limit/"))},
		{"three branches, atomic", []string{"--atomic"}, three(two, branch("limit/"))},
		{"three hidden refs", nil, three(one, "refs/"+prefix+"/limit-")},
		{"two branches and a hidden ref", nil, []string{two + ":" + names[0], two + ":" + names[1], two + ":refs/" + prefix + "/limit-d"}},
	})
	if err == nil && w.control != "" {
		err = w.set(ctx, "pushes", facts{})
	}
	return out, err
}
