// Package modelstub stands in for the models behind Codex and Claude Code, so that tests can run the real programs without a
// network. It speaks as much of OpenAI's /v1/responses and Anthropic's /v1/messages as they need, and answers from a script.
//
// It is as strict as the providers. It answers nobody without its key, calls no tool that was not offered, and wants a tool's
// result with the next request. A violation fails the test.
package modelstub

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
)

// Key is the only key that is answered.
const Key = "sk-stub-0123456789"

// Every answer costs the same, so that what a turn cost can be told from how often the model was asked.
const (
	InputTokens  = 100
	OutputTokens = 20
)

// T is the test that the stub serves.
type T interface {
	Helper()
	Cleanup(func())
	Errorf(format string, args ...any)
}

// Answer is one thing that the model does.
type Answer struct {
	text   string         // what it says
	tool   string         // a call of this tool
	input  any            // its input: a string for one that takes text, else an object
	status int            // an error of the provider, again for every further request
	body   map[string]any // what is sent with it
	refuse bool
	hang   bool
	cut    bool
	last   bool   // the program may end with it: the result of the call need not come back
	first  func() // is called before the answer is given
}

// Say ends a turn with a text.
func Say(text string) Answer { return Answer{text: text} }

// Call asks for a tool; input is a string for one that takes text, else what encodes to a JSON object.
func Call(tool string, input any) Answer { return Answer{tool: tool, input: input} }

// Refuse is a model that will not do it.
func Refuse() Answer { return Answer{refuse: true} }

// Hang begins an answer and does not go on, until whoever asked is gone.
func Hang() Answer { return Answer{hang: true} }

// Cut says a text, and then the connection breaks.
func Cut(text string) Answer { return Answer{text: text, cut: true} }

// Fail is an error of the provider, with its body. As the last answer of a script it is given to all that asks again.
func Fail(status int, body map[string]any) Answer { return Answer{status: status, body: body} }

// After gives the answer once do has returned: what happens while the agent is at work.
func (a Answer) After(do func()) Answer {
	a.first = do
	return a
}

// Stub is a model that is served until the test ends.
type Stub struct {
	*httptest.Server
	t      T
	mu     sync.Mutex
	script []Answer
	asks   []string // bodies of the requests that were answered
	open   string   // id of the call whose result is due
	next   int
	calls  int // over all scripts: an id is not given twice to a session that is continued
}

// New serves a script until the test ends, and holds then that all of it was asked for.
func New(t T, script ...Answer) *Stub {
	t.Helper()
	s := &Stub{t: t, script: script}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(func() {
		s.Close()
		s.Play()
	})
	return s
}

// Play holds that all of the last script was asked for, and begins another one.
func (s *Stub) Play(script ...Answer) {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.next < len(s.script) {
		s.t.Errorf("the model was asked for %d of the %d answers that it had", s.next, len(s.script))
	}
	s.script, s.asks, s.open, s.next = script, nil, "", 0
}

// Forget lets go of what the present script has left to say, for a test that cannot know how far a program comes.
func (s *Stub) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.script = s.script[:min(s.next, len(s.script))]
}

// Asks is how many requests of the present script were answered.
func (s *Stub) Asks() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.asks)
}

// Asked is all that the model was told in the nth request of the present script, from 0.
func (s *Stub) Asked(n int) string {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if n >= len(s.asks) {
		s.t.Errorf("the model got %d requests, not %d", len(s.asks), n+1)
		return ""
	}
	return s.asks[n]
}

func (s *Stub) serve(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return // the program is gone
	}
	var body map[string]any
	messages := r.URL.Path == "/v1/messages"
	if r.Method != http.MethodPost || !messages && r.URL.Path != "/v1/responses" || json.Unmarshal(raw, &body) != nil || body["stream"] != true && !messages {
		s.t.Errorf("the model does not understand %s %s", r.Method, r.URL)
		http.NotFound(w, r)
		return
	}
	if messages && r.Header.Get("X-Api-Key") != Key || !messages && r.Header.Get("Authorization") != "Bearer "+Key {
		send(w, http.StatusUnauthorized, denied(messages))
		return
	}
	a, id := s.take(string(raw), body)
	if a.first != nil {
		a.first()
	}
	switch {
	case a.hang:
		w.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	case a.status != 0:
		w.Header().Set("Retry-After", "7")
		send(w, a.status, a.body)
	case body["stream"] != true: // so Claude Code asks again when a stream broke
		send(w, http.StatusOK, a.whole(id))
	default:
		w.Header().Set("Content-Type", "text/event-stream")
		stream := a.response
		if messages {
			stream = a.message
		}
		stream(events{w}, id)
		if a.cut {
			hangUp(w)
		}
	}
}

// hangUp breaks the connection.
func hangUp(w http.ResponseWriter) {
	control := http.NewResponseController(w)
	_ = control.Flush()
	if conn, _, err := control.Hijack(); err == nil {
		_ = conn.Close()
	}
}

// send answers with an error.
func send(w http.ResponseWriter, status int, body map[string]any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

// take gives the answer to a request, and an id for the call that it may be.
func (s *Stub) take(raw string, body map[string]any) (Answer, string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open != "" && !returned(body, s.open) {
		s.t.Errorf("the result of %s did not come back: %s", s.open, raw)
	}
	s.asks = append(s.asks, raw)
	at := min(s.next, len(s.script)-1)
	if at < 0 || s.next > at && s.script[at].status == 0 {
		s.t.Errorf("the model was asked once more than it has answers: %s", raw)
		return Fail(http.StatusTeapot, nil), ""
	}
	s.next++
	s.calls++
	a, id := s.script[at], fmt.Sprintf("call_%d", s.calls)
	s.open = ""
	if a.tool != "" && !offered(body, a.tool) {
		s.t.Errorf("no tool %s is offered: %s", a.tool, raw)
		return Fail(http.StatusTeapot, nil), ""
	}
	if a.tool != "" && !a.last {
		s.open = id
	}
	return a, id
}

// offered looks for a tool where either protocol lists tools: at the top, or in the input, and there in name spaces.
func offered(in map[string]any, name string) bool {
	for _, key := range []string{"tools", "input"} {
		list, _ := in[key].([]any)
		for _, one := range list {
			if tool, ok := one.(map[string]any); ok && (key == "tools" && tool["name"] == name || offered(tool, name)) {
				return true
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
