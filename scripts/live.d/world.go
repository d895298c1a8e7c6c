package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/sandbox"
)

// prefix is how everything begins that is made in the scratch repository, so that a later run finds it again.
const prefix = "mergexo-live"

// marked is what the description of a scratch repository has to say.
const marked = "mergexo scratch"

// world is one server with a scratch repository, and who asks it.
type world struct {
	who                  string // github or sandbox
	api, graphql, server string
	repo                 model.Repo
	main                 string // its default branch
	opts                 options
	said                 io.Writer
	http                 *http.Client
	now                  func() time.Time
	poll                 time.Duration // between two looks at something that comes later
	patience             time.Duration // for it to come

	admin, app, fineGrained *caller // the last two may be nil
	minter                  *minter // nil without an App
	secrets                 []string
	logins                  map[string]string // an account's login: the placeholder of it
	control                 string            // the sandbox's own API; empty on GitHub
	sandbox                 *sandbox.Server   // nil on GitHub, as the one below
	listener                *http.Server

	dir   string // of this run's own files
	git   *gitDir
	pace  *pace
	names *names
	pulls map[string][]livePull // fixtures that several steps use, by their name
	scene scene
	runs  int // of mergexo, in the sandbox
}

// open reaches the server and looks whether the repository may be used. It changes nothing there.
func open(ctx context.Context, o options, env func(string) string, said io.Writer) (_ *world, err error) {
	w := &world{who: "github", opts: o, said: said, now: time.Now, poll: time.Second, patience: 2 * time.Minute, http: &http.Client{
		Timeout: time.Minute, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, pace: &pace{between: time.Second}, pulls: map[string][]livePull{}, logins: map[string]string{}}
	w.patience, w.pace.between = cmp.Or(o.patience, w.patience), cmp.Or(o.between, w.pace.between)
	if w.dir, err = os.MkdirTemp("", prefix+"-"); err != nil {
		return nil, fmt.Errorf("make a directory: %w", err)
	}
	defer func() {
		if err != nil {
			w.close()
		}
	}()
	if o.sandbox {
		err = w.openSandbox()
	} else {
		err = w.openGitHub(ctx, env)
	}
	if err != nil {
		return nil, err
	}
	if err := w.meet(ctx); err != nil {
		return nil, err
	}
	w.git, err = w.newGit()
	return w, err
}

// openSandbox starts a sandbox whose first repository is the scratch.
func (w *world) openSandbox() error {
	s, err := sandbox.New(sandbox.Options{StateDir: filepath.Join(w.dir, "sandbox")})
	if err != nil {
		return err
	}
	w.sandbox = s
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listen for the sandbox: %w", err)
	}
	s.SetOrigin("http://" + l.Addr().String())
	w.listener = &http.Server{Handler: s, ReadHeaderTimeout: time.Minute}
	if w.opts.front != nil {
		w.listener.Handler = w.opts.front(s)
	}
	go func() { _ = w.listener.Serve(l) }() // it ends with close, and every request says when it is not there
	urls := s.URLs()
	w.who, w.api, w.graphql, w.server, w.control = "sandbox", urls.API, urls.GraphQL, urls.Server, urls.Server+"/_sandbox"
	w.poll, w.pace.between = 5*time.Millisecond, 0
	w.repo.Owner, w.repo.Name, _ = strings.Cut(urls.Repository, "/")
	w.admin = w.callerOf("admin", "sandbox-"+w.repo.Owner)
	w.fineGrained = w.callerOf("fine-grained", "github_pat_sandbox-"+w.repo.Owner)
	w.app = w.callerOf("app", "sandbox-actions")
	return nil
}

// openGitHub takes the tokens from the environment.
func (w *world) openGitHub(ctx context.Context, env func(string) string) error {
	w.api = strings.TrimRight(cmp.Or(env("GITHUB_API_URL"), "https://api.github.com"), "/")
	w.graphql = cmp.Or(env("GITHUB_GRAPHQL_URL"), strings.TrimSuffix(w.api, "/v3")+"/graphql")
	w.server = strings.TrimRight(cmp.Or(env("GITHUB_SERVER_URL"), "https://github.com"), "/")
	var ok bool
	if w.repo.Owner, w.repo.Name, ok = strings.Cut(w.opts.repository, "/"); !ok || w.repo.Owner == "" || w.repo.Name == "" || strings.ContainsAny(w.repo.Name, "/?#% ") {
		return fmt.Errorf("%q: want OWNER/SCRATCH", w.opts.repository)
	}
	token := cmp.Or(env("GITHUB_TOKEN"), env("GH_TOKEN"))
	if token == "" {
		return errors.New("GITHUB_TOKEN is not set: want a token of an administrator of " + w.repo.String())
	}
	w.admin = w.callerOf("admin", token)
	if t := env("MERGEXO_LIVE_FINE_GRAINED"); t != "" {
		w.fineGrained = w.callerOf("fine-grained", t)
	}
	id, key := env("MERGEXO_LIVE_APP_ID"), env("MERGEXO_LIVE_APP_KEY")
	if (id == "") != (key == "") {
		return errors.New("want MERGEXO_LIVE_APP_ID and MERGEXO_LIVE_APP_KEY, or neither of them")
	}
	if id == "" {
		return nil
	}
	m, err := newMinter(w, id, key)
	if err != nil {
		return err
	}
	w.minter, w.secrets = m, append(w.secrets, key)
	token, err = m.mint(ctx, jobPermissions)
	if err != nil {
		return fmt.Errorf("mint a token of the App: %w", err)
	}
	w.app = w.callerOf("app", token)
	return nil
}

func (w *world) callerOf(kind, token string) *caller {
	w.secrets = append(w.secrets, token)
	return &caller{kind: kind, token: token, w: w}
}

// callers are those there are, by their kinds.
func (w *world) callers() []*caller {
	var all []*caller
	for _, c := range []*caller{w.admin, w.fineGrained, w.app} {
		if c != nil {
			all = append(all, c)
		}
	}
	return all
}

// meet reads the repository and the accounts, and refuses what is no scratch repository.
func (w *world) meet(ctx context.Context) error {
	if w.who == "sandbox" {
		if _, err := w.admin.rest(ctx, "PATCH", "~", facts{"description": marked}); err != nil {
			return err
		}
	}
	r, err := w.admin.rest(ctx, "GET", "~", nil)
	if r, err = r.want(err, 200); err != nil {
		return fmt.Errorf("read %s: %w", w.repo, err)
	}
	w.main = r.str("default_branch")
	if may, _ := r.at("permissions.admin").(bool); !may {
		return fmt.Errorf("the token's account is no administrator of %s: use one that is", w.repo)
	}
	if err := w.mayUse(ctx, r); err != nil {
		return err
	}
	for _, c := range w.callers() {
		v, err := c.graph(ctx, `{ viewer { login } }`, nil)
		if v, err = v.want(err, 200); err != nil {
			return fmt.Errorf("ask who the %s token is: %w", c.kind, err)
		}
		login := v.str("data.viewer.login")
		switch {
		case login == "":
			return fmt.Errorf("the %s token does not say who it is", c.kind)
		case c.kind == "app":
			w.logins[login], w.logins[strings.TrimSuffix(login, "[bot]")] = "app[bot]", "app"
		default:
			w.logins[login] = "admin"
		}
	}
	// What a workflow's own token does counts as what an App does: in the sandbox the two are one.
	w.logins["github-actions[bot]"], w.logins["github-actions"] = "app[bot]", "app"
	if w.logins[w.repo.Owner] == "" {
		w.logins[w.repo.Owner] = "owner"
	}
	return nil
}

// most is how many issues and pull requests an unmarked repository may have to count as empty.
const most = 10

// mayUse refuses a repository that somebody could miss something in.
func (w *world) mayUse(ctx context.Context, r answer) error {
	if w.opts.iKnow {
		return nil
	}
	if !strings.Contains(r.str("description"), marked) {
		return fmt.Errorf("%s is not marked as a scratch repository: put %q into its description, or say --i-know", w.repo, marked)
	}
	if r.str("fork") == "true" || r.str("archived") == "true" {
		return fmt.Errorf("%s is a fork, or archived: use a repository of its own", w.repo)
	}
	open, err := w.admin.rest(ctx, "GET", "~/issues?state=open&per_page=100", nil)
	if open, err = open.want(err, 200); err != nil {
		return fmt.Errorf("list what is open in %s: %w", w.repo, err)
	}
	others := 0
	for _, i := range open.list() {
		if title, _ := at(i, "title").(string); !strings.HasPrefix(title, prefix) {
			others++
		}
	}
	if others > most {
		return fmt.Errorf("%s has %d open issues and pull requests that this script has not made: use an empty repository, or say --i-know", w.repo, others)
	}
	return nil
}

// close ends what was started here; nothing on the server changes.
func (w *world) close() {
	if w.git != nil {
		w.git.close()
	}
	if w.listener != nil {
		_ = w.listener.Close()
	}
	if w.sandbox != nil {
		if err := w.sandbox.Close(); err != nil {
			fmt.Fprintln(w.said, "close the sandbox:", err)
		}
	}
	if err := os.RemoveAll(w.dir); err != nil {
		fmt.Fprintln(w.said, "remove what this run has written:", err)
	}
}

// wait waits for d, or until ctx ends.
func (w *world) wait(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// until looks again and again until there is what is waited for; false where it does not come.
func (w *world) until(ctx context.Context, there func() (bool, error)) (bool, error) {
	for end := w.now().Add(w.patience); ; {
		if ok, err := there(); ok || err != nil {
			return ok, err
		}
		if w.now().After(end) {
			return false, nil
		}
		if err := w.wait(ctx, w.poll); err != nil {
			return false, err
		}
	}
}

// set sets something of the sandbox that its own API sets.
func (w *world) set(ctx context.Context, path string, in any) error {
	a, err := (&caller{w: w}).send(ctx, "PUT", w.control+"/"+path, in)
	_, err = a.want(err, 200, 201, 204)
	return err
}

// spent is what the run has cost.
func (w *world) spent() string {
	p := w.pace
	return fmt.Sprintf("cost: %d calls, %d of them GraphQL for %d points; %d made content; %s waited for GitHub's pace",
		p.calls, p.queries, p.used-p.first, p.content, p.waited.Round(time.Second))
}
