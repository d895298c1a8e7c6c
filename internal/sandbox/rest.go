package sandbox

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// obj is one JSON object of an answer.
type obj = map[string]any

// route is one REST endpoint. Its pattern is a method and a path below the API's root, with {name} for a segment and a last {name...} for the rest.
// GitHub documents the permissions that a token needs for the endpoint of a repository in the table
// https://docs.github.com/en/rest/authentication/permissions-required-for-github-apps, which github/docs keeps in
// src/github-apps/data/*/server-to-server-permissions.json. An endpoint stands there below each permission of which one is
// enough ("additional-permissions").
type route struct {
	pattern string
	need    need
	demand  demand // "" outside of repositories
	serve   func(*request) (any, error)
}

// changed has the state written, and answers 204.
func (q *request) changed() (any, error) {
	q.s.world.changed()
	return &reply{status: http.StatusNoContent}, nil
}

// withBody makes a handler of a function that takes the JSON of the request, as decode reads it.
func withBody[T any](serve func(*request, T) (any, error)) func(*request) (any, error) {
	return func(q *request) (any, error) {
		var in T
		if err := q.decode(&in); err != nil {
			return nil, err
		}
		return serve(q, in)
	}
}

// andBody is withBody for a function that also takes the object of the path.
func andBody[S, T any](serve func(*request, S, T) (any, error)) func(*request, S) (any, error) {
	return func(q *request, named S) (any, error) {
		return withBody(func(q *request, in T) (any, error) { return serve(q, named, in) })(q)
	}
}

// request is one REST request on its way through a route. Server.mu is held as long as it lives.
type request struct {
	s     *Server
	r     *http.Request
	user  *User       // nil: no token
	repo  *Repository // of {owner}/{repo}, when the pattern has them
	issue *Issue      // of {number}; nil where the pattern has none
	app   *App        // that has signed the request; nil but for needApp
	body  []byte
	head  http.Header // of the answer
}

// reply is an answer other than 200.
type reply struct {
	status int
	body   any // nil: none
}

// raw is an answer that is not JSON.
type raw struct {
	contentType string
	data        []byte
}

// failure is an error as GitHub answers it.
type failure struct {
	status  int
	message string
	errors  any // GitHub's list of details, or nil
}

func (f *failure) Error() string { return fmt.Sprintf("%d %s", f.status, f.message) }

var errNotFound = &failure{status: http.StatusNotFound, message: "Not Found"}

// invalid is GitHub's 422 with one detail: https://docs.github.com/en/rest/using-the-rest-api/troubleshooting-the-rest-api#validation-failed
func invalid(resource, field, code string) error {
	return &failure{http.StatusUnprocessableEntity, "Validation Failed", []any{obj{"resource": resource, "code": code, "field": field}}}
}

// invalidText is GitHub's 422 with one detail in words.
func invalidText(resource, field, message string) error {
	e := obj{"resource": resource, "code": "custom", "message": message}
	if field != "" {
		e["field"] = field
	}
	return &failure{http.StatusUnprocessableEntity, "Validation Failed", []any{e}}
}

// unprocessable is GitHub's 422 that has words only.
func unprocessable(message string) error {
	return &failure{status: http.StatusUnprocessableEntity, message: message}
}

// allRoutes is the whole REST API of the sandbox.
func allRoutes() []route {
	return slices.Concat(
		userRoutes, appRoutes, repositoryRoutes, activityRoutes, collaboratorRoutes, labelRoutes, issueRoutes, subIssueRoutes, commentRoutes, reactionRoutes, pullRoutes,
		mergeRoutes, reviewRoutes, reviewCommentRoutes, refRoutes, objectRoutes, contentRoutes, commitRoutes, checkRoutes, branchRoutes, runRoutes, dispatchRoutes, settingRoutes,
		secretRoutes, manifestRoutes,
	)
}

// restHandler serves all routes below restPrefix.
func (s *Server) restHandler() http.Handler {
	rt := &router{}
	rt.add(allRoutes()...)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r = s.byName(r)
		rt, ok := rt.find(r, restPrefix)
		if !ok {
			rt = route{serve: func(*request) (any, error) { return nil, errNotFound }}
		}
		s.serveRoute(w, r, rt)
	})
}

var errBadCredentials = &failure{status: http.StatusUnauthorized, message: "Bad credentials"}

func notFound(w http.ResponseWriter, _ *http.Request) { writeFailure(w, errNotFound) }

// serveRoute does what all routes have in common: who, where, may they, answer.
func (s *Server) serveRoute(w http.ResponseWriter, r *http.Request, rt route) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		writeFailure(w, &failure{status: http.StatusBadRequest, message: "Problems reading the request"})
		return
	}
	answer, err := s.answer(&request{s: s, r: r, body: body, head: w.Header()}, rt)
	var f *failure
	var much tooMuch
	switch {
	case err == nil:
		writeAnswer(w, answer)
	case errors.As(err, &much):
		writeBlocked(w, much)
	case errors.As(err, &f):
		writeFailure(w, f)
	default:
		writeFailure(w, &failure{status: http.StatusInternalServerError, message: err.Error()})
	}
}

// answer works out an answer while it holds the lock; it is sent without.
func (s *Server) answer(q *request, rt route) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return q.run(rt)
}

func (q *request) run(rt route) (any, error) {
	if err := q.identify(rt); err != nil {
		return nil, err
	}
	if q.user == nil || q.user.Type != "Bot" {
		if err := q.s.pulls.catchUp(); err != nil {
			return nil, err
		}
	}
	if owner := q.r.PathValue("owner"); owner != "" && rt.need != needNothing && rt.need != needToken {
		if q.repo = q.s.world.repository(owner, q.r.PathValue("repo")); q.repo == nil {
			return nil, errNotFound
		}
	}
	if err := q.authorize(rt.need); err != nil {
		return nil, err
	}
	if err := q.inReach(); err != nil {
		return nil, err
	}
	if n := q.r.PathValue("number"); n != "" && q.repo != nil {
		number, err := strconv.Atoi(n)
		if d := q.repo.Departed[number]; d != nil && strings.Contains(rt.pattern, "/issues/{number}") {
			return goneAnswer(q, d, number)
		}
		if err != nil || q.repo.Issues[number] == nil {
			return nil, errNotFound
		}
		q.issue = q.repo.Issues[number]
		if q.issue.Pull == nil && strings.Contains(rt.pattern, "/pulls/{number}") {
			return nil, errNotFound
		}
		if q.r.Method == http.MethodGet {
			if err := q.s.pulls.see(q.issue); err != nil {
				return nil, err
			}
		}
	}
	if err := q.permitted(rt); err != nil {
		return nil, err
	}
	if err := q.creates(); err != nil {
		return nil, err
	}
	return rt.serve(q)
}

// identify finds out who asks.
func (q *request) identify(rt route) (err error) {
	if rt.need == needApp {
		q.app, err = q.s.appOf(q.r)
		return err
	}
	var ok bool
	if q.user, ok = q.s.viewer(q.r); !ok {
		return errBadCredentials
	}
	return nil
}

func writeAnswer(w http.ResponseWriter, answer any) {
	status := http.StatusOK
	switch a := answer.(type) {
	case *reply:
		if a.body == nil {
			w.WriteHeader(a.status)
			return
		}
		status, answer = a.status, a.body
	case *raw:
		w.Header().Set("Content-Type", a.contentType)
		_, _ = w.Write(a.data) // the client may be gone; there is nobody to tell
		return
	}
	writeJSON(w, status, answer)
}

func writeFailure(w http.ResponseWriter, f *failure) {
	body := obj{"message": f.message, "documentation_url": "https://docs.github.com/rest", "status": strconv.Itoa(f.status)}
	if f.errors != nil {
		body["errors"] = f.errors
	}
	writeJSON(w, f.status, body)
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(body); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes()) // the client may be gone; there is nobody to tell
}

// decode reads the request's JSON into v. An empty body leaves v as it is.
func (q *request) decode(v any) error {
	if len(bytes.TrimSpace(q.body)) == 0 {
		return nil
	}
	err := json.Unmarshal(q.body, v)
	var wrong *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &wrong):
		return unprocessable(fmt.Sprintf("Invalid request.\n\nFor 'properties/%s', %s is not a %s.", wrong.Field, wrong.Value, wrong.Type))
	}
	return &failure{status: http.StatusBadRequest, message: "Problems parsing JSON"}
}

func (q *request) query(name string) string { return q.r.URL.Query().Get(name) }

// int64Value reads a number of the path; what is no number is not found.
func (q *request) int64Value(name string) (int64, error) {
	n, err := strconv.ParseInt(q.r.PathValue(name), 10, 64)
	if err != nil {
		return 0, errNotFound
	}
	return n, nil
}

// since reads the since parameter; zero when there is none.
func (q *request) since() (time.Time, error) {
	v := q.query("since")
	if v == "" {
		return time.Time{}, nil
	}
	t, err := time.Parse(time.RFC3339, v)
	if err != nil {
		return t, invalid("Issue", "since", "invalid")
	}
	return t, nil
}

// paginate renders one page of a list and sets the Link header:
// https://docs.github.com/en/rest/using-the-rest-api/using-pagination-in-the-rest-api
func paginate[T any](q *request, all []T, render func(T) obj) any {
	page, per := q.pageOf()
	from, to := min((page-1)*per, len(all)), min(page*per, len(all))
	q.link(page, max(1, (len(all)+per-1)/per))
	out := make([]obj, 0, to-from)
	for _, item := range all[from:to] {
		out = append(out, render(item))
	}
	return out
}

// pageOf reads page and per_page: 30 unless told, at most 100.
func (q *request) pageOf() (page, per int) {
	page, err := strconv.Atoi(q.query("page"))
	if err != nil || page < 1 {
		page = 1
	}
	per, err = strconv.Atoi(q.query("per_page"))
	if err != nil || per < 1 {
		per = 30
	}
	return page, min(per, 100)
}

func (q *request) link(page, last int) {
	var links []string
	add := func(rel string, n int) {
		v := q.r.URL.Query()
		v.Set("page", strconv.Itoa(n))
		u := url.URL{Path: q.r.URL.Path, RawPath: q.r.URL.RawPath, RawQuery: v.Encode()}
		links = append(links, fmt.Sprintf(`<%s%s>; rel="%s"`, q.s.origin, u.String(), rel))
	}
	if page > 1 {
		add("prev", min(page-1, last))
	}
	if page < last {
		add("next", page+1)
		add("last", last)
	}
	if page > 1 {
		add("first", 1)
	}
	if len(links) > 0 {
		q.head.Set("Link", strings.Join(links, ", "))
	}
}
