package journal_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/journal"
)

// What is sealed is what is opened; what somebody changed, moved to another kind or wrote without the key is not.
func TestSealedRecords(t *testing.T) {
	ours, theirs, none := journal.Codec{Key: []byte("ours")}, journal.Codec{Key: []byte("theirs")}, journal.Codec{}
	const raw = "{\"next\":1}\n"
	sealed := ours.Seal(journal.KindTrain, []byte(raw))
	for _, c := range []struct {
		name   string
		by     journal.Codec
		kind   string
		sealed string
		want   string // the error; "": none
	}{
		{"ours", ours, journal.KindTrain, string(sealed), ""},
		{"without a key nothing is asked", none, journal.KindTrain, string(sealed), ""},
		{"unsigned without a key", none, journal.KindTrain, raw, ""},
		{"unsigned", ours, journal.KindTrain, raw, "it is not signed"},
		{"empty", ours, journal.KindTrain, "", "it is not signed"},
		{"changed", ours, journal.KindTrain, "{\"next\":2" + string(sealed[len(`{"next":1`):]), "its signature does not hold"},
		{"another key", theirs, journal.KindTrain, string(sealed), "its signature does not hold"},
		{"another kind", ours, journal.KindMerge, string(sealed), "its signature does not hold"},
	} {
		got, err := c.by.Open(c.kind, []byte(c.sealed))
		if c.want != "" {
			require.EqualError(t, err, c.want, c.name)
			continue
		}
		require.NoError(t, err, c.name)
		assert.JSONEq(t, raw, string(got), c.name)
	}
	assert.Equal(t, raw, string(none.Seal(journal.KindTrain, []byte(raw))))
	more := raw + strings.Repeat(" and more", 20)
	bytes := []byte(more)
	ours.Seal(journal.KindTrain, bytes[:len(raw)])
	assert.Equal(t, more, string(bytes), "sealing changes nothing in place")
}
