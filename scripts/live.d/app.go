package main

import (
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"time"
)

// jobPermissions are those that the workflow gives its job, as the API names them.
var jobPermissions = map[string]string{
	"contents": "write", "pull_requests": "write", "issues": "write", "actions": "write", "checks": "read", "statuses": "read",
}

// minter makes tokens of an App's installation, with the permissions that a step wants.
// https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/generating-an-installation-access-token-for-a-github-app
type minter struct {
	w   *world
	id  string
	key *rsa.PrivateKey
}

func newMinter(w *world, id, text string) (*minter, error) {
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		return nil, errors.New("MERGEXO_LIVE_APP_KEY: want the text of the App's private key, which begins with -----BEGIN")
	}
	if key, err := x509.ParsePKCS1PrivateKey(block.Bytes); err == nil {
		return &minter{w, id, key}, nil
	}
	any8, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	key, ok := any8.(*rsa.PrivateKey)
	if err != nil || !ok {
		return nil, errors.New("MERGEXO_LIVE_APP_KEY: want an RSA key as GitHub gives it")
	}
	return &minter{w, id, key}, nil
}

// jwt is the App itself, for a few minutes.
func (m *minter) jwt() (string, error) {
	now := m.w.now()
	head, _ := json.Marshal(facts{"alg": "RS256", "typ": "JWT"})
	claims, _ := json.Marshal(facts{"iat": now.Add(-time.Minute).Unix(), "exp": now.Add(5 * time.Minute).Unix(), "iss": m.id})
	text := base64.RawURLEncoding.EncodeToString(head) + "." + base64.RawURLEncoding.EncodeToString(claims)
	sum := sha256.Sum256([]byte(text))
	signed, err := rsa.SignPKCS1v15(rand.Reader, m.key, crypto.SHA256, sum[:])
	if err != nil {
		return "", fmt.Errorf("sign as the App: %w", err)
	}
	return text + "." + base64.RawURLEncoding.EncodeToString(signed), nil
}

// mint makes a token for the scratch repository alone.
func (m *minter) mint(ctx context.Context, permissions map[string]string) (string, error) {
	jwt, err := m.jwt()
	if err != nil {
		return "", err
	}
	self := &caller{kind: "the App itself", token: jwt, w: m.w}
	a, err := self.rest(ctx, "GET", "~/installation", nil)
	if a, err = a.want(err, 200); err != nil {
		return "", fmt.Errorf("find its installation in %s: %w", m.w.repo, err)
	}
	a, err = self.rest(ctx, "POST", "/app/installations/"+a.str("id")+"/access_tokens", facts{"repositories": []string{m.w.repo.Name}, "permissions": permissions})
	if a, err = a.want(err, 201); err != nil {
		return "", fmt.Errorf("with %v: %w", permissions, err)
	}
	token := a.str("token")
	m.w.secrets = append(m.w.secrets, token)
	return token, nil
}
