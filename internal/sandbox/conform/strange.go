package conform

import (
	"encoding/json"
	"fmt"
	"sort"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

func decode(body []byte) (map[string]any, error) {
	var value map[string]any
	if err := json.Unmarshal(body, &value); err != nil {
		return nil, fmt.Errorf("not a JSON object: %w", err)
	}
	return value, nil
}

// silent are fields that GitHub sends and does not describe everywhere: GET /rate_limit names each resource in it, an
// Enterprise Server, which our prefix makes clients believe in, tells its version in GET /meta, and a repository has its
// custom properties in payloads and on its own, but not by the description where it stands in a pull request.
var silent = map[string]bool{"resource": true, "installed_version": true, "custom_properties": true}

// strange finds fields that GitHub's description does not know. JSON Schema lets them pass, and a client that read one
// would work against the sandbox alone.
func strange(name string, response *openapi3.Response, body []byte) error {
	media := response.Content.Get("application/json")
	if media == nil || media.Schema == nil {
		return nil
	}
	var value any
	if err := json.Unmarshal(body, &value); err != nil {
		return fmt.Errorf("%s: not JSON: %w", name, err)
	}
	found := map[string]bool{}
	unknown(value, []*openapi3.Schema{media.Schema.Value}, "", found)
	if len(found) == 0 {
		return nil
	}
	var list []string
	for field := range found {
		list = append(list, field)
	}
	sort.Strings(list)
	return fmt.Errorf("%s: GitHub describes no %s", name, strings.Join(list, ", "))
}

// unknown walks a value beside all the schemas that may describe it.
func unknown(value any, schemas []*openapi3.Schema, path string, found map[string]bool) {
	schemas = spread(schemas)
	if len(schemas) == 0 {
		return
	}
	switch value := value.(type) {
	case []any:
		var items []*openapi3.Schema
		for _, s := range schemas {
			if s.Items != nil {
				items = append(items, s.Items.Value)
			}
		}
		for _, v := range value {
			unknown(v, items, path+"[]", found)
		}
	case map[string]any:
		for field, v := range value {
			var below []*openapi3.Schema
			open := silent[field]
			known := 0
			for _, s := range schemas {
				if p := s.Properties[field]; p != nil {
					below = append(below, p.Value)
				}
				known += len(s.Properties)
				open = open || s.AdditionalProperties.Schema != nil || s.AdditionalProperties.Has != nil && *s.AdditionalProperties.Has
			}
			if len(below) == 0 && !open && known > 0 {
				found[path+"."+field] = true
			}
			unknown(v, below, path+"."+field, found)
		}
	}
}

// spread replaces combined schemas by their parts.
func spread(schemas []*openapi3.Schema) []*openapi3.Schema {
	var out []*openapi3.Schema
	for _, s := range schemas {
		out = append(out, s)
		for _, parts := range []openapi3.SchemaRefs{s.AllOf, s.AnyOf, s.OneOf} {
			for _, p := range parts {
				out = append(out, spread([]*openapi3.Schema{p.Value})...)
			}
		}
	}
	return out
}
