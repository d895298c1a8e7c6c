package github

import (
	"cmp"
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
	known := map[string]bool{}
	err := askEach(ctx, c.conn, rightsOf, op, repo, people, func(login string, n *rightsNode) {
		key := strings.ToLower(login)
		out[key], known[key] = n.of(login), true
	})
	if err != nil && KindOf(err) != Forbidden {
		return nil, err
	}
	for _, login := range people {
		if key := strings.ToLower(login); !known[key] {
			if out[key], err = c.permission(ctx, repo, login); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
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
	return cmp.Or(model.ParsePermission(level.RoleName), model.ParsePermission(level.Permission)), nil
}
