package sandbox

import "github.com/mergexo/mergexo/internal/model"

// ofApp is an installation's token and its App; false for another token, and for one that has expired.
func (k tokens) ofApp(token string) (t *AppToken, a *App, is bool) {
	for _, t := range k.st.AppTokens {
		if t.Token != token || !k.world.now().Before(t.ExpiresAt) {
			continue
		}
		for _, a := range k.st.Apps {
			if a.ID == t.App {
				return t, a, true
			}
		}
	}
	return nil, nil, false
}

// changesWorkflows tells whether a token may write workflows: that of a workflow never, and that of an App with a permission.
func (k tokens) changesWorkflows(token string, u *User) bool {
	t, _, isApp := k.ofApp(token)
	return u.Login != actionsLogin && (!isApp || t.Permissions.have("workflows=write"))
}

// reaches tells whether a token may know of a repository at all: that of an App reaches those that it was made for.
func (k tokens) reaches(token string, r *Repository) bool {
	t, a, isApp := k.ofApp(token)
	return !isApp || a.reaches(r) && (t.Repositories == nil || t.Repositories[r.ID])
}

// gitMost is the most that a token allows by git in a repository.
func (k tokens) gitMost(token string, r *Repository) model.Permission {
	t, a, isApp := k.ofApp(token)
	switch {
	case !isApp:
		return model.PermissionAdmin
	case !k.reaches(token, r) || a.SuspendedAt != nil || !t.Permissions.have("contents=read"):
		return model.PermissionNone
	case t.Permissions.have("contents=write"):
		return model.PermissionWrite
	}
	return model.PermissionRead
}

// inReach refuses what an App's token was not made for, or may no longer do.
func (q *request) inReach() error {
	if q.repo == nil {
		return nil
	}
	token, _ := tokenOf(q.r)
	if _, a, isApp := q.s.tokens.ofApp(token); isApp && a.SuspendedAt != nil {
		return errSuspended
	}
	if !q.s.tokens.reaches(token, q.repo) {
		return errNotFound
	}
	return nil
}
