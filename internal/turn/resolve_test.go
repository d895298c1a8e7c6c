package turn_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
	"github.com/mergexo/mergexo/internal/turn"
)

func TestAThreadIsResolvedOnceAllOfItIsDone(t *testing.T) {
	in := func(node string, id int64) model.Comment {
		return model.Comment{Kind: model.KindReview, ID: id, ThreadNode: node}
	}
	reply := func(id int64, done bool) model.ReviewReply {
		return model.ReviewReply{ReviewCommentID: id, Body: "x", Done: done}
	}
	type row struct {
		feedback []model.Comment
		replies  []model.ReviewReply
		want     map[int64]string
	}
	must.Each(t, map[string]row{
		"done": {[]model.Comment{in("a", 1)}, []model.ReviewReply{reply(1, true)}, map[int64]string{1: "a"}},
		"turned down, or an answer that does not say": {[]model.Comment{in("a", 1)}, []model.ReviewReply{reply(1, false)}, nil},
		"not answered":                        {[]model.Comment{in("a", 1)}, nil, nil},
		"one thread of two":                   {[]model.Comment{in("a", 1), in("b", 2)}, []model.ReviewReply{reply(1, false), reply(2, true)}, map[int64]string{2: "b"}},
		"both of one thread":                  {[]model.Comment{in("a", 1), in("a", 2)}, []model.ReviewReply{reply(1, true), reply(2, true)}, map[int64]string{2: "a"}},
		"half of one thread":                  {[]model.Comment{in("a", 1), in("a", 2)}, []model.ReviewReply{reply(1, false), reply(2, true)}, nil},
		"the last of a thread, for all of it": {[]model.Comment{in("a", 1), in("a", 2)}, []model.ReviewReply{reply(2, true)}, map[int64]string{2: "a"}},
		"the last of a thread has no answer":  {[]model.Comment{in("a", 1), in("a", 2)}, []model.ReviewReply{reply(1, true)}, nil},
		"a thread that GitHub did not name":   {[]model.Comment{in("", 1)}, []model.ReviewReply{reply(1, true)}, nil},
		"a summary with the same id":          {[]model.Comment{{Kind: model.KindReviewSummary, ID: 1, ThreadNode: "a"}}, []model.ReviewReply{reply(1, true)}, nil},
	}, func(t *testing.T, c row) {
		assert.Equal(t, c.want, turn.Resolves(model.Outcome{ReviewReplies: c.replies}, c.feedback))
	})
}
