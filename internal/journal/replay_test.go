package journal_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
)

// signed has a conversation that MergeXO signs.
var signed = journal.Codec{Key: []byte("key")}

func (th *thread) sign(marker any, tokens ...string) *thread { return th.write(signed, marker, tokens) }

// markerLines are the hidden lines of a comment, whole and without the tokens.
func markerLines(body string) (whole, bare string) {
	var lines []string
	for _, l := range strings.Split(body, "\n") {
		if strings.HasPrefix(l, "<!-- mergexo-") {
			lines = append(lines, l)
		}
	}
	return strings.Join(lines, "\n"), lines[len(lines)-1]
}

// Another workflow posts as the same account. It can repeat what MergeXO has signed, whole or in part, and beside a token of another
// comment; none of it is obeyed again.
func TestASignedMarkerThatIsRepeatedIsNotObeyedAgain(t *testing.T) {
	command := func(name, key string, at int) model.CommandMarker {
		m := commanded(name, model.Applied)
		m.Key, m.Login, m.At = key, "alice", time.Date(2026, 1, 2, 3, at, 0, 0, time.UTC)
		return m
	}
	turn := func(phase model.Phase, delegates ...model.Delegate) model.TurnMarker {
		m := marker(phase)
		m.Claim, m.Delegates = "c1", delegates
		return m
	}
	type row struct {
		say   func(th *thread) // the first comment is the one that is repeated at the end
		holds func(st model.State) bool
	}
	must.Each(t, map[string]row{
		"a delegate that was revoked": {func(th *thread) {
			th.sign(command("delegate", "k1", 1), journal.Token("1")).sign(command("delegate cancel", "k2", 2), journal.Token("2"))
		}, func(st model.State) bool { return len(st.Delegates) == 0 }},
		"a resume before a later pause": {func(th *thread) {
			th.sign(command("resume", "k1", 1), journal.Token("1")).sign(command("pause", "k2", 2), journal.Token("2"))
		}, func(st model.State) bool { return st.Paused != nil }},
		"an unblock before a later block": {func(th *thread) {
			th.sign(model.UnblockMarker{Head: digits('a'), Command: "k1"}, journal.Token("1")).
				sign(model.BlockMarker{Reason: model.ReasonRewrite}, journal.Token("2"))
		}, func(st model.State) bool { return st.Block != nil }},
		"a receipt that still names a delegate": {func(th *thread) {
			th.sign(turn(model.PhaseDone, model.Delegate{Login: "alice"}), journal.Token("1")).sign(command("delegate cancel", "k2", 2), journal.Token("2"))
		}, func(st model.State) bool { return len(st.Delegates) == 0 }},
		"an adopt before a later release": {func(th *thread) {
			m := tracked(digits('a'))
			m.Command, m.At, m.AwayFrom = "k1", time.Date(2026, 1, 2, 3, 1, 0, 0, time.UTC), time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
			th.sign(m, journal.Token("1")).sign(command("release", "k2", 2), journal.Token("2"))
		}, func(st model.State) bool { return st.Released != nil }},
		"a retry before a later failure": {func(th *thread) {
			th.sign(command("retry", "k1", 1), journal.Token("1")).sign(failedTurn(), journal.Token("2"))
		}, func(st model.State) bool { return len(st.Turns) == 1 }},
	}, func(t *testing.T, c row) {
		th := talk(t)
		c.say(th)
		require.True(t, c.holds(signed.Fold(th.comments, scope)), "before")
		whole, bare := markerLines(th.comments[0].Body)
		tokens, _, _ := strings.Cut(th.comments[1].Body[strings.Index(th.comments[1].Body, "<!--"):], "\n")
		for how, copied := range map[string]string{"whole": whole, "without its tokens": bare, "with another's token": tokens + "\n" + bare} {
			last := ours(int64(len(th.comments)+1), "coverage: 90%\n"+copied)
			assert.True(t, c.holds(signed.Fold(append(th.comments[:2:2], last), scope)), how)
		}
	})
}

// A receipt's comment had other states before. A copy of one is a second comment of the same claim.
func TestAnEarlierStateOfATurnIsNotTakenUpAgain(t *testing.T) {
	done := marker(model.PhaseDone)
	done.Claim, done.Delegates = "c1", []model.Delegate{}
	was := done
	was.Phase, was.Delegates = model.PhaseStarted, []model.Delegate{{Login: "alice"}}
	th := talk(t).sign(done, journal.Token("1")).sign(was, journal.Token("1"))
	st := signed.Fold(th.comments, scope)
	assert.Empty(t, st.Delegates)
	assert.Len(t, st.Turns, 1)
	assert.Equal(t, []int64{2}, st.Surplus)
}

// A version before signed the JSON alone. What grants something counts no more, what was answered stays so.
func TestWhatAnEarlierVersionSignedGrantsNothing(t *testing.T) {
	earlier := func(marker any) model.Comment {
		placed, kind := journal.Place(marker, scope.Repo, scope.Number)
		raw := must.Get(json.Marshal(placed))(t)
		mac := hmac.New(sha256.New, signed.Key)
		fmt.Fprintf(mac, "mergexo-%s\n%s", kind, raw)
		return ours(1, fmt.Sprintf("x\n<!-- mergexo-%s:%s,\"sig\":\"%x\"} -->", kind, raw[:len(raw)-1], mac.Sum(nil)))
	}
	delegate := commanded("delegate", model.Applied)
	delegate.Login = "alice"
	st := signed.Fold([]model.Comment{earlier(delegate)}, scope)
	assert.Empty(t, st.Delegates)
	require.Len(t, st.Distrusted, 1)
	assert.Equal(t, "mergexo-command marker: an earlier version signed it without its tokens, so that it may be a copy; give the command again", st.Distrusted[0].Reason)

	receipt := marker(model.PhaseDone)
	receipt.Delegates = []model.Delegate{{Login: "alice"}}
	st = signed.Fold([]model.Comment{earlier(receipt)}, scope)
	assert.Empty(t, st.Delegates)
	assert.True(t, st.Answered[receipt.Events[0]], "nothing that was answered is done again")

	assert.NotNil(t, signed.Fold([]model.Comment{earlier(model.BlockMarker{Reason: model.ReasonRewrite})}, scope).Block)
}

// Without a key, too, a command counts once.
func TestACommandCountsOnceWhateverRepeatsIt(t *testing.T) {
	th := talk(t).say(commanded("resume", model.Applied), journal.Token("1")).say(commanded("pause", model.Applied), journal.Token("2"))
	_, bare := markerLines(th.comments[0].Body)
	st := journal.Codec{}.Fold(append(th.comments, ours(3, bare)), scope)
	assert.NotNil(t, st.Paused)
	assert.Equal(t, []int64{3}, st.Surplus)
}
