// Package sandbox serves a GitHub inside the process: a state machine over real bare repositories that git itself serves.
//
// It asks git what a pull request shows (heads, files, hunks, mergeability, merges) when somebody looks. So a test cannot agree
// with the code about something that git and GitHub see differently.
package sandbox

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// The paths under a server's origin, laid out as GitHub Enterprise has them.
const (
	restPrefix    = "/api/v3"
	graphqlPath   = "/api/graphql"
	controlPrefix = "/_sandbox/"
)

// Options says where a sandbox lives and what time it is there.
type Options struct {
	// StateDir holds state.json, the logs and the bare repositories. It is created when it is missing.
	StateDir string
	// Clock is the sandbox's time; nil is time.Now. Times are cut to whole seconds.
	Clock func() time.Time
	// Empty leaves out the repository octo/widgets that a new sandbox otherwise has.
	Empty bool
	// Permissions are what the token of workflows may do where nothing else is set for a repository; nil: JobPermissions.
	Permissions Permissions
	// Lag is how late pull requests are shown where nothing else is set for a repository; nil: UsualLag.
	Lag *Lag
	// Unlimited lets the token of workflows ask for as much as it likes where nothing else is set.
	Unlimited bool
	// Facts are shared with other sandboxes of this process; nil: it has some of its own.
	Facts *Facts
	// Deliver is told of every webhook as it is delivered; nil: nobody is. It must not call the sandbox, nor keep or change the payload.
	Deliver func(Delivery)
}

// URLs are where a started sandbox is reached, in the words of the line that `mergexo sandbox` prints.
type URLs struct {
	API        string `json:"api_url"`
	GraphQL    string `json:"graphql_url"`
	Server     string `json:"server_url"`
	Repository string `json:"repository"` // the first repository; empty when there is none
}

// Server is the in-process GitHub. It is an http.Handler that answers for the origin that Start or SetOrigin told it.
type Server struct {
	core
	after    func(time.Duration) <-chan time.Time // time.After, but for tests
	rest     http.Handler
	graphql  http.Handler
	control  http.Handler
	calls    *recordLog
	listener *http.Server
	stop     chan struct{}
	saved    chan struct{}

	saving  sync.Mutex // before mu
	saveErr error      // guarded by mu, as the one below
	closed  bool
}

// core is what a server holds, and its topics. It has no methods: each topic embeds it and so reaches the others, since what
// people do in one of them changes the others, all under one mutex, as on GitHub.
type core struct {
	git    gitStore
	trees  trees
	world  world
	pulls  pulls
	queues queues
	refs   pushes
	json   views
	urls   addresses
	hooks  hooks
	tokens tokens

	dir        string
	clock      func() time.Time
	deliveries *recordLog
	readers    sync.Map // of *objectReader by repository id
	receiving  sync.Map // of *sync.Mutex by repository id: pushes to one repository come one after the other

	told           hearer // nil: nobody is
	facts          *Facts
	jobPermissions Permissions
	jobLimits      Limits
	usualLag       Lag

	mu             sync.Mutex // guards all below
	origin         string
	requests       int64
	st             *state
	users          map[string]*User // by lower-case login
	issues         map[int64]*Issue // by database id of the issue, and of the pull request
	comments       map[int64]*Comment
	reviews        map[int64]*Review
	reviewComments map[int64]*ReviewComment
	memos          map[string]any // what git said of immutable objects
	behind         []*Issue       // pull requests whose heads or merges are not shown yet
	dirty          bool
}

type (
	// gitStore runs git in the bare repositories.
	gitStore struct{ *core }
	// trees are what is in commits, by directories.
	trees struct{ *core }
	// world is who and what there is: people and their rights, repositories, issues, labels, comments, runs.
	world struct{ *core }
	// pulls are pull requests as git says that they stand, their reviews, and how they end.
	pulls struct{ *core }
	// queues are the merge queues of branches.
	queues struct{ *core }
	// pushes let refs move, and carry out what follows from it.
	pushes struct{ *core }
	// views render what there is as the JSON of REST and of webhooks.
	views struct{ *core }
	// addresses are the URLs in answers.
	addresses struct{ *core }
	// hooks deliver webhooks.
	hooks struct{ *core }
	// tokens are what programs may do, how much of it, and until when.
	tokens struct{ *core }
)

// hearer is told of deliveries.
type hearer func(Delivery)

// New opens the sandbox that StateDir holds, or makes a new one there. Close it, or up to half a second of changes is lost.
func New(o Options) (*Server, error) {
	s, err := open(o)
	if err == nil {
		go s.saveLoop()
	}
	return s, err
}

// open is New without what saves while the server is used.
func open(o Options) (*Server, error) {
	if o.StateDir == "" {
		return nil, errors.New("open sandbox: no state directory given")
	}
	dir, err := filepath.Abs(o.StateDir)
	if err != nil {
		return nil, fmt.Errorf("open sandbox: %w", err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "repositories"), 0o755); err != nil {
		return nil, fmt.Errorf("open sandbox: %w", err)
	}
	s := &Server{core: core{dir: dir, clock: o.Clock, origin: "http://sandbox.invalid"}, after: time.After, stop: make(chan struct{}), saved: make(chan struct{})}
	c := &s.core
	c.git, c.trees, c.world, c.pulls, c.queues, c.refs, c.json, c.urls, c.hooks, c.tokens = gitStore{c}, trees{c}, world{c}, pulls{c}, queues{c}, pushes{c}, views{c}, addresses{c}, hooks{c}, tokens{c}
	s.told, s.facts = o.Deliver, cmp.Or(o.Facts, &Facts{})
	if s.jobPermissions = o.Permissions; s.jobPermissions == nil {
		s.jobPermissions = JobPermissions()
	}
	if s.usualLag = UsualLag(); o.Lag != nil {
		s.usualLag = *o.Lag
	}
	if !o.Unlimited {
		s.jobLimits = usualLimits
	}
	if s.clock == nil {
		s.clock = time.Now
	}
	if s.deliveries, err = openLog(filepath.Join(dir, "deliveries.jsonl")); err != nil {
		return nil, fmt.Errorf("open sandbox: %w", err)
	}
	if s.calls, err = openLog(filepath.Join(dir, "calls.jsonl")); err != nil {
		return nil, fmt.Errorf("open sandbox: %w", err)
	}
	if err := s.load(o.Empty); err != nil {
		return nil, fmt.Errorf("open sandbox: %w", err)
	}
	s.rest, s.graphql, s.control = s.restHandler(), s.graphqlHandler(), s.controlHandler()
	return s, nil
}

// SetOrigin tells the address that clients use ("http://host:port"); all URLs in answers begin with it.
func (s *Server) SetOrigin(origin string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.origin = strings.TrimSuffix(origin, "/")
}

// URLs gives the addresses of the sandbox.
func (s *Server) URLs() URLs {
	s.mu.Lock()
	defer s.mu.Unlock()
	u := URLs{API: s.origin + restPrefix, GraphQL: s.origin + graphqlPath, Server: s.origin}
	if len(s.st.Repositories) > 0 {
		u.Repository = s.st.Repositories[0].FullName()
	}
	return u
}

// Start serves on listen ("127.0.0.1:0" for a free port) until Close.
func (s *Server) Start(listen string) (URLs, error) {
	l, err := net.Listen("tcp", listen)
	if err != nil {
		return URLs{}, fmt.Errorf("start sandbox: %w", err)
	}
	s.SetOrigin("http://" + l.Addr().String())
	s.listener = &http.Server{Handler: s, ReadHeaderTimeout: time.Minute}
	go func() {
		if err := s.listener.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			s.mu.Lock()
			s.saveErr = errors.Join(s.saveErr, err)
			s.mu.Unlock()
		}
	}()
	return s.URLs(), nil
}

// Close stops serving and writes what is not yet written.
func (s *Server) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	s.mu.Unlock()
	var err error
	if s.listener != nil {
		err = s.listener.Close()
	}
	close(s.stop)
	<-s.saved
	s.git.stopReaders()
	s.mu.Lock()
	defer s.mu.Unlock()
	return errors.Join(err, s.saveErr, s.deliveries.close(), s.calls.close())
}

// ServeHTTP answers one request, unless a fault is set for it.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, controlPrefix) {
		s.control.ServeHTTP(w, r)
		return
	}
	kind, next, service := s.dispatch(r)
	s.mu.Lock()
	user, _ := s.viewer(r)
	isPaid := s.standardHeaders(w.Header(), user, r, kind)
	fault := s.takeFault(r)
	if !isPaid {
		next = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { writeSpent(w, resourceCore) })
	}
	if kind == "rest" || kind == "graphql" {
		next = s.late(s.st.LatencyMS, next)
	}
	s.mu.Unlock()
	rec := &recorder{ResponseWriter: w, note: func(status int) {
		c := Call{Method: r.Method, Path: r.URL.RequestURI(), Status: status, Kind: kind, Service: service, At: s.clock().UTC()}
		if user != nil {
			c.Login = user.Login
		}
		s.calls.append(c)
	}}
	if fault == nil {
		next.ServeHTTP(rec, r)
	} else {
		fault.serve(rec, r, next)
	}
	rec.Done()
}

// dispatch finds who answers a request, by its path.
func (s *Server) dispatch(r *http.Request) (kind string, next http.Handler, service string) {
	switch {
	case r.URL.Path == graphqlPath:
		return "graphql", s.graphql, ""
	case strings.HasPrefix(r.URL.Path, restPrefix+"/"):
		return "rest", s.rest, ""
	}
	if isManifestPage(r.URL.Path) {
		return "page", http.HandlerFunc(s.serveManifest), ""
	}
	if strings.HasPrefix(r.URL.Path, logPrefix) {
		return "blob", http.HandlerFunc(s.serveLog), ""
	}
	g := parseGitPath(r)
	if g == nil {
		return "rest", http.HandlerFunc(notFound), ""
	}
	return "git", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.serveGit(w, r, g) }), g.service
}

// standardHeaders are in every answer of GitHub's API:
// https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api
// They tell what is left of the hour, of which a request of REST takes one; isPaid is false where nothing was left.
func (s *Server) standardHeaders(h http.Header, u *User, r *http.Request, kind string) (isPaid bool) {
	s.requests++
	token, _ := tokenOf(r)
	cost := 0
	if kind == "rest" && !strings.HasSuffix(r.URL.Path, "/rate_limit") {
		cost = 1
	}
	left, isPaid := s.tokens.spend(token, resourceCore, cost)
	if u == nil {
		left.limit = 60
	}
	h.Set("Date", s.world.now().Format(http.TimeFormat))
	h.Set("Server", "mergexo-sandbox")
	h.Set("X-GitHub-Request-Id", fmt.Sprintf("5A4D:%04X:%08X", s.requests>>16, s.requests))
	h.Set("X-GitHub-Media-Type", "github.v3; format=json")
	left.headers(h)
	return isPaid
}

// recorder notes the status of an answer before it goes out, so that who has the answer finds the call listed.
type recorder struct {
	http.ResponseWriter
	note func(status int)
	done bool
}

func (r *recorder) once(status int) {
	if !r.done {
		r.done = true
		r.note(status)
	}
}

func (r *recorder) WriteHeader(code int) {
	r.once(code)
	r.ResponseWriter.WriteHeader(code)
}

func (r *recorder) Write(b []byte) (int, error) {
	r.once(http.StatusOK)
	return r.ResponseWriter.Write(b)
}

// Done notes an answer that never began: status 0, unless the handler was content with an empty 200.
func (r *recorder) Done() { r.once(0) }

// Unwrap lets http.ResponseController reach the connection.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// changed notes that the state has to be written.
func (w world) changed() { w.dirty = true }
