// Package smarthttp serves one repository over git's smart HTTP protocol, by git's own upload-pack and receive-pack. git
// http-backend does the same by CGI, with two more processes for each request.
package smarthttp

import (
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strings"
)

// Services that there are, as requests name them behind "git-".
const (
	UploadPack  = "upload-pack"
	ReceivePack = "receive-pack"
)

// Serve answers one request about the repository in dir: the refs of a service where the path ends in /info/refs, else a
// call of it. env is git's whole environment, to which the client's protocol version is added. What a client that leaves
// has sent to receive-pack takes effect anyway. https://git-scm.com/docs/gitprotocol-http
func Serve(w http.ResponseWriter, r *http.Request, service, dir string, env []string) {
	if service != UploadPack && service != ReceivePack {
		http.Error(w, "there is no such service", http.StatusForbidden)
		return
	}
	refs := strings.HasSuffix(r.URL.Path, "/info/refs")
	if !refs && r.Header.Get("Content-Type") != "application/x-git-"+service+"-request" {
		http.Error(w, "unsupported media type", http.StatusUnsupportedMediaType)
		return
	}
	args := []string{service, "--stateless-rpc"}
	kind := "result"
	if refs {
		args, kind = append(args, "--http-backend-info-refs"), "advertisement"
	}
	ctx := r.Context()
	if service == ReceivePack {
		ctx = context.WithoutCancel(ctx)
	}
	version := r.Header.Get("Git-Protocol")
	cmd := exec.CommandContext(ctx, "git", append(args, dir)...)
	cmd.Env = append(env[:len(env):len(env)], "GIT_PROTOCOL="+version)
	w.Header().Set("Content-Type", "application/x-git-"+service+"-"+kind)
	w.Header().Set("Cache-Control", "no-cache, max-age=0, must-revalidate")
	if refs && !strings.Contains(version, "version=2") {
		header := "# service=git-" + service + "\n"
		_, _ = fmt.Fprintf(w, "%04x%s0000", len(header)+4, header) // where the client is gone, git notices
	}
	if !refs {
		body, err := plain(r)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		cmd.Stdin = body
	}
	cmd.Stdout = w
	_ = cmd.Run() // git has told the client what is wrong, in the protocol
}

// plain is a request's body as it was before it was compressed.
func plain(r *http.Request) (io.Reader, error) {
	if r.Header.Get("Content-Encoding") != "gzip" {
		return r.Body, nil
	}
	body, err := gzip.NewReader(r.Body)
	if err != nil {
		return nil, fmt.Errorf("read compressed request: %w", err)
	}
	return body, nil
}
