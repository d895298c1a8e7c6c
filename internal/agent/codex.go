package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/agent/modelproxy"
	"github.com/mergexo/mergexo/internal/model"
)

// codex is OpenAI's Codex, `codex exec`. Codex's own sandbox confines the commands of its model: they write to the checkout, its
// HOME and temporary directories, not to .git, and have no network. Codex reads no configuration from the checkout: .codex,
// AGENTS.md and skills are disabled, and all instructions are in the prompt.
type codex struct{ program }

var codexRelease = release{name: "codex", pkg: "@openai/codex", version: "0.169.0", prepare: []string{
	"sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0 # Codex sandboxes its commands with user namespaces",
}}

// codexTranscripts: Codex finds a session by its file's name, and takes up what it has packed itself.
var codexTranscripts = layout{`\d{4}/\d{2}/\d{2}/rollout-[0-9T-]+-ID\.jsonl(\.zst)?`, func(at string) string { return at }}

var openAI = access{
	provider: modelproxy.OpenAI, base: "OPENAI_BASE_URL", keys: []string{"OPENAI_API_KEY", "CODEX_API_KEY"},
	elsewhere: regexp.MustCompile(`^(--oss$|(-c|--config=)? *model_provider *=)`),
	headers:   map[string]string{"OPENAI_API_KEY": "Authorization", "CODEX_API_KEY": "Authorization"},
}

func newCodex(opt Options) (Agent, error) {
	return &codex{program: program{release: codexRelease, opt: opt}}, nil
}

// codexFlags are the flags of `codex exec`.
var codexFlags = flags{
	program: "codex",
	free:    map[string]bool{"-c": true, "--config": true, "--strict-config": false, "--oss": false, "--local-provider": true, "--cyber-access-program": true},
	ours: map[string]string{
		"-m": oursModel, "--model": oursModel, "-i": oursCheckup, "--image": oursCheckup, "-p": oursCheckup, "--profile": oursCheckup,
		"-s": oursSandbox, "--sandbox": oursSandbox, "--approve-for-me": oursSandbox, "--dangerously-bypass-approvals-and-sandbox": oursSandbox,
		"--dangerously-bypass-hook-trust": oursSandbox, "--trust": oursSandbox, "--ignore-user-config": oursAlways, "--ignore-rules": oursAlways,
		"--enable": oursSandbox, "--disable": oursSandbox,
		"-C": oursPlace, "--cd": oursPlace, "--worktree": oursPlace, "--add-dir": oursPlace,
		"--thread-source": oursSession, "--ephemeral": oursSession,
		"--skip-git-repo-check": oursAlways, "--output-schema": oursAlways, "--color": oursCall, "--json": oursAlways,
		"-o": oursCall, "--output-last-message": oursCall, "-h": oursCall, "--help": oursCall, "-V": oursCall, "--version": oursCall,
	},
	check: checkCodexKey,
}

// codexKeys are the configuration keys that -c may set; one that ends with a dot stands for all below it.
var codexKeys = []string{
	"developer_instructions", "model_auto_compact_token_limit", "model_context_window", "model_provider", "model_providers.",
	"model_reasoning_effort", "model_reasoning_summary", "model_verbosity", "sandbox_workspace_write.network_access",
	"service_tier", "tool_output_token_limit", "tools.", "web_search",
}

func checkCodexKey(flag, setting string) error {
	if flag != "-c" && flag != "--config" {
		return nil
	}
	key, _, ok := strings.Cut(setting, "=")
	if key = strings.TrimSpace(key); !ok {
		return fmt.Errorf("extra_args: %s wants key=value, got %q", flag, setting)
	}
	for _, known := range codexKeys {
		if key == known || strings.HasSuffix(known, ".") && strings.HasPrefix(key, known) {
			return nil
		}
	}
	return fmt.Errorf("extra_args: the setting %q cannot be given to codex%s: it takes %s",
		key, didYouMean(key, codexKeys), strings.ReplaceAll(strings.Join(codexKeys, ", ")+",", ".,", ".*,")+" and nothing else")
}

// Run asks Codex once, in a new session or a resumed one.
func (a *codex) Run(ctx context.Context, dir string, req model.Request) (out model.Outcome, err error) {
	from, err := a.open(req, "sessions")
	if err != nil {
		return model.Outcome{}, err
	}
	before, to := from.session, from.link
	defer to.End()
	argv, err := a.argv(dir, from.schema, from.place, to, before.id, reads(req))
	if err != nil {
		return model.Outcome{}, err
	}
	opt := a.opt
	opt.Env = a.environment(from.place, to)
	opt.doors = to.doors()
	opt, leave, err := opt.enter(ctx, dir)
	if err != nil {
		return model.Outcome{}, err
	}
	defer func() { err = paid(out, leave(err)) }()
	if err := a.check(ctx, opt, dir, func() error { return a.checkSandbox(ctx, opt, dir) }); err != nil {
		return model.Outcome{}, err
	}
	stdout, err := opt.executeKeeping(ctx, dir, argv, []byte(codexPrompt(req, from.schema)), codexKeeps)
	said, seen := readCodex(stdout), to.End()
	said.failure = to.reword(said.failure)
	for _, warning := range said.warnings {
		fmt.Fprintf(opt.Log, "codex: %s\n", excerpt(warning, 500))
	}
	now := session{id: said.id, used: said.used}
	if now.used == (model.Usage{}) {
		// It ended before it reported its usage. The next turn's total includes this one.
		now.used = model.Usage{InputTokens: before.used.InputTokens + seen.InputTokens, OutputTokens: before.used.OutputTokens + seen.OutputTokens}
	}
	out, err = a.outcome(req, said, before, err)
	out.Session, out.Usage = now.String(), atLeast(model.Usage{
		InputTokens:  since(now.used.InputTokens, before.used.InputTokens),
		OutputTokens: since(now.used.OutputTokens, before.used.OutputTokens),
	}, seen)
	return settled(out, to.believed(err), said.id)
}

// environment is Codex's own. Codex does not pass on the variables that it needs to the commands of its model.
func (a *codex) environment(at place, to *link) []string {
	return to.environment(a.opt.Env, map[string]string{
		"HOME": at.home, "CODEX_HOME": at.state, "CODEX_API_KEY": to.key, "OPENAI_API_KEY": "", "OPENAI_BASE_URL": "",
	})
}

// argv is the command line. Settings that a user may change precede extra_args and fixed ones follow, because the last one wins.
// The provider is one that Codex does not know, so that Codex does not try the WebSockets of its built-in one.
func (a *codex) argv(dir, schema string, at place, to *link, resume string, readOnly bool) ([]string, error) {
	file := filepath.Join(at.state, "outcome.schema.json")
	if err := writeNew(file, schema, 0o600); err != nil {
		return nil, fmt.Errorf("write outcome schema: %w", err)
	}
	skills, err := skillFiles(dir)
	if err != nil {
		return nil, err
	}
	argv := []string{"codex", "exec", "--json", "--skip-git-repo-check", "--output-schema=" + file}
	argv = append(argv, settings(
		`model_provider="mergexo"`, `model_providers.mergexo={name="mergexo",base_url=`+toml(to.base)+`,env_key="CODEX_API_KEY",wire_api="responses"}`,
		`web_search="disabled"`, `sandbox_workspace_write.network_access=false`,
	)...)
	argv = append(argv, a.opt.ExtraArgs...)
	if a.opt.Model != "" {
		argv = append(argv, "--model="+a.opt.Model)
	}
	sandbox := "--sandbox=workspace-write"
	if readOnly {
		sandbox = "--sandbox=read-only"
	}
	argv = append(argv, sandbox, "--ignore-user-config", "--ignore-rules")
	argv = append(argv, settings(
		`approval_policy="never"`, `sandbox_workspace_write.writable_roots=[`+toml(at.home)+`]`, `allow_login_shell=false`,
		`shell_environment_policy.exclude=["CODEX_API_KEY","CODEX_HOME"]`,
		`project_doc_max_bytes=0`, `project_root_markers=[]`, `skills.include_instructions=false`, `skills.bundled.enabled=false`, `skills.config=`+shut(skills),
		`features.hooks=false`, `features.plugins=false`, `features.apps=false`, `features.unbounded_connection_retries=false`,
		`analytics.enabled=false`, `check_for_update_on_startup=false`,
	)...)
	if resume != "" {
		argv = append(argv, "resume", resume)
	}
	return append(argv, "-"), nil
}

// settings puts -c before each one.
func settings(list ...string) []string {
	var out []string
	for _, one := range list {
		out = append(out, "-c", one)
	}
	return out
}

// toml quotes a string for TOML, whose basic strings have the same escapes as JSON.
func toml(text string) string {
	quoted, _ := json.Marshal(text) // a string can always be encoded
	return string(quoted)
}

// shut returns the setting that disables skills by their files.
func shut(files []string) string {
	list := make([]string, len(files))
	for i, file := range files {
		list[i] = "{path=" + toml(file) + ",enabled=false}"
	}
	return "[" + strings.Join(list, ",") + "]"
}

// maxSkills and maxLooks bound the skills, since each is part of the command line, and the files that are searched for them.
const (
	maxSkills = 500
	maxLooks  = 20_000
)

// skillFiles finds the skills in a checkout, under each name that Codex could know them by. Codex offers them even if the
// checkout is not trusted, and loads one when a comment contains its name after a dollar sign. Each has to be disabled by name.
func skillFiles(dir string) ([]string, error) {
	var found []string
	looks := 0
	var look func(path string, depth int) error
	look = func(path string, depth int) error {
		entries, err := os.ReadDir(path)
		if err != nil || depth > 8 { // a missing or unreadable file is no skill; Codex looks six deep
			return nil
		}
		for _, entry := range entries {
			if looks++; looks > maxLooks || len(found) > maxSkills {
				return &Error{Kind: Start, Exit: -1, Detail: fmt.Sprintf("%s has more than %d skills or %d files: more than can be hidden from codex", path, maxSkills, maxLooks)}
			}
			at := filepath.Join(path, entry.Name())
			if entry.Name() == "SKILL.md" {
				found = append(found, at)
				if real, err := filepath.EvalSymlinks(at); err == nil && real != at {
					found = append(found, real)
				}
			}
			if entry.IsDir() || entry.Type()&os.ModeSymlink != 0 {
				if err := look(at, depth+1); err != nil {
					return err
				}
			}
		}
		return nil
	}
	for _, root := range []string{".agents/skills", ".codex/skills"} {
		if err := look(filepath.Join(dir, root), 0); err != nil {
			return nil, err
		}
	}
	slices.Sort(found)
	return slices.Compact(found), nil
}

// codexPrompt appends the schema of the answer, because an endpoint other than OpenAI's may not enforce it.
func codexPrompt(req model.Request, schema string) string {
	return req.Prompt + "\n\nWhen you are done, answer with one JSON object and nothing else, as this JSON Schema says:\n" + schema + "\n"
}

// checkSandbox finds out, before any model is asked, whether Codex's sandbox works on this machine. Ubuntu forbids programs the
// namespaces that it needs (https://github.com/openai/codex/issues/17337), and then every command fails.
func (a *codex) checkSandbox(ctx context.Context, opt Options, dir string) error {
	opt.Log, opt.Timeout = io.Discard, min(opt.Timeout, checkTimeout)
	_, err := opt.execute(ctx, dir, []string{"codex", "sandbox", "-c", `sandbox_mode="workspace-write"`, "--", "true"}, nil)
	var failed *Error
	if errors.As(err, &failed) && failed.Kind == Exit {
		said := lastLine(failed.Stderr)
		if !strings.Contains(said, "bwrap") && !strings.Contains(said, "namespace") {
			return nil // another version, in which this command means something else
		}
		barred := failing(Start, failed.Exit, "codex cannot sandbox its commands on this runner (%s): allow unprivileged user namespaces; "+
			"on GitHub's Ubuntu runners: sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0", words{text: said, most: 300})
		barred.Err = err
		return barred
	}
	return err
}

// codexEvent is one line of `codex exec --json`.
type codexEvent struct {
	Type     string `json:"type"`
	ThreadID string `json:"thread_id"`
	Message  string `json:"message"`
	Error    struct {
		Message string `json:"message"`
	} `json:"error"`
	Item struct {
		Type    string `json:"type"`
		Text    string `json:"text"`
		Message string `json:"message"`
	} `json:"item"`
	Usage struct {
		Input  int64 `json:"input_tokens"`
		Output int64 `json:"output_tokens"`
	} `json:"usage"`
}

// codexKeeps drops the lines about progress, which include the full output of commands.
func codexKeeps(line []byte) bool {
	var e codexEvent
	if json.Unmarshal(line, &e) != nil {
		return false
	}
	return slices.Contains([]string{"thread.started", "turn.completed", "turn.failed", "error"}, e.Type) ||
		e.Type == "item.completed" && (e.Item.Type == "agent_message" || e.Item.Type == "error")
}

// codexSaid is what Codex reported.
type codexSaid struct {
	id, answer, failure string
	warnings            []string    // of the command line and the model, for instance
	used                model.Usage // since the session's beginning
}

func readCodex(stdout []byte) codexSaid {
	var said codexSaid
	for line := range bytes.Lines(stdout) {
		var e codexEvent
		if json.Unmarshal(line, &e) != nil {
			continue
		}
		switch e.Type {
		case "thread.started":
			said.id = e.ThreadID
		case "item.completed":
			if e.Item.Type == "error" { // Codex reports warnings as errors
				said.warnings = append(said.warnings, e.Item.Message)
				continue
			}
			said.answer = e.Item.Text
		case "turn.completed":
			said.used = model.Usage{InputTokens: e.Usage.Input, OutputTokens: e.Usage.Output}
			said.failure = "" // the turn recovered from an earlier error
		case "turn.failed":
			said.failure = e.Error.Message
		case "error":
			said.failure = e.Message
		}
	}
	return said
}

// outcome turns what Codex reported into an outcome or an error; err is how its process ended.
func (a *codex) outcome(req model.Request, said codexSaid, before session, err error) (model.Outcome, error) {
	var failed *Error
	switch {
	case errors.As(err, &failed) && failed.Kind == Exit:
		return model.Outcome{}, a.failure(said, before, failed)
	case err != nil:
		return model.Outcome{}, err
	case strings.TrimSpace(said.answer) == "":
		return model.Outcome{}, a.failed(Refused, "it ended without an answer, as Codex does after a refusal", 0)
	}
	return decodeMessage(said.answer, req)
}

// codexWords classify failures, because Codex reports them only as text.
var codexWords = []struct {
	kind  Kind
	words []string
}{
	{Login, []string{"401 unauthorized", "missing environment variable"}},
	{Limit, []string{"429 too many requests", "rate limit", "quota exceeded", "usage limit", "at capacity", "out of credits"}},
	{Refused, []string{"flagged"}},
}

// failure says why Codex ended with an exit code.
func (a *codex) failure(said codexSaid, before session, failed *Error) error {
	text := said.failure
	if text == "" && before.id != "" && strings.Contains(failed.Stderr, "thread/resume") {
		return a.noSession(before.id, failed)
	}
	if text == "" {
		return failed
	}
	var body struct{ Error struct{ Message string } }
	if json.Unmarshal([]byte(text), &body) == nil && body.Error.Message != "" {
		text = body.Error.Message // Codex passes on the body of a refused request
	}
	kind := Model
	for _, one := range codexWords {
		if contains(strings.ToLower(text), one.words) {
			kind = one.kind
			break
		}
	}
	return a.failed(kind, text, failed.Exit)
}
