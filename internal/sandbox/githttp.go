package sandbox

import (
	"bytes"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/cgi"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/mergexo/mergexo/internal/model"
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

// serveGit answers git clients with git http-backend, and acts on what a push changed before the client hears of it.
func (s *Server) serveGit(w http.ResponseWriter, r *http.Request, g *gitRequest) {
	user, repo, f := s.admitGit(r, g)
	if f != nil {
		if f.status == http.StatusUnauthorized {
			w.Header().Set("WWW-Authenticate", `Basic realm="GitHub"`)
		}
		http.Error(w, f.message, f.status)
		return
	}
	if err := spool(r); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	defer r.Body.Close()
	backend, err := s.backend(repo, user, r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	inner := r.Clone(r.Context())
	inner.URL = &url.URL{Path: "/" + filepath.Base(s.gitDir(repo)) + "/" + g.rest, RawQuery: r.URL.RawQuery}
	if g.rest != "git-receive-pack" {
		backend.ServeHTTP(w, inner)
		return
	}
	lock, _ := s.receiving.LoadOrStore(repo.ID, &sync.Mutex{})
	lock.(*sync.Mutex).Lock()
	defer lock.(*sync.Mutex).Unlock()
	answer := &held{header: http.Header{}, status: http.StatusOK}
	backend.ServeHTTP(answer, inner)
	s.mu.Lock()
	err = s.syncRefs(repo, user)
	s.mu.Unlock()
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
	if !ok {
		return nil, nil, &failure{status: http.StatusUnauthorized, message: "Invalid username or token. Password authentication is not supported for Git operations."}
	}
	if g.service != "upload-pack" && g.service != "receive-pack" {
		return nil, nil, &failure{status: http.StatusForbidden, message: "Please upgrade your git client."}
	}
	repo := s.repository(g.owner, g.name)
	have := model.PermissionNone
	switch {
	case repo != nil && user != nil:
		have = s.permission(repo, user.Login)
	case repo != nil && !repo.Private:
		have = model.PermissionRead
	}
	switch {
	case have == model.PermissionNone && user == nil:
		return nil, nil, &failure{status: http.StatusUnauthorized, message: "Authentication required"} // as GitHub: it could be there
	case have == model.PermissionNone:
		return nil, nil, &failure{status: http.StatusNotFound, message: "Repository not found."}
	case g.service == "receive-pack" && user == nil:
		return nil, nil, &failure{status: http.StatusUnauthorized, message: "Authentication required"}
	case g.service == "receive-pack" && have < model.PermissionWrite:
		return nil, nil, &failure{status: http.StatusForbidden, message: fmt.Sprintf("Permission to %s.git denied to %s.", repo.FullName(), user.Login)}
	}
	return user, repo, nil
}

// backend is git http-backend for one request: https://git-scm.com/docs/git-http-backend
func (s *Server) backend(repo *Repository, user *User, r *http.Request) (*cgi.Handler, error) {
	git, err := exec.LookPath("git")
	if err != nil {
		return nil, fmt.Errorf("find git: %w", err)
	}
	env := gitEnv("GIT_PROJECT_ROOT="+filepath.Dir(s.gitDir(repo)), "GIT_HTTP_EXPORT_ALL=1", "GIT_PROTOCOL="+r.Header.Get("Git-Protocol"))
	if user != nil {
		env = append(env, "REMOTE_USER="+user.Login, "SANDBOX_LOGIN="+strings.ToLower(user.Login))
		if user.Login == actionsLogin {
			env = append(env, "SANDBOX_NO_WORKFLOWS=1")
		}
	}
	return &cgi.Handler{
		Path: git, Args: []string{"http-backend"}, Env: env, Dir: s.dir,
		Logger: log.New(io.Discard, "", 0), Stderr: io.Discard,
	}, nil
}

// spool gives a chunked body the length that CGI needs.
func spool(r *http.Request) error {
	if r.ContentLength >= 0 {
		return nil
	}
	f, err := os.CreateTemp("", "sandbox-body-")
	if err != nil {
		return fmt.Errorf("keep request body: %w", err)
	}
	if err := os.Remove(f.Name()); err != nil { // it lives as long as it is open
		return fmt.Errorf("keep request body: %w", err)
	}
	n, err := io.Copy(f, r.Body)
	if err != nil {
		return fmt.Errorf("keep request body: %w", err)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("keep request body: %w", err)
	}
	r.Body, r.ContentLength, r.TransferEncoding = f, n, nil
	r.Header.Set("Content-Length", strconv.FormatInt(n, 10))
	return nil
}

// held keeps an answer back until the sandbox has acted on the push.
type held struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (h *held) Header() http.Header         { return h.header }
func (h *held) Write(b []byte) (int, error) { return h.body.Write(b) }
func (h *held) WriteHeader(code int)        { h.status = code }

func (h *held) release(w http.ResponseWriter) {
	for k, v := range h.header {
		w.Header()[k] = v
	}
	w.WriteHeader(h.status)
	_, _ = w.Write(h.body.Bytes()) // the client may be gone; the push has taken effect all the same
}
