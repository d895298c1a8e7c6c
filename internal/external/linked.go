package external

import (
	"fmt"

	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
)

// LinkedText tells that the pull request has a mirror that was made by other hands.
func LinkedText(p model.Pull, m model.ExternalMarker) string {
	return fmt.Sprintf("Mirrored on branch [`%s`](%s/tree/%s) at %s. Nothing more happens until somebody who may merge puts the label `%s` on.",
		markdown.Code(m.Mirror), markdown.Repository(p.URL), m.Mirror, markdown.Commit(p.URL, m.Tip), markdown.Code(m.Label))
}
