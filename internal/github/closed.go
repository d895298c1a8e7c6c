package github

import (
	"context"
	"net/http"
	"time"
)

// Closed is a client that asks nothing: every request fails with what asked says.
func Closed(asked func() error) (*Client, error) {
	fails := func(context.Context, time.Duration) error { return asked() }
	return New(Options{Token: "none", Transport: closed(asked), Sleep: fails})
}

// closed is a transport without a server.
type closed func() error

// RoundTrip implements http.RoundTripper.
func (c closed) RoundTrip(*http.Request) (*http.Response, error) { return nil, c() }
