package git

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestOfALongMessageTheEndIsKept(t *testing.T) {
	t.Parallel()
	said := &tail{limit: 10}
	for _, part := range []string{"first", " of all\n", strings.Repeat("more ", 20), "fatal: x\n"} {
		n, err := said.Write([]byte(part))
		assert.NoError(t, err)
		assert.Equal(t, len(part), n, "the program is not ended for what it says")
		assert.LessOrEqual(t, len(said.kept), 20)
	}
	assert.Equal(t, "... fatal: x\n", said.String())
	short := &tail{limit: 10}
	_, _ = short.Write([]byte("fatal: xy\n"))
	assert.Equal(t, "fatal: xy\n", short.String())
}
