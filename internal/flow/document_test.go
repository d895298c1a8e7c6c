package flow_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/mergexo/mergexo/internal/flow"
	"github.com/mergexo/mergexo/internal/golden"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
)

func document(title, text string, paths ...string) string {
	return string(flow.Document(model.Issue{Number: 3, Title: "Say hello"}, model.Outcome{Title: title, DesignDoc: text, TouchPaths: paths}))
}

func TestADesignDocument(t *testing.T) {
	golden.Text(t, "document.md", strings.TrimSuffix(document("Greet: \"all\" of them\n# or none", "---\ntitle: mine\n---\n\n# Greet\r\n\n    code\n\n", "src/**", "*.go", "aa: b #c"), "\n"))
	front := "---\nissue: 3\ntitle: \"T\"\ntouch_paths: []\n---\n"
	for text, want := range map[string]string{
		"":                                 front,
		"# A":                              front + "\n# A\n",
		"\n\n    code\n\n":                 front + "\n    code\n",
		"\uFEFF---\r\na: 1\r\n---\r\n# A":  front + "\n# A\n",
		"---\na: *b\n...\n# A":             front + "\n# A\n",
		"---\n---\n# A":                    front + "\n# A\n",
		"---\npaths:\n  - **/*.go\n---\nx": front + "\nx\n",
		"---\n\nprose\n\n---\n\nmore":      front + "\n---\n\nprose\n\n---\n\nmore\n",
		"---\n# A\nno end":                 front + "\n---\n# A\nno end\n",
		"# A\n\n---\na: 1\n---":            front + "\n# A\n\n---\na: 1\n---\n",
	} {
		assert.Equal(t, want, document("T", text), "%q", text)
	}
	assert.Contains(t, document(" \u200b", "x"), `title: "Say hello"`)
}

func FuzzDocument(f *testing.F) {
	for _, s := range []string{"a", "---", "...", "\"", "\\", "\u2028\u0085\ufeff\u200b", "\x00\x07\x7f\x1b", "\xff\xfe", "😀\U0010FFFF\ufffe", ": - # [", "~", "1e3", "\r\n\t"} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, title, p string) {
		valid := model.Outcome{Title: "x", DesignDoc: "x", TouchPaths: []string{p}}
		text := document(title, "---\ntext\n", p)
		front, _, _ := strings.Cut(strings.TrimPrefix(text, "---\n"), "\n---\n")
		var fields struct {
			Issue int
			Title string
			Paths []string `yaml:"touch_paths"`
		}
		require.NoError(t, yaml.Unmarshal([]byte(front), &fields), "%s", front)
		assert.Equal(t, 3, fields.Issue)
		if strings.ContainsFunc(title, func(r rune) bool { return r > ' ' && r < 127 }) {
			assert.Equal(t, strings.ToValidUTF8(title, "\uFFFD"), fields.Title)
		}
		assert.Equal(t, []string{strings.ToValidUTF8(p, "\uFFFD")}, fields.Paths)
		if flow.Validate(model.FlowDesign, valid, false) == nil {
			assert.Equal(t, []string{p}, must.Get(flow.TouchPaths([]byte(text)))(t))
		}
	})
}

func TestTouchPathsAreReadWhoeverWroteThem(t *testing.T) {
	for text, want := range map[string][]string{
		document("T", "x", "src/**", "*.go", "aa: b"):                  {"src/**", "*.go", "aa: b"},
		document("T", "x"):                                             nil,
		"---\ntitle: x\n---\n":                                         nil,
		"---\ntouch_paths:\n---\n":                                     nil,
		"---\ntouch_paths: src/**\n---\n":                              {"src/**"},
		"---\ntouch_paths: [a, \"b c\"]\n...\n":                        {"a", "b c"},
		"\uFEFF--- \r\ntouch_paths:\r\n- **/*.go\r\n- 'x'\r\n--- \r\n": {"**/*.go", "x"},
		"---\ntouch_paths:\n  - *.go # all\n  - 2024\n---\n":           {"*.go", "2024"},
		"---\n# ours\ntouch_paths:\n\n  - a # why\n---\n":              {"a"},
	} {
		assert.Equal(t, want, must.Get(flow.TouchPaths([]byte(text)))(t, "%q", text), "%q", text)
	}
	for text, want := range map[string]string{
		"":          "line 1: no front matter between lines of three dashes",
		"# A\n---":  "line 1: no front matter between lines of three dashes",
		"---\na: 1": "line 1: no front matter between lines of three dashes",
		"---\ntitle: x\ntouch_paths:\n  - a\n  - ../b\n---\n":          `line 5: touch_paths: "../b": it leaves the repository`,
		"---\ntouch_paths:\n  - a\n  -\n---\n":                         `line 4: touch_paths: "": empty`,
		"---\ntouch_paths:\n  - a: b\n---\n":                           "line 3: touch_paths: not a path; put a path with special characters in double quotes",
		"---\nx: 1\ntouch_paths:\n  a: b\n---\n":                       "line 4: touch_paths: not a list of paths",
		"---\nissue: 3\nx: *y\ntouch_paths: a\n---\n":                  "line 3: front matter: *y has to be in double quotes",
		"---\nx: *.go\n---\n":                                          "line 2: front matter: did not find expected alphabetic or numeric character",
		"---\nissue: 3\ntitle: a: b\n---\n":                            "line 3: front matter: mapping values are not allowed in this context",
		"---\ntouch_paths:\n\t- a\n---\n":                              "line 3: front matter: found character that cannot start any token",
		"---\n- a\n---\n":                                              "line 2: front matter: want lines of the form name: value",
		"---\ntouch_paths: [" + strings.Repeat("a,", 201) + "]\n---\n": "line 2: touch_paths: 201 paths, at most 200; use globs to name many",
	} {
		assert.EqualError(t, must.Err(flow.TouchPaths([]byte(text))), want, "%q", text)
	}
}
