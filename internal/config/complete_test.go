package config

import (
	"testing"

	"github.com/BurntSushi/toml"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/must"
)

func TestAnotherDocumentCompletesWhatIsThere(t *testing.T) {
	t.Parallel()
	const with = "# theirs\n\n[a]\n# what x is\nx = 1 # one\ny = [\"y\"]\n\n[b]\nz = 3\n"
	type row struct {
		text, want string
		replace    []string
	}
	must.Each(t, map[string]row{
		"nothing is there":         {"", with, nil},
		"it is not TOML":           {"[a\nx = 2\n", with, nil},
		"it has everything":        {"a.x = 2\na.y = 3\n[b]\nz = 4", "a.x = 2\na.y = 3\n[b]\nz = 4\n", nil},
		"a key is missing":         {"[a]\ny = [ # a list\n  2,\n] # of numbers\n\n# the end\n[b]\nz = '''\n[c]\n'''\n", "[a]\ny = [ # a list\n  2,\n] # of numbers\nx = 1 # one\n\n# the end\n[b]\nz = '''\n[c]\n'''\n", nil},
		"a table is empty":         {"[b]\n[a]", "[b]\nz = 3\n[a]\nx = 1 # one\ny = [\"y\"]\n", nil},
		"a table is missing":       {"[a]\nx = 2\r\ny = 2\r\n", "[a]\nx = 2\r\ny = 2\r\n\n[b]\nz = 3\n", nil},
		"a key is replaced":        {"[a]\nx = [\n2]\n[b]\nz = 4\n", "[a]\nx = 1 # one\ny = [\"y\"]\n[b]\nz = 4\n", []string{"a.x", "b.y"}},
		"a table is written short": {"a = {x = 2}\nb.c = 1\n", "a = {x = 2}\nb.c = 1\n", []string{"a.x"}},
		"only a list is there":     {"[[a.list]]\nx = 5\n[b]\nz = 4\n", "[[a.list]]\nx = 5\n[b]\nz = 4\n", nil},
		"a list stands below":      {"[a]\nx = 2\n[[a.list]]\ny = 5\n[b]\nz = 4\n", "[a]\nx = 2\ny = [\"y\"]\n[[a.list]]\ny = 5\n[b]\nz = 4\n", nil},
	}, func(t *testing.T, c row) {
		t.Parallel()
		got := Complete(c.text, with, c.replace)
		assert.Equal(t, c.want, got)
		require.NoError(t, toml.Unmarshal([]byte(got), &map[string]any{}))
		assert.Equal(t, got, Complete(got, with, nil), "once is enough")
	})
	assert.True(t, Has(with, "a.y"))
	assert.False(t, Has(with, "a.z"))
}
