package thread

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/mergexo/internal/command"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/turn"
)

// CommandPolicy returns the policy for commands on a thread: that of the settings, with the delegates of the pull request. An
// issue has no delegates.
func CommandPolicy(t *Thread) command.Policy {
	p := t.Operators
	if p.Delegates = t.State.Delegates; len(p.Delegates) > 0 && len(t.Codec.Key) == 0 && !t.Memory.Unsigned {
		t.Memory.Unsigned = true
		t.Log.Warn("grants_not_signed", t.NumberKey(), t.Event.Number, "delegates", len(p.Delegates), "set", "the input signing-key: without it, whoever can post as MergeXO could have granted this")
	}
	return p
}

// OpenCommands lists the comments with commands that have no answer yet, in the order in which they became visible.
func OpenCommands(t *Thread) []command.Said {
	var open []command.Said
	policy := CommandPolicy(t)
	for _, c := range t.Snap.Comments {
		if settledAsPosted(t, c) || !policy.Audible(c, t.Snap, t.Event, t.Memory.Rights[strings.ToLower(c.Author.Login)]) {
			continue
		}
		if said, ok := command.Read(c, t.Event); ok && !closed(t, said) {
			open = append(open, said)
		}
	}
	slices.SortStableFunc(open, func(a, b command.Said) int { return a.Comment.SaidAt().Compare(b.Comment.SaidAt()) })
	return open
}

// settledAsPosted says that a receipt has passed over a comment's original text: an edit makes no old command new.
func settledAsPosted(t *Thread, c model.Comment) bool {
	c.UpdatedAt = c.SaidAt()
	return t.Snap.SettledBelow(c, t.State.Settled)
}

// Whisperers lists people, in lower case, who may have given a command but whose rights are not known yet.
func Whisperers(t *Thread) []string {
	var out []string
	policy := CommandPolicy(t)
	for _, c := range t.Snap.Comments {
		login := strings.ToLower(c.Author.Login)
		if _, known := t.Memory.Rights[login]; known || slices.Contains(out, login) || settledAsPosted(t, c) || t.State.Settled.PassedOver(c) {
			continue
		}
		if policy.Whispered(c, t.Snap, t.Event) {
			out = append(out, login)
		}
	}
	return out
}

// strangers are all people, in lower case, whose right is not known and may be none, and decides about what they said: who asks
// about one of them asks about all, so that strangers cost a run one question.
func strangers(t *Thread) []string {
	ask := turn.UnknownRights(turn.Candidates(t.Snap, t.State, t.Policy), t.Memory.Rights, t.State.Settled, t.Policy)
	return slices.Concat(Whisperers(t), ask)
}

// closed says that a comment's commands were answered, whatever became of the replies: whoever deletes or spoils a reply of
// ours must not make an operator's old command be given again. Our reaction is nobody else's to take away.
func closed(t *Thread, said command.Said) bool {
	if undone(t, said) {
		return false
	}
	return said.Comment.Closed || len(Unanswered(t, said)) == 0 && !said.Comment.Seen
}

// undone says that the reply is gone that held everything up: then the command is given again, since whoever deletes a
// reply must not set going what an operator has stopped.
func undone(t *Thread, said command.Said) bool {
	c := said.Commands[0]
	_, answered := t.State.Commands[said.Key(t.Event.Number, 0)]
	if c.Name == "delegate" && c.Cancel && c.Problem == "" && !answered {
		return slices.ContainsFunc(t.State.Delegates, func(d model.Delegate) bool { return d.At.Before(said.Comment.SaidAt()) })
	}
	ended, stops := map[string]time.Time{"pause": t.State.Resumed, "release": t.State.Adopted}[c.Name]
	return stops && c.Problem == "" && len(said.Commands) == 1 && !answered && ended.Before(said.Comment.SaidAt())
}

// Unanswered lists the positions of a comment's commands that have no reply. The notice about too many commands counts as one of
// them.
func Unanswered(t *Thread, said command.Said) []int {
	var places []int
	for i := range min(len(said.Commands), command.MaxPerComment+1) {
		if _, ok := t.State.Commands[said.Key(t.Event.Number, i)]; !ok {
			places = append(places, i)
		}
	}
	return places
}

// Commands lists the open commands, after it has asked for all rights that decide about one. It leaves out those that wanted
// rejects; nil accepts all.
func Commands(ctx context.Context, t *Thread, wanted func(command.Said) bool) ([]command.Said, error) {
	find := func() []command.Said {
		return slices.DeleteFunc(OpenCommands(t), func(s command.Said) bool { return wanted != nil && !wanted(s) })
	}
	open := find()
	whispered := len(Whisperers(t)) > 0
	var ask []string // whose words could count
	if whispered {
		ask = strangers(t)
	}
	for _, said := range open {
		c := said.Comment
		login := strings.ToLower(c.Author.Login)
		if _, known := t.Memory.Rights[login]; !known && !t.Operators.Listed(login) && !t.State.Settled.PassedOver(c) && !slices.Contains(ask, login) {
			ask = append(ask, login)
		}
	}
	if err := t.Ask(ctx, ask); err != nil {
		return nil, err
	}
	if whispered {
		open = find()
	}
	return open, nil
}

// CommandToken returns the token of the reply to a command. The reply is its receipt.
func CommandToken(key string) string { return journal.Token("command", key) }

// EffectToken returns the token of the comment that names a command in the conversation where it has its effect, if that is not
// where it was given.
func EffectToken(key string) string { return journal.Token("command_effect", key) }
