package roadmap_test

import (
	"fmt"
	"math/rand"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/golden"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/roadmap"
)

func item(key string, needs ...string) roadmap.Item {
	return roadmap.Item{RoadmapItem: model.RoadmapItem{Key: key, Title: "Do " + key, Flow: "small_job", Needs: needs, Acceptance: key + " works."}}
}

// diamond is a plan of seven items.
func diamond() roadmap.Plan {
	return roadmap.Plan{Issue: 7, Title: "Greet in many languages", Goal: "People are greeted in theirs.", Items: []roadmap.Item{
		item("base"), item("left", "base"), item("right", "base"), item("far-left", "left"), item("far-right", "right"), item("join", "far-left", "far-right"), item("docs", "join"),
	}}
}

func file(body string) []byte { return []byte("---\n" + body + "\n---\n\n# A roadmap\n") }

var page = roadmap.File{Page: "https://github.com/octo/widgets/issues/7", Path: "docs/roadmaps/7-greet.md", Branch: "main"}

func TestWhatIsRenderedReadsBack(t *testing.T) {
	t.Parallel()
	p := diamond()
	p.Title, p.Goal, p.Items[0].Acceptance = "Say \"hi\": # & <!-- x -->", "a\nb\x00: - [c]", "---\nissue: 9"
	p.Items[1].Key, p.Items[3].Needs = "on", []string{"on"}
	got, wrong := roadmap.Parse(roadmap.Render(p, "Text."))
	require.Empty(t, wrong)
	for i := range got.Items {
		assert.NotZero(t, got.Items[i].Line)
		got.Items[i].Line = 0
		p.Items[i].Needs = slices.Clone(p.Items[i].Needs)
	}
	assert.Equal(t, p, got)
	golden.Text(t, "file.md", string(roadmap.Render(diamond(), "First the base, then both sides.")))
}

func TestWhatDoesNotHoldIsToldWithItsLine(t *testing.T) {
	t.Parallel()
	const head = "issue: 7\ntitle: T\nitems:\n"
	one := func(key, rest string) string {
		return "  - key: " + key + "\n    title: T\n    flow: bugfix\n" + rest
	}
	var b strings.Builder
	for _, c := range []struct{ name, body string }{
		{"a cycle", head + one("a", "    needs: [c]\n") + one("b", "    needs: [a]\n") + one("c", "    needs: [b]\n")},
		{"itself", head + one("a", "    needs: [a]\n")},
		{"twice", head + one("a", "") + one("b", "") + one("a", "")},
		{"unknown need", head + one("parser", "") + one("b", "    needs: [parsr, b1]\n")},
		{"unknown key", head + one("a", "    need: [b]\n") + "goals: x\n"},
		{"nothing", "{}"},
		{"a list", "- a"},
		{"no items", "issue: 7\ntitle: T\nitems: []"},
		{"wrong types", "issue: seven\ntitle: [a]\ngoal: {a: b}\nitems:\n  - just text\n" + one("Upper_Case", "    needs: a\n") + "  - key: [x]\n    title: ''\n    flow: implementation\n    acceptance: [1]\n"},
		{"an alias", head + one("&a a", "    needs: [*a]\n")},
		{"no YAML", "issue: 7\n\ttitle: T"},
		{"a name twice", "issue: 7\nissue: 8\ntitle: T\nitems:\n" + one("a", "    needs: [b, b]\n") + one("b", "")},
		{"too long", "issue: 7\ntitle: " + strings.Repeat("x", 300) + "\ngoal: " + strings.Repeat("y", 5000) + "\nitems:\n" + one("a", "")},
	} {
		_, wrong := roadmap.Parse(file(c.body))
		require.NotEmpty(t, wrong, c.name)
		fmt.Fprintf(&b, "%s\n%s\n\n", c.name, wrong.Error())
	}
	many := head
	for i := range 300 {
		many += one(fmt.Sprint("k", i), "")
	}
	_, wrong := roadmap.Parse(file(many))
	fmt.Fprintf(&b, "300 items\n%s\n\n", wrong.Error())
	_, wrong = roadmap.Parse([]byte("# A roadmap\n"))
	fmt.Fprintf(&b, "no front matter\n%s\n\n", wrong.Error())
	_, wrong = roadmap.Parse([]byte(strings.Repeat("x", 300<<10)))
	fmt.Fprintf(&b, "a large file\n%s\n", wrong.Error())
	golden.Text(t, "wrong.txt", b.String())
}

func TestAFileHoldsForItsOwnIssueOnly(t *testing.T) {
	t.Parallel()
	text := roadmap.Render(diamond(), "")
	assert.Empty(t, roadmap.Check("docs/roadmaps/7-greet.md", text))
	assert.Equal(t, "line 2: issue: 7, but the file's name says 8; every roadmap needs its own file", roadmap.Check("docs/roadmaps/8-greet.md", text).Error())
	assert.Empty(t, roadmap.Check("docs/roadmaps/greet.md", text), "somebody renamed it")
	assert.Len(t, roadmap.Check("docs/roadmaps/8-greet.md", file("title: T")), 2, "no issue, no items")
}

// world is what GitHub would hold of a roadmap.
type world struct {
	plan  roadmap.Plan
	facts []roadmap.Fact
	asked map[string]bool
	last  int
}

func (w *world) next(most int) roadmap.Step {
	return roadmap.Next(roadmap.Facts{Plan: w.plan, Known: w.facts, Most: most, Asked: func(f roadmap.Fact) bool { return w.asked[f.Key] }})
}

// do carries out the acts.
func (w *world) do(s roadmap.Step) {
	for _, a := range s.Acts {
		at := 0
		if a.Row != nil {
			at = slices.IndexFunc(w.facts, func(f roadmap.Fact) bool { return f.Key == a.Row.Key })
		}
		switch a.Kind {
		case roadmap.Create:
			w.last++
			w.facts = append(w.facts, roadmap.Fact{Key: a.Row.Key, Title: a.Row.Title, Issue: 100 + w.last})
		case roadmap.Link:
			w.facts[at].Linked = true
		case roadmap.Label:
			w.facts[at].Labelled = true
		case roadmap.Drop:
			w.facts[at].Closed = true
		case roadmap.Ask:
			w.asked[a.Row.Key] = true
		}
	}
}

func TestARandomRoadmapWorksItselfOff(t *testing.T) {
	t.Parallel()
	for seed := range 300 {
		rnd := rand.New(rand.NewSource(int64(seed)))
		w, most := &world{plan: roadmap.Plan{Issue: 7, Title: "T"}, asked: map[string]bool{}}, 1+rnd.Intn(4)
		for i := range 1 + rnd.Intn(20) {
			var needs []string
			for j := range i {
				if rnd.Intn(4) == 0 {
					needs = append(needs, fmt.Sprint("k", j))
				}
			}
			w.plan.Items = append(w.plan.Items, item(fmt.Sprint("k", i), needs...))
		}
		rnd.Shuffle(len(w.plan.Items), func(i, j int) { w.plan.Items[i], w.plan.Items[j] = w.plan.Items[j], w.plan.Items[i] })
		failed := false
		for round := 0; ; round++ {
			require.Less(t, round, 200, "seed %d", seed)
			s := w.next(most)
			shuffled := &world{plan: w.plan, facts: slices.Clone(w.facts), asked: w.asked}
			rnd.Shuffle(len(shuffled.facts), func(i, j int) {
				shuffled.facts[i], shuffled.facts[j] = shuffled.facts[j], shuffled.facts[i]
			})
			require.Equal(t, s, shuffled.next(most), "seed %d: the order of the facts says nothing", seed)
			w.do(s)
			again := w.next(most)
			for _, a := range again.Acts {
				require.Equal(t, roadmap.Finish, a.Kind, "seed %d: all acts are done", seed)
			}
			running := 0
			var open []int
			for i, f := range w.facts {
				if f.Labelled && !f.Completed && !f.Closed {
					running++
					open = append(open, i)
					for _, need := range w.plan.Item(f.Key).Needs {
						at := slices.IndexFunc(w.facts, func(o roadmap.Fact) bool { return o.Key == need })
						require.True(t, w.facts[at].Completed, "seed %d: %s began before %s", seed, f.Key, need)
					}
				}
			}
			require.LessOrEqual(t, running, most, "seed %d", seed)
			if running == 0 {
				break
			}
			one := open[rnd.Intn(len(open))]
			w.facts[one].Closed = true
			w.facts[one].Completed = rnd.Intn(12) > 0
			failed = failed || !w.facts[one].Completed
		}
		last := w.next(most)
		finished := len(last.Acts) == 1 && last.Acts[0].Kind == roadmap.Finish
		require.Equal(t, !failed, finished, "seed %d", seed)
	}
}

func TestARoadmapAsPeopleReadIt(t *testing.T) {
	t.Parallel()
	w := &world{plan: diamond(), asked: map[string]bool{}}
	w.plan.Items = append(w.plan.Items, item("extra"), item("more"))
	w.do(w.next(2))
	set := func(key string, change func(*roadmap.Fact)) {
		change(&w.facts[slices.IndexFunc(w.facts, func(f roadmap.Fact) bool { return f.Key == key })])
	}
	set("base", func(f *roadmap.Fact) { f.Pull, f.Merged = 12, true })
	set("extra", func(f *roadmap.Fact) { f.Closed, f.Completed = true, true })
	w.do(w.next(2))
	set("left", func(f *roadmap.Fact) { f.Pull, f.Rejected = 13, true })
	set("right", func(f *roadmap.Fact) { f.Pull = 14 })
	w.do(w.next(2))
	set("more", func(f *roadmap.Fact) { f.Asks = f.Issue })
	w.facts = append(w.facts, roadmap.Fact{Key: "old", Title: "Old", Issue: 99, Linked: true, Closed: true}, roadmap.Fact{Key: "older", Title: "Older", Issue: 98, Linked: true, Labelled: true, Pull: 97})
	s := w.next(2)
	golden.Text(t, "comment.md", roadmap.Text(w.plan, s, page, ""))
	at := slices.IndexFunc(s.Rows, func(r roadmap.Row) bool { return r.Key == "left" })
	require.Equal(t, model.ItemFailed, s.Rows[at].State)
	q := []string{roadmap.Question(s, s.Rows[at])}
	s.Rows[at].Fact.Closed = true
	q = append(q, roadmap.Question(s, s.Rows[at]))
	s.Rows[at].Fact.Gone = true
	q = append(q, roadmap.Question(s, s.Rows[at]), roadmap.Body(w.plan, w.plan.Items[1], page), roadmap.DropText(w.plan, page),
		roadmap.ProblemText(page, roadmap.Problems{{3, "a cycle"}, {9, "more ``` text"}}))
	golden.Text(t, "words.md", strings.Join(q, "\n\n----\n\n")+"\n")
}

func TestHostileTitlesStayText(t *testing.T) {
	t.Parallel()
	evil := "x\"]; click i1 \"javascript:alert(1)\" --> <!-- mergexo-roadmap:{} --> ``` @octo #1 \u202e \n end"
	p := roadmap.Plan{Issue: 7, Items: []roadmap.Item{item("a"), item("b", "a")}}
	p.Items[0].Title, p.Items[1].Title = evil, strings.Repeat("`\"", 200)
	s := roadmap.Next(roadmap.Facts{Plan: p, Most: 1, Asked: func(roadmap.Fact) bool { return false }})
	golden.Text(t, "hostile.md", roadmap.Text(p, s, page, ""))
	g := roadmap.Graph(s.Rows)
	for _, line := range strings.Split(strings.TrimSpace(g), "\n") {
		assert.Regexp(t, `^(flowchart LR|  i\d+\["[A-Za-z0-9 #;]*"\](:::[a-z]+)?|  i\d+ --> i\d+|  classDef [a-z]+ [a-z0-9#:,]+)$`, line)
	}
	var many []roadmap.Item
	for i := range 100 {
		one := item(fmt.Sprint("k", i))
		for j := range i {
			one.Needs = append(one.Needs, fmt.Sprint("k", j))
		}
		one.Title = strings.Repeat("ä", 200)
		many = append(many, one)
	}
	p.Items = many
	s = roadmap.Next(roadmap.Facts{Plan: p, Most: 1, Asked: func(roadmap.Fact) bool { return false }})
	assert.Empty(t, roadmap.Graph(s.Rows), "nobody can read so many edges")
	assert.Less(t, len(roadmap.Text(p, s, page, "")), 60_000)
}

func TestThePlansTextsAreContained(t *testing.T) {
	t.Parallel()
	const open = "Use @dataclass, ask @octo/team.\n\n<details>\n\n```go\nfunc main() {"
	for name, p := range map[string]roadmap.Plan{
		"acceptance": {Issue: 7, Items: []roadmap.Item{{RoadmapItem: model.RoadmapItem{Key: "a", Acceptance: open}}}},
		"goal":       {Issue: 7, Goal: open, Items: []roadmap.Item{{RoadmapItem: model.RoadmapItem{Key: "a"}}}},
	} {
		body := roadmap.Body(p, p.Items[0], page)
		assert.NotRegexp(t, `@[A-Za-z]`, body, name)
		assert.NotContains(t, body, "<details>", name)
		assert.Contains(t, body, "func main() {\n```\n\n<sub>Item", "%s: the code ends above the footer", name)
	}
	long := strings.Repeat("<b @a ", 660)
	p := roadmap.Plan{Issue: 7, Goal: long, Items: []roadmap.Item{{RoadmapItem: model.RoadmapItem{Key: "a", Acceptance: long}}}}
	assert.Less(t, len(roadmap.Body(p, p.Items[0], page)), 60_000, "the longest text grows, and is not cut")
}

func TestNamesOfFilesStayText(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"7-a\t@victim\t.md", "7-a\n@victim\n.md", "7-a\r\x7f`@victim`.md", "7-a](x)@victim.md", "7-a<b>|\"@victim ().md"} {
		f := roadmap.File{Page: page.Page, Path: "docs/roadmaps/" + name, Branch: "re)@victim"}
		checked := []roadmap.Checked{{Path: f.Path, Problems: roadmap.Problems{roadmap.Second(f.Path, 7)}}}
		for _, text := range []string{
			roadmap.CheckedText(page.Page, "0123abcd", checked), roadmap.DropText(roadmap.Plan{Issue: 7}, f), roadmap.MissingText(f), roadmap.ProblemText(f, nil),
		} {
			shown := regexp.MustCompile("`[^`\n]*`").ReplaceAllString(text, "``")
			assert.NotContains(t, shown, "@victim", "%q", name)
			assert.NotContains(t, shown, "\t", "%q", name)
			for _, link := range regexp.MustCompile(`\]\(([^)]*)\)`).FindAllStringSubmatch(shown, -1) {
				assert.Regexp(t, `^https://github\.com/octo/widgets/blob/[A-Za-z0-9%._/-]+(\?plain=1#L1)?$`, link[1], "%q", name)
			}
		}
	}
}

func TestWhatASweepSees(t *testing.T) {
	t.Parallel()
	none := func(int) (int, bool, bool) { return 0, false, false }
	subs := []roadmap.Sub{{1, "OPEN", ""}, {2, "CLOSED", "COMPLETED"}}
	was := roadmap.Looked("tree", 3, subs, none)
	assert.Equal(t, was, roadmap.Looked("tree", 3, []roadmap.Sub{subs[1], subs[0]}, none))
	for name, now := range map[string]string{
		"the file":     roadmap.Looked("other", 3, subs, none),
		"the limit":    roadmap.Looked("tree", 4, subs, none),
		"closed":       roadmap.Looked("tree", 3, []roadmap.Sub{{1, "CLOSED", "COMPLETED"}, subs[1]}, none),
		"another why":  roadmap.Looked("tree", 3, []roadmap.Sub{subs[0], {2, "CLOSED", "NOT_PLANNED"}}, none),
		"one more":     roadmap.Looked("tree", 3, append(slices.Clone(subs), roadmap.Sub{3, "OPEN", ""}), none),
		"a pull":       roadmap.Looked("tree", 3, subs, func(int) (int, bool, bool) { return 5, true, false }),
		"a question":   roadmap.Looked("tree", 3, subs, func(int) (int, bool, bool) { return 0, false, true }),
		"a pull's end": roadmap.Looked("tree", 3, subs, func(int) (int, bool, bool) { return 5, false, false }),
	} {
		assert.NotEqual(t, was, now, name)
	}
	assert.NotEqual(t, roadmap.Looked("tree", 3, subs, func(int) (int, bool, bool) { return 5, true, false }), roadmap.Looked("tree", 3, subs, func(int) (int, bool, bool) { return 5, false, false }))
}

func FuzzParse(f *testing.F) {
	f.Add(roadmap.Render(diamond(), "Text."))
	f.Add(file("issue: 7\ntitle: T\nitems:\n  - {key: a, title: b, flow: bugfix, needs: [a]}"))
	f.Add(file("a: &a [*a]"))
	f.Fuzz(func(t *testing.T, text []byte) {
		p, wrong := roadmap.Parse(text)
		for _, one := range wrong {
			if one.Line < 1 {
				t.Fatalf("%q: a problem without a line: %v", text, one)
			}
		}
		if len(wrong) > 0 {
			return
		}
		again, wrong := roadmap.Parse(roadmap.Render(p, ""))
		if len(wrong) > 0 {
			t.Fatalf("%q: what holds does not hold any more once it is written: %v", text, wrong)
		}
		for i := range p.Items {
			p.Items[i].Line, again.Items[i].Line = 0, 0
			if len(p.Items[i].Needs) == 0 {
				p.Items[i].Needs, again.Items[i].Needs = nil, nil
			}
		}
		assert.Equal(t, p, again)
		s := roadmap.Next(roadmap.Facts{Plan: p, Most: 3, Asked: func(roadmap.Fact) bool { return false }})
		roadmap.Text(p, s, page, "")
	})
}
