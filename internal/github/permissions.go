package github

import (
	"context"
	"fmt"
	"strings"

	"github.com/mergexo/mergexo/internal/model"
)

type rightsNode struct {
	Edges []struct {
		Permission string
		Node       actorNode
	}
}

// of is what login may do. Who is not a collaborator has no rights that matter here, whatever the public may read.
func (n rightsNode) of(login string) model.Permission {
	for _, e := range n.Edges {
		if strings.EqualFold(e.Node.Login, login) {
			return model.ParsePermission(e.Permission)
		}
	}
	return model.PermissionNone
}

// Permissions says what people may do in the repository, by lower-case login: in one GraphQL request, or, for a token
// that may not list collaborators, with one REST request each. Bots, and logins that no person can have, have none and
// are not asked about.
func (c Repositories) Permissions(ctx context.Context, repo model.Repo, logins []string) (map[string]model.Permission, error) {
	op := fmt.Sprintf("read the permissions in %s", repo)
	if err := c.check(op, repo); err != nil {
		return nil, err
	}
	out := map[string]model.Permission{}
	var people []string
	for _, login := range logins {
		key := strings.ToLower(login)
		if _, seen := out[key]; seen {
			continue
		}
		out[key] = model.PermissionNone
		if isName(login) {
			people = append(people, login)
		}
	}
	return out, askAll(ctx, c.conn, rightsOf.query, people, rightsOf.most, func(ctx context.Context, some []string) error {
		all, err := askSome[string, rightsNode](ctx, c.conn, rightsOf, op, repo, some)
		if err != nil && KindOf(err) != Forbidden {
			return err
		}
		for i, login := range some {
			key := strings.ToLower(login)
			if all[i] != nil {
				out[key] = all[i].of(login)
			} else if out[key], err = c.permission(ctx, repo, login); err != nil {
				return err
			}
		}
		return nil
	})
}

// permission asks REST about one person: role_name tells maintain and triage apart, permission is the role that a custom
// one is based on. https://docs.github.com/rest/collaborators/collaborators#get-repository-permissions-for-a-user
func (c Repositories) permission(ctx context.Context, repo model.Repo, login string) (model.Permission, error) {
	op := fmt.Sprintf("read the permission of %s in %s", login, repo)
	var level struct {
		Permission string
		RoleName   string `json:"role_name"`
	}
	if err := c.read(ctx, op, repo, fmt.Sprintf("collaborators/%s/permission", login), &level); err != nil {
		return model.PermissionNone, unless(err, NotFound) // no such person
	}
	if p := model.ParsePermission(level.RoleName); p != model.PermissionNone {
		return p, nil
	}
	return model.ParsePermission(level.Permission), nil
}
