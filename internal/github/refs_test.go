package github

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
)

func TestRefs(t *testing.T) {
	w := newWorld(t)
	c := w.client("actions")
	sha := w.tip("main")
	list := func(prefix string) []model.Ref {
		refs, err := c.Refs.List(t.Context(), widgets, prefix)
		require.NoError(t, err)
		return refs
	}
	assert.Empty(t, list("refs/mergexo/"))
	var want []model.Ref
	for i := range 120 {
		name := fmt.Sprintf("refs/mergexo/turn/%03d/k", i)
		require.NoError(t, c.Refs.Create(t.Context(), widgets, name, sha))
		want = append(want, model.Ref{Name: name, SHA: sha})
	}
	require.NoError(t, c.Refs.Create(t.Context(), widgets, "refs/mergexo2/x", sha))
	require.NoError(t, c.Refs.Create(t.Context(), widgets, "refs/heads/a#b", sha))
	before := calls(c)
	assert.Equal(t, want, list("refs/mergexo/"))
	assert.Equal(t, []string{"123 REST, 0 GraphQL", "125 REST, 0 GraphQL"}, []string{before, calls(c)}, "a hundred at a time")
	assert.Equal(t, []model.Ref{{Name: "refs/heads/a#b", SHA: sha}}, list("refs/heads/a#"))

	failure(t, c.Refs.Create(t.Context(), widgets, "refs/heads/a#b", sha), RefExists)
	failure(t, c.Refs.Create(t.Context(), widgets, "refs/heads/x", strings.Repeat("0", 40)), Invalid)
	require.NoError(t, c.Refs.Delete(t.Context(), widgets, "refs/heads/a#b"))
	require.NoError(t, c.Refs.Delete(t.Context(), widgets, "refs/heads/a#b"), "what is not there is deleted")
	assert.Empty(t, list("refs/heads/a"))

	w.control("faults", map[string]any{"after": true, "drop": true, "times": 1, "match": map[string]any{"method": "DELETE", "path": "/api/v3/"}})
	failure(t, c.Refs.Delete(t.Context(), widgets, want[0].Name), Unclear)
	assert.Equal(t, want[1:], list("refs/mergexo/turn"))
}

func TestRefsThatAreNone(t *testing.T) {
	l := dial(t, Options{}, reply{200, `[]`, nil})
	for _, name := range []string{"", "heads/x", "refs/heads/../x", "refs/heads/./x", "refs//x", "refs/heads/.x", "refs/heads/a..b"} {
		_, err := l.Refs.List(t.Context(), widgets, name)
		assert.Contains(t, failure(t, err, Invalid).Error(), fmt.Sprintf("ref %q", name))
		failure(t, l.Refs.Delete(t.Context(), widgets, name), Invalid)
	}
	assert.Empty(t, l.seen)

	// GitHub gives what begins like that, too: the end of an address may lose its slash on the way.
	l = dial(t, Options{}, reply{200, `[{"ref": "refs/mergexo2/x", "object": {"sha": "a"}}, {"ref": "refs/mergexo/x", "object": {"sha": "b"}}]`, nil})
	refs, err := l.Refs.List(t.Context(), widgets, "refs/mergexo/")
	require.NoError(t, err)
	assert.Equal(t, []model.Ref{{Name: "refs/mergexo/x", SHA: "b"}}, refs)

	for _, r := range []reply{{409, `{"message": "Git Repository is empty."}`, nil}, {404, `{"message": "Not Found"}`, nil}} {
		refs, err := dial(t, Options{}, r).Refs.List(t.Context(), widgets, "refs/mergexo/")
		require.NoError(t, err)
		assert.Empty(t, refs)
	}
	_, err = dial(t, Options{}, reply{403, `{"message": "Resource not accessible by integration"}`, nil}).Refs.List(t.Context(), widgets, "refs/mergexo/")
	failure(t, err, Forbidden)
}
