package journal

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
)

var itemKey = regexp.MustCompile(`^[a-z0-9-]{1,40}$`)

// ItemToken names the opening of the issue for an item of a roadmap.
func ItemToken(repo model.Repo, roadmap int, key string) string {
	return Token("roadmap_item", strings.ToLower(repo.String()), strconv.Itoa(roadmap), key)
}

// ItemBody is the body of the issue for an item. Whoever opens it may change the text later; the last lines say what it is for.
func (c Codec) ItemBody(text string, m model.ItemMarker, repo model.Repo) (string, error) {
	return c.Encode(Body{Text: text, Tokens: []string{ItemToken(repo, m.Number, m.Key)}, Kind: KindItem, Marker: m})
}

// Item reads which item of a roadmap the body of an issue says that it is for. The caller makes sure that the issue is ours. What
// names another repository than that of the scope is none; its Repo says which.
func (c Codec) Item(body string, scope Scope) (m model.ItemMarker, ok bool) {
	t := parseTrailer(body)
	if t.kind != KindItem {
		return model.ItemMarker{}, false
	}
	if _, err := c.decodeMarker(t, &m); err != nil || m.Number < 1 || !itemKey.MatchString(m.Key) {
		return model.ItemMarker{}, false
	}
	said, err := model.ParseRepo(m.Repo)
	if err != nil || !slices.Contains(c.openTokens(t), ItemToken(said, m.Number, m.Key)) {
		return model.ItemMarker{}, false
	}
	return m, scope.about(m.Repo)
}

var roadmapMarkers = markers[model.RoadmapMarker]{
	kind:     KindRoadmap,
	place:    func(m *model.RoadmapMarker) (*string, *int) { return &m.Repo, &m.Number },
	check:    checkRoadmap,
	sticky:   true,
	take:     firstOnly(func(st *model.State) **model.Posted[model.RoadmapMarker] { return &st.Roadmap }),
	describe: describeRoadmap,
}

func checkRoadmap(m *model.RoadmapMarker) error {
	if m.File == "" {
		return errors.New("it names no file")
	}
	for _, i := range m.Items {
		if !itemKey.MatchString(i.Key) || i.Issue < 0 || i.Pull < 0 {
			return fmt.Errorf("item %q with issue %d cannot be", i.Key, i.Issue)
		}
	}
	return nil
}

func describeRoadmap(e *model.LogEntry, m model.RoadmapMarker) {
	t := model.TallyOf(m.Items)
	e.State = "running"
	if len(t.Stopped) > 0 {
		e.State = "stopped"
	}
	if t.Done == t.Total && t.Total > 0 {
		e.State = "done"
	}
	e.What = fmt.Sprintf("works on the roadmap: %d of %s done", t.Done, markdown.Count(t.Total, "item"))
}
