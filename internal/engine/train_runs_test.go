package engine_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
)

// ownTip is a train whose one car has the head of a pull request, which needs no rebase, for its tip.
func ownTip(t *testing.T) (w *world, branch, tip string) {
	t.Helper()
	w = newTrain(t, "ci_retries = 0")
	w.second("agent/own", "own.txt")
	w.approve("alice")
	w.passed("ci")
	w.command("carol", "/mergexo merge")
	branch, tip = w.only()
	require.Equal(t, w.at("agent/own"), tip, w.logged.String())
	return w, branch, tip
}

// Nobody waits for what CI says of a car that was thrown away. A run of the pull request's own head on the same commit goes on.
func TestTheRunsOfACarThatIsThrownAwayAreCancelled(t *testing.T) {
	w, branch, tip := ownTip(t)
	run := func(id int, branch, event, status string) {
		w.put(fmt.Sprintf("/_sandbox/runs/%d", id), object{"name": "ci", "path": ".github/workflows/ci.yml", "event": event, "status": status, "head_sha": tip, "head_branch": branch})
	}
	run(6001, branch, "push", "in_progress")
	run(6002, branch, "push", "completed")
	run(6003, "agent/own", "push", "in_progress")
	run(6004, branch, "pull_request", "in_progress")
	w.command("carol", "/mergexo merge cancel")
	assert.Empty(t, w.trains())
	var ends []string
	for id := 6001; id <= 6004; id++ {
		r := w.api("octo", "GET", w.path(fmt.Sprintf("/actions/runs/%d", id)), nil)
		ends = append(ends, fmt.Sprint(r["status"], " ", r["conclusion"]))
	}
	assert.Equal(t, []string{"completed cancelled", "completed success", "in_progress <nil>", "in_progress <nil>"}, ends, w.logged.String())
}

func TestTheBoardShowsTheTrain(t *testing.T) {
	w := newTrain(t)
	none := w.board()
	assert.Empty(t, none.Trains)
	numbers := w.ready("car", "one\n", "two\n")
	w.aboard(numbers, "")
	cars := func(b model.Board) (out []string) {
		require.Len(t, b.Trains, 1)
		for _, c := range b.Trains[0].Cars {
			out = append(out, fmt.Sprint(c.Number, c.State, c.Members))
		}
		return out
	}
	want := []string{fmt.Sprint(1, "testing", numbers[:1]), fmt.Sprint(2, "testing", numbers[1:])}
	b, err := w.engine().Board(context.Background(), repo)
	require.NoError(t, err)
	assert.Equal(t, want, cars(b))
	assert.Equal(t, want, cars(w.sweep().Board))
	w.wholeTrain()
	b = w.board()
	require.Len(t, b.Trains, 1)
	assert.Empty(t, b.Trains[0].Cars)
	assert.Len(t, b.Trains[0].Landed, 2)
	assert.Empty(t, w.sweep().Board.Trains, "nobody waits, and nothing is read of it")
}

// What MergeXO has cancelled says nothing about a commit, which may board again: the head needs no rebase, and is the tip of both cars.
func TestARunThatWasCancelledWithItsCarBlamesNobody(t *testing.T) {
	w, branch, tip := ownTip(t)
	w.put("/_sandbox/runs/6001", object{"name": "ci", "path": ".github/workflows/ci.yml", "event": "push", "status": "in_progress", "head_sha": tip, "head_branch": branch, "jobs": []object{{"name": "ci"}}})
	w.labels("carol", "mergexo:freeze")
	w.handle(w.delivery("pull_request"))
	require.Empty(t, w.trains())
	require.Equal(t, "cancelled", w.api("octo", "GET", w.path("/actions/runs/6001"), nil)["conclusion"])
	w.takesOff("carol", "mergexo:freeze")
	w.handle(w.delivery("pull_request"))
	require.Equal(t, map[string]string{"mergexo/train/main/2": tip}, w.trains(), w.logged.String())
	w.sweep()
	w.wholeTrain()
	assert.Equal(t, "merged", w.badge(), w.request())
}
