package main

import "context"

func askIdentity(ctx context.Context, w *world) any {
	out := facts{}
	for _, c := range w.callers() {
		user := got(c.rest(ctx, "GET", "/user", nil))
		viewer := got(c.graph(ctx, `{ viewer { __typename login databaseId } }`, nil))
		repository := got(c.rest(ctx, "GET", "~", nil))
		rights := got(c.rest(ctx, "GET", "~/collaborators/"+viewer.str("data.viewer.login")+"/permission", nil))
		settings := got(c.rest(ctx, "GET", "~/actions/permissions/workflow", nil))
		own := user.refusal()
		if user.status == 200 {
			own["login"], own["type"] = user.at("login"), user.at("type")
		}
		out[c.kind] = facts{
			"user": own, "viewer": viewer.at("data.viewer"), "viewer errors": graphErrors(viewer), "repository": repository.status,
			"permissions": repository.at("permissions"), "permission": facts{"status": rights.status, "permission": rights.at("permission"), "role": rights.at("role_name")},
			"settings of workflows": settings.status,
		}
	}
	bad := got((&caller{kind: "bad", token: "ghp_none", w: w}).rest(ctx, "GET", "~", nil))
	out["a bad token"] = bad.refusal()
	return out
}
