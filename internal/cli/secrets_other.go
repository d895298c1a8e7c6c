//go:build !linux

package cli

import "os"

// takeSecrets reads the secrets and unsets their variables. Without /proc that hides them from every child.
func takeSecrets() (secrets, error) {
	s, _ := readSecrets()
	for _, n := range secretVariables() {
		if err := os.Unsetenv(n); err != nil {
			return s, err
		}
	}
	return s, nil
}
