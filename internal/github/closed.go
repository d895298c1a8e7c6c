package github

import (
	"context"
	"net/http"
	"time"
)

// Closed is a client that asks nothing: every request fails with what asked says.
func Closed(asked func() error) *Client {
	fails := func(context.Context, time.Duration) error { return asked() }
	c, err := New(Options{Token: "none", Transport: closed(asked), Sleep: fails})
	if err != nil {
		panic(err) // the defaults are no mistake of a caller
	}
	return c
}

// closed is a transport without a server.
type closed func() error

// RoundTrip implements http.RoundTripper.
func (c closed) RoundTrip(*http.Request) (*http.Response, error) { return nil, c() }
