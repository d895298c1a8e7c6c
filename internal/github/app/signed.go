package app

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

const (
	// before is how far back a JSON web token says that it was made, as GitHub asks for.
	before = time.Minute
	// lives is how long it holds. GitHub takes ten minutes at most, by its own clock: one less leaves room for ours.
	lives = 9 * time.Minute
	// tolerable is by how much our clock may be off without any correction.
	tolerable = 30 * time.Second
)

// Token is a new JSON web token.
func (s *signed) Token(context.Context) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now().Add(s.skew)
	token, err := jwt.NewWithClaims(jwt.SigningMethodRS256, jwt.RegisteredClaims{
		Issuer: s.id, IssuedAt: jwt.NewNumericDate(now.Add(-before)), ExpiresAt: jwt.NewNumericDate(now.Add(lives)),
	}).SignedString(s.key)
	if err != nil {
		return "", fmt.Errorf("sign as the App: %w", err)
	}
	s.newest = token
	return token, nil
}

// Refused is always false: why GitHub refuses one is for Tokens to see.
func (s *signed) Refused(string) bool { return false }

// Fresh is always false: it is signed with the time of each request.
func (s *signed) Fresh(string) bool { return false }

// Secrets implements credential.Source.
func (s *signed) Secrets() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.newest == "" {
		return slices.Clone(s.secrets)
	}
	return append([]string{s.newest}, s.secrets...)
}

// add notes a token that was made.
func (s *signed) add(token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.secrets = append(s.secrets, token)
}

// correct goes by the server's clock from now on. It is false where that is not another one than ours, and after the first time.
func (s *signed) correct(server time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	skew := server.Sub(s.now())
	if s.corrected || skew.Abs() < tolerable {
		return false
	}
	s.skew, s.corrected = skew, true
	return true
}
