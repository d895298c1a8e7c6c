package sandbox

import (
	"slices"
	"strings"
	"time"

	"github.com/mergexo/mergexo/internal/model"
)

// firstSmallID is where the ids of accounts and repositories begin, which still fit into 32 bits on GitHub: GraphQL's
// databaseId is an Int.
const firstSmallID = 200_000_000

// firstID is where ids begin: GitHub's comment ids passed 2^31 long ago, and a client that keeps them in 32 bits must fail here too.
const firstID = 3_000_000_000

// actionsLogin and actionsID are the account that a workflow's GITHUB_TOKEN acts as.
const (
	actionsLogin = "github-actions[bot]"
	actionsID    = 41898282
)

// state is all that the sandbox holds besides git. It is guarded by Server.mu and written to state.json.
type state struct {
	LastID        int64
	LastSmallID   int64
	PinnedClock   *time.Time `json:",omitempty"`
	LatencyMS     int64      `json:",omitempty"`
	Users         []*User
	Repositories  []*Repository
	Faults        []*Fault             `json:",omitempty"`
	Limits        *Limits              `json:",omitempty"` // nil: those of Options
	Content       *content             `json:",omitempty"` // of the token of workflows
	Spent         map[string]*spending `json:",omitempty"` // by resource, of the token of workflows
	Expiries      map[string]time.Time `json:",omitempty"` // by token; any other is good forever
	WithoutFields []string             `json:",omitempty"` // of GraphQL, as "PullRequest.title"
	Queries       *QueryLimits         `json:",omitempty"`
	Apps          []*App               `json:",omitempty"`
	AppTokens     []*AppToken          `json:",omitempty"`
	Manifests     []*Manifest          `json:",omitempty"`
}

// User is an account. Login is the REST form: a bot's ends in "[bot]".
type User struct {
	ID        int64
	Login     string
	Type      string // User, Bot or Organization
	CreatedAt time.Time
}

// Repository is what GitHub keeps of a repository beside its git objects.
type Repository struct {
	ID            int64
	Owner, Name   string
	Description   string
	DefaultBranch string
	Private       bool
	Parent        int64 // id of the repository this is a fork of, or 0
	// Permissions by lower-case login. Everybody else reads when the repository is public.
	Permissions map[string]string
	// Hidden are the logins, in lower case, whose right comes from an organization and who hide the membership, as is GitHub's
	// default: author_association does not tell them from strangers.
	Hidden      map[string]bool `json:",omitempty"`
	Labels      []*Label
	Protections map[string]*Protection   // by branch
	Queues      map[string][]*QueueEntry `json:",omitempty"` // by base, the first of each first
	Issues      map[int]*Issue           // issues and pull requests share one series of numbers
	Departed    map[int]*Departure       `json:",omitempty"` // by the number that it had
	Formerly    []string                 `json:",omitempty"` // full names that it had
	LastNumber  int
	Runs        []*Run      `json:",omitempty"`
	Statuses    []*Status   `json:",omitempty"`
	CheckRuns   []*CheckRun `json:",omitempty"`
	Pushes      []*Push     `json:",omitempty"`
	// Refs as they were when ref changes were last acted on; what git says now is compared with it.
	Refs                           map[string]string
	CreatedAt, UpdatedAt, PushedAt time.Time

	WorkflowRights WorkflowRights
	JobPermissions Permissions     `json:",omitempty"` // of the token of workflows; nil: jobPermissions
	Lag            *Lag            `json:",omitempty"` // nil: that of Options
	NoMethods      map[string]bool `json:",omitempty"` // merge, squash and rebase, where they are switched off
	DeletesHeads   bool            `json:",omitempty"` // of what is merged by the merge endpoint
	PushPolicy     *PushPolicy     `json:",omitempty"`

	Secrets, Variables map[string]*Setting `json:",omitempty"` // by name
	Sealing            *sealing            `json:",omitempty"` // nil: made at the first use

	contributors map[string]bool // by lower-case login
	order        issueOrder
	index        checkIndex
}

// FullName is "owner/name".
func (r *Repository) FullName() string { return r.Owner + "/" + r.Name }

// label finds a label by name; case does not matter. Nil when there is none.
func (r *Repository) label(name string) *Label {
	for _, l := range r.Labels {
		if strings.EqualFold(l.Name, name) {
			return l
		}
	}
	return nil
}

// Label is a label of a repository.
type Label struct {
	ID                       int64
	Name, Color, Description string
	CreatedAt                time.Time
	EditedAt                 *time.Time `json:",omitempty"` // when its name, color or description was changed last; nil: never
}

// updatedAt is when the label itself was changed last.
func (l *Label) updatedAt() time.Time {
	if l.EditedAt != nil {
		return *l.EditedAt
	}
	return l.CreatedAt
}

// Run is a workflow run.
type Run struct {
	ID                   int64
	Name                 string
	Status               string // queued, in_progress or completed
	Conclusion           string // empty until completed
	Attempt              int
	Number               int
	Event                string
	HeadSHA, HeadBranch  string
	Actor                string
	CreatedAt, UpdatedAt time.Time
	Path                 string     `json:",omitempty"` // of the workflow's file; empty: MergeXO's own
	Title                string     `json:",omitempty"` // what started it; empty: Name
	HeadRepo             string     `json:",omitempty"` // owner/name of the fork that has the head; empty: the repository itself
	Trigger              string     `json:",omitempty"` // login of who began the newest attempt; empty: Actor
	StartedAt            *time.Time `json:",omitempty"` // of the newest attempt; nil: CreatedAt
	Jobs                 []*Job     `json:",omitempty"` // of all attempts, oldest first; see jobs
}

// Call is one request that was served.
type Call struct {
	Method  string    `json:"method"`
	Path    string    `json:"path"`
	Status  int       `json:"status"`
	Login   string    `json:"login"`
	Kind    string    `json:"kind"` // rest, graphql, git, or blob for logs of jobs
	Service string    `json:"service,omitempty"`
	At      time.Time `json:"at"`
}

// Delivery is one webhook payload that GitHub would have sent.
type Delivery struct {
	ID      int64  `json:"id"`
	Event   string `json:"event"`
	Payload any    `json:"payload"`
}

// nextID gives a fresh database id.
func (w world) nextID() int64 {
	w.st.LastID++
	return w.st.LastID
}

// nextSmallID gives a fresh id for an account or a repository.
func (w world) nextSmallID() int64 {
	w.st.LastSmallID++
	return w.st.LastSmallID
}

// now is the sandbox's time, in whole seconds as GitHub's is.
func (w world) now() time.Time {
	if w.st.PinnedClock != nil {
		return *w.st.PinnedClock
	}
	return w.clock().UTC().Truncate(time.Second)
}

// user finds an account by login; case does not matter. Nil when there is none.
func (w world) user(login string) *User { return w.users[strings.ToLower(login)] }

// author finds who said something; ghost stands in for an account that is gone.
func (w world) author(login string) *User {
	if u := w.user(login); u != nil {
		return u
	}
	return &User{ID: 10137, Login: "ghost", Type: "User"}
}

// ensureUser finds or creates an account. An empty kind is User, or Bot for a login that ends in "[bot]".
func (w world) ensureUser(login, kind string) *User {
	if u := w.user(login); u != nil {
		return u
	}
	if kind == "" {
		kind = "User"
		if strings.HasSuffix(login, "[bot]") {
			kind = "Bot"
		}
	}
	u := &User{Login: login, Type: kind, CreatedAt: w.now()}
	if login == actionsLogin {
		u.ID = actionsID
	} else {
		u.ID = w.nextSmallID()
	}
	w.st.Users = append(w.st.Users, u)
	w.users[strings.ToLower(login)] = u
	w.changed()
	return u
}

// repository finds a repository by owner and name; case does not matter. Nil when there is none.
func (w world) repository(owner, name string) *Repository {
	for _, r := range w.st.Repositories {
		if strings.EqualFold(r.Owner, owner) && strings.EqualFold(r.Name, name) {
			return r
		}
	}
	return nil
}

// renamed finds a repository that had this name, which no other one has now. Nil when there is none.
func renamed(w world, owner, name string) *Repository {
	for _, r := range w.st.Repositories {
		if slices.ContainsFunc(r.Formerly, func(n string) bool { return strings.EqualFold(n, owner+"/"+name) }) {
			return r
		}
	}
	return nil
}

// repositoryByID finds a repository by its id. Nil when there is none.
func (w world) repositoryByID(id int64) *Repository {
	for _, r := range w.st.Repositories {
		if r.ID == id {
			return r
		}
	}
	return nil
}

// permission is what login may do in r.
func (w world) permission(r *Repository, login string) model.Permission {
	if p, ok := r.Permissions[strings.ToLower(login)]; ok && p != "none" {
		return model.ParsePermission(p)
	}
	if r.Private {
		return model.PermissionNone
	}
	return model.PermissionRead
}

// association is GitHub's author_association of login in r.
func (w world) association(r *Repository, login string) string {
	if strings.EqualFold(login, r.Owner) {
		return "OWNER"
	}
	// GITHUB_TOKEN's bot is shown as a contributor once it has a merged pull request, and as NONE before: it never collaborates.
	if p, ok := r.Permissions[strings.ToLower(login)]; ok && p != "none" && !r.Hidden[strings.ToLower(login)] && !strings.HasSuffix(login, "[bot]") {
		return "COLLABORATOR"
	}
	if r.contributors[strings.ToLower(login)] {
		return "CONTRIBUTOR"
	}
	return "NONE"
}

// noteContributor remembers who had a pull request merged.
func (r *Repository) noteContributor(login string) {
	if r.contributors == nil {
		r.contributors = map[string]bool{}
	}
	r.contributors[strings.ToLower(login)] = true
}
