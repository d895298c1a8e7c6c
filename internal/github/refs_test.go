package github

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
)

func TestRefs(t *testing.T) {
	w := newWorld(t)
	w.control("limits", map[string]any{"rest": 0, "content_minute": 0}) // no time passes here
	c := w.client("actions")
	sha := w.tip("main")
	list := func(prefix string) []model.Ref {
		return must.Get(c.Refs.List(t.Context(), widgets, prefix))(t)
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

	require.NoError(t, c.Refs.Create(t.Context(), widgets, "refs/heads/a#b", sha), "it is there as it should be")
	failure(t, c.Refs.Create(t.Context(), widgets, "refs/heads/x", strings.Repeat("0", 40)), Invalid)
	require.NoError(t, c.Refs.Delete(t.Context(), widgets, "refs/heads/a#b"))
	require.NoError(t, c.Refs.Delete(t.Context(), widgets, "refs/heads/a#b"), "what is not there is deleted")
	assert.Empty(t, list("refs/heads/a"))

	w.control("faults", map[string]any{"after": true, "drop": true, "times": 1, "match": map[string]any{"method": "DELETE", "path": "/api/v3/"}})
	failure(t, c.Refs.Delete(t.Context(), widgets, want[0].Name), Unclear)
	assert.Equal(t, want[1:], list("refs/mergexo/turn"))
}

// GitHub refuses a ref that exists in more than one wording, so that its words decide nothing: the ref itself does.
func TestARefThatIsRefusedIsLookedAt(t *testing.T) {
	w := newWorld(t)
	c := w.client("actions")
	first := w.tip("main")
	w.put("main", "b.txt", "b\n")
	second := w.tip("main")
	for _, name := range []string{"refs/mergexo/turn/7/k", "refs/heads/a#b", "refs/tags/v1"} { // the sandbox has other words for the first
		require.NoError(t, c.Refs.Create(t.Context(), widgets, name, first))
		require.NoError(t, c.Refs.Create(t.Context(), widgets, name, first), "there already, where it should be")
		e := failure(t, c.Refs.Create(t.Context(), widgets, name, second), RefExists)
		assert.Equal(t, fmt.Sprintf("create %s at %s in octo/widgets: it exists already, at %s", name, second[:12], first[:12]), e.Error())
	}
	e := failure(t, c.Refs.Create(t.Context(), widgets, "refs/mergexo/x", strings.Repeat("0", 40)), Invalid)
	assert.Equal(t, "create refs/mergexo/x at 000000000000 in octo/widgets: GitHub refused it, and the ref does not exist: Object does not exist (422)", e.Error())

	w.control("faults", map[string]any{"after": true, "status": 422, "body": map[string]any{"message": "Reference update failed"}, "times": 1, "match": map[string]any{"method": "POST", "path": "/api/v3/repos/octo/widgets/git/refs"}})
	require.NoError(t, c.Refs.Create(t.Context(), widgets, "refs/mergexo/y", first), "refused, and made all the same")
	assert.Equal(t, []model.Ref{{Name: "refs/mergexo/y", SHA: first}}, func() []model.Ref {
		return must.Get(c.Refs.List(t.Context(), widgets, "refs/mergexo/y"))(t)
	}())

	w.control("faults", map[string]any{"status": 403, "match": map[string]any{"method": "GET", "path": "/api/v3/repos/octo/widgets/git/ref/"}})
	e = failure(t, c.Refs.Create(t.Context(), widgets, "refs/mergexo/y", second), Forbidden)
	assert.Equal(t, "create refs/mergexo/y at "+second[:12]+" in octo/widgets: GitHub refused it (Reference update failed (422)), and whether it exists could not be read: Forbidden (403)", e.Error())
}

func TestRefsThatAreNone(t *testing.T) {
	l := dial(t, Options{}, reply{200, `[]`, nil})
	for _, name := range []string{"", "heads/x", "refs/heads/../x", "refs/heads/./x", "refs//x", "refs/heads/.x", "refs/heads/a..b"} {
		assert.Contains(t, fails(l.Refs.List(t.Context(), widgets, name))(t, Invalid).Error(), fmt.Sprintf("ref %q", name))
		failure(t, l.Refs.Delete(t.Context(), widgets, name), Invalid)
	}
	assert.Empty(t, l.seen)

	// GitHub gives what begins like that, too: the end of an address may lose its slash on the way.
	l = dial(t, Options{}, reply{200, `[{"ref": "refs/mergexo2/x", "object": {"sha": "a"}}, {"ref": "refs/mergexo/x", "object": {"sha": "b"}}]`, nil})
	assert.Equal(t, []model.Ref{{Name: "refs/mergexo/x", SHA: "b"}}, must.Get(l.Refs.List(t.Context(), widgets, "refs/mergexo/"))(t))

	for _, r := range []reply{{409, `{"message": "Git Repository is empty."}`, nil}, {404, `{"message": "Not Found"}`, nil}} {
		assert.Empty(t, must.Get(dial(t, Options{}, r).Refs.List(t.Context(), widgets, "refs/mergexo/"))(t))
	}
	fails(dial(t, Options{}, reply{403, `{"message": "Resource not accessible by integration"}`, nil}).Refs.List(t.Context(), widgets, "refs/mergexo/"))(t, Forbidden)
}
