package isolate_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/agent/isolate"
)

func TestProcessesAndThreadsOfAUserAreCounted(t *testing.T) {
	n, threads := isolate.ProcessesOf(os.Getuid())
	assert.Positive(t, n)
	assert.Greater(t, threads, uint64(n), "a Go program has several threads")
	n, threads = isolate.ProcessesOf(61183) // just below the range that transient services have
	assert.Zero(t, n)
	assert.Zero(t, threads)
}
