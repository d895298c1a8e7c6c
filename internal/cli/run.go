package cli

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/sethvargo/go-githubactions"
	"github.com/urfave/cli/v2"

	"github.com/mergexo/mergexo/internal/agent"
	"github.com/mergexo/mergexo/internal/config"
	"github.com/mergexo/mergexo/internal/doctor"
	"github.com/mergexo/mergexo/internal/engine"
	"github.com/mergexo/mergexo/internal/engine/sweeping"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/github"
	"github.com/mergexo/mergexo/internal/github/app"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/nearest"
	"github.com/mergexo/mergexo/internal/report"
	"github.com/mergexo/mergexo/internal/transcript"
)

// place is where a run happens, as the runner's environment describes it.
type place struct {
	event, eventPath     string
	actor                string // who started the run; a rerun keeps it
	repository           string
	api, graphql, server string
	workspace, temp      string
	output, summary      string
	run                  thread.Run
	actions, debug       bool
	now                  func() time.Time
	failOn               []model.Result
	failOnSet            bool
	phase                thread.Phase
	plans                bool // a sweep that only tells what is due
	bundle               string
	// sessions is where transcripts are kept on a runner with a persistent disk; empty: nowhere.
	sessions string
	files    report.CommandFiles
}

// where reads the runner's environment. Any variable may be missing in a terminal.
func (p *program) where() (place, error) {
	for _, name := range []string{"GITHUB_RUN_ID", "GITHUB_RUN_ATTEMPT"} {
		if v := env(p, name); v != "" && strings.Trim(v, "0123456789") != "" {
			return place{}, usagef("%s: want a number, got %q", name, v)
		}
	}
	hidden := func(name string) string { // we read the payload ourselves, with better errors
		if name == "GITHUB_EVENT_PATH" {
			return ""
		}
		return env(p, name)
	}
	ctx, err := githubactions.New(githubactions.WithGetenv(hidden), githubactions.WithWriter(p.Err)).Context()
	if err != nil {
		return place{}, usagef("read the environment: %w", err)
	}
	w := place{
		event: ctx.EventName, eventPath: env(p, "GITHUB_EVENT_PATH"), actor: ctx.Actor, repository: ctx.Repository,
		// For a missing GITHUB_API_URL or GITHUB_GRAPHQL_URL the library uses github.com's even with another server, and would send
		// the token there. The API's address is derived from the server's instead, and in the gateway GraphQL's from the API's.
		api: strings.TrimRight(cmp.Or(env(p, "GITHUB_API_URL"), github.APIOf(ctx.ServerURL)), "/"), graphql: env(p, "GITHUB_GRAPHQL_URL"),
		server:    strings.TrimRight(ctx.ServerURL, "/"),
		workspace: ctx.Workspace, temp: env(p, "RUNNER_TEMP"), output: env(p, "GITHUB_OUTPUT"), summary: ctx.StepSummary,
		run: thread.Run{ID: ctx.RunID, Attempt: int(max(1, ctx.RunAttempt))}, actions: ctx.Actions, debug: env(p, "RUNNER_DEBUG") == "1",
	}
	w.now = time.Now
	words, set := p.lookup("MERGEXO_FAIL_ON")
	if w.failOn, err = doctor.FailOn(words); err != nil {
		return place{}, usageError{err}
	}
	w.failOnSet = set
	if err := github.CheckServer(w.server); err != nil {
		return place{}, usageError{err}
	}
	if w.temp == "" {
		w.temp = os.TempDir()
	} else if info, err := os.Stat(w.temp); err != nil || !info.IsDir() {
		return place{}, usagef("RUNNER_TEMP: %s is not a directory", w.temp)
	}
	if w.sessions = env(p, "MERGEXO_SESSIONS"); w.sessions != "" && !filepath.IsAbs(w.sessions) {
		return place{}, usagef("MERGEXO_SESSIONS: want the absolute path of a directory, got %q", w.sessions)
	}
	if w.files, err = report.ReadCommandFiles(p.lookup); err != nil {
		return place{}, usageError{err}
	}
	w.run.Workflow, w.run.URL = workflowFile(env(p, "GITHUB_WORKFLOW_REF")), runURL(w.server, w.repository, w.run)
	return w, nil
}

// env is a variable of the environment; "" if it is not set.
func env(p *program, name string) string {
	v, _ := p.lookup(name)
	return v
}

// runURL is the page of a workflow run; "" outside of one.
func runURL(server, repository string, run thread.Run) string {
	if run.ID == 0 {
		return ""
	}
	url := fmt.Sprintf("%s/%s/actions/runs/%d", server, repository, run.ID)
	if run.Attempt > 1 {
		url += "/attempts/" + strconv.Itoa(run.Attempt)
	}
	return url
}

// workflowFile is the path of this run's workflow: OWNER/NAME/PATH@REF
// (https://docs.github.com/actions/reference/workflows-and-actions/variables).
func workflowFile(ref string) string {
	ref, _, _ = strings.Cut(ref, "@")
	if parts := strings.SplitN(ref, "/", 3); len(parts) == 3 {
		return parts[2]
	}
	return ""
}

// outFlags are the flags of every command that prints a report.
func outFlags(more ...cli.Flag) []cli.Flag {
	return append([]cli.Flag{
		&cli.BoolFlag{Name: "json", Usage: "print one JSON object on standard output"},
		&cli.BoolFlag{Name: "verbose", Usage: "log every step"},
	}, more...)
}

func (p *program) runCommand() *cli.Command {
	return &cli.Command{
		Name: "run", Usage: "handle the event of this workflow run",
		Description: "Reads the event from GITHUB_EVENT_NAME and GITHUB_EVENT_PATH, and the token from INPUT_TOKEN, GITHUB_TOKEN or GH_TOKEN.\n" +
			"With the MERGEXO_APP_ID and MERGEXO_PRIVATE_KEY of a GitHub App, it makes the tokens itself.",
		Flags: outFlags(
			dryRunFlag,
			&cli.BoolFlag{Name: "plan", Usage: "only find out whether there is work, as the step output work; needs no checkout"},
			&cli.StringFlag{Name: "phase", Usage: "do one `PART` of the run: agent (writes nothing to GitHub) or apply"},
			&cli.StringFlag{Name: "bundle", Usage: "`DIR` for the files that the agent phase hands to the apply phase"},
		),
		Action: func(c *cli.Context) error {
			w, err := p.where()
			if err != nil {
				return err
			}
			if w.phase, w.bundle, err = parts(c.String("phase"), c.String("bundle")); err != nil {
				return err
			}
			if w.eventPath == "" {
				return missing(usagef("GITHUB_EVENT_PATH is not set: run this in a workflow, or use mergexo replay --event FILE"), p.noToken())
			}
			if c.Bool("plan") {
				return plan(p, c, w)
			}
			ev, _, err := readEvent(w.event, w.eventPath, w.repository)
			if errors.Is(err, github.ErrNotOurs) {
				return p.finish(c, w, model.Repo{}, model.Report{Result: model.ResultNothing, Effects: []model.Effect{}, Reason: err.Error()})
			}
			if err != nil {
				return p.mistake(c, w, model.Report{Reason: err.Error()}, err)
			}
			if w.ofDependabot(ev) {
				return p.finish(c, w, ev.Repo, dependabots(ev))
			}
			if ev.Sweeps() {
				return p.sweep(c.Context, c, w, ev.Repo, sweeping.Options{})
			}
			return p.handle(c.Context, c, w, ev, c.Bool("dry-run"))
		},
	}
}

// ofDependabot reports whether GitHub withholds the repository's secrets from this run, without which nothing is signed. For other
// events of Dependabot's it does not.
// https://docs.github.com/code-security/reference/supply-chain-security/dependabot-on-actions
func (w place) ofDependabot(ev model.Event) bool {
	return cmp.Or(w.actor, ev.Sender.Login) == "dependabot[bot]" && (strings.HasPrefix(ev.Name, "pull_request") || ev.Name == "push")
}

// dependabots is the report of such a run.
func dependabots(ev model.Event) model.Report {
	return model.Report{Result: model.ResultNothing, Number: ev.Number, Effects: []model.Effect{},
		Reason: "GitHub gives no secrets to a run that Dependabot started; the next sweep or comment continues"}
}

// parts reads which phase of a run to do.
func parts(phase, bundle string) (thread.Phase, string, error) {
	switch part := thread.Phase(phase); {
	case part == thread.WholeRun && bundle == "", part == thread.ApplyPhase:
		return part, bundle, nil
	case part == thread.WholeRun:
		return part, "", usagef("--bundle is for a run in two parts: add --phase agent or --phase apply")
	case part == thread.AgentPhase && bundle == "":
		return part, "", usagef("--phase agent needs a directory to hand its work over in: add --bundle DIR")
	case part == thread.AgentPhase:
		return part, bundle, nil
	}
	return "", "", usagef("--phase: %q is unknown%s", phase, nearest.Hint(phase, []string{string(thread.AgentPhase), string(thread.ApplyPhase)}))
}

// readEvent reads an event from a file, once: it may be a pipe. It also returns the payload.
func readEvent(name, path, repository string) (model.Event, []byte, error) {
	payload, err := os.ReadFile(path)
	if err != nil {
		return model.Event{}, nil, usagef("read the payload: %w", err)
	}
	ev, err := parseEvent(name, path, repository, payload)
	return ev, payload, err
}

// parseEvent reads an event from its payload, which was in the file path.
func parseEvent(name, path, repository string, payload []byte) (ev model.Event, err error) {
	if name == "" {
		if name, err = inferEvent(path, payload); err != nil {
			return model.Event{}, err
		}
	}
	ev, err = github.ParseEvent(name, payload)
	if errors.Is(err, github.ErrNotOurs) {
		return ev, err
	}
	if err != nil {
		return ev, usagef("%s: %w", path, err)
	}
	if ev.Repo == (model.Repo{}) {
		if ev.Repo, err = model.ParseRepo(repository); err != nil {
			return ev, usagef("%s: the payload names no repository and GITHUB_REPOSITORY is no help: %w", path, err)
		}
	}
	if repository != "" && !strings.EqualFold(repository, ev.Repo.String()) {
		return ev, usagef("%s: repository.full_name is %s, but GITHUB_REPOSITORY is %s", path, ev.Repo, repository)
	}
	return ev, nil
}

// inferEvent finds out the event of a payload. That it cannot is the caller's mistake, unlike an event that is not ours.
func inferEvent(path string, payload []byte) (string, error) {
	name, err := github.InferEvent(payload)
	switch {
	case errors.Is(err, github.ErrNotOurs):
		return "", usagef("%s: its keys do not show which event it is: name it with --name or GITHUB_EVENT_NAME", path)
	case err != nil:
		return "", usagef("%s: %w; want a file with a webhook payload, one JSON object", path, err)
	}
	return name, nil
}

// handle makes an engine for this place and handles the event.
func (p *program) handle(ctx context.Context, c *cli.Context, w place, ev model.Event, dry bool) error {
	e, done, err := p.engine(c, w, ev.Repo, fmt.Sprintf("mergexo %s #%d", ev.Name, ev.Number))
	if err != nil {
		return p.mistake(c, w, model.Report{Number: ev.Number, Reason: err.Error()}, err)
	}
	e.DryRun(dry)
	rep, err := e.Handle(ctx, ev)
	left := p.leave(w, &rep, done)
	if w.actions && left == nil && config.IsMissing(err) { // as on the pull request that installs MergeXO
		rep.Result = model.ResultNothing
		return errors.Join(report.Annotate(p.Err, "notice", "mergexo: nothing to do: "+err.Error()), p.finish(c, w, ev.Repo, rep))
	}
	if err != nil {
		return p.mistake(c, w, rep, errors.Join(atFault(err), left))
	}
	return p.finish(c, w, ev.Repo, rep)
}

// engine makes an engine for this place. In Actions its output is a group with this title; done closes it.
func (p *program) engine(c *cli.Context, w place, repo model.Repo, title string) (e *engine.Engine, done func() error, err error) {
	log, console := p.voice(c, w)
	options := github.Options{APIURL: w.api, GraphQLURL: w.graphql, UserAgent: "mergexo/" + version, Transport: transport(), Now: w.now, Clock: p.Clock, Log: log}
	source, reach, err := p.credential(options, repo, w.needs(), console.Mask)
	if err != nil {
		return nil, nil, err
	}
	options.Credential = source
	gh, err := github.New(options)
	if err != nil {
		return nil, nil, usageError{err}
	}
	if w.actions {
		if err := console.Group(title); err != nil {
			return nil, nil, err
		}
	}
	sealing, err := p.sealing()
	if err != nil {
		return nil, nil, err
	}
	self, err := agent.Self()
	if err != nil {
		return nil, nil, err
	}
	foreign := console.Foreign()
	e = &engine.Engine{World: thread.World{
		GitHub: gh, Codec: journal.Codec{Key: []byte(p.secrets.SigningKey)}, ServerURL: w.server, Run: w.run,
		Git:    git.Options{Credential: source, Workspace: w.workspace, Temp: w.temp, Scratch: p.scratch, Now: w.now, Log: log, Path: git.SafePath(env(p, "PATH"), w.workspace), Network: p.network()},
		Lookup: p.lookup, Foreign: foreign, Working: watch(p), Log: log, Now: w.now, Clock: p.Clock, Random: random,
		Sessions: w.sessions, Transcripts: sealing, Isolator: self, Secrets: p.secrets.all(), Reach: reach,
		Phase: w.phase, Bundle: w.bundle, Warn: w.warn(p.Err),
	}}
	if tokens, is := source.(*app.Tokens); is {
		e.Rights = tokens
	}
	return e, func() error { return errors.Join(e.Close(), foreign.Close(), console.End()) }, nil
}

// warn is how a warning is shown beside the run of a workflow; nil elsewhere: the log has it too.
func (w place) warn(out io.Writer) func(text string) {
	if !w.actions {
		return nil
	}
	return func(text string) { _ = report.Annotate(out, "warning", "mergexo: "+text) }
}

// voice returns the run's logger, and the console for other programs' output.
func (p *program) voice(c *cli.Context, w place) (*slog.Logger, *report.Console) {
	level := slog.LevelInfo
	switch {
	case w.debug || c.Bool("verbose"):
		level = slog.LevelDebug
	case !w.actions && !c.Bool("json"):
		level = slog.LevelWarn
	}
	return report.Logger(p.Err, level, w.actions), report.NewConsole(p.Err, w.actions, random)
}

// sealing is the key that encrypts session transcripts; the zero value if there is none.
func (p *program) sealing() (transcript.Key, error) {
	if p.secrets.TranscriptKey == "" {
		return transcript.Key{}, nil
	}
	key, err := transcript.ParseKey(p.secrets.TranscriptKey)
	if err != nil {
		return key, usageError{err}
	}
	return key, nil
}

// network returns the variables about proxies and certificates for git; Go's HTTP client reads the same names.
func (p *program) network() []string {
	var env []string
	for _, name := range []string{"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "NO_PROXY", "no_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR", "GIT_SSL_CAINFO"} {
		if v, ok := p.lookup(name); ok {
			env = append(env, name+"="+v)
		}
	}
	return env
}

// transport keeps few idle connections, because the process is short-lived.
func transport() http.RoundTripper {
	t := http.DefaultTransport.(*http.Transport).Clone() //nolint:forcetypeassert // the standard library's own value
	t.MaxIdleConnsPerHost = 2
	return t
}

// random is an unguessable name.
func random() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails (https://pkg.go.dev/crypto/rand#Read)
	return hex.EncodeToString(b[:])
}
