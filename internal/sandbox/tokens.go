package sandbox

import (
	"net/http"
	"time"
)

// expired tells whether a token's time is over. That of a workflow's job ends with the job, an App's after an hour:
// https://docs.github.com/en/actions/concepts/security/github_token,
// https://docs.github.com/en/rest/apps/apps#create-an-installation-access-token-for-an-app
func (k tokens) expired(token string) bool {
	at, ends := k.st.Expiries[token]
	return ends && !k.world.now().Before(at)
}

// setToken says until when a token is good, by the sandbox's clock: expires_at, or lives from now on (a duration); neither:
// forever.
func setToken(q *request, in struct {
	Token     string
	ExpiresAt *time.Time `json:"expires_at"`
	Lives     string
}) (any, error) {
	if in.Token == "" {
		return nil, unprocessable("token: want one, such as " + jobToken)
	}
	if in.Lives != "" {
		d, err := time.ParseDuration(in.Lives)
		if err != nil {
			return nil, unprocessable("lives: want a duration as in 1h")
		}
		at := q.s.world.now().Add(d)
		in.ExpiresAt = &at
	}
	q.s.world.changed()
	if in.ExpiresAt == nil {
		delete(q.s.st.Expiries, in.Token)
		return &reply{status: http.StatusNoContent}, nil
	}
	if q.s.st.Expiries == nil {
		q.s.st.Expiries = map[string]time.Time{}
	}
	q.s.st.Expiries[in.Token] = *in.ExpiresAt
	return &reply{status: http.StatusNoContent}, nil
}
