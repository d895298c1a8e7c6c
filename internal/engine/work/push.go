package work

import (
	"errors"
	"fmt"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
)

// Unanswered says that git's server could not be asked, or did not say the result of a push.
func Unanswered(err error) bool {
	unclear, failed := (*git.ErrUnclear)(nil), (*git.Error)(nil)
	return errors.As(err, &unclear) && !Denied(err) || errors.As(err, &failed) && failed.Failure == git.Unreachable
}

// Denied says that git's server did not take the token for this.
func Denied(err error) bool {
	failed := (*git.Error)(nil)
	return errors.As(err, &failed) && failed.Failure == git.Denied
}

// PushedText tells a push in a few lines.
func PushedText(from, to string, commits []model.Commit) string {
	text := fmt.Sprintf("%s..%s", markdown.Short(from), markdown.Short(to))
	for _, c := range commits {
		text += fmt.Sprintf("\n%s %s", markdown.Short(c.SHA), c.Subject)
	}
	return text
}
