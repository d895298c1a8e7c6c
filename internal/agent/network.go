package agent

import (
	"fmt"

	"github.com/mergexo/mergexo/internal/model"
)

// networkHeld says why agents at this level of isolation cannot be kept to a network; nil when they can. It is an error
// in the settings: a limit that does not hold is none.
func networkHeld(level Level, network model.Network) error {
	if network.Open() {
		return nil
	}
	return fmt.Errorf("network = %s: the isolation of agents on this runner (%s) cannot keep them from the network: set network = \"open\"", network, level)
}
