package sandbox

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Fault makes requests fail on purpose: secondary rate limits, 5xx before or after a write took effect, dropped connections.
type Fault struct {
	Match struct {
		Method string `json:"method"` // empty: any
		Path   string `json:"path"`   // a prefix of the path, or a pattern for all of it in which "*" stands for any text
	} `json:"match"`
	Status  int               `json:"status"`
	Headers map[string]string `json:"headers"`
	Body    json.RawMessage   `json:"body"`  // text, or JSON to be sent as it is
	Times   int               `json:"times"` // how often; 0 is until the faults are set again
	After   bool              `json:"after"` // the request takes effect first
	Drop    bool              `json:"drop"`  // the connection is closed instead of answered
	Skip    int               `json:"skip"`  // so many matching requests pass before the first one fails
}

func (f *Fault) matches(r *http.Request) bool {
	if f.Match.Method != "" && !strings.EqualFold(f.Match.Method, r.Method) {
		return false
	}
	if !strings.Contains(f.Match.Path, "*") {
		return strings.HasPrefix(r.URL.Path, f.Match.Path)
	}
	pattern := "^" + strings.ReplaceAll(regexp.QuoteMeta(f.Match.Path), `\*`, ".*") + "$"
	return regexp.MustCompile(pattern).MatchString(r.URL.Path)
}

// takeFault finds the first fault for a request and counts it.
func (s *Server) takeFault(r *http.Request) *Fault {
	for i, f := range s.st.Faults {
		if !f.matches(r) {
			continue
		}
		s.world.changed()
		if f.Skip > 0 {
			f.Skip--
			continue
		}
		if f.Times > 0 {
			if f.Times--; f.Times == 0 {
				s.st.Faults = slices.Delete(s.st.Faults, i, i+1)
			}
		}
		return f
	}
	return nil
}

// serve answers in the way of the fault.
func (f *Fault) serve(w http.ResponseWriter, r *http.Request, next http.Handler) {
	if f.After {
		next.ServeHTTP(&sink{header: http.Header{}}, r)
	}
	if f.Drop {
		if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
			_ = conn.Close() // that it is gone is the point
		}
		return
	}
	if !f.After {
		_, _ = io.Copy(io.Discard, r.Body) // a client that still writes would see a broken pipe, not the answer
	}
	body := []byte(f.Body)
	var text string
	if json.Unmarshal(f.Body, &text) == nil {
		body = []byte(text)
	}
	if json.Valid(body) {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
	}
	for k, v := range f.Headers {
		w.Header().Set(k, v)
	}
	status := f.Status
	if status == 0 {
		status = http.StatusInternalServerError
	}
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

// sink is where the true answer goes when a fault answers in its place.
type sink struct{ header http.Header }

func (s *sink) Header() http.Header         { return s.header }
func (s *sink) Write(b []byte) (int, error) { return len(b), nil }
func (s *sink) WriteHeader(int)             {}

// controlHandler serves what a test sets and sees beside GitHub's own API. It needs no token.
func (s *Server) controlHandler() http.Handler {
	mux := http.NewServeMux()
	handle := func(pattern string, serve func(*request) (any, error)) {
		method, path, _ := strings.Cut(pattern, " ")
		mux.HandleFunc(method+" "+strings.TrimSuffix(controlPrefix, "/")+path, func(w http.ResponseWriter, r *http.Request) {
			s.serveRoute(w, r, route{pattern: pattern, need: needNothing, serve: serve})
		})
	}
	handle("PUT /users/{login}", withBody(setUser))
	handle("DELETE /users/{login}", deleteUser)
	handle("PUT /apps/{slug}", withBody(setApp))
	handle("PUT /protection", withNamed(setProtection))
	handle("PUT /permissions", withNamed(setPermissions))
	handle("PUT /limits", withBody(setLimits))
	handle("PUT /tokens", withBody(setToken))
	handle("PUT /lag", withNamed(setLag))
	handle("PUT /issues", withNamed(setIssue))
	handle("PUT /runs/{id}", withNamed(setRun))
	handle("PUT /latency", withBody(setLatency))
	handle("PUT /pulls", setPulls)
	handle("PUT /threads", withBody(resolveThreads))
	handle("PUT /faults", setFaults)
	handle("PUT /queries", withBody(setQueries))
	handle("PUT /schema", withBody(setSchema))
	handle("PUT /pushes", withNamed(setPushes))
	handle("PUT /clock", withBody(setClock))
	handle("POST /repositories", withBody(controlRepository))
	handle("DELETE /repositories/{owner}/{repo}", controlDrop)
	handle("GET /secrets/{owner}/{repo}", controlSecrets)
	mux.HandleFunc("GET /_sandbox/deliveries", func(w http.ResponseWriter, _ *http.Request) {
		s.mu.Lock()
		err := s.pulls.catchUp()
		s.mu.Unlock()
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		s.deliveries.serve(w)
	})
	mux.HandleFunc("GET /_sandbox/calls", func(w http.ResponseWriter, _ *http.Request) { s.calls.serve(w) })
	mux.HandleFunc("DELETE /_sandbox/calls", func(w http.ResponseWriter, r *http.Request) { s.calls.clear(w) })
	mux.HandleFunc("/", notFound)
	return mux
}

// serve writes the log as one JSON array, oldest first.
func (l *recordLog) serve(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	sep := "["
	err := l.each(func(line []byte) error {
		_, err := fmt.Fprintf(w, "%s%s", sep, line)
		sep = ","
		return err
	})
	if sep == "[" {
		_, _ = io.WriteString(w, "[")
	}
	if err == nil {
		_, _ = io.WriteString(w, "]\n") // the client may be gone; there is nobody to tell
	}
}

// clear forgets all records, so that a test counts from here.
func (l *recordLog) clear(w http.ResponseWriter) {
	if err := l.truncate(); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// setUser makes an account and sets its right in a repository, the first one unless told.
func setUser(q *request, in struct{ Type, Repository, Permission, Membership string }) (any, error) {
	login := q.r.PathValue("login")
	if !loginPattern.MatchString(login) {
		return nil, unprocessable("login: want GitHub's letters, digits and hyphens, and [bot] for a bot")
	}
	if in.Type != "" && in.Type != "User" && in.Type != "Bot" {
		return nil, unprocessable("type: want User or Bot")
	}
	u := q.s.world.ensureUser(login, in.Type)
	if in.Type != "" {
		u.Type = in.Type
	}
	if in.Permission != "" {
		r, err := q.s.world.named(in.Repository)
		if err != nil {
			return nil, err
		}
		if !slices.Contains([]string{"admin", "maintain", "write", "triage", "read", "none"}, in.Permission) {
			return nil, unprocessable("permission: want admin, maintain, write, triage, read or none")
		}
		if in.Membership != "" && in.Membership != "private" {
			return nil, unprocessable("membership: want private, or nothing for somebody whom everybody sees to belong to the repository")
		}
		r.setPermission(login, in.Permission, in.Membership == "private")
	}
	q.s.world.changed()
	return q.s.json.user(u), nil
}

// setPermission sets somebody's right in the repository; hidden says that author_association does not show it.
func (r *Repository) setPermission(login, permission string, hidden bool) {
	key := strings.ToLower(login)
	r.Permissions[key] = permission
	delete(r.Hidden, key)
	if hidden {
		if r.Hidden == nil {
			r.Hidden = map[string]bool{}
		}
		r.Hidden[key] = true
	}
}

// deleteUser is an account that is deleted: what it said and edited stays, and GitHub tells no more who that was.
// https://docs.github.com/account-and-profile/setting-up-and-managing-your-personal-account-on-github/managing-your-personal-account/deleting-your-personal-account
func deleteUser(q *request) (any, error) {
	login := q.r.PathValue("login")
	u := q.s.world.user(login)
	if u == nil || u.Type != "User" {
		return nil, errNotFound
	}
	q.s.st.Users = slices.DeleteFunc(q.s.st.Users, func(other *User) bool { return other == u })
	delete(q.s.users, strings.ToLower(login))
	for _, r := range q.s.st.Repositories {
		delete(r.Permissions, strings.ToLower(login))
	}
	q.s.world.changed()
	return obj{}, nil
}

// withNamed is withBody for a function that also takes the repository of the body, by default the first one.
func withNamed[T any](serve func(*request, *Repository, T) (any, error)) func(*request) (any, error) {
	return withBody(func(q *request, of struct{ Repository string }) (any, error) {
		r, err := q.s.world.named(of.Repository)
		if err != nil {
			return nil, err
		}
		return andBody(serve)(q, r)
	})
}

// named finds a repository by "owner/name"; an empty name is the first one.
func (w world) named(full string) (*Repository, error) {
	if full == "" && len(w.st.Repositories) > 0 {
		return w.st.Repositories[0], nil
	}
	owner, name, _ := strings.Cut(full, "/")
	if r := w.repository(owner, name); r != nil {
		return r, nil
	}
	return nil, unprocessable(fmt.Sprintf("repository: there is no %q", full))
}

// setFaults replaces all faults: by one object, or by a list.
func setFaults(q *request) (any, error) {
	var many []*Fault
	if strings.HasPrefix(strings.TrimSpace(string(q.body)), "[") {
		if err := q.decode(&many); err != nil {
			return nil, err
		}
	} else {
		var one Fault
		if err := q.decode(&one); err != nil {
			return nil, err
		}
		if one.Status != 0 || one.Drop {
			many = []*Fault{&one}
		}
	}
	q.s.st.Faults = many
	q.s.world.changed()
	return many, nil
}

// setClock pins the time, or lets it run again when now is null. advance (a duration) moves a pinned clock.
func setClock(q *request, in struct {
	Now     *time.Time
	Advance string
}) (any, error) {
	if in.Advance != "" {
		d, err := time.ParseDuration(in.Advance)
		if err != nil {
			return nil, unprocessable("advance: want a duration as in 90s")
		}
		t := q.s.world.now().Add(d)
		in.Now = &t
	}
	q.s.pinClock(in.Now)
	return obj{"now": stamp(q.s.world.now())}, nil
}

func (s *Server) pinClock(t *time.Time) {
	if t != nil {
		cut := t.UTC().Truncate(time.Second)
		t = &cut
	}
	s.st.PinnedClock = t
	s.world.changed()
}

// SetClock pins the sandbox's time until it is set again; the zero time lets it run.
func (s *Server) SetClock(t time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t.IsZero() {
		s.pinClock(nil)
		return
	}
	s.pinClock(&t)
}

// controlRepository makes a repository for anybody, with one commit unless it is to be empty.
func controlRepository(q *request, in struct {
	FullName      string `json:"full_name"`
	DefaultBranch string `json:"default_branch"`
	Private       bool
	Empty         bool // without any commit
	Files         map[string]string
}) (any, error) {
	owner, name, ok := strings.Cut(in.FullName, "/")
	if !ok || owner == "" || !repositoryName.MatchString(name) {
		return nil, unprocessable("full_name: want owner/name")
	}
	if q.s.world.repository(owner, name) != nil {
		return nil, unprocessable("full_name: " + in.FullName + " exists")
	}
	r, err := q.s.world.addRepository(owner, name, in.DefaultBranch, in.Private)
	if err != nil {
		return nil, err
	}
	if in.Empty {
		return &reply{http.StatusCreated, q.s.json.repository(r)}, nil
	}
	if len(in.Files) == 0 {
		in.Files = map[string]string{"README.md": "# " + name + "\n"}
	}
	if err := q.s.git.firstCommit(r, in.Files); err != nil {
		return nil, err
	}
	return &reply{http.StatusCreated, q.s.json.repository(r)}, nil
}
