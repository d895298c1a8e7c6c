// Package conform checks the sandbox's answers against GitHub's published description of its REST API, and fails a test for an
// answer that GitHub would not give. Only tests import it, so the binary contains neither the validator nor the description.
package conform

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"sort"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
)

//go:embed openapi.json
var description []byte

// Prefix is where the REST API begins on a server that is not api.github.com:
// https://docs.github.com/en/enterprise-server/rest/using-the-rest-api/getting-started-with-the-rest-api
const Prefix = "/api/v3"

// API is GitHub's description, the part that the sandbox serves.
type API struct {
	doc        *openapi3.T
	operations []operation
}

// operation is one method of one path.
type operation struct {
	pattern *regexp.Regexp
	params  []string
	route   *routers.Route
}

// Load reads the description. The result is shared and must not be changed.
var Load = sync.OnceValues(load)

func load() (*API, error) {
	doc, err := openapi3.NewLoader().LoadFromData(description)
	if err != nil {
		return nil, fmt.Errorf("read GitHub's REST description: %w", err)
	}
	if err := correct(doc); err != nil {
		return nil, err
	}
	a := &API{doc: doc}
	for path, item := range doc.Paths.Map() {
		pattern, params := compile(path)
		for method, op := range item.Operations() {
			a.operations = append(a.operations, operation{pattern, params,
				&routers.Route{Spec: doc, Path: path, PathItem: item, Method: method, Operation: op}})
		}
	}
	// Literal segments before parameters: /pulls/comments is not the pull request "comments".
	rank := func(o operation) string { return strings.ReplaceAll(o.route.Path, "{", "\xff") + " " + o.route.Method }
	sort.Slice(a.operations, func(i, j int) bool {
		x, y := a.operations[i], a.operations[j]
		if len(x.params) != len(y.params) {
			return len(x.params) < len(y.params)
		}
		if n, m := strings.Count(x.route.Path, "/"), strings.Count(y.route.Path, "/"); n != m {
			return n > m // "{ref}" may hold slashes, so what follows it is tried first
		}
		return rank(x) < rank(y)
	})
	return a, nil
}

// nullable are properties that GitHub answers null for, and describes as if it did not.
var nullable = map[string][]string{
	// A comment on a file, or on a line that is gone: https://github.com/github/rest-api-description/issues/5568
	"pull-request-review-comment": {"line", "original_line", "position", "original_position"},
	"review-comment":              {"line", "original_line", "position", "original_position"},
}

// correct mends what is known to be wrong in the description.
func correct(doc *openapi3.T) error {
	for name, properties := range nullable {
		schema := doc.Components.Schemas[name]
		if schema == nil {
			return fmt.Errorf("GitHub's REST description has no schema %s", name)
		}
		for _, property := range properties {
			if p := schema.Value.Properties[property]; p != nil {
				p.Value.Nullable = true
			}
		}
	}
	return nil
}

var parameter = regexp.MustCompile(`\{(\w+)\}`)

// withSlashes are the parameters that may hold a slash: names of refs and files.
var withSlashes = map[string]bool{"ref": true, "branch": true, "basehead": true}

func compile(path string) (*regexp.Regexp, []string) {
	var params []string
	pattern := parameter.ReplaceAllStringFunc(path, func(p string) string {
		name := strings.Trim(p, "{}")
		params = append(params, name)
		if name == "path" {
			return "(.*)" // empty for the root directory
		}
		if withSlashes[name] {
			return "(.+)"
		}
		return "([^/]+)"
	})
	return regexp.MustCompile("^" + pattern + "$"), params
}

// find is the operation that a request means; ok is false when GitHub documents none.
func (a *API) find(method, path string) (route *routers.Route, params map[string]string, ok bool) {
	for _, o := range a.operations {
		m := o.pattern.FindStringSubmatch(path)
		if m == nil || o.route.Method != method {
			continue
		}
		params = map[string]string{}
		for i, name := range o.params {
			value, err := url.PathUnescape(m[i+1])
			if err != nil {
				value = m[i+1]
			}
			if value == "" {
				value = "." // the root directory, whose empty name a validator takes for none
			}
			params[name] = value
		}
		return o.route, params, true
	}
	return nil, nil, false
}

// Documents tells whether GitHub documents an operation. The path may have parameters of any name in braces.
func (a *API) Documents(method, path string) bool {
	_, _, ok := a.find(method, path)
	return ok
}

// Operations lists what is described as "METHOD /path", sorted.
func (a *API) Operations() []string {
	var names []string
	for _, o := range a.operations {
		names = append(names, o.route.Method+" "+o.route.Path)
	}
	sort.Strings(names)
	return names
}

// Check says what is wrong with an answer to a request; nil when GitHub could have given it. Prefix is cut off the path
// where it is there. A request that GitHub refuses may be sent, as long as it is not answered with success.
func (a *API) Check(r *http.Request, sent []byte, status int, header http.Header, body []byte) error {
	path := strings.TrimPrefix(r.URL.EscapedPath(), Prefix)
	route, params, ok := a.find(r.Method, path)
	if !ok {
		if status == http.StatusNotFound || status == http.StatusUnauthorized {
			return nil
		}
		return fmt.Errorf("%s %s answers %d, and GitHub documents no such operation", r.Method, path, status)
	}
	options := &openapi3filter.Options{IncludeResponseStatus: true, MultiError: true, SkipSettingDefaults: true}
	options.WithCustomSchemaErrorFunc(func(e *openapi3.SchemaError) string {
		return strings.Join(e.JSONPointer(), ".") + ": " + e.Reason
	})
	request := r.Clone(context.Background())
	request.Body = io.NopCloser(bytes.NewReader(sent))
	request.ContentLength = int64(len(sent))
	if len(sent) > 0 && request.Header.Get("Content-Type") == "" {
		request.Header.Set("Content-Type", "application/json") // what GitHub takes it for
	}
	in := &openapi3filter.RequestValidationInput{Request: request, PathParams: params, Route: route, Options: options}
	name := route.Method + " " + route.Path
	if status < 300 {
		if err := openapi3filter.ValidateRequest(context.Background(), in); err != nil {
			return fmt.Errorf("%s: the sandbox accepts (%d) what GitHub's description refuses: %w", name, status, err)
		}
	}
	return a.checkAnswer(name, in, status, header, body)
}

func (a *API) checkAnswer(name string, in *openapi3filter.RequestValidationInput, status int, header http.Header, body []byte) error {
	documented := in.Route.Operation.Responses.Status(status)
	if documented == nil {
		if err := a.general(status, body); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		return nil
	}
	if !strings.Contains(header.Get("Content-Type"), "json") { // a diff, or nothing at all
		if len(body) == 0 && len(documented.Value.Content) > 0 {
			return fmt.Errorf("%s: %d has no body", name, status)
		}
		return nil
	}
	out := (&openapi3filter.ResponseValidationInput{RequestValidationInput: in, Status: status, Header: header, Options: in.Options}).SetBodyBytes(body)
	if err := openapi3filter.ValidateResponse(context.Background(), out); err != nil {
		return fmt.Errorf("%s: %d is not as GitHub describes it: %w", name, status, err)
	}
	if status >= 400 {
		return nil // what errors may hold beside their message is described differently from one to the next
	}
	return strange(name, documented.Value, body)
}

// general checks the answers that every operation may give and few document:
// https://docs.github.com/en/rest/using-the-rest-api/troubleshooting-the-rest-api
func (a *API) general(status int, body []byte) error {
	switch {
	case status == 400, status == 401, status == 403, status == 404, status == 422, status == 429:
	case status >= 500:
		return nil // a gateway's page may stand there
	default:
		return fmt.Errorf("status %d is not documented", status)
	}
	schema := a.doc.Components.Schemas["basic-error"]
	if schema == nil {
		return fmt.Errorf("the description has no basic-error")
	}
	value, err := decode(body)
	if err != nil {
		return fmt.Errorf("status %d: %w", status, err)
	}
	delete(value, "errors") // of a validation error: a list of objects or of strings
	if err := schema.Value.VisitJSON(value); err != nil {
		return fmt.Errorf("status %d: %w", status, err)
	}
	return nil
}

// Handler stands before next and reports to t whatever Check finds in the requests below Prefix. It may be used by
// several requests at once, and not after t has ended.
func Handler(t testing.TB, next http.Handler) http.Handler {
	api, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, Prefix+"/") {
			next.ServeHTTP(w, r)
			return
		}
		sent, err := io.ReadAll(r.Body)
		if err != nil {
			t.Errorf("read request %s %s: %v", r.Method, r.URL, err)
		}
		r.Body = io.NopCloser(bytes.NewReader(sent))
		answer := httptest.NewRecorder()
		asked := r.Clone(context.Background()) // a router may change it
		next.ServeHTTP(answer, r)
		if err := api.Check(asked, sent, answer.Code, answer.Header(), answer.Body.Bytes()); err != nil {
			t.Errorf("GitHub would not answer so: %v\nrequest: %s\nanswer: %s", err, cut(sent), cut(answer.Body.Bytes()))
		}
		for name, values := range answer.Header() {
			w.Header()[name] = values
		}
		w.WriteHeader(answer.Code)
		_, _ = w.Write(answer.Body.Bytes()) // the client may be gone; the test notices
	})
}

func cut(text []byte) string {
	const enough = 600
	if len(text) > enough {
		return string(text[:enough]) + "..."
	}
	return string(text)
}
