package turn

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/mergexo/mergexo/internal/model"
)

// Recall returns the workflow runs of these event keys, without their failures: a receipt posted after their rerun still
// lists them. Unknown ones have no name.
func Recall(number int, keys []string, runs []model.CIRun) []model.Comment {
	var out []model.Comment
	for _, key := range keys {
		rest, is := strings.CutPrefix(key, fmt.Sprintf("%d:%s:", number, model.KindActions))
		id, stamp, _ := strings.Cut(rest, ":")
		run, err := strconv.ParseInt(id, 10, 64)
		if !is || err != nil {
			continue
		}
		c := model.Comment{Kind: model.KindActions, ID: run, Author: model.Actor{Login: noName, Bot: true}}
		if at, err := time.Parse(time.RFC3339, stamp); err == nil {
			c.CreatedAt, c.UpdatedAt = at, at
		}
		for _, r := range runs {
			if r.ID == run {
				c.URL, c.Author.Login = r.URL, cmp.Or(name(r.Name, nameSize), noName)
			}
		}
		out = append(out, c)
	}
	return out
}
