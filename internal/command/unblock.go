package command

import (
	"fmt"
	"strings"

	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
)

// unblock ends a block if the last accepted head is an ancestor of the current one again, or if the operator names the
// current head. An unnamed head is never accepted.
func unblock(c Case) Answer {
	if a, ok := c.changeable(); !ok {
		return a
	}
	if c.State.Block == nil {
		return c.reject("Pull request %d is not blocked.", c.Target.Pull.Number)
	}
	if c.Facts.Problem != "" {
		return c.answer(model.Failed, "%s. Nothing was changed. Repeat the command.", c.Facts.Problem)
	}
	if c.Command.Head != "" {
		return acceptHead(c)
	}
	return restored(c)
}

func restored(c Case) Answer {
	accepted, pull := c.State.Accepted, c.Target.Pull
	head, url := pull.HeadSHA, pull.URL
	if accepted == "" { // its comment is damaged
		return c.reject("The comment that records the last accepted head is damaged. Name the head: `/mergexo unblock head_sha=%s` accepts the current one, %s.", head, markdown.Commit(url, head))
	}
	switch c.Facts.Relation {
	case model.Identical, model.Ahead:
		text := fmt.Sprintf("**Unblocked.** The last accepted head %s is part of the branch, which is at %s.", markdown.Commit(url, accepted), markdown.Commit(url, head))
		if c.State.Block.Marker.Reason == model.ReasonMarkerEdited {
			text += " The edited comment no longer counts: if it accepted a later head, compare the branch with that one."
		}
		return c.lift(head, true, text)
	}
	return c.reject("The last accepted head %s is not part of the branch, which is at %s.\n\n%s\n\n- To go back, restore the old head and comment `/mergexo unblock` again:\n  `%s`\n- To continue from what is there now, comment `/mergexo unblock head_sha=%s`.",
		markdown.Commit(url, accepted), markdown.Commit(url, head), lost(c), markdown.Restore(pull.HeadRef, head, accepted), head)
}

func acceptHead(c Case) Answer {
	head, url := c.Target.Pull.HeadSHA, c.Target.Pull.URL
	switch {
	case c.Facts.Ambiguous:
		return c.reject("Several commits in this repository begin with `%s`. Give all 40 digits of the head: `/mergexo unblock head_sha=%s`.", c.Command.Head, head)
	case strings.HasPrefix(head, c.Command.Head):
		text := fmt.Sprintf("**Unblocked.** %s is now the accepted head.", markdown.Commit(url, head))
		if l := lost(c); l != "" {
			text += "\n\n" + l
		}
		return c.lift(head, false, text)
	case c.Facts.Missing:
		return c.reject("`%s` does not name exactly one commit in this repository. The current head is %s: `/mergexo unblock head_sha=%s` accepts that.", c.Command.Head, markdown.Commit(url, head), head)
	}
	return c.reject("`%s` is not the current head of pull request %d, which is %s: only `/mergexo unblock head_sha=%s` accepts that.", c.Command.Head, c.Target.Pull.Number, markdown.Commit(url, head), head)
}

// lift is the answer that ends the block.
func (c Case) lift(head string, restored bool, text string) Answer {
	block := c.State.Block
	text += fmt.Sprintf("\n\nThe [block](%s) is over. %s", block.URL, c.goesOn("not_blocked", "markers_intact"))
	return Answer{model.Applied, text, model.UnblockMarker{
		Head: head, By: c.By, Command: c.Key, Receipt: c.State.Receipt(), Block: block.CommentID, Restored: restored,
	}}
}

// lost lists the commits that a force-push removed, and links the head that had them.
func lost(c Case) string {
	old := c.State.Accepted
	if old == "" || len(c.Facts.Lost) == 0 {
		return ""
	}
	url := c.Target.Pull.URL
	var b strings.Builder
	fmt.Fprintf(&b, "No longer on the branch, but still reachable from %s:\n", markdown.Commit(url, old))
	if c.Facts.More {
		b.WriteString("\n- (older commits)")
	}
	for _, l := range c.Facts.Lost {
		b.WriteString(markdown.Listed(url, l.SHA, l.Subject, l.Author))
	}
	return b.String()
}
