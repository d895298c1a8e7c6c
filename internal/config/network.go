package config

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
)

// network reads what an agent may reach: a keyword, or a list of groups and hosts.
func network(v any) (model.Network, error) {
	const want = `"open", "model", or a list such as ["model", "packages", "api.example.com"]`
	items, isList := v.([]any)
	switch {
	case v == "open":
		return model.Network{}, nil
	case v == "model":
		return model.Network{Model: true}, nil
	case !isList:
		return model.Network{}, wrong(want, v)
	case len(items) == 0:
		return model.Network{}, errors.New(`an empty list: write "model" for nothing besides the model`)
	case slices.Contains(items, any("open")):
		return model.Network{}, errors.New(`"open" in a list: write "open" alone for everything`)
	}
	hosts, err := list(hostOrGroup, want)(v)
	slices.Sort(hosts)
	n := model.Network{Model: true, Packages: slices.Contains(hosts, "packages")}
	for _, host := range slices.Compact(hosts) {
		if host != "model" && host != "packages" {
			n.Hosts = append(n.Hosts, host)
		}
	}
	return n, err
}

// hostOrGroup reads an item of the list. A name without a dot is a host of the runner's network, except for the groups.
func hostOrGroup(v any) (string, error) {
	if v == "model" || v == "packages" {
		return fmt.Sprint(v), nil
	}
	return host(v)
}

// hostShape is a name as in RFC 1123 (https://www.rfc-editor.org/rfc/rfc1123#page-13) whose last label starts with a
// letter: no top-level domain starts with a digit, but an IP address does.
var hostShape = regexp.MustCompile(`^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z]([a-z0-9-]{0,61}[a-z0-9])?$`)

// host reads one host. Names are resolved when they are reached, so addresses are refused; so are names of the machine
// itself.
func host(v any) (string, error) {
	s, err := nonEmpty(v)
	if err != nil {
		return "", err
	}
	name := strings.ToLower(s)
	switch {
	case strings.Contains(s, "*"):
		return "", fmt.Errorf("%q: write the full host name, without *", markdown.Clip(s))
	case name == "localhost" || strings.HasSuffix(name, ".localhost"):
		return "", fmt.Errorf("%q is this machine, which agents may never reach", markdown.Clip(s))
	case len(name) > 253 || !hostShape.MatchString(name):
		return "", wrong("the name of a host, without scheme, port and path", v)
	}
	return name, nil
}
