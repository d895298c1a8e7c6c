package engine_test

import (
	"fmt"
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
	turn := func(t *testing.T) (*world, model.Event) { return commented(t) }
	pushes := func(r *http.Request) bool { return r.URL.Query().Get("service") == "git-receive-pack" }
	type row struct {
		build  func(t *testing.T) (*world, model.Event)
		from   func(r *http.Request) bool
		staged bool
		calls  int // what is planned needs no agent
	}
	each(t, map[string]row{
		"before the stage":             {turn, pushes, false, 2},
		"before the plan":              {turn, func(r *http.Request) bool { return r.Method == http.MethodPatch }, true, 2},
		"before the replies":           {turn, func(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/replies") }, true, 1},
		"before the stage of an issue": {func(t *testing.T) (*world, model.Event) { return labelled(t, smallJob) }, pushes, false, 2},
	}, func(t *testing.T, _ string, c row) {
		w, ev := c.build(t)
		renew := w.expires(func(r *http.Request) bool { return w.calls() > 0 && c.from(r) })
		e := w.engine()
		rep := w.ended(model.ResultRetry, "expired or was revoked in the middle of this run", w.by(e, ev))
		files := must.Get(filepath.Glob(filepath.Join(e.Git.Temp, fmt.Sprintf("mergexo-checkpoint-%d-*.bundle", w.number))))(t)
		if c.staged {
			assert.Empty(t, files, "what is staged needs no file")
		} else {
			require.Len(t, files, 1, rep.Reason)
			assert.Contains(t, rep.Reason, files[0])
			require.NoError(t, os.Remove(files[0]))
		}

		renew()
		w.over(w.runs)
		require.Equal(t, model.ResultDone, w.handle(ev).Result)
		assert.Empty(t, w.stages())
		assert.Equal(t, c.calls, w.calls())
		if w.number == 1 {
			w.settled(1, 1, 1)
		}
	})
}
