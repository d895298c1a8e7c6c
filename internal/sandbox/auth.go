package sandbox

import (
	"encoding/base64"
	"net/http"
	"regexp"
	"strings"

	"github.com/mergexo/mergexo/internal/model"
)

// loginPattern is what GitHub lets people call themselves, and apps' bots.
var loginPattern = regexp.MustCompile(`^[A-Za-z0-9](?:[A-Za-z0-9_-]{0,60})(?:\[bot\])?$`)

// viewer is who a request's token acts as: nil without a token. ok is false when the token is bad, which is a 401.
// Token sandbox-LOGIN is LOGIN, who is created at the first use, and sandbox-actions the workflow bot with the permissions of
// one job; sandbox-github-actions[bot] is the same bot with those of some other workflow's. github_pat_sandbox-LOGIN is a
// fine-grained token of LOGIN. Tokens of installations are those that were made, until they expire.
func (s *Server) viewer(r *http.Request) (u *User, ok bool) {
	token, given := tokenOf(r)
	if !given {
		return nil, true
	}
	if _, a, ok := s.tokens.ofApp(token); ok {
		return s.world.ensureUser(a.login(), "Bot"), true
	}
	login, found := strings.CutPrefix(strings.TrimPrefix(token, fineGrained), "sandbox-")
	if !found || !loginPattern.MatchString(login) || s.tokens.expired(token) {
		return nil, false
	}
	if login == "actions" {
		login = actionsLogin
	}
	return s.world.ensureUser(login, ""), true
}

// jobToken is the token of the job that runs MergeXO.
const jobToken = "sandbox-actions"

// fineGrained is how fine-grained personal tokens begin:
// https://docs.github.com/en/authentication/keeping-your-account-and-data-secure/about-authentication-to-github#githubs-token-formats
const fineGrained = "github_pat_"

// seesChecks tells whether a request's token can read check runs. There is no permission by which a fine-grained personal
// token could: https://github.com/cli/cli/issues/12597. Statuses, and the sum of both, it can.
func (s *Server) seesChecks(r *http.Request) bool {
	token, _ := tokenOf(r)
	t, _, isApp := s.tokens.ofApp(token)
	return !strings.HasPrefix(token, fineGrained) && (!isApp || t.Permissions.have("checks=read"))
}

// noChecks is what a fine-grained token is told.
const noChecks = "Resource not accessible by personal access token"

// tokenOf reads the Authorization header in its three forms; git sends Basic, where the token is the password or, alone, the user.
func tokenOf(r *http.Request) (token string, given bool) {
	scheme, value, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	switch strings.ToLower(scheme) {
	case "":
		return "", false
	case "bearer", "token":
		return strings.TrimSpace(value), true
	case "basic":
		plain, err := base64.StdEncoding.DecodeString(value)
		if err != nil {
			return "", true
		}
		user, password, _ := strings.Cut(string(plain), ":")
		if password == "" || password == "x-oauth-basic" {
			return user, true
		}
		return password, true
	}
	return "", true
}

// need is what a route asks of the person who calls it.
type need int

const (
	needNothing need = iota // nobody in particular
	needToken               // somebody
	needApp                 // an App, for itself
	needRead                // may see the repository, without a token when it is public
	needComment             // somebody who may see the repository
	needTriage
	needWrite
	needMaintain
	needAdmin
)

// permissionOf maps a need on the right it stands for.
var permissionOf = map[need]model.Permission{
	needRead: model.PermissionRead, needComment: model.PermissionRead, needTriage: model.PermissionTriage,
	needWrite: model.PermissionWrite, needMaintain: model.PermissionMaintain, needAdmin: model.PermissionAdmin,
}

// authorize checks the caller's right, in the order in which GitHub does: bad token, hidden repository, too little right.
func (q *request) authorize(n need) error {
	if n == needNothing || n == needApp {
		return nil
	}
	if q.repo != nil && q.may(model.PermissionRead) == nil && n == needRead {
		return nil
	}
	if q.repo != nil && q.may(model.PermissionRead) != nil {
		return errNotFound
	}
	if q.user == nil {
		return &failure{status: http.StatusUnauthorized, message: "Requires authentication"}
	}
	if q.repo == nil {
		return nil
	}
	return q.may(permissionOf[n])
}

// may is nil when the caller has at least permission p in the request's repository, else GitHub's refusal.
func (q *request) may(p model.Permission) error {
	have := model.PermissionNone
	switch {
	case q.user != nil:
		have = q.s.world.permission(q.repo, q.user.Login)
	case !q.repo.Private:
		have = model.PermissionRead
	}
	if have >= p {
		return nil
	}
	message := "Must have admin rights to Repository."
	switch {
	case q.user != nil && q.user.Type == "Bot":
		message = "Resource not accessible by integration"
	case p == model.PermissionWrite:
		message = "Must have push access to repository"
	}
	return &failure{status: http.StatusForbidden, message: message}
}
