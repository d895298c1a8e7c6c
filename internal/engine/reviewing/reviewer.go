package reviewing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/agent"
	"github.com/mergexo/mergexo/internal/config"
	"github.com/mergexo/mergexo/internal/engine/redact"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/engine/work"
	"github.com/mergexo/mergexo/internal/git/checkout"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/review"
	"github.com/mergexo/mergexo/internal/scratch"
	"github.com/mergexo/mergexo/internal/turn"
)

// Task is what is to be reviewed: the commits of the head that its base has not, both of which are in the checkout.
type Task struct {
	Key        string
	Base, Head string
	Tests      []string // that have passed at the head
	Doc        *model.Document
	Raised     []model.Raised
	Earlier    []model.Finding // in earlier rounds on the same work
	Asked      []model.Comment // that the work answers
}

// Answer is what a reviewer said, in words that can be shown.
type Answer struct {
	Findings []model.Finding
	Dropped  int // findings beyond what one review can hold, none graver than those that are kept
	Diff     review.Diff
	CostUSD  float64 // also of one that failed
}

// Look has the reviewer look. An *agent.Error says that it gave no usable answer, a *work.Ending that the time of the run is
// over, a *thread.Stop that something of it goes on running.
func Look(ctx context.Context, w *work.Work, t Task) (a Answer, err error) {
	tree, remove, err := checkout.TestTree(ctx, w.Checkout, t.Head)
	if err != nil {
		return a, err
	}
	defer work.Dispose(w, remove)
	req, diff, err := request(ctx, w, t)
	if err != nil {
		return a, err
	}
	a.Diff = review.ReadDiff(diff)
	var dirs [2]string // beside each other, so that the reviewer cannot rename what we follow
	for i := range dirs {
		if dirs[i], err = w.Git.Scratch.Make(w.Git.Temp, "review", w.Log); err != nil {
			return a, fmt.Errorf("make directory of the reviewer: %w", err)
		}
		defer work.Dispose(w, func() error { return scratch.RemoveAll(dirs[i]) })
	}
	who, err := newAgent(ctx, w, dirs[0], dirs[1])
	if err != nil {
		return a, err
	}
	w.Log.Info("reviewer_started", w.NumberKey(), w.Event.Number, "turn_key", t.Key, "head", t.Head)
	var out model.Outcome
	err = work.Foreign(ctx, w, "the reviewer "+w.Settings.Reviewer().Adapter, func(ctx context.Context) (err error) {
		out, err = who.Run(ctx, tree, req)
		return err
	})
	a.CostUSD = out.Usage.CostUSD
	if failed := (*agent.Error)(nil); errors.As(err, &failed) {
		a.CostUSD = failed.Usage.CostUSD
	}
	if err != nil {
		return a, err
	}
	if err := review.Check(out.Findings); err != nil {
		return a, &agent.Error{Kind: agent.Output, Detail: err.Error(), Err: err}
	}
	out.Findings, a.Dropped = review.Gravest(out.Findings)
	a.Findings = redact.Findings(context.WithoutCancel(ctx), w.Thread, out.Findings)
	return a, nil
}

// Settings are the settings by which the agent runs that reviews the pull request. Where strangers wrote what it reads, it gets no
// variable of ours: what it is told there could have it tell them.
func Settings(t *thread.Thread) config.Settings {
	s := thread.ReviewerSettings(t.Settings)
	if t.Snap.Pull.CrossRepo {
		s.Agent.PassEnv = nil
	}
	return s
}

// Unsafe says why the pull request must not be read by an agent with these settings; "" where it may.
func Unsafe(t *thread.Thread) string {
	if a := Settings(t).Agent; t.Snap.Pull.CrossRepo && a.Isolation == agent.IsolationNone && a.User == "" {
		return "MergeXO does not review a pull request from a fork with `isolation = \"none\"`: its text could make the agent do whatever MergeXO's user can do. Set `isolation = \"auto\"` under `[agent]`."
	}
	return ""
}

// newAgent makes the agent that reviews. It has no session: fresh eyes are what it is for.
func newAgent(ctx context.Context, w *work.Work, temp, sessions string) (agent.Agent, error) {
	s := Settings(w.Thread)
	if why := Unsafe(w.Thread); why != "" {
		return nil, &agent.Error{Kind: agent.Start, Detail: why}
	}
	if err := thread.Isolate(ctx, w.World, s); err != nil {
		return nil, err
	}
	if i := w.Isolated[thread.Wanted(s)]; w.Snap.Pull.CrossRepo && i != nil && i.Level == agent.LevelNone { // as in an agent's own job
		return nil, &agent.Error{Kind: agent.Start, Detail: "MergeXO reviews a pull request from a fork only in isolation, which this runner does not allow: " + strings.Join(i.Why, "; ")}
	}
	opt := thread.AgentOptions(w.World, s, w.Checkout.AgentEnv()...)
	opt.Temp, opt.Sessions, opt.Reads, opt.Redact = temp, sessions, []string{w.Checkout.Objects}, redact.Words(ctx, w.Thread)
	where, err := opt.Exposed(slices.Concat(thread.Hidden(w.World), thread.ModelKeys(w.World, s))...)
	if err != nil {
		return nil, err
	}
	if where != "" {
		w.Log.Warn("token_exposed", "process", where, "fix", "start MergeXO from the action, or with exec, so that no parent process keeps the token or the model's key in its environment")
	}
	return agent.New(opt)
}

// request is what the reviewer is asked.
func request(ctx context.Context, w *work.Work, t Task) (req model.Request, diff string, err error) {
	if diff, err = history.Diff(ctx, w.Checkout, t.Base, t.Head); err != nil {
		return req, "", err
	}
	l := turn.Look{Key: t.Key, Head: t.Head, Diff: diff, Tests: t.Tests, Doc: t.Doc, Raised: t.Raised, Earlier: t.Earlier, Asked: t.Asked, Boundary: w.Random()}
	if t.Head == w.Snap.Pull.HeadSHA {
		l.Checks = w.Snap.Pull.Rollup
	}
	if l.Files, err = history.ChangedPaths(ctx, w.Checkout, t.Base, t.Head); err != nil {
		return req, "", err
	}
	if l.Guidelines, err = guidelines(ctx, w, t); err != nil {
		return req, "", err
	}
	return turn.ReviewRequest(w.Snap, l), diff, nil
}

// Design is the document that a pull request builds, as its base has it; nil where it builds none that can be found.
func Design(ctx context.Context, w *work.Work, base string) (*model.Document, error) {
	said := w.State.Tracked
	if said == nil || said.Marker.Flow != string(model.FlowImplementation) || said.Marker.Issue == 0 {
		return nil, nil
	}
	return work.FindDesign(ctx, w, base, said.Marker.Issue, mostDesigns)
}

// mostDesigns bounds how many documents are read to find one for a review.
const mostDesigns = 50

// guidelines are the coding guidelines as the base branch has them, or what the work began at if that is not here; nil for none. The
// head's may be a stranger's.
func guidelines(ctx context.Context, w *work.Work, t Task) (*model.Document, error) {
	file := path.Clean(w.Settings.Repo.CodingGuidelines)
	text, err := history.Blob(ctx, w.Checkout, cmp.Or(history.FetchedBase(w.Checkout), t.Base), file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &model.Document{Path: file, Text: string(text)}, nil
}
