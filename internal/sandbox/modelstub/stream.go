package modelstub

import (
	"encoding/json"
	"fmt"
	"io"
)

// events writes server-sent events.
type events struct{ to io.Writer }

func (e events) send(kind string, data map[string]any) {
	data["type"] = kind
	text, _ := json.Marshal(data)
	_, _ = fmt.Fprintf(e.to, "event: %s\ndata: %s\n\n", kind, text)
}

// cached is the part of the input that was read from the provider's cache.
const cached = 40

const refusal = "I cannot help with that."

// response is an answer as the Responses API streams it.
// https://platform.openai.com/docs/api-reference/responses-streaming
func (a Answer) response(out events, id string) {
	out.send("response.created", map[string]any{"response": map[string]any{"id": "resp_" + id}})
	item := map[string]any{"type": "message", "role": "assistant", "content": []any{map[string]any{"type": "output_text", "text": a.text}}}
	if a.refuse {
		item["content"] = []any{map[string]any{"type": "refusal", "refusal": refusal}}
	}
	if text, ok := a.input.(string); ok {
		item = map[string]any{"type": "custom_tool_call", "call_id": id, "name": a.tool, "input": text}
	} else if a.tool != "" {
		input, _ := json.Marshal(a.input)
		item = map[string]any{"type": "function_call", "call_id": id, "name": a.tool, "arguments": string(input)}
	}
	if a.cut {
		out.send("response.output_item.added", map[string]any{"item": map[string]any{"type": "message", "id": "item_" + id, "role": "assistant", "content": []any{}}})
		out.send("response.output_text.delta", map[string]any{"item_id": "item_" + id, "delta": a.text})
		return
	}
	out.send("response.output_item.done", map[string]any{"item": item})
	out.send("response.completed", map[string]any{"response": map[string]any{"id": "resp_" + id, "usage": map[string]any{
		"input_tokens": InputTokens, "input_tokens_details": map[string]any{"cached_tokens": cached},
		"output_tokens": OutputTokens, "output_tokens_details": map[string]any{"reasoning_tokens": 0}, "total_tokens": InputTokens + OutputTokens,
	}}})
}

// message is an answer as the Messages API streams it.
// https://docs.claude.com/en/docs/build-with-claude/streaming
func (a Answer) message(out events, id string) {
	start := a.whole(id)
	start["content"], start["stop_reason"] = []any{}, nil
	out.send("message_start", map[string]any{"message": start})
	block, delta := map[string]any{"type": "text", "text": ""}, map[string]any{"type": "text_delta", "text": a.said()}
	if a.tool != "" {
		input, _ := json.Marshal(a.input)
		block = map[string]any{"type": "tool_use", "id": id, "name": a.tool, "input": map[string]any{}}
		delta = map[string]any{"type": "input_json_delta", "partial_json": string(input)}
	}
	out.send("content_block_start", map[string]any{"index": 0, "content_block": block})
	out.send("content_block_delta", map[string]any{"index": 0, "delta": delta})
	if a.cut {
		return
	}
	out.send("content_block_stop", map[string]any{"index": 0})
	out.send("message_delta", map[string]any{"delta": map[string]any{"stop_reason": a.stop(), "stop_sequence": nil}, "usage": map[string]any{"output_tokens": OutputTokens}})
	out.send("message_stop", map[string]any{})
}

// whole is an answer as the Messages API gives it to those who want no stream.
func (a Answer) whole(id string) map[string]any {
	block := map[string]any{"type": "text", "text": a.said()}
	if a.tool != "" {
		block = map[string]any{"type": "tool_use", "id": id, "name": a.tool, "input": a.input}
	}
	return map[string]any{
		"id": "msg_" + id, "type": "message", "role": "assistant", "model": "claude-stub", "content": []any{block}, "stop_reason": a.stop(), "stop_sequence": nil,
		"usage": map[string]any{"input_tokens": InputTokens - cached, "cache_read_input_tokens": cached, "cache_creation_input_tokens": 0, "output_tokens": OutputTokens},
	}
}

// said is the text of an answer.
func (a Answer) said() string {
	if a.refuse {
		return refusal
	}
	return a.text
}

// stop is why an answer ends.
func (a Answer) stop() string {
	switch {
	case a.tool != "":
		return "tool_use"
	case a.refuse:
		return "refusal"
	}
	return "end_turn"
}

// The errors of both providers.
// https://platform.openai.com/docs/guides/error-codes
// https://docs.claude.com/en/api/errors

func openAIError(kind, code, message string) map[string]any {
	return map[string]any{"error": map[string]any{"message": message, "type": kind, "code": code}}
}

func anthropicError(kind, message string) map[string]any {
	return map[string]any{"type": "error", "error": map[string]any{"type": kind, "message": message}}
}

// denied is what a wrong key gets.
func denied(messages bool) map[string]any {
	if messages {
		return anthropicError("authentication_error", "invalid x-api-key")
	}
	return openAIError("invalid_request_error", "invalid_api_key", "Incorrect API key provided.")
}
