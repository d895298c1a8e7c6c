package engine_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
	"github.com/mergexo/mergexo/internal/report"
)

const roadmapLabel = "agent:roadmap"

func step(key string, needs ...string) model.RoadmapItem {
	return model.RoadmapItem{Key: key, Title: "Do " + key, Flow: "small_job", Needs: append([]string{}, needs...), Acceptance: "File " + key + ".txt is there."}
}

// diamond is what the agent plans.
func diamond() []model.RoadmapItem {
	return []model.RoadmapItem{step("base"), step("left", "base"), step("right", "base"), step("far-left", "left"), step("far-right", "right"), step("join", "far-left", "far-right"), step("docs", "join")}
}

func init() {
	plans := func(items func(model.Request) []model.RoadmapItem) func(model.Request, *model.Outcome) {
		return func(r model.Request, o *model.Outcome) {
			if strings.Contains(r.Prompt, "roadmap_items") {
				o.Title, o.Goal, o.Summary = "Greet everywhere", "Everybody is greeted."+os.Getenv("MODEL_KEY"), "First the base."
				o.RoadmapItems = items(r)
				return
			}
			check(os.WriteFile(fmt.Sprintf("item-%d.txt", r.Issue.Number), []byte(r.Issue.Title+"\n"), 0o600))
			o.PRTitle, o.PRSummary, o.CommitMessage = r.Issue.Title, "It is done.", r.Issue.Title
		}
	}
	// plan plans seven items in a diamond, and does what they ask for.
	tricks["plan"] = plans(func(model.Request) []model.RoadmapItem { return diamond() })
	// circle plans items that need each other, and knows better once it is told.
	tricks["circle"] = plans(func(r model.Request) []model.RoadmapItem {
		items := diamond()
		if r.Kind != model.AskRepair {
			items[0].Needs = []string{"docs"}
		}
		return items
	})
	// dizzy knows no better.
	tricks["dizzy"] = plans(func(model.Request) []model.RoadmapItem { return []model.RoadmapItem{step("a", "b"), step("b", "a")} })
	// pair plans two, of which one needs the other.
	tricks["pair"] = plans(func(model.Request) []model.RoadmapItem {
		one := step("one")
		one.Acceptance += os.Getenv("MODEL_KEY")
		return []model.RoadmapItem{one, step("two", "one")}
	})
	// fifty and hundred plan as many items, each for itself.
	for name, n := range map[string]int{"fifty": 50, "hundred": 100} {
		tricks[name] = plans(func(model.Request) []model.RoadmapItem {
			var items []model.RoadmapItem
			for i := range n {
				items = append(items, step(fmt.Sprint("item-", i)))
			}
			return items
		})
	}
}

// newRoadmap is a world with an issue for which a roadmap was proposed.
func newRoadmap(t *testing.T, agent string, more ...string) *world {
	t.Helper()
	w := begin(t, fmt.Sprintf("roadmap %q %q", agent, more), func() *world { return proposed(t, agent, more...) })
	w.agent = agent
	return w
}

// proposed is newRoadmap with all that was said to the agent.
func proposed(t *testing.T, agent string, more ...string) *world {
	t.Helper()
	w := newWorld(t, more...).whoseAgent(agent)
	w.open("alice", "Greet everywhere", "In all languages.")
	w.done(w.handle(w.label("alice", roadmapLabel)))
	require.Len(t, w.pulls(), 1)
	return w
}

// merged has octo merge a pull request, and gives the event of it.
func (w *world) merged(number int) model.Event {
	w.t.Helper()
	w.later(time.Minute)
	w.api("octo", "PUT", w.path(fmt.Sprintf("/pulls/%d/merge", number)), object{"merge_method": "squash"})
	return w.closedEvent(number)
}

// closedEvent is the event of the end of a pull request.
func (w *world) closedEvent(number int) model.Event {
	w.t.Helper()
	for _, ev := range slices.Backward(w.deliveries("pull_request")) {
		if ev.Number == number && ev.Action == "closed" {
			return ev
		}
	}
	require.Fail(w.t, "nothing was closed")
	return model.Event{}
}

// agreed is newRoadmap with the event of the plan's merge.
func agreed(t *testing.T, agent string, more ...string) (*world, model.Event) {
	t.Helper()
	w := newRoadmap(t, agent, more...)
	ev := w.merged(int(w.pulls()[0]["number"].(float64)))
	w.gate.revive()
	return w, ev
}

// underWay is a world in which a run has begun with what was agreed.
func underWay(t *testing.T, agent string, more ...string) *world {
	t.Helper()
	w, ev := agreed(t, agent, more...)
	w.done(w.handle(ev))
	return w
}

// changePlan has octo merge another text of the roadmap's file, by a pull request of a person.
func (w *world) changePlan(edit func(string) string) model.Event {
	w.t.Helper()
	before := w.fileOf("main", planFile)
	after := edit(before)
	require.NotEqual(w.t, before, after)
	return w.merged(w.propose(fmt.Sprintf("plan-%d", w.now.Unix()), planFile, after).Number)
}

// setIssue has octo change an issue, and gives the event of it.
func (w *world) setIssue(number int, change object) model.Event {
	w.t.Helper()
	w.later(time.Minute)
	w.api("octo", "PATCH", w.path(fmt.Sprintf("/issues/%d", number)), change)
	return w.delivery("issues")
}

// openPulls are the numbers of the open pull requests of items, oldest first.
func (w *world) openPulls() (numbers []int) {
	w.t.Helper()
	for _, p := range w.pulls() {
		if p["state"] == "open" && !strings.HasPrefix(p.at("head", "ref").(string), "agent/roadmap/") {
			numbers = append(numbers, int(p["number"].(float64)))
		}
	}
	slices.Sort(numbers)
	return numbers
}

// items are the issues of the roadmap's items by their titles, and how often there is one.
func (w *world) items() map[string][]object {
	w.t.Helper()
	out := map[string][]object{}
	for _, i := range w.list("octo", w.path("/issues?state=all&sort=created&direction=asc")) {
		if body, _ := i["body"].(string); i["pull_request"] == nil && strings.Contains(body, "<!-- mergexo-item:") {
			title := strings.TrimPrefix(i["title"].(string), "Do ")
			out[title] = append(out[title], i)
		}
	}
	return out
}

// item is the number of the one issue of an item.
func (w *world) item(key string) int {
	w.t.Helper()
	all := w.items()[key]
	require.Len(w.t, all, 1, key)
	return int(all[0]["number"].(float64))
}

// roadmapComment is the newest comment that shows how the roadmap stands.
func (w *world) roadmapComment() (id int64) {
	w.t.Helper()
	for _, c := range w.comments() {
		if strings.Contains(c["body"].(string), "<!-- mergexo-roadmap:") {
			id = c.id()
		}
	}
	require.NotZero(w.t, id)
	return id
}

// pullOf is the open pull request for an item.
func (w *world) pullOf(key string) int {
	w.t.Helper()
	for _, p := range w.pulls() {
		if p["state"] == "open" && p["title"] == "Do "+key {
			return int(p["number"].(float64))
		}
	}
	require.Fail(w.t, "no pull request for "+key)
	return 0
}

// running are the keys of the items with a label that are open.
func (w *world) running() (keys []string) {
	w.t.Helper()
	for key, all := range w.items() {
		for _, i := range all {
			if i["state"] == "open" && len(i["labels"].([]any)) > 0 {
				keys = append(keys, key)
			}
		}
	}
	slices.Sort(keys)
	return keys
}

// shows is all that people see of the roadmap, without what differs from run to run.
func (w *world) showsRoadmap() string {
	w.t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "# issue, %s\n%s", w.api("octo", "GET", w.thread(""), nil)["state"], w.talkOn(w.number))
	all := w.items()
	for _, key := range slices.Sorted(maps.Keys(all)) {
		for _, i := range all[key] {
			fmt.Fprintf(&b, "# %s, %s, %d labels, parent %d\n", key, i["state"], len(i["labels"].([]any)), w.parent(int(i["number"].(float64))))
		}
	}
	return b.String()
}

func (w *world) parent(number int) int {
	w.t.Helper()
	status, out := w.send("octo", "GET", w.path(fmt.Sprintf("/issues/%d/parent", number)), nil)
	if status == 404 {
		return 0
	}
	o := object{}
	require.NoError(w.t, json.Unmarshal(out, &o), "%s", out)
	return int(o["number"].(float64))
}

// tellsOfTheRoadmap says that the board and why know what stopped, what runs and what is blocked.
func (w *world) tellsOfTheRoadmap(left int) {
	w.t.Helper()
	b := must.Get(w.engine().Board(w.t.Context(), repo))(w.t)
	at := slices.IndexFunc(b.Issues, func(i model.BoardIssue) bool { return i.Number == w.number })
	require.GreaterOrEqual(w.t, at, 0)
	row := b.Issues[at]
	want := fmt.Sprintf("1 of 7 items done; 1 running: #%d; 1 stopped: #%d; 3 blocked because of #%d; 1 waiting for others", w.item("right"), w.item("left"), w.item("left"))
	require.Equal(w.t, want, model.TallyOf(row.Roadmap).String())
	need := slices.IndexFunc(b.Needs(), func(n model.Need) bool { return n.Number == w.number })
	require.GreaterOrEqual(w.t, need, 0, "somebody has to decide")
	require.Equal(w.t, fmt.Sprintf("decide how the roadmap continues without #%d", w.item("left")), b.Needs()[need].Headline)
	why := must.Get(w.engine().Why(w.t.Context(), repo, w.number))(w.t)
	require.Equal(w.t, row.Roadmap, why.Issue.Roadmap)
	var out strings.Builder
	require.NoError(w.t, report.Issue(&out, *why.Issue, why.Step))
	require.Contains(w.t, out.String(), "roadmap: "+want+"; see "+row.RoadmapURL+"\n")
	one := must.Get(w.engine().Why(w.t.Context(), repo, w.item("join")))(w.t)
	require.Contains(w.t, one.Step, fmt.Sprintf("issue %d is item join of the roadmap of issue %d,", w.item("join"), w.number))
}
