package cli

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/must"
)

func TestOnlyAProcessThatIsOverIsGone(t *testing.T) {
	if runtime.GOOS != "linux" {
		assert.Empty(t, holder())
		return
	}
	us := holder()
	require.Regexp(t, `^process [0-9]+ since [0-9]+ on [0-9a-f]{16}$`, us)
	words := strings.Fields(us)
	named := func(pid any, start, place string) string {
		return fmt.Sprintf("process %v since %s on %s 0123abcd", pid, start, place)
	}
	for name, want := range map[string]bool{
		us:               false,
		us + " 0123abcd": false,
		named(words[1], words[3], "fedcba9876543210"): false,
		named(words[1], "1", words[5]):                true, // its number has been given to another one
		named(1, "1", "fedcba9876543210"):             false,
		named(-1, "1", words[5]):                      false,
		"octo/widgets 7/1 0123abcd":                   false,
		"somebody":                                    false,
		"":                                            false,
	} {
		assert.Equal(t, want, gone(name), name)
	}
	cmd := exec.CommandContext(context.Background(), "cat")
	in := must.Get(cmd.StdinPipe())(t)
	require.NoError(t, cmd.Start())
	_, start, _ := seen(cmd.Process.Pid)
	child := named(cmd.Process.Pid, start, words[5])
	assert.False(t, gone(child))
	require.NoError(t, in.Close())
	require.NoError(t, cmd.Wait())
	assert.True(t, gone(child))
	assert.NotEqual(t, cmd.Process.Pid, os.Getpid())
}
