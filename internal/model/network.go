package model

import (
	"fmt"
	"strings"
)

// Network is what an agent may reach. The zero value is everything.
type Network struct {
	Model bool     // its model, and beyond that nothing but Hosts
	Hosts []string // names, in lower case
}

// Open reports whether nothing is kept from it.
func (n Network) Open() bool { return !n.Model }

// String is the setting, as TOML has it.
func (n Network) String() string {
	switch {
	case n.Open():
		return `"open"`
	case len(n.Hosts) == 0:
		return `"model"`
	}
	var quoted []string
	for _, host := range n.Hosts {
		quoted = append(quoted, fmt.Sprintf("%q", host))
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}
