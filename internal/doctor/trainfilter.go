package doctor

import (
	"reflect"
	"regexp"
	"slices"
	"strings"

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

// HearTrain finds how a workflow comes to run on the branches of the merge train; needed is false if it does, or if it is none.
func HearTrain(f File) (e TrainEdit, needed bool) {
	w, err := readWorkflow(f)
	if err != nil || w.hearsPush(trainBranch) {
		return TrainEdit{}, false
	}
	e.Path, e.Lines = f.Path, w.trainLines()
	if e.Why = w.unsure(f.Text); e.Why != "" {
		return e, true
	}
	if e.Text = withTrain(f.Text, w); e.Text == "" {
		e.Why = "its on: is not written in a way that a program can safely change"
		return e, true
	}
	return e, true
}

// trainLines are the part of a workflow that a person has to write.
func (w *workflow) trainLines() []string {
	var branches []string
	for _, t := range w.triggers {
		if t.event == "push" && t.ignored != nil {
			var kept []string
			for _, b := range t.ignored {
				if !branchfilter.Match([]string{b}, trainBranch) {
					kept = append(kept, scalar(b))
				}
			}
			return []string{"on:", "  push:", "    branches-ignore: [" + strings.Join(kept, ", ") + "]"}
		}
		if t.event == "push" {
			branches = t.branches
		}
	}
	var names []string
	for _, b := range append(slices.Clone(branches), trainPattern) {
		names = append(names, scalar(b))
	}
	return []string{"on:", "  push:", "    branches: [" + strings.Join(names, ", ") + "]"}
}

// withTrain is the text with the filter in it: the first of some edits after which it is the YAML that it has to be; "": none is. An
// edit is a guess of where the filter belongs, in the lines of on.push.branches or below on.
func withTrain(text string, w *workflow) string {
	var want any
	if err := w.node.Decode(&want); err != nil {
		return ""
	}
	root, _ := want.(map[string]any)
	events, _ := root["on"].(map[string]any)
	push, _ := events["push"].(map[string]any)
	list := child(child(child(w.node, "on"), "push"), "branches")
	var edits []string
	switch was := push["branches"].(type) {
	case []any:
		push["branches"], edits = append(slices.Clone(was), trainPattern), inList(text, list)
	case string:
		push["branches"], edits = []any{was, trainPattern}, asList(text, list)
	default:
		if _, there := events["push"]; there || events == nil {
			return ""
		}
		events["push"], edits = map[string]any{"branches": []any{trainPattern}}, belowOn(text, w.node)
	}
	for _, edit := range edits {
		var got any
		if err := yaml.Unmarshal([]byte(edit), &got); err == nil && reflect.DeepEqual(got, want) {
			return edit
		}
	}
	return ""
}

// splitAt cuts a text in front of a line, whose numbers begin with 1.
func splitAt(text string, line int) (before, after string) {
	lines := strings.SplitAfter(text, "\n")
	line = min(line-1, len(lines))
	return strings.Join(lines[:line], ""), strings.Join(lines[line:], "")
}

// lineEnd returns the line ending of a text.
func lineEnd(text string) string {
	if strings.Contains(text, "\r\n") {
		return "\r\n"
	}
	return "\n"
}

// like is the filter with the quotes of another one.
func like(n *yaml.Node) string {
	if n.Style&yaml.SingleQuotedStyle != 0 {
		return "'" + trainPattern + "'"
	}
	return trainFilter
}

var listItem = regexp.MustCompile(`^\s*-\s+`)

// inList puts the filter behind the last one of a list: in front of a bracket, or on a line of its own.
func inList(text string, list *yaml.Node) (edits []string) {
	if len(list.Content) == 0 {
		return nil
	}
	last := list.Content[len(list.Content)-1]
	before, after := splitAt(text, last.Line)
	if list.Style&yaml.FlowStyle == 0 {
		line, rest, _ := strings.Cut(after, "\n")
		more := listItem.FindString(line) + like(last)
		if rest == "" && !strings.HasSuffix(after, "\n") {
			return []string{text + lineEnd(text) + more}
		}
		return []string{before + line + "\n" + more + lineEnd(text) + rest}
	}
	for i, c := range after {
		if front := strings.TrimRight(after[:i], " \t\r\n"); c == ']' && len(edits) < 5 { // a filter may have brackets itself
			edits = append(edits, before+front+", "+like(last)+after[len(front):])
		}
	}
	return edits
}

// asList makes a list of one filter.
func asList(text string, filter *yaml.Node) (edits []string) {
	before, after := splitAt(text, filter.Line)
	for _, value := range []string{filter.Value, "'" + filter.Value + "'", `"` + filter.Value + `"`} {
		edits = append(edits, before+strings.Replace(after, ": "+value, ": ["+value+", "+like(filter)+"]", 1))
	}
	return edits
}

// belowOn puts the event push below the line of on:.
func belowOn(text string, top *yaml.Node) []string {
	for i := 0; i+1 < len(top.Content); i += 2 {
		if on := top.Content[i+1]; top.Content[i].Value == "on" && len(on.Content) > 0 {
			before, after := splitAt(text, top.Content[i].Line+1)
			indent, end := strings.Repeat(" ", on.Content[0].Column-1), lineEnd(text)
			return []string{before + indent + "push:" + end + indent + "  branches: [" + trainFilter + "]" + end + after}
		}
	}
	return nil
}

// ReportsAny says that a workflow has a job with one of these checks.
func ReportsAny(f File, checks []string) bool {
	w, err := readWorkflow(f)
	return err == nil && slices.ContainsFunc(checks, func(name string) bool {
		does, _ := w.reports(name)
		return does
	})
}
