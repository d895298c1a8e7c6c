package doctor

import (
	"cmp"
	"reflect"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/github/workflow"

	"go.yaml.in/yaml/v3"

	"github.com/mergexo/mergexo/internal/branchfilter"
)

// trainPattern is the branch filter that names the branches of all merge trains.
const trainPattern = "mergexo/train/**"

// TrainEdit is what a workflow lacks to run on the branches of the merge train.
type TrainEdit struct {
	Path string
	Text string // the file with it, else byte for byte what it was; "": a person has to edit it
	// Lines are what a person has to write, and Why says why no program should.
	Lines []string
	Why   string
}

// HearTrain finds how a workflow comes to run on the branches of the merge train; needed is false if it does.
func HearTrain(w *workflow.Workflow) (e TrainEdit, needed bool) {
	if w.HearsPush(trainBranch) {
		return TrainEdit{}, false
	}
	e.Path, e.Lines = w.Path, trainLines(w)
	if e.Why = unsure(w); e.Why != "" {
		return e, true
	}
	if e.Text = withTrain(w.Text, w); e.Text == "" {
		e.Why = "its on: is not written in a way that a program can safely change"
	}
	return e, true
}

// trainLines are the part of a workflow that a person has to write.
func trainLines(w *workflow.Workflow) []string {
	filter, list := "branches", []string{trainPattern}
	for _, t := range w.Triggers {
		switch {
		case t.Event == "push" && t.Ignored != nil:
			filter, list = "branches-ignore", slices.DeleteFunc(slices.Clone(t.Ignored), func(b string) bool { return branchfilter.Match([]string{b}, trainBranch) })
		case t.Event == "push":
			list = append(slices.Clone(t.Branches), trainPattern)
		}
	}
	return []string{"on:", "  push:", "    " + filter + ": [" + strings.Join(each(list, workflow.Scalar), ", ") + "]"}
}

// withTrain is the text with the filter in it, as the last one of on.push.branches or in a new event; "": the result is not the YAML
// that it has to be.
func withTrain(text string, w *workflow.Workflow) string {
	var want, got any
	if err := w.Node.Decode(&want); err != nil {
		return ""
	}
	root, _ := want.(map[string]any)
	events, _ := root["on"].(map[string]any)
	push, _ := events["push"].(map[string]any)
	branches := workflow.Child(workflow.Child(workflow.Child(w.Node, "on"), "push"), "branches")
	if _, there := events["push"]; events == nil || there && branches == nil {
		return ""
	}
	var edit string
	switch was := push["branches"].(type) {
	case []any:
		push["branches"], edit = append(slices.Clone(was), trainPattern), inList(text, branches)
	case string:
		from, to, quote := placeOf(text, branches)
		push["branches"], edit = []any{was, trainPattern}, text[:from]+"["+text[from:to]+", "+quote+trainPattern+quote+"]"+text[to:]
	default:
		events["push"], edit = map[string]any{"branches": []any{trainPattern}}, belowOn(text, w.Node)
	}
	if yaml.Unmarshal([]byte(edit), &got) != nil || !reflect.DeepEqual(got, want) {
		return ""
	}
	return edit
}

// offset is where a line and a column are, which begin with 1; it is the end where the lines of the text end in other ways.
func offset(text string, line, column int) int {
	lines := strings.SplitAfter(text, "\n")
	if line > len(lines) || column > len([]rune(lines[line-1])) {
		return len(text)
	}
	return len(strings.Join(lines[:line-1], "")) + len(string([]rune(lines[line-1])[:column-1]))
}

// placeOf is where a plain or quoted value of one line stands, and the quotes for one like it. Of another value it is no place.
func placeOf(text string, n *yaml.Node) (from, to int, quote string) {
	from = offset(text, n.Line, n.Column)
	for _, quote := range []string{"", "'", `"`} {
		if own := quote + n.Value + quote; strings.HasPrefix(text[from:], own) {
			return from, from + len(own), cmp.Or(quote, `"`)
		}
	}
	return from, from, ""
}

// lineEnd returns the line ending of a text.
func lineEnd(text string) string {
	if strings.Contains(text, "\r\n") {
		return "\r\n"
	}
	return "\n"
}

// inList puts the filter behind the last one of a list: in its brackets, or on a line like that of the other.
func inList(text string, list *yaml.Node) string {
	if len(list.Content) == 0 {
		return ""
	}
	from, to, quote := placeOf(text, list.Content[len(list.Content)-1])
	filter := ", " + quote + trainPattern + quote
	if list.Style&yaml.FlowStyle == 0 {
		filter = lineEnd(text) + text[strings.LastIndex(text[:from], "\n")+1:from] + quote + trainPattern + quote
		rest, _, _ := strings.Cut(text[to:], lineEnd(text)) // a comment
		to += len(rest)
	}
	return text[:to] + filter + text[to:]
}

// belowOn puts the event push below the line of on:.
func belowOn(text string, top *yaml.Node) string {
	at := slices.IndexFunc(workflow.Pairs(top), func(p workflow.Pair) bool { return p.Key == "on" })
	on := workflow.Pairs(top)[at]
	indent, end := strings.Repeat(" ", on.Value.Content[0].Column-1), lineEnd(text)
	below := offset(text, on.Line+1, 1)
	return text[:below] + indent + "push:" + end + indent + "  branches: [" + trainFilter + "]" + end + text[below:]
}
