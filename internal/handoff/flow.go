package handoff

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/strictjson"
)

// What the texts of an attempt on an issue may hold, beside the limits of a turn. The title of a design goes into its front
// matter uncut.
const (
	maxHeading    = 4096    // bytes of a title
	maxDocument   = 1 << 20 // bytes
	maxTouchPaths = 200
	maxTouchPath  = 500 // bytes
	maxItems      = 1000
)

// Review stands in place of a flow where a reviewer's findings are handed over that somebody asked for. There Start is the head that
// was reviewed, and no commits, no events and no block are handed over.
const Review model.Flow = "review"

// maxDropped is how many findings a reviewer may have reported beyond what a review holds.
const maxDropped = 1_000_000

// answers are the fields that the outcome of a flow may have, beside those of every outcome.
var answers = map[model.Flow][]string{
	"":                       {"review_replies", "general_comment", "commit_message", "flaky_test_report", "findings"},
	model.FlowDesign:         {"title", "summary", "touch_paths", "design_doc_markdown"},
	model.FlowRoadmap:        {"title", "goal", "summary", "roadmap_items"},
	model.FlowBugfix:         {"pr_title", "pr_summary", "commit_message", "findings"},
	model.FlowSmallJob:       {"pr_title", "pr_summary", "commit_message", "findings"},
	model.FlowImplementation: {"pr_title", "pr_summary", "commit_message", "findings"},
	Review:                   {"findings"},
}

// FlowReasons are why the agent's part of an attempt on an issue may end blocked, beside Reasons: there a person is asked
// for more.
var FlowReasons = []string{model.ReasonTimeout, model.ReasonCancelled, model.ReasonNoTest, model.ReasonNoChange}

// reasons are why an agent's part may block.
func (h Handoff) reasons() []string {
	if h.Flow == "" {
		return Reasons
	}
	return slices.Concat(Reasons, FlowReasons)
}

// subject names what a handoff is about.
func (h Handoff) subject() string {
	if h.Flow == "" || h.Flow == Review {
		return fmt.Sprintf("pull request %d", h.Number)
	}
	return fmt.Sprintf("issue %d", h.Number)
}

// fieldsOf are the fields that the outcome of a flow may have.
func fieldsOf(f model.Flow) []string {
	return slices.Concat(answers[f], []string{"git_ops", "blocked_reason", "session", "usage"})
}

// formatOf is what a handoff must have that says it is of this flow.
func formatOf(f model.Flow) strictjson.Rules {
	rules := format
	rules.Only = map[string][]string{"outcome": fieldsOf(f)}
	return rules
}

// partOf is what a handoff of this flow has of an outcome. An agent that repairs something may say more than that.
func partOf(f model.Flow, o model.Outcome) (part model.Outcome, err error) {
	var fields map[string]json.RawMessage
	text, err := json.Marshal(o)
	if err == nil {
		err = json.Unmarshal(text, &fields)
	}
	if err != nil {
		return part, fmt.Errorf("encode outcome: %w", err)
	}
	maps.DeleteFunc(fields, func(name string, _ json.RawMessage) bool { return !slices.Contains(fieldsOf(f), name) })
	if text, err = json.Marshal(fields); err == nil {
		err = json.Unmarshal(text, &part)
	}
	if err != nil {
		return part, fmt.Errorf("encode outcome: %w", err)
	}
	return part, nil
}

// decode reads the text of an outcome file; what it says is not yet held against the format's rules.
func decode(text []byte) (Handoff, error) {
	var peek struct{ Flow *model.Flow }
	is := model.Flow("")
	if json.Unmarshal(text, &peek) == nil && peek.Flow != nil { // what is wrong with it is told below
		if is = *peek.Flow; is == "" || answers[is] == nil {
			return Handoff{}, refuseFlow(is)
		}
	}
	var h Handoff
	err := strictjson.Decode(text, &h, formatOf(is))
	var wrong *strictjson.Error
	if errors.As(err, &wrong) {
		return Handoff{}, &Refusal{wrong.Path, wrong.Detail}
	}
	return h, err
}

func refuseFlow(f model.Flow) *Refusal {
	return refuse("flow", "%s, want design, roadmap, bugfix, small_job, implementation or review, or none for a pull request's turn", excerpt(string(f)))
}

// validateFlow looks at what makes a handoff one of an attempt on an issue.
func (h Handoff) validateFlow(turn bool) error {
	_, known := answers[h.Flow]
	switch {
	case !known:
		return refuseFlow(h.Flow)
	case h.Flow != "" && !turn:
		return refuse("flow", "given, though it ended %s", h.Ended)
	case h.Flow != "" && h.Onto != "":
		return refuse("onto", "given, though it is about %s", map[bool]string{true: "a review", false: "an issue"}[h.Flow == Review])
	case h.Flow == Review && h.Ended == Blocked:
		return refuse("ended", "blocked, which a review cannot be")
	case h.Flow == Review && len(h.Events) > 0:
		return refuse("events", "given, though it is about a review")
	case h.Flow == Review && h.Head != "" && h.Head != h.Start:
		return refuse("head", "given, though it is about a review of %s", excerpt(h.Start))
	case h.Dropped != 0 && (h.Flow != Review || h.Ended != Planned), h.Dropped < 0, h.Dropped > maxDropped:
		return refuse("dropped", "%d, want 0 to %d, and only with a review", h.Dropped, maxDropped)
	}
	return nil
}

// validateBeginning bounds the lists of what an agent said that begins a pull request.
func (h Handoff) validateBeginning() error {
	o := h.Outcome
	if len(o.RoadmapItems) > maxItems {
		return refuse("outcome.roadmap_items", "%d items, at most %d", len(o.RoadmapItems), maxItems)
	}
	for i, one := range o.RoadmapItems {
		at := fmt.Sprintf("outcome.roadmap_items[%d]", i)
		if len(one.Key) > maxHeading || len(one.Title) > maxHeading || len(one.Flow) > maxHeading || len(one.Acceptance) > maxText {
			return refuse(at, "key, title or flow of more than %d bytes, or acceptance of more than %d", maxHeading, maxText)
		}
		if err := validateTexts(at+".needs", one.Needs, maxItems, maxHeading); err != nil {
			return err
		}
	}
	return validateTexts("outcome.touch_paths", o.TouchPaths, maxTouchPaths, maxTouchPath)
}
