package model

import "time"

// Installation is a GitHub App on an account, with what it was granted there.
type Installation struct {
	ID      int64
	App     string // the App's slug; its bot is called that, with [bot] behind it
	Account string // login of the person or organization
	URL     string // where its owner configures it
	// Suspended is since when it may do nothing; zero: it is not suspended.
	Suspended time.Time
	// Permissions are read, write or admin, by name with underscores; what is not granted is not there.
	// https://docs.github.com/en/rest/authentication/permissions-required-for-github-apps
	Permissions map[string]string
}

// Grants tells whether the installation was given at least this access.
func (i Installation) Grants(permission, access string) bool {
	rank := map[string]int{"read": 1, "write": 2, "admin": 3}
	return rank[i.Permissions[permission]] >= rank[access]
}

// InstallationToken is a token that acts as an installation for a while.
type InstallationToken struct {
	Token string
	// Life is how long it holds from the answer on, by the server's own clock.
	Life time.Duration
}
