package agent_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
)

// stub is a model behind two addresses, OpenAI's /v1/responses and Anthropic's /v1/messages, that answers what its
// script says, in order. It is as strict as they are: without its key nobody is answered, a tool that was not offered is
// not called, and what a tool gave has to come back with the next request.
type stub struct {
	*httptest.Server
	t      *testing.T
	mu     sync.Mutex
	script []answer
	asks   []string // bodies of the requests that were answered
	open   string   // id of the call whose result is due
	next   int
}

const stubKey = "sk-stub-0123456789"

// answer is one thing that the model does.
type answer struct {
	say    string         // text
	tool   string         // a call of this tool
	input  any            // its input: a string for one that takes text, else an object
	status int            // an error of the provider, again for every further request
	body   map[string]any // what is sent with it
	header map[string]string
	refuse bool
	hang   bool
}

func say(text string) answer             { return answer{say: text} }
func call(tool string, input any) answer { return answer{tool: tool, input: input} }
func refuse() answer                     { return answer{refuse: true} }
func hang() answer                       { return answer{hang: true} }
func fail(status int, body string) answer {
	a := answer{status: status, body: map[string]any{}, header: map[string]string{"Retry-After": "7"}}
	_ = json.Unmarshal([]byte(body), &a.body)
	return a
}

// newStub serves a script until the test ends.
func newStub(t *testing.T, script ...answer) *stub {
	t.Helper()
	s := &stub{t: t, script: script}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(func() {
		s.Close()
		s.play()
	})
	return s
}

// play holds that all of the last script was asked for, and begins another one.
func (s *stub) play(script ...answer) {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	assert.GreaterOrEqual(s.t, s.next, len(s.script), "the model was not asked for all that it had to say")
	s.script, s.asks, s.open, s.next = script, nil, "", 0
}

// asked is all that the model was told in its nth request, from 0.
func (s *stub) asked(n int) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n >= len(s.asks) {
		s.t.Errorf("the model got %d requests, not %d", len(s.asks), n+1)
		return ""
	}
	return s.asks[n]
}

func (s *stub) serve(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return // the program is gone
	}
	var body map[string]any
	messages := r.URL.Path == "/v1/messages"
	if r.Method != http.MethodPost || !messages && r.URL.Path != "/v1/responses" || json.Unmarshal(raw, &body) != nil || body["stream"] != true {
		s.t.Errorf("the model does not understand %s %s", r.Method, r.URL)
		http.NotFound(w, r)
		return
	}
	if r.Header.Get("Authorization") != "Bearer "+stubKey && r.Header.Get("X-Api-Key") != stubKey {
		deny(w, messages)
		return
	}
	a, id := s.take(string(raw), body)
	switch {
	case a.hang:
		w.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	case a.status != 0:
		for name, value := range a.header {
			w.Header().Set(name, value)
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(a.status)
		_ = json.NewEncoder(w).Encode(a.body)
	case messages:
		w.Header().Set("Content-Type", "text/event-stream")
		a.message(events{w}, id)
	default:
		w.Header().Set("Content-Type", "text/event-stream")
		a.response(events{w}, id)
	}
}

// deny is what a wrong key gets.
func deny(w http.ResponseWriter, messages bool) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusUnauthorized)
	if messages {
		_, _ = io.WriteString(w, `{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}`)
		return
	}
	_, _ = io.WriteString(w, `{"error":{"message":"Incorrect API key provided.","type":"invalid_request_error","code":"invalid_api_key"}}`)
}

// take gives the answer to a request, and an id for the call that it may be.
func (s *stub) take(raw string, body map[string]any) (answer, string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open != "" && !returned(body, s.open) {
		s.t.Errorf("the result of %s did not come back: %s", s.open, raw)
	}
	s.asks = append(s.asks, raw)
	at := min(s.next, len(s.script)-1)
	if at < 0 || s.next > at && s.script[at].status == 0 {
		s.t.Errorf("the model was asked once more than it has answers: %s", raw)
		return fail(http.StatusTeapot, `{}`), ""
	}
	s.next++
	a, id := s.script[at], fmt.Sprintf("call_%d", at)
	s.open = ""
	if a.tool != "" {
		s.open = id
		if !offered(body, a.tool) {
			s.t.Errorf("no tool %s is offered: %s", a.tool, raw)
		}
	}
	return a, id
}

// offered looks for a tool where either protocol lists tools: at the top, or in the input, and there in name spaces.
func offered(in any, name string) bool {
	switch in := in.(type) {
	case map[string]any:
		for _, key := range []string{"tools", "input"} {
			if list, ok := in[key].([]any); ok {
				for _, one := range list {
					if tool, ok := one.(map[string]any); ok && (key == "tools" && tool["name"] == name || offered(tool, name)) {
						return true
					}
				}
			}
		}
	}
	return false
}

// returned looks for the result of a call: an item of the input, or a block in the content of a message.
func returned(body map[string]any, id string) bool {
	var found func(list any) bool
	found = func(list any) bool {
		items, _ := list.([]any)
		for _, one := range items {
			item, _ := one.(map[string]any)
			kind, _ := item["type"].(string)
			if kind == "tool_result" && item["tool_use_id"] == id || strings.HasSuffix(kind, "_output") && item["call_id"] == id || found(item["content"]) {
				return true
			}
		}
		return false
	}
	return found(body["input"]) || found(body["messages"])
}

// events writes server-sent events.
type events struct{ to io.Writer }

func (e events) send(kind string, data map[string]any) {
	data["type"] = kind
	text, _ := json.Marshal(data)
	_, _ = fmt.Fprintf(e.to, "event: %s\ndata: %s\n\n", kind, text)
}

// Every answer costs the same, so that what a turn cost can be told from how often the model was asked.
const stubInput, stubOutput = 100, 20

// response is an answer as the Responses API streams it.
// https://platform.openai.com/docs/api-reference/responses-streaming
func (a answer) response(out events, id string) {
	out.send("response.created", map[string]any{"response": map[string]any{"id": "resp_" + id}})
	item := map[string]any{"type": "message", "role": "assistant", "content": []any{map[string]any{"type": "output_text", "text": a.say}}}
	if a.refuse {
		item["content"] = []any{map[string]any{"type": "refusal", "refusal": "I cannot help with that."}}
	}
	if text, ok := a.input.(string); ok {
		item = map[string]any{"type": "custom_tool_call", "call_id": id, "name": a.tool, "input": text}
	} else if a.tool != "" {
		input, _ := json.Marshal(a.input)
		item = map[string]any{"type": "function_call", "call_id": id, "name": a.tool, "arguments": string(input)}
	}
	out.send("response.output_item.done", map[string]any{"item": item})
	out.send("response.completed", map[string]any{"response": map[string]any{"id": "resp_" + id, "usage": map[string]any{
		"input_tokens": stubInput, "input_tokens_details": map[string]any{"cached_tokens": 40},
		"output_tokens": stubOutput, "output_tokens_details": map[string]any{"reasoning_tokens": 0}, "total_tokens": stubInput + stubOutput,
	}}})
}

// message is an answer as the Messages API streams it.
// https://docs.claude.com/en/docs/build-with-claude/streaming
func (a answer) message(out events, id string) {
	out.send("message_start", map[string]any{"message": map[string]any{
		"id": "msg_" + id, "type": "message", "role": "assistant", "model": "claude-stub", "content": []any{}, "stop_reason": nil, "stop_sequence": nil,
		"usage": map[string]any{"input_tokens": stubInput - 40, "cache_read_input_tokens": 40, "cache_creation_input_tokens": 0, "output_tokens": 1},
	}})
	block, delta, stop := map[string]any{"type": "text", "text": ""}, map[string]any{"type": "text_delta", "text": a.say}, "end_turn"
	if a.refuse {
		delta["text"], stop = "I cannot help with that.", "refusal"
	}
	if a.tool != "" {
		input, _ := json.Marshal(a.input)
		block, stop = map[string]any{"type": "tool_use", "id": id, "name": a.tool, "input": map[string]any{}}, "tool_use"
		delta = map[string]any{"type": "input_json_delta", "partial_json": string(input)}
	}
	out.send("content_block_start", map[string]any{"index": 0, "content_block": block})
	out.send("content_block_delta", map[string]any{"index": 0, "delta": delta})
	out.send("content_block_stop", map[string]any{"index": 0})
	out.send("message_delta", map[string]any{"delta": map[string]any{"stop_reason": stop, "stop_sequence": nil}, "usage": map[string]any{"output_tokens": stubOutput}})
	out.send("message_stop", map[string]any{})
}
