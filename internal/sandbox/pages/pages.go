// Package pages lets people look at a sandbox with a browser, and write there as one of its people. It shows what the sandbox's
// own API answers, at the addresses that the API gives as html_url, in plain HTML without scripts.
package pages

import (
	"bytes"
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mergexo/mergexo/internal/model"
)

// Options say what the pages show.
type Options struct {
	// API is the sandbox. It also answers what is no page: its API, git and its control endpoints.
	API http.Handler
	// Origin is the address of the sandbox, which must be on the loopback device ("http://127.0.0.1:8080").
	Origin string
	// Repository is OWNER/NAME of the one that / leads to.
	Repository string
	// Reader is the login as whom the pages look. What the reader may not see is not there.
	Reader string
	// Key is what everybody who comes has to know; empty: nothing.
	Key string
	// Trains reads the merge trains of a repository; nil: there is no page for them.
	Trains func(ctx context.Context, repo string) ([]model.Train, error)
	// Events are those that start runs; nil: none does.
	Events Events
	// Tips are what somebody can try.
	Tips []Tip
	// Log is told of errors; nil: nobody is.
	Log *slog.Logger
}

// Tip is something to try on a page.
type Tip struct {
	Path string // of the page, below the repository: /pull/2
	Name string // of the page, as a link: #2
	Text string
}

// Events start runs.
type Events interface {
	// Pending is how many wait for a run or are in one.
	Pending() int
	// Idle returns when there is none, or with the context's error.
	Idle(context.Context) error
}

// patience is how long a page that shows the result of a form waits for the runs; then it reloads.
const patience = 10 * time.Second

// Pages is the handler of a sandbox with pages.
type Pages struct {
	Options
	mux   *http.ServeMux
	hosts map[string]bool
}

// New makes the handler. Everything that it serves, the API too, is for this machine only: requests by another name than that of
// the origin or localhost are refused, which ends DNS rebinding, as are writes from pages of other origins.
func New(o Options) (http.Handler, error) {
	u, err := url.Parse(o.Origin)
	if err != nil {
		return nil, fmt.Errorf("pages of %s: %w", o.Origin, err)
	}
	if ip := net.ParseIP(u.Hostname()); ip == nil || !ip.IsLoopback() {
		return nil, fmt.Errorf("pages of %s: want an address on the loopback device, as 127.0.0.1", o.Origin)
	}
	if _, err := drawn(); err != nil {
		return nil, fmt.Errorf("read the pages: %w", err)
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	p := &Pages{Options: o, mux: http.NewServeMux(), hosts: map[string]bool{u.Host: true, net.JoinHostPort("localhost", u.Port()): true}}
	p.routes()
	return p.guard(http.NewCrossOriginProtection().Handler(p.admit(http.HandlerFunc(p.dispatch)))), nil
}

// guard refuses requests that name another host: https://en.wikipedia.org/wiki/DNS_rebinding
func (p *Pages) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !p.hosts[r.Host] {
			http.Error(w, "this sandbox answers at "+p.Origin+" only", http.StatusMisdirectedRequest)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// dispatch lets the sandbox answer what programs ask for.
func (p *Pages) dispatch(w http.ResponseWriter, r *http.Request) {
	for _, prefix := range []string{"/api/", "/_sandbox/", "/_logs/"} {
		if strings.HasPrefix(r.URL.Path, prefix) {
			p.API.ServeHTTP(w, r)
			return
		}
	}
	for _, suffix := range []string{"/info/refs", "/git-upload-pack", "/git-receive-pack"} {
		if strings.HasSuffix(r.URL.Path, suffix) {
			p.API.ServeHTTP(w, r)
			return
		}
	}
	p.mux.ServeHTTP(w, r)
}

// policy lets a page load its own style sheet and icon and send its forms home, and nothing else.
const policy = "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// view is a request for a page of a repository.
type view struct {
	*Pages
	r    *http.Request
	repo string // OWNER/NAME

	readers map[string]bool // people who cannot write, on the page of an issue or a pull request
}

// page is what every page shows.
type page struct {
	Title, Repo, Tab string
	As               string // who spoke last
	People           []person
	Pending          int
	Refresh          bool // the browser loads it again
	Flow             bool // events start runs
	Tips             []Tip
	Tip              string // of this page
	HasTrain         bool
	Body             any

	Refused string // why the form that was sent is refused
	status  int
	Form    string     // which one
	sent    url.Values // what was written into it
}

//go:embed templates/*.html
var templates embed.FS

//go:embed pages.css
var css []byte

// What a browser asks for on the page for those who have no key, too.
const sheet, icon = "/_pages.css", "/favicon.ico"

// drawn are the templates, read when somebody looks: other commands start without them.
var drawn = sync.OnceValues(func() (*template.Template, error) {
	return template.New("").Funcs(template.FuncMap{
		"day": day, "short": short, "ink": ink, "subject": subject, "words": words, "size": func(n int) string { return plural(n, "comment") }, "args": args,
	}).ParseFS(templates, "templates/*.html")
})

func (p *Pages) routes() {
	repo := func(pattern string, show func(*view) (*page, string, error)) {
		method, path, _ := strings.Cut(pattern, " ")
		p.mux.HandleFunc(method+" /{owner}/{repo}"+path, func(w http.ResponseWriter, r *http.Request) {
			v := &view{Pages: p, r: r, repo: r.PathValue("owner") + "/" + r.PathValue("repo")}
			if p.Events != nil && r.URL.Query().Has("wait") {
				ctx, cancel := context.WithTimeout(r.Context(), patience)
				_ = p.Events.Idle(ctx) // the page says what still runs
				cancel()
			}
			shown, name, err := show(v)
			p.answer(w, v, shown, name, err)
		})
	}
	for pattern, show := range map[string]func(*view) (*page, string, error){
		"GET ": home, "GET /issues": issueList, "GET /pulls": pullList, "GET /issues/{number}": issue, "GET /pull/{number}": conversation,
		"GET /pull/{number}/commits": pullCommits, "GET /pull/{number}/files": pullFiles, "GET /branches": branches, "GET /tree/{ref...}": tree,
		"GET /blob/{ref}/{path...}": blob, "GET /commit/{sha}": commit, "GET /commit/{sha}/checks": commit, "GET /commits/{ref...}": history,
		"GET /compare/{range...}": compare, "GET /train": train, "GET /actions": runs, "GET /actions/runs/{id}": run,
		"GET /actions/runs/{id}/attempts/{attempt}": run, "GET /actions/runs/{id}/job/{job}": run,
	} {
		repo(pattern, show)
	}
	p.mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/"+p.Repository, http.StatusSeeOther)
	})
	p.mux.HandleFunc("GET /{login}", func(w http.ResponseWriter, r *http.Request) {
		v := &view{Pages: p, r: r, repo: p.Repository}
		shown, name, err := account(v)
		p.answer(w, v, shown, name, err)
	})
	p.mux.HandleFunc("GET "+icon, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	p.mux.HandleFunc("GET "+sheet, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/css; charset=utf-8")
		_, _ = w.Write(css) // the browser may be gone; there is nobody to tell
	})
	p.mux.HandleFunc("GET /", func(w http.ResponseWriter, r *http.Request) {
		p.answer(w, &view{Pages: p, r: r, repo: p.Repository}, nil, "", errMissing)
	})
	p.forms()
}

// redirect is the answer that sends the browser elsewhere.
type redirect struct{ to string }

func (r *redirect) Error() string { return "see " + r.to }

// errMissing is what is not there.
var errMissing = &apiError{status: http.StatusNotFound, Message: "There is nothing here."}

// answer writes a page, or what went wrong.
func (p *Pages) answer(w http.ResponseWriter, v *view, shown *page, name string, err error) {
	status := http.StatusOK
	if shown != nil {
		status = cmp.Or(shown.status, status)
	}
	var away *redirect
	var refused *apiError
	switch {
	case errors.As(err, &away):
		http.Redirect(w, v.r, away.to, http.StatusSeeOther)
		return
	case errors.As(err, &refused):
		status, shown, name = refused.status, &page{Title: fmt.Sprint(refused.status), Body: refused.Error()}, "wrong"
	case err != nil:
		p.Log.Error("show a page", "path", v.r.URL.Path, "error", err)
		status, shown, name = http.StatusInternalServerError, &page{Title: "Error", Body: err.Error()}, "wrong"
	}
	v.frame(shown)
	var b bytes.Buffer
	all, _ := drawn() // New has looked at the error
	if err := all.ExecuteTemplate(&b, name, shown); err != nil {
		p.Log.Error("draw a page", "path", v.r.URL.Path, "error", err)
		http.Error(w, "this page cannot be drawn: "+err.Error(), http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes()) // the browser may be gone; there is nobody to tell
}

// frame fills in what surrounds every page.
func (v *view) frame(shown *page) {
	shown.Repo = v.repo
	shown.HasTrain = v.Trains != nil
	if shown.Flow = v.Events != nil; shown.Flow {
		shown.Pending = v.Events.Pending()
	}
	shown.Refresh = shown.Pending > 0 && v.r.URL.Query().Has("wait")
	if c, err := v.r.Cookie("as"); err == nil && shown.As == "" {
		shown.As = c.Value
	}
	shown.People, _ = v.people() // of a repository that is not there: nobody
	shown.Tips = v.Tips
	for _, t := range v.Tips {
		if v.r.URL.Path == "/"+v.repo+t.Path {
			shown.Tip = t.Text
		}
	}
}

// roles are what people may do, each more than the ones before.
// https://docs.github.com/en/organizations/managing-user-access-to-your-organizations-repositories/managing-repository-roles/repository-roles-for-an-organization
var roles = []string{"read", "triage", "write", "maintain", "admin"}

// For is the page with somebody chosen who has a role, other than one: who spoke last, or else the first who may write as well.
func (p *page) For(role, except string) *page {
	may := func(least string) func(person) bool {
		return func(one person) bool {
			return one.Login != except && slices.Index(roles, one.Role) >= slices.Index(roles, least)
		}
	}
	with := *p
	last := slices.IndexFunc(p.People, func(one person) bool { return one.Login == p.As })
	if last >= 0 && may(role)(p.People[last]) {
		return &with
	}
	if role == "read" {
		role = "write"
	}
	if first := slices.IndexFunc(p.People, may(role)); first >= 0 {
		with.As = p.People[first].Login
	}
	return &with
}
