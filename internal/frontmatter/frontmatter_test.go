package frontmatter

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/must"
)

func TestMergeKeepsTheBaseAndAddsWhatItLacks(t *testing.T) {
	type row struct{ base, branch, want string }
	must.Each(t, map[string]row{
		"lines":                           {"---\ntitle: A\ntags:\n  - one\n  - two\nlast: x\n---\nbody\n", "---\ntitle: B\ntags: [Two, three, \"[[One]]\"]\n---\nother body\n", "---\ntitle: A\ntags:\n  - one\n  - two\n  - three\nlast: x\n---\nbody\n"},
		"brackets":                        {"---\ntags: [one, two] # c\n---\n", "---\ntags:\n- three\n- four five\n---\n", "---\ntags: [one, two, three, four five] # c\n---\n"},
		"brackets over lines":             {"---\ntags: [\n  one,\n  two, # two\n]\n---\n", "---\ntags: [three]\n---\n", "---\ntags: [\n  one,\n  two, three, # two\n]\n---\n"},
		"quotes":                          {"---\ntags:\n- 'it''s'\n---\n", "---\ntags: [o'brien, x]\n---\n", "---\ntags:\n- 'it''s'\n- 'o''brien'\n- 'x'\n---\n"},
		"double quotes in brackets":       {"---\nlinks: [\"[[a, b]]\"]\n---\n", "---\nlinks: [\"[[C]]\"]\n---\n", "---\nlinks: [\"[[a, b]]\", \"[[C]]\"]\n---\n"},
		"CRLF":                            {"---\r\ntags:\r\n  - a\r\n---\r\nbody\r\n", "---\ntags: [b]\n---\n", "---\r\ntags:\r\n  - a\r\n  - b\r\n---\r\nbody\r\n"},
		"empty brackets":                  {"---\ntags: []\n---\n", "---\ntags: [b, c]\n---\n", "---\ntags: [b, c]\n---\n"},
		"no value":                        {"---\ntags: # none yet\nx: 1\n---\n", "---\ntags: [b]\n---\n", "---\ntags: # none yet\n  - b\nx: 1\n---\n"},
		"no such field":                   {"---\nx: 1\n---\nbody", "---\ntags:\n- b\nlinks: ['a: b']\n---\n", "---\nx: 1\ntags:\n  - b\nlinks: [\"a: b\"]\n---\nbody"},
		"nothing in it":                   {"---\n---\n", "---\ntags: [b]\n---\n", "---\ntags: [b]\n---\n"},
		"wiki links without quotes":       {"---\nlinks:\n  - [[A Page]]\n---\n", "---\nlinks:\n  - [[a-page]]\n  - [[New]]\n---\n", "---\nlinks:\n  - [[A Page]]\n  - [[New]]\n---\n"},
		"a comment below":                 {"---\ntags:\n  - a # first\n  # end\nx: 1\n---\n", "---\ntags: [b]\n---\n", "---\ntags:\n  - a # first\n  - b\n  # end\nx: 1\n---\n"},
		"numbers and what must be quoted": {"---\ntags:\n  - a\n---\n", "---\ntags: [2024, \"2025\", \"true\", \"- x\", \"a #b\"]\n---\n", "---\ntags:\n  - a\n  - 2024\n  - \"2025\"\n  - \"true\"\n  - \"- x\"\n  - \"a #b\"\n---\n"},
		"removed on the branch":           {"---\ntags: [a, b]\n---\n", "---\ntags: [b]\n---\n", "---\ntags: [a, b]\n---\n"},
		"twice in the base":               {"---\ntags: [a, A]\n---\n", "---\ntags: [a, b, B]\n---\n", "---\ntags: [a, A, b]\n---\n"},
		"other fields of the branch":      {"---\ndate: 2024-01-01\n---\n", "---\ndate: 2025-01-01\nnew: x\n---\n", "---\ndate: 2024-01-01\n---\n"},
		"not UTF-8 in the body":           {"---\ntags: [a]\n---\n\xff\xfe", "---\ntags: [b]\n---\n", "---\ntags: [a, b]\n---\n\xff\xfe"},
		"brackets behind others":          {"---\n\"k[\": 1\n\"z[é]\": [q]\ntags: [a]\n---\n", "---\ntags: [b]\n---\n", "---\n\"k[\": 1\n\"z[é]\": [q]\ntags: [a, b]\n---\n"},
	}, func(t *testing.T, c row) {
		got := []byte(c.base)
		for range 5 {
			got = must.Get(Merge(got, []byte(c.branch), []string{"tags", "links"}))(t)
			assert.Equal(t, c.want, string(got))
		}
	})
}

func TestMergeRefusesWhatItCannotRead(t *testing.T) {
	good := "---\ntags: [x]\n---\n"
	type row struct{ text, want string }
	must.Each(t, map[string]row{
		"none":                         {"tags: [a]\n", "there is no front matter"},
		"not closed":                   {"---\ntags: [a]\n", "it is not closed"},
		"not YAML":                     {"---\ntags: [a\n---\n", "yaml: "},
		"a tab":                        {"---\ntags:\n\t- a\n---\n", "yaml: "},
		"a list":                       {"---\n- a\n---\n", "it is not a list of fields"},
		"braces":                       {"---\n{tags: [a]}\n---\n", "it is not a list of fields"},
		"twice":                        {"---\ntags: [a]\ntags: [b]\n---\n", `"tags" occurs twice`},
		"a text":                       {"---\ntags: a\n---\n", `"tags" is not a list`},
		"fields in it":                 {"---\ntags:\n- a: b\n---\n", `"tags" has something other than texts in it`},
		"an alias":                     {"---\nx: &a [b]\ntags: *a\n---\n", `"tags" is not a list`},
		"a break that only YAML knows": {"---\ntitle: \"a\u2028\u2028b\"\ntags:\n  - y\n---\n", "it has a line break that is neither LF nor CRLF"},
		"a lone CR":                    {"---\ntitle: x\rtags: [y]\n---\n", "it has a line break that is neither LF nor CRLF"},
		"too long":                     {"---\n" + strings.Repeat("# x\n", maxFront/4+1) + "---\n", "it has over 1048576 bytes"},
	}, func(t *testing.T, c row) {
		for _, side := range []bool{true, false} {
			base, branch := c.text, good
			if !side {
				base, branch = good, c.text
			}
			_, err := Merge([]byte(base), []byte(branch), []string{"tags"})
			var wrong *Error
			require.ErrorAs(t, err, &wrong)
			assert.Equal(t, side, wrong.Base)
			assert.Contains(t, err.Error(), c.want)
		}
	})
}

func TestMergeRefusesAnEditThatWouldReadOtherwise(t *testing.T) {
	for _, base := range []string{"---\ntags:\n  - |\n    a\n    b\n---\n", "---\ntags:\n  - a\n    b\n---\n", "---\ntags:\n  - !!str a\n  - &x b\n---\n", "---\n? tags\n: - a\n---\n"} {
		out, err := Merge([]byte(base), []byte("---\ntags: [c]\n---\n"), []string{"tags"})
		if err == nil {
			t.Errorf("%q became %q", base, out)
		}
	}
}

func TestSlug(t *testing.T) {
	for in, want := range map[string]string{
		"A Page": "a-page", "[[A_Page|label]]": "a-page", `"[[a - page]]"`: "a-page", " x ": "x", "e\u0301": "\u00e9", "[[x": "[[x", "": "",
	} {
		assert.Equal(t, want, Slug(in), in)
	}
}

func FuzzMerge(f *testing.F) {
	f.Add("---\ntags: [a, 'b', \"c\"]\n---\nbody", "---\ntags:\n  - d # x\n  - [[e]]\n---\n")
	f.Add("---\ntitle: \"a\u2028\u2028b\"\ntags:\n  - x\n---\n", "---\ntags: [y]\n---\n")
	f.Add("---\r\ntags:\r\n- a\r\nz: 1\r\n...\r\n", "---\ntags: [1, true, null, \"- x\"]\n---\n")
	f.Add("---\ntags:\n---\n", "---\ntags: ['it''s', \"a\\nb\", \"\"]\n---\n")
	f.Fuzz(func(t *testing.T, base, branch string) {
		once, err := Merge([]byte(base), []byte(branch), []string{"tags"})
		if err != nil {
			var wrong *Error
			if !errors.As(err, &wrong) {
				t.Fatalf("%T", err)
			}
			return
		}
		twice, err := Merge(once, []byte(branch), []string{"tags"})
		if err != nil || string(twice) != string(once) {
			t.Fatalf("%q then %q: %v", once, twice, err)
		}
		was, _ := parse([]byte(base))
		now, _ := parse(once)
		if was.rest("tags") != now.rest("tags") {
			t.Fatalf("%q became %q", base, once)
		}
		before, _ := was.items("tags")
		after, _ := now.items("tags")
		for i := range before {
			if before[i] != after[i] {
				t.Fatalf("%q became %q", base, once)
			}
		}
	})
}
