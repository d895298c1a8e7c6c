package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/mergexo/mergexo/internal/sandbox/expression"
)

// workflow is what decides which jobs start, and when.
type workflow struct {
	On   map[string]yaml.Node `yaml:"on"`
	Jobs map[string]job       `yaml:"jobs"`
}

type job struct {
	If    string `yaml:"if"`
	Needs list   `yaml:"needs"`
	Steps []step `yaml:"steps"`
}

// list is one name or several.
type list yaml.Node

// UnmarshalYAML keeps the node.
func (l *list) UnmarshalYAML(n *yaml.Node) error {
	*l = list(*n)
	return nil
}

func (l list) names() (all []string) {
	if l.Kind == yaml.ScalarNode {
		return []string{l.Value}
	}
	for _, n := range l.Content {
		all = append(all, n.Value)
	}
	return all
}

type step struct {
	If   string            `yaml:"if"`
	Uses string            `yaml:"uses"`
	With map[string]string `yaml:"with"`
}

// event is something that GitHub tells workflows of.
type event struct {
	name, action string
	payload      expression.Object
}

func read(text []byte) (w workflow, err error) {
	if err := yaml.Unmarshal(text, &w); err != nil {
		return w, fmt.Errorf("the workflow: %w", err)
	}
	return w, nil
}

// jobs is how many jobs an event starts.
func (w workflow) jobs(e event) (int, error) {
	on, heard := w.On[e.name]
	var trigger struct{ Types []string }
	if !heard || on.Kind == yaml.MappingNode && on.Decode(&trigger) != nil || trigger.Types != nil && !slices.Contains(trigger.Types, e.action) {
		return 0, nil
	}
	payload := expression.Object{"action": e.action}
	maps.Copy(payload, e.payload)
	c := counting{w, expression.Object{"event_name": e.name, "event": payload, "repository": here, "actor": person}, map[string]bool{}}
	for name := range w.Jobs {
		if err := c.decide(name); err != nil {
			return 0, fmt.Errorf("for %s: %w", e.name, err)
		}
	}
	n := 0
	for _, runs := range c.runs {
		if runs {
			n++
		}
	}
	return n, nil
}

// counting is the decision which jobs run for one event, if none fails and the first ones find no work.
type counting struct {
	workflow
	github expression.Object
	runs   map[string]bool
}

// decide decides about a job behind those that it needs. A job runs behind one that was skipped only if its condition says so:
// https://docs.github.com/actions/reference/workflows-and-actions/expressions#status-check-functions
func (c counting) decide(name string) error {
	if _, done := c.runs[name]; done {
		return nil
	}
	j, needs, skipped := c.Jobs[name], expression.Object{}, false
	c.runs[name] = false // a circle runs nothing
	for _, n := range j.Needs.names() {
		if err := c.decide(n); err != nil {
			return err
		}
		needs[n] = expression.Object{"result": map[bool]string{false: "skipped", true: "success"}[c.runs[n]], "outputs": expression.Object{}}
		skipped = skipped || !c.runs[n]
	}
	if skipped && !strings.Contains(j.If, "always()") && !strings.Contains(j.If, "cancelled()") {
		return nil
	}
	met, known, err := expression.Condition(j.If, expression.Object{"github": c.github, "needs": needs, "vars": expression.Object{"MERGEXO_PAGES": ""}})
	if err != nil {
		return fmt.Errorf("jobs.%s.if: %w", name, err)
	}
	if !known {
		return fmt.Errorf("jobs.%s.if: whether it is met is not known beforehand", name)
	}
	c.runs[name] = met
	return nil
}

// sweeps is how often the schedule starts the workflow in so many days.
func (w workflow) sweeps(days int) (int, error) {
	var schedule []struct{ Cron string }
	on := w.On["schedule"]
	if err := on.Decode(&schedule); err != nil {
		return 0, fmt.Errorf("on.schedule: %w", err)
	}
	n := 0
	for _, s := range schedule {
		fields := strings.Fields(s.Cron)
		if len(fields) != 5 || strings.Join(fields[2:], " ") != "* * *" {
			return 0, fmt.Errorf("cron %q: want a time that is the same every day", s.Cron)
		}
		minutes, err := times(fields[0], 60)
		if err != nil {
			return 0, fmt.Errorf("cron %q: %w", s.Cron, err)
		}
		hours, err := times(fields[1], 24)
		if err != nil {
			return 0, fmt.Errorf("cron %q: %w", s.Cron, err)
		}
		n += minutes * hours * days
	}
	return n, nil
}

// times is how many of the values below a limit a field of a cron names.
// https://docs.github.com/actions/reference/workflows-and-actions/events-that-trigger-workflows#schedule
func times(field string, limit int) (int, error) {
	n := 0
	for part := range strings.SplitSeq(field, ",") {
		span, by, stepped := strings.Cut(part, "/")
		first, last, ranged := strings.Cut(span, "-")
		from, to, every := 0, limit-1, 1
		var errs [3]error
		if span != "*" {
			from, errs[0] = strconv.Atoi(first)
			if to = from; ranged {
				to, errs[1] = strconv.Atoi(last)
			}
		}
		if stepped {
			every, errs[2] = strconv.Atoi(by)
		}
		if errs != [3]error{} || every < 1 || from > to || to >= limit {
			return 0, fmt.Errorf("%q is no list of values below %d", field, limit)
		}
		n += (to-from)/every + 1
	}
	return n, nil
}
