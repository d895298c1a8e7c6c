package sandbox

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// A server of an older version refuses a query for what it does not have, as a whole, and answers others.
func TestAnOlderServerLacksFields(t *testing.T) {
	w := newTown(t)
	w.as("", "PUT", "/_sandbox/schema", obj{"without": []string{"Repository.isEmpty"}}).want(204)
	ask := func(query string) obj {
		return w.request("octo", "POST", graphqlPath, obj{"query": query}).want(200).obj()
	}
	refused := ask(`{ repository(owner: "octo", name: "widgets") { name isEmpty ...More } } fragment More on Repository { empty: isEmpty }`)
	assert.NotContains(t, refused, "data")
	assert.Len(t, refused["errors"], 2)
	first := refused["errors"].([]any)[0].(obj)
	assert.Equal(t, "Field 'isEmpty' doesn't exist on type 'Repository'", first["message"])
	assert.Equal(t, obj{"code": "undefinedField", "typeName": "Repository", "fieldName": "isEmpty"}, first["extensions"])
	assert.NotContains(t, ask(`{ repository(owner: "octo", name: "widgets") { name } }`), "errors")
	w.as("", "PUT", "/_sandbox/schema", obj{"without": []string{"Repository.shoeSize"}}).want(422)
	w.as("", "PUT", "/_sandbox/schema", obj{}).want(204)
	assert.NotContains(t, ask(`{ repository(owner: "octo", name: "widgets") { isEmpty } }`), "errors")
}
