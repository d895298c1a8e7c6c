package journal

import (
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/model"
)

// Attribute tells apart what MergeXO said and what people said with the same account. Ours are the token's own account and
// those that scope.Bots name: what such an account says with a token or marker of ours is ours, and without one it is a
// person's own words, unless the account is a bot's. An edit by another account of ours is no edit by somebody else.
// Applied twice it gives the same.
func Attribute(comments []model.Comment, scope Scope) []model.Comment {
	out := slices.Clone(comments)
	for i := range out {
		c := &out[i]
		c.Marked = c.Marked || c.WasMarked || LooksMarked(c.Body) || LooksMarked(c.Posted)
		if !c.Ours && !scope.names(c.Author.Login) {
			continue
		}
		if c.EditedByOther && c.Editor != "" && (scope.names(c.Editor) || strings.EqualFold(c.Editor, scope.Viewer)) {
			c.EditedByOther, c.WasMarked = false, false
		}
		// Where somebody else edited it and GitHub does not tell what it said before, it may have been ours.
		c.Ours = c.Author.Bot || c.Marked || c.EditedByOther && c.Posted == ""
	}
	return out
}

// names says that the settings name an account as ours.
func (s Scope) names(login string) bool {
	return slices.ContainsFunc(s.Bots, func(l string) bool { return strings.EqualFold(l, login) })
}

// foreign says that a comment of an account that is not ours ends in a marker that would count if it were. A bot may only
// repeat what a stranger wrote, so its marker has to have our signature where there is a key; a person's run of MergeXO may
// have gone without the key.
func (c Codec) foreign(cm model.Comment, t trailer, scope Scope) bool {
	reader := c
	if !cm.Author.Bot {
		reader = Codec{}
	}
	_, err := reader.open(t.kind, t.json, scope)
	return t.kind != "" && err == nil
}
