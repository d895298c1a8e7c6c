package agent

import (
	"errors"
	"fmt"
	"net"
	"slices"

	"github.com/mergexo/mergexo/internal/agent/hostproxy"
	"github.com/mergexo/mergexo/internal/agent/isolate"
	"github.com/mergexo/mergexo/internal/model"
)

// Foreign code that is kept from the network has one of its own, in which there is nothing but the loopback device. There
// the proxies listen by the same ports as on the machine: their addresses are the same in both.

// door is a proxy of ours. serve has it serve another listener too.
type door struct {
	port  int
	serve func(net.Listener)
}

// ErrNetworkNotHeld says that agents cannot be kept to what the settings have them reach. It is an error in the settings: a
// limit that does not hold is none.
type ErrNetworkNotHeld struct {
	Network model.Network
	Level   Level
	Why     error
}

func (e *ErrNetworkNotHeld) Error() string {
	return fmt.Sprintf("network = %s: this runner cannot keep agents and tests from the network (isolation is %s: %v): "+
		"use a runner where sudo asks for no password or where user namespaces are allowed, in a container give it --privileged, or set network = \"open\"",
		e.Network, e.Level, e.Why)
}

func (e *ErrNetworkNotHeld) Unwrap() error { return e.Why }

// errNothingHolds is about LevelNone.
var errNothingHolds = errors.New("nothing is kept from them there")

// Holds says why foreign code cannot be kept to a network, as an *ErrNetworkNotHeld; nil when it can. It makes one to see.
func (i *Isolation) Holds(network model.Network) error {
	if network.Open() {
		return nil
	}
	level, why := LevelNone, errNothingHolds
	if i != nil && i.Level != LevelNone {
		i.network.Do(func() { i.noNetwork = i.makeNetwork() })
		level, why = i.Level, i.noNetwork
	}
	if why == nil {
		return nil
	}
	return &ErrNetworkNotHeld{network, level, why}
}

// makeNetwork makes a network as that of foreign code would be, and leaves it at once.
func (i *Isolation) makeNetwork() error {
	opt := i.opt
	opt.Isolation = i
	as := i.tenant
	if as != nil {
		as = as.root()
	}
	spec := isolate.Spec{Task: isolate.Reach, Network: &isolate.Network{}}
	opt.within(&spec, "", running)
	_, err := opt.call(as, spec)
	return err
}

// connected starts the proxy for the hosts of the settings, until end is called, and gives the Options with which foreign
// code reaches it, and what else it may.
func (opt Options) connected() (inside Options, end func(), err error) {
	end = func() {}
	if opt.Network.Open() {
		return opt, end, nil
	}
	if level := opt.level(); level == LevelNone {
		return opt, end, &ErrNetworkNotHeld{opt.Network, level, errNothingHolds}
	}
	// A proxy of the machine's is out of reach: who tried it would never try ours.
	set, url := map[string]string{"ALL_PROXY": "", "all_proxy": ""}, ""
	if hosts := opt.Network.Reached(); len(hosts) > 0 {
		proxy, err := hostproxy.Start(hostproxy.Options{Hosts: hosts, Log: opt.Events})
		if err != nil {
			return opt, end, fmt.Errorf("start the proxy for hosts: %w", err)
		}
		end, url = proxy.End, proxy.URL
		opt.doors = append(slices.Clone(opt.doors), door{proxy.Port, proxy.Also})
		set["NO_PROXY"], set["no_proxy"] = "127.0.0.1,::1,localhost", "127.0.0.1,::1,localhost"
	}
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy"} {
		set[name] = url
	}
	opt.Env = with(opt.Env, set)
	return opt, end, nil
}

// reportRefused ends a network of foreign code's own, once that has ended, and says whether it tried another one.
func (opt Options) reportRefused(network *handover) {
	refused, err := network.end()
	if err != nil {
		opt.Events.Warn("network_not_served", "error", err)
	}
	if refused > 0 {
		opt.Events.Warn("network_refused", "packets", refused, "network", opt.Network.String())
	}
}
