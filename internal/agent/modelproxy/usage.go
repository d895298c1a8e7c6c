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
	if bytes.Contains(text, []byte(`"error"`)) && speaksOfLimit(text) {
		var event struct{ Type string }
		m.limited = m.limited || json.Unmarshal(text, &event) == nil && (event.Type == "error" || event.Type == "response.failed")
	}
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

// limits are the words for it in the errors of both providers, whatever status these have.
var limits = []string{"rate limit", "rate_limit", "quota", "usage limit", "usage_limit", "at capacity", "overloaded", "credit balance", "out of credits"}

func speaksOfLimit(text []byte) bool {
	lower := strings.ToLower(string(text))
	return slices.ContainsFunc(limits, func(word string) bool { return strings.Contains(lower, word) })
}

func (u usage) sane() bool {
	for _, n := range []int64{u.Input, u.Written, u.Cached, u.Output} {
		if n < 0 || n > sane {
			return false
		}
	}
	return true
}
