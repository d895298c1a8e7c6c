package turn

import (
	"regexp"
	"strings"

	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
)

// boldStart matches a first line that begins in bold.
var boldStart = regexp.MustCompile(`\A\*\*(.+?)\*\*([^\n]*)`)

// EndedBody returns the body of an outdated comment with a first line that says why. The rest, with its markers, stays byte for byte.
// changed is false if the first line is still true, or says so already.
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
