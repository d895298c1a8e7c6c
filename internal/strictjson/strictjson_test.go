package strictjson_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/strictjson"
)

type item struct {
	ID   int64   `json:"id"`
	Cost float64 `json:"cost"`
}

type whole struct {
	Name   string   `json:"name"`
	Count  int      `json:"count,omitempty"`
	Yes    bool     `json:"yes"`
	Words  []string `json:"words"`
	Items  []item   `json:"items"`
	One    *item    `json:"one"`
	Loose  item     `json:"loose"`
	Hidden string   `json:"-"`
}

var rules = strictjson.Rules{
	Name: "it", Required: map[string][]string{"": {"name"}, "items[]": {"id"}}, Nullable: []string{"loose"}, MaxItems: 3,
}

func TestDecode(t *testing.T) {
	var got whole
	require.NoError(t, strictjson.Decode([]byte(` {"name": "é\u00e9", "count": -2, "yes": true, "words": ["a", ""], "items": [{"id": 9007199254740993, "cost": 1e-3}],
		"one": {}, "loose": {"id": null}} `), &got, rules))
	assert.Equal(t, whole{
		Name: "éé", Count: -2, Yes: true, Words: []string{"a", ""}, Items: []item{{9007199254740993, 0.001}}, One: &item{},
	}, got)
}

func TestDecodeRefuses(t *testing.T) {
	for in, want := range map[string]string{
		"":                                        "it: empty",
		" \n":                                     "it: empty",
		`{"name": "a"`:                            "it: not JSON: it ends in the middle",
		`name`:                                    "it: not JSON: invalid character 'a' in literal null (expecting 'u')",
		`{"name": "\ud800"}`:                      "it: not JSON: invalid surrogate pair `\\ud800\"}` in string",
		"{\"name\": \"\xff\"}":                    "it: not JSON: invalid UTF-8",
		"\xef\xbb\xbf{}":                          `it: not JSON: invalid character '\ufeff' at start of value`,
		`{"name": "a"} {}`:                        `it: it continues after the JSON value: "{}"`,
		"{\"name\": \"a\"}\x00":                   `it: it continues after the JSON value: "\x00"`,
		`[]`:                                      "it: want an object, got a list",
		`null`:                                    "it: want an object, got null",
		`{}`:                                      "name: it is missing",
		`{"name": null}`:                          "name: want a string, got null",
		`{"Name": "a"}`:                           `it: unknown field "Name"`,
		`{"Hidden": "a"}`:                         `it: unknown field "Hidden"`,
		`{"": "a"}`:                               `it: unknown field ""`,
		`{"-": "a"}`:                              `it: unknown field "-"`,
		`{"name": "a", "name": "a"}`:              "name: it occurs twice",
		`{"name": "a", "n\u0061me": "b"}`:         "name: it occurs twice",
		`{"name": "a", "count": "1"}`:             "count: want a number, got a string",
		`{"name": "a", "count": 1.0}`:             `count: want a whole number, got "1.0"`,
		`{"name": "a", "yes": 1}`:                 "yes: want a boolean, got a number",
		`{"name": "a", "words": "a"}`:             "words: want a list, got a string",
		`{"name": "a", "words": ["a", 1]}`:        "words[1]: want a string, got a number",
		`{"name": "a", "words": null}`:            "words: want a list, got null",
		`{"name": "a", "one": null}`:              "one: want an object, got null",
		`{"name": "a", "loose": null}`:            "loose: want an object, got null",
		`{"name": "a", "items": [{}]}`:            "items[0].id: it is missing",
		`{"name": "a", "loose": {"x": 1}}`:        `loose: unknown field "x"`,
		`{"name": "a", "words": [1,2,3,4]}`:       "words[0]: want a string, got a number",
		`{"name": "a", "words": ["","","",""]}`:   "words: over 3 items",
		`{"name": "a", "loose": {"cost": 1e400}}`: `loose.cost: want a number of at most 64 bits, got "1e400"`,
		`{"name": "a", "loose": {"id": 9223372036854775808}}`:   `loose.id: want a whole number, got "9223372036854775808"`,
		"{\"" + strings.Repeat("\u202e", 30) + `\n::x::": "a"}`: `it: unknown field "` + strings.Repeat(`\u202e`, 13) + `\xe2"...`,
	} {
		err := strictjson.Decode([]byte(in), &whole{}, rules)
		var wrong *strictjson.Error
		require.ErrorAs(t, err, &wrong, in)
		assert.EqualError(t, err, want, in)
	}
}

func TestFirst(t *testing.T) {
	value, rest, err := strictjson.First([]byte(" {\"a\":[1]} \xffb "))
	require.NoError(t, err)
	assert.JSONEq(t, `{"a":[1]}`, string(value))
	assert.Equal(t, " \xffb ", string(rest))
	for in, want := range map[string]string{"": "EOF", " \n\t": "EOF", `{"a`: "it ends in the middle", "a": "invalid character 'a' at start of value"} {
		value, rest, err := strictjson.First([]byte(in))
		assert.EqualError(t, err, want)
		assert.Empty(t, value)
		assert.Empty(t, rest)
	}
}

func TestAnyBytesAreTakenWhereTheRulesSaySo(t *testing.T) {
	loose := strictjson.Rules{Name: "it", AnyBytes: true}
	var got whole
	require.NoError(t, strictjson.Decode([]byte("{\"name\": \"caf\xe9\", \"words\": [\"\xff\xfe\"]}"), &got, loose))
	assert.Equal(t, whole{Name: "caf\uFFFD", Words: []string{"\uFFFD\uFFFD"}}, got)
	for in, want := range map[string]string{
		"\xff":                 `it: not JSON: invalid character '\xff' at start of value`,
		"{} \xff":              `it: it continues after the JSON value: "\xff"`,
		"{\"nam\xff\": \"a\"}": `it: unknown field "nam\ufffd"`,
	} {
		assert.EqualError(t, strictjson.Decode([]byte(in), &whole{}, loose), want)
	}
}

func TestAHintFollowsAnUnknownField(t *testing.T) {
	hinted := strictjson.Rules{Name: "it", Hint: func(field string, known []string) string {
		return ": " + field + " is none of " + strings.Join(known, " ")
	}}
	for in, want := range map[string]string{
		`{"nam": 1}`:           `it: unknown field "nam": nam is none of name count yes words items one loose`,
		`{"items": [{"": 1}]}`: `items[0]: unknown field "":  is none of id cost`,
	} {
		assert.EqualError(t, strictjson.Decode([]byte(in), &whole{}, hinted), want)
	}
}

// FuzzDecode compares with encoding/json: whatever is taken here reads the same there.
func TestOnlySomeFieldsOfATypeMayBeThere(t *testing.T) {
	some := rules
	some.Only = map[string][]string{"": {"name", "items"}, "items[]": {"id"}}
	some.Hint = func(_ string, known []string) string { return ": " + strings.Join(known, ", ") }
	var got whole
	require.NoError(t, strictjson.Decode([]byte(`{"name": "a", "items": [{"id": 1}]}`), &got, some))
	assert.EqualError(t, strictjson.Decode([]byte(`{"name": "a", "yes": true}`), &got, some), `it: unknown field "yes": name, items`)
	assert.EqualError(t, strictjson.Decode([]byte(`{"name": "a", "items": [{"id": 1}, {"id": 2, "cost": 1}]}`), &got, some), `items[1]: unknown field "cost": id`)
}

func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		`{"name":"a","items":[{"id":1,"cost":0.5}],"one":{"id":2},"loose":{"id":null},"words":["x"],"yes":false,"count":3}`, `{"name":`, "[]", "\xff", "{\"name\":\"\xff\"}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		loose := rules
		loose.AnyBytes = true
		var got, strict, want whole
		if err := strictjson.Decode(in, &got, loose); err != nil {
			assert.NotContains(t, err.Error(), "\n")
			assert.Error(t, strictjson.Decode(in, &strict, rules), "the rules forbid more, and take nothing more")
			return
		}
		if strictjson.Decode(in, &strict, rules) == nil {
			assert.Equal(t, got, strict)
			assert.True(t, utf8.Valid(in))
		}
		std := json.NewDecoder(bytes.NewReader(in))
		std.DisallowUnknownFields()
		require.NoError(t, std.Decode(&want))
		assert.Equal(t, want, got)
	})
}
