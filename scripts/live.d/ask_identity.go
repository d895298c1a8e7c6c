package main

import "context"

func askIdentity(ctx context.Context, w *world) (any, error) {
	out := facts{}
	for _, c := range w.callers() {
		user, err := c.rest(ctx, "GET", "/user", nil)
		if err != nil {
			return nil, err
		}
		viewer, err := c.graph(ctx, `{ viewer { __typename login databaseId } }`, nil)
		if err != nil {
			return nil, err
		}
		repository, err := c.rest(ctx, "GET", "~", nil)
		if err != nil {
			return nil, err
		}
		rights, err := c.rest(ctx, "GET", "~/collaborators/"+viewer.str("data.viewer.login")+"/permission", nil)
		if err != nil {
			return nil, err
		}
		settings, err := c.rest(ctx, "GET", "~/actions/permissions/workflow", nil)
		if err != nil {
			return nil, err
		}
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
	bad, err := (&caller{kind: "bad", token: "ghp_none", w: w}).rest(ctx, "GET", "~", nil)
	if err != nil {
		return nil, err
	}
	out["a bad token"] = bad.refusal()
	return out, nil
}
