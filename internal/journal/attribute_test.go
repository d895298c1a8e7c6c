package journal

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
)

func TestAttribute(t *testing.T) {
	marked, err := Codec{}.Encode(Body{Text: "Done.", Tokens: []string{Token("a")}})
	require.NoError(t, err)
	octo, bot, alice := model.Actor{Login: "octo"}, model.Actor{Login: "mergexo-app[bot]", Bot: true}, model.Actor{Login: "alice"}
	scope := Scope{Viewer: "octo", Bots: []string{"MergeXO-App[bot]", "solo"}}
	tests := map[string]struct {
		said  model.Comment
		ours  bool
		other bool // somebody else edited it
	}{
		"the owner's own words":              {said: model.Comment{Author: octo, Ours: true, Body: "hi", Posted: "hi"}},
		"ours with the owner's account":      {said: model.Comment{Author: octo, Ours: true, Body: marked, Posted: marked}, ours: true},
		"ours, its token taken out":          {said: model.Comment{Author: octo, Ours: true, Edited: true, EditedByOther: true, Editor: "alice", Body: "hi", Posted: marked}, ours: true, other: true},
		"it may have been ours":              {said: model.Comment{Author: octo, Ours: true, Edited: true, EditedByOther: true, Editor: "alice", Body: "hi"}, ours: true, other: true},
		"the owner's words, edited":          {said: model.Comment{Author: octo, Ours: true, Edited: true, EditedByOther: true, Editor: "alice", Body: "hi", Posted: "ho"}, other: true},
		"the bot of the settings":            {said: model.Comment{Author: bot, Body: "hi", Posted: "hi"}, ours: true},
		"the bot's, edited by us":            {said: model.Comment{Author: bot, Edited: true, EditedByOther: true, Editor: "Octo", WasMarked: true, Body: marked}, ours: true},
		"ours, edited by the bot":            {said: model.Comment{Author: octo, Ours: true, Edited: true, EditedByOther: true, Editor: bot.Login, Body: marked}, ours: true},
		"the bot's, edited by who is gone":   {said: model.Comment{Author: bot, Edited: true, EditedByOther: true, Body: marked}, ours: true, other: true},
		"a person of the settings, own word": {said: model.Comment{Author: model.Actor{Login: "solo"}, Body: "hi", Posted: "hi"}},
		"a person of the settings, for us":   {said: model.Comment{Author: model.Actor{Login: "solo"}, Body: marked, Posted: marked}, ours: true},
		"a stranger's copy":                  {said: model.Comment{Author: alice, Body: marked, Posted: marked}},
		"a stranger, edited by us":           {said: model.Comment{Author: alice, Edited: true, EditedByOther: true, Editor: "octo", Body: "hi"}, other: true},
	}
	for name, tt := range tests {
		once := Attribute([]model.Comment{tt.said}, scope)
		assert.Equal(t, tt.ours, once[0].Ours, name)
		assert.Equal(t, tt.other, once[0].EditedByOther, name)
		assert.Equal(t, tt.said.Body == marked || tt.said.Posted == marked || tt.said.WasMarked, once[0].Marked, name)
		assert.Equal(t, once, Attribute(once, scope), name)
	}
}

// A bot repeats what strangers write, so its marker counts for another account's only with our signature, where there is a key.
func TestWhichMarkersAreForeign(t *testing.T) {
	scope := Scope{Repo: model.Repo{Owner: "octo", Name: "widgets"}, Number: 7, Viewer: "octo"}
	mark := func(c Codec, number int) string {
		body, err := c.Encode(Body{Text: "hi", Kind: KindPR, Marker: model.PRMarker{Repo: "octo/widgets", Number: number}})
		require.NoError(t, err)
		return body
	}
	signed, plain := Codec{Key: []byte("key")}, Codec{}
	tests := map[string]struct {
		reader Codec
		body   string
		bot    bool
		want   bool
	}{
		"a person's":                       {plain, mark(plain, 7), false, true},
		"a person's without the key":       {signed, mark(plain, 7), false, true},
		"a bot's":                          {plain, mark(plain, 7), true, true},
		"a bot's without the key":          {signed, mark(plain, 7), true, false},
		"a bot's with the key":             {signed, mark(signed, 7), true, true},
		"a signed one, read without a key": {plain, mark(signed, 7), true, true},
		"about another number":             {plain, mark(plain, 8), true, false},
		"not at the end":                   {plain, mark(plain, 7) + "\nas it said", true, false},
		"of no kind of ours":               {plain, "<!-- mergexo-note:{} -->", true, false},
	}
	for name, tt := range tests {
		said := model.Comment{Kind: model.KindIssue, ID: 1, Author: model.Actor{Login: "other", Bot: tt.bot}, Body: tt.body, Posted: tt.body}
		st := tt.reader.Fold([]model.Comment{said}, scope)
		assert.Equal(t, tt.want, len(st.Foreign) == 1, name)
	}
}
