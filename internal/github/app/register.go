package app

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/mergexo/mergexo/internal/github"
	"github.com/mergexo/mergexo/internal/loopback"
	"github.com/mergexo/mergexo/internal/model"
)

// Registration has a GitHub App made from a manifest: a person agrees in a browser, GitHub sends the browser back to a page on the
// loopback device with a code, and the code is traded for the App's key.
// https://docs.github.com/en/apps/sharing-github-apps/registering-a-github-app-from-a-manifest
type Registration struct {
	Server string // GitHub's pages, as https://github.com
	Repo   model.Repo
	// Organization says that the repository belongs to one, which then owns the App.
	Organization bool
	// Ask tells a person the address to open. Nobody else knows it.
	Ask func(address string) error
	// Convert trades the code.
	Convert func(ctx context.Context, code string) (github.MadeApp, error)
	// Keep stores the App's key as soon as it is there: nobody can ask for it again.
	Keep func(context.Context, github.MadeApp) error
	// Installed tells whether the App is installed on the repository.
	Installed func(context.Context, github.MadeApp) (bool, error)
}

// Name is what the App is called unless somebody changes it on GitHub's page. Names are unique there, and 34 characters at most.
func (r Registration) Name() string {
	name := "mergexo-" + strings.ToLower(r.Repo.Owner)
	return strings.TrimRight(name[:min(len(name), 34)], "-")
}

// Run waits until the App is installed on the repository.
func (r Registration) Run(ctx context.Context) (github.MadeApp, error) {
	server, listener, err := loopback.Listen(nil)
	if err != nil {
		return github.MadeApp{}, err
	}
	w := &registrar{Registration: r, ctx: ctx, base: "http://" + server.Address + "/" + server.Secret, state: rand.Text(), done: make(chan error, 1)}
	mux := http.NewServeMux()
	for path, serve := range map[string]http.HandlerFunc{"": w.begin, "/made": w.make, "/installed": w.finish} {
		mux.HandleFunc("GET /"+server.Secret+path, w.alone(serve))
	}
	server.Serve(listener, mux)
	defer server.End()
	if err := r.Ask(w.base); err != nil {
		return github.MadeApp{}, err
	}
	select {
	case err = <-w.done:
	case <-ctx.Done():
		err = ctx.Err()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.made, err
}

// registrar is a registration in progress.
type registrar struct {
	Registration
	ctx         context.Context
	base, state string
	done        chan error

	mu   sync.Mutex // held while a request is served
	made github.MadeApp
}

// alone has requests served one after the other.
func (w *registrar) alone(serve http.HandlerFunc) http.HandlerFunc {
	return func(out http.ResponseWriter, r *http.Request) {
		w.mu.Lock()
		defer w.mu.Unlock()
		serve(out, r)
	}
}

// page is all that people see here.
var page = template.Must(template.New("page").Parse(`<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>MergeXO</title>
<style>body { font: 16px/1.5 system-ui, sans-serif; max-width: 40em; margin: 4em auto; padding: 0 1em; color-scheme: light dark } button { font: inherit; padding: .5em 1em }</style>
<h1>{{.Title}}</h1>
<p>{{.Text}}</p>
{{with .Action}}<form method="post" action="{{.}}"><input type="hidden" name="manifest" value="{{$.Manifest}}"><button>Continue to GitHub</button></form>{{end}}
{{with .Link}}<p><a href="{{.}}">{{.}}</a></p>{{end}}
`))

type view struct{ Title, Text, Action, Manifest, Link string }

// show sends a page as a whole, so that it is there before the server ends.
func (w *registrar) show(out http.ResponseWriter, status int, v view) {
	var b bytes.Buffer
	_ = page.Execute(&b, v) // a template that is tested, into memory
	h := out.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Length", strconv.Itoa(b.Len()))
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Connection", "close")
	out.WriteHeader(status)
	_, _ = out.Write(b.Bytes()) // the browser may be gone
	_ = http.NewResponseController(out).Flush()
}

// end is the end of it all, with an error or without.
func (w *registrar) end(err error) {
	select {
	case w.done <- err:
	default: // it is over already
	}
}

// begin is the page from which somebody goes to GitHub's, with what the App would be.
func (w *registrar) begin(out http.ResponseWriter, _ *http.Request) {
	permissions := map[string]string{"metadata": "read"}
	for _, n := range ToWrite {
		permissions[n.Permission] = n.Access
	}
	manifest, _ := json.Marshal(map[string]any{ // texts can always be encoded
		"name": w.Name(), "url": "https://github.com/mergexo/mergexo", "public": false, "redirect_url": w.base + "/made", "setup_url": w.base + "/installed",
		"hook_attributes": map[string]any{"url": w.Server + "/" + w.Repo.String(), "active": false}, "default_permissions": permissions, "default_events": []string{},
	})
	at := w.Server
	if w.Organization {
		at += "/organizations/" + w.Repo.Owner
	}
	w.show(out, http.StatusOK, view{
		Title: "A GitHub App for " + w.Repo.String(), Manifest: string(manifest), Action: at + "/settings/apps/new?state=" + w.state,
		Text: "MergeXO will work with the tokens of this App, so that what it pushes starts your CI. GitHub asks you to confirm the App, and then to install it on the repository. Its key goes to the secrets of the repository.",
	})
}

// make trades the code for the App, and sends the browser on to install it.
func (w *registrar) make(out http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	if subtle.ConstantTimeCompare([]byte(q.Get("state")), []byte(w.state)) != 1 || w.made.ID != 0 {
		w.show(out, http.StatusBadRequest, view{Title: "Nothing was done", Text: "This answer belongs to another registration."})
		return
	}
	made, err := w.Convert(w.ctx, q.Get("code"))
	if err == nil {
		w.made = made
		err = w.Keep(w.ctx, made)
	}
	if err != nil {
		w.show(out, http.StatusBadGateway, view{Title: "That failed", Text: err.Error()})
		w.end(err)
		return
	}
	out.Header().Set("Referrer-Policy", "no-referrer")
	http.Redirect(out, r, w.install(), http.StatusFound)
}

func (w *registrar) install() string {
	return strings.TrimSuffix(w.made.URL, "/") + "/installations/new"
}

// finish is where GitHub sends the browser after an installation.
func (w *registrar) finish(out http.ResponseWriter, _ *http.Request) {
	if w.made.ID == 0 {
		w.show(out, http.StatusBadRequest, view{Title: "Nothing was done", Text: "There is no App yet."})
		return
	}
	there, err := w.Installed(w.ctx, w.made)
	switch {
	case err != nil:
		w.show(out, http.StatusBadGateway, view{Title: "That failed", Text: err.Error()})
		w.end(err)
	case !there:
		w.show(out, http.StatusOK, view{Title: "Not installed yet", Text: fmt.Sprintf("The App %s is not installed on %s. Install it there:", w.made.Slug, w.Repo), Link: w.install()})
	default:
		w.show(out, http.StatusOK, view{Title: "Done", Text: fmt.Sprintf("MergeXO will work as %s[bot] in %s. You can close this window.", w.made.Slug, w.Repo)})
		w.end(nil)
	}
}
