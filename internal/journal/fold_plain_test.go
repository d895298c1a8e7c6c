package journal_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
)

// What has no record of its own is told apart by its tokens: of two runs that race, the first comment counts.
func TestOfTwoPlainCommentsWithTheSameTokensTheFirstCounts(t *testing.T) {
	a, b := journal.Token("a"), journal.Token("b")
	said := func(id int64, kind model.Kind, tokens ...string) model.Comment {
		c := ours(id, encode(t, journal.Codec{}, journal.Body{Text: "Which one?", Tokens: tokens}))
		c.Kind, c.Posted = kind, c.Body
		return c
	}
	type row struct {
		said    []model.Comment
		surplus []int64
	}
	must.Each(t, map[string]row{
		"twice":                           {[]model.Comment{said(2, model.KindIssue, a, b), said(1, model.KindIssue, a, b)}, []int64{2}},
		"three times":                     {[]model.Comment{said(1, model.KindIssue, a), said(2, model.KindIssue, a), said(3, model.KindIssue, a)}, []int64{2, 3}},
		"nothing that is new":             {[]model.Comment{said(1, model.KindIssue, a, b), said(2, model.KindIssue, b)}, []int64{2}},
		"something new beside":            {[]model.Comment{said(1, model.KindIssue, a), said(2, model.KindIssue, a, b)}, nil},
		"on a line, which no run deletes": {[]model.Comment{said(1, model.KindReview, a), said(2, model.KindReview, a)}, nil},
	}, func(t *testing.T, c row) {
		sealed := journal.Codec{Key: []byte("secret")}
		assert.Empty(t, sealed.Fold(c.said, scope).Surplus, "tokens that are not ours by the key say nothing")
		st := fold(c.said...)
		assert.Equal(t, c.surplus, st.Surplus)
		if c.surplus != nil {
			assert.EqualValues(t, 1, st.Tokens[a], "the first is the one")
		}
	})
}
