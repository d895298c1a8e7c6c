package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"
)

// difference is one field of one step in which two records differ.
type difference struct {
	step, field string
	says        [2]string // of the first record and the second one
	why         string    // why it does not matter; empty: it does
}

// harmless is a field that may differ between GitHub and the sandbox, and why.
type harmless struct {
	step  string // empty: any
	field *regexp.Regexp
	why   string
}

// harmlessFields are all that may differ. A line comes in when a record of GitHub's shows a difference and nothing of ours goes
// by that field, with the reason.
var harmlessFields = []harmless{
	{"badge", regexp.MustCompile(`^(no wait|one atomic push)/`), "a race, which we do not enter: it is asked to know how often it is lost"},
	{"closing", regexp.MustCompile(`^at once/`), "a race, which we do not enter: what has landed is left open until it is shown as merged"},
	{"identity", regexp.MustCompile(`^app/viewer/databaseId$`), "which App it is"},
	{"identity", regexp.MustCompile(`/viewer errors/`), "words for people"},
	{"gateway", regexp.MustCompile(`^readings/\d+/exchanges/`), "the raw answers, which are here to be decoded again; their shape is compared by step queries"},
	{"", regexp.MustCompile(`/rest shape/`), "GitHub adds fields to REST answers at any time, and its description, to which the sandbox is held, says which are required"},
}

// absent stands for a field that a record does not have.
const absent = "(nothing)"

// compareRecords lists how b differs from a. Where both are of one server, nothing may differ.
func compareRecords(a, b record) []difference {
	var out []difference
	add := func(field, x, y string) {
		d := difference{step: a.Step, field: field, says: [2]string{x, y}}
		if a.Who != b.Who {
			d.why = whyHarmless(d)
		}
		out = append(out, d)
	}
	if a.NotPossible != b.NotPossible {
		for _, r := range []record{a, b} {
			if a.Who != b.Who && r.NotPossible != "" {
				return append(out, difference{a.Step, "", [2]string{a.inShort(), b.inShort()}, "not compared"})
			}
		}
		add("", a.inShort(), b.inShort())
		return out
	}
	if a.Error != b.Error {
		add("error", cmp.Or(a.Error, absent), cmp.Or(b.Error, absent))
		return out
	}
	x, y := flat(a.Answer), flat(b.Answer)
	if a.Who != b.Who {
		dropKinds(x, y)
	}
	fields := maps.Clone(x)
	maps.Copy(fields, y)
	for _, field := range slices.Sorted(maps.Keys(fields)) {
		if x[field] != y[field] {
			add(field, cmp.Or(x[field], absent), cmp.Or(y[field], absent))
		}
	}
	return out
}

// tokenKinds are the kinds of tokens: those that only one of two records has are left out of a comparison.
var tokenKinds = []string{"admin", "fine-grained", "app"}

func dropKinds(x, y map[string]string) {
	for _, kind := range tokenKinds {
		of := func(m map[string]string) bool {
			for field := range m {
				if strings.HasPrefix(field, kind+"/") {
					return true
				}
			}
			return false
		}
		if of(x) == of(y) {
			continue
		}
		for _, m := range []map[string]string{x, y} {
			maps.DeleteFunc(m, func(field, _ string) bool { return strings.HasPrefix(field, kind+"/") })
		}
	}
}

func whyHarmless(d difference) string {
	for _, h := range harmlessFields {
		if (h.step == "" || h.step == d.step) && h.field.MatchString(d.field) {
			return h.why
		}
	}
	return ""
}

// flat is a value by the paths of its leaves, each as JSON.
func flat(v any) map[string]string {
	out := map[string]string{}
	flatten(out, "", plain(v))
	return out
}

func flatten(out map[string]string, path string, v any) {
	below := func(name string) string { return strings.TrimPrefix(path+"/"+name, "/") }
	switch v := v.(type) {
	case map[string]any:
		if len(v) == 0 {
			out[path] = "{}"
		}
		for k, e := range v {
			flatten(out, below(strings.ReplaceAll(k, "/", "∕")), e)
		}
	case []any:
		if len(v) == 0 {
			out[path] = "[]"
		}
		for i, e := range v {
			flatten(out, below(fmt.Sprint(i)), e)
		}
	default:
		text, err := json.Marshal(v)
		if err != nil {
			text = []byte(err.Error())
		}
		out[path] = string(text)
	}
}

// compareDirs prints what differs between two directories of records as a table; errFound when anything of it matters. With
// names of steps it compares those only.
func compareDirs(first, second string, only []string, out io.Writer) error {
	a, err := readRecords(first)
	if err != nil {
		return err
	}
	b, err := readRecords(second)
	if err != nil {
		return err
	}
	for _, records := range []map[string]record{a, b} {
		maps.DeleteFunc(records, func(name string, _ record) bool { return len(only) > 0 && !slices.Contains(only, name) })
	}
	return tell(a, b, out)
}

func tell(a, b map[string]record, out io.Writer) error {
	var all []difference
	steps := maps.Clone(a)
	maps.Copy(steps, b)
	says := [2]string{"", ""}
	for _, name := range slices.Sorted(maps.Keys(steps)) {
		x, inA := a[name]
		y, inB := b[name]
		switch {
		case !inA:
			all = append(all, difference{name, "", [2]string{"(no record)", y.inShort()}, ""})
		case !inB:
			all = append(all, difference{name, "", [2]string{x.inShort(), "(no record)"}, ""})
		default:
			says = [2]string{x.Who, y.Who}
			all = append(all, compareRecords(x, y)...)
		}
	}
	matter := 0
	for _, d := range all {
		if d.why == "" {
			matter++
		}
	}
	if len(all) > 0 {
		t := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
		fmt.Fprintf(t, "STEP\tFIELD\t%s\t%s\tMATTERS\n", heading(says[0]), heading(says[1]))
		for _, d := range all {
			matters := "yes"
			if d.why != "" {
				matters = "no: " + d.why
			}
			fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", d.step, d.field, cell(d.says[0]), cell(d.says[1]), matters)
		}
		if err := t.Flush(); err != nil {
			return err
		}
	}
	fmt.Fprintf(out, "%d steps compared, %d differences, %d of them matter\n", len(steps), len(all), matter)
	if matter > 0 {
		return errFound
	}
	return nil
}

func heading(who string) string {
	if who == "github" {
		return "GITHUB SAYS"
	}
	return strings.ToUpper(who) + " SAYS"
}

// cell is a value in one line of the table.
func cell(text string) string {
	text = strings.Map(func(r rune) rune {
		if r < ' ' {
			return ' '
		}
		return r
	}, text)
	const wide = 90
	if r := []rune(text); len(r) > wide {
		return string(r[:wide]) + "..."
	}
	return text
}
