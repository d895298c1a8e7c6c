package agent

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestProcessesAndThreadsOfAUserAreCounted(t *testing.T) {
	n, threads := processesOf(os.Getuid())
	assert.Positive(t, n)
	assert.Greater(t, threads, uint64(n), "a Go program has several threads")
	n, threads = processesOf(61183) // just below the range that transient services have
	assert.Zero(t, n)
	assert.Zero(t, threads)
}
