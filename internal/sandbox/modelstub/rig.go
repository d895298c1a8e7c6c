package modelstub

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
)

// Rig is what differs between the two programs for somebody who plays their model.
type Rig struct {
	Adapter string // of [agent]
	KeyName string // the variable for the key
	// Args, as extra_args, and Variables, by pass_env, are needed beside what the adapter gets anyway: no further tries
	// after an error, so that a script can be exact.
	Args      []string
	Variables map[string]string
	url       func(stub string) (name, value string)
	edit      func(file, from, to string) []Answer
	run       func(command string) Answer
	done      func(outcome string) Answer
	fail      func(status int, kind, code, message string) Answer
}

// Rigs are all programs.
func Rigs() []Rig { return []Rig{Codex(), Claude()} }

// Codex is OpenAI's.
func Codex() Rig {
	return Rig{
		Adapter: "codex", KeyName: "OPENAI_API_KEY",
		Args: []string{"-c", "model_providers.mergexo.request_max_retries=0", "-c", "model_providers.mergexo.stream_max_retries=0"},
		url:  func(stub string) (string, string) { return "OPENAI_BASE_URL", stub + "/v1" },
		edit: func(file, from, to string) []Answer {
			patch := "*** Begin Patch\n*** Update File: " + file + "\n@@\n-" + from + "\n+" + to + "\n*** End Patch\n"
			return []Answer{Call("exec", "text(await tools.apply_patch("+quote(patch)+"));")}
		},
		run: func(command string) Answer {
			return Call("exec", "text(await tools.exec_command({cmd: "+quote(command)+"}));")
		},
		done: Say,
		fail: func(status int, kind, code, message string) Answer {
			return Fail(status, openAIError(kind, code, message))
		},
	}
}

// Claude is Anthropic's Claude Code.
func Claude() Rig {
	return Rig{
		Adapter: "claude", KeyName: "ANTHROPIC_API_KEY",
		Variables: map[string]string{"CLAUDE_CODE_MAX_RETRIES": "0"},
		url:       func(stub string) (string, string) { return "ANTHROPIC_BASE_URL", stub },
		edit: func(file, from, to string) []Answer {
			return []Answer{
				Call("Read", map[string]any{"file_path": file}),
				Call("Edit", map[string]any{"file_path": file, "old_string": from, "new_string": to}),
			}
		},
		run:  func(command string) Answer { return Call("Bash", map[string]any{"command": command}) },
		done: func(outcome string) Answer { return Call("StructuredOutput", json.RawMessage(outcome)) },
		fail: func(status int, kind, _, message string) Answer { return Fail(status, anthropicError(kind, message)) },
	}
}

// Point gives the variables that make the program ask the stub at this address.
func (r Rig) Point(stub string) map[string]string {
	name, value := r.url(stub)
	out := map[string]string{name: value, r.KeyName: Key}
	for name, value := range r.Variables {
		out[name] = value
	}
	return out
}

// Edit replaces a line of a file by the program's own tools.
func (r Rig) Edit(file, from, to string) []Answer { return r.edit(file, from, to) }

// Run runs a shell command.
func (r Rig) Run(command string) Answer { return r.run(command) }

// Done is the last word, as the program takes structured output; outcome is a JSON object.
func (r Rig) Done(outcome string) Answer {
	a := r.done(outcome)
	a.last = true
	return a
}

// Fail is an error of the program's provider. kind is in both providers' errors, code only in OpenAI's.
func (r Rig) Fail(status int, kind, code, message string) Answer {
	return r.fail(status, kind, code, message)
}

// RateLimit is the provider's rate limit.
func (r Rig) RateLimit() Answer {
	if r.Adapter == "codex" {
		return r.Fail(http.StatusTooManyRequests, "tokens", "rate_limit_exceeded", "Rate limit reached for gpt-x")
	}
	return r.Fail(http.StatusTooManyRequests, "rate_limit_error", "", "This request would exceed your account's rate limit.")
}

// Broken is a provider that fails.
func (r Rig) Broken() Answer {
	if r.Adapter == "codex" {
		return r.Fail(http.StatusInternalServerError, "server_error", "", "The server had an error")
	}
	return r.Fail(http.StatusInternalServerError, "api_error", "", "Internal server error")
}

func quote(text string) string {
	quoted, _ := json.Marshal(text)
	return string(quoted)
}

// Programs is the directory of the real programs: `scripts/tools codex claude` puts them there.
func Programs(t T) string {
	t.Helper()
	dir, err := os.Getwd() // of a test: its package
	if err != nil {
		t.Errorf("find programs: %v", err)
		return ""
	}
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
	}
	dir = filepath.Join(dir, ".cache", "tools")
	for _, r := range Rigs() {
		if _, err := os.Stat(filepath.Join(dir, r.Adapter)); err != nil {
			t.Errorf("%s is not installed: run scripts/tools codex claude", r.Adapter)
		}
	}
	return dir
}
