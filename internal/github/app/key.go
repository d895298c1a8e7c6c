package app

import (
	"crypto/rsa"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"

	"github.com/golang-jwt/jwt/v5"
)

// wantKey is what a private key has to be.
const wantKey = "want the text of the .pem file that GitHub gave for the App, from its BEGIN to its END line"

// parseKey reads an RSA private key, in PKCS#1 as GitHub gives it or in PKCS#8. In a variable that was written on one line,
// newlines may be spelled \n. What is wrong is told without a byte of it.
func parseKey(text string) (*rsa.PrivateKey, error) {
	text = unfold(text)
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		return nil, errors.New("not a PEM file: " + wantKey)
	}
	if block.Type == "ENCRYPTED PRIVATE KEY" || block.Headers["DEK-Info"] != "" {
		return nil, errors.New("it is locked with a password: " + wantKey)
	}
	switch block.Type {
	case "RSA PRIVATE KEY", "PRIVATE KEY":
	case "PUBLIC KEY", "RSA PUBLIC KEY", "CERTIFICATE":
		return nil, errors.New("a public key or a certificate: " + wantKey)
	default:
		return nil, errors.New("not an RSA key: " + wantKey)
	}
	key, err := jwt.ParseRSAPrivateKeyFromPEM([]byte(text))
	switch {
	case errors.Is(err, jwt.ErrNotRSAPrivateKey):
		return nil, errors.New("not an RSA key: " + wantKey)
	case err != nil:
		return nil, errors.New("damaged: " + wantKey)
	}
	if key.N.BitLen() < 2048 {
		return nil, fmt.Errorf("an RSA key of %d bits, and GitHub's have 2048: %s", key.N.BitLen(), wantKey)
	}
	return key, nil
}

// unfold puts the newlines of a key where a variable on one line has \n for them.
func unfold(text string) string {
	text = strings.TrimSpace(strings.Trim(strings.TrimSpace(text), `"'`))
	if !strings.Contains(text, "\n") {
		text = strings.NewReplacer(`\r\n`, "\n", `\n`, "\n").Replace(text)
	}
	return text
}

// shortestSecret is how many characters a line of a key has to have to be taken for a secret by itself.
const shortestSecret = 20

// secretsOf are a key's spellings that nobody may read: as it was given, as it is, and each of its lines.
func secretsOf(given string) []string {
	all := []string{given, unfold(given)}
	for line := range strings.SplitSeq(unfold(given), "\n") {
		if line = strings.TrimSpace(line); len(line) >= shortestSecret && !strings.HasPrefix(line, "-----") {
			all = append(all, line)
		}
	}
	return all
}
