package agent

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/agent/modelproxy"
	"github.com/mergexo/mergexo/internal/model"
)

// access says how the programs of one provider reach its models: the variables that hold the user's key and, if it is not the
// provider's own, the address.
type access struct {
	provider modelproxy.Provider
	base     string
	keys     []string
	headers  map[string]string // the header that a key is sent in
	// elsewhere matches an extra argument or a variable by which the program takes another provider.
	elsewhere *regexp.Regexp
}

// header returns what the provider authenticates; it is empty without a key. Of two keys for one header the later one counts.
func (a *access) header(env []string) http.Header {
	out := http.Header{}
	for _, name := range a.keys {
		key, header := value(env, name), a.headers[name]
		switch {
		case key == "":
		case header == "Authorization":
			out.Set(header, "Bearer "+key)
		default:
			out.Set(header, key)
		}
	}
	return out
}

// modelKeys are the variables that are kept from the programs of every provider.
func modelKeys() []string {
	var keys []string
	for _, name := range slices.Sorted(maps.Keys(adapters)) {
		if a := adapters[name].model; a != nil {
			keys = append(keys, a.keys...)
		}
	}
	return keys
}

// Access looks up the key and the address of an adapter's models, for Options.Access.
func Access(lookup func(string) (string, bool), adapter string) []string {
	a := adapters[adapter].model
	if a == nil {
		return nil
	}
	var out []string
	for _, name := range append([]string{a.base}, a.keys...) {
		if text, ok := lookup(name); ok && strings.TrimSpace(text) != "" {
			out = append(out, name+"="+strings.TrimSpace(text))
		}
	}
	return out
}

// Keys are the keys in what Access gave.
func Keys(list []string) []string {
	var out []string
	for _, name := range modelKeys() {
		if key := value(list, name); key != "" {
			out = append(out, key)
		}
	}
	return out
}

// NoKey names the variable in which the key of the agent's model is missing. It is "" where the key is there, the agent has no model, or
// the settings name another provider.
func NoKey(opt Options) string {
	a := adapters[opt.Adapter].model
	if a == nil || len(Keys(opt.Access)) > 0 || slices.ContainsFunc(slices.Concat(opt.ExtraArgs, opt.Env), a.elsewhere.MatchString) {
		return ""
	}
	return a.keys[0]
}

// verify reports variables that cannot be used.
func (a *access) verify(env []string) error {
	if a == nil {
		return nil
	}
	if base := value(env, a.base); base != "" {
		if _, err := modelproxy.ParseBase(base); err != nil {
			return fmt.Errorf("%s: %w", a.base, err)
		}
	}
	for _, name := range a.keys {
		if strings.ContainsFunc(value(env, name), func(r rune) bool { return r <= ' ' || r > '~' }) {
			return fmt.Errorf("%s: a key must be one word of ASCII: check it for a line break", name)
		}
	}
	return nil
}

// link is one run's way to its model.
type link struct {
	proxy *modelproxy.Proxy // nil: there is no key that it could keep, and the program says so itself
	base  string            // what the program is told
	key   string            // what it takes for its key
}

// link begins a run's way to its model. It ends with End.
func (p *program) link() (*link, error) {
	a := adapters[p.opt.Adapter].model
	base, header := cmp.Or(value(p.opt.Access, a.base), a.provider.Base), a.header(p.opt.Access)
	if len(header) == 0 {
		return &link{base: base}, nil
	}
	proxy, err := modelproxy.Start(modelproxy.Options{Provider: a.provider, Base: base, Header: header, Log: p.opt.Events})
	if err != nil {
		return nil, err //nolint:wrapcheck // it says what it is about
	}
	return &link{proxy: proxy, base: proxy.URL, key: proxy.Secret}, nil
}

// doors are how it is reached from where there is no other network.
func (l *link) doors() []door {
	if l.proxy == nil {
		return nil
	}
	return []door{{l.proxy.Port, l.proxy.Also}}
}

// End closes the link and returns the usage that it saw. It may be called again.
func (l *link) End() model.Usage {
	if l.proxy == nil {
		return model.Usage{}
	}
	return l.proxy.End()
}

// believed is the error of a program. That it is at a limit counts only where its provider has said so: what the program runs can
// write that in its place, and a limit costs no attempt.
func (l *link) believed(err error) error {
	failed := (*Error)(nil)
	if l.proxy == nil || !errors.As(err, &failed) || failed.Kind != Limit || l.proxy.Limited() {
		return err
	}
	return failing(Model, failed.Exit, "%s reported a limit, but its provider sent none (%s)", failed.args...)
}

// environment adds to a program's environment that it reaches the loopback device directly. Without that, a program that was
// given the machine's proxy would send such requests there.
func (l *link) environment(env []string, set map[string]string) []string {
	set = maps.Clone(set)
	if l.proxy != nil && slices.ContainsFunc(env, func(e string) bool { return isProxy(e) }) {
		around := strings.Trim(cmp.Or(value(env, "no_proxy"), value(env, "NO_PROXY"))+",127.0.0.1", ",")
		set["no_proxy"], set["NO_PROXY"] = around, around
	}
	return with(env, set)
}

// isProxy reports whether it is one of the variables that name a proxy.
func isProxy(entry string) bool {
	name, _, _ := strings.Cut(strings.ToUpper(entry), "=")
	return slices.Contains([]string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"}, name)
}

// reword replaces the proxy's name by the provider's in what a program says.
func (l *link) reword(said string) string {
	if l.proxy == nil {
		return said
	}
	host := func(url string) string { _, rest, _ := strings.Cut(url, "://"); return rest }
	site := l.proxy.Site
	name, _, _ := strings.Cut(host(site), "/")
	return strings.NewReplacer(l.proxy.URL, site, host(l.proxy.URL), name, l.proxy.Secret, "the key").Replace(said)
}

// atLeast raises a usage to at least the tokens of another one: the proxy learns from the provider what the program did not
// report.
func atLeast(said, seen model.Usage) model.Usage {
	said.InputTokens = max(said.InputTokens, seen.InputTokens)
	said.OutputTokens = max(said.OutputTokens, seen.OutputTokens)
	return said
}
