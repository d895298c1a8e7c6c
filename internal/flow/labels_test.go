package flow_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/flow"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
)

var (
	noon   = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	labels = flow.Labels{Design: "agent:design", Roadmap: "agent:roadmap", Bugfix: "agent:bugfix", SmallJob: "agent:small-job", Ignore: "agent:ignore"}
)

func TestALabelAsksForAFlow(t *testing.T) {
	for _, c := range []struct {
		name  string
		on    []string
		flow  model.Flow
		label string
		ok    bool
	}{
		{"none", []string{"bug", ""}, "", "", false},
		{"design", []string{"bug", "agent:design"}, model.FlowDesign, labels.Design, true},
		{"a small job before a design", []string{"agent:design", "agent:small-job"}, model.FlowSmallJob, labels.SmallJob, true},
		{"a bug fix before a small job", []string{"agent:small-job", "AGENT:Bugfix", "agent:design"}, model.FlowBugfix, labels.Bugfix, true},
		{"a roadmap", []string{"agent:roadmap"}, model.FlowRoadmap, labels.Roadmap, true},
		{"a design before a roadmap", []string{"agent:roadmap", "agent:design"}, model.FlowDesign, labels.Design, true},
		{"ignore before all", []string{"agent:bugfix", "Agent:Ignore"}, "", labels.Ignore, false},
	} {
		f, label, ok := flow.Of(c.on, labels)
		assert.Equal(t, c.flow, f, c.name)
		assert.Equal(t, c.label, label, c.name)
		assert.Equal(t, c.ok, ok, c.name)
	}
	_, _, ok := flow.Of([]string{""}, flow.Labels{})
	assert.False(t, ok, "labels that the settings leave empty are on no issue")
}

func who(login string) model.Actor { return model.Actor{Login: login} }

// labelled is an issue by eve that alice labeled at noon, for the second time.
func labelled() model.Issue {
	return model.Issue{Number: 3, Author: who("Eve"), LabelChanges: []model.LabelChange{
		{Label: labels.Bugfix, On: true, At: noon.Add(-time.Hour), By: who("bob")},
		{Label: labels.Bugfix, At: noon.Add(-time.Minute), By: who("bob")},
		{Label: "Agent:bugfix", On: true, At: noon, By: who("Alice")},
		{Label: labels.Design, On: true, At: noon.Add(time.Hour), By: who("carol")},
		{Label: labels.Bugfix, At: noon.Add(time.Hour), By: who("dave")},
	}}
}

func TestTheNewestLabellingCounts(t *testing.T) {
	c, ok := flow.Labelled(labelled(), labels.Bugfix)
	assert.True(t, ok)
	assert.Equal(t, "Alice", c.By.Login)
	_, ok = flow.Labelled(labelled(), labels.SmallJob)
	assert.False(t, ok)
}

func TestStartersArePeopleEachOnce(t *testing.T) {
	i := labelled()
	assert.Equal(t, []string{"alice", "eve"}, flow.Starters(i, labels.Bugfix))
	i.Author = who("ALICE")
	assert.Equal(t, []string{"alice"}, flow.Starters(i, labels.Bugfix))
	i.Author = model.Actor{Login: "dependabot[bot]", Bot: true}
	assert.Equal(t, []string{"alice"}, flow.Starters(i, labels.Bugfix))
	assert.Empty(t, flow.Starters(i, labels.SmallJob), "GitHub does not tell who labeled")
	i.LabelChanges[2].By = who("")
	assert.Empty(t, flow.Starters(i, labels.Bugfix))
}

func TestWhoMayStart(t *testing.T) {
	edit := func(by string, at time.Time) *model.Edit { return &model.Edit{By: who(by), At: at} }
	type row struct {
		change  func(*model.Issue)
		allowed []string
		why     string
	}
	must.Each(t, map[string]row{
		"the labeller may":                    {nil, []string{"alice"}, ""},
		"the author may":                      {nil, []string{"eve"}, ""},
		"neither may":                         {nil, []string{"bob", "carol", "dave", ""}, flow.WhyNobody},
		"who labeled is not known":            {func(i *model.Issue) { i.LabelChanges = nil }, []string{"alice", ""}, flow.WhyNobody},
		"a bot labeled":                       {func(i *model.Issue) { i.LabelChanges[2].By.Bot = true }, []string{"alice"}, flow.WhyNobody},
		"a bot wrote it":                      {func(i *model.Issue) { i.Author.Bot = true }, []string{"eve"}, flow.WhyNobody},
		"the text changed before":             {func(i *model.Issue) { i.BodyEdit = edit("eve", noon.Add(-time.Second)) }, []string{"alice"}, ""},
		"the text changed in the same second": {func(i *model.Issue) { i.BodyEdit = edit("eve", noon) }, []string{"alice"}, flow.WhyChanged},
		"the text changed later":              {func(i *model.Issue) { i.BodyEdit = edit("eve", noon.Add(time.Hour)) }, []string{"alice"}, flow.WhyChanged},
		"the text changed later, and again": {func(i *model.Issue) {
			i.BodyEdits = []model.Edit{*edit("eve", noon.Add(1)), *edit("alice", noon.Add(2))}
		}, []string{"alice"}, flow.WhyChanged},
		"too many changes of the text since": {func(i *model.Issue) { i.BodyEdits, i.MoreBodyEdits = []model.Edit{*edit("alice", noon.Add(1))}, true }, []string{"alice"}, flow.WhyChanged},
		"many changes of the text before": {func(i *model.Issue) {
			i.BodyEdits, i.MoreBodyEdits = []model.Edit{*edit("eve", noon.Add(-1)), *edit("alice", noon.Add(1))}, true
		}, []string{"alice"}, ""},
		"the author may change the text":        {func(i *model.Issue) { i.BodyEdit = edit("eve", noon.Add(time.Hour)) }, []string{"alice", "eve"}, ""},
		"people with the right may":             {func(i *model.Issue) { i.BodyEdit = edit("Bob", noon.Add(time.Hour)) }, []string{"alice", "bob"}, ""},
		"somebody that GitHub does not name":    {func(i *model.Issue) { i.BodyEdit = edit("", noon.Add(time.Hour)) }, []string{"alice", ""}, flow.WhyChanged},
		"any change of the title counts":        {func(i *model.Issue) { i.TitleEdits = []model.Edit{*edit("eve", noon), *edit("alice", noon.Add(1))} }, []string{"alice"}, flow.WhyChanged},
		"changes of the title by those who may": {func(i *model.Issue) { i.TitleEdits = []model.Edit{*edit("alice", noon)} }, []string{"alice"}, ""},
	}, func(t *testing.T, c row) {
		i := labelled()
		if c.change != nil {
			c.change(&i)
		}
		ok, why := flow.MayStart(i, labels.Bugfix, func(login string) bool { return slices.Contains(c.allowed, login) })
		assert.Equal(t, c.why == "", ok)
		assert.Equal(t, c.why, why)
	})
}

func TestAnItemOfARoadmapStartsByOurLabel(t *testing.T) {
	us := model.Actor{Login: "mergexo[bot]", Bot: true}
	nobody := func(string) bool { return false }
	made := func(change func(*model.Issue)) model.Issue {
		i := model.Issue{Number: 9, Author: us, Ours: true, Item: "parser", Roadmap: 7, LabelChanges: []model.LabelChange{{Label: labels.Bugfix, On: true, At: noon, By: us}}}
		change(&i)
		return i
	}
	for name, c := range map[string]struct {
		change func(*model.Issue)
		want   bool
	}{
		"ours":                    {func(*model.Issue) {}, true},
		"an issue of another bot": {func(i *model.Issue) { i.Item = "" }, false},
		"labeled by a stranger":   {func(i *model.Issue) { i.LabelChanges[0].By = who("eve") }, false},
		"labeled again by one": {func(i *model.Issue) {
			i.LabelChanges = append(i.LabelChanges, model.LabelChange{Label: labels.Bugfix, On: true, At: noon.Add(1), By: who("eve")})
		}, false},
		"edited by us":                         {func(i *model.Issue) { i.BodyEdit = &model.Edit{By: us, At: noon.Add(1)} }, true},
		"edited by a stranger":                 {func(i *model.Issue) { i.BodyEdit = &model.Edit{By: who("eve"), At: noon.Add(1)} }, false},
		"edited by one before it was labeled":  {func(i *model.Issue) { i.BodyEdit = &model.Edit{By: who("eve"), At: noon.Add(-1)} }, false},
		"renamed by one before it was labeled": {func(i *model.Issue) { i.TitleEdits = []model.Edit{{By: who("eve"), At: noon.Add(-1)}} }, false},
		"edited by a stranger and then by us": {func(i *model.Issue) {
			i.BodyEdits = []model.Edit{{By: who("eve"), At: noon.Add(1)}, {By: us, At: noon.Add(2)}}
		}, false},
		"edited too often": {func(i *model.Issue) { i.BodyEdits, i.MoreBodyEdits = []model.Edit{{By: us, At: noon.Add(1)}}, true }, false},
		"edited by somebody that GitHub does not name": {func(i *model.Issue) { i.BodyEdit = &model.Edit{At: noon.Add(-1)} }, false},
	} {
		ok, _ := flow.MayStart(made(c.change), labels.Bugfix, nobody)
		assert.Equal(t, c.want, ok, name)
	}
}
