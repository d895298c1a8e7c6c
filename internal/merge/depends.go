package merge

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/strictjson"
)

// Depends is what the text of a pull request says that has to land before it.
type Depends struct {
	On     []int          // pull requests of its own repository
	Others map[string]int // of others on this server, by owner/name in lower case
	Unread []string       // lines that begin like one that names a pull request, and name none here
}

// mostDepends bounds how many pull requests count.
const mostDepends = 10

// oneOf is a pull request as a text names it, with its number last. Behind words such as "because of" it is only mentioned.
const oneOf = `(?:(?:pull requests?|prs?)[ \t]+)?(?:https?://([^\s/]+/[\w.-]+/[\w.-]+)/(?:pull|issues)/|([\w.-]+/[\w.-]+)?#)([0-9]{1,9})\b(?:/[^\s,;)]*)?`

var (
	// dependsOn begins a line. With neither the hyphen nor a colon, any sentence may begin so.
	dependsOn = regexp.MustCompile(`(?i)^(?:\[[ x]\][ \t]*)?depends?([ -])on\b[ \t]*([:=]?)[ \t]*(.*)$`)
	onNothing = regexp.MustCompile(`(?i)^(?:[-–—]*|none|nothing|n/?a)[.]?$`)
	listed    = regexp.MustCompile(`(?i)(?:^|[,;]|\band\b)[ \t(]*(?:` + oneOf + `[ \t,;&+]*(?:and[ \t]+)?)+`)
	one       = regexp.MustCompile(`(?i)` + oneOf)
)

// DependsOf reads it: in lines such as "Depends-on: #12, octo/client#3" or a link, or in the list below a line without any.
func DependsOf(p model.Pull) Depends {
	d := Depends{Others: map[string]int{}}
	if !strings.Contains(strings.ToLower(p.Body), "depend") { // reading Markdown takes longer than linear in its length
		return d
	}
	above := false // a line that a list follows
	for _, line := range markdown.Prose(p.Body) {
		said := strings.TrimSpace(line)
		begins := dependsOn.FindStringSubmatch(said)
		if begins != nil {
			said = begins[3]
			above = said == ""
		}
		if begins == nil && !above || said == "" {
			continue
		}
		named := d.take(listed.FindAllString(said, mostDepends), markdown.Repository(p.URL))
		above = above && named
		if begins != nil && !named && (begins[1] == "-" || begins[2] != "") && !onNothing.MatchString(said) {
			d.Unread = append(d.Unread, strings.TrimSpace(line))
		}
	}
	d.On = d.On[:min(len(d.On), mostDepends)]
	return d
}

// take notes the pull requests in lists of some, but for those on other servers. home is the page of the repository.
func (d *Depends) take(lists []string, home string) (any bool) {
	_, home, _ = strings.Cut(strings.ToLower(home), "://")
	server, here, _ := strings.Cut(home, "/")
	for _, m := range one.FindAllStringSubmatch(strings.Join(lists, " "), -1) {
		n, _ := strconv.Atoi(m[3])
		repo := strings.TrimPrefix(strings.ToLower(m[1]+m[2]), server+"/")
		switch {
		case repo == "", repo == here:
			d.On = append(slices.DeleteFunc(d.On, func(o int) bool { return o == n }), n)
		case strings.Count(repo, "/") == 1:
			d.Others[repo] = n
		default:
			continue
		}
		any = true
	}
	return any
}

// depends is the gate of what has to land first, where the text names any that has not. The merge train orders what it lands itself.
func depends(c Case, way Way) []finding {
	var unmet []string
	code, soft := model.CodeDepends, true
	for _, d := range c.Facts.Depends {
		if d.State == model.PullMerged || d.State == model.PullOpen && way.Train {
			continue
		}
		unmet, soft = append(unmet, fmt.Sprintf("depends on #%d, which %s", d.Number, map[model.PullState]string{
			model.PullOpen: either(d.Asked, "has not landed", "nobody has asked to merge"), model.PullClosed: "was closed without being merged", "": "is not a pull request of this repository",
		}[d.State])), soft && d.State == model.PullOpen
		if d.State == model.PullClosed {
			code = model.CodeNeeds
		}
	}
	if c.Facts.Cycle != "" {
		unmet, soft = append(unmet, c.Facts.Cycle+": none of them can land first"), false
	}
	for _, line := range c.Facts.Unread {
		unmet = append(unmet, fmt.Sprintf("the line %s names no pull request of this repository: write \"Depends-on: #12\", or remove it", strictjson.Excerpt(line, 80)))
	}
	if c.Request.Tries() || len(unmet) == 0 {
		return nil
	}
	f := find(GateDepends, code, false, "%s", strings.Join(unmet, "; "))
	f.soft = soft
	return []finding{f}
}
