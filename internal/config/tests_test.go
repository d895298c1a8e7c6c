package config

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/must"
)

func TestWhatAChangeIsTestedWith(t *testing.T) {
	t.Parallel()
	web, api := PathTests{[]string{"web/**", "shared/*.ts"}, "cd web && npm test # all"}, PathTests{[]string{"api/**"}, "go test ./api/..."}
	rest := PathTests{nil, "make lint"}
	plain := []string{"A=1", "it's"} // neither an assignment nor an open quotation
	both := "(" + web.Run + "\n) && (" + api.Run + "\n)"
	for name, c := range map[string]struct {
		tests   []PathTests
		changed string
		want    string // after sh -c; else the words of plain
	}{
		"no [[tests]]":                       {nil, "web/a.js", "A=1 it's"},
		"one package":                        {[]PathTests{web, api}, "web/deep/a.js", web.Run},
		"another glob of it":                 {[]PathTests{web, api}, "shared/a.ts", web.Run},
		"both, in the order of the settings": {[]PathTests{web, api}, "api/a.go web/a.js", both},
		"a file of none":                     {[]PathTests{web, api}, "README.md", "A=1 it's"},
		"a file of none beside a package":    {[]PathTests{web, api}, "api/a.go README.md", "(" + api.Run + "\n) && ('A=1' 'it'\\''s'\n)"},
		"a name that only begins alike":      {[]PathTests{web, api}, "webpack.js", "A=1 it's"},
		"a file of none, with a command":     {[]PathTests{web, rest, api}, "README.md", rest.Run},
		"a package, with a command for none": {[]PathTests{web, rest, api}, "web/a.js", web.Run},
		"the settings":                       {[]PathTests{web, api}, ".github/mergexo.toml", both + " && ('A=1' 'it'\\''s'\n)"},
		"how a runner is set up":             {[]PathTests{web, rest, api}, ".github/mergexo/setup/action.yml", "(" + web.Run + "\n) && (make lint\n) && (" + api.Run + "\n)"},
		"nothing":                            {[]PathTests{web, api}, "", "A=1 it's"},
	} {
		argv, err := Settings{Tests: c.tests}.TestsOf(strings.Fields(c.changed), func() ([]string, error) { return plain, nil })
		assert.NoError(t, err, name)
		if len(argv) == 3 && argv[0] == "sh" {
			assert.Equal(t, []string{"sh", "-c", c.want}, argv, name)
		} else {
			assert.Equal(t, c.want, strings.Join(argv, " "), name)
		}
	}
	none := func() ([]string, error) { return nil, errors.New("none was found") }
	argv, err := Settings{Tests: []PathTests{web}}.TestsOf([]string{"web/a.js"}, none)
	assert.NoError(t, err, "nobody looks for what is not needed")
	assert.Equal(t, []string{"sh", "-c", web.Run}, argv)
	assert.EqualError(t, must.Err(Settings{Tests: []PathTests{web}}.TestsOf([]string{"README.md"}, none)), "none was found")
	argv, err = Settings{Tests: []PathTests{web}}.TestsOf([]string{"README.md", "web/a.js"}, func() ([]string, error) { return nil, nil })
	assert.NoError(t, err)
	assert.Equal(t, []string{"sh", "-c", web.Run}, argv, "no plain tests are required before a push")
}
