package sandbox

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/mergexo/internal/model"
)

// QueueEntry is a pull request in the merge queue of its base.
// https://docs.github.com/en/repositories/configuring-branches-and-merges-in-your-repository/configuring-pull-request-merges/managing-a-merge-queue
type QueueEntry struct {
	ID       int64
	Number   int
	Enqueuer string // login
	At       time.Time
	Base     string `json:",omitempty"` // the commit that Group stands on
	Group    string `json:",omitempty"` // the commit that is tested and lands; empty: it is not built yet
}

// QueueEvent is a pull request that came into the queue or left it, merged or not.
type QueueEvent struct {
	ID     int64
	On     bool
	Actor  string // login
	At     time.Time
	Reason string `json:",omitempty"` // why it left; GitHub leaves it out at times
	Before string `json:",omitempty"` // the commit that was tested
}

// The words of GitHub for how pull requests leave the queue, as people have seen them:
// https://github.com/open-metadata/OpenMetadata/pull/30752. The word for a conflict is that of the webhook, in small letters.
const (
	leftMerged   = "merged"
	leftFailed   = "failed_checks"
	leftManual   = "manual"
	leftConflict = "merge_conflict"
)

const (
	queueBot  = "github-merge-queue[bot]" // https://github.com/objectstack-ai/objectstack/issues/19343
	queueOnly = "Changes must be made through the merge queue"
)

// queued is the entry of a pull request, or nil.
func (i *Issue) queued() *QueueEntry {
	if i.Pull == nil {
		return nil
	}
	for _, e := range i.repo.Queues[i.Pull.BaseRef] {
		if e.Number == i.Number {
			return e
		}
	}
	return nil
}

// hasQueue tells whether the base of a pull request has a merge queue.
func (i *Issue) hasQueue() bool {
	p := i.repo.protection(i.Pull.BaseRef)
	return p != nil && p.Queue != ""
}

// enqueue puts a pull request into the queue. What it says where it does not is not documented: only that it refuses is.
func (k queues) enqueue(i *Issue, u *User, expected string) (*QueueEntry, error) {
	refuse := func(why string) (*QueueEntry, error) {
		return nil, &refusal{kind: "UNPROCESSABLE", message: why}
	}
	p := i.repo.protection(i.Pull.BaseRef)
	switch head := k.pulls.headSHA(i); {
	case i.State != "open":
		return refuse("Pull request is closed")
	case !i.hasQueue():
		return refuse("Merge queue is not enabled for the base branch")
	case i.queued() != nil:
		return refuse("Pull request is already in the queue")
	case expected != "" && expected != head || i.Pull.NewHead != nil:
		return refuse("Head sha didn't match expected head")
	case i.Pull.Draft, p.Approvals > k.pulls.approvals(i), i.repo.checksMissing(p, head) != "", k.git.isAncestor(i.repo, head, k.pulls.baseSHA(i)):
		return refuse("Pull request is not mergeable")
	}
	e := &QueueEntry{ID: k.world.nextID(), Number: i.Number, Enqueuer: u.Login, At: k.world.now()}
	if i.repo.Queues == nil {
		i.repo.Queues = map[string][]*QueueEntry{}
	}
	base := i.Pull.BaseRef
	i.repo.Queues[base] = append(i.repo.Queues[base], e)
	i.Pull.QueueEvents = append(i.Pull.QueueEvents, &QueueEvent{ID: k.world.nextID(), On: true, Actor: u.Login, At: e.At})
	k.world.changed()
	k.hooks.pull(i, "enqueued", u, nil)
	return e, k.advance(i.repo, base)
}

// leave takes a pull request out of the queue, where it is in it. GitHub does so at every push and close, too.
func (k queues) leave(i *Issue, actor *User, reason string) {
	e := i.queued()
	if e == nil {
		return
	}
	base := i.Pull.BaseRef
	i.repo.Queues[base] = slices.DeleteFunc(i.repo.Queues[base], func(other *QueueEntry) bool { return other == e })
	i.Pull.QueueEvents = append(i.Pull.QueueEvents, &QueueEvent{ID: k.world.nextID(), Actor: actor.Login, At: k.world.now(), Reason: reason, Before: e.Group})
	k.world.changed()
	k.hooks.pull(i, "dequeued", actor, obj{"reason": strings.ToUpper(cmp.Or(reason, "unknown_removal_reason"))})
}

func (k queues) advanceAll(r *Repository) error {
	for _, base := range slices.Sorted(maps.Keys(r.Queues)) {
		if err := k.advance(r, base); err != nil {
			return err
		}
	}
	return nil
}

// advance builds what can be built of a queue, lands what has passed, and takes out what has failed.
func (k queues) advance(r *Repository, base string) error {
	p, bot := r.protection(base), k.world.ensureUser(queueBot, "Bot")
	if p == nil || p.Queue == "" {
		return nil
	}
	for at := 0; at < len(r.Queues[base]); {
		e, on := r.Queues[base][at], k.git.branchSHA(r, base)
		if at > 0 {
			on = r.Queues[base][at-1].Group
		}
		i := r.Issues[e.Number]
		if e.Base != on {
			err := k.build(i, e, on, p.Queue)
			if errors.Is(err, errConflict) {
				k.leave(i, bot, leftConflict)
				continue
			}
			if err != nil {
				return err
			}
		}
		word := r.checksMissing(p, e.Group)
		switch {
		case at > 0: // waits for those before it
			at++
		case word == "":
			if err := k.land(i, e, bot); err != nil {
				return err
			}
		case r.failing(p, e.Group):
			k.leave(i, bot, leftFailed)
		default:
			at++
		}
	}
	return nil
}

// failing tells whether a required check of a commit has failed.
func (r *Repository) failing(p *Protection, sha string) bool {
	return slices.ContainsFunc(p.Checks, func(name string) bool { return r.checkWord(name, sha) == "failing" })
}

// build makes the commit of an entry on another one. A queue that GITHUB_TOKEN filled starts no workflow:
// https://github.com/loopdive/js2/pull/1790
func (k queues) build(i *Issue, e *QueueEntry, on, method string) error {
	bot := k.world.author(queueBot)
	group, err := k.pulls.mergeTip(i, on, k.pulls.headSHA(i), &mergeInput{Method: strings.ToLower(method)}, bot)
	if err != nil {
		return err
	}
	e.Base, e.Group = on, group
	k.world.changed()
	if e.Enqueuer == actionsLogin {
		return nil
	}
	payload := obj{
		"head_sha": group, "head_ref": fmt.Sprintf("refs/heads/gh-readonly-queue/%s/pr-%d-%s", i.Pull.BaseRef, i.Number, on),
		"base_sha": on, "base_ref": "refs/heads/" + i.Pull.BaseRef,
	}
	k.hooks.deliver("merge_group", i.repo, bot, obj{"action": "checks_requested", "merge_group": payload})
	return nil
}

// land moves the base to the commit of the first entry.
func (k queues) land(i *Issue, e *QueueEntry, bot *User) error {
	if err := k.git.setRef(i.repo, refChange{"refs/heads/" + i.Pull.BaseRef, e.Base, e.Group}); err != nil {
		return fmt.Errorf("land %d by the merge queue: %w", i.Number, err)
	}
	k.leave(i, bot, leftMerged)
	k.pulls.markMerged(i, bot, e.Group)
	return k.refs.sync(i.repo, bot)
}

// mayQueue is the error for who may not put pull requests of a repository into its queue, or take them out. Which permissions
// a token needs is not documented: those of a merge.
func (l *look) mayQueue(r *Repository) error {
	switch {
	case l.s.tokens.lacks(l.token, r, "contents=write,pull_requests=write", false):
		return &refusal{kind: "FORBIDDEN", message: notAccessible}
	case l.s.world.permission(r, l.viewer.Login) < model.PermissionWrite:
		return &refusal{kind: "FORBIDDEN", message: l.viewer.Login + " does not have the correct permissions to execute this mutation"}
	}
	return nil
}
