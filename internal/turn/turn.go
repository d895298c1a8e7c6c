// Package turn decides everything about one turn that can be decided without touching the world: which feedback is
// pending, which claim is the turn's, what the agent is asked, whether its answer holds, and what is then to be said.
package turn

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/mergexo/mergexo/internal/model"
)

// MaxAttempts is how often one turn key is tried before the pull request blocks.
const MaxAttempts = 3

// Policy is what the settings say about whose words count.
type Policy struct {
	AllowedUsers []string // empty: people with write permission
	Bots         []string // further logins of ours
	Track        []string // globs of head branches
	IgnoreLabel  string
	MaxPerTurn   int
}

// Tracked says whether the pull request is MergeXO's business: by its marker, or because its head is a branch of this
// repository that the settings track.
func Tracked(p model.Pull, st model.State, policy Policy) bool {
	if st.Tracked != nil || len(st.Turns) > 0 {
		return true
	}
	return !p.CrossRepo && slices.ContainsFunc(policy.Track, func(glob string) bool {
		ok, _ := doublestar.Match(glob, p.HeadRef) // the settings were checked: the pattern is well-formed
		return ok
	})
}

// Paused says that a person has taken over: the ignore label is on the pull request or on its source issue.
func Paused(p model.Pull, policy Policy) bool {
	has := func(labels []string) bool {
		return slices.ContainsFunc(labels, func(l string) bool { return strings.EqualFold(l, policy.IgnoreLabel) })
	}
	return policy.IgnoreLabel != "" && (has(p.Labels) || p.Issue != nil && has(p.Issue.Labels))
}

// Candidates is all feedback that no receipt answers, oldest first, before anybody's rights are looked at.
func Candidates(s model.Snapshot, st model.State, policy Policy) []model.Comment {
	var out []model.Comment
	for _, c := range s.Comments {
		switch {
		case c.Ours, c.Author.Bot, c.Author.Login == "":
		case slices.ContainsFunc(policy.Bots, func(l string) bool { return strings.EqualFold(l, c.Author.Login) }):
		case strings.TrimSpace(c.Body) == "":
		case IsCommand(c.Body):
		case st.Answered[c.Key(s.Pull.Number)]:
		// Paging stopped at a receipt: what is older is settled, by receipts that were not read.
		case !s.Floor.IsZero() && !c.UpdatedAt.After(s.Floor) && st.Settled.Settles(c):
		default:
			out = append(out, c)
		}
	}
	slices.SortStableFunc(out, func(a, b model.Comment) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	return out
}

// Unasked lists the people whose permission decides about a candidate and is not known yet, each once. Only those are
// asked about whose association makes write permission possible
// (https://docs.github.com/en/graphql/reference/enums#commentauthorassociation), and only about what no receipt has passed
// over: whoever was not heard then is not asked about at every event since.
func Unasked(candidates []model.Comment, known map[string]model.Permission, settled model.Mark, policy Policy) []string {
	if len(policy.AllowedUsers) > 0 {
		return nil
	}
	var ask []string
	for _, c := range candidates {
		login := strings.ToLower(c.Author.Login)
		if _, ok := known[login]; ok || !insider(c.Association) || slices.Contains(ask, login) || settled.Settles(c) {
			continue
		}
		ask = append(ask, login)
	}
	return ask
}

func insider(association string) bool {
	return association == "OWNER" || association == "MEMBER" || association == "COLLABORATOR"
}

// Allowed keeps the candidates whose authors have the right to steer the agent.
func Allowed(candidates []model.Comment, known map[string]model.Permission, policy Policy) []model.Comment {
	return slices.DeleteFunc(slices.Clone(candidates), func(c model.Comment) bool {
		if len(policy.AllowedUsers) > 0 {
			return !slices.ContainsFunc(policy.AllowedUsers, func(l string) bool { return strings.EqualFold(l, c.Author.Login) })
		}
		return !insider(c.Association) || known[strings.ToLower(c.Author.Login)] < model.PermissionWrite
	})
}

// IsCommand says that a comment speaks to MergeXO and not to the agent: a line outside of quotes, code and HTML comments
// begins with "/mergexo".
func IsCommand(body string) bool {
	fence, hidden := "", false
	for line := range strings.Lines(body) {
		trimmed := strings.TrimSpace(line)
		if hidden {
			hidden = !strings.Contains(trimmed, "-->")
			continue
		}
		if mark := fenceMark(trimmed); mark != "" {
			if fence == "" {
				fence = mark
			} else if mark[0] == fence[0] && len(mark) >= len(fence) {
				fence = ""
			}
			continue
		}
		if fence != "" {
			continue
		}
		if before, after, ok := strings.Cut(trimmed, "<!--"); ok {
			hidden = !strings.Contains(after, "-->")
			trimmed = before
		}
		if indented := strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t"); indented {
			continue
		}
		if word, _, _ := strings.Cut(trimmed, " "); word == "/mergexo" {
			return true
		}
	}
	return false
}

func fenceMark(line string) string {
	for _, c := range []string{"`", "~"} {
		if n := len(line) - len(strings.TrimLeft(line, c)); n >= 3 {
			return line[:n]
		}
	}
	return ""
}

// maxBatch is how much feedback a turn takes at most, whatever the settings say: its receipt names every event and token
// in one comment.
const maxBatch = 200

// Batch splits off what fits into one turn; the rest is the next turn's.
func Batch(pending []model.Comment, policy Policy) (now, later []model.Comment) {
	n := min(len(pending), maxBatch)
	if policy.MaxPerTurn > 0 {
		n = min(n, policy.MaxPerTurn)
	}
	return pending[:n], pending[n:]
}

// Keys are the event keys of the feedback on pull request number.
func Keys(number int, feedback []model.Comment) []string {
	keys := make([]string, len(feedback))
	for i, c := range feedback {
		keys[i] = c.Key(number)
	}
	slices.Sort(keys)
	return keys
}

// Since is the mark that a turn over this snapshot sets, given what it leaves for later. Something said a moment earlier
// that the reading missed, since GitHub answers from replicas, is not lost by it: the next reading reaches below the mark
// by the rest of a page, and judges by the receipts themselves all that it reaches.
func Since(s model.Snapshot, later []model.Comment) model.Mark {
	mark := model.Mark{At: s.ReadAt, ID: Newest(s.Comments)}
	for _, c := range later {
		mark.ID = 0
		if c.UpdatedAt.Before(mark.At) {
			mark.At = c.UpdatedAt
		}
	}
	mark.At = mark.At.UTC().Truncate(time.Second)
	return mark
}

// Newest is the highest id of a conversation comment among these.
func Newest(comments []model.Comment) int64 {
	var id int64
	for _, c := range comments {
		if c.Kind == model.KindIssue {
			id = max(id, c.ID)
		}
	}
	return id
}

// Open are the claims of turns that have not come to an end.
func Open(st model.State) []model.Said[model.TurnMarker] {
	var open []model.Said[model.TurnMarker]
	for _, t := range st.Turns {
		if t.Marker.Phase == model.PhaseStarted || t.Marker.Phase == model.PhasePlanned {
			open = append(open, t)
		}
	}
	return open
}

// Attempts is the highest attempt that a turn key has seen.
func Attempts(st model.State, key string) int {
	n := 0
	for _, t := range st.Turns {
		if t.Marker.Key == key && t.Marker.Phase != model.PhaseDone {
			n = max(n, t.Marker.Attempt)
		}
	}
	return n
}

// Liveness is what a claim's marker alone says about the process behind it.
type Liveness int

// What can be said about a claim.
const (
	Dead Liveness = iota
	Live
	AskRun // only the state of its workflow run tells
)

// Alive judges a claim by its marker, as seen by a run with this id and attempt at this time of the server.
func Alive(m model.TurnMarker, run int64, runAttempt int, now time.Time) Liveness {
	switch {
	case !m.Expires.IsZero() && now.After(m.Expires):
		return Dead
	case m.Run == 0:
		return Live
	case m.Run == run && m.RunAttempt < runAttempt:
		return Dead
	case m.Run == run:
		return Live
	}
	return AskRun
}

// AliveByRun judges a claim by what GitHub knows of its workflow run. A run that GitHub does not know is live until the
// claim expires: a token without the right to read Actions must not make us run beside somebody.
func AliveByRun(m model.TurnMarker, r model.RunState) Liveness {
	if r.Known && (r.Completed || r.Attempt > m.RunAttempt) {
		return Dead
	}
	return Live
}

// Forbidden gives the first rule that a change breaks, and the path, or "".
func Forbidden(changes []model.Change, globs []string) (file, rule string) {
	for _, c := range changes {
		for _, g := range globs {
			if ok, _ := doublestar.Match(g, c.Path); ok {
				return c.Path, "forbid_paths " + g
			}
		}
		switch {
		case c.Mode == "160000" && c.OldMode != "160000":
			return c.Path, "a new submodule"
		case c.Mode == "120000" && leaves(c.Path, c.Target):
			return c.Path, "a symbolic link that leaves the tree"
		case c.Size > MaxFile:
			return c.Path, "a file over 100 MB, which GitHub refuses"
		}
	}
	return "", ""
}

// MaxFile is the size in bytes of the largest file that GitHub takes
// (https://docs.github.com/en/repositories/working-with-files/managing-large-files/about-large-files-on-github).
const MaxFile = 100 << 20

func leaves(link, target string) bool {
	if path.IsAbs(target) {
		return true
	}
	p := path.Join(path.Dir(link), target)
	first, _, _ := strings.Cut(p, "/")
	return first == ".." || strings.EqualFold(first, ".git")
}
