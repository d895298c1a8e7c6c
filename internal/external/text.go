package external

import "github.com/mergexo/mergexo/internal/model"

// What people read of a fork's pull request. Everything here is Markdown for its comment; the journal neutralises what
// others wrote in it, and adds the marker.

// LetInText tells that a pull request is let in, and what follows; evaluates says that a command judges it.
func LetInText(p model.Pull, m model.ExternalMarker, evaluates bool) string { return "" }

// GoingText tells how far it is: for the states approved and fix.
func GoingText(p model.Pull, m model.ExternalMarker) string { return "" }

// VoidText tells that the head moved, and from where to where.
func VoidText(p model.Pull, m model.ExternalMarker) string { return "" }

// RelabelText asks for the label again: nobody knows which head it was put on for.
func RelabelText(p model.Pull, m model.ExternalMarker) string { return "" }

// RejectedText tells why it is not wanted.
func RejectedText(p model.Pull, m model.ExternalMarker) string { return "" }

// LandedText tells which commits of the base have the same changes.
func LandedText(p model.Pull, m model.ExternalMarker) string { return "" }

// WantingText tells what the contributor has to change.
func WantingText(p model.Pull, m model.ExternalMarker) string { return "" }

// FailedText tells that the evaluation or the repair came to no result.
func FailedText(p model.Pull, m model.ExternalMarker) string { return "" }

// FixedNote tells on the merge's comment which commits of ours are on top of the contributor's; for merge.Landing.Notes.
func FixedNote(commits []model.Commit) string { return "" }
