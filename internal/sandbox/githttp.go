package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync"

	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/sandbox/smarthttp"
)

// gitRequest is a smart HTTP request: https://git-scm.com/docs/http-protocol
type gitRequest struct {
	owner, name string
	rest        string // below the repository
	service     string // upload-pack or receive-pack; empty for the dumb protocol, which is not served
}

var gitPath = regexp.MustCompile(`^/([^/]+)/([^/]+?)(?:\.git)?/(info/refs|git-upload-pack|git-receive-pack)$`)

// parseGitPath is nil for what is no git request.
func parseGitPath(r *http.Request) *gitRequest {
	m := gitPath.FindStringSubmatch(r.URL.Path)
	if m == nil {
		return nil
	}
	g := &gitRequest{owner: m[1], name: m[2], rest: m[3], service: strings.TrimPrefix(m[3], "git-")}
	if g.rest == "info/refs" {
		g.service = strings.TrimPrefix(r.URL.Query().Get("service"), "git-")
	}
	return g
}

// serveGit answers git clients, and acts on what a push changed before the client hears of it.
func (s *Server) serveGit(w http.ResponseWriter, r *http.Request, g *gitRequest) {
	user, repo, f := s.admitGit(r, g)
	if f != nil {
		if f.status == http.StatusUnauthorized {
			w.Header().Set("WWW-Authenticate", `Basic realm="GitHub"`)
		}
		http.Error(w, f.message, f.status)
		return
	}
	env := s.pusherEnv(r, user)
	switch {
	case g.rest == "info/refs" && g.service == smarthttp.UploadPack && r.Header.Get("Git-Protocol") == "version=2":
		s.greet(w, r, repo, env)
		return
	case g.rest != "git-receive-pack":
		smarthttp.Serve(w, r, g.service, s.git.path(repo), env)
		return
	}
	lock, _ := s.receiving.LoadOrStore(repo.ID, &sync.Mutex{})
	lock.(*sync.Mutex).Lock()
	defer lock.(*sync.Mutex).Unlock()
	answer := &held{header: http.Header{}, status: http.StatusOK}
	smarthttp.Serve(answer, r, g.service, s.git.path(repo), env)
	s.mu.Lock()
	err := s.refs.sync(repo, user)
	policy := repo.PushPolicy
	s.mu.Unlock()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	answer.body = policy.worded(answer.body)
	answer.release(w)
}

// greet answers what a fetch in the second version of git's protocol asks first: what git can do. That is the same for every
// repository here, so that git is asked once. https://git-scm.com/docs/protocol-v2#_capability_advertisement
func (s *Server) greet(w http.ResponseWriter, r *http.Request, repo *Repository, env []string) {
	answer, err := fact(&s.core, "capabilities of upload-pack", func() (*held, error) {
		h := &held{header: http.Header{}, status: http.StatusOK}
		smarthttp.Serve(h, r, smarthttp.UploadPack, s.git.path(repo), env)
		if !bytes.HasSuffix(h.body, []byte(flushPkt)) {
			return nil, errors.New("git does not say what it can do")
		}
		return h, nil
	})
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	answer.release(w)
}

// admitGit finds the repository and checks the caller's right to it.
func (s *Server) admitGit(r *http.Request, g *gitRequest) (*User, *Repository, *failure) {
	s.mu.Lock()
	defer s.mu.Unlock()
	user, ok := s.viewer(r)
	token, _ := tokenOf(r)
	if !ok {
		return nil, nil, &failure{status: http.StatusUnauthorized, message: "Invalid username or token. Password authentication is not supported for Git operations."}
	}
	if g.service != "upload-pack" && g.service != "receive-pack" {
		return nil, nil, &failure{status: http.StatusForbidden, message: "Please upgrade your git client."}
	}
	repo := s.world.repository(g.owner, g.name)
	have := model.PermissionNone
	switch {
	case repo != nil && user != nil:
		have = s.world.permission(repo, user.Login)
	case repo != nil && !repo.Private:
		have = model.PermissionRead
	}
	if repo != nil {
		have = min(have, s.tokens.gitMost(token, repo))
	}
	switch {
	case have == model.PermissionNone && user == nil:
		return nil, nil, &failure{status: http.StatusUnauthorized, message: "Authentication required"} // as GitHub: it could be there
	case have == model.PermissionNone:
		return nil, nil, &failure{status: http.StatusNotFound, message: "Repository not found."}
	case g.service == "receive-pack" && user == nil:
		return nil, nil, &failure{status: http.StatusUnauthorized, message: "Authentication required"}
	case s.tokens.lacks(token, repo, "contents=read", true): // https://github.com/actions/checkout/issues/445
		return nil, nil, &failure{status: http.StatusNotFound, message: "Repository not found."}
	case g.service == "receive-pack" && (have < model.PermissionWrite || s.tokens.lacks(token, repo, "contents=write", true)):
		return nil, nil, &failure{status: http.StatusForbidden, message: fmt.Sprintf("Permission to %s.git denied to %s.", repo.FullName(), user.Login)}
	}
	return user, repo, nil
}

// pusherEnv is git's environment for what a user asks for. The hooks read in it who that is.
func (s *Server) pusherEnv(r *http.Request, user *User) []string {
	env := gitEnv()
	if user != nil {
		env = append(env, "SANDBOX_LOGIN="+strings.ToLower(user.Login))
		token, _ := tokenOf(r)
		s.mu.Lock()
		changes := s.tokens.changesWorkflows(token, user)
		s.mu.Unlock()
		if !changes {
			env = append(env, "SANDBOX_NO_WORKFLOWS=1")
		}
		if user.Type == "Bot" {
			env = append(env, "SANDBOX_NO_LFS=1")
		}
	}
	return env
}

// held keeps an answer back until the sandbox has acted on the push.
type held struct {
	header http.Header
	status int
	body   []byte
}

func (h *held) Header() http.Header         { return h.header }
func (h *held) Write(b []byte) (int, error) { h.body = append(h.body, b...); return len(b), nil }
func (h *held) WriteHeader(code int)        { h.status = code }

func (h *held) release(w http.ResponseWriter) {
	for k, v := range h.header {
		w.Header()[k] = v
	}
	w.WriteHeader(h.status)
	_, _ = w.Write(h.body) // the client may be gone; the push has taken effect anyway
}
