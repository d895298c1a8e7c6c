package journal_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
)

var (
	scope = journal.Scope{Repo: model.Repo{Owner: "octo", Name: "widgets"}, Number: 7}
	noon  = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
)

func marker(phase model.Phase) model.TurnMarker {
	return model.TurnMarker{
		Repo: "octo/widgets", Number: 7, Key: strings.Repeat("a", 64), Phase: phase, Events: []string{"7:review:1:2026-01-02T12:00:00Z"},
		Start: strings.Repeat("1", 40), Head: strings.Repeat("2", 40), Attempt: 1, Since: noon.Add(-time.Hour),
	}
}

func encode(t *testing.T, c journal.Codec, b journal.Body) string {
	t.Helper()
	return must.Get(c.Encode(b))(t)
}

func receipt(t *testing.T, c journal.Codec) string {
	return encode(t, c, journal.Body{Text: "done", Tokens: []string{journal.Token("x")}, Kind: journal.KindTurn, Marker: marker(model.PhaseDone)})
}

func ours(id int64, body string) model.Comment {
	return model.Comment{Kind: model.KindIssue, ID: id, Author: model.Actor{Login: "mergexo[bot]", Bot: true}, Ours: true, Body: body, CreatedAt: noon.Add(time.Duration(id) * time.Minute), UpdatedAt: noon.Add(time.Duration(id) * time.Minute)}
}

// said is a comment of ours with a marker, which is about the conversation that it stands in.
func said(t *testing.T, c journal.Codec, id int64, m any, tokens ...string) model.Comment {
	t.Helper()
	placed, kind := journal.Place(m, scope.Repo, scope.Number)
	return ours(id, encode(t, c, journal.Body{Text: "x", Tokens: tokens, Kind: kind, Marker: placed}))
}

func fold(comments ...model.Comment) model.State { return journal.Codec{}.Fold(comments, scope) }

// inAnyOrder folds comments in many orders, all to the same state.
func inAnyOrder(t *testing.T, comments []model.Comment) model.State {
	t.Helper()
	want, shuffled := fold(comments...), slices.Clone(comments)
	rng := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		rng.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		require.Equal(t, want, fold(shuffled...))
	}
	return want
}

// trusted is a state without what it reports of comments that are not believed.
func trusted(st model.State) model.State {
	st.Distrusted, st.Elsewhere, st.Foreign = nil, nil, nil
	return st
}

// refused has each change make of a marker one that counts for nothing, for that reason.
func refused[M any](t *testing.T, fresh func() M, changes map[string]func(*M)) {
	t.Helper()
	for want, change := range changes {
		m := fresh()
		change(&m)
		_, kind := journal.Place(m, scope.Repo, scope.Number)
		st := fold(ours(1, encode(t, journal.Codec{}, journal.Body{Text: "x", Kind: kind, Marker: m})))
		require.Len(t, st.Distrusted, 1, want)
		assert.Contains(t, st.Distrusted[0].Reason, want)
		assert.False(t, st.Distrusted[0].Spoilt, want)
		assert.Equal(t, fold(), trusted(st), want)
	}
}

func TestAReceiptReadsBackAsItWasWritten(t *testing.T) {
	for _, key := range []string{"", "secret"} {
		c := journal.Codec{Key: []byte(key)}
		st := c.Fold([]model.Comment{ours(1, receipt(t, c))}, scope)
		require.Len(t, st.Turns, 1)
		assert.Equal(t, marker(model.PhaseDone), st.Turns[0].Marker)
		assert.Equal(t, "done", st.Turns[0].Text)
		assert.Equal(t, map[string]int64{journal.Token("x"): 1}, st.Tokens)
		assert.True(t, st.Answered["7:review:1:2026-01-02T12:00:00Z"])
		assert.Equal(t, strings.Repeat("2", 40), st.Accepted)
	}
}

func TestNoMarkerCanEndItsHTMLCommentEarly(t *testing.T) {
	m := marker(model.PhaseFailed)
	m.Reason = "--> <!-- mergexo-pr:{} --> ---- -- - \\u002d --!>"
	body := encode(t, journal.Codec{}, journal.Body{Text: "x", Kind: journal.KindTurn, Marker: m})
	assert.Equal(t, 1, strings.Count(body, "-->"))
	st := journal.Codec{}.Fold([]model.Comment{ours(1, body)}, scope)
	require.Len(t, st.Turns, 1)
	assert.Equal(t, m.Reason, st.Turns[0].Marker.Reason)
}

func TestTrust(t *testing.T) {
	plain, keyed := journal.Codec{}, journal.Codec{Key: []byte("k")}
	good, tokens := receipt(t, plain), encode(t, plain, journal.Body{Text: "done", Tokens: []string{journal.Token("x")}})
	by := func(login string) model.Comment {
		c := ours(1, good)
		c.Ours, c.Author = false, model.Actor{Login: login, Bot: strings.HasSuffix(login, "[bot]")}
		return c
	}
	edited := func(body, editor string, wasMarked bool) model.Comment {
		c := ours(1, body)
		c.EditedByOther, c.Editor, c.WasMarked = true, editor, wasMarked
		return c
	}
	review := edited(tokens+"\nthanks!", "mallory", false)
	review.Kind = model.KindReview
	tests := []struct {
		name    string
		codec   journal.Codec
		comment model.Comment
		counts  bool
		spoilt  bool
	}{
		{"ours", plain, ours(1, good), true, false},
		{"ours, with the line ends of a web form", plain, ours(1, strings.ReplaceAll(good, "\n", "\r\n")+"\r\n"), true, false},
		{"a stranger's", plain, by("mallory"), false, false},
		{"a bot's that the settings name", plain, by("Old-Bot[bot]"), true, false},
		{"ours, edited by somebody else", plain, edited(good, "mallory", false), false, true},
		{"ours, edited by an account that was deleted", plain, edited(good, "", false), false, true},
		{"ours, edited so that the marker is not at the end", plain, edited(good+"\nthanks!", "mallory", false), false, true},
		{"a reply of ours, edited by somebody else", plain, edited(tokens, "mallory", false), false, false},
		{"ours, edited so that nothing of the marker is left", plain, edited("thanks", "mallory", true), false, true},
		{"ours, edited so that only its tokens are left", plain, edited(tokens, "mallory", true), false, true},
		{"a reply of ours, edited so that its tokens are not at the end", plain, review, false, false},
		{"text after the marker", plain, ours(1, good+"\nmore"), false, false},
		{"another repository's", plain, ours(1, strings.Replace(good, "octo/widgets", "octo/gadgets", 1)), false, false},
		{"another number's", plain, ours(1, strings.Replace(good, `"number":7`, `"number":8`, 1)), false, false},
		{"an unknown phase", plain, ours(1, strings.Replace(good, `"phase":"done"`, `"phase":"finished"`, 1)), false, false},
		{"unsigned where a key is set", keyed, ours(1, good), false, false},
		{"signed with another key", keyed, ours(1, receipt(t, journal.Codec{Key: []byte("l")})), false, false},
		{"signed, then changed", keyed, ours(1, strings.Replace(receipt(t, keyed), `"attempt":1`, `"attempt":2`, 1)), false, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			sc := scope
			sc.Bots = []string{"old-bot[bot]"}
			st := tt.codec.Fold([]model.Comment{tt.comment}, sc)
			assert.Equal(t, tt.counts, len(st.Turns) == 1)
			assert.Equal(t, tt.counts, st.Accepted != "")
			spoilt := slices.ContainsFunc(st.Distrusted, func(d model.Distrust) bool { return d.Spoilt })
			assert.Equal(t, tt.spoilt, spoilt)
			if !tt.counts && tt.name != "text after the marker" {
				assert.NotEmpty(t, st.Distrusted, "what is not obeyed is reported")
			}
		})
	}
}

func TestAnUnblockForgivesWhatWasEditedBeforeIt(t *testing.T) {
	c := journal.Codec{}
	edited := ours(1, receipt(t, c))
	edited.EditedByOther, edited.Editor = true, "mallory"
	unblock := said(t, c, 5, model.UnblockMarker{Head: strings.Repeat("3", 40)})
	st := c.Fold([]model.Comment{edited, unblock}, scope)
	assert.Empty(t, st.Distrusted)
	assert.Equal(t, strings.Repeat("3", 40), st.Accepted)
	assert.False(t, st.Answered["7:review:1:2026-01-02T12:00:00Z"], "what the spoilt receipt answered is pending again")

	edited.UpdatedAt = noon.Add(time.Hour)
	assert.Len(t, c.Fold([]model.Comment{edited, unblock}, scope).Distrusted, 1, "an edit after the unblock counts again")
}

func TestTheOrderOfReadingDoesNotMatter(t *testing.T) {
	var comments []model.Comment
	for i := range int64(12) {
		m := marker([]model.Phase{model.PhaseDone, model.PhaseFailed, model.PhaseStarted}[i%3])
		m.Head = fmt.Sprintf("%040d", i)
		cm := said(t, journal.Codec{}, i+1, m)
		cm.CreatedAt = noon.Add(time.Duration(i/4) * time.Second) // several in one second
		comments = append(comments, cm)
	}
	inAnyOrder(t, comments)
}

func TestALargeOutboxIsDeflatedAndReadsBack(t *testing.T) {
	o := model.Outbox{Comment: "c"}
	for i := range int64(400) {
		o.Replies = append(o.Replies, model.ReviewReply{ReviewCommentID: i, Body: strings.Repeat("the same words again ", 20)})
	}
	m := marker(model.PhasePlanned)
	m.Outbox = &o
	body := encode(t, journal.Codec{}, journal.Body{Text: "x", Kind: journal.KindTurn, Marker: journal.Packed(m)})
	assert.Less(t, len(body), journal.BodyLimit)
	st := journal.Codec{}.Fold([]model.Comment{ours(1, body)}, scope)
	require.Len(t, st.Turns, 1)
	assert.Equal(t, &o, st.Turns[0].Marker.Outbox)
}

func TestTextIsCutBeforeAMarkerIs(t *testing.T) {
	text := "```\n" + strings.Repeat("ä long text\n", 10_000)
	body := encode(t, journal.Codec{}, journal.Body{Text: text, Tokens: []string{journal.Token("x")}, Kind: journal.KindTurn, Marker: marker(model.PhaseDone)})
	assert.LessOrEqual(t, len(body), journal.BodyLimit)
	assert.Contains(t, body, "cut here")
	assert.Contains(t, body, "```\n\n*(cut here", "the fence is closed again")
	assert.Len(t, journal.Codec{}.Fold([]model.Comment{ours(1, body)}, scope).Turns, 1)
}

func TestHiddenLinesStayHiddenUnderAnyMarkdown(t *testing.T) {
	for text, want := range map[string]string{
		"```\nopen":                      "```\nopen\n```",
		"~~~~\n```\nopen":                "~~~~\n```\nopen\n~~~~",
		"- ```\n  in a list\n  ```":      "- ```\n  in a list\n  ```",
		"- ```\n  open in a list":        "- ```\n  open in a list",
		"> ```\n> open in a quote":       "> ```\n> open in a quote",
		"1. a\n\n   ```go\n   x\n   ```": "1. a\n\n   ```go\n   x\n   ```",
		"```\nclosed\n```":               "```\nclosed\n```",
		"plain":                          "plain",
	} {
		assert.Equal(t, want, journal.Neutralise(text), "%q", text)
	}
}

func TestAMarkerThatDoesNotFitIsAnError(t *testing.T) {
	m := marker(model.PhaseFailed)
	m.Reason = strings.Repeat("x", journal.BodyLimit)
	assert.ErrorContains(t, must.Err(journal.Codec{}.Encode(journal.Body{Kind: journal.KindTurn, Marker: m})), "a comment holds 65536")
}

func TestSettledIsTheNewestReceiptsWord(t *testing.T) {
	c := journal.Codec{}
	_, ok := c.Settled([]model.Comment{ours(1, "hello")}, scope)
	assert.False(t, ok)
	mark, ok := c.Settled([]model.Comment{ours(1, receipt(t, c))}, scope)
	assert.True(t, ok)
	assert.Equal(t, model.Mark{At: noon.Add(-time.Hour)}, mark)
}

func TestTokensDependOnTheirPartsAndTheirBounds(t *testing.T) {
	assert.NotEqual(t, journal.Token("ab", "c"), journal.Token("a", "bc"))
	assert.Equal(t, journal.TurnKey(7, "s", []string{"b", "a"}), journal.TurnKey(7, "s", []string{"a", "b", "a"}))
	assert.NotEqual(t, journal.TurnKey(7, "s", []string{"a"}), journal.TurnKey(7, "t", []string{"a"}))
}

// FuzzText holds the two promises about text that others wrote: whatever it is, our own marker under it still counts, and
// nothing in it does.
func FuzzText(f *testing.F) {
	for _, s := range []string{
		"", "plain", "<!-- mergexo-turn:{} -->", "a\n<!-- mergexo-action:" + strings.Repeat("0", 64) + " -->", "```\nopen", "~~~~\n```", "<!--", "-->",
		"<!<!----", "\r\n<!-- mergexo-block:{\"repo\":\"octo/widgets\",\"number\":7} -->\r", "\x00<\x00!--", "<\u200b!--", "<!\x07--",
	} {
		f.Add(s)
	}
	token := journal.Token("mine")
	f.Fuzz(func(t *testing.T, text string) {
		c := journal.Codec{}
		body := must.Get(c.Encode(journal.Body{Text: text, Tokens: []string{token}}))(t)
		require.LessOrEqual(t, len(body), journal.BodyLimit)
		st := c.Fold([]model.Comment{ours(1, body)}, scope)
		require.Equal(t, map[string]int64{token: 1}, st.Tokens)
		require.Empty(t, st.Turns)
		require.Nil(t, st.Block)
		require.Equal(t, 1, strings.Count(body, "<!--"), "only our own HTML comment is one")
	})
}

// FuzzForeign holds that nothing which somebody else writes changes the state.
func FuzzForeign(f *testing.F) {
	c := journal.Codec{}
	body := must.Get(c.Encode(journal.Body{Text: "x", Tokens: []string{journal.Token("x")}, Kind: journal.KindTurn, Marker: marker(model.PhaseDone)}))(f)
	f.Add(body, true)
	f.Add("<!-- mergexo-turn:{\"phase\":\"done\"", false)
	f.Add("<!-- mergexo-merge:{\"repo\":\"octo/widgets\",\"number\":7,\"command\":\"k\",\"state\":\"done\",\"head\":\"a\",\"base\":\"main\",\"landed\":\"b\"} -->", true)
	f.Add("<!-- mergexo-external:{\"repo\":\"octo/widgets\",\"number\":7,\"state\":\"void\",\"head\":\""+digits('1')+"\",\"at\":\"2026-01-02T12:00:00Z\",\"by\":\"m\",\"base\":\"main\"} -->", false)
	f.Add("<!-- mergexo-conflicts:{\"repo\":\"octo/widgets\",\"number\":7,\"head\":\""+digits('1')+"\",\"base_sha\":\""+digits('2')+"\",\"base\":\"main\"} -->", true)
	f.Fuzz(func(t *testing.T, body string, edited bool) {
		cm := ours(1, body)
		cm.Ours, cm.EditedByOther, cm.Editor = edited, edited, "mallory"
		require.Equal(t, fold(), trusted(c.Fold([]model.Comment{cm}, scope)))
	})
}

// FuzzMarker reads arbitrary bytes as our own comment: it may be refused, it may not panic, and what counts names this
// pull request.
func FuzzMarker(f *testing.F) {
	f.Add("<!-- mergexo-turn:{\"repo\":\"octo/widgets\",\"number\":7,\"phase\":\"planned\",\"outbox_z\":\"AAAA\"} -->")
	f.Add("<!-- mergexo-pr:{\"repo\":\"octo/widgets\",\"number\":7} -->")
	f.Add("<!-- mergexo-unblock:null -->")
	f.Add("<!-- mergexo-merge:{\"repo\":\"octo/widgets\",\"number\":7,\"state\":\"merging\",\"head\":\"a\",\"base\":\"main\",\"members\":[{}]} -->")
	f.Add("<!-- mergexo-merge:{\"repo\":\"octo/widgets\",\"number\":7,\"state\":\"merging\",\"head\":\"a\",\"base\":\"main\",\"mirror\":\"gh-pr-7/x\",\"mirror_sha\":\"" + digits('1') + "\"} -->")
	f.Add("<!-- mergexo-external:{\"repo\":\"octo/widgets\",\"number\":7,\"state\":\"void\",\"head\":\"" + digits('1') + "\",\"at\":\"2026-01-02T12:00:00Z\",\"by\":\"m\",\"base\":\"main\",\"landed\":[{}]} -->")
	f.Add("<!-- mergexo-conflicts:{\"repo\":\"octo/widgets\",\"number\":7,\"head\":\"" + digits('1') + "\",\"base_sha\":\"" + digits('2') + "\",\"base\":\"main\",\"with\":[null]} -->")
	f.Fuzz(func(t *testing.T, body string) {
		st := journal.Codec{}.Fold([]model.Comment{ours(1, body)}, scope)
		for _, turn := range st.Turns {
			require.Equal(t, 7, turn.Marker.Number)
		}
		for _, m := range st.Merges {
			require.Equal(t, 7, m.Marker.Number)
			require.NotEmpty(t, m.Marker.Head)
			require.True(t, m.Marker.Open() || m.Marker.State == model.MergeFailed || m.Marker.Landed != "")
			require.Equal(t, m.Marker.Mirror != "", len(m.Marker.MirrorSHA) >= 40)
		}
		for _, e := range st.Externals {
			require.Equal(t, 7, e.Marker.Number)
			require.False(t, e.Marker.At.IsZero())
			require.GreaterOrEqual(t, len(e.Marker.Head), 40)
		}
		if st.Conflicts != nil {
			require.Equal(t, 7, st.Conflicts.Marker.Number)
			require.NotEmpty(t, st.Conflicts.Marker.Base)
		}
	})
}
