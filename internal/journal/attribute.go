package journal

import (
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/model"
)

// Attribute separates what MergeXO posted from what people posted with the same account. Our accounts are the token's own
// and those in scope.Bots. A comment of theirs with our token or marker is ours; one without is a person's, unless the
// account is a bot's. An edit by another of our accounts does not count as an outside edit. Attribute is idempotent.
func Attribute(comments []model.Comment, scope Scope) []model.Comment {
	out := slices.Clone(comments)
	for i := range out {
		c := &out[i]
		c.Marked = c.Marked || c.WasMarked || LooksMarked(c.Body) || LooksMarked(c.Posted)
		if !c.Ours && !model.Named(scope.Bots, c.Author.Login) {
			continue
		}
		if c.EditedByOther && c.Editor != "" && (model.Named(scope.Bots, c.Editor) || strings.EqualFold(c.Editor, scope.Viewer)) {
			c.EditedByOther, c.WasMarked = false, false
		}
		// If somebody else edited it and GitHub does not report the original text, it may have been ours.
		c.Ours = c.Author.Bot || c.Marked || c.EditedByOther && c.Posted == ""
	}
	return out
}

// names reports whether the settings name an account as ours.
// foreign is nil if a comment of an account that is not ours ends in a marker that would count if it were. A bot may only quote an
// outsider, so with a key its marker must have our signature; a person may have run MergeXO without the key.
func (c Codec) foreign(cm model.Comment, t trailer, scope Scope) error {
	reader := c
	if !cm.Author.Bot {
		reader = Codec{}
	}
	_, err := reader.open(t, scope)
	return err
}

// insider reports whether somebody works on the repository.
func insider(cm model.Comment) bool {
	return cm.Author.Bot || slices.Contains([]string{"OWNER", "MEMBER", "COLLABORATOR"}, cm.Association)
}
