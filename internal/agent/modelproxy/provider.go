package modelproxy

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// Provider is a company's interface to its models.
type Provider struct {
	Base  string   // where it is
	Calls []string // what is posted to below Base when a model is asked; all else there stays shut
}

// OpenAI serves Codex: https://platform.openai.com/docs/api-reference/responses
var OpenAI = Provider{Base: "https://api.openai.com/v1", Calls: []string{"/responses"}}

// Anthropic serves Claude Code: https://docs.claude.com/en/api/messages
var Anthropic = Provider{Base: "https://api.anthropic.com", Calls: []string{"/v1/messages", "/v1/messages/count_tokens"}}

// ParseBase reads the address of a provider. A name, a password or a query in it would be a second credential, which
// nothing keeps.
func ParseBase(text string) (*url.URL, error) {
	base, err := url.Parse(strings.TrimRight(text, "/"))
	switch {
	case err != nil: // its text has the address in it, and so perhaps a password
		return nil, errors.New("it is not a URL: want one such as https://gateway.example.com/v1")
	case base.Scheme != "http" && base.Scheme != "https" || base.Host == "":
		return nil, errors.New("it is not the address of a server: want one such as https://gateway.example.com/v1")
	case base.User != nil || base.RawQuery != "" || base.ForceQuery || base.Fragment != "":
		return nil, fmt.Errorf("it has more than a host and a path: leave out name, password, query and fragment, as in %s://%s%s", base.Scheme, base.Host, base.EscapedPath())
	}
	return base, nil
}
