//go:build agents

package agent_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/agent"
	"github.com/mergexo/mergexo/internal/golden"
	"github.com/mergexo/mergexo/internal/sandbox/modelstub"
)

// In a user namespace that allows no further ones, Codex is where Ubuntu's AppArmor would have it.
func TestAMachineOnWhichCodexCannotShutItsCommandsIn(t *testing.T) {
	t.Parallel()
	opt := wrapped(t, rigged(t, modelstub.Codex(), nil), "codex",
		`[ "$1" != sandbox ] || exec unshare --user --map-root-user sh -c 'echo 0 > /proc/sys/user/max_user_namespaces; exec "$0" "$@"' `+modelstub.Programs(t)+`/codex "$@"`)
	_, err := ask(t, opt, checkout(t), feedback("please"))
	assert.Equal(t, agent.Start, failure(t, err).Kind)
	golden.Text(t, "codex_sandbox.txt", err.Error())
}
