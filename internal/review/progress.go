package review

import (
	"fmt"

	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
)

// MaxAttempts is how often a reviewer is asked for one review.
const MaxAttempts = 3

// RunningText says that a review is under way.
func RunningText(p model.Pull, m model.ReviewMarker, by string) string {
	attempt := ""
	if m.Attempt > 1 {
		attempt = fmt.Sprintf(" Attempt %d of %d.", m.Attempt, MaxAttempts)
	}
	return fmt.Sprintf("Reviewing %s with `%s`. The findings follow as one review.%s%s", markdown.Commit(p.URL, m.Head), markdown.Code(by), attempt, markdown.Run(m.RunURL))
}

// DoneText links the review.
func DoneText(p model.Pull, m model.ReviewMarker, url string) string {
	return fmt.Sprintf("Reviewed %s: see [the review](%s).", markdown.Commit(p.URL, m.Head), url)
}

// AgainText says that an attempt failed and another one follows.
func AgainText(p model.Pull, m model.ReviewMarker) string {
	return fmt.Sprintf("**No review yet** of %s: attempt %d of %d failed.\n\n%s\n\nThe next one starts with the next event or scheduled run.", markdown.Commit(p.URL, m.Head), m.Attempt, MaxAttempts, markdown.Failure(m.Reason))
}

// FailedText says that there will be no review.
func FailedText(p model.Pull, m model.ReviewMarker) string {
	return fmt.Sprintf("**No review** of %s.\n\n%s\n\nOnce that is fixed, repeat `/mergexo review`.", markdown.Commit(p.URL, m.Head), markdown.Failure(m.Reason))
}

// ReplacedText takes the place of a review in whose place a later one is, which stands at url.
func ReplacedText(p model.Pull, m model.ReviewMarker, url string) string {
	return fmt.Sprintf("**Replaced** by a [later request](%s): the review of %s.", url, markdown.Commit(p.URL, m.Head))
}
