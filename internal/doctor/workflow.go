package doctor

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// workflow is what doctor reads of a workflow file. Lines count from 1.
// https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-syntax
type workflow struct {
	path        string
	text        string
	name        string
	node        *yaml.Node
	triggers    []trigger
	permissions *permissions
	concurrency *concurrency
	env         map[string]string
	jobs        []*job
}

// trigger is one event below on:.
type trigger struct {
	event     string
	line      int
	node      *yaml.Node
	filters   []string // the names of its filters: branches, tags, paths, ...
	workflows []string // of workflow_run
	branches  []string // the filter of that name; nil: none
	ignored   []string // those of branches-ignore
}

type job struct {
	node        *yaml.Node
	id          string
	name        string // that its check has; "": the id
	line        int
	condition   text
	needs       []string
	permissions *permissions
	concurrency *concurrency
	env         map[string]string
	timeout     text
	calls       string // a reusable workflow
	runsOn      []string
	environment bool // that it deploys to
	container   container
	steps       []*step
}

// container is what a job runs in; without an image, in none.
type container struct{ image, options string }

type step struct {
	node      *yaml.Node
	line      int
	id        string
	uses      text
	run       string // its commands
	condition text
	with, env map[string]string
}

// text is a value with its position.
type text struct {
	value string
	line  int
}

type permissions struct {
	line int
	all  string            // read-all or write-all
	each map[string]string // contents -> write
}

type concurrency struct {
	line          int
	group, cancel string
}

var yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)

// readWorkflow parses a file. Its errors are lines that begin with the file's name.
func readWorkflow(f File) (*workflow, error) {
	if f.Bad != "" {
		return nil, fmt.Errorf("%s: %s", f.Path, f.Bad)
	}
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(f.Text), &doc); err != nil {
		m := yamlLine.FindStringSubmatch(err.Error())
		at, said := f.Path, err.Error()
		if m != nil {
			said = said[len(m[0]):]
			if m[1] != "" {
				at += ":" + m[1]
			}
		}
		return nil, fmt.Errorf("%s: not YAML: %s", at, said)
	}
	if len(doc.Content) == 0 {
		return nil, fmt.Errorf("%s: empty", f.Path)
	}
	top := follow(doc.Content[0])
	if top.Kind != yaml.MappingNode {
		return nil, fmt.Errorf("%s: not a workflow: want a mapping with on: and jobs: in it", place(f.Path, top.Line))
	}
	w := &workflow{
		path: f.Path, text: f.Text, node: top, name: read(top, "name").value, permissions: readPermissions(child(top, "permissions")),
		concurrency: readConcurrency(child(top, "concurrency")), env: mapping(child(top, "env")),
	}
	w.triggers = readTriggers(child(top, "on"))
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
func (t trigger) crons() (all []string) {
	if t.node != nil && t.node.Kind == yaml.SequenceNode {
		for _, n := range t.node.Content {
			all = append(all, read(follow(n), "cron").value)
		}
	}
	return all
}

func readJob(p pair) *job {
	j := &job{
		node: p.value, id: p.key, name: read(p.value, "name").value, line: p.line, condition: read(p.value, "if"), needs: words(child(p.value, "needs")),
		permissions: readPermissions(child(p.value, "permissions")), concurrency: readConcurrency(child(p.value, "concurrency")),
		env: mapping(child(p.value, "env")), timeout: read(p.value, "timeout-minutes"), calls: read(p.value, "uses").value,
	}
	j.environment = child(p.value, "environment") != nil
	j.runsOn = words(child(p.value, "runs-on"))
	if labels := child(child(p.value, "runs-on"), "labels"); labels != nil {
		j.runsOn = words(labels)
	}
	in := child(p.value, "container")
	j.container = container{cmp.Or(read(p.value, "container").value, read(in, "image").value), read(in, "options").value}
	steps := child(p.value, "steps")
	if steps == nil || steps.Kind != yaml.SequenceNode {
		return j
	}
	for _, n := range steps.Content {
		n = follow(n)
		j.steps = append(j.steps, &step{node: n, line: n.Line, id: read(n, "id").value, uses: read(n, "uses"), run: read(n, "run").value, condition: read(n, "if"),
			with: mapping(child(n, "with")), env: mapping(child(n, "env"))})
	}
	return j
}

func readPermissions(n *yaml.Node) *permissions {
	if n == nil {
		return nil
	}
	if n.Kind == yaml.ScalarNode {
		return &permissions{line: n.Line, all: n.Value}
	}
	return &permissions{line: n.Line, each: mapping(n)}
}

func readConcurrency(n *yaml.Node) *concurrency {
	if n == nil {
		return nil
	}
	if n.Kind == yaml.ScalarNode {
		return &concurrency{line: n.Line, group: n.Value}
	}
	return &concurrency{line: n.Line, group: read(n, "group").value, cancel: read(n, "cancel-in-progress").value}
}

// pair is one entry of a mapping.
type pair struct {
	key   string
	line  int
	value *yaml.Node
}

// follow resolves an alias, which Actions allows; a cyclic one resolves to nothing.
func follow(n *yaml.Node) *yaml.Node {
	for range 10 {
		if n.Kind != yaml.AliasNode || n.Alias == nil {
			break
		}
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
	all := pairs(n)
	i := slices.IndexFunc(all, func(p pair) bool { return p.key == key })
	if i < 0 {
		return nil
	}
	return all[i].value
}

// read is the text of a key's value; empty if there is none.
func read(n *yaml.Node, key string) text {
	if v := child(n, key); v != nil && v.Kind == yaml.ScalarNode && v.Tag != "!!null" {
		return text{strings.TrimSpace(v.Value), v.Line}
	}
	return text{}
}

// words are the texts of a list, or of a scalar that stands for a list; nil for anything else.
func words(n *yaml.Node) []string {
	switch {
	case n == nil:
		return nil
	case n.Kind == yaml.ScalarNode && n.Tag != "!!null":
		return []string{n.Value}
	case n.Kind == yaml.SequenceNode:
		out := []string{}
		for _, one := range n.Content {
			out = append(out, follow(one).Value)
		}
		return out
	}
	return nil
}

// mapping is a mapping of strings.
func mapping(n *yaml.Node) map[string]string {
	out := map[string]string{}
	for _, p := range pairs(n) {
		out[p.key] = strings.TrimSpace(p.value.Value)
	}
	return out
}
