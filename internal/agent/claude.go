package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/agent/modelproxy"
	"github.com/mergexo/mergexo/internal/model"
)

// claude is Anthropic's Claude Code, `claude --print --bare`. It edits and runs what it likes, as the user that MergeXO runs it
// as, without asking. No file of the checkout configures it: --bare skips CLAUDE.md, hooks and plugins, but not
// .claude/settings.json, which could send the key to another address, so it reads no settings at all.
type claude struct{ program }

var claudeRelease = release{name: "claude", pkg: "@anthropic-ai/claude-code", version: "2.1.329"}

// claudeTranscripts: Claude Code files by the path of the checkout, which is another one on another runner. It looks there first
// and then in every other directory, whatever its name. What it lays beside a transcript, long outputs of commands, is left out:
// the transcript names them by a path that is gone with the run.
var claudeTranscripts = layout{`.+/ID\.jsonl`, func(at string) string { return "mergexo/" + path.Base(at) }}

// anthropic sends both headers, as Claude Code does: a gateway may want one and the server behind it the other.
var anthropic = access{
	provider: modelproxy.Anthropic, base: "ANTHROPIC_BASE_URL", keys: []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"},
	elsewhere: regexp.MustCompile(`^CLAUDE_CODE_USE_[A-Z]+=.`),
	headers:   map[string]string{"ANTHROPIC_API_KEY": "X-Api-Key", "ANTHROPIC_AUTH_TOKEN": "Authorization"},
}

func newClaude(opt Options) (Agent, error) {
	return &claude{program: program{release: claudeRelease, opt: opt}}, nil
}

// claudeFlags are the flags of `claude`.
var claudeFlags = flags{
	program: "claude",
	free: map[string]bool{
		"--append-system-prompt": true, "--autocompact": true, "--betas": true, "--disallowedTools": true, "--disallowed-tools": true, "--effort": true,
		"--exclude-dynamic-system-prompt-sections": false, "--fallback-model": true, "--max-budget-usd": true, "--system-prompt": true,
	},
	ours: map[string]string{
		"--model": oursModel, "--agent": oursCheckup, "--agents": oursCheckup, "--file": oursCheckup, "--mcp-config": oursCheckup, "--plugin-dir": oursCheckup,
		"--plugin-url": oursCheckup, "--setting-sources": oursCheckup, "--settings": oursCheckup, "--strict-mcp-config": oursAlways, "--bare": oursAlways,
		"--disable-slash-commands": oursAlways, "--safe-mode": oursCheckup,
		"--allow-dangerously-skip-permissions": oursSandbox, "--dangerously-skip-permissions": oursSandbox, "--allowedTools": oursSandbox,
		"--allowed-tools": oursSandbox, "--permission-mode": oursSandbox, "--permission-prompts": oursSandbox, "--restricted": oursSandbox,
		"--tools": oursSandbox, "--brief": oursSandbox, "--chrome": oursSandbox, "--no-chrome": oursSandbox, "--ide": oursSandbox, "--remote-control": oursSandbox,
		"--remote-control-session-name-prefix": oursSandbox,
		"--add-dir":                            oursPlace, "-w": oursPlace, "--worktree": oursPlace, "--tmux": oursPlace, "--cloud": oursPlace, "--environment": oursPlace,
		"--desktop": oursPlace, "--bg": oursPlace, "--background": oursPlace,
		"-c": oursSession, "--continue": oursSession, "-r": oursSession, "--resume": oursSession, "--session-id": oursSession, "--fork-session": oursSession,
		"--from-pr": oursSession, "--no-session-persistence": oursSession, "-n": oursSession, "--name": oursSession, "--teleport": oursSession,
		"--system-prompt-snapshot": oursSession,
		"-p":                       oursAlways, "--print": oursAlways, "--output-format": oursCall, "--input-format": oursCall, "--json-schema": oursAlways, "--verbose": oursCall,
		"--include-hook-events": oursCall, "--include-partial-messages": oursCall, "--forward-subagent-text": oursCall, "--prompt-suggestions": oursCall,
		"--replay-user-messages": oursCall, "--ax-screen-reader": oursCall, "-d": oursCall, "--debug": oursCall, "--debug-file": oursCall,
		"-h": oursCall, "--help": oursCall, "-v": oursCall, "--version": oursCall,
	},
}

// Run asks Claude Code once, in a new session or a resumed one.
func (a *claude) Run(ctx context.Context, dir string, req model.Request) (out model.Outcome, err error) {
	from, err := a.open(req, "projects")
	if err != nil {
		return model.Outcome{}, err
	}
	before, to := from.session, from.link
	defer to.End()
	opt := a.opt
	if opt.Env, err = a.environment(from.place, to); err != nil {
		return model.Outcome{}, err
	}
	opt.doors = to.doors()
	opt, leave, err := opt.enter(ctx, dir)
	if err != nil {
		return model.Outcome{}, err
	}
	defer func() { err = paid(out, leave(err)) }()
	if err := a.check(ctx, opt, dir, func() error { return nil }); err != nil {
		return model.Outcome{}, err
	}
	stdout, err := opt.execute(ctx, dir, a.argv(from.schema, before.id, reads(req)), []byte(req.Prompt))
	said, seen := readClaude(stdout), to.End()
	said.Result = to.reword(said.Result)
	out, err = a.outcome(req, said, before, err)
	used := said.Usage
	out.Session = session{id: said.ID, used: model.Usage{CostUSD: said.Cost}}.String()
	out.Usage = atLeast(model.Usage{
		InputTokens: used.Input + used.Written + used.Cached, OutputTokens: used.Output, CostUSD: since(said.Cost, before.used.CostUSD),
	}, seen)
	return settled(out, to.believed(err), said.ID)
}

// argv is the command line. Fixed flags follow extra_args, because the last one wins.
func (a *claude) argv(schema, resume string, readOnly bool) []string {
	argv := append([]string{"claude", "--print"}, a.opt.ExtraArgs...)
	if a.opt.Model != "" {
		argv = append(argv, "--model="+a.opt.Model)
	}
	tools := "--allowedTools=Bash,Edit,Read"
	if readOnly {
		tools = "--allowedTools=Bash,Read"
	}
	argv = append(argv, "--output-format=json", "--json-schema="+schema, "--bare", "--setting-sources=", "--strict-mcp-config", "--disable-slash-commands",
		"--permission-mode=dontAsk", tools)
	if resume != "" {
		argv = append(argv, "--resume="+resume)
	}
	return argv
}

// environment is Claude Code's. A small script runs its commands and removes the keys first, because the tests that an agent
// runs may print their environment.
func (a *claude) environment(at place, to *link) ([]string, error) {
	script, temp := filepath.Join(at.home, "without-keys"), filepath.Join(at.home, "tmp")
	text := "#!/bin/sh\nunset " + strings.Join(anthropic.keys, " ") + "\nexec bash -c \"$1\"\n"
	if err := writeNew(script, text, 0o700); err != nil {
		return nil, fmt.Errorf("write shell of claude: %w", err)
	}
	base := to.base
	if to.proxy == nil {
		base = value(a.opt.Access, anthropic.base)
	}
	return to.environment(a.opt.Env, map[string]string{
		"ANTHROPIC_API_KEY": to.key, "ANTHROPIC_AUTH_TOKEN": "", "ANTHROPIC_BASE_URL": base,
		"HOME": at.home, "CLAUDE_CONFIG_DIR": at.state, "CLAUDE_CODE_TMPDIR": temp, "CLAUDE_CODE_SHELL_PREFIX": script,
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1",
	}), nil
}

// claudeSaid is the result that `claude --output-format=json` prints.
type claudeSaid struct {
	Type       string          `json:"type"`
	Subtype    string          `json:"subtype"`
	IsError    bool            `json:"is_error"`
	ID         string          `json:"session_id"`
	Result     string          `json:"result"`
	Structured json.RawMessage `json:"structured_output"`
	Stop       string          `json:"stop_reason"`
	Status     int             `json:"api_error_status"`
	Errors     []string        `json:"errors"`
	Cost       float64         `json:"total_cost_usd"` // since the session's beginning
	Usage      struct {
		Input   int64 `json:"input_tokens"`
		Written int64 `json:"cache_creation_input_tokens"`
		Cached  int64 `json:"cache_read_input_tokens"`
		Output  int64 `json:"output_tokens"`
	} `json:"usage"` // of this turn
}

// readClaude parses the result; a result without a type counts as none.
func readClaude(stdout []byte) claudeSaid {
	var said claudeSaid
	if err := json.Unmarshal(bytes.TrimSpace(stdout), &said); err != nil || said.Type != "result" {
		return claudeSaid{}
	}
	return said
}

// outcome turns Claude Code's result into an outcome or an error; err is how its process ended.
func (a *claude) outcome(req model.Request, said claudeSaid, before session, err error) (model.Outcome, error) {
	var failed *Error
	switch {
	case err != nil && !(errors.As(err, &failed) && failed.Kind == Exit):
		return model.Outcome{}, err
	case said.IsError:
		return model.Outcome{}, a.failure(said, failed)
	case failed != nil && before.id != "" && strings.Contains(failed.Stderr, "No conversation found"):
		return model.Outcome{}, a.noSession(before.id, failed)
	case err != nil:
		return model.Outcome{}, err
	case said.Type == "":
		return model.Outcome{}, wrong("claude printed no result")
	case len(said.Structured) > 0 && string(said.Structured) != "null":
		return Decode(said.Structured, req)
	}
	return decodeMessage(said.Result, req)
}

// Failures for which Anthropic has no status of their own (https://docs.claude.com/en/api/errors).
var (
	claudeLimits   = []string{"Credit balance is too low", "reached your specified API usage limits"}
	claudeRefusals = []string{"blocked by content filtering policy"}
)

func contains(text string, words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
}

// failure explains a result that is an error.
func (a *claude) failure(said claudeSaid, failed *Error) error {
	text, exit := said.Result, 0
	if text == "" {
		text = strings.Join(append(said.Errors, said.Subtype), "; ")
	}
	if failed != nil {
		exit = failed.Exit
	}
	kind := Model
	switch {
	case said.Subtype == "error_max_structured_output_retries":
		kind = Output
	case said.Stop == "refusal" || contains(text, claudeRefusals):
		kind = Refused
	case said.Status == 401 || said.Status == 403 || strings.HasPrefix(said.Result, "Not logged in"):
		kind = Login
	case said.Status == 402 || said.Status == 429 || said.Status == 529 || contains(text, claudeLimits):
		kind = Limit
	}
	return a.failed(kind, text, exit)
}
