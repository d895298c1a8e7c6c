package modelstub_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/must"
	"github.com/mergexo/mergexo/internal/sandbox/modelstub"
)

// tester is a test that notes what went wrong.
type tester struct {
	*testing.T
	wrong []string
	ends  []func()
}

func (t *tester) Cleanup(f func()) { t.ends = append(t.ends, f) }

func (t *tester) Errorf(format string, args ...any) {
	t.wrong = append(t.wrong, fmt.Sprintf(format, args...))
}

func (t *tester) end() {
	for _, f := range t.ends {
		f()
	}
}

// post asks the stub as a program does.
func post(t *testing.T, s *modelstub.Stub, path, key, body string) (int, string) {
	t.Helper()
	req := must.Get(http.NewRequestWithContext(context.Background(), http.MethodPost, s.URL+path, strings.NewReader(body)))(t)
	if path == "/v1/messages" {
		req.Header.Set("X-Api-Key", key)
	} else {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	resp := must.Get(http.DefaultClient.Do(req))(t)
	defer resp.Body.Close()
	return resp.StatusCode, string(must.Get(io.ReadAll(resp.Body))(t))
}

const (
	offers   = `{"stream": true, "tools": [{"name": "Bash"}]}`
	nested   = `{"stream": true, "input": [{"type": "tools", "tools": [{"name": "Bash"}]}]}`
	silent   = `{"stream": true}`
	messages = `{"stream": true, "messages": [{"content": [{"type": "tool_result", "tool_use_id": "call_1"}]}]}`
	input    = `{"stream": true, "input": [{"type": "function_call_output", "call_id": "call_1"}]}`
)

func TestAModelThatIsAskedRightlySaysWhatItsScriptSays(t *testing.T) {
	t.Parallel()
	for path, body := range map[string][2]string{"/v1/messages": {offers, messages}, "/v1/responses": {nested, input}} {
		of := &tester{T: t}
		did := false
		s := modelstub.New(of, modelstub.Call("Bash", map[string]any{"command": "ls"}).After(func() { did = true }), modelstub.Say("Done."))
		status, out := post(t, s, path, modelstub.Key, body[0])
		assert.Equal(t, 200, status)
		assert.Contains(t, out, `{\"command\":\"ls\"}`)
		assert.True(t, did)
		_, out = post(t, s, path, modelstub.Key, body[1])
		assert.Contains(t, out, "Done.")
		assert.Equal(t, 2, s.Asks())
		assert.Equal(t, body[1], s.Asked(1))
		of.end()
		assert.Empty(t, of.wrong)
	}
}

func TestAModelThatIsAskedWronglyFailsTheTest(t *testing.T) {
	t.Parallel()
	call := modelstub.Call("Bash", map[string]any{})
	for name, c := range map[string]struct {
		script []modelstub.Answer
		asks   []string
		want   string
	}{
		"nobody asks":         {script: []modelstub.Answer{call}, want: "the model was asked for 0 of the 1 answers that it had"},
		"asked too often":     {asks: []string{silent}, want: "the model was asked once more than it has answers"},
		"a tool not offered":  {script: []modelstub.Answer{call}, asks: []string{silent}, want: "no tool Bash is offered"},
		"a result is missing": {script: []modelstub.Answer{call, modelstub.Say("x")}, asks: []string{offers, silent}, want: "the result of call_1 did not come back"},
		"another result":      {script: []modelstub.Answer{call, modelstub.Say("x")}, asks: []string{offers, strings.ReplaceAll(messages, "call_1", "call_2")}, want: "the result of call_1 did not come back"},
		"not JSON":            {asks: []string{`{`}, want: "the model does not understand POST /v1/messages"},
		"asked again":         {script: []modelstub.Answer{modelstub.Say("x")}, asks: []string{silent, silent}, want: "the model was asked once more than it has answers"},
	} {
		of := &tester{T: t}
		s := modelstub.New(of, c.script...)
		for _, body := range c.asks {
			post(t, s, "/v1/messages", modelstub.Key, body)
		}
		of.end()
		require.Len(t, of.wrong, 1, name)
		assert.Contains(t, of.wrong[0], c.want, name)
	}
}

func TestWithoutTheKeyNobodyIsAnswered(t *testing.T) {
	t.Parallel()
	s := modelstub.New(t)
	for path, kind := range map[string]string{"/v1/messages": "authentication_error", "/v1/responses": "invalid_api_key"} {
		for _, key := range []string{"", "sk-wrong"} {
			status, out := post(t, s, path, key, offers)
			assert.Equal(t, 401, status)
			assert.Contains(t, out, kind)
		}
	}
}

func TestAFailureIsGivenToEverybodyWhoAsksAgain(t *testing.T) {
	t.Parallel()
	for _, r := range modelstub.Rigs() {
		s := modelstub.New(t, r.RateLimit())
		path := map[string]string{"codex": "/v1/responses", "claude": "/v1/messages"}[r.Adapter]
		for range 3 {
			status, out := post(t, s, path, modelstub.Key, silent)
			assert.Equal(t, 429, status)
			assert.Contains(t, out, "rate")
		}
	}
}

func TestAnAnswerWithoutAStreamIsTheSame(t *testing.T) {
	t.Parallel()
	s := modelstub.New(t, modelstub.Cut("Half"), modelstub.Call("Bash", map[string]any{"command": "ls"}), modelstub.Say("Done."))
	req := must.Get(http.NewRequestWithContext(context.Background(), http.MethodPost, s.URL+"/v1/messages", strings.NewReader(offers)))(t)
	req.Header.Set("X-Api-Key", modelstub.Key)
	resp := must.Get(http.DefaultClient.Do(req))(t)
	defer resp.Body.Close()
	out, err := io.ReadAll(resp.Body)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	assert.Contains(t, string(out), "Half")

	whole := `{"tools": [{"name": "Bash"}]}`
	_, text := post(t, s, "/v1/messages", modelstub.Key, whole)
	assert.Contains(t, text, `"input":{"command":"ls"}`)
	assert.Contains(t, text, `"stop_reason":"tool_use"`)
	_, text = post(t, s, "/v1/messages", modelstub.Key, strings.NewReplacer(`"stream": true, `, "", "call_1", "call_2").Replace(messages))
	assert.Contains(t, text, `"text":"Done."`)
	assert.Contains(t, text, `"stop_reason":"end_turn"`)
}

func TestAScriptThatIsForgottenNeedNotBeHeardToItsEnd(t *testing.T) {
	t.Parallel()
	of := &tester{T: t}
	s := modelstub.New(of, modelstub.Say("One."), modelstub.Say("Two."))
	post(t, s, "/v1/messages", modelstub.Key, silent)
	s.Forget()
	s.Play(modelstub.Say("Three."))
	_, out := post(t, s, "/v1/messages", modelstub.Key, silent)
	assert.Contains(t, out, "Three.")
	of.end()
	assert.Empty(t, of.wrong)
}
