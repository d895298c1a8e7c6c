package journal

import (
	"slices"

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
		if c.EditedByOther && c.Editor != "" && scope.ours(c.Editor) {
			c.EditedByOther, c.WasMarked = false, false
		}
		// If somebody else edited it and GitHub does not report the original text, it may have been ours.
		c.Ours = c.Author.Bot || c.Marked || c.EditedByOther && c.Posted == ""
	}
	return out
}

// foreign notes a comment of an account that is not ours if it ends in a marker that would count if the account were ours. Only the
// account that wrote the first marker of a number has worked there: later ones repeat what they read. A marker that an edit added
// does not count. The error says why the marker would not count.
func (f *fold) foreign(c Codec, cm model.Comment, t trailer, scope Scope) error {
	_, err := c.open(t, scope)
	added := cm.EditedByOther || cm.Posted != "" && !LooksMarked(cm.Posted)
	if err == nil && !f.spoken && !added {
		f.st.Foreign = append(f.st.Foreign, model.Foreign{Author: cm.Author, Association: cm.Association, URL: cm.URL})
	}
	return err
}

// insider reports whether somebody works on the repository.
func insider(cm model.Comment) bool {
	return cm.Author.Bot || slices.Contains([]string{"OWNER", "MEMBER", "COLLABORATOR"}, cm.Association)
}
