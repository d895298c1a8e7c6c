package sandbox

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/clock/clocktest"
	"github.com/mergexo/mergexo/internal/must"
)

func TestEverythingSurvivesARestart(t *testing.T) {
	w, c, pull := reviewTown(t)
	w.grant("rita", "triage")
	w.as("", "PUT", "/_sandbox/protection", obj{"branch": "main", "push": []string{"octo"}}).want(204)
	w.as("", "PUT", "/_sandbox/runs/9", obj{"status": "in_progress"}).want(200)
	on := w.remark("rita", pull, obj{"path": "verse.txt", "line": 6}).want(201).obj()
	w.as("octo", "PATCH", fmt.Sprintf("%s/pulls/comments/%d", repoPath, id(on)), obj{"body": "edited"}).want(200)
	paths := []string{pull, pull + "/comments", pull + "/reviews", pull + "/files", repoPath, repoPath + "/labels", repoPath + "/actions/runs/9"}
	read := func() (all []string) {
		for _, p := range paths {
			all = append(all, strings.ReplaceAll(string(w.as("octo", "GET", p, nil).want(200).body), strings.TrimPrefix(w.url, "http://"), "HOST"))
		}
		return all
	}
	read() // begins the test for conflicts, whose result the next reading has
	before, deliveries := read(), w.delivered(0)
	calls := len(w.as("", "GET", "/_sandbox/calls", nil).list())
	w.restart()
	require.Equal(t, deliveries, w.delivered(0))
	require.Len(t, w.as("", "GET", "/_sandbox/calls", nil).list(), calls)
	require.Equal(t, before, read())
	require.Equal(t, "octo", w.s.reviewComments[id(on)].Editor)
	next := w.as("octo", "POST", strings.Replace(pull, "pulls", "issues", 1)+"/comments", obj{"body": "again"}).want(201).obj()
	require.Greater(t, id(next), id(on))
	c.git("remote", "set-url", "origin", w.url+"/octo/widgets")
	c.push("c.txt", "c\n")
	c.login = "wendy"
	w.grant("wendy", "write")
	require.Error(t, must.Err(c.try("push", "origin", "x:main")), "protection holds")
}

// A copy of the state a moment after an answer is what a kill would leave.
func TestAKillLosesNothingThatIsAMomentOld(t *testing.T) {
	w, c, pull := reviewTown(t)
	n := id(w.as("octo", "POST", strings.Replace(pull, "pulls", "issues", 1)+"/comments", obj{"body": "said"}).want(201).obj())
	clocktest.Until(t, func() bool {
		data, err := os.ReadFile(filepath.Join(w.dir, "state.json"))
		return err == nil && strings.Contains(string(data), fmt.Sprint(n))
	}, "the state is saved")
	killed := &town{t: t, dir: t.TempDir()}
	require.NoError(t, os.CopyFS(killed.dir, os.DirFS(w.dir)))
	// A push whose consequences the killed server did not see any more.
	c.git("remote", "set-url", "origin", filepath.Join(killed.dir, "repositories", filepath.Base(w.s.git.path(w.s.st.Repositories[0]))))
	c.git("push", "-q", "origin", "x:main")
	f := must.Get(os.OpenFile(filepath.Join(killed.dir, "deliveries.jsonl"), os.O_APPEND|os.O_WRONLY, 0))(t)
	require.NoError(t, must.Err(f.WriteString(`{"id":99,"event":"half a li`)))
	require.NoError(t, f.Close())
	killed.start()
	defer func() { require.NoError(t, killed.s.Close()) }()
	killed.as("octo", "GET", fmt.Sprintf("%s/issues/comments/%d", repoPath, n), nil).want(200)
	require.Equal(t, true, killed.as("octo", "GET", pull, nil).obj()["merged"])
	require.Equal(t, "pull_request.closed", killed.delivered(0)[len(killed.delivered(0))-1])
}

func TestCallsAreListed(t *testing.T) {
	w := newTown(t)
	w.as("octo", "GET", repoPath+"?x=1", nil).want(200)
	w.as("", "GET", "/nope", nil).want(404)
	require.NoError(t, must.Get(http.Post(w.url+graphqlPath, "application/json", strings.NewReader(`{"query":"{viewer{login}}"}`)))(t).Body.Close())
	c := w.clone("actions")
	c.commit("a.txt", "a\n")
	c.git("push", "-q", "origin", "HEAD:refs/heads/x")
	var got []string
	for _, o := range w.as("", "GET", "/_sandbox/calls", nil).want(200).list() {
		got = append(got, fmt.Sprintln(o["kind"], o["service"], o["method"], o["path"], o["status"], o["login"]))
	}
	require.Contains(t, got, "rest <nil> GET /api/v3/repos/octo/widgets?x=1 200 octo\n")
	require.Contains(t, got, "rest <nil> GET /api/v3/nope 404 \n")
	require.Contains(t, got[2], "graphql <nil> POST /api/graphql")
	require.Contains(t, got, "git receive-pack POST /octo/widgets/git-receive-pack 200 github-actions[bot]\n")
	require.NotContains(t, strings.Join(got, ""), controlPrefix)
	w.as("", "DELETE", "/_sandbox/calls", nil).want(204)
	require.Empty(t, w.as("", "GET", "/_sandbox/calls", nil).list())
}

func TestFaults(t *testing.T) {
	w := newTown(t)
	comments := w.issue("octo") + "/comments"
	count := func() int { return len(w.as("octo", "GET", comments, nil).want(200).list()) }
	fault := func(f obj) { w.as("", "PUT", "/_sandbox/faults", f).want(200) }

	fault(obj{
		"match": obj{"method": "POST", "path": restPrefix + "/repos/*/comments"}, "status": 403, "times": 1,
		"headers": obj{"Retry-After": "60"}, "body": obj{"message": "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."},
	})
	a := w.as("octo", "POST", comments, obj{"body": "x"}).want(403)
	require.Equal(t, "60", a.header.Get("Retry-After"))
	require.Contains(t, a.obj()["message"], "secondary rate limit")
	require.Equal(t, 0, count())
	w.as("octo", "POST", comments, obj{"body": "x"}).want(201)

	fault(obj{"match": obj{"method": "POST", "path": restPrefix}, "status": 502, "body": "bad gateway", "times": 1, "after": true})
	require.Equal(t, "bad gateway", string(w.as("octo", "POST", comments, obj{"body": "y"}).want(502).body))
	require.Equal(t, 2, count(), "the write took effect")

	fault(obj{"match": obj{"method": "POST"}, "drop": true, "after": true, "times": 1, "skip": 1})
	w.as("octo", "POST", comments, obj{"body": "passes"}).want(201)
	require.ErrorIs(t, must.Err(http.Post(w.url+restPrefix+comments, "application/json", strings.NewReader(`{"body":"anonymous"}`))), io.EOF)
	require.Equal(t, 3, count())

	fault(obj{"match": obj{"path": "/octo/widgets/git-receive-pack"}, "status": 500, "after": true, "times": 1})
	c := w.clone("octo")
	sha := c.commit("a.txt", "a\n")
	require.Error(t, must.Err(c.try("push", "origin", "HEAD:refs/heads/x")))
	require.Equal(t, sha, w.as("octo", "GET", repoPath+"/git/ref/heads/x", nil).want(200).obj()["object"].(obj)["sha"])
	require.Empty(t, w.s.st.Faults)
}

// Time grows with the number of comments, not with its square: the second half costs about what the first does.
func BenchmarkFiveThousandComments(b *testing.B) {
	for range b.N {
		w := newTown(b)
		comments := w.issue("octo") + "/comments"
		for half := range 2 {
			began := time.Now()
			for n := range 2500 {
				w.as("octo", "POST", comments, obj{"body": fmt.Sprint("comment ", n)}).want(201)
			}
			b.ReportMetric(time.Since(began).Seconds(), fmt.Sprintf("s/half-%d", half+1))
		}
	}
}
