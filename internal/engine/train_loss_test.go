package engine_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/engine/sweeping"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/model"
)

// losses are the comments on a pull request that tell of a lost record.
func (w *world) losses(number int) []string {
	w.t.Helper()
	w.number = number
	var out []string
	for _, c := range w.comments() {
		if first, _, _ := strings.Cut(c["body"].(string), "\n"); strings.Contains(first, "record of the merge train of `main`**") {
			out = append(out, c["body"].(string))
		}
	}
	return out
}

// A record that is no record, or none of this train, is made again from the requests, and each of them hears once of it, with what
// was kept and what was lost. What else is no record is told by the tests of package train, and of what is not signed by those of
// package journal.
func TestALostRecordIsToldOnce(t *testing.T) {
	type row struct {
		key   string
		spoil func(w *world)
		says  string
	}
	each(t, map[string]row{
		"another commit": {"", func(w *world) { w.moveRef(trainRecord, w.at("main")) }, "(empty)"},
		"it is deleted":  {"", func(w *world) { w.api("bob", "DELETE", w.path("/git/"+trainRecord), nil) }, "it was deleted"},
		"it is another repository's": {"a signing key", func(w *world) {
			key, other := journal.Codec{Key: []byte("a signing key")}, model.Repo{Owner: "octo", Name: "other"}
			record := w.bare("show", trainRecord+":content") + "\n"
			raw, err := key.Open(journal.KindTrain, repo, []byte(record))
			require.NoError(w.t, err)
			w.rewriteRecord(strings.TrimSpace(record), strings.TrimSpace(string(key.Seal(journal.KindTrain, other, raw))))
		}, "its signature is invalid"},
	}, func(t *testing.T, _ string, c row) {
		w := readyTrain(t, nil, "one\n", "two\n")
		w.key = c.key
		numbers := []int{2, 3}
		w.aboard(numbers[:1], "")
		w.aboard(numbers[1:], "priority=high solo")
		require.Len(t, w.trains(), 2, w.logged.String())
		c.spoil(w)
		w.sweep()
		for _, n := range numbers {
			said := w.losses(n)
			require.Len(t, said, 1, "%s", w.logged.String())
			for _, part := range []string{c.says, "- Kept: ", "- Lost: the cars and their test results", trainRecord} {
				assert.Contains(t, said[0], part)
			}
		}
		assert.Contains(t, w.bare("show", trainRecord+":content"), `"priority":10,"solo":true`)
		assert.NotContains(t, w.bare("show", trainRecord+":content"), `"losses"`)
		w.later(time.Hour)
		w.sweep()
		w.arrives("merged merged", numbers...)
		for _, n := range numbers {
			assert.Len(t, w.losses(n), 1, "nobody hears of it twice")
		}
	})
}

// Whoever may push can set the record back to one that a run has signed before. The comments of the requests tell that there is a
// newer one: a sweep knows them all, and a run about one of them leaves the record to the sweep.
func TestAnOldRecordThatIsSetBackIsRecognized(t *testing.T) {
	every(t, []string{"a sweep", "a run about a request"}, func(t *testing.T, first string) {
		w := readyTrain(t, nil, "one\n", "two\n")
		w.key = "a signing key"
		w.aboard([]int{2}, "")
		old := strings.TrimSpace(w.bare("rev-parse", trainRecord))
		w.aboard([]int{3}, "")
		w.moveRef(trainRecord, old)
		if first != "a sweep" {
			rep := w.handle(model.Event{Name: "pull_request", Action: "synchronize", Repo: repo, Number: 3, IsPull: true})
			assert.Equal(t, model.ResultRetry, rep.Result, w.logged.String())
			assert.Equal(t, old, strings.TrimSpace(w.bare("rev-parse", trainRecord)))
		}
		w.sweep()
		for _, n := range []int{2, 3} {
			said := w.losses(n)
			require.Len(t, said, 1, w.logged.String())
			assert.Contains(t, said[0], "somebody has set it back to an older one")
		}
		w.arrives("merged merged", 2, 3)
	})
}

// A run that dies while it tells who was in a lost record leaves the rest to the next one, and nobody hears of it twice.
func TestARunDiesWhileItTellsOfALostRecord(t *testing.T) {
	diesTelling(t, 2)
}

// diesTelling has a run die after so many writes that makes a lost record again.
func diesTelling(t *testing.T, writes int) {
	t.Helper()
	w, numbers := boarded(t, nil, "one\n", "two\n")
	w.rewriteRecord(`"next":`, `next:`)
	w.gate.revive()
	w.gate.only(writes, diesAfter)
	w.sweepOrDie()
	w.gate.revive()
	w.later(time.Hour)
	w.sweep()
	for _, n := range numbers {
		assert.Len(t, w.losses(n), 1, "after write %d: %s", writes, w.logged.String())
	}
}

// A run that dies after its word, while another one that has not seen it asks whether it lives, is not told over.
func TestAWordOnALostRecordThatComesBeforeADeathIsNotSaidAgain(t *testing.T) {
	w, numbers := boarded(t, nil, "one\n", "two\n")
	w.rewriteRecord(`"next":`, `next:`)
	var word *http.Request
	var text []byte
	w.gate.revive()
	w.gate.at = func(_ int, r *http.Request) fate {
		if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/comments") {
			return passes
		}
		said, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(said))
		if !strings.Contains(string(said), "record of the merge train") {
			return passes
		}
		word, text = r.Clone(context.Background()), said
		return diesFirst // as the other run sees it: nothing is said yet
	}
	_, _ = w.engine().Sweep(context.Background(), repo, sweeping.Options{})
	require.NotNil(t, word, w.logged.String())
	first, behind := w.runs, w.gate.next
	w.put(fmt.Sprintf("/_sandbox/runs/%d", first), object{"status": "in_progress"})
	w.gate.revive()
	w.gate.next = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if word != nil && strings.HasSuffix(r.URL.Path, fmt.Sprintf("/actions/runs/%d", first)) {
			said := word
			word = nil
			said.Body = io.NopCloser(bytes.NewReader(text))
			behind.ServeHTTP(httptest.NewRecorder(), said)
			w.over(first)
		}
		behind.ServeHTTP(rw, r)
	})
	w.sweep()
	assert.Nil(t, word, "the other run has asked")
	for _, n := range numbers {
		assert.Len(t, w.losses(n), 1, w.logged.String())
	}
}

// A branch that only looks like one of the train says nothing of a record.
func TestABranchThatIsNoCarMakesNoRecordLost(t *testing.T) {
	w := newTrain(t)
	names := []string{"notes", "01", "1x", "9223372036854775806"}
	for _, name := range names {
		w.api("bob", "POST", w.path("/git/refs"), object{"ref": "refs/heads/mergexo/train/main/" + name, "sha": w.at("main")})
	}
	numbers := w.ready("car", "one\n")
	w.aboard(numbers, "")
	assert.Contains(t, w.trains(), "mergexo/train/main/1", "the train begins with the command: %s", w.logged.String())
	w.sweep()
	assert.Empty(t, w.losses(numbers[0]))
	for _, name := range names {
		assert.Contains(t, w.trains(), "mergexo/train/main/"+name)
	}
}
