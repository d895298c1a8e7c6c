package sandbox

import (
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/must"
)

// The manual lists the control endpoints that there are.
func TestTheManualHasEveryControlEndpoint(t *testing.T) {
	found := func(path, pattern string) (all []string) {
		raw := must.Get(os.ReadFile(path))(t)
		for _, at := range regexp.MustCompile(pattern).FindAllSubmatch(raw, -1) {
			all = append(all, string(at[1])+" "+string(at[2]))
		}
		slices.Sort(all)
		return all
	}
	served := slices.Concat(found("control.go", `handle\("([A-Z]+) (/.*?)"`), found("control.go", `HandleFunc\("([A-Z]+) /_sandbox(/.*?)"`))
	slices.Sort(served)
	assert.Equal(t, served, found("../manual/sandbox.md", "(?m)^\\| `([A-Z]+) /_sandbox(/.*?)` \\|"))
}
