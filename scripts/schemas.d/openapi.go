package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

// object is a JSON object; encoding/json writes its keys sorted, which makes the cut the same every time.
type object = map[string]any

// trimOpenAPI returns GitHub's REST description with only the listed operations and the components they need.
// Prose and examples go; what a validator reads stays.
func trimOpenAPI(path, operations string) ([]byte, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var from object
	if err := json.Unmarshal(text, &from); err != nil {
		return nil, fmt.Errorf("read GitHub's description: %w", err)
	}
	paths, err := pickOperations(from["paths"].(object), operations)
	if err != nil {
		return nil, err
	}
	out := object{
		"openapi": from["openapi"],
		"info":    object{"title": "GitHub's REST API, the part that the sandbox serves", "version": from["info"].(object)["version"]},
		"paths":   strip(paths, true),
	}
	components := object{}
	if err := closeOver(out["paths"], from["components"].(object), components); err != nil {
		return nil, err
	}
	out["components"] = components
	return lines(out)
}

// pickOperations keeps the operations that a file lists as "METHOD /path" lines; "#" begins a comment.
func pickOperations(all object, list string) (object, error) {
	file, err := os.Open(list)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	picked := object{}
	scan := bufio.NewScanner(file)
	for n := 1; scan.Scan(); n++ {
		words := strings.Fields(scan.Text())
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		if len(words) != 2 {
			return nil, fmt.Errorf("%s:%d: want METHOD /path", list, n)
		}
		item, _ := all[words[1]].(object)
		operation, ok := item[strings.ToLower(words[0])]
		if !ok {
			return nil, fmt.Errorf("%s:%d: GitHub documents no %s %s", list, n, words[0], words[1])
		}
		kept, _ := picked[words[1]].(object)
		if kept == nil {
			kept = object{}
			if shared, ok := item["parameters"]; ok {
				kept["parameters"] = shared
			}
			picked[words[1]] = kept
		}
		kept[strings.ToLower(words[0])] = operation
	}
	return picked, scan.Err()
}

// named are the keys under which names follow that are not keywords of the description.
var named = map[string]bool{"properties": true, "patternProperties": true, "responses": true, "headers": true,
	"content": true, "schemas": true, "variables": true, "mapping": true}

// prose are the keywords that no validator reads.
var prose = map[string]bool{"description": true, "summary": true, "example": true, "examples": true, "externalDocs": true,
	"tags": true, "title": true, "deprecated": true}

// strip returns v without prose. names says that the keys of v are names and not keywords.
func strip(v any, names bool) any {
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = strip(v[i], false)
		}
		return out
	case object:
		out := object{}
		for key, value := range v {
			switch {
			case names:
				out[key] = strip(value, false)
			case prose[key] || strings.HasPrefix(key, "x-"):
			case key == "enum" || key == "default" || key == "required":
				out[key] = value
			case key == "oneOf" && v["discriminator"] == nil:
				// GitHub's alternatives overlap (basic-error is a validation-error without details), so one of them fits, not exactly one.
				out["anyOf"] = strip(value, false)
			case key == "responses":
				out[key] = responses(value.(object))
			default:
				out[key] = strip(value, named[key])
			}
		}
		return out
	}
	return v
}

// responses strips a map of responses; OpenAPI 3.0 wants a description in each, so an empty one stays.
func responses(all object) object {
	out := strip(all, true).(object)
	for _, r := range out {
		if r := r.(object); r["$ref"] == nil {
			r["description"] = ""
		}
	}
	return out
}

// closeOver copies what v refers to from one set of components to another, and what that refers to.
func closeOver(v any, from, to object) error {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			if err := closeOver(e, from, to); err != nil {
				return err
			}
		}
	case object:
		if ref, ok := v["$ref"].(string); ok {
			return copyComponent(ref, from, to)
		}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if err := closeOver(v[key], from, to); err != nil {
				return err
			}
		}
	}
	return nil
}

func copyComponent(ref string, from, to object) error {
	kind, name, ok := strings.Cut(strings.TrimPrefix(ref, "#/components/"), "/")
	group, _ := from[kind].(object)
	component, found := group[name].(object)
	if !ok || !found {
		return fmt.Errorf("GitHub's description has no %s", ref)
	}
	kept, _ := to[kind].(object)
	if kept == nil {
		kept = object{}
		to[kind] = kept
	}
	if kept[name] != nil {
		return nil
	}
	stripped := strip(component, false).(object)
	if kind == "responses" {
		stripped["description"] = ""
	}
	kept[name] = stripped
	return closeOver(stripped, from, to)
}

// lines writes the description with one line for each path and each component, so that a change of GitHub's can be read in a diff.
func lines(doc object) ([]byte, error) {
	var out bytes.Buffer
	if err := writeLines(&out, doc, 0); err != nil {
		return nil, err
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

// depth says how deep the objects under a key are spread over lines.
var depth = map[string]int{"paths": 1, "components": 2}

func writeLines(out *bytes.Buffer, o object, deep int) error {
	out.WriteString("{\n")
	for i, key := range slices.Sorted(maps.Keys(o)) {
		if i > 0 {
			out.WriteString(",\n")
		}
		fmt.Fprintf(out, "%q: ", key)
		below := max(deep-1, depth[key])
		if inner, ok := o[key].(object); ok && below > 0 {
			if err := writeLines(out, inner, below); err != nil {
				return err
			}
			continue
		}
		text, err := json.Marshal(o[key])
		if err != nil {
			return err
		}
		out.Write(text)
	}
	out.WriteString("\n}")
	return nil
}
