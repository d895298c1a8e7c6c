package journal

import (
	"crypto/hmac"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/mergexo/mergexo/internal/model"
)

// The trailers of a turn's last commit.
const (
	trailTurn    = "MergeXO-Turn: "
	trailAnswers = "MergeXO-Answers: "
)

var (
	trailerLine = regexp.MustCompile(`^[A-Za-z0-9-]+: \S`)
	trailLine   = regexp.MustCompile(`(?mi)^[ \t]*mergexo-[a-z]+:.*\n?`)
)

// Trail adds trailers to a commit message that name its turn and what it answers: a backup if the receipt is deleted. With
// a Key nobody else can write them. Existing trailers of that kind are removed.
func (c Codec) Trail(message string, m model.AnswerMarker) string {
	message = strings.TrimSpace(trailLine.ReplaceAllString(message, ""))
	gap := "\n\n"
	if paragraphs := strings.Split(message, "\n\n"); len(paragraphs) > 1 && allTrailers(paragraphs[len(paragraphs)-1]) {
		gap = "\n"
	}
	turn := m.Key
	if len(c.Key) > 0 {
		turn += "." + c.sign("trail", []byte(signedTrail(m)))
	}
	message += gap + trailTurn + turn
	for _, e := range m.Events {
		message += "\n" + trailAnswers + e
	}
	return message
}

func signedTrail(m model.AnswerMarker) string { return Token(append([]string{m.Key}, m.Events...)...) }

func allTrailers(paragraph string) bool {
	for line := range strings.SplitSeq(paragraph, "\n") {
		if !trailerLine.MatchString(line) {
			return false
		}
	}
	return true
}

// ReadTrail reads what Trail added to a commit on pull request number. With a Key only what it signed counts, and is
// attested; without one the trail says nothing of who wrote it.
func (c Codec) ReadTrail(commit model.CommitText, scope Scope) (model.Trace, bool) {
	m := model.AnswerMarker{Repo: scope.Repo.String(), Number: scope.Number, Head: commit.SHA}
	var sig string
	for line := range strings.Lines(commit.Message) {
		line = strings.TrimSpace(line)
		if rest, ok := strings.CutPrefix(line, trailTurn); ok && m.Key == "" {
			m.Key, sig, _ = strings.Cut(rest, ".")
		} else if rest, ok := strings.CutPrefix(line, trailAnswers); ok {
			m.Events = append(m.Events, rest)
		}
	}
	if checkAnswer(&m) != nil {
		return model.Trace{}, false
	}
	signed := len(c.Key) > 0
	if signed && !hmac.Equal([]byte(sig), []byte(c.sign("trail", []byte(signedTrail(m))))) {
		return model.Trace{}, false
	}
	return model.Trace{Marker: m, At: commit.At, Commit: true, Attested: signed}, true
}

func checkAnswer(m *model.AnswerMarker) error {
	if len(m.Key) != 64 || strings.Trim(m.Key, "0123456789abcdef") != "" {
		return fmt.Errorf("%q is no turn's key", m.Key)
	}
	if len(m.Events) == 0 || !isSHA(m.Head) {
		return errors.New("it names no feedback or no head")
	}
	for _, e := range m.Events {
		if !strings.HasPrefix(e, fmt.Sprintf("%d:", m.Number)) {
			return fmt.Errorf("event %q is not of number %d", e, m.Number)
		}
	}
	return nil
}
