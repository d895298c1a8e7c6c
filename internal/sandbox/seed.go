package sandbox

import (
	"cmp"
	"fmt"
	"strings"
	"time"
)

// Seed sets the scene for a replay: people, repositories, pull requests and comments with the ids and numbers that they
// have elsewhere. Nothing that is seeded sends webhooks. It holds the sandbox's lock while do runs.
func (s *Server) Seed(do func(*Seeder) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.world.changed()
	if err := do(&Seeder{s: s}); err != nil {
		return fmt.Errorf("seed sandbox: %w", err)
	}
	return nil
}

// Seeder adds to a sandbox in Seed.
type Seeder struct{ s *Server }

// SeedUser is an account.
type SeedUser struct {
	ID    int64 // 0: a fresh one
	Login string
	Type  string // User, Bot or Organization; empty: from the login
}

// SeedRepository is a repository. Its branches are copied from Checkout when that is given, else it gets a first commit with
// Files, unless it is to be Empty.
type SeedRepository struct {
	ID            int64
	FullName      string
	DefaultBranch string // empty: main
	Private       bool
	Checkout      string // path of a local repository, bare or not
	Empty         bool   // without any commit
	Files         map[string]string
	At            time.Time // date of the first commit; zero: 2026-01-01
}

// SeedIssue is an issue, or the issue side of a pull request.
type SeedIssue struct {
	Number    int
	ID        int64
	Title     string
	Body      string
	Author    string
	Closed    bool
	Locked    bool
	Labels    []string
	Labeller  string    // who put the labels on; empty: Author
	CreatedAt time.Time // zero: now
	UpdatedAt time.Time // zero: CreatedAt
}

// SeedPull is a pull request between two branches that are there.
type SeedPull struct {
	SeedIssue
	PullID   int64
	Base     string
	Head     string
	HeadRepo string // owner/name; empty: the same repository
	Draft    bool
	Merged   bool

	Files    map[string]string // of the head's commit; only for Pulls
	Comments []SeedComment     // oldest first; only for Pulls
}

// SeedComment is anything that somebody said.
type SeedComment struct {
	ID        int64
	Author    string
	Body      string
	CreatedAt time.Time // zero: now
	UpdatedAt time.Time // zero: CreatedAt
}

// SeedReview is a submitted review.
type SeedReview struct {
	SeedComment
	State string // COMMENTED (the default), APPROVED, CHANGES_REQUESTED or DISMISSED
}

// SeedReviewComment is a review comment. Line counts only where the diff has it; else the hunk's last line is the place.
type SeedReviewComment struct {
	SeedComment
	ReviewID  int64 // 0: a review of its own
	Path      string
	Side      string
	Line      int
	StartLine int
	StartSide string
	DiffHunk  string
	InReplyTo int64
	File      bool // about the whole file
}

// id takes a given id, or makes one; later ids are greater than any given one.
func (d *Seeder) id(given int64) int64 {
	if given == 0 {
		return d.s.world.nextID()
	}
	d.s.st.LastID = max(d.s.st.LastID, given)
	return given
}

// smallID takes the given id of an account or a repository; later ones are greater.
func (d *Seeder) smallID(given int64) int64 {
	d.s.st.LastSmallID = max(d.s.st.LastSmallID, given)
	return given
}

// User adds an account, or sets its id and type when it is there.
func (d *Seeder) User(u SeedUser) error {
	if !loginPattern.MatchString(u.Login) {
		return fmt.Errorf("user %q: not a login", u.Login)
	}
	known := d.s.world.ensureUser(u.Login, u.Type)
	if u.ID != 0 {
		known.ID = d.smallID(u.ID)
	}
	known.Type = cmp.Or(u.Type, known.Type)
	return nil
}

// Permission sets somebody's right: admin, maintain, write, triage, read or none.
func (d *Seeder) Permission(repository, login, permission string) error {
	r, err := d.s.world.named(repository)
	if err != nil {
		return err
	}
	d.s.world.ensureUser(login, "")
	r.Permissions[strings.ToLower(login)] = permission
	return nil
}

// Repository adds a repository; the first one is what URLs names.
func (d *Seeder) Repository(in SeedRepository) error {
	owner, name, _ := strings.Cut(in.FullName, "/")
	if !loginPattern.MatchString(owner) || !repositoryName.MatchString(name) {
		return fmt.Errorf("repository %q: want owner/name", in.FullName)
	}
	r, err := d.s.world.addRepository(owner, name, in.DefaultBranch, in.Private)
	if err != nil {
		return err
	}
	if in.ID != 0 {
		if err := d.s.world.renumber(r, d.smallID(in.ID)); err != nil {
			return err
		}
	}
	if in.Checkout != "" {
		return d.s.git.copyCheckout(r, in.Checkout)
	}
	if in.Empty {
		return nil
	}
	if in.At.IsZero() {
		in.At = inventedAt
	}
	if len(in.Files) == 0 {
		in.Files = map[string]string{"README.md": "# " + name + "\n"}
	}
	_, err = d.s.git.commitFiles(r, r.DefaultBranch, "", in.Files, "Initial commit", in.At)
	return err
}

// Commit puts a commit with changed files onto a branch, which begins at from when it is not there. It gives the commit.
func (d *Seeder) Commit(repository, branch, from string, files map[string]string, message string, at time.Time) (string, error) {
	r, err := d.s.world.named(repository)
	if err != nil {
		return "", err
	}
	return d.s.git.commitFiles(r, branch, from, files, message, at)
}

// Issue adds an issue.
func (d *Seeder) Issue(repository string, in SeedIssue) error {
	_, err := d.issue(repository, in)
	return err
}

func (d *Seeder) issue(repository string, in SeedIssue) (*Issue, error) {
	r, err := d.s.world.named(repository)
	if err != nil {
		return nil, err
	}
	if in.Number <= 0 || r.Issues[in.Number] != nil {
		return nil, fmt.Errorf("issue %d of %s: not a free number", in.Number, r.FullName())
	}
	created, updated := d.times(in.CreatedAt, in.UpdatedAt)
	i := &Issue{
		Post:   Post{ID: d.id(in.ID), Author: d.s.world.ensureUser(in.Author, "").Login, Body: in.Body, CreatedAt: created, UpdatedAt: updated},
		Number: in.Number, Title: in.Title, State: "open", Locked: in.Locked,
	}
	r.Issues[i.Number], r.LastNumber = i, max(r.LastNumber, i.Number)
	d.s.world.indexIssue(r, i)
	for _, name := range in.Labels {
		l := r.label(name)
		if l == nil {
			l = &Label{ID: d.s.world.nextID(), Name: name, Color: "ededed", CreatedAt: created}
			r.Labels = append(r.Labels, l)
		}
		i.LabelIDs = append(i.LabelIDs, l.ID)
		d.s.world.noteLabel(i, l, true, cmp.Or(in.Labeller, i.Author), created)
	}
	if in.Closed {
		i.State, i.ClosedAt, i.ClosedBy = "closed", &updated, i.Author
	}
	return i, nil
}

// times fills in what was not given, in whole seconds.
func (d *Seeder) times(created, updated time.Time) (time.Time, time.Time) {
	if created.IsZero() {
		created = d.s.world.now()
	}
	if updated.IsZero() {
		updated = created
	}
	return created.UTC().Truncate(time.Second), updated.UTC().Truncate(time.Second)
}

// Pull adds a pull request.
func (d *Seeder) Pull(repository string, in SeedPull) error {
	r, err := d.s.world.named(repository)
	if err != nil {
		return err
	}
	headRepo := r
	if in.HeadRepo != "" {
		if headRepo, err = d.s.world.named(in.HeadRepo); err != nil {
			return err
		}
	}
	if d.s.git.branchSHA(headRepo, in.Head) == "" || d.s.git.branchSHA(r, in.Base) == "" {
		return fmt.Errorf("pull request %d: no branch %s or no branch %s", in.Number, in.Head, in.Base)
	}
	i, err := d.issue(repository, in.SeedIssue)
	if err != nil {
		return err
	}
	if err := d.s.pulls.create(i, headRepo, in.Head, in.Base); err != nil {
		return err
	}
	if in.PullID != 0 {
		delete(d.s.issues, i.Pull.ID)
		i.Pull.ID = d.id(in.PullID)
		d.s.issues[i.Pull.ID] = i
	}
	i.Pull.Draft = in.Draft
	if in.Merged {
		i.Pull.MergedAt, i.Pull.MergedBy, i.Pull.MergeCommitSHA = i.ClosedAt, i.Author, i.Pull.HeadSHA
		r.noteContributor(i.Author)
	}
	return nil
}

func (d *Seeder) find(repository string, number int) (*Issue, error) {
	r, err := d.s.world.named(repository)
	if err != nil {
		return nil, err
	}
	if i := r.Issues[number]; i != nil {
		return i, nil
	}
	return nil, fmt.Errorf("%s has no number %d", r.FullName(), number)
}

func (d *Seeder) post(in SeedComment) Post {
	created, updated := d.times(in.CreatedAt, in.UpdatedAt)
	return Post{ID: d.id(in.ID), Author: d.s.world.ensureUser(in.Author, "").Login, Body: in.Body, CreatedAt: created, UpdatedAt: updated}
}

// Comment adds a comment to the conversation.
func (d *Seeder) Comment(repository string, number int, in SeedComment) error {
	i, err := d.find(repository, number)
	if err != nil {
		return err
	}
	c := &Comment{Post: d.post(in), issue: i}
	i.Comments = append(i.Comments, c)
	d.s.comments[c.ID] = c
	return nil
}

// Review adds a submitted review.
func (d *Seeder) Review(repository string, number int, in SeedReview) error {
	i, err := d.find(repository, number)
	if err != nil {
		return err
	}
	if i.Pull == nil {
		return fmt.Errorf("review of %d: not a pull request", number)
	}
	v := &Review{Post: d.post(in.SeedComment), State: cmp.Or(in.State, "COMMENTED"), CommitID: d.s.pulls.headSHA(i), issue: i}
	v.SubmittedAt = &v.CreatedAt
	i.Pull.Reviews = append(i.Pull.Reviews, v)
	d.s.reviews[v.ID] = v
	return nil
}

// ReviewComment adds a comment on the diff, with the hunk that it had.
func (d *Seeder) ReviewComment(repository string, number int, in SeedReviewComment) error {
	i, err := d.find(repository, number)
	if err != nil {
		return err
	}
	if i.Pull == nil {
		return fmt.Errorf("review comment on %d: not a pull request", number)
	}
	if d.s.reviews[in.ReviewID] == nil {
		in.ReviewID = d.id(in.ReviewID)
		v := SeedReview{SeedComment{ID: in.ReviewID, Author: in.Author, CreatedAt: in.CreatedAt}, "COMMENTED"}
		if err := d.Review(repository, number, v); err != nil {
			return err
		}
	}
	c := &ReviewComment{
		Post: d.post(in.SeedComment), ReviewID: in.ReviewID, Path: in.Path, SubjectType: "line", Side: cmp.Or(in.Side, "RIGHT"),
		StartSide: in.StartSide, OriginalLine: in.Line, OriginalStartLine: in.StartLine, OriginalCommit: d.s.pulls.headSHA(i),
		OriginalBase: d.s.pulls.baseSHA(i), InReplyTo: in.InReplyTo, GivenHunk: in.DiffHunk, issue: i,
	}
	switch {
	case in.File:
		c.SubjectType, c.OriginalLine, c.OriginalStartLine, c.StartSide = "file", 0, 0, ""
	case !d.s.pulls.inDiff(c):
		if side, line := lastLine(in.DiffHunk); line > 0 {
			c.Side, c.OriginalLine, c.OriginalStartLine, c.StartSide = side, line, 0, ""
		}
	}
	i.Pull.ReviewComments = append(i.Pull.ReviewComments, c)
	d.s.reviewComments[c.ID] = c
	return nil
}

// inDiff tells whether a comment's line is in the diff that it is about.
func (pr pulls) inDiff(c *ReviewComment) bool {
	files, err := pr.git.threeDot(c.issue.repo, c.OriginalBase, c.OriginalCommit)
	f := changeOf(files, c.Path)
	if err != nil || f == nil {
		return false
	}
	_, ok := f.spot(c.Side, c.OriginalLine)
	return ok
}

// lastLine is the side and line of a hunk's last line; a line of 0 when it is no hunk.
func lastLine(text string) (side string, line int) {
	hunks := parseHunks(text)
	if len(hunks) == 0 {
		return "", 0
	}
	f := fileChange{hunks: hunks}
	for at := strings.Count(text, "\n"); at > 0; at-- {
		if side, line, ok := f.lineAt(at); ok {
			return side, line
		}
	}
	return "", 0
}
