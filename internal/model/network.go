package model

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Network is what an agent may reach. The zero value is everything.
type Network struct {
	Model    bool     // its model, and beyond that nothing but Packages and Hosts
	Packages bool     // the public registries
	Hosts    []string // names, in lower case
}

// registries are the public ones that tools use unless they are told otherwise, by language. All are reached by https.
var registries = map[string][]string{
	"npm":      {"registry.npmjs.org", "registry.yarnpkg.com"},                                            // https://docs.npmjs.com/cli/using-npm/registry, https://classic.yarnpkg.com/en/docs/cli/config
	"PyPI":     {"pypi.org", "files.pythonhosted.org"},                                                    // https://docs.pypi.org/api/
	"Go":       {"proxy.golang.org", "sum.golang.org"},                                                    // https://go.dev/ref/mod#environment-variables
	"crates":   {"index.crates.io", "static.crates.io", "crates.io"},                                      // https://doc.rust-lang.org/cargo/reference/registry-index.html
	"Maven":    {"repo.maven.apache.org", "repo1.maven.org", "plugins.gradle.org", "services.gradle.org"}, // https://maven.apache.org/repository/, https://docs.gradle.org/current/userguide/plugins.html
	"RubyGems": {"rubygems.org", "index.rubygems.org"},                                                    // https://guides.rubygems.org/rubygems-org-api/
	"NuGet":    {"api.nuget.org", "www.nuget.org"},                                                        // https://learn.microsoft.com/nuget/api/overview
	"Debian":   {"deb.debian.org", "security.debian.org"},                                                 // https://www.debian.org/mirror/list
}

// Open reports whether nothing is kept from it.
func (n Network) Open() bool { return !n.Model }

// Reached are the names of the hosts besides the model's, in order.
func (n Network) Reached() []string {
	hosts := slices.Clone(n.Hosts)
	if n.Packages {
		for _, of := range slices.Sorted(maps.Keys(registries)) {
			hosts = append(hosts, registries[of]...)
		}
	}
	return hosts
}

// String is the setting, as TOML has it.
func (n Network) String() string {
	var quoted []string
	if n.Packages {
		quoted = []string{`"model"`, `"packages"`}
	}
	for _, host := range n.Hosts {
		quoted = append(quoted, fmt.Sprintf("%q", host))
	}
	switch {
	case n.Open():
		return `"open"`
	case len(quoted) == 0:
		return `"model"`
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}
