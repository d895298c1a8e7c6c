package cli

import (
	"os"
	"slices"
	"strings"
)

// secrets are what no child process may read, neither by inheritance nor in /proc.
type secrets struct {
	Token      string `json:"token"`
	SigningKey string `json:"signing_key"`
	// TranscriptKey encrypts session transcripts.
	TranscriptKey string `json:"transcript_key"`
	// AppKey is the private key of the App with the id AppID, which is no secret but comes with it.
	AppKey string `json:"app_key"`
	AppID  string `json:"app_id"`
}

// all are the secrets that are set.
func (s secrets) all() []string {
	return slices.DeleteFunc([]string{s.Token, s.SigningKey, s.TranscriptKey, s.AppKey}, func(v string) bool { return v == "" })
}

// secretNames are the variables that hold them. The first of a kind that is set wins.
var (
	tokenNames      = []string{"INPUT_TOKEN", "GITHUB_TOKEN", "GH_TOKEN"}
	signingNames    = []string{"INPUT_SIGNING-KEY", "MERGEXO_SIGNING_KEY"}
	transcriptNames = []string{"INPUT_TRANSCRIPT-KEY", "MERGEXO_TRANSCRIPT_KEY"}
	appKeyNames     = []string{"INPUT_PRIVATE-KEY", "MERGEXO_PRIVATE_KEY"}
	appIDNames      = []string{"INPUT_APP-ID", "MERGEXO_APP_ID"}
)

// secretVariables are all of them.
func secretVariables() []string {
	return slices.Concat(tokenNames, signingNames, transcriptNames, appKeyNames, appIDNames)
}

// readSecrets finds the secrets in the environment and reports whether there are any.
func readSecrets() (s secrets, any bool) {
	first := func(names []string) string {
		value := ""
		for _, n := range names {
			v, ok := os.LookupEnv(n)
			any = any || ok
			if value == "" {
				value = strings.TrimSpace(v)
			}
		}
		return value
	}
	s.Token, s.SigningKey, s.TranscriptKey = first(tokenNames), first(signingNames), first(transcriptNames)
	s.AppKey, s.AppID = first(appKeyNames), first(appIDNames)
	return s, any
}

// withoutSecrets is the environment with the secrets taken out.
func withoutSecrets(environ []string) []string {
	var kept []string
	for _, e := range environ {
		name, _, _ := strings.Cut(e, "=")
		if !slices.Contains(secretVariables(), name) {
			kept = append(kept, e)
		}
	}
	return kept
}
