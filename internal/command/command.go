package command

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
)

// MaxPerComment is how many commands of one comment are handled; the rest get one notice.
const MaxPerComment = 5

// Said is a comment with commands in it.
type Said struct {
	Comment  model.Comment
	Commands []Command
}

// Read gives the commands of a comment as originally posted, ignoring later edits. If GitHub does not report the original
// text, it uses the text in the event that reported it.
func Read(c model.Comment, ev model.Event) (Said, bool) {
	text := c.Posted
	if text == "" && posts(ev, c) {
		text = ev.CommentBody
	}
	commands := Parse(text)
	return Said{c, commands}, len(commands) > 0
}

// posts reports whether an event is that somebody posts a comment. An edit of an old one makes it no younger.
func posts(ev model.Event, c model.Comment) bool {
	return ev.Carries(c) && (ev.Action == "created" || ev.Action == "submitted")
}

// IsCommand reports whether a comment speaks to MergeXO and not to the agent. An edit makes no command: a comment that one was
// added to is still feedback, unless it says nothing else now.
func IsCommand(c model.Comment) bool {
	now := lines(c.Body)
	if len(now) == 0 || c.Posted == "" || Is(c.Posted) {
		return len(now) > 0
	}
	said := slices.DeleteFunc(strings.Split(c.Body, "\n"), func(line string) bool { return strings.TrimSpace(line) == "" })
	return len(said) == len(now)
}

// maxAge is how long a command may wait to be handled. Somebody who had no right to give a command does not make it valid
// later by gaining that right.
const maxAge = 24 * time.Hour

// Audible reports whether a comment can hold a command at all, by cheap checks: a recent comment by a person who may be an
// operator, by what GitHub has told of that person's right so far. Parsing is expensive, and anybody can post long comments.
func (p Policy) Audible(c model.Comment, s model.Snapshot, ev model.Event, right model.Permission) bool {
	switch {
	case posts(ev, c):
		return byPerson(c)
	case p.Listed(c.Author.Login), model.Named(p.Users, c.Author.Login), p.delegated(c.Author.Login, c.SaidAt()), Inside(c), right >= model.PermissionWrite:
		return byPerson(c) && lately(c, s)
	}
	return false
}

// Whispered reports whether only the right of its author tells whether a comment is audible: somebody who hides the membership in
// the organization shows as a stranger.
func (p Policy) Whispered(c model.Comment, s model.Snapshot, ev model.Event) bool {
	return byPerson(c) && lately(c, s) && !c.Closed && !p.Audible(c, s, ev, model.PermissionNone) && strings.Contains(strings.ToLower(c.Posted), Word)
}

// Altered reports whether only the original text of an edited comment tells whether it holds a command.
func Altered(c model.Comment, s model.Snapshot, ev model.Event) bool {
	ours := c.Ours && strings.Contains(c.Body, "<!-- mergexo-") // a person's account may be ours, too
	recent := posts(ev, c) || lately(c, s) || s.ReadAt.Sub(c.UpdatedAt) < maxAge
	return c.Edited && c.Posted == "" && !c.Closed && !c.Author.Bot && !ours && recent && strings.Contains(strings.ToLower(c.Body), Word)
}

// Inside reports whether GitHub shows the author as one of the repository's people. Who hides the membership shows as a stranger.
func Inside(c model.Comment) bool {
	return slices.Contains([]string{"OWNER", "MEMBER", "COLLABORATOR"}, c.Association)
}

func byPerson(c model.Comment) bool {
	return !c.Ours && !c.Author.Bot && c.Author.Login != ""
}

func lately(c model.Comment, s model.Snapshot) bool {
	return c.Seen || s.ReadAt.Sub(c.SaidAt()) < maxAge
}

// Key names one command: the event key of its comment as posted, plus its position for all but the first.
func (s Said) Key(number, i int) string {
	key := model.EventKey(number, s.Comment.Kind, s.Comment.ID, s.Comment.CreatedAt)
	if i > 0 {
		key += "#" + strconv.Itoa(i+1)
	}
	return key
}

// Role is what the author of a command may do.
type Role int

// The roles.
const (
	Stranger Role = iota // not answered: otherwise anybody who can read could make us post
	Refused              // has access here, and is told that this command is not theirs to give
	Delegate             // may have this pull request merged
	Operator
)

// Policy is what the settings say about commands.
type Policy struct {
	Operators       []string         // logins; empty: people who may maintain or administer
	Users           []string         // logins whose feedback counts by the settings, whatever their access: they are answered
	OperationsIssue int              // 0: none
	Delegates       []model.Delegate // of the pull request at hand
}

// Role derives a person's role from the settings and from the permission that GitHub reports.
func (p Policy) Role(login string, permission model.Permission) Role {
	operator := permission >= model.PermissionMaintain
	if len(p.Operators) > 0 {
		operator = p.Listed(login)
	}
	switch {
	case operator:
		return Operator
	case permission >= model.PermissionWrite, model.Named(p.Users, login):
		return Refused
	}
	return Stranger
}

// Listed reports whether the settings name somebody as an operator, whatever GitHub says.
func (p Policy) Listed(login string) bool { return model.Named(p.Operators, login) }

// Case is everything that the decision about one command depends on.
type Case struct {
	Command Command
	By      string    // login
	Key     string    // the command's
	At      time.Time // when it was given
	URL     string    // of its comment; "" for none
	Policy  Policy
	// Thread is the number that the command was given on; Away says that a person had taken over there at that time.
	Thread int
	Away   bool
	// Terminal says that it was given at a terminal, where no turns run.
	Terminal bool
	// Target is the pull request that the command is about, and State the state derived from our comments there.
	Target model.Snapshot
	State  model.State
	Agent  string // adapter
	Gates  []model.Gate
	Facts  Facts
	// MergeGates are the conditions of a merge, for `why`; nil if they were not evaluated.
	MergeGates []model.Gate
	// Found is the result of further lookups for merge and revert; nil before them.
	Found *Found
	// Status is the pull request's status in brief.
	Status model.Status
}

// Facts are what had to be looked up for one command.
type Facts struct {
	// Relation compares the current head with the last accepted one.
	Relation model.Relation
	// Lost are the commits of the last accepted head that the current head lacks, oldest first; More says that there are
	// older ones too.
	Lost []model.Commit
	More bool
	// Ambiguous says that the given abbreviated SHA matches several commits, Missing that it matches none.
	Ambiguous, Missing bool
	// Halted says that no run is at the merge, which one has begun.
	Halted bool
	// Permission is that of the person whom the command names.
	Permission model.Permission
	// Problem is set when a fact could not be determined.
	Problem string
}

// Answer is the reply to a command. Marker takes effect: a model.UnblockMarker, PRMarker, MergeMarker or CommandMarker.
type Answer struct {
	Verdict model.Verdict
	Text    string
	Marker  any
}

// Changes reports whether the command changes something, and so must be answered where it does.
func (a Answer) Changes() bool {
	c, plain := a.Marker.(model.CommandMarker)
	v, _ := verbNamed(c.Command)
	return !plain || c.Result == model.Applied && (v.changes || strings.HasSuffix(c.Command, " "+wordCancel))
}

// Decide answers an operator's command.
func Decide(c Case) Answer {
	if c.Command.Problem != "" {
		return c.mistaken()
	}
	v, ok := verbNamed(c.Command.Name)
	if !ok {
		return help(c)
	}
	return v.decide(c)
}

// sentence ends a text with a full stop, unless it is a question.
func sentence(s string) string {
	if s = strings.ToUpper(s[:1]) + s[1:]; strings.HasSuffix(s, "?") {
		return s
	}
	return s + "."
}

// Refuse answers a command of somebody who has access here but may not give it.
func Refuse(c Case) Answer {
	who := "people with the maintain or admin role in this repository"
	if len(c.Policy.Operators) > 0 {
		who = "the operators that the settings name in `[repo] operators`"
	}
	return c.reject("Only %s can give commands. Ask one of them to repeat this command.", who)
}

// TooMany answers all commands of a comment beyond the first few.
func TooMany(c Case) Answer {
	a := c.reject("This comment holds more than %d commands. The first ones were answered; put the others in separate comments.", MaxPerComment)
	m, _ := a.Marker.(model.CommandMarker)
	m.Notice = true
	a.Marker = m
	return a
}

func (c Case) answer(v model.Verdict, format string, args ...any) Answer {
	return Answer{v, fmt.Sprintf(format, args...), model.CommandMarker{Key: c.Key, Command: c.Command.Name, Result: v, By: c.By, At: c.At}}
}

func (c Case) apply(format string, args ...any) Answer {
	return c.answer(model.Applied, format, args...)
}
func (c Case) reject(format string, args ...any) Answer {
	return c.answer(model.Rejected, format, args...)
}

// changeable rejects a changing command where nothing may be changed.
func (c Case) changeable() (Answer, bool) {
	pull := c.Target.Pull
	switch {
	case pull.State != model.PullOpen:
		return c.reject("Pull request %d is %s; nothing can be done here.", pull.Number, strings.ToLower(string(pull.State))), false
	case c.Away:
		return c.reject("A person had already taken over by adding a label. Remove the label, then repeat the command."), false
	}
	return Answer{}, true
}

// tracked is changeable plus: the pull request must be tracked.
func (c Case) tracked() (Answer, bool) {
	if a, ok := c.changeable(); !ok {
		return a, false
	}
	if g, is := model.Unmet(c.Gates, "tracked"); is {
		return c.reject("Pull request %d is not tracked: %s.", c.Target.Pull.Number, markdown.Plain(g.Evidence)), false
	}
	return Answer{}, true
}

// goesOn says what happens now that these gates have opened: pending work resumes, unless another gate is closed.
func (c Case) goesOn(opened ...model.GateName) string {
	for _, g := range c.Gates {
		if !g.Met && !slices.Contains(opened, g.Name) {
			return "No turn starts yet: " + markdown.Plain(g.Evidence) + "."
		}
	}
	if c.Terminal {
		return "The next run handles pending feedback."
	}
	return "Pending feedback is handled now."
}

// lead is what a reply begins with if its text does not say it in bold itself.
func (a Answer) lead() string {
	switch notice, _ := a.Marker.(model.CommandMarker); {
	case strings.HasPrefix(a.Text, "**"):
		return ""
	case a.Verdict == model.Rejected && notice.Notice:
		return "**Too many commands.** "
	case a.Verdict == model.Rejected:
		return "**Nothing was changed.** "
	case a.Verdict == model.Failed:
		return "**That did not work.** "
	}
	return ""
}

// Text is the reply that people read: what happened and why, and the command that it answers.
func Text(said Said, i int, a Answer) string {
	line := Word
	if i < len(said.Commands) {
		line = said.Commands[i].Text
	}
	if m, ok := a.Marker.(model.CommandMarker); ok && m.Notice {
		line = Word + " …"
	}
	asked := fmt.Sprintf("%s · [comment](%s) by %s", markdown.Inline(markdown.Clip(line)), said.Comment.URL, said.Comment.Author.Login)
	switch a.Marker.(type) {
	case model.MergeMarker, model.ReviewMarker: // the comment tells of the work as it goes on, below who asked for it
		return asked + "\n\n" + a.lead() + a.Text
	}
	return a.lead() + a.Text + "\n\n" + asked
}
