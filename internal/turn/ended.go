package turn

import (
	"regexp"
	"strings"

	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
)

// boldStart is the first line of a comment whose beginning is bold.
var boldStart = regexp.MustCompile(`\A\*\*(.+?)\*\*([^\n]*)`)

// EndedBody is the body of a comment of ours whose matter is over, with a first line that says so. The rest stays byte for byte, its
// markers among it. changed is false for one whose first line is true as it stands.
func EndedBody(body string, e model.Ended) (retitled string, changed bool) {
	ends := map[model.End]string{
		model.EndUnblocked: "Unblocked by " + markdown.Inline(e.By), model.EndAnswered: "Answered", model.EndExpired: "No longer blocked", model.EndContinued: "Continued",
	}
	title := boldStart.FindStringSubmatch(body)
	end := ends[e.Why]
	if end == "" || title == nil || strings.HasPrefix(title[1], end) {
		return body, false
	}
	return "**" + end + ".** Before: " + title[1] + title[2] + body[len(title[0]):], true
}
