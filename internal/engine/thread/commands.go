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

// CommandPolicy is the policy by which commands are heard on a thread: that of the settings, with the delegates of the
// pull request: an issue has none.
func CommandPolicy(t *Thread) command.Policy {
	p := t.Operators
	if p.Delegates = t.State.Delegates; len(p.Delegates) > 0 && len(t.Codec.Key) == 0 && !t.Memory.Unsigned {
		t.Memory.Unsigned = true
		t.Log.Warn("grants_not_signed", t.NumberKey(), t.Event.Number, "delegates", len(p.Delegates), "set", "the input signing-key: without it, whoever can post as MergeXO could have granted this")
	}
	return p
}

// OpenCommands are the comments with commands that have no answer yet, in the order in which they could be seen.
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

// Whisperers are the people, in lower case, who may have given a command, and whose right decides whether anybody looks closer.
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

// Unanswered are the places of a comment's commands that have no reply, the notice about all too many among them.
func Unanswered(t *Thread, said command.Said) []int {
	var places []int
	for i := range min(len(said.Commands), command.MaxPerComment+1) {
		if _, ok := t.State.Commands[said.Key(t.Event.Number, i)]; !ok {
			places = append(places, i)
		}
	}
	return places
}

// Commands are the open commands once everybody's right is known that decides about one. Those that wanted does not want are left
// out; nil wants all.
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

// CommandToken names the reply to one command; it is its receipt.
func CommandToken(key string) string { return journal.Token("command", key) }

// EffectToken names the comment that says a command where it has its effect, when that is in another conversation.
func EffectToken(key string) string { return journal.Token("command_effect", key) }
