package engine_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
)

// expires has the server refuse every token from the first request on of which from is true.
func (w *world) expires(from func(r *http.Request) bool) (again func()) {
	next, dead := w.gate.next, false
	w.gate.next = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if dead = dead || from(r); dead {
			rw.Header().Set("WWW-Authenticate", `Basic realm="GitHub"`)
			rw.WriteHeader(http.StatusUnauthorized)
			_, _ = rw.Write([]byte(`{"message":"Bad credentials"}`))
			return
		}
		next.ServeHTTP(rw, r)
	})
	return func() { w.gate.next = next }
}

func TestWorkOutlivesATokenThatExpiresInMidRun(t *testing.T) {
	each(t, map[string]func(r *http.Request) bool{
		"before the stage":   func(r *http.Request) bool { return r.URL.Query().Get("service") == "git-receive-pack" },
		"before the plan":    func(r *http.Request) bool { return r.Method == http.MethodPatch },
		"before the replies": func(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/replies") },
	}, func(t *testing.T, name string, from func(r *http.Request) bool) {
		w, ev := commented(t)
		renew := w.expires(func(r *http.Request) bool { return w.calls() > 0 && from(r) })
		e := w.engine()
		rep := w.gives(model.ResultRetry, w.by(e, ev))
		assert.Contains(t, rep.Reason, "expired or was revoked in the middle of this run")
		files := must.Get(filepath.Glob(filepath.Join(e.Git.Temp, "mergexo-checkpoint-1-*.bundle")))(t)
		if name == "before the stage" {
			require.Len(t, files, 1, rep.Reason)
			assert.Contains(t, rep.Reason, files[0])
			require.NoError(t, os.Remove(files[0]))
		} else {
			assert.Empty(t, files, "what is staged needs no file")
		}

		renew()
		w.over(w.runs)
		require.Equal(t, model.ResultDone, w.handle(ev).Result)
		w.settled(1, 1, 1)
		assert.Equal(t, map[string]int{"before the stage": 2, "before the plan": 2, "before the replies": 1}[name], w.calls(), "what is planned needs no agent")
	})
}

func TestWorkOnAnIssueOutlivesATokenThatExpires(t *testing.T) {
	w, ev := labelled(t, smallJob, "job")
	renew := w.expires(func(r *http.Request) bool {
		return w.calls() > 0 && r.URL.Query().Get("service") == "git-receive-pack"
	})
	e := w.engine()
	rep := w.gives(model.ResultRetry, w.by(e, ev))
	assert.Contains(t, rep.Reason, "expired or was revoked in the middle of this run")
	files := must.Get(filepath.Glob(filepath.Join(e.Git.Temp, "mergexo-checkpoint-2-*.bundle")))(t)
	require.Len(t, files, 1, rep.Reason)
	assert.Contains(t, rep.Reason, files[0])
	renew()
	w.over(w.runs)
	require.Equal(t, model.ResultDone, w.handle(ev).Result)
	assert.Equal(t, 2, w.calls())
}
