package sandbox

import (
	"fmt"
	"slices"
	"strings"

	gqlerrors "github.com/graph-gophers/graphql-go/errors"
)

// setSchema makes the server one of an older version, which lacks some fields ("PullRequest.headRefOid") of GraphQL; none: as it
// is. GitHub Enterprise Server has a schema of its own for each version:
// https://docs.github.com/en/enterprise-server/graphql/overview/public-schema
func setSchema(q *request, in struct{ Without []string }) (any, error) {
	schema, err := parsedSDL()
	if err != nil {
		return nil, err
	}
	for _, name := range in.Without {
		kind, field, _ := strings.Cut(name, ".")
		if def := schema.Types[kind]; def == nil || def.Fields.ForName(field) == nil {
			return nil, unprocessable("without: there is no field " + name)
		}
	}
	q.s.st.WithoutFields = in.Without
	return q.changed()
}

// unknown lists the fields of a query that an older server does not have: it refuses the whole query, with status 200.
func (v *survey) unknown(without []string) []graphqlError {
	var errs []graphqlError
	for n, f := range v.fields {
		if len(without) == 0 {
			break
		}
		if f.ObjectDefinition == nil || !slices.Contains(without, f.ObjectDefinition.Name+"."+f.Name) || slices.Contains(v.fields[:n], f) {
			continue
		}
		kind := f.ObjectDefinition.Name
		errs = append(errs, graphqlError{
			Message: fmt.Sprintf("Field '%s' doesn't exist on type '%s'", f.Name, kind), Locations: []gqlerrors.Location{placeOf(f)},
			Extensions: map[string]any{"code": "undefinedField", "typeName": kind, "fieldName": f.Name}, Path: []any{"query", f.Alias},
		})
	}
	return errs
}
