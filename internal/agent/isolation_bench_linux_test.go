package agent_test

import (
	"context"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/agent"
	"github.com/mergexo/mergexo/internal/must"
)

// BenchmarkIsolation is what a turn pays for it: the user or the namespaces of a run, and one program in a checkout.
func BenchmarkIsolation(b *testing.B) {
	self := must.Get(agent.Self())(b)
	for _, setting := range []string{agent.IsolationNone, agent.IsolationAuto} {
		b.Run(setting, func(b *testing.B) {
			dir, temp := b.TempDir(), b.TempDir()
			for b.Loop() {
				opt := agent.Options{Isolator: self, Temp: temp, Env: []string{"PATH=" + os.Getenv("PATH")}}
				isolate := agent.IsolationOptions{Setting: setting, Isolator: self, Path: os.Getenv("PATH")}
				opt.Isolation = must.Get(agent.Isolate(context.Background(), isolate))(b)
				require.NoError(b, agent.RunTests(context.Background(), dir, []string{"true"}, opt))
				require.NoError(b, opt.Isolation.Close())
			}
		})
	}
}
