package thread

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/mergexo/mergexo/internal/command"
	"github.com/mergexo/mergexo/internal/flow"
	"github.com/mergexo/mergexo/internal/github"
	"github.com/mergexo/mergexo/internal/handoff"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/leak"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/scratch"
	"github.com/mergexo/mergexo/internal/turn"
)

// RecallFailures adds to a fresh snapshot the failed merges, and the failed workflow runs of its head that this run has already
// found.
func RecallFailures(t *Thread) {
	t.Snap.Failures = turn.MergeFailures(t.State)
	if t.Memory.FailedOn == t.Snap.Pull.HeadSHA {
		t.Snap.Failures = append(t.Snap.Failures, t.Memory.Failures...)
	}
}

// NoWorkflows reports whether the credential is known not to push changes of workflows.
func NoWorkflows(t *Thread) bool {
	return t.Snap.Viewer.Login == ActionsBot || t.Rights != nil && !t.Rights.Workflows()
}

// ReadMergeFacts reads what decides about a merge, once for each snapshot.
func ReadMergeFacts(ctx context.Context, t *Thread) error {
	if t.MergeFacts != nil {
		return nil
	}
	branch, base := t.Snap.Pull.HeadRef, t.Snap.Pull.BaseRef
	if t.Snap.Pull.CrossRepo {
		branch = ""
	}
	if base == t.Snap.DefaultBranch { // whatever was merged from it
		base = ""
	}
	facts, err := t.GitHub.Threads.MergeFacts(ctx, t.Event.Repo, t.Event.Number, branch, base)
	if err == nil {
		facts.NoWorkflows = NoWorkflows(t)
		facts.HeadDemands = t.HeadDemands
		facts.DefaultHead = branch != "" && branch == t.Snap.DefaultBranch
		facts.Demands = append(facts.Demands, t.Demands[t.Snap.Pull.BaseRef]...)
		t.MergeFacts = &facts
	}
	return err
}

// ReadDemands adds the demands of the base on a push to the merge facts, once a run. Call it before anything moves. Otherwise a
// head would be rewritten for a push that the rules refuse.
func ReadDemands(ctx context.Context, t *Thread) error {
	base := t.Snap.Pull.BaseRef
	if _, asked := t.Demands[base]; asked || t.MergeFacts.BaseSHA == "" {
		return nil
	}
	who := github.Pusher{Login: t.Snap.Viewer.Login, Administers: t.MergeFacts.Administers, RuleKnown: t.MergeFacts.RuleKnown}
	list, err := t.GitHub.Repositories.PushDemands(ctx, t.Event.Repo, base, who)
	if err != nil {
		return err
	}
	if t.Demands == nil {
		t.Demands = map[string][]model.Demand{}
	}
	t.Demands[base] = list
	t.MergeFacts.Demands = append(t.MergeFacts.Demands, list...)
	return nil
}

// ReadHeadDemands adds to the merge facts the rules that keep our token from rewriting the head branch, once a run.
func ReadHeadDemands(ctx context.Context, t *Thread) (err error) {
	if t.HeadDemands == nil {
		if t.HeadDemands, err = t.GitHub.Repositories.HeadDemands(ctx, t.Event.Repo, t.Snap.Pull.HeadRef); err != nil {
			return err
		}
	}
	t.MergeFacts.HeadDemands = t.HeadDemands
	return nil
}

// BeginPull calls Begin, and returns ErrNumber if the number is an issue.
func BeginPull(ctx context.Context, t *Thread) error {
	if err := t.Begin(ctx); err != nil {
		return err
	}
	if !t.Snap.IsPull() {
		return fmt.Errorf("%w: number %d is an issue; name the pull request that closes it", ErrNumber, t.Event.Number)
	}
	return nil
}

// Look reads what Begin reads, and changes nothing: it deletes no comment and posts none about wrong settings.
func Look(ctx context.Context, t *Thread) error {
	if t.Survey == nil {
		if err := t.Read(ctx); err != nil {
			return err
		}
		if err := Configure(t); err != nil {
			return err
		}
	}
	if len(t.State.Deleted) > 0 && t.Snap.IsPull() { // commits may tell what was lost
		if err := Attest(ctx, t, turn.Candidates(t.Snap, t.State, t.Policy)); err != nil {
			return err
		}
		FindLost(t)
	}
	return CheckIdentity(ctx, t)
}

// Read reads a new snapshot and derives the state from it.
func (t *Thread) Read(ctx context.Context) error {
	q := github.Query{Repo: t.Event.Repo, Number: t.Event.Number, Node: t.Event.CommentNode, Branch: t.Branch}
	if !t.Event.Author.Bot {
		q.Author = t.Event.Author.Login
	}
	if t.Event.Name == "issues" && !t.Event.Sender.Bot { // who put the label on
		q.Sender = t.Event.Sender.Login
	}
	askAlong(t, &q)
	q.Source = sourceOf(t)
	known, since := t.Memory.Comments, t.Memory.ReadAt
	q.Edited = since.IsZero() // what changes on old reviews during the run is the next one's
	q.Settled = func(s model.Snapshot, read []model.Comment) (model.Mark, bool) {
		if !since.IsZero() { // only what is newer than the last reading of this run is news
			return model.Mark{At: since, ID: turn.Newest(known)}, true
		}
		mark, settled := Settled(t, s, read)
		if !settled { // what has settled it may name the repository as it was called
			if news, err := Learn(ctx, t.World, t.Event.Repo, t.Codec.Fold(read, Scope(t)).Elsewhere); err == nil && news { // the end of the reading asks again
				return Settled(t, s, read)
			}
		}
		return mark, settled
	}
	q.Posted = func(s model.Snapshot, c model.Comment) (string, bool) {
		i := slices.IndexFunc(known, func(k model.Comment) bool { return k.Kind == c.Kind && k.ID == c.ID && k.Posted != "" })
		if i >= 0 {
			return known[i].Posted, false
		}
		return "", command.Altered(c, s, t.Event)
	}
	snap, err := t.GitHub.Threads.Snapshot(ctx, q)
	if err != nil {
		return err
	}
	if q.Edited {
		t.Memory.Edited = snap.ReadAt
	} else if snap.ReviewFloor != 0 || len(snap.LongReviews) > 0 {
		snap.Edited = t.Memory.Edited
	}
	t.Snap = Recall(snap, known, t.Memory.Floor)
	t.unchanged = t.Snap
	t.Memory.Comments, t.Memory.ReadAt, t.Memory.Floor = t.Snap.Comments, snap.ReadAt, t.Snap.Floor
	maps.Copy(t.Memory.Rights, snap.Permissions)
	if q.Source != 0 && snap.Pull.Issue != nil {
		t.Memory.Source = snap.Pull.Issue
	}
	t.Report.HeadSHA = snap.Pull.HeadSHA
	Take(t, t.Applier().Overlay(t.Snap, t.Event.Repo, t.Event.Number))
	if err := LearnNames(ctx, t); err != nil {
		return err
	}
	return CheckIdentity(ctx, t)
}

// Take uses a snapshot that was just read: it completes it and derives the state from it.
func Take(t *Thread, snap model.Snapshot) {
	t.Snap, t.ReadAt = snap, t.Now()
	complete(t)
	Fold(t)
}

// sourceOf is the number of the issue that the pull request is for, by what was read before, where GitHub does not know of it: a
// design closes none. 0 for none.
func sourceOf(t *Thread) int {
	if t.Snap.Pull.Issue != nil || t.Memory.Source != nil || t.Snap.Pull.CrossRepo {
		return 0
	}
	if said := t.State.Tracked; said != nil && said.Marker.Issue != 0 {
		return said.Marker.Issue
	}
	return flow.DesignOf(t.Snap.Pull.HeadRef)
}

// ReadSource reads the issue that a pull request came from, unless it was read before.
func ReadSource(ctx context.Context, t *Thread) error {
	number := sourceOf(t)
	if number == 0 {
		return nil
	}
	snap, err := t.GitHub.Threads.Snapshot(ctx, github.Query{Repo: t.Event.Repo, Number: number, Settled: func(s model.Snapshot, _ []model.Comment) (model.Mark, bool) {
		return model.Mark{At: s.ReadAt}, true
	}})
	if k := github.KindOf(err); k == github.NotFound || k == github.Gone {
		return nil
	}
	if err != nil {
		return err
	}
	t.Memory.Source, t.Snap.Pull.Issue = snap.Issue(), snap.Issue()
	return nil
}

// Memory holds what a run remembers from one reading of a thread to the next.
type Memory struct {
	Comments []model.Comment
	ReadAt   time.Time // when it was last read, on GitHub's clock
	Edited   time.Time // when edits of old review comments were last looked for
	Floor    time.Time
	Rights   map[string]model.Permission // by lower-case login
	Unsigned bool                        // the log has the warning that a granted right is not signed
	// Relations are those of two heads, by both SHAs in a row. They never change.
	Relations map[string]model.Relation
	// Temp is the directory for this run's agents, and Sessions the one for their sessions. Each is empty until it is needed. Sessions
	// is not inside Temp, since an agent could rename what is there.
	Temp, Sessions string
	Scanner        *leak.Scanner // nil until it is needed
	// Failures are the failed workflow runs on the head FailedOn.
	Failures []model.Comment
	FailedOn string
	Runs     []model.CIRun // all runs on that head
	// Pushes are those to the head branch, with who made them. They were read when it was at PushedTo; "": they were not.
	Pushes   []model.Push
	PushedTo string
	// Source is the issue of a design's pull request, once it was read. Nothing on GitHub links the two.
	Source *model.Issue
	// Followed lists the causes of the follow-ups that are done.
	Followed []string
	// Reviewed tells how attempts at a review ended that posted none, by their claims.
	Reviewed map[string]*Stop
	// Received is the handoff of the agent's phase. Used says that a turn has used it.
	Received *Received
	Used     bool
}

// NewMemory returns an empty memory that shares these rights with other threads. With nil, no rights are known.
func NewMemory(rights map[string]model.Permission) *Memory {
	if rights == nil {
		rights = map[string]model.Permission{}
	}
	return &Memory{Rights: rights}
}

// Recall completes a snapshot that was read only down to the previous reading, with the older comments of that reading. If one of
// them had been edited since, the new snapshot would have it.
func Recall(snap model.Snapshot, known []model.Comment, floor time.Time) model.Snapshot {
	if snap.CommentsComplete || len(known) == 0 {
		return snap
	}
	type id struct {
		kind model.Kind
		id   int64
	}
	read := map[id]bool{}
	for _, c := range snap.Comments {
		read[id{c.Kind, c.ID}] = true
	}
	for _, c := range known {
		below := !c.UpdatedAt.After(snap.Floor)
		if c.Kind != model.KindIssue {
			below = cmp.Or(c.ReviewID, c.ID) < snap.ReviewFloor || slices.Contains(snap.LongReviews, c.ReviewID)
		}
		if below && !read[id{c.Kind, c.ID}] {
			snap.Comments = append(snap.Comments, c)
		}
	}
	snap.Floor = floor
	return snap
}

// Fold derives the state from what was read. It warns once of each marker that does not count.
func Fold(t *Thread) {
	t.Snap.Comments = journal.Attribute(t.Snap.Comments, Scope(t))
	t.State, t.Lost = t.Codec.Fold(t.Snap.Comments, Scope(t)), nil
	t.State.Lift(t.Lifted)
	RecallFailures(t)
	foldMore(t)
	t.Snap.Comments = turn.AsSent(t.Snap, t.State, t.Event, command.IsCommand)
	if t.Reported == nil {
		t.Reported = map[int64]bool{}
	}
	for _, d := range t.State.Distrusted {
		if !t.Reported[d.CommentID] {
			t.Reported[d.CommentID] = true
			t.Log.Warn("marker_ignored", t.NumberKey(), t.Event.Number, "comment", d.URL, "reason", d.Reason)
		}
	}
}

// Scope returns the scope for reading markers: whose markers count, and about which number.
func Scope(t *Thread) journal.Scope {
	return journal.Scope{
		Repo: t.Event.Repo, Formerly: Formerly(t.World, t.Event.Repo), Number: t.Event.Number, Viewer: t.Snap.Viewer.Login, Bots: Trusted(t),
		Deletions: slices.DeleteFunc(slices.Clone(t.Snap.Deletions), func(d model.Deletion) bool { return !d.At.After(t.Snap.Floor) }),
		Cut:       !t.Snap.CommentsComplete, Now: t.Snap.ReadAt,
	}
}

// Received is a handoff as this run read it.
type Received struct {
	handoff.Handoff
	Err    error  // it was refused
	Digest string // of all that was handed over
}

// Reacted notes our reaction to a comment. GitHub does not report it when only newer comments are read.
func (m *Memory) Reacted(c model.Comment, sign string) {
	for i, known := range m.Comments {
		if known.Kind == c.Kind && known.ID == c.ID {
			m.Comments[i].Seen = known.Seen || sign == github.ReactionEyes
			m.Comments[i].Closed = known.Closed || sign != github.ReactionEyes
		}
	}
}

// MakePlaces creates the directories Temp and Sessions of the memory, unless they exist.
func MakePlaces(t *Thread) error {
	for _, dir := range []*string{&t.Memory.Temp, &t.Memory.Sessions} {
		if *dir != "" {
			continue
		}
		made, err := t.Git.Scratch.Make(t.Git.Temp, "agent", t.Log)
		if err != nil {
			return fmt.Errorf("create the agent's directory: %w", err)
		}
		*dir = made
	}
	return nil
}

// Leave removes what the run's agents left outside of the checkout.
func (m *Memory) Leave(log *slog.Logger) {
	for _, dir := range []string{m.Temp, m.Sessions} {
		if dir == "" {
			continue
		}
		if err := scratch.RemoveAll(dir); err != nil {
			log.Warn("agent_directory_not_removed", "error", err)
		}
	}
}
