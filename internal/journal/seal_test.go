package journal_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/model"
)

// What is sealed is what is opened; what somebody changed, moved to another kind or repository, or wrote without the key is not.
func TestSealedRecords(t *testing.T) {
	ours, theirs, none := journal.Codec{Key: []byte("ours")}, journal.Codec{Key: []byte("theirs")}, journal.Codec{}
	here, there := model.Repo{Owner: "octo", Name: "widgets"}, model.Repo{Owner: "octo", Name: "other"}
	const raw = "{\"next\":1}\n"
	sealed := ours.Seal(journal.KindTrain, here, []byte(raw))
	for _, c := range []struct {
		name   string
		by     journal.Codec
		kind   string
		repo   model.Repo
		sealed string
		want   string // the error; "": none
	}{
		{"ours", ours, journal.KindTrain, here, string(sealed), ""},
		{"without a key nothing is asked", none, journal.KindTrain, here, string(sealed), ""},
		{"unsigned without a key", none, journal.KindTrain, here, raw, ""},
		{"unsigned", ours, journal.KindTrain, here, raw, "it is not signed"},
		{"empty", ours, journal.KindTrain, here, "", "it is not signed"},
		{"changed", ours, journal.KindTrain, here, "{\"next\":2" + string(sealed[len(`{"next":1`):]), "its signature is invalid"},
		{"another key", theirs, journal.KindTrain, here, string(sealed), "its signature is invalid"},
		{"another repository", ours, journal.KindTrain, there, string(sealed), "its signature is invalid"},
		{"the repository in other letters", ours, journal.KindTrain, model.Repo{Owner: "Octo", Name: "Widgets"}, string(sealed), ""},
		{"another kind", ours, journal.KindMerge, here, string(sealed), "its signature is invalid"},
	} {
		got, err := c.by.Open(c.kind, c.repo, []byte(c.sealed))
		if c.want != "" {
			require.EqualError(t, err, c.want, c.name)
			continue
		}
		require.NoError(t, err, c.name)
		assert.JSONEq(t, raw, string(got), c.name)
	}
	assert.Equal(t, raw, string(none.Seal(journal.KindTrain, here, []byte(raw))))
	more := raw + strings.Repeat(" and more", 20)
	bytes := []byte(more)
	ours.Seal(journal.KindTrain, here, bytes[:len(raw)])
	assert.Equal(t, more, string(bytes), "sealing changes nothing in place")
}
