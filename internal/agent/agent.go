// Package agent runs Codex, Claude Code, the user's own program, or a built-in agent without a model. All of them get the same
// request and return the same outcome, so the rest of MergeXO does not depend on which one ran.
//
// No agent is trusted. Each gets a minimal environment, and no file of the checkout configures it. Its output is validated field
// by field. When Run returns, every process that it started has ended.
package agent

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/mergexo/internal/clock"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/nearest"
)

// Agent answers one request in a checkout. An error of Run is an *Error, or says why the request could not be built.
type Agent interface {
	Run(ctx context.Context, dir string, req model.Request) (model.Outcome, error)
}

// Options select an agent and how it may run.
type Options struct {
	Adapter   string
	Command   []string // argv of the command adapter; a path with a slash is relative to the checkout
	Model     string
	ExtraArgs []string
	Env       []string // the child's complete environment, as Environment makes it
	// Access is how codex and claude reach their models, as Access returns it. They never see it: the key stays with a
	// proxy in this process while they run.
	Access []string
	// Network is what the agent may reach besides that proxy. Nothing runs if it cannot be enforced, see Isolation.Holds.
	Network model.Network
	// Temp is a directory of this run with HOMEs for codex and claude. The caller removes it.
	Temp string
	// Sessions is a directory in which codex and claude keep transcripts across runs, to resume sessions; "": below Temp,
	// so that only this run can resume.
	Sessions string
	Timeout  time.Duration // 0: 30 minutes
	// OutputLimit is how many bytes of stdout are accepted; 0: 8 MiB.
	OutputLimit int64
	// Log gets the agent's stderr in whole lines; nil: discarded.
	Log io.Writer
	// Redact takes out of what the agent says what nobody may read, before an error quotes a part of it; nil: nothing.
	Redact func(string) string `json:"-"`
	// Events gets our own events, one per line; nil: discarded.
	Events *slog.Logger
	// Files convert what an agent without a program reads and writes.
	Files Files `json:"-"`
	// Grace is the time between SIGTERM and SIGKILL; 0: 5 seconds.
	Grace time.Duration
	// Clock measures Timeout and Grace; nil: the system's clock.
	Clock clock.Clock
	// Isolator is this program, as Self returns it: agents then start through package isolate. "": without one.
	Isolator string
	// User is the user that the agent runs as, behind the isolator, by name or number; "": our own. Nobody else may use it:
	// while the agent runs it owns the checkout, Temp and Sessions, and afterwards all of its processes are ended.
	User string
	// Also are directories besides the checkout that the agent needs.
	Also []string
	// Reads are directories that it only reads although their kind is hidden from it.
	Reads []string
	// Isolation is the isolation that Isolate found possible; nil: as User says.
	Isolation *Isolation

	tenant *account // User's account, while the agent runs
	doors  []door   // the proxies it may use when isolated from the network
}

const (
	defaultTimeout = 30 * time.Minute
	defaultOutput  = 8 << 20
	defaultGrace   = 5 * time.Second
)

// adapter is one kind of agent: its constructor, how it reaches its model, and whether it runs a program at all.
type adapter struct {
	build   func(Options) (Agent, error)
	model   *access // nil: the program finds its model itself
	release release // of the program, where the model is known
	flags   flags   // of the program, likewise
	builtIn bool    // it runs no program
	// transcript is how the program files the transcripts of its sessions; nil: it has none that can be carried away.
	transcript *layout
}

// adapters is every agent there is.
var adapters = map[string]adapter{
	"claude":     {build: newClaude, model: &anthropic, release: claudeRelease, flags: claudeFlags, transcript: &claudeTranscripts},
	"codex":      {build: newCodex, model: &openAI, release: codexRelease, flags: codexFlags, transcript: &codexTranscripts},
	"command":    {build: newCommand},
	"suggestion": {build: newSuggestion, builtIn: true},
}

// BuiltIn reports whether an adapter runs no program.
func BuiltIn(name string) bool { return adapters[name].builtIn }

// SetUp says what the runner needs for an adapter: the program, the command that installs it, and the variables one of which has
// its key. All are empty for an adapter that knows of no model.
func SetUp(name string) (program, install string, keys []string) {
	a := adapters[name]
	if a.model == nil {
		return "", "", nil
	}
	return a.release.name, a.release.install(), a.model.keys
}

// Installs are the commands that make one of GitHub's Ubuntu runners ready for an adapter.
func Installs(name string) []string {
	a := adapters[name]
	if a.model == nil {
		return nil
	}
	return append([]string{a.release.install()}, a.release.prepare...)
}

// Names are the adapters that there are.
func Names() []string { return slices.Sorted(maps.Keys(adapters)) }

// New makes the configured agent. Its errors concern the settings.
func New(opt Options) (Agent, error) {
	kind, ok := adapters[opt.Adapter]
	if !ok {
		known := Names()
		return nil, fmt.Errorf("unknown agent adapter %q%s: known are %s", opt.Adapter, didYouMean(opt.Adapter, known), strings.Join(known, ", "))
	}
	opt = opt.defaults()
	for _, entry := range opt.Env {
		if name, _, _ := strings.Cut(entry, "="); secret(name) || kind.model != nil && slices.Contains(modelKeys(), name) {
			return nil, fmt.Errorf("environment of the agent: %s must not be in it", name)
		}
	}
	if opt.Temp != "" && strings.HasPrefix(opt.Sessions, opt.Temp+"/") {
		return nil, fmt.Errorf("the agent's sessions in %s: it could put something else in their place; keep them beside %s", opt.Sessions, opt.Temp)
	}
	if err := kind.model.verify(opt.Access); err != nil {
		return nil, err
	}
	if kind.model != nil {
		if err := kind.flags.verify(opt.ExtraArgs); err != nil {
			return nil, err
		}
	}
	return kind.build(opt)
}

// defaults fills in what was not set.
func (opt Options) defaults() Options {
	opt.Timeout, opt.Grace = cmp.Or(max(opt.Timeout, 0), defaultTimeout), cmp.Or(max(opt.Grace, 0), defaultGrace)
	opt.OutputLimit, opt.Events = cmp.Or(max(opt.OutputLimit, 0), defaultOutput), cmp.Or(opt.Events, slog.New(slog.DiscardHandler))
	if opt.Log == nil {
		opt.Log = io.Discard
	}
	opt.Clock = clock.Or(opt.Clock)
	return opt
}

// Environment builds an agent's minimal environment: PATH, HOME, LANG, TMPDIR, the names in pass that lookup knows, and
// git's variables. It leaves out what CheckPass refuses.
func Environment(lookup func(string) (string, bool), pass []string, git []string) []string {
	var env []string
	for _, name := range append([]string{"PATH", "HOME", "LANG", "TMPDIR"}, pass...) {
		value, ok := lookup(name)
		if entry := name + "=" + value; ok && refused(name) == "" && !slices.Contains(env, entry) {
			env = append(env, entry)
		}
	}
	return append(env, git...)
}

// CheckPass says which name in pass_env cannot be passed to an adapter's agent, and why. It is an error in the settings.
func CheckPass(adapter string, pass []string) error {
	for _, name := range pass {
		if why := refused(name); why != "" {
			return fmt.Errorf("pass_env: %q cannot be passed to an agent: %s", name, why)
		}
		if adapters[adapter].model != nil && slices.Contains(modelKeys(), strings.ToUpper(name)) {
			return fmt.Errorf("pass_env: %q cannot be passed to %s: MergeXO keeps the model's key and adds it to the agent's requests. Remove the name: its value in the env of MergeXO's step is enough", name, adapter)
		}
	}
	return nil
}

// refused says why an agent may not have a variable; "" if it may.
func refused(name string) string {
	upper := strings.ToUpper(name)
	switch {
	case name == "" || strings.ContainsAny(name, "=\x00 "):
		return "it is not the name of a variable"
	case secret(name):
		return "an agent never sees GitHub's tokens or MergeXO's own settings"
	case strings.HasPrefix(upper, "GIT_"):
		return "git's environment is set for it"
	case slices.Contains([]string{"GITHUB_ENV", "GITHUB_OUTPUT", "GITHUB_PATH", "GITHUB_STATE", "GITHUB_STEP_SUMMARY"}, upper):
		return "whoever can write to that file controls the workflow"
	}
	return ""
}

// secret reports whether a variable passes credentials or inputs from GitHub or our own Action.
func secret(name string) bool {
	upper := strings.ToUpper(name)
	begins := func(prefix string) bool { return strings.HasPrefix(upper, prefix) }
	return slices.ContainsFunc([]string{"INPUT_", "MERGEXO_", "ACTIONS_RUNTIME_", "ACTIONS_ID_TOKEN_"}, begins) ||
		slices.Contains([]string{"GITHUB_TOKEN", "GH_TOKEN", "GITHUB_ENTERPRISE_TOKEN", "GH_ENTERPRISE_TOKEN"}, upper)
}

// didYouMean is `, did you mean "x"?` for the closest known name, or nothing if none is close.
func didYouMean(name string, known []string) string {
	near, ok := nearest.To(name, known)
	if !ok {
		return ""
	}
	return fmt.Sprintf(", did you mean %q?", near)
}
