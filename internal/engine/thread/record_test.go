package thread_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/engine/effect"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/github"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// sent takes effects in place of GitHub.
type sent struct {
	effect.ReadOnly
	all  []string
	fail error
}

func (s *sent) Apply(_ context.Context, _ effect.Thread, e effect.Effect) (effect.Result, error) {
	s.all = append(s.all, strings.TrimSpace(e.As.Kind+" "+e.As.Target))
	return effect.Result{ID: 90}, s.fail
}

// review is a review of pull request 7 that this process holds until a minute after noon, in comment 50.
func review(change ...func(*model.ReviewMarker)) (thread.Record, *model.ReviewMarker, *sent) {
	to := &sent{}
	m := &model.ReviewMarker{State: model.ReviewRunning, Lease: model.Lease{Run: 5, RunAttempt: 1, Claim: "mine", Expires: noon.Add(time.Minute)}}
	w := &thread.World{
		Now: func() time.Time { return noon }, Random: func() string { return "fresh" }, Run: thread.Run{ID: 6, Attempt: 2, URL: "u6"},
		Effects: to, Log: slog.New(slog.DiscardHandler), Claims: map[string]bool{"mine": true},
	}
	t := thread.New(w, model.Event{Repo: model.Repo{Owner: "octo", Name: "widgets"}, Number: 7}, &model.Report{}, nil)
	for _, ch := range change {
		ch(m)
	}
	comment := int64(50)
	return thread.Record{
		Thread: t, Comment: &comment, Marker: m, Kind: journal.KindReview, Token: strings.Repeat("a", 64), About: "the review of pull request 7", Term: time.Hour,
	}, m, to
}

func claimed(by string) func(*model.ReviewMarker) {
	return func(m *model.ReviewMarker) { m.Claim = by }
}

func over(m *model.ReviewMarker)    { m.State = model.ReviewDone }
func expired(m *model.ReviewMarker) { m.Expires = noon }

func TestWritingRenewsALeaseWhileWorkIsLeft(t *testing.T) {
	t.Parallel()
	const lapsed = "the claim of this run on the review of pull request 7 expired at 2026-01-02T12:00:00Z"
	for name, tt := range map[string]struct {
		change []func(*model.ReviewMarker)
		until  time.Time
		sent   []string
		err    string
	}{
		"its own":                    {nil, noon.Add(time.Hour), []string{"edit 50"}, ""},
		"another run's":              {[]func(*model.ReviewMarker){claimed("other")}, noon.Add(time.Minute), []string{"edit 50"}, ""},
		"another run's, which ended": {[]func(*model.ReviewMarker){claimed("other"), expired}, noon, []string{"edit 50"}, ""},
		"its own, over":              {[]func(*model.ReviewMarker){over}, time.Time{}, []string{"edit 50"}, ""},
		"its own, expired":           {[]func(*model.ReviewMarker){expired}, noon, nil, lapsed},
		"its own, over too late":     {[]func(*model.ReviewMarker){over, expired}, noon, nil, lapsed},
	} {
		r, m, to := review(tt.change...)
		err := r.Write(t.Context(), "text")
		assert.Equal(t, tt.until, m.Expires, name)
		assert.Equal(t, tt.sent, to.all, name)
		assert.Equal(t, tt.err, said(err), name)
	}
}

func said(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestASignedRecordIsThisProcesss(t *testing.T) {
	t.Parallel()
	r, m, to := review(claimed("other"))
	r.Sign()
	assert.Equal(t, model.Lease{Run: 6, RunAttempt: 2, RunURL: "u6", Claim: "fresh", Expires: noon.Add(time.Hour)}, m.Lease)
	assert.False(t, must.Get(r.Thread.Busy(t.Context(), 50, m.Lease))(t))
	require.NoError(t, r.Release(t.Context(), "text"))
	assert.Equal(t, noon.Add(-time.Second), m.Expires, "the next run need not wait")
	assert.False(t, r.Thread.Claims["fresh"], "it is signed again before this process goes on")
	assert.Equal(t, []string{"edit 50"}, to.all)
}

func TestOfTwoRunsTheOneGoesOnWhoseClaimIsRead(t *testing.T) {
	t.Parallel()
	at := func(comment int64, change ...func(*model.ReviewMarker)) model.State {
		_, m, _ := review(change...)
		return model.State{
			Reviews: []model.Posted[model.ReviewMarker]{{Marker: *m, CommentID: comment, URL: "u"}}, Tokens: map[string]int64{strings.Repeat("a", 64): comment},
		}
	}
	for name, tt := range map[string]struct {
		read model.State
		err  string
	}{
		"its own":                       {at(50), ""},
		"another run has taken it over": {at(50, claimed("other")), "another run is working on the review of pull request 7, see u"},
		"another run has posted it in the same moment": {at(40, claimed("other")), "another run is working on the review of pull request 7, see u"},
		"it is over": {at(50, over), "the review of pull request 7 is over, see u"},
		"it is gone": {model.State{}, "the comment on the review of pull request 7 was deleted"},
	} {
		r, _, _ := review()
		assert.Equal(t, tt.err, said(r.Check(tt.read)), name)
	}
	r, m, _ := review(over)
	assert.NoError(t, r.Check(at(50)), "what is to be said at the end of it")
	assert.Equal(t, "mine", m.Claim)
}

func TestAnEndIsSaidOnceInACommentOfItsOwn(t *testing.T) {
	t.Parallel()
	end := strings.Repeat("e", 64)
	for name, tt := range map[string]struct {
		read    []func(*model.ReviewMarker)
		tokens  map[string]int64
		comment int64
		sent    []string
	}{
		"the earlier comment says that it goes on": {nil, nil, 90, []string{"comment 7", "delete 50"}},
		"the earlier one says how another ended":   {[]func(*model.ReviewMarker){over}, nil, 90, []string{"comment 7"}},
		"it was said":                              {nil, map[string]int64{end: 60}, 50, nil},
	} {
		r, _, to := review(over)
		_, was, _ := review(tt.read...)
		r.Thread.State = model.State{Tokens: tt.tokens, Reviews: []model.Posted[model.ReviewMarker]{{Marker: *was, CommentID: 50}}}
		require.NoError(t, r.End(t.Context(), end, "text"), name)
		assert.Equal(t, tt.sent, to.all, name)
		assert.Equal(t, tt.comment, *r.Comment, name)
	}
}

func TestADeletedCommentIsNotPostedAgain(t *testing.T) {
	t.Parallel()
	r, _, to := review()
	to.fail = fmt.Errorf("edit: %w", &github.Error{Kind: github.Gone})
	stop := (*thread.Stop)(nil)
	require.True(t, errors.As(r.Write(t.Context(), "text"), &stop))
	assert.Equal(t, model.ResultRetry, stop.Result)
	assert.Equal(t, int64(0), *r.Comment)
	to.fail = nil
	assert.Error(t, r.Release(t.Context(), "text"))
	assert.Equal(t, []string{"edit 50"}, to.all)
}
