package github

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/mergexo/internal/model"
)

// graphError is one entry of "errors" in a GraphQL answer. GitHub puts the type beside the message.
type graphError struct {
	Message    string
	Type       string
	Path       []any
	Extensions struct{ Type, Code string }
}

func (e graphError) kind() string {
	return strings.ToUpper(cmp.Or(e.Type, e.Extensions.Type, e.Extensions.Code))
}

// mayLack before the name of a field or alias tolerates that it is not found, and no other error there.
const mayLack = "?"

// mustBe tolerates no error.
const mustBe = "!"

// at is the step of the error's path that is one of these fields (or aliases), or -1.
func (e graphError) at(fields []string) int {
	return slices.IndexFunc(e.Path, func(step any) bool {
		name, ok := step.(string)
		return ok && (slices.Contains(fields, name) || e.kind() == "NOT_FOUND" && slices.Contains(fields, mayLack+name))
	})
}

// leavesOut says that of the tolerated fields (or aliases) on the error's path this one is the innermost.
func (e graphError) leavesOut(field string, tolerated []string) bool {
	at := e.at([]string{field})
	inner := graphError{Type: e.kind(), Path: e.Path[at+1:]}
	return at >= 0 && inner.at(tolerated) < 0
}

// isAbsence says that something is not there, or not for this token. Any other error is a failure of the query itself.
func (e graphError) isAbsence() bool {
	return slices.Contains([]string{"FORBIDDEN", "INSUFFICIENT_SCOPES", "NOT_FOUND"}, e.kind())
}

// isTolerable says that the error leaves out one of these fields (or aliases), and nothing around it. Where a field cannot
// be null, GraphQL has what is above it null instead: a whole pull request for its label changes.
// https://spec.graphql.org/October2021/#sec-Handling-Field-Errors
func (e graphError) isTolerable(fields []string, data any) bool {
	at := e.at(fields)
	if at < 0 || !e.isAbsence() || data == nil {
		return false
	}
	for _, step := range e.Path[:at] {
		switch v := data.(type) {
		case map[string]any:
			name, _ := step.(string)
			data = v[name]
		case []any:
			i, isIndex := step.(float64)
			if !isIndex || i < 0 || int(i) >= len(v) {
				return false
			}
			data = v[int(i)]
		}
		if data == nil {
			return false
		}
	}
	return true
}

// answerInfo holds the server time of an answer, and the parts that GitHub refused.
type answerInfo struct {
	at      time.Time // of the server
	missing []string  // which of the tolerated fields or aliases had errors, each once and in their order
}

// question is a query about a repository, or about an issue or a pull request of it.
type question struct {
	op, document string
	repo         model.Repo
	number       int      // 0: none
	pages        string   // the kind of its pages; "": it has none
	may          []string // fields and aliases that may be missing, as query has them
}

// shown is what GitHub shows of a repository, and beside it.
type shown[R any] struct {
	Viewer    actorNode
	RateLimit *struct { // null on a server without limits
		Remaining int
		ResetAt   time.Time
	}
	Repository *R
	Also       map[string]*threadNode // p0 and so on; null for a number that is not there
	Node       *saidNode
	Nodes      []*saidNode
	answerInfo
}

// repositoryAnswer is what GitHub shows where it is asked by the names of its fields.
type repositoryAnswer = shown[repositoryNode]

// thread is the pull request or issue that was asked about.
func (n *repositoryNode) thread() *threadNode {
	return cmp.Or(n.IssueOrPullRequest, n.PullRequest, n.Issue)
}

// ask asks a question about a repository. A repository or a number that is not there is NotFound.
func (c *conn) ask(ctx context.Context, q question, variables func(step int) map[string]any) (repositoryAnswer, error) {
	data, err := askFor[repositoryNode](ctx, c, q, variables)
	if err == nil && q.number != 0 && data.Repository.thread() == nil {
		err = q.absent()
	}
	return data, err
}

// askFor asks a question with the variables of one of the steps of pageLimits. A repository that is not there is NotFound.
func askFor[R any](ctx context.Context, c *conn, q question, variables func(step int) map[string]any) (data shown[R], err error) {
	if err := c.check(q.op, q.repo); err != nil {
		return data, err
	}
	err = c.inPages(ctx, q.pages, func(ctx context.Context, step int) (err error) {
		given := map[string]any{"owner": q.repo.Owner, "name": q.repo.Name}
		if q.number != 0 {
			given["number"] = q.number
		}
		maps.Copy(given, variables(step))
		data = shown[R]{}
		data.answerInfo, err = c.query(ctx, q.op, q.document, given, &data, q.may...)
		if err == nil && data.Repository == nil {
			err = &Error{Kind: NotFound, Op: q.op, Status: http.StatusNotFound, Message: "Repository", Fix: fixHidden}
		}
		return err
	})
	return data, named(err, q.repo, q.number)
}

// absent is the error for a number that is not there.
func (q question) absent() error {
	return named(&Error{Kind: NotFound, Op: q.op, Status: http.StatusNotFound, Fix: fixHidden}, q.repo, q.number)
}

// named makes a NotFound say what was not found: GitHub's own message speaks of node ids and variables.
func named(err error, repo model.Repo, number int) error {
	e, ok := err.(*Error)
	if !ok || e.Kind != NotFound {
		return err
	}
	what := fmt.Sprintf("%s#%d", repo, number)
	if number == 0 || strings.Contains(e.Message, "Repository") {
		what = fmt.Sprintf("repository %s", repo)
	}
	e.Message = what + " does not exist, or the token may not see it"
	return e
}

// byID asks for comments by their ids, and gives take those that are there.
func (c *conn) byID(ctx context.Context, op, document string, ids []string, may []string, take func(*saidNode)) error {
	return askAll(ctx, c, document, ids, pageLimits[0], func(ctx context.Context, some []string) error {
		var data repositoryAnswer
		_, err := c.query(ctx, op, documents[document], map[string]any{"ids": some}, &data, may...)
		for _, n := range data.Nodes {
			if n != nil { // else it was deleted since it was read
				take(n)
			}
		}
		return err
	})
}

// query posts one GraphQL document and decodes its data into out. A tolerated field or alias is null where the token may not
// see it or where it is not there; any other error fails the query, since half an answer must not pass for a whole one.
func (c *conn) query(ctx context.Context, op, document string, variables map[string]any, out any, may ...string) (r answerInfo, err error) {
	var body bytes.Buffer
	resp, err := c.send(ctx, http.MethodPost, c.graphql, map[string]any{"query": document, "variables": variables}, &body)
	if err != nil {
		return r, c.fail(op, err)
	}
	r.at = serverTime(resp.Header, c.now)
	r.missing, err = c.decodeGraph(op, body.Bytes(), out, may)
	return r, err
}

// decodeGraph reads the data of an answer into out, and which of the tolerated parts had errors.
func (c *conn) decodeGraph(op string, body []byte, out any, tolerated []string) ([]string, error) {
	var envelope struct {
		Data   json.RawMessage
		Errors []graphError
	}
	if err := json.Unmarshal(body, &envelope); err != nil {
		return nil, c.unreadable(op, err)
	}
	var tree any
	if len(envelope.Errors) > 0 && len(envelope.Data) > 0 {
		if err := json.Unmarshal(envelope.Data, &tree); err != nil {
			return nil, c.unreadable(op, err)
		}
	}
	for _, e := range envelope.Errors {
		if !e.isTolerable(tolerated, tree) {
			return nil, c.graphFailure(op, e)
		}
	}
	var missing []string
	for _, field := range tolerated {
		if slices.ContainsFunc(envelope.Errors, func(e graphError) bool { return e.leavesOut(field, tolerated) }) {
			missing = append(missing, field)
		}
	}
	if len(envelope.Data) == 0 || string(envelope.Data) == "null" {
		return nil, &Error{Kind: Unavailable, Op: op, Status: http.StatusOK, Message: "GitHub answered without data", Fix: fixLater}
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
		if where := c.line(ge.where()); where != "" {
			e.Message += " (" + where + ")"
		}
		if needs := ge.lacks(); needs != "" {
			e.Fix, e.Lacks = lackingFix(needs), true
		}
	case "":
		if len(ge.Path) == 0 { // the document itself was refused
			e.Kind, e.Fix = Invalid, ""
		}
	case "UNDEFINEDFIELD", "UNDEFINEDTYPE", "ARGUMENTNOTACCEPTED":
		e.Kind, e.Fix = Outdated, fixOutdated
	case "INVALID_CURSOR_ARGUMENTS", "ARGUMENTLITERALSINCOMPATIBLE", "MAX_NODE_LIMIT_EXCEEDED",
		"UNPROCESSABLE": // a mutation that was understood
		e.Kind, e.Fix = Invalid, ""
	case "RESOURCE_LIMITS_EXCEEDED":
		e.Kind, e.Message = TooHeavy, strings.TrimSuffix(e.Message, ".")
	}
	return e
}

func (c *conn) unreadable(op string, err error) *Error {
	return &Error{Kind: Unavailable, Op: op, Status: http.StatusOK, Fix: "check that the API URLs point at GitHub",
		Message: "the answer is not what GitHub sends: " + c.line(err.Error())}
}
