package hostproxy

import (
	"bufio"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"time"

	"golang.org/x/net/proxy"
)

// patience limits how long the machine's proxy takes to connect to a host.
const patience = time.Minute

// proxyPorts are the schemes of proxies, as net/http knows them, and their ports.
var proxyPorts = map[string]string{"http": "80", "https": "443", "socks5": "1080", "socks5h": "1080"}

var errNotPublic = errors.New("its address is on this machine or its local network")

// upstreamError is about the machine's proxy. What it prints is for the agent too, and so holds nothing of the proxy's
// credentials.
type upstreamError struct {
	why string
	err error // nil: why says it all
}

func (e *upstreamError) Error() string { return e.why }

func (e *upstreamError) Unwrap() error { return e.err }

// whole is for the log.
func (e *upstreamError) whole() string {
	if e.err == nil {
		return e.why
	}
	return e.why + ": " + e.err.Error()
}

// reach connects to a host, through the machine's proxy if there is one for it. from is what the host says.
func (p *Proxy) reach(ctx context.Context, host string) (there net.Conn, from io.Reader, err error) {
	at, err := p.opt.Proxy(&http.Request{URL: &url.URL{Scheme: "https", Host: host}})
	switch {
	case err != nil: // its text has the whole address
		return nil, nil, &upstreamError{why: "the address of the machine's proxy, as in HTTPS_PROXY, cannot be read"}
	case at == nil:
		there, err = p.direct(ctx, host)
		return there, there, err
	}
	port, ok := proxyPorts[at.Scheme]
	if !ok {
		return nil, nil, &upstreamError{why: fmt.Sprintf("the proxy %s has the scheme %s; use http, https or socks5", at.Host, at.Scheme)}
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	address := net.JoinHostPort(at.Hostname(), cmp.Or(at.Port(), port))
	if port == "1080" {
		there, err = p.socks(ctx, at, address, host)
		return there, there, err
	}
	return p.connect(ctx, at, address, host)
}

// direct looks the host up itself. A host's name server could give an address of ours.
func (p *Proxy) direct(ctx context.Context, host string) (there net.Conn, err error) {
	all, err := p.opt.Lookup(ctx, host)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(a netip.Addr) bool { return !public(a) })
	err = errNotPublic
	for _, a := range all {
		if there, err = p.opt.Dial(ctx, net.JoinHostPort(a.String(), httpsPort)); err == nil {
			break
		}
	}
	return there, err
}

// connect has an HTTP proxy connect to the host, which it looks up itself.
func (p *Proxy) connect(ctx context.Context, at *url.URL, address, host string) (net.Conn, io.Reader, error) {
	there, err := p.opt.Dial(ctx, address)
	if err != nil {
		return nil, nil, failed(at, there, err)
	}
	stop := context.AfterFunc(ctx, func() { _ = there.Close() })
	defer stop()
	if at.Scheme == "https" {
		there = tls.Client(there, &tls.Config{ServerName: at.Hostname(), RootCAs: p.opt.Roots, MinVersion: tls.VersionTLS12})
	}
	target := net.JoinHostPort(host, httpsPort)
	r := &http.Request{Method: http.MethodConnect, URL: &url.URL{Opaque: target}, Host: target, Header: http.Header{}}
	if at.User != nil {
		password, _ := at.User.Password()
		r.Header.Set("Proxy-Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(at.User.Username()+":"+password)))
	}
	from := bufio.NewReader(there)
	err = r.Write(there)
	var answer *http.Response
	if err == nil {
		answer, err = http.ReadResponse(from, r)
	}
	switch {
	case err != nil:
		err = failed(at, there, err)
	case answer.StatusCode != http.StatusOK:
		err = &upstreamError{why: fmt.Sprintf("the proxy %s answered %d %s", at.Host, answer.StatusCode, http.StatusText(answer.StatusCode))}
	default:
		return there, from, nil
	}
	_ = there.Close()
	return nil, nil, err
}

// socks has a SOCKS proxy connect to the host, which it looks up itself.
func (p *Proxy) socks(ctx context.Context, at *url.URL, address, host string) (net.Conn, error) {
	var auth *proxy.Auth
	if at.User != nil {
		password, _ := at.User.Password()
		auth = &proxy.Auth{User: at.User.Username(), Password: password}
	}
	var there net.Conn
	dialer, err := proxy.SOCKS5("tcp", address, auth, dialing(func(ctx context.Context, address string) (_ net.Conn, err error) {
		there, err = p.opt.Dial(ctx, address)
		return there, err
	}))
	if err != nil {
		return nil, failed(at, there, err)
	}
	// What it gives is there, without a way to close one direction.
	_, err = dialer.(proxy.ContextDialer).DialContext(ctx, "tcp", net.JoinHostPort(host, httpsPort)) //nolint:forcetypeassert // as its documentation says
	if err != nil {
		return nil, failed(at, there, err)
	}
	return there, nil
}

// failed is the error of a proxy, to which there is a connection or not.
func failed(at *url.URL, there net.Conn, err error) error {
	if there == nil {
		return &upstreamError{why: "the proxy " + at.Host + " cannot be reached", err: err}
	}
	return &upstreamError{why: "the proxy " + at.Host + " does not connect to it", err: err}
}

// dialing is a function like Options.Dial as package proxy wants it.
type dialing func(ctx context.Context, address string) (net.Conn, error)

func (d dialing) Dial(_, address string) (net.Conn, error) { return d(context.Background(), address) }

func (d dialing) DialContext(ctx context.Context, _, address string) (net.Conn, error) {
	return d(ctx, address)
}
