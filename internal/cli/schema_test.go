package cli_test

import (
	"encoding/json"
	"errors"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/manual"
	"github.com/mergexo/mergexo/internal/must"
)

// schemaFiles gives a compiler the schemas of the manual, and nothing from anywhere else.
type schemaFiles struct{}

func (schemaFiles) Load(url string) (any, error) {
	text, ok := manual.Schema(url[strings.LastIndex(url, "/")+1:])
	if !ok {
		return nil, errors.New("no schema " + url)
	}
	return jsonschema.UnmarshalJSON(strings.NewReader(text))
}

var compiled sync.Map

// against holds a JSON text against the schema of that name.
func against(name, text string) error {
	known, ok := compiled.Load(name)
	if !ok {
		c := jsonschema.NewCompiler()
		c.UseLoader(schemaFiles{})
		c.AssertFormat()
		schema, err := c.Compile("https://example.com/" + name)
		if err != nil {
			return err
		}
		known, _ = compiled.LoadOrStore(name, schema)
	}
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		return err
	}
	return known.(*jsonschema.Schema).Validate(value)
}

// schemaOf names the schema of what a command line prints, or "" if that is no JSON.
func schemaOf(args []string) string {
	if slices.Contains(args, "--help") || !slices.Contains(args, "--json") && !slices.Contains(args, "--matrix") {
		return ""
	}
	words := slices.DeleteFunc(slices.Clone(args), func(a string) bool { return a == "--json" || a == "--verbose" })
	for n := min(2, len(words)); n > 0; n-- {
		name := strings.Join(words[:n], "-") + ".json"
		if _, ok := manual.Schema(name); ok {
			return name
		}
	}
	return ""
}

// holdsItsSchema is called with the output of every command line that the tests of this package run.
func holdsItsSchema(t testing.TB, args []string, out string) {
	t.Helper()
	if name := schemaOf(args); name != "" && out != "" { // wrong usage prints nothing
		assert.NoError(t, against(name, out), "mergexo %s\n%s", strings.Join(args, " "), out)
	}
}

func TestEveryCommandForProgramsHasASchema(t *testing.T) {
	names := map[string]bool{"report.json": true}
	var walk func(path ...string)
	walk = func(path ...string) {
		help := program(t, nil, append(path, "--help")...).out
		_, list, ok := strings.Cut(help, "\nCOMMANDS:\n")
		if !ok && strings.Contains(help, "\n   --json ") {
			name := strings.Join(path, "-") + ".json"
			names[name] = true
			text, there := manual.Schema(name)
			assert.True(t, there, name)
			assert.Equal(t, text, program(t, nil, "help", name).out)
		}
		for _, line := range strings.Split(list, "\n") {
			found := regexp.MustCompile(`^   ([a-z]+)\b`).FindStringSubmatch(line)
			if found == nil {
				break
			}
			if found[1] != "help" {
				walk(slices.Concat(path, found[1:2])...)
			}
		}
	}
	walk()
	files := must.Get(filepath.Glob("../manual/schemas/*"))(t)
	var there []string
	for _, f := range files {
		there = append(there, filepath.Base(f))
	}
	assert.ElementsMatch(t, slices.Collect(maps.Keys(names)), there)
}

// TestSchemasRefuseWhatIsNotThere takes each field out of real objects, and puts a foreign one in.
func TestSchemasRefuseWhatIsNotThere(t *testing.T) {
	h, _, _ := blockedHub(t)
	y := newYard(t, nil)
	for name, made := range map[string]ran{
		"replay.json":        program(t, nil, "replay", "--event", pull7, "--json"),
		"run.json":           program(t, h.env(), "run", "--json"),
		"blocked-reset.json": program(t, h.terminal("carol"), "blocked", "reset", "--pr", "1", "--dry-run", "--json"),
		"status.json":        program(t, h.terminal("octo"), "status", "--json"),
		"why.json":           program(t, h.terminal("octo"), "why", "--pr", "1", "--json"),
		"blocked-list.json":  program(t, h.terminal("octo"), "blocked", "list", "--json"),
		"train.json":         program(t, h.terminal("octo"), "train", "--json"),
		"log.json":           program(t, h.terminal("octo"), "log", "--json"),
		"sweep.json":         program(t, h.terminal("actions"), "sweep", "--json"),
		"merge.json":         program(t, y.env(), "merge", "--checkout", y.dir, "--branch", "fix", "--base", "main", "--json"),
		"doctor.json":        program(t, nil, "doctor", "--json", "--checkout", newRepository(t)),
	} {
		var object map[string]any
		require.NoError(t, json.Unmarshal([]byte(made.out), &object), "%s: %s", name, made.errout)
		refuses := func(change func(map[string]any)) {
			changed := maps.Clone(object)
			change(changed)
			text := must.Get(json.Marshal(changed))(t)
			assert.Error(t, against(name, string(text)), "%s: %s", name, text)
		}
		refuses(func(o map[string]any) { o["foreign"] = 1 })
		for field := range object {
			if name != "blocked-reset.json" || field != "results" { // a reset that failed has none
				refuses(func(o map[string]any) { delete(o, field) })
			}
			refuses(func(o map[string]any) { o[field] = "of another type"; o["exit"] = 99 })
		}
	}
}

func TestReportsHoldTheirSchema(t *testing.T) {
	files := must.Get(filepath.Glob("../report/testdata/*.json"))(t)
	require.Greater(t, len(files), 5)
	for _, f := range files {
		if filepath.Base(f) == "standings.json" { // is a part of what status prints
			continue
		}
		assert.NoError(t, against("report.json", read(t, filepath.Join("internal/report/testdata", filepath.Base(f)))), f)
	}
}
