package journal

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
)

func TestAttribute(t *testing.T) {
	marked := must.Get(Codec{}.Encode(Body{Text: "Done.", Tokens: []string{Token("a")}}))(t)
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

// A marker tells of another account that works here only where it is the first one, and with a key only where that signed it.
func TestWhichMarkersAreForeign(t *testing.T) {
	scope := Scope{Repo: model.Repo{Owner: "octo", Name: "widgets"}, Number: 7, Viewer: "octo"}
	mark := func(c Codec, number int) string {
		return must.Get(c.Encode(Body{Text: "hi", Kind: KindPR, Marker: model.PRMarker{Repo: "octo/widgets", Number: number}}))(t)
	}
	signed, plain := Codec{Key: []byte("key")}, Codec{}
	said := func(id int64, login, body string) model.Comment {
		return model.Comment{Kind: model.KindIssue, ID: id, Author: model.Actor{Login: login}, Ours: login == "octo", Body: body, Posted: body}
	}
	edited := func(c model.Comment, posted, editor string) []model.Comment {
		c.Edited, c.Posted, c.Editor, c.EditedByOther = true, posted, editor, editor != c.Author.Login
		return []model.Comment{c}
	}
	only := func(body string) []model.Comment { return []model.Comment{said(1, "other", body)} }
	first := said(1, "other", mark(plain, 7))
	tests := map[string]struct {
		reader Codec
		said   []model.Comment
		want   bool
	}{
		"the first":                         {plain, only(mark(plain, 7)), true},
		"the first, unsigned":               {signed, only(mark(plain, 7)), false},
		"the first, signed":                 {signed, only(mark(signed, 7)), true},
		"a signed one, read without a key":  {plain, only(mark(signed, 7)), true},
		"about another number":              {plain, only(mark(plain, 8)), false},
		"not at the end":                    {plain, only(mark(plain, 7) + "\nas it said"), false},
		"of no kind of ours":                {plain, only("<!-- mergexo-note:{} -->"), false},
		"after ours":                        {plain, []model.Comment{said(1, "octo", mark(plain, 7)), said(2, "other", mark(plain, 7))}, false},
		"after ours, signed":                {signed, []model.Comment{said(1, "octo", mark(signed, 7)), said(2, "other", mark(signed, 7))}, false},
		"before ours":                       {plain, []model.Comment{first, said(2, "octo", mark(plain, 7))}, true},
		"after our words":                   {plain, []model.Comment{said(1, "octo", "hi\n"+actionPrefix+Token("a")+markerClose), said(2, "other", mark(plain, 7))}, true},
		"posted with it and edited":         {plain, edited(first, mark(plain, 7), "other"), true},
		"edited, and how it was is unknown": {plain, edited(first, "", "other"), true},
		"added by an edit":                  {plain, edited(first, "hi", "other"), false},
		"added by somebody else":            {plain, edited(first, "", "eve"), false},
	}
	for name, tt := range tests {
		assert.Equal(t, tt.want, len(tt.reader.Fold(tt.said, scope).Foreign) == 1, name)
	}
	done := Body{Text: "hi", Kind: KindTurn, Marker: model.TurnMarker{Repo: "octo/widgets", Number: 7, Key: "k", Phase: model.PhaseDone, Since: time.Unix(1, 0)}}
	receipt := must.Get(plain.Encode(done))(t)
	all := []model.Comment{first, said(2, "octo", receipt)}
	assert.Len(t, plain.Fold(all, scope).Foreign, 1)
	scope.Cut = true
	assert.Empty(t, plain.Fold(all, scope).Foreign, "what was not read has earlier markers of ours")
	assert.Len(t, plain.Fold(all[:1], scope).Foreign, 1, "nothing here is settled by us")
}
