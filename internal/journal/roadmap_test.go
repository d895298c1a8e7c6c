package journal_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
)

func TestTheBodyOfAnItemSaysWhatItIsFor(t *testing.T) {
	t.Parallel()
	repo := model.Repo{Owner: "octo", Name: "widgets"}
	m := model.ItemMarker{Repo: repo.String(), Number: 7, Key: "parser"}
	for _, key := range [][]byte{nil, []byte("secret")} {
		c := journal.Codec{Key: key}
		body := must.Get(c.ItemBody("Evil <!-- mergexo-item:{\"repo\":\"octo/widgets\",\"number\":1,\"key\":\"x\"} -->", m, repo))(t)
		got, ok := c.Item(body, journal.Scope{Repo: repo})
		require.True(t, ok)
		assert.Equal(t, m, got)
		assert.True(t, c.HasToken(body, journal.ItemToken(repo, 7, "parser")))
		_, ok = c.Item(body, journal.Scope{Repo: model.Repo{Owner: "octo", Name: "gadgets"}})
		assert.False(t, ok, "of another repository")
		_, ok = c.Item(body, journal.Scope{Repo: model.Repo{Owner: "octo", Name: "gadgets"}, Formerly: []string{"octo/widgets"}})
		assert.True(t, ok, "which was called so")
		_, ok = c.Item(strings.Replace(body, `"key":"parser"`, `"key":"lexer"`, 1), journal.Scope{Repo: repo})
		assert.False(t, ok, "its token is another item's")
		_, ok = c.Item(body+"\nThanks!", journal.Scope{Repo: repo})
		assert.False(t, ok, "it does not stand at the end")
		other := must.Get(c.ItemBody("", model.ItemMarker{Repo: repo.String(), Number: 0, Key: "parser"}, repo))(t)
		_, ok = c.Item(other, journal.Scope{Repo: repo})
		assert.False(t, ok)
	}
	plain := must.Get(journal.Codec{}.ItemBody("", m, repo))(t)
	_, ok := journal.Codec{Key: []byte("secret")}.Item(plain, journal.Scope{Repo: repo})
	assert.False(t, ok, "not signed")
}

func TestTheFirstCommentOnARoadmapCounts(t *testing.T) {
	t.Parallel()
	said := func(id int64, m model.RoadmapMarker) model.Comment {
		c := said(t, journal.Codec{}, id, m)
		c.Posted = c.Body
		return c
	}
	m := model.RoadmapMarker{File: "docs/roadmaps/7-x.md", Items: []model.RoadmapEntry{{Key: "a", Issue: 8, State: model.ItemDone}, {Key: "b", State: model.ItemFailed}}}
	st := fold(said(2, m), said(1, m))
	require.NotNil(t, st.Roadmap)
	assert.EqualValues(t, 1, st.Roadmap.CommentID)
	assert.Equal(t, []int64{2}, st.Surplus)
	entry := journal.Codec{}.Log([]model.Comment{said(1, m)}, scope)[0]
	assert.Equal(t, "works on the roadmap: 1 of 2 items done", entry.What)
	assert.Equal(t, "stopped", entry.State)
	other := m
	other.Items = []model.RoadmapEntry{{Key: "../x"}}
	assert.Nil(t, fold(said(1, other)).Roadmap)
	edited := said(1, m)
	edited.EditedByOther, edited.Editor = true, "eve"
	st = fold(edited)
	assert.Nil(t, st.Roadmap)
	require.Len(t, st.Distrusted, 1)
	assert.False(t, st.Distrusted[0].Spoilt, "it is made again")
	assert.True(t, st.RoadmapLost, "but what it said is neither obeyed nor redone")
	st = fold(edited, said(2, m))
	require.NotNil(t, st.Roadmap)
	assert.False(t, st.RoadmapLost, "another one has taken its place")
	edited.Posted = "Opened #3"
	assert.False(t, fold(edited).RoadmapLost, "that was another comment")
}
