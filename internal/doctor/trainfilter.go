package doctor

import (
	"reflect"
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
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(f.Text), &doc); err != nil || len(doc.Content) == 0 {
		return e, true
	}
	s := source(f.Text)
	text, want := s.withTrain(doc.Content[0])
	if text == "" || !sameBut(text, want) {
		e.Why = "its on: is not written in a way that a program can safely change"
		return e, true
	}
	e.Text = text
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

// source is the text of a workflow.
type source string

// withTrain is the text with the filter in it, and what YAML has to make of it; "": nobody can say where it belongs.
func (s source) withTrain(top *yaml.Node) (text string, want any) {
	if top.Decode(&want) != nil {
		return "", nil
	}
	root, isMap := want.(map[string]any)
	on, events := entry(top, "on"), map[string]any(nil)
	if isMap {
		events, _ = root["on"].(map[string]any)
	}
	if on == nil || on.Kind != yaml.MappingNode || on.Anchor != "" || events == nil {
		return "", nil
	}
	push := entry(on, "push")
	if push == nil {
		events["push"] = map[string]any{"branches": []any{trainPattern}}
		return s.addPush(top, on), want
	}
	list := entry(push, "branches")
	fields, _ := events["push"].(map[string]any)
	if push.Anchor != "" || list == nil || list.Anchor != "" || fields == nil {
		return "", nil
	}
	switch was := fields["branches"].(type) {
	case []any:
		fields["branches"] = append(slices.Clone(was), trainPattern)
	case string:
		fields["branches"] = []any{was, trainPattern}
	}
	return s.addBranch(list), want
}

// entry is the value of a key, without following an alias.
func entry(n *yaml.Node, key string) *yaml.Node {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}

// sameBut says that a text is the YAML that it has to be, and hears the train.
func sameBut(text string, want any) bool {
	var got any
	if err := yaml.Unmarshal([]byte(text), &got); err != nil || !reflect.DeepEqual(got, want) {
		return false
	}
	w, err := readWorkflow(File{Text: text})
	return err == nil && w.hearsPush(trainBranch)
}

// ReportsAny says that a workflow has a job with one of these checks.
func ReportsAny(f File, checks []string) bool {
	w, err := readWorkflow(f)
	return err == nil && slices.ContainsFunc(checks, func(name string) bool {
		does, _ := w.reports(name)
		return does
	})
}
