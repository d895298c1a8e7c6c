// Package workflow reads the workflow files of GitHub Actions: which events start a workflow, and which checks its jobs report.
// From a repository's CI it makes the local action that sets up what agents and tests need.
package workflow

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Workflow is a parsed workflow file. Lines count from 1. The path stands in for a missing name.
// https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-syntax
type Workflow struct {
	Path, Text, Name string
	Node             *yaml.Node
	Triggers         []Trigger
	limits           // of all jobs
	Jobs             []*Job
}

// limits are mappings of a workflow or a job; nil: there is none. A scalar in the place of one has no name in it.
type limits struct{ Permissions, Concurrency, Env map[string]string }

// Trigger is one event below on:.
type Trigger struct {
	Event              string
	Line               int
	Node               *yaml.Node
	Filters, Workflows []string // the names of its filters: branches, tags, paths, ...; the workflows of workflow_run
	Branches, Ignored  []string // those of branches and branches-ignore; nil: no filter
}

// Job is one job.
type Job struct {
	Node               *yaml.Node
	ID, Name, Calls    string // its check has the name, else the id; Calls is a reusable workflow
	Line               int
	Condition, Timeout Text
	limits
	Needs, RunsOn []string
	Environment   bool // that it deploys to
	Container     container
	Steps         []*Step
}

// container is the container of a job; a job without one has no image here.
type container struct{ Image, Options string }

// Step is one step of a job.
type Step struct {
	Node            *yaml.Node
	Line            int
	ID, Run         string // Run is its script
	Uses, Condition Text
	With, Env       map[string]string
}

// Text is a value with its position.
type Text struct {
	Value string
	Line  int
}

// yamlError matches the errors of the parser of YAML.
var yamlError = regexp.MustCompile(`^(?:yaml: )?(?:line (\d+): )?(.*)`)

// Read parses a file. An error is one line, and begins with the file's name.
func Read(f File) (*Workflow, error) {
	if f.Bad != "" {
		return nil, fmt.Errorf("%s: %s", f.Path, f.Bad)
	}
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(f.Text), &doc); err != nil {
		m := yamlError.FindStringSubmatch(err.Error())
		return nil, fmt.Errorf("%s: not YAML: %s", strings.TrimSuffix(f.Path+":"+m[1], ":"), m[2])
	}
	if len(doc.Content) == 0 {
		return nil, fmt.Errorf("%s: empty", f.Path)
	}
	top := follow(doc.Content[0])
	if top.Kind != yaml.MappingNode {
		return nil, fmt.Errorf("%s: not a workflow: want a mapping with on: and jobs: in it", Place(f.Path, top.Line))
	}
	w := &Workflow{Path: f.Path, Text: f.Text, Node: top, Name: cmp.Or(read(top, "name").Value, f.Path), Triggers: readTriggers(Child(top, "on")), limits: readLimits(top)}
	for _, p := range Pairs(Child(top, "jobs")) {
		w.Jobs = append(w.Jobs, readJob(p))
	}
	if len(w.Triggers) == 0 {
		return nil, fmt.Errorf("%s: not a workflow: on: names no event", f.Path)
	}
	return w, nil
}

func readTriggers(on *yaml.Node) (out []Trigger) {
	for _, event := range Words(on) {
		if event != "" {
			out = append(out, Trigger{Event: event, Line: on.Line})
		}
	}
	for _, p := range Pairs(on) {
		filters := each(Pairs(p.Value), func(p Pair) string { return p.Key })
		out = append(out, Trigger{p.Key, p.Line, p.Value, filters, Words(Child(p.Value, "workflows")), Words(Child(p.Value, "branches")), Words(Child(p.Value, "branches-ignore"))})
	}
	return out
}

// Crons are the times of a schedule.
func (t Trigger) Crons() []string {
	return each(sequence(t.Node), func(n *yaml.Node) string { return read(n, "cron").Value })
}

func readLimits(n *yaml.Node) limits {
	return limits{Mapping(Child(n, "permissions")), Mapping(Child(n, "concurrency")), Mapping(Child(n, "env"))}
}

func readJob(p Pair) *Job {
	n, on, in := p.Value, Child(p.Value, "runs-on"), Child(p.Value, "container")
	return &Job{
		Node: n, ID: p.Key, Name: read(n, "name").Value, Line: p.Line, Condition: read(n, "if"), Needs: Words(Child(n, "needs")),
		limits: readLimits(n), Timeout: read(n, "timeout-minutes"), Calls: read(n, "uses").Value, RunsOn: append(Words(on), Words(Child(on, "labels"))...), Environment: Child(n, "environment") != nil,
		Container: container{cmp.Or(read(n, "container").Value, read(in, "image").Value), read(in, "options").Value},
		Steps:     readSteps(n),
	}
}

// readSteps are the steps of a job, or of a local action.
func readSteps(n *yaml.Node) []*Step {
	return each(sequence(Child(n, "steps")), func(n *yaml.Node) *Step {
		return &Step{Node: n, Line: n.Line, ID: read(n, "id").Value, Uses: read(n, "uses"), Run: read(n, "run").Value, Condition: read(n, "if"),
			With: Mapping(Child(n, "with")), Env: Mapping(Child(n, "env"))}
	})
}

// Pair is one entry of a mapping.
type Pair struct {
	Key   string
	Line  int
	Value *yaml.Node
}

// follow resolves an alias, which Actions allows.
func follow(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode && n.Alias != nil {
		n = n.Alias
	}
	return n
}

// Pairs are the entries of a mapping, in their order; nil for anything else.
func Pairs(n *yaml.Node) []Pair {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	var out []Pair
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := follow(n.Content[i])
		// YAML 1.1 reads "on" as true, so the node's text counts and not its type.
		out = append(out, Pair{key.Value, key.Line, follow(n.Content[i+1])})
	}
	return out
}

// Child is the value of a key, or nil.
func Child(n *yaml.Node, key string) *yaml.Node {
	for _, p := range Pairs(n) {
		if p.Key == key {
			return p.Value
		}
	}
	return nil
}

// read is the text of a key's value; empty if there is none.
func read(n *yaml.Node, key string) Text {
	if v := Child(n, key); v != nil && v.Kind == yaml.ScalarNode && v.Tag != "!!null" {
		return Text{strings.TrimSpace(v.Value), v.Line}
	}
	return Text{}
}

// sequence are the entries of a list; nil for anything else.
func sequence(n *yaml.Node) []*yaml.Node {
	if n == nil || n.Kind != yaml.SequenceNode {
		return nil
	}
	return each(n.Content, follow)
}

// Words are the texts of a list, or of a scalar that stands for a list; nil for anything else.
func Words(n *yaml.Node) []string {
	switch {
	case n == nil || n.Tag == "!!null":
	case n.Kind == yaml.ScalarNode:
		return []string{n.Value}
	case n.Kind == yaml.SequenceNode:
		return each(sequence(n), func(n *yaml.Node) string { return n.Value })
	}
	return nil
}

// Mapping is a mapping of strings, in which a scalar in place of a mapping has no name; nil if there is neither.
func Mapping(n *yaml.Node) map[string]string {
	if n == nil {
		return nil
	}
	out := map[string]string{}
	if n.Kind == yaml.ScalarNode {
		out[""] = n.Value
	}
	for _, p := range Pairs(n) {
		out[p.Key] = strings.TrimSpace(p.Value.Value)
	}
	return out
}

// File is a file of the repository.
type File struct {
	Path string
	Text string
	Bad  string // why there is no text: too large, not a file, not text
	Main Main
}

// Main compares a file with the default branch on GitHub, which runs read.
type Main string

// The results of that comparison.
const (
	MainUnknown Main = ""
	MainSame    Main = "same"
	MainOther   Main = "other"
	MainMissing Main = "missing"
)

// Place formats a file and line.
func Place(path string, line int) string {
	if line <= 0 {
		return path
	}
	return fmt.Sprintf("%s:%d", path, line)
}

// each is what there is to say of each one.
func each[T, U any](all []T, say func(T) U) []U {
	out := make([]U, 0, len(all))
	for _, one := range all {
		out = append(out, say(one))
	}
	return out
}
