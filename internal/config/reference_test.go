package config

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/golden"
	"github.com/mergexo/mergexo/internal/must"
)

// The manual's page on the settings is made from the table of keys.
func TestTheManualHasEveryKey(t *testing.T) {
	intro := must.Get(os.ReadFile("testdata/configuration.md"))(t)
	var b strings.Builder
	b.Write(intro)
	table := ""
	for _, k := range Keys() {
		if k.Table != table {
			table = k.Table
			fmt.Fprintf(&b, "\n## `[%s]`\n\n", table)
		}
		b.WriteString("- " + k.Describe(k.Name))
	}
	golden.File(t, "../../manual/configuration.md", b.String())
}

// A default that people copy from the manual into their settings is what they had.
func TestTheDefaultsOfTheManualAreTheDefaults(t *testing.T) {
	tables := map[string]string{}
	for _, k := range Keys() {
		assert.NotEmpty(t, k.Type, k.Name)
		assert.Regexp(t, `^[A-Z"`+"`"+`].*\.$`, k.Meaning, "%s.%s: sentences", k.Table, k.Name)
		if k.Default != "" && !strings.HasPrefix(k.Table, "[") {
			tables[k.Table] += k.Name + " = " + k.Default + "\n"
		}
	}
	text := ""
	for table, keys := range tables {
		text += "[" + table + "]\n" + keys
	}
	s := must.Get(ParseWithoutAgent(strings.Replace(text, `adapter = "command"`, "adapter = \"command\"\ncommand = [\"./agent\"]", 1), source))(t, text)
	want := Defaults()
	want.Agent.Command = []string{"./agent"}
	assert.Equal(t, want, s)
}

func TestInTOML(t *testing.T) {
	for d, want := range map[time.Duration]string{30 * time.Minute: `"30m"`, 2 * time.Hour: `"2h"`, 90 * time.Second: `"1m30s"`, 30 * time.Second: `"30s"`, 80 * time.Minute: `"80m"`} {
		assert.Equal(t, want, inTOML(d))
	}
}
