package journal

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/golden"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
)

// earlierComments are signed comments of each kind of marker and each state, with a value in every field, as they were written before
// leases had a type of their own. Nobody writes them again: whatever becomes of the types, they have to be read.
func earlierComments(t *testing.T) (names []string, comments []model.Comment) {
	t.Helper()
	text := must.Get(os.ReadFile("testdata/markers.txt"))(t)
	for i, one := range strings.Split(strings.TrimPrefix(string(text), "-- "), "\n-- ") {
		name, body, _ := strings.Cut(one, " --\n")
		at := time.Date(2026, 1, 2, 12, i, 0, 0, time.UTC)
		names = append(names, name)
		comments = append(comments, model.Comment{
			Kind: model.KindIssue, ID: int64(i + 1), Ours: true, Author: model.Actor{Login: "mergexo[bot]", Bot: true},
			Body: strings.TrimSuffix(body, "\n"), CreatedAt: at, UpdatedAt: at, URL: fmt.Sprint("u", i),
		})
	}
	return names, comments
}

// plain is JSON with sorted names and without what is empty, or is one of the names left out.
func plain(t *testing.T, raw []byte, without ...string) string {
	t.Helper()
	var decoded any
	require.NoError(t, json.Unmarshal(raw, &decoded))
	for _, name := range append(without, "outbox_z") {
		leaveOut(decoded, name)
	}
	return string(must.Get(json.Marshal(decoded))(t))
}

// leaveOut removes a name and all that is empty from a decoded value, and reports whether that is then empty, too.
func leaveOut(v any, name string) (empty bool) {
	switch v := v.(type) {
	case map[string]any:
		for n, one := range v {
			if leaveOut(one, name) || n == name {
				delete(v, n)
			}
		}
		return len(v) == 0
	case []any:
		for _, one := range v {
			leaveOut(one, name)
		}
		return len(v) == 0
	}
	return v == nil || v == "" || v == false || v == 0. || v == "0001-01-01T00:00:00Z"
}

func TestEarlierMarkersFoldToTheSameState(t *testing.T) {
	scope := Scope{Repo: model.Repo{Owner: "octo", Name: "widgets"}, Number: 7, Viewer: "mergexo[bot]"}
	names, comments := earlierComments(t)
	c := Codec{Key: []byte("secret")}
	var b strings.Builder
	for i, one := range comments {
		st := c.Fold([]model.Comment{one}, scope)
		require.Empty(t, st.Distrusted, names[i])
		raw := must.Get(json.Marshal(st))(t)
		fmt.Fprintf(&b, "%s: %s\n", names[i], plain(t, raw, "Marker", "Tokens")) // the test below has the markers whole
	}
	golden.File(t, "states.txt", b.String())
	for _, k := range kinds {
		assert.Contains(t, "\n"+b.String(), "\n"+k.name(), "no comment of this kind")
	}
}

func TestNoFieldOfAnEarlierMarkerIsLost(t *testing.T) {
	names, comments := earlierComments(t)
	for i, one := range comments {
		said := parseTrailer(one.Body)
		marker := byKind(said.kind).empty()
		require.NoError(t, must.Err(Codec{Key: []byte("secret")}.decodeMarker(said, marker)), names[i])
		was, _, signed := cutSignature([]byte(said.json))
		require.True(t, signed)
		now := must.Get(json.Marshal(reflect.ValueOf(marker).Elem().Interface()))(t)
		assert.Equal(t, plain(t, was), plain(t, now), names[i])
		if said.kind != KindTurn && said.kind != KindIssue { // whose lease was spread over the marker
			assert.Equal(t, string(was), string(now), "%s: written as before", names[i])
		}
	}
}

func TestEveryRecordHasALeaseAndSaysWhetherItIsOpen(t *testing.T) {
	lease := model.Lease{Run: 1, RunAttempt: 2, RunURL: "u", Expires: time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC), Claim: "c"}
	for name, tt := range map[string]struct {
		marker model.Leased
		open   bool
	}{
		"a turn":                {&model.TurnMarker{Phase: model.PhaseStarted}, true},
		"a planned turn":        {&model.TurnMarker{Phase: model.PhasePlanned}, true},
		"a receipt":             {&model.TurnMarker{Phase: model.PhaseDone}, false},
		"a failed turn":         {&model.TurnMarker{Phase: model.PhaseFailed}, false},
		"an attempt":            {&model.IssueMarker{Status: model.PhaseStarted}, true},
		"an attempt that waits": {&model.IssueMarker{Status: model.PhaseWaiting}, false},
		"a request":             {&model.MergeMarker{State: model.MergeWaiting}, true},
		"a merge":               {&model.MergeMarker{State: model.MergeRunning}, true},
		"a request that failed": {&model.MergeMarker{State: model.MergeFailed}, false},
		"what is merged":        {&model.MergeMarker{State: model.MergeDone}, false},
		"a review":              {&model.ReviewMarker{State: model.ReviewRunning}, true},
		"a review that is over": {&model.ReviewMarker{State: model.ReviewDone}, false},
		"an admission":          {&model.ExternalMarker{State: model.ExternalLetIn}, true},
		"what is approved":      {&model.ExternalMarker{State: model.ExternalApproved}, true},
		"what is rejected":      {&model.ExternalMarker{State: model.ExternalRejected}, false},
		"a roadmap in progress": {&model.RoadmapMarker{Unfinished: true}, true},
		"a roadmap":             {&model.RoadmapMarker{}, false},
		"conflicts":             {&model.ConflictMarker{}, false},
	} {
		assert.Equal(t, tt.open, tt.marker.Open(), name)
		*tt.marker.Holder() = lease
		raw := must.Get(json.Marshal(tt.marker))(t)
		assert.Contains(t, string(raw), `"run":1,"run_attempt":2,"run_url":"u","expires":"2026-01-02T12:00:00Z","claim":"c"`, name)
	}
	for now, over := range map[string]bool{"2026-01-02T11:59:59Z": false, "2026-01-02T12:00:00Z": true, "2026-01-02T12:00:01Z": true, "0001-01-01T00:00:00Z": false} {
		at := must.Get(time.Parse(time.RFC3339, now))(t)
		assert.Equal(t, over, lease.Expired(at), now)
		assert.False(t, model.Lease{}.Expired(at), "nobody holds it")
	}
}
