package agent

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"

	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
)

var (
	listLine = regexp.MustCompile(`^[-*] (?:\[[ x]\] )?(\S.*)$`)
	notInKey = regexp.MustCompile(`[^a-z0-9]+`)
)

// planned makes a roadmap of the lists in an issue without a model: each entry is an item that needs the one before it.
func planned(req model.Request, texts []shown) model.Outcome {
	out := model.Outcome{Title: titleOf(req), RoadmapItems: []model.RoadmapItem{}}
	for _, one := range texts {
		for line := range strings.SplitSeq(one.text, "\n") {
			m := listLine.FindStringSubmatch(strings.TrimRight(line, " \r"))
			if m == nil {
				continue
			}
			key := strings.Trim(notInKey.ReplaceAllString(strings.ToLower(m[1]), "-"), "-")
			key = strings.Trim(fmt.Sprintf("%d-%s", len(out.RoadmapItems)+1, key[:min(len(key), 30)]), "-")
			item := model.RoadmapItem{Key: key, Title: m[1], Flow: model.AskSmallJob, Needs: []string{}, Acceptance: "It is done as the roadmap's issue says."}
			if n := len(out.RoadmapItems); n > 0 {
				item.Needs = []string{out.RoadmapItems[n-1].Key}
			}
			out.RoadmapItems = append(out.RoadmapItems, item)
		}
		out.Goal = cmp.Or(out.Goal, markdown.Paragraph(one.text))
	}
	if len(out.RoadmapItems) == 0 {
		return model.Outcome{BlockedReason: "this agent turns the list in an issue into a roadmap; this issue has no list"}
	}
	out.Summary = fmt.Sprintf("The %d entries of the list, one after the other.", len(out.RoadmapItems))
	return out
}
