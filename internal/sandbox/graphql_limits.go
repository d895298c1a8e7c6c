package sandbox

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"

	gqlerrors "github.com/graph-gophers/graphql-go/errors"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/parser"
	"github.com/vektah/gqlparser/v2/validator"
	"github.com/vektah/gqlparser/v2/validator/rules"
)

// The limits of a query: https://docs.github.com/en/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api
const (
	maxPage       = 100
	maxNodes      = 500_000
	pointsPerHour = 5000
)

// survey is what can be said of a query before it is run: its cost, and where each of its fields stands in the text. Every query
// is surveyed, so that what only an error needs is looked for when there is one.
type survey struct {
	nodes    int // that it may return at most
	requests int // connections that it reads, each as often as its parents may occur
	errors   []graphqlError
	vars     map[string]any
	set      ast.SelectionSet
	fields   []*ast.Field // that it selects, as often as it does
	changes  bool         // it is a mutation
}

// cost in points: one for each hundred requests, at least one.
func (v *survey) cost() int { return max(1, (v.requests+50)/100) }

var parsedSDL = sync.OnceValues(func() (*ast.Schema, error) {
	schema, err := gqlparser.LoadSchema(&ast.Source{Name: "schema.graphql", Input: sdl})
	if err != nil {
		return nil, fmt.Errorf("read the sandbox's schema: %w", err)
	}
	return schema, nil
})

// studyQuery validates a query and counts what it may cost. GitHub refuses what breaks a limit before it runs anything.
func studyQuery(ask graphqlRequest) (*survey, []graphqlError, error) {
	schema, err := parsedSDL()
	if err != nil {
		return nil, nil, err
	}
	doc, refused := validQuery(schema, *ask.Query)
	if refused != nil {
		return nil, refused, nil
	}
	op := doc.Operations.ForName(ask.OperationName)
	if op == nil {
		return nil, []graphqlError{{Message: "An operation name is required"}}, nil
	}
	vars, err := validator.VariableValues(schema, op, ask.Variables)
	if err != nil {
		return nil, refusals(err), nil
	}
	v := &survey{vars: vars, set: op.SelectionSet, changes: op.Operation == ast.Mutation}
	v.walk(op.SelectionSet, nil, 1)
	if v.nodes > maxNodes {
		v.errors = append(v.errors, graphqlError{Type: "MAX_NODE_LIMIT_EXCEEDED", Message: fmt.Sprintf(
			"This query requests up to %s possible nodes which exceeds the maximum limit of %s.", thousands(v.nodes), thousands(maxNodes))})
	}
	return v, v.errors, nil
}

// validQueries are those that were asked before, by their text: clients ask the same few. When there are too many, all are
// forgotten.
var (
	validQueries sync.Map // of *ast.QueryDocument
	validCount   atomic.Int64
)

func validQuery(schema *ast.Schema, text string) (*ast.QueryDocument, []graphqlError) {
	if doc, ok := validQueries.Load(text); ok {
		return doc.(*ast.QueryDocument), nil
	}
	doc, err := parser.ParseQuery(&ast.Source{Input: text})
	if err != nil {
		return nil, refusals(err)
	}
	if errs := validator.ValidateWithRules(schema, doc, rules.NewDefaultRules()); len(errs) > 0 {
		return nil, refusals(errs)
	}
	const most = 8 << 10 // bytes; what is longer names numbers, and does not come again
	if len(text) < most {
		if validCount.Add(1)%512 == 0 {
			validQueries.Clear()
		}
		validQueries.Store(text, doc)
	}
	return doc, nil
}

// walk counts a selection that may occur up to times times.
func (v *survey) walk(set ast.SelectionSet, path []any, times int) {
	for _, selection := range set {
		switch sel := selection.(type) {
		case *ast.InlineFragment:
			if v.included(sel.Directives) {
				v.walk(sel.SelectionSet, path, times)
			}
		case *ast.FragmentSpread:
			if v.included(sel.Directives) {
				v.walk(sel.Definition.SelectionSet, path, times)
			}
		case *ast.Field:
			if !v.included(sel.Directives) {
				continue
			}
			v.fields = append(v.fields, sel)
			here := append(path[:len(path):len(path)], sel.Alias)
			below := times
			switch {
			case takes(sel, "first"):
				below = v.connection(sel, here, times)
			case takes(sel, "ids"):
				if ids, ok := sel.ArgumentMap(v.vars)["ids"].([]any); ok {
					below = v.ids(sel, len(ids), here, times)
				}
			}
			v.walk(sel.SelectionSet, here, below)
		}
	}
}

// takes tells whether a field has an argument of that name, given or not.
func takes(f *ast.Field, name string) bool {
	return f.Definition != nil && f.Definition.Arguments.ForName(name) != nil
}

// field finds the field at a path, the last one where several types have one there; nil when there is none.
func (v *survey) field(set ast.SelectionSet, path []any) (found *ast.Field) {
	for _, selection := range set {
		here := found
		switch sel := selection.(type) {
		case *ast.InlineFragment:
			if v.included(sel.Directives) {
				here = v.field(sel.SelectionSet, path)
			}
		case *ast.FragmentSpread:
			if v.included(sel.Directives) {
				here = v.field(sel.Definition.SelectionSet, path)
			}
		case *ast.Field:
			switch {
			case !v.included(sel.Directives) || len(path) == 0 || path[0] != sel.Alias:
			case len(path) == 1:
				here = sel
			default:
				here = v.field(sel.SelectionSet, path[1:])
			}
		}
		if here != nil {
			found = here
		}
	}
	return found
}

// placeOf is where a field stands in the text.
func placeOf(f *ast.Field) gqlerrors.Location {
	return gqlerrors.Location{Line: f.Position.Line, Column: f.Position.Column}
}

// included tells whether @include and @skip leave a selection in.
func (v *survey) included(directives ast.DirectiveList) bool {
	for _, d := range directives {
		on, _ := d.ArgumentMap(v.vars)["if"].(bool)
		if d.Name == "include" && !on || d.Name == "skip" && on {
			return false
		}
	}
	return true
}

// connection checks the bounds of one connection and says how often what is below it may occur.
func (v *survey) connection(f *ast.Field, path []any, times int) int {
	args := f.ArgumentMap(v.vars)
	first, hasFirst := intOf(args["first"])
	last, hasLast := intOf(args["last"])
	refuse := func(kind, format string, words ...any) int {
		v.errors = append(v.errors, graphqlError{Type: kind, Path: path, Locations: []gqlerrors.Location{placeOf(f)}, Message: fmt.Sprintf(format, words...)})
		return 0
	}
	word, n := "first", first
	if !hasFirst {
		word, n = "last", last
	}
	switch {
	case hasFirst && hasLast:
		return refuse("", "Passing both `first` and `last` to paginate the `%s` connection is not supported.", f.Name)
	case !hasFirst && !hasLast && !selects(f.SelectionSet, "nodes", "edges"):
		n = 0 // a connection may be counted without reading it
	case !hasFirst && !hasLast:
		return refuse("MISSING_PAGINATION_BOUNDARIES", "You must provide a `first` or `last` value to properly paginate the `%s` connection.", f.Name)
	case n < 0:
		return refuse("", "`%s` on the `%s` connection cannot be less than zero.", word, f.Name)
	case n > maxPage:
		return refuse("EXCESSIVE_PAGINATION", "Requesting %d records on the `%s` connection exceeds the `%s` limit of %d records.", n, f.Name, word, maxPage)
	}
	v.requests += times
	v.nodes += times * n
	return times * n
}

// ids checks a lookup of several nodes.
func (v *survey) ids(f *ast.Field, n int, path []any, times int) int {
	if n > maxPage {
		v.errors = append(v.errors, graphqlError{Type: "ARGUMENT_LIMIT", Path: path, Locations: []gqlerrors.Location{placeOf(f)},
			Message: fmt.Sprintf("You may not provide more than %d node ids; you provided %d.", maxPage, n)})
	}
	v.requests += times
	v.nodes += times * n
	return times * n
}

// shape turns an error of the library into GitHub's.
func (v *survey) shape(e *gqlerrors.QueryError) graphqlError {
	out := graphqlError{Path: e.Path, Locations: e.Locations, Message: e.Message}
	if kind, ok := e.Extensions["type"].(string); ok {
		out.Type = kind
	}
	if whole, _ := e.Extensions["whole"].(bool); whole && len(e.Path) > 0 {
		out.Path = e.Path[:len(e.Path)-1]
	}
	if f := v.field(v.set, fieldsOf(e.Path)); f != nil {
		out.Locations = []gqlerrors.Location{placeOf(f)}
	}
	return out
}

var undefinedField = regexp.MustCompile(`^Cannot query field "(\w+)" on type "(\w+)"`)

// refusals are the errors of a query that is not valid.
func refusals(err error) []graphqlError {
	var list gqlerror.List
	var one *gqlerror.Error
	switch {
	case errors.As(err, &list):
	case errors.As(err, &one):
		list = gqlerror.List{one}
	default:
		list = gqlerror.List{{Message: err.Error()}}
	}
	var out []graphqlError
	for _, e := range list {
		r := graphqlError{Message: e.Message}
		for _, l := range e.Locations {
			r.Locations = append(r.Locations, gqlerrors.Location{Line: l.Line, Column: l.Column})
		}
		if m := undefinedField.FindStringSubmatch(e.Message); m != nil {
			r.Message = fmt.Sprintf("Field '%s' doesn't exist on type '%s'", m[1], m[2])
			r.Extensions = map[string]any{"code": "undefinedField", "typeName": m[2], "fieldName": m[1]}
		}
		out = append(out, r)
	}
	return out
}

// selects tells whether one of the fields is selected, fragments included.
func selects(set ast.SelectionSet, names ...string) bool {
	for _, selection := range set {
		switch sel := selection.(type) {
		case *ast.InlineFragment:
			if selects(sel.SelectionSet, names...) {
				return true
			}
		case *ast.FragmentSpread:
			if selects(sel.Definition.SelectionSet, names...) {
				return true
			}
		case *ast.Field:
			for _, name := range names {
				if sel.Name == name {
					return true
				}
			}
		}
	}
	return false
}

// intOf reads an Int that was a literal or a variable.
func intOf(v any) (int, bool) {
	switch n := v.(type) {
	case int64:
		return int(n), true
	case int:
		return n, true
	case float64:
		return int(n), true
	}
	return 0, false
}

// thousands writes 500000 as 500,000.
func thousands(n int) string {
	digits := fmt.Sprint(n)
	var groups []string
	for len(digits) > 3 {
		groups = append([]string{digits[len(digits)-3:]}, groups...)
		digits = digits[:len(digits)-3]
	}
	return strings.Join(append([]string{digits}, groups...), ",")
}
