package sandbox

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
)

// QueryLimits say when GitHub gives up on a query, and how. GitHub goes by the time that a query takes; here the entries
// of the answer's connections are counted, so that it depends on what there is and not on the machine.
//
// A 502 may be a page of HTML: https://github.com/microsoft/vscode-pull-request-github/issues/8890 has it at 20 review
// threads a page. A 500 after ten seconds: https://github.com/raycast/extensions/issues/10278.
type QueryLimits struct {
	Nodes   int    // entries that an answer may have; 0: any number
	Threads int    // review threads that it may have; 0: any number
	Answer  string // one of heavyAnswers
	// Path is where an answer is refused whatever its size, as an error's path; queries that do not come by are answered.
	Path          []any
	Type, Message string // of the error in a partial answer; empty: that of the resource limit
	Times         int    // how often; 0 is until the limits are set again
}

// partialAnswer is null where the limit was reached, with an error: https://github.blog/changelog/2025-09-01-graphql-api-resource-limits
const partialAnswer = "partial"

// heavyAnswers are the ways in which GitHub gives up on a whole query.
var heavyAnswers = map[string]struct {
	status      int
	contentType string
	body        string
}{
	"html": {http.StatusBadGateway, "text/html; charset=utf-8", "<!DOCTYPE html>\n<html>\n<head><title>Unicorn! &middot; GitHub</title></head>\n" +
		"<body><p>We couldn't respond to your request in time.</p></body>\n</html>\n"},
	"json": {http.StatusBadGateway, "application/json; charset=utf-8", `{"data": null, "errors": [{"message": "Something went wrong while executing your query. ` +
		`This may be the result of a timeout, or it could be a GitHub bug. Please include ` + "`5A4D:0001`" + ` when reporting this issue."}]}`},
	"error": {http.StatusInternalServerError, "text/html; charset=utf-8", ""},
	"wrong": {http.StatusOK, "application/json; charset=utf-8", `{"data": null, "errors": [{"message": "Something went wrong while executing your query on ` +
		"2026-03-01T12:00:00Z. Please include `5A4D:0001` when reporting this issue." + `"}]}`},
}

// setQueries sets when queries are too heavy; without an answer none is.
func setQueries(q *request, in QueryLimits) (any, error) {
	if _, known := heavyAnswers[in.Answer]; !known && in.Answer != "" && in.Answer != partialAnswer {
		return nil, unprocessable("answer: want partial, or one of " + fmt.Sprint(slices.Sorted(maps.Keys(heavyAnswers))))
	}
	q.s.st.Queries = nil
	if in.Answer != "" {
		q.s.st.Queries = &in
	}
	return q.changed()
}

// giveUp looks whether an answer is more than the limits allow. It makes a partial answer of it, or names the one that is
// given in its place.
func (s *Server) giveUp(asked *survey, out *graphqlResponse) (instead string, err error) {
	limits := s.st.Queries
	if limits == nil || len(out.Data) == 0 {
		return "", nil
	}
	var data any
	if err := json.Unmarshal(out.Data, &data); err != nil {
		return "", fmt.Errorf("read the answer: %w", err)
	}
	at := limits.Path
	if len(at) > 0 && !reaches(data, at) {
		return "", nil
	}
	if len(at) == 0 {
		c := &weighing{limits: limits}
		if c.weigh(data, nil); c.at == nil {
			return "", nil
		}
		at = c.at
	}
	s.world.changed()
	if limits.Times > 0 {
		if limits.Times--; limits.Times == 0 {
			s.st.Queries = nil
		}
	}
	if limits.Answer != partialAnswer {
		return limits.Answer, nil
	}
	return "", out.lose(asked, data, at, limits)
}

// weighing counts the entries of an answer, in the order of its fields' names.
type weighing struct {
	limits         *QueryLimits
	nodes, threads int
	at             []any // where the limit was passed
}

func (c *weighing) weigh(value any, path []any) {
	switch v := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			c.weigh(v[name], append(path[:len(path):len(path)], name))
		}
	case []any:
		for i, item := range v {
			if len(path) > 1 && (path[len(path)-1] == "nodes" || path[len(path)-1] == "edges") { // an entry of a connection
				c.nodes++
				if path[len(path)-2] == "reviewThreads" {
					c.threads++
				}
			}
			here := append(path[:len(path):len(path)], i)
			over := c.limits.Nodes > 0 && c.nodes > c.limits.Nodes || c.limits.Threads > 0 && c.threads > c.limits.Threads
			if over && c.at == nil {
				c.at = here
			}
			c.weigh(item, here)
		}
	}
}

// below is what a step of a path leads to.
func below(value, step any) (any, bool) {
	switch v := value.(type) {
	case map[string]any:
		name, _ := step.(string)
		found, ok := v[name]
		return found, ok
	case []any:
		i, ok := intOf(step)
		if !ok || i < 0 || i >= len(v) {
			return nil, false
		}
		return v[i], true
	}
	return nil, false
}

func reaches(value any, path []any) bool {
	for _, step := range path {
		var ok bool
		if value, ok = below(value, step); !ok {
			return false
		}
	}
	return true
}

// lose has an error at the path and null at the nearest place that may be null, which may be far above it:
// https://github.com/yoshi389111/github-profile-3d-contrib/issues/163
func (out *graphqlResponse) lose(asked *survey, data any, at []any, limits *QueryLimits) error {
	out.Errors = append(out.Errors, graphqlError{
		Type: cmp.Or(limits.Type, "RESOURCE_LIMITS_EXCEEDED"), Path: at, Message: cmp.Or(limits.Message, "Resource limits for this query exceeded."),
	})
	place := at
	for len(place) > 0 && asked.nonNull(place) {
		if _, isField := place[len(place)-1].(string); !isField {
			break // entries of GitHub's lists may be null
		}
		place = place[:len(place)-1]
	}
	if len(place) == 0 {
		out.Data = json.RawMessage("null")
		return nil
	}
	holder := data
	for _, step := range place[:len(place)-1] {
		holder, _ = below(holder, step)
	}
	switch h := holder.(type) {
	case map[string]any:
		h[fmt.Sprint(place[len(place)-1])] = nil
	case []any:
		i, _ := intOf(place[len(place)-1])
		h[i] = nil
	}
	var err error
	if out.Data, err = json.Marshal(data); err != nil {
		return fmt.Errorf("write a partial answer: %w", err)
	}
	return nil
}

// nonNull tells whether the field at a path is always there.
func (v *survey) nonNull(path []any) bool {
	f := v.field(v.set, fieldsOf(path))
	return f != nil && f.Definition != nil && f.Definition.Type.NonNull
}

// fieldsOf is a path without the indices of lists.
func fieldsOf(path []any) []any {
	var fields []any
	for _, step := range path {
		if name, ok := step.(string); ok {
			fields = append(fields, name)
		}
	}
	return fields
}

// writeHeavy answers in place of a query that was given up on.
func writeHeavy(w http.ResponseWriter, answer string) {
	a := heavyAnswers[answer]
	w.Header().Set("Content-Type", a.contentType)
	w.WriteHeader(a.status)
	_, _ = io.WriteString(w, a.body) // the client is gone when this fails
}
