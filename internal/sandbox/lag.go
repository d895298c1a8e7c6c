package sandbox

import (
	"slices"
)

// Lag is how far GitHub's picture of pull requests is behind git: they are brought up to date some time after a push, which
// here is counted in readings of the pull request at hand. Events about the change come as late as the change is shown.
// "It takes some time for GitHub to detect this pull request has been merged": https://github.com/Mergifyio/mergify/pull/4535
type Lag struct {
	Heads  int `json:",omitempty"` // readings that still show the old head after a push of the head branch
	Merges int `json:",omitempty"` // readings that still show "open" after the base got the head
	// Programs only: people take longer between two steps than GitHub needs, so whatever they ask for finds GitHub caught up.
	Programs bool `json:",omitempty"`
	// Own only: what people push is shown at once. By the time that a workflow's job begins, it is.
	Own bool `json:",omitempty"`
}

// UsualLag is how late GitHub is where nothing else is set: a program that looks at once after a push sees what was before.
// Head, merge and base are seen one after the other, so a program that does not wait in between loses the merge.
func UsualLag() Lag { return Lag{Heads: 1, Merges: 1, Programs: true} }

// lag is how late GitHub is with the pull requests of a repository.
func (pr pulls) lag(r *Repository) Lag {
	if r.Lag != nil {
		return *r.Lag
	}
	return pr.usualLag
}

// delays tells whether what somebody pushes is shown late.
func (l Lag) delays(actor *User) bool { return !l.Own || actor.Type == "Bot" }

// lateHead is a head that was pushed and is not shown yet.
type lateHead struct {
	SHA, Actor string
	Reads      int // that still show the old one
}

// lateMerge is a merge that is not shown yet.
type lateMerge struct {
	Commit, Actor string
	Reads         int // that still show the pull request open
}

// see is called for each reading of an issue or pull request, before it. Once the lag is over GitHub catches up: with the
// head first, and with a merge only when the base has the head still.
func (pr pulls) see(i *Issue) error {
	if i.Pull == nil || i.State != "open" {
		return nil
	}
	if late := i.Pull.NewHead; late != nil {
		pr.world.changed()
		if late.Reads--; late.Reads < 0 {
			i.Pull.NewHead = nil
			return pr.refs.headMoved(i, late.SHA, pr.world.author(late.Actor))
		}
	}
	if late := i.Pull.NewMerge; late != nil {
		pr.world.changed()
		if late.Reads--; late.Reads < 0 {
			i.Pull.NewMerge = nil
			if pr.git.isAncestor(i.repo, pr.headSHA(i), pr.baseSHA(i)) {
				pr.markMerged(i, pr.world.author(late.Actor), late.Commit)
			}
		}
	}
	return nil
}

// catchUp shows all that only programs see late. It is called for each request that a person makes, or that looks from outside.
func (pr pulls) catchUp() error {
	waiting := pr.core.behind
	pr.core.behind = nil
	for _, i := range waiting {
		if !pr.lag(i.repo).Programs {
			pr.core.behind = append(pr.core.behind, i)
			continue
		}
		for i.Pull.NewHead != nil || i.Pull.NewMerge != nil {
			if i.Pull.NewHead != nil {
				i.Pull.NewHead.Reads = 0
			}
			if i.Pull.NewMerge != nil {
				i.Pull.NewMerge.Reads = 0
			}
			if err := pr.see(i); err != nil {
				return err
			}
			if i.State != "open" {
				break
			}
		}
	}
	return nil
}

// falls notes that a pull request is behind.
func (pr pulls) falls(i *Issue) {
	if !slices.Contains(pr.behind, i) {
		pr.core.behind = append(pr.core.behind, i)
	}
}

// setLag makes GitHub slow from now on for the pull requests of a repository, the first one unless told.
func setLag(q *request, r *Repository, in Lag) (any, error) {
	if in.Heads < 0 || in.Merges < 0 {
		return nil, unprocessable("heads, merges: want numbers of readings")
	}
	r.Lag = &in
	return q.changed()
}
