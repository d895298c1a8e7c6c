package modelproxy

import (
	"bytes"
	"encoding/json"
	"io"
	"mime"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/model"
)

// maxEvent bounds what is kept of an answer to find in it what was used: one event of a stream, or the whole of one that
// is no stream. OpenAI's last event has everything in it that was said.
const maxEvent = 4 << 20

// sane is more than any answer uses. A number above it is no count.
const sane = 1 << 40

// counted reads an answer and tells, once, what it says was used.
type counted struct {
	io.ReadCloser
	meter *meter
	tell  func(*meter)
}

func (c *counted) Read(b []byte) (int, error) {
	n, err := c.ReadCloser.Read(b)
	c.meter.take(b[:n])
	return n, err //nolint:wrapcheck // io.EOF among others
}

func (c *counted) Close() error {
	c.meter.line()
	c.tell(c.meter)
	c.meter = &meter{lost: true, whole: true}
	return c.ReadCloser.Close() //nolint:wrapcheck // as it comes
}

// add counts one answer.
func (p *Proxy) add(one *meter) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.used.InputTokens += one.used.InputTokens
	p.used.OutputTokens += one.used.OutputTokens
	p.limited = p.limited || one.limited
}

// meter looks for what was used in an answer that goes by.
type meter struct {
	whole bool // it is one JSON text, no stream
	part  []byte
	lost  bool // part got too long and is left out
	used  model.Usage
	// limited says that an answer which had begun ended at a limit.
	limited bool
}

func newMeter(contentType string) *meter {
	kind, _, _ := mime.ParseMediaType(contentType)
	return &meter{whole: kind != "text/event-stream"}
}

func (m *meter) take(text []byte) {
	for len(text) > 0 {
		line, end := text, -1
		if !m.whole {
			if end = bytes.IndexAny(text, "\r\n"); end >= 0 {
				line = text[:end]
			}
		}
		if m.lost = m.lost || len(m.part)+len(line) > maxEvent; m.lost {
			m.part = nil
		} else {
			m.part = append(m.part, line...)
		}
		if end < 0 {
			return
		}
		m.line()
		text = text[end+1:]
	}
}

// line reads what was taken since the last one. Both providers write an event's data in one line, as a JSON text has to
// be that is not written for people.
func (m *meter) line() {
	text := m.part
	if !m.whole {
		text, _ = bytes.CutPrefix(text, []byte("data:"))
	}
	m.note(text)
	m.part, m.lost = m.part[:0], false
}

// usage is what both providers call their counts. What Anthropic has read from its cache or written to it is no part of
// its input_tokens, what OpenAI has read from there is.
type usage struct {
	Input   int64 `json:"input_tokens"`
	Written int64 `json:"cache_creation_input_tokens"`
	Cached  int64 `json:"cache_read_input_tokens"`
	Output  int64 `json:"output_tokens"`
}

// note takes up what an event says. The events of one answer count from its beginning.
func (m *meter) note(text []byte) {
	m.limited = m.limited || bytes.Contains(text, []byte(`"error"`)) && refusedForLimit(text)
	if !bytes.Contains(text, []byte(`"usage"`)) { // inside a string the quotes would be escaped
		return
	}
	var event struct {
		Usage    usage                 // of an answer that is no stream, and of message_delta
		Message  struct{ Usage usage } // of message_start
		Response struct{ Usage usage } // of response.completed, .incomplete and .failed
	}
	if json.Unmarshal(text, &event) != nil {
		return
	}
	for _, one := range []usage{event.Usage, event.Message.Usage, event.Response.Usage} {
		if !one.sane() {
			continue
		}
		m.used.InputTokens = max(m.used.InputTokens, one.Input+one.Written+one.Cached)
		m.used.OutputTokens = max(m.used.OutputTokens, one.Output)
	}
}

// What both providers call the errors that only time or money helps against, and how Anthropic's begin that have no name of their own
// (https://docs.claude.com/en/api/errors, https://platform.openai.com/docs/guides/error-codes). Whatever else a message says may be
// quoted from the request.
var (
	limitNames = []string{"rate_limit", "quota", "usage_limit", "overloaded", "slow_down", "billing"}
	limitWords = []string{"your credit balance is too low", "you have reached your specified api usage limits"}
)

// refusedForLimit reads an error: the body of an answer, or an event of one that had begun.
func refusedForLimit(text []byte) bool {
	type failure struct{ Type, Code, Message string }
	var said struct {
		failure  // an event of OpenAI's
		Error    failure
		Response struct{ Error failure }
	}
	if json.Unmarshal(text, &said) != nil {
		return false
	}
	for _, one := range []failure{{Code: said.Code}, said.Error, said.Response.Error} {
		names := strings.ToLower(one.Type + " " + one.Code)
		begins := func(words string) bool { return strings.HasPrefix(strings.ToLower(one.Message), words) }
		if slices.ContainsFunc(limitNames, func(name string) bool { return strings.Contains(names, name) }) || slices.ContainsFunc(limitWords, begins) {
			return true
		}
	}
	return false
}

func (u usage) sane() bool {
	return !slices.ContainsFunc([]int64{u.Input, u.Written, u.Cached, u.Output}, func(n int64) bool { return n < 0 || n > sane })
}
