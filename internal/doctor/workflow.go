package doctor

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

// workflow is what doctor reads of a workflow file. Lines count from 1.
// https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-syntax
type workflow struct {
	path, text, name string
	node             *yaml.Node
	triggers         []trigger
	limits           // of all jobs
	jobs             []*job
}

// limits are mappings of a workflow or a job; nil: there is none. A scalar in the place of one has no name in it.
type limits struct{ permissions, concurrency, env map[string]string }

// trigger is one event below on:.
type trigger struct {
	event              string
	line               int
	node               *yaml.Node
	filters, workflows []string // filters are their names: branches, tags, paths, ...; workflows are of workflow_run
	branches, ignored  []string // those of branches and branches-ignore; nil: no filter
}

type job struct {
	node               *yaml.Node
	id, name, calls    string // its check has the name, else the id; calls is a reusable workflow
	line               int
	condition, timeout text
	limits
	needs, runsOn []string
	environment   bool // that it deploys to
	container     container
	steps         []*step
}

// container is what a job runs in; without an image, in none.
type container struct{ image, options string }

type step struct {
	node            *yaml.Node
	line            int
	id, run         string // run are its commands
	uses, condition text
	with, env       map[string]string
}

// text is a value with its position.
type text struct {
	value string
	line  int
}

// yamlError matches the errors of the parser of YAML.
var yamlError = regexp.MustCompile(`^(?:yaml: )?(?:line (\d+): )?(.*)`)

// readWorkflow parses a file. Its errors are lines that begin with the file's name.
func readWorkflow(f File) (*workflow, error) {
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
		return nil, fmt.Errorf("%s: not a workflow: want a mapping with on: and jobs: in it", place(f.Path, top.Line))
	}
	w := &workflow{path: f.Path, text: f.Text, node: top, name: read(top, "name").value, triggers: readTriggers(child(top, "on")), limits: readLimits(top)}
	for _, p := range pairs(child(top, "jobs")) {
		w.jobs = append(w.jobs, readJob(p))
	}
	if len(w.triggers) == 0 {
		return nil, fmt.Errorf("%s: not a workflow: on: names no event", f.Path)
	}
	return w, nil
}

func readTriggers(on *yaml.Node) (out []trigger) {
	for _, event := range words(on) {
		if event != "" {
			out = append(out, trigger{event: event, line: on.Line})
		}
	}
	for _, p := range pairs(on) {
		filters := each(pairs(p.value), func(p pair) string { return p.key })
		out = append(out, trigger{p.key, p.line, p.value, filters, words(child(p.value, "workflows")), words(child(p.value, "branches")), words(child(p.value, "branches-ignore"))})
	}
	return out
}

// crons are the times of a schedule.
func (t trigger) crons() []string {
	return each(sequence(t.node), func(n *yaml.Node) string { return read(n, "cron").value })
}

func readLimits(n *yaml.Node) limits {
	return limits{mapping(child(n, "permissions")), mapping(child(n, "concurrency")), mapping(child(n, "env"))}
}

func readJob(p pair) *job {
	n, on, in := p.value, child(p.value, "runs-on"), child(p.value, "container")
	j := &job{
		node: n, id: p.key, name: read(n, "name").value, line: p.line, condition: read(n, "if"), needs: words(child(n, "needs")),
		limits: readLimits(n), timeout: read(n, "timeout-minutes"), calls: read(n, "uses").value, runsOn: append(words(on), words(child(on, "labels"))...), environment: child(n, "environment") != nil,
		container: container{cmp.Or(read(n, "container").value, read(in, "image").value), read(in, "options").value},
	}
	for _, n := range sequence(child(n, "steps")) {
		j.steps = append(j.steps, &step{node: n, line: n.Line, id: read(n, "id").value, uses: read(n, "uses"), run: read(n, "run").value, condition: read(n, "if"),
			with: mapping(child(n, "with")), env: mapping(child(n, "env"))})
	}
	return j
}

// pair is one entry of a mapping.
type pair struct {
	key   string
	line  int
	value *yaml.Node
}

// follow resolves an alias, which Actions allows.
func follow(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode && n.Alias != nil {
		n = n.Alias
	}
	return n
}

func pairs(n *yaml.Node) []pair {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	var out []pair
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := follow(n.Content[i])
		// YAML 1.1 reads "on" as true, so the node's text counts and not its type.
		out = append(out, pair{key.Value, key.Line, follow(n.Content[i+1])})
	}
	return out
}

// child is the value of a key, or nil.
func child(n *yaml.Node, key string) *yaml.Node {
	for _, p := range pairs(n) {
		if p.key == key {
			return p.value
		}
	}
	return nil
}

// read is the text of a key's value; empty if there is none.
func read(n *yaml.Node, key string) text {
	if v := child(n, key); v != nil && v.Kind == yaml.ScalarNode && v.Tag != "!!null" {
		return text{strings.TrimSpace(v.Value), v.Line}
	}
	return text{}
}

// sequence are the entries of a list; nil for anything else.
func sequence(n *yaml.Node) []*yaml.Node {
	if n == nil || n.Kind != yaml.SequenceNode {
		return nil
	}
	return each(n.Content, follow)
}

// words are the texts of a list, or of a scalar that stands for a list; nil for anything else.
func words(n *yaml.Node) []string {
	switch {
	case n == nil || n.Tag == "!!null":
	case n.Kind == yaml.ScalarNode:
		return []string{n.Value}
	case n.Kind == yaml.SequenceNode:
		return each(sequence(n), func(n *yaml.Node) string { return n.Value })
	}
	return nil
}

// mapping is a mapping of strings, in which a scalar in place of a mapping has no name; nil if there is neither.
func mapping(n *yaml.Node) map[string]string {
	if n == nil {
		return nil
	}
	out := map[string]string{}
	if n.Kind == yaml.ScalarNode {
		out[""] = n.Value
	}
	for _, p := range pairs(n) {
		out[p.key] = strings.TrimSpace(p.value.Value)
	}
	return out
}
