package train_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/must"
	"github.com/mergexo/mergexo/internal/train"
)

// again has somebody ask for a request once more, by another comment.
func (y *yard) again(r train.Request) {
	y.t.Helper()
	y.ask(r)
	last := &y.facts.Asked[len(y.facts.Asked)-1]
	last.Token, last.Comment = last.Token+" again", 9
	y.run()
}

func TestATryOfWhatIsAboardChangesNothing(t *testing.T) {
	y := asked(t, 1, 2)
	before := y.record
	y.again(train.Request{Number: 1, Try: true})
	assert.Equal(t, before, y.record)
	y.all()
	assert.Equal(t, "done #1 done #2", strings.Join(ends(y), " "))
}

func TestAMergeOfWhatIsBeingTriedLands(t *testing.T) {
	y := newYard(t)
	y.ask(train.Request{Number: 1, Try: true})
	y.run()
	assert.Equal(t, "try m0+1 testing", y.line())
	y.again(train.Request{Number: 1})
	assert.Equal(t, "m0+1 testing", y.line())
	y.ci("m0+1", green)
	assert.Contains(t, y.passed(), "done #1 landed")
}

// The comment of a command that is given again is another one, which has said nothing yet.
func TestWhoAsksAgainIsToldTheSame(t *testing.T) {
	y := asked(t, 1)
	told := y.record.Queue[0].Told
	require.NotEmpty(t, told)
	y.again(train.Request{Number: 1})
	assert.Equal(t, []string{"tell #1"}, y.tells)
	assert.Equal(t, told, y.record.Queue[0].Told)
}

// What Decode refuses is not written.
func TestARecordThatNobodyCanReadIsNotStored(t *testing.T) {
	m := train.New("main")
	m.Queue = []train.Request{{Number: 1, Head: "h", Token: "t"}, {Number: 1, Head: "h", Token: "t"}}
	assert.ErrorContains(t, must.Err(train.Stored(m)), "request 1 occurs twice")
	m.Queue = []train.Request{{Number: 1, Head: strings.Repeat("h", train.MaxBytes), Token: "t"}}
	assert.ErrorContains(t, must.Err(train.Stored(m)), "more than 1048576")
}
