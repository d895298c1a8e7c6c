package github

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// graphError is one entry of "errors" in a GraphQL answer. GitHub puts the type beside the message.
type graphError struct {
	Message    string
	Type       string
	Path       []any
	Extensions struct{ Type, Code string }
}

func (e graphError) kind() string {
	for _, s := range []string{e.Type, e.Extensions.Type, e.Extensions.Code} {
		if s != "" {
			return strings.ToUpper(s)
		}
	}
	return ""
}

// mayLack before the name of a field or alias tolerates that it is not found, and no other error there.
const mayLack = "?"

// at tells whether the error's path has one of these fields (or aliases) as a step.
func (e graphError) at(fields []string) bool {
	return slices.ContainsFunc(e.Path, func(step any) bool {
		name, ok := step.(string)
		return ok && (slices.Contains(fields, name) || e.kind() == "NOT_FOUND" && slices.Contains(fields, mayLack+name))
	})
}

// query posts one GraphQL document and decodes its data into out. Errors at the tolerated fields or aliases leave these
// null; any other error fails the query, since half an answer must not pass for a whole one. at is the server's time of
// the answer.
func (c *conn) query(ctx context.Context, op, document string, variables map[string]any, out any, tolerated ...string) (at time.Time, err error) {
	at, _, err = c.queryParts(ctx, op, document, variables, out, tolerated...)
	return at, err
}

// queryParts is query, and says which of the tolerated fields or aliases had errors, each once and in their order.
func (c *conn) queryParts(ctx context.Context, op, document string, variables map[string]any, out any, tolerated ...string) (at time.Time, missing []string, err error) {
	payload, err := json.Marshal(map[string]any{"query": document, "variables": variables})
	if err != nil {
		return at, nil, fmt.Errorf("encode the query: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.graphql, bytes.NewReader(payload))
	if err != nil {
		return at, nil, c.fail(op, err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", c.rest.UserAgent)
	resp, err := c.http.Do(req)
	if err != nil {
		return at, nil, c.fail(op, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		e := refusal(resp.StatusCode, nil, resp.Header, c.line)
		e.Op = op
		return at, nil, e
	}
	missing, err = c.decodeGraph(op, resp, out, tolerated)
	return serverTime(resp.Header, c.now), missing, err
}

// decodeGraph reads the data of an answer into out, and which of the tolerated parts had errors.
func (c *conn) decodeGraph(op string, resp *http.Response, out any, tolerated []string) ([]string, error) {
	var envelope struct {
		Data   json.RawMessage
		Errors []graphError
	}
	if err := json.NewDecoder(resp.Body).Decode(&envelope); err != nil {
		return nil, c.unreadable(op, err)
	}
	for _, e := range envelope.Errors {
		if !e.at(tolerated) {
			return nil, c.graphFailure(op, e)
		}
	}
	var missing []string
	for _, field := range tolerated {
		if slices.ContainsFunc(envelope.Errors, func(e graphError) bool { return e.at([]string{field}) }) {
			missing = append(missing, field)
		}
	}
	if len(envelope.Data) == 0 || string(envelope.Data) == "null" {
		return nil, &Error{Kind: Unavailable, Op: op, Status: resp.StatusCode, Message: "GitHub answered without data", Fix: fixLater}
	}
	if err := json.Unmarshal(envelope.Data, out); err != nil {
		return nil, c.unreadable(op, err)
	}
	return missing, nil
}

// graphFailure turns a GraphQL error into ours. https://docs.github.com/graphql has no list of the types; these are seen.
func (c *conn) graphFailure(op string, ge graphError) *Error {
	e := &Error{Kind: Unavailable, Status: http.StatusOK, Op: op, Message: c.line(ge.Message), Fix: fixLater}
	switch ge.kind() {
	case "NOT_FOUND":
		e.Kind, e.Status, e.Fix = NotFound, http.StatusNotFound, fixHidden
	case "FORBIDDEN", "INSUFFICIENT_SCOPES":
		e.Kind, e.Status, e.Fix = Forbidden, http.StatusForbidden, fixRights
	case "":
		if len(ge.Path) == 0 { // the document itself was refused
			e.Kind, e.Fix = Invalid, ""
		}
	case "UNDEFINEDFIELD", "INVALID_CURSOR_ARGUMENTS", "ARGUMENTLITERALSINCOMPATIBLE", "MAX_NODE_LIMIT_EXCEEDED", "RESOURCE_LIMITS_EXCEEDED":
		e.Kind, e.Fix = Invalid, ""
	}
	return e
}

func (c *conn) unreadable(op string, err error) *Error {
	return &Error{Kind: Unavailable, Op: op, Status: http.StatusOK, Fix: "check that the API URLs point at GitHub",
		Message: "the answer is not what GitHub sends: " + c.line(err.Error())}
}
