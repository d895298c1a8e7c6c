package agent_test

import (
	"context"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/agent"
)

// BenchmarkIsolation is what a turn pays for it: the user or the namespaces of a run, and one program in a checkout.
func BenchmarkIsolation(b *testing.B) {
	self, err := agent.Self()
	require.NoError(b, err)
	for _, setting := range []string{agent.IsolationNone, agent.IsolationAuto} {
		b.Run(setting, func(b *testing.B) {
			dir, temp := b.TempDir(), b.TempDir()
			for b.Loop() {
				opt := agent.Options{Isolator: self, Temp: temp, Env: []string{"PATH=" + os.Getenv("PATH")}}
				opt.Isolation, err = agent.Isolate(context.Background(), agent.IsolationOptions{Setting: setting, Isolator: self, Path: os.Getenv("PATH")})
				require.NoError(b, err)
				require.NoError(b, agent.RunTests(context.Background(), dir, []string{"true"}, opt))
				require.NoError(b, opt.Isolation.Close())
			}
		})
	}
}
