package sandbox

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// A ref that exists is refused in either of GitHub's wordings, so that nobody can go by one of them.
func TestRefsThatExistAreRefusedInTwoWordings(t *testing.T) {
	w := newGQLWorld(t)
	sha := w.git.branchSHA(w.repo, "main")
	create := func(ref string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodPost, restPrefix+"/repos/octo/widgets/git/refs", strings.NewReader(`{"ref": "`+ref+`", "sha": "`+sha+`"}`))
		r.Header.Set("Authorization", "Bearer sandbox-ann")
		rec := httptest.NewRecorder()
		w.ServeHTTP(rec, r)
		return rec
	}
	for ref, words := range map[string]string{
		"refs/heads/x": "Reference already exists", "refs/tags/x": "Reference already exists", "refs/mergexo/x": "Reference update failed",
	} {
		assert.Equal(t, http.StatusCreated, create(ref).Code, ref)
		again := create(ref)
		assert.Equal(t, http.StatusUnprocessableEntity, again.Code, ref)
		assert.Contains(t, again.Body.String(), `"`+words+`"`, ref)
	}
}
