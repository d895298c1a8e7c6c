package modelproxy_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/agent/modelproxy"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
)

const openAIStream = `event: response.created
data: {"type":"response.created","response":{"id":"r","usage":null}}

event: response.output_text.delta
data: {"type":"response.output_text.delta","delta":"{\"usage\":{\"input_tokens\":9999}}"}

event: response.completed
data: {"type":"response.completed","response":{"id":"r","usage":{"input_tokens":100,"input_tokens_details":{"cached_tokens":40},"output_tokens":20,"total_tokens":120}}}

`

const anthropicStream = `event: message_start
data: {"type":"message_start","message":{"usage":{"input_tokens":10,"cache_creation_input_tokens":30,"cache_read_input_tokens":60,"output_tokens":1}}}

event: content_block_delta
data: {"type":"content_block_delta","delta":{"text":"\"usage\""}}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":20}}

`

func TestWhatWasUsedIsCounted(t *testing.T) {
	t.Parallel()
	sse, whole := "text/event-stream; charset=utf-8", "application/json"
	type row struct {
		of            modelproxy.Provider
		path          string
		kind          string
		status        int
		body          string
		input, output int64
	}
	must.Each(t, map[string]row{
		"OpenAI's stream":         {modelproxy.OpenAI, "/responses", sse, 200, openAIStream, 100, 20},
		"without the last line":   {modelproxy.OpenAI, "/responses", sse, 200, strings.TrimSpace(openAIStream), 100, 20},
		"carriage returns":        {modelproxy.OpenAI, "/responses", sse, 200, strings.ReplaceAll(openAIStream, "\n", "\r\n"), 100, 20},
		"one that was cut short":  {modelproxy.OpenAI, "/responses", sse, 200, strings.ReplaceAll(openAIStream, "completed", "incomplete"), 100, 20},
		"OpenAI's text":           {modelproxy.OpenAI, "/responses", whole, 200, `{"usage": {"input_tokens": 7, "output_tokens": 3}}`, 7, 3},
		"Anthropic's stream":      {modelproxy.Anthropic, "/v1/messages", sse, 200, anthropicStream, 100, 20},
		"its beginning":           {modelproxy.Anthropic, "/v1/messages", sse, 200, anthropicStream[:200], 100, 1},
		"Anthropic's text":        {modelproxy.Anthropic, "/v1/messages", whole, 200, `{"content": [{"text": "\"usage\""}], "usage": {"input_tokens": 1, "cache_read_input_tokens": 6, "output_tokens": 3}}`, 7, 3},
		"only counted beforehand": {modelproxy.Anthropic, "/v1/messages/count_tokens", whole, 200, `{"input_tokens": 77}`, 0, 0},
		"an error":                {modelproxy.Anthropic, "/v1/messages", whole, 429, `{"usage": {"input_tokens": 7}}`, 0, 0},
		"no JSON":                 {modelproxy.Anthropic, "/v1/messages", whole, 200, `{"usage": {"input_tokens": 7}`, 0, 0},
		"numbers that are none":   {modelproxy.Anthropic, "/v1/messages", whole, 200, `{"usage": {"input_tokens": -7, "output_tokens": 9223372036854775807}}`, 0, 0},
		"not even numbers":        {modelproxy.OpenAI, "/responses", sse, 200, "data: {\"usage\": {\"input_tokens\": \"many\"}}\n\n" + openAIStream, 100, 20},
		"behind a huge event":     {modelproxy.OpenAI, "/responses", sse, 200, `data: {"delta": "` + strings.Repeat("x", 5<<20) + "\"}\n\n" + openAIStream, 100, 20},
		"in a huge event":         {modelproxy.OpenAI, "/responses", sse, 200, `data: {"usage": {"input_tokens": 7}, "x": "` + strings.Repeat("x", 5<<20) + "\"}\n\n", 0, 0},
	}, func(t *testing.T, c row) {
		t.Parallel()
		s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", c.kind)
			w.WriteHeader(c.status)
			_, _ = io.WriteString(w, c.body)
		})
		p, _ := start(t, c.of, s.URL)
		for range 2 {
			assert.Equal(t, c.body, text(t, post(t, p, "POST", c.path, p.Secret, strings.NewReader("{}"))), "nothing of it is changed")
		}
		assert.Equal(t, model.Usage{InputTokens: 2 * c.input, OutputTokens: 2 * c.output}, p.End())
	})
}

// What a program says of a limit counts only where its provider has said so.
func TestALimitIsKnownByTheProvidersWord(t *testing.T) {
	t.Parallel()
	sse, whole := "text/event-stream", "application/json"
	type row struct {
		kind    string
		status  int
		body    string
		limited bool
	}
	must.Each(t, map[string]row{
		"too many requests":  {whole, 429, `{}`, true},
		"payment":            {whole, 402, `{}`, true},
		"overloaded":         {whole, 529, `{}`, true},
		"no credit":          {whole, 400, `{"error": {"message": "Your credit balance is too low"}}`, true},
		"in a stream":        {sse, 200, "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\"}}\n\n", true},
		"OpenAI's stream":    {sse, 200, "data: {\"type\":\"response.failed\",\"response\":{\"error\":{\"code\":\"rate_limit_exceeded\"}}}\n\n", true},
		"OpenAI's own event": {sse, 200, "data: {\"type\":\"error\",\"code\":\"slow_down\",\"error\":null}\n\n", true},
		"a name quoted back": {whole, 404, `{"type": "error", "error": {"type": "not_found_error", "message": "model: rate_limit"}}`, false},
		"an answer about it": {sse, 200, "data: {\"type\":\"response.completed\",\"response\":{\"error\":null,\"text\":\"the \\\"error\\\" is a rate limit\"}}\n\n", false},
		"another error":      {whole, 400, `{"error": {"message": "messages: too many"}}`, false},
		"a failure":          {whole, 500, `{"error": {}}`, false},
		"an answer":          {sse, 200, anthropicStream, false},
	}, func(t *testing.T, c row) {
		t.Parallel()
		s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", c.kind)
			w.WriteHeader(c.status)
			_, _ = io.WriteString(w, c.body)
		})
		p, _ := start(t, modelproxy.Anthropic, s.URL)
		text(t, post(t, p, "POST", "/v1/messages", p.Secret, strings.NewReader("{}")))
		p.End()
		assert.Equal(t, c.limited, p.Limited())
	})
}
