package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
)

// unheard is a world in which something has happened of which no run hears.
type unheard struct {
	red    bool                // sweeps do not see it, or visit the number again and again
	daily  bool                // sweeps see it on the next day
	sees   string              // what a user sees because of that
	event  string              // whose run would see it; "": pull_request
	done   func(w *world) bool // reports whether that run has done its work; nil: it has none
	begins func(t *testing.T) *world
}

// asksToWait has carol ask for a merge that something is in the way of.
func (w *world) asksToWait() *world {
	w.t.Helper()
	w.command("carol", "/mergexo merge")
	require.Contains(w.t, fmt.Sprint(w.merges()), "in_approval", w.logged.String())
	return w.atRest()
}

// resets puts other words into the settings.
func (w *world) resets(before, after string) *world {
	w.t.Helper()
	was := w.fileOf("main", ".github/mergexo.toml")
	require.Contains(w.t, was, before)
	w.write("octo", "main", ".github/mergexo.toml", strings.Replace(was, before, after, 1))
	return w
}

// becomes gives somebody another right in the repository.
func (w *world) becomes(login, permission string) *world {
	w.t.Helper()
	w.put("/_sandbox/users/"+login, object{"type": "User", "repository": repo.String(), "permission": permission})
	return w
}

// posts is a comment of ours with a marker.
func (w *world) posts(kind string, marker any) {
	w.t.Helper()
	body := must.Get(journal.Codec{}.Encode(journal.Body{Text: "Ours.", Kind: kind, Marker: marker}))(w.t)
	w.talk("actions", body)
}

// spoils has somebody edit a reply of ours while a request to merge waits.
func (w *world) spoils() *world {
	w.t.Helper()
	w.command("carol", "/mergexo why")
	w.asksToWait()
	replies := w.marked("command", "")
	last := replies[len(replies)-1]
	edited := object{"body": "Edited.\n\n" + last["body"].(string)}
	w.api("octo", "PATCH", w.path(fmt.Sprintf("/issues/comments/%d", last.id())), edited)
	return w
}

// takenOver is an approved pull request whose issue, with number 2, a person has taken over.
func takenOver(t *testing.T) *world {
	t.Helper()
	w := newMerge(t)
	w.open("alice", "French", "")
	w.labels("octo", "agent:ignore")
	w.second("agent/design/2-french", "french.txt")
	w.api("octo", "PATCH", w.pull(""), object{"body": "Refs #2"})
	w.posts(journal.KindPR, model.PRMarker{
		Repo: repo.String(), Number: w.number, Issue: 2, Flow: "design", Branch: w.head, Agent: "command", Base: "main", Head: w.tip(),
	})
	w.approve("alice")
	return w
}

// auto is a world at rest in which a merge is asked for without a command. more are lines of [merge].
func auto(t *testing.T, mode string, more ...string) *world {
	t.Helper()
	lines := append([]string{"[merge]", `tests = "none"`, fmt.Sprintf("auto = %q", mode)}, more...)
	return newWorld(t, "", strings.Join(lines, "\n")).atRest()
}

func isMerged(w *world) bool    { return w.badge() == "merged" }
func isBlocked(w *world) bool   { return len(w.marked("block", "")) == 1 }
func isAnswered(w *world) bool  { return len(w.marked("turn", "done")) == 1 }
func isObeyed(w *world) bool    { return len(w.marked("command", "")) == 1 }
func isCancelled(w *world) bool { return slices.Equal(w.merges(), []string{"merge_failed CANCELLED"}) }
func isChecked(w *world) bool   { return strings.Contains(fmt.Sprint(w.comments()), planFile) }

const (
	waitsForever = "the merge waits for ever"
	notMerged    = "it is not merged"
	noReason     = "the merge waits, and nobody learns why"
	noAnswer     = "nobody answers"
	notTold      = "its author is not told"
	costly       = "every sweep spends calls on it"
)

var worlds = map[string]unheard{
	"D1 its issue is given back": {sees: waitsForever, done: isMerged, begins: func(t *testing.T) *world {
		w := takenOver(t).asksToWait()
		pull := w.number
		w.number = 2
		w.unlabel("octo", "agent:ignore")
		w.number = pull
		return w
	}},
	"D2 one of two approvals asks for the merge": {sees: costly, begins: func(t *testing.T) *world {
		w := auto(t, "approval", "approvals = 2")
		w.approve("alice")
		return w
	}},
	"D3 a revert of what has landed": {sees: noAnswer, event: "issue_comment", done: func(w *world) bool {
		return len(w.opened()) == 1
	}, begins: func(t *testing.T) *world {
		w := merged(t).atRest()
		w.talk("carol", "/mergexo revert")
		return w
	}},
	"D4 a comment of ours is edited, untracked": {sees: noReason, done: isBlocked, begins: func(t *testing.T) *world {
		w := newMerge(t)
		w.second("topic", "topic.txt")
		return w.spoils()
	}},
	"D5 the label by somebody who may not command": {sees: costly, begins: func(t *testing.T) *world {
		w := auto(t, "label")
		w.labels("alice", "merge")
		return w
	}},
	"D6 a bad roadmap, untracked": {red: true, sees: notTold, done: isChecked, begins: func(t *testing.T) *world {
		w := newWorld(t).atRest()
		w.number = w.propose("plan", planFile, "nonsense").Number
		return w
	}},
	"D7 feedback on what waits for its badge and was asked for again": {
		sees: noAnswer, event: "issue_comment", done: isAnswered, begins: func(t *testing.T) *world {
			w := newUnshown(t, 1000)
			w.labels("carol", "mergexo:freeze")
			w.asksToWait().talk("alice", "Answer me.")
			return w
		},
	},
	// No run of today leaves this: what we say on a member of a group does not wait.
	"D8 the request of a member is cancelled": {sees: waitsForever, done: isCancelled, begins: func(t *testing.T) *world {
		w := newMerge(t).atRest()
		w.posts(journal.KindMerge, model.MergeMarker{
			Repo: repo.String(), Number: w.number, State: model.MergeWaiting, Reason: model.CodeCancelled, Leader: "octo/client#1",
			Command: "k", By: "carol", Head: w.tip(), Base: "main",
		})
		return w
	}},
	"D9 a comment twice on a closed pull request": {sees: "both stay", done: func(w *world) bool {
		return len(w.marked("merge", "")) == 1
	}, begins: func(t *testing.T) *world {
		w := merged(t).atRest()
		w.talk("actions", w.request())
		return w
	}},
	"D10 the approval is older than ten reviews": {red: true, sees: notMerged, done: isMerged, begins: func(t *testing.T) *world {
		w := auto(t, "approval")
		w.approve("alice")
		for range 11 {
			w.opinion("eve", "COMMENT")
		}
		return w
	}},
	"D11 the settings want fewer approvals": {sees: waitsForever, done: isMerged, begins: func(t *testing.T) *world {
		return newMerge(t, "approvals = 2").asksToWait().resets("approvals = 2", "approvals = 1")
	}},
	"D12 the approver may write by now": {daily: true, sees: waitsForever, done: isMerged, begins: func(t *testing.T) *world {
		w := newWorld(t, "", "[merge]\ntests = \"none\"")
		w.approve("eve")
		return w.asksToWait().becomes("eve", "write")
	}},
	"D16 feedback where people have taken over the issue": {
		red: true, sees: costly, event: "issue_comment", begins: func(t *testing.T) *world {
			w := takenOver(t).atRest()
			w.talk("alice", "Answer me.")
			return w
		},
	},
	"D17 a command on a closed issue": {
		red: true, sees: noAnswer, event: "issue_comment", done: isObeyed, begins: func(t *testing.T) *world {
			w, ev := labelled(t, smallJob)
			w.done(w.handle(ev))
			w.setIssue(w.number, object{"state": "closed"})
			w.atRest().talk("carol", "/mergexo status")
			return w
		},
	},
	"D18 a command on an issue without a label": {
		red: true, sees: noAnswer, event: "issue_comment", done: isObeyed, begins: func(t *testing.T) *world {
			w := newIssue(t).atRest()
			w.talk("carol", "/mergexo status")
			return w
		},
	},
	"D19 a closed roadmap has more items": {red: true, sees: notTold, done: func(w *world) bool {
		return strings.Contains(w.talkOn(2), "three")
	}, begins: func(t *testing.T) *world {
		w, ev := agreed(t, "pair")
		w.handle(ev)
		w.handle(w.setIssue(w.number, object{"state": "closed"}))
		w.number = w.atRest().changePlan(func(text string) string {
			three := "\n  - key: three\n    title: Do three\n    flow: bugfix\n    needs: [two]"
			return strings.Replace(text, "\n---\n\n#", three+"\n---\n\n#", 1)
		}).Number
		return w
	}},
	"D20 a bad roadmap, tracked": {red: true, sees: notTold, done: isChecked, begins: func(t *testing.T) *world {
		w := newWorld(t).atRest()
		w.write("alice", w.head, planFile, "nonsense")
		return w
	}},
	"D24 it depends on what landed, and on words": {sees: costly, begins: func(t *testing.T) *world {
		w := dependent(t)
		w.says(2, "Depends-on: #1\n\nDepends-on: the API\n")
		w.merged(1)
		return w.asksToWait()
	}},
	"D25 a stranger approves what has failed": {sees: costly, begins: func(t *testing.T) *world {
		w := newMerge(t, `auto = "approval"`, `tests = ["false"]`)
		w.handle(w.delivery("pull_request_review"))
		w.atRest().approve("eve")
		return w
	}},

	// Sweeps that no longer visit D2 and D5 still have to see these.
	"whose label it is may command by now": {done: isMerged, begins: func(t *testing.T) *world {
		w := auto(t, "label")
		w.approve("bob")
		w.labels("alice", "merge")
		return w.atRest().becomes("alice", "maintain")
	}},
	"whose approval asks may write by now": {done: isMerged, begins: func(t *testing.T) *world {
		w := auto(t, "approval")
		w.approve("eve")
		return w.atRest().becomes("eve", "write")
	}},
}

// A sweep does what the run of an event would do on a number, and leaves the number alone where such a run has nothing to do.
func TestASweepSeesWhatTheRunOfAnEventSees(t *testing.T) {
	each(t, worlds, func(t *testing.T, _ string, row unheard) {
		w := row.begins(t)
		w.alone = row.red
		w.later(time.Minute)
		if row.daily {
			w.later(24 * time.Hour)
		}
		w.sweep()
		w.sweep()
		ev := w.latest(row.event)
		w.gate.revive()
		if row.done == nil {
			row.idles(t, w, ev)
			return
		}
		require.Equal(t, !row.red, row.done(w), "while this is red, %s; once it is not, the row loses its mark", row.sees)
		w.handle(ev)
		assert.True(t, row.done(w), "the run of an event does it: %s", w.logged.String())
		assert.Equal(t, !row.red, w.gate.writes == 0, "nothing is left to such a run: %v", w.gate.seen)
	})
}

// idles sees that neither the run of an event nor a sweep has anything to do.
func (u unheard) idles(t *testing.T, w *world, ev model.Event) {
	t.Helper()
	w.handle(ev)
	require.Zero(t, w.gate.writes, "the run of an event does nothing: %v", w.gate.seen)
	if !u.red {
		w.quiet()
		return
	}
	rep := of(w.sweep(), w.number)
	require.NotNil(t, rep, "while this is red, %s; once it is not, the row loses its mark", u.sees)
	assert.Empty(t, rep.Effects, "it is visited for nothing")
}

// latest is the newest event of this name about the number.
func (w *world) latest(name string) model.Event {
	w.t.Helper()
	if name == "" {
		name = "pull_request"
	}
	all := w.deliveries(name)
	all = slices.DeleteFunc(all, func(ev model.Event) bool { return ev.Number != w.number })
	require.NotEmpty(w.t, all, "%s of %d", name, w.number)
	return all[len(all)-1]
}
