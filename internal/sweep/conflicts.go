package sweep

import "github.com/mergexo/mergexo/internal/model"

// Act is what becomes of a sticky comment.
type Act int

// The acts.
const (
	None Act = iota
	Post
	Edit
	Delete
)

// Sticky says what becomes of the comment on conflicts; old is nil where there is none. Heads that move are no reason to
// write.
func Sticky(old *model.Said[model.ConflictMarker], now model.ConflictMarker) Act { return None }

// Culprit is the commit on the base that is in the way of a path.
type Culprit struct {
	Path   string
	Commit model.Commit
	Pull   int // that it came with; 0 where that is not known
}

// ConflictText tells what conflicts, with what, since when, and what to do. page is the URL of the pull request.
func ConflictText(page string, m model.ConflictMarker, culprits []Culprit) string { return "" }
