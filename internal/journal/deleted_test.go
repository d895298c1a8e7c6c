package journal

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
)

// A comment of ours that somebody else deleted may have held anything. A receipt that was restored since tells of one, and an operator
// who unblocked for that reason has pardoned those before.
func TestWhichDeletionsAreLeft(t *testing.T) {
	at := func(minute int) time.Time { return time.Date(2026, 1, 2, 12, minute, 0, 0, time.UTC) }
	gone := func(author, by string, minute int) model.Deletion {
		return model.Deletion{Author: model.Actor{Login: author}, By: model.Actor{Login: by}, At: at(minute)}
	}
	said := func(minute int, kind string, marker any) model.Comment {
		body := must.Get(Codec{}.Encode(Body{Text: "x", Kind: kind, Marker: marker}))(t)
		return model.Comment{Kind: model.KindIssue, ID: int64(minute), Ours: true, Author: model.Actor{Login: "octo"}, Body: body, Posted: body, CreatedAt: at(minute), UpdatedAt: at(minute)}
	}
	receipt := model.TurnMarker{Repo: "octo/widgets", Number: 7, Key: "k", Phase: model.PhaseDone}
	restored := receipt
	restored.Restored = true
	block := func(reason string) model.Comment {
		return said(3, KindBlock, model.BlockMarker{Repo: "octo/widgets", Number: 7, Reason: reason})
	}
	unblock := said(4, KindUnblock, model.UnblockMarker{Repo: "octo/widgets", Number: 7})
	for name, tt := range map[string]struct {
		said      []model.Comment
		deletions []model.Deletion
		left      int
	}{
		"ours":                         {nil, []model.Deletion{gone("Octo", "eve", 1)}, 1},
		"another account of ours":      {nil, []model.Deletion{gone("app[bot]", "ghost", 1)}, 1},
		"a person's":                   {nil, []model.Deletion{gone("alice", "eve", 1)}, 0},
		"by us":                        {nil, []model.Deletion{gone("octo", "app[bot]", 1), gone("app[bot]", "octo", 1)}, 0},
		"a receipt since":              {[]model.Comment{said(2, KindTurn, receipt)}, []model.Deletion{gone("octo", "eve", 1)}, 1},
		"restored since":               {[]model.Comment{said(2, KindTurn, restored)}, []model.Deletion{gone("octo", "eve", 1)}, 0},
		"restored before":              {[]model.Comment{said(2, KindTurn, restored)}, []model.Deletion{gone("octo", "eve", 3)}, 1},
		"restored, and another one":    {[]model.Comment{said(2, KindTurn, restored)}, []model.Deletion{gone("octo", "eve", 1), gone("octo", "eve", 2)}, 1},
		"pardoned":                     {[]model.Comment{block(model.ReasonMarkerDeleted), unblock}, []model.Deletion{gone("octo", "eve", 1), gone("octo", "eve", 2)}, 0},
		"unblocked for another reason": {[]model.Comment{block(model.ReasonBudget), unblock}, []model.Deletion{gone("octo", "eve", 1)}, 1},
		"after the pardon":             {[]model.Comment{block(model.ReasonMarkerDeleted), unblock}, []model.Deletion{gone("octo", "eve", 5)}, 1},
	} {
		scope := Scope{Repo: model.Repo{Owner: "octo", Name: "widgets"}, Number: 7, Viewer: "octo", Bots: []string{"app[bot]"}, Deletions: tt.deletions}
		st := Codec{}.Fold(tt.said, scope)
		assert.Len(t, st.Deleted, tt.left, name)
		assert.Equal(t, tt.left > 0, st.Spoilt() != nil, name)
		st.Recovered = 1
		assert.Nil(t, st.Spoilt(), name)
	}
}
