package sandbox

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"

	"github.com/graph-gophers/graphql-go"
	gqlerrors "github.com/graph-gophers/graphql-go/errors"
)

//go:embed schema.graphql
var sdl string

// SDL is the part of GitHub's GraphQL schema that the sandbox answers, as scripts/schemas cut it out of GitHub's own:
// a query that is valid against it is valid on GitHub.
func SDL() string { return sdl }

// graphqlSchema is the schema with its resolvers. Resolvers run one at a time (they share git's memos) and under
// Server.mu, so a query sees one state of the world. They find the request they serve in their root.
var graphqlSchema = sync.OnceValues(func() (*graphql.Schema, error) {
	schema, err := graphql.ParseSchema(sdl, &gqlRoot{}, graphql.MaxParallelism(1), graphql.UseFieldResolvers())
	if err != nil {
		return nil, fmt.Errorf("bind resolvers to GitHub's schema: %w", err)
	}
	return schema, nil
})

// graphqlRequest is the body of a query: https://docs.github.com/en/graphql/guides/forming-calls-with-graphql
type graphqlRequest struct {
	Query         *string        `json:"query"`
	Variables     map[string]any `json:"variables"`
	OperationName string         `json:"operationName"`
}

// graphqlError is one error as GitHub writes it: type stands beside message, not in extensions.
type graphqlError struct {
	Type       string               `json:"type,omitempty"`
	Path       []any                `json:"path,omitempty"`
	Extensions map[string]any       `json:"extensions,omitempty"`
	Locations  []gqlerrors.Location `json:"locations,omitempty"`
	Message    string               `json:"message"`
}

// graphqlResponse is what GitHub answers with status 200, also when there are errors. Data is absent when the query was not run.
type graphqlResponse struct {
	Data   json.RawMessage `json:"data,omitempty"`
	Errors []graphqlError  `json:"errors,omitempty"`
}

const graphqlDocs = "https://docs.github.com/graphql"

// graphqlHandler serves POST /api/graphql.
func (s *Server) graphqlHandler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		viewer, ok := s.viewer(r)
		s.mu.Unlock()
		switch {
		case !ok:
			graphqlRefusal(w, http.StatusUnauthorized, "Bad credentials")
			return
		case viewer == nil:
			graphqlRefusal(w, http.StatusUnauthorized, "This endpoint requires you to be authenticated.")
			return
		}
		var ask graphqlRequest
		if err := json.NewDecoder(r.Body).Decode(&ask); err != nil {
			graphqlRefusal(w, http.StatusBadRequest, "Problems parsing JSON")
			return
		}
		if ask.Query == nil {
			graphqlRefusal(w, http.StatusBadRequest, "A query attribute must be specified and must be a string.")
			return
		}
		answer, left, instead, err := s.answerQuery(r, viewer, ask)
		left.headers(w.Header())
		var much tooMuch
		switch {
		case errors.As(err, &much):
			w.Header().Set("Retry-After", much.seconds())
			w.Header().Set("Content-Type", "application/json; charset=utf-8")
			_ = json.NewEncoder(w).Encode(map[string]any{"data": nil, "errors": []any{map[string]any{"message": contentBlocked}}}) // the client is gone when this fails
			return
		case err != nil:
			graphqlRefusal(w, http.StatusInternalServerError, err.Error())
			return
		case instead == overLimit:
			writeSpent(w, resourceGraphQL)
			return
		case instead != "":
			writeHeavy(w, instead)
			return
		}
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		_ = json.NewEncoder(w).Encode(answer) // the client is gone when this fails
	})
}

// graphqlRefusal answers what never became a query.
func graphqlRefusal(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{
		"message": message, "documentation_url": graphqlDocs, "status": fmt.Sprint(status),
	})
}

// overLimit stands for the answer to a query that costs more than is left.
const overLimit = "over the limit"

// answerQuery runs one query as viewer, and says what it has left. instead is the answer that is given in its place when it is
// too heavy or costs too much, or "".
func (s *Server) answerQuery(r *http.Request, viewer *User, ask graphqlRequest) (out *graphqlResponse, left account, instead string, err error) {
	schema, err := graphqlSchema()
	if err != nil {
		return nil, left, "", err
	}
	asked, refused, err := studyQuery(ask)
	if err != nil {
		return nil, left, "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	token, _ := tokenOf(r)
	if len(refused) == 0 {
		refused = asked.unknown(s.st.WithoutFields)
	}
	if len(refused) > 0 {
		return &graphqlResponse{Errors: refused}, s.tokens.account(token, resourceGraphQL), "", nil
	}
	// What ends with a timeout is paid too: https://github.blog/changelog/2025-07-21-graphql-api-timeouts-count-towards-rate-limits
	left, isPaid := s.tokens.spend(token, resourceGraphQL, asked.cost())
	if !isPaid {
		return nil, left, overLimit, nil
	}
	if asked.changes {
		if wait := s.tokens.create(token); wait > 0 {
			return nil, left, "", tooMuch(wait)
		}
	}
	if viewer.Type != "Bot" {
		if err := s.pulls.catchUp(); err != nil {
			return nil, left, "", err
		}
	}
	l := &look{left: left, s: &s.core, viewer: viewer, token: token, checks: s.seesChecks(r), asked: asked, seen: map[*Issue]bool{}}
	done := schema.Exec(context.WithValue(r.Context(), lookKey{}, l), *ask.Query, ask.OperationName, ask.Variables)
	out = &graphqlResponse{Data: done.Data}
	for _, e := range append(done.Errors, l.late...) {
		shaped := asked.shape(e)
		if shaped.Type == "FORBIDDEN" && shaped.Message == notAccessible {
			shaped.Extensions = map[string]any{"saml_failure": false}
		}
		if !slices.ContainsFunc(out.Errors, func(o graphqlError) bool { return o.Message == shaped.Message && slices.Equal(o.Path, shaped.Path) }) {
			out.Errors = append(out.Errors, shaped)
		}
	}
	instead, err = s.giveUp(asked, out)
	return out, left, instead, err
}

// look is one query at work: who asks, of which server, and what the query costs.
type look struct {
	s      *core
	viewer *User
	token  string
	checks bool // the token can read check runs
	asked  *survey
	left   account
	late   []*gqlerrors.QueryError // errors of items of a list, which a resolver cannot return beside the list
	seen   map[*Issue]bool         // pull requests that the query has read
}

// see counts as one reading of a pull request, however often the query comes by.
func (l *look) see(i *Issue) {
	if i.Pull == nil || i.Pull.NewHead == nil && i.Pull.NewMerge == nil || l.seen[i] {
		return
	}
	l.seen[i] = true
	if err := l.s.pulls.see(i); err != nil {
		l.late = append(l.late, &gqlerrors.QueryError{Message: err.Error()})
	}
}

// lookKey is where the context keeps the look; only the root's fields need it.
type lookKey struct{}

// refusal is an error of one field, with GitHub's word for its kind.
type refusal struct {
	kind, message string
	whole         bool // it is the object that is refused, for which one of its fields speaks
}

func (r *refusal) Error() string { return r.message }

// Extensions carries the kind through the GraphQL library.
func (r *refusal) Extensions() map[string]any {
	return map[string]any{"type": r.kind, "whole": r.whole}
}

// unresolved is how GitHub says that something is not there, or not for these eyes.
func unresolved(format string, args ...any) error {
	return &refusal{kind: "NOT_FOUND", message: fmt.Sprintf(format, args...)}
}
