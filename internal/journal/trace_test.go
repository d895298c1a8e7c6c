package journal_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/model"
)

func TestATrailReadsBackAsItWasLaid(t *testing.T) {
	t.Parallel()
	sha, key := strings.Repeat("b", 40), strings.Repeat("a", 64)
	events := []string{"7:issue:5:2026-01-02T12:00:00Z", "7:review:6:2026-01-02T12:01:00Z"}
	scope := journal.Scope{Repo: model.Repo{Owner: "octo", Name: "widgets"}, Number: 7}
	laid := model.AnswerMarker{Repo: "octo/widgets", Number: 7, Key: key, Events: events}
	plain, signed := journal.Codec{}, journal.Codec{Key: []byte("k")}

	message := plain.Trail("Say hello\n\nMore of it.", laid)
	assert.Equal(t, "Say hello\n\nMore of it.\n\nMergeXO-Turn: "+key+"\nMergeXO-Answers: "+events[0]+"\nMergeXO-Answers: "+events[1], message)
	assert.Equal(t, message, plain.Trail(message, laid), "once is enough")
	assert.Contains(t, plain.Trail("Say hello\n\nRefs: #5", laid), "\n\nRefs: #5\nMergeXO-Turn: ", "git takes the last paragraph for trailers")
	assert.Contains(t, plain.Trail("Fix: say hello", laid), "Fix: say hello\n\nMergeXO-Turn: ", "a subject is none")

	read := func(c journal.Codec, message string) (model.Trace, bool) {
		return c.ReadTrail(model.CommitText{SHA: sha, Message: message}, scope)
	}
	got, ok := read(plain, message)
	require.True(t, ok)
	laid.Head = sha
	assert.Equal(t, model.Trace{Marker: laid, Commit: true}, got)
	got, ok = read(signed, signed.Trail("Say hello", laid))
	require.True(t, ok)
	assert.True(t, got.Attested)

	for name, text := range map[string]string{
		"unsigned":                  message,
		"signed with another key":   journal.Codec{Key: []byte("x")}.Trail("Say hello", laid),
		"signed for other feedback": strings.ReplaceAll(signed.Trail("Say hello", laid), ":review:6:", ":review:8:"),
	} {
		_, ok := read(signed, text)
		assert.False(t, ok, name)
	}
	for name, text := range map[string]string{
		"none":              "Say hello",
		"no feedback":       "Say hello\n\nMergeXO-Turn: " + key,
		"no key":            "Say hello\n\nMergeXO-Answers: " + events[0],
		"a short key":       strings.Replace(message, key, key[1:], 1),
		"of another number": strings.ReplaceAll(message, " 7:", " 8:"),
	} {
		_, ok := read(plain, text)
		assert.False(t, ok, name)
	}
}
