package sandbox

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// scene is a payload on its way into the sandbox.
type scene struct {
	*Seeder
	name     string
	action   string
	checkout string
	repo     *eventRepository
	issue    *eventIssue // of a pull request too
	comment  *eventComment
	review   *eventReview
	run      *eventRun
	label    *eventLabel
	sender   *eventUser

	assumed []string // what the payload does not say
}

// assume notes what was made up because the payload does not say it.
func (sc *scene) assume(format string, args ...any) {
	sc.assumed = append(sc.assumed, fmt.Sprintf(format, args...))
}

// SeedFromEvent sets the scene of a webhook payload, so that it can be re-enacted: the repository, the people with the
// rights that their author_association stands for, the issue or pull request, and what was said. Commits come from
// checkout (a local repository; "" for none) when it has those of the payload, and are invented where it has not, so that
// the diff fits the comment. A payload without any of this seeds octo/widgets. name is the event's ("issue_comment").
// It returns what had to be assumed, a sentence each.
func (s *Server) SeedFromEvent(name string, payload []byte, checkout string) (assumed []string, err error) {
	sc, err := readScene(payload)
	if err != nil {
		return nil, err
	}
	sc.name, sc.checkout = name, checkout
	err = s.Seed(func(d *Seeder) error {
		sc.Seeder = d
		return sc.play()
	})
	return sc.assumed, err
}

// readScene reads what a replay needs of a payload. The error names the field that is not what GitHub sends.
func readScene(text []byte) (*scene, error) {
	p := &payload{}
	if err := json.Unmarshal(text, &p.parts); err != nil {
		return nil, fmt.Errorf("read payload: %w", err)
	}
	sc := &scene{
		action: deref(part[string](p, "action")), repo: part[eventRepository](p, "repository"),
		issue: part[eventIssue](p, "pull_request"), comment: part[eventComment](p, "comment"),
		review: part[eventReview](p, "review"), run: part[eventRun](p, "workflow_run"), sender: part[eventUser](p, "sender"),
		label: part[eventLabel](p, "label"),
	}
	// Checks name their pull requests as runs do; they are no workflow run themselves.
	for _, key := range []string{"check_suite", "check_run"} {
		if c := part[eventRun](p, key); c != nil && sc.run == nil {
			c.ID, sc.run = 0, c
		}
	}
	if sc.issue == nil {
		sc.issue = part[eventIssue](p, "issue")
	} else {
		sc.issue.PullRequest = &struct{}{}
	}
	sc.checkBranches(p)
	return sc, p.trouble
}

func (sc *scene) play() error {
	if sc.repo == nil || !strings.Contains(sc.repo.FullName, "/") {
		if len(sc.s.st.Repositories) == 0 {
			sc.assume("the payload names no repository: octo/widgets takes its place")
			_, err := sc.s.world.addWidgets()
			return err
		}
		return nil
	}
	if err := sc.stage(); err != nil {
		return err
	}
	sc.people()
	switch {
	case sc.issue != nil && sc.issue.Number > 0 && sc.issue.PullRequest != nil:
		if err := sc.pull(sc.issue); err != nil {
			return err
		}
	case sc.issue != nil && sc.issue.Number > 0:
		if err := sc.Issue(sc.repo.FullName, sc.issueSeed(sc.issue)); err != nil {
			return err
		}
		if err := sc.labelling(); err != nil {
			return err
		}
	}
	if sc.run != nil {
		if err := sc.workflowRun(); err != nil {
			return err
		}
	}
	return sc.said()
}

// stage makes the repository. Without a checkout it gets settings under which the agent's branches are tracked.
func (sc *scene) stage() error {
	in := SeedRepository{
		ID: sc.repo.ID, FullName: sc.repo.FullName, DefaultBranch: sc.repo.DefaultBranch, Private: sc.repo.Private, Checkout: sc.checkout, At: sc.at(),
	}
	if in.DefaultBranch == "" && sc.issue != nil {
		in.DefaultBranch = sc.issue.Base.Ref
	}
	_, name, _ := strings.Cut(in.FullName, "/")
	in.Files = map[string]string{
		"README.md":            "# " + name + "\n",
		".github/mergexo.toml": "[repo]\ntrack = [\"agent/*\"]\n[agent]\nadapter = \"suggestion\"\n",
	}
	if c := sc.comment; c != nil && filepath.IsLocal(c.Path) {
		if before, _ := imagesOf(c.DiffHunk); before != "" {
			in.Files[c.Path] = before
		} else {
			delete(in.Files, c.Path)
		}
	}
	if sc.checkout == "" {
		sc.assume("%s is invented: its agent is suggestion, it tracks agent/* and has no tests", in.FullName)
	} else {
		sc.assume("%s has the branches and settings of the checkout", in.FullName)
	}
	if err := sc.User(SeedUser{ID: sc.repo.Owner.ID, Login: strings.Split(in.FullName, "/")[0], Type: sc.repo.Owner.Type}); err != nil {
		return err
	}
	return sc.Repository(in)
}

// at is the date of invented commits: the pull request's, so that it is the same at every replay.
func (sc *scene) at() time.Time {
	if sc.issue != nil && !sc.issue.CreatedAt.at.IsZero() {
		return sc.issue.CreatedAt.at
	}
	return inventedAt
}

// people makes all accounts of the payload, with the rights that their association stands for:
// https://docs.github.com/en/graphql/reference/enums#commentauthorassociation
func (sc *scene) people() {
	rights := map[string]string{"OWNER": "admin", "MEMBER": "write", "COLLABORATOR": "write"}
	told := map[string]bool{}
	add := func(u eventUser, association string) {
		if sc.User(SeedUser(u)) != nil {
			return // an account that is gone has no login
		}
		key := strings.ToLower(u.Login)
		r, err := sc.s.world.named(sc.repo.FullName)
		if err == nil && r.Permissions[key] == "" && rights[association] != "" {
			r.Permissions[key] = rights[association]
		}
		if association != "" && !told[key] {
			sc.assume("%s has %s access, as %s", u.Login, cmp.Or(rights[association], "read"), association)
			told[key] = true
		}
	}
	if sc.issue != nil {
		add(sc.issue.User, sc.issue.Association)
	}
	if sc.comment != nil {
		add(sc.comment.User, sc.comment.Association)
	}
	if sc.review != nil {
		add(sc.review.User, sc.review.Association)
	}
	if sc.sender != nil {
		association := ""
		if sc.labels() && sc.issue != nil && sc.sender.Type != "Bot" && !strings.EqualFold(sc.sender.Login, sc.issue.User.Login) {
			association = "COLLABORATOR" // an issue's author may have labeled it by a template, everybody else by right
		}
		add(*sc.sender, association)
	}
}

func (sc *scene) issueSeed(i *eventIssue) SeedIssue {
	in := SeedIssue{
		Number: i.Number, ID: i.ID, Title: i.Title, Body: i.Body, Author: sc.login(i.User), Closed: i.State == "closed", Locked: i.Locked,
		CreatedAt: i.CreatedAt.at, UpdatedAt: i.UpdatedAt.at,
	}
	for _, l := range i.Labels {
		in.Labels = append(in.Labels, l.Name)
	}
	if r, err := sc.s.world.named(sc.repo.FullName); err == nil && len(in.Labels) > 0 {
		in.Labeller = sc.labeller(r)
	}
	return in
}

// login is who said something; an account that is gone is ghost.
func (sc *scene) login(u eventUser) string {
	if !loginPattern.MatchString(u.Login) {
		return "ghost"
	}
	return u.Login
}

// pull makes a pull request and the branches that it needs.
func (sc *scene) pull(i *eventIssue) error {
	r, err := sc.s.world.named(sc.repo.FullName)
	if err != nil {
		return err
	}
	in := SeedPull{
		SeedIssue: sc.issueSeed(i), Base: cmp.Or(i.Base.Ref, r.DefaultBranch), Head: cmp.Or(i.Head.Ref, fmt.Sprintf("agent/replay-%d", i.Number)),
		Draft: i.Draft, Merged: i.Merged,
	}
	if i.Head.Ref != "" { // the id is the pull request's own where the payload has the pull request
		in.PullID, in.ID = i.ID, 0
	}
	if err := sc.base(r, in.Base, i.Base.SHA); err != nil {
		return err
	}
	headRepo := r
	if f := i.Head.Repo; f != nil && f.FullName != r.FullName() && strings.Contains(f.FullName, "/") {
		if headRepo, err = sc.fork(r, f); err != nil {
			return err
		}
		in.HeadRepo = headRepo.FullName()
	}
	if in.Head == in.Base && headRepo == r {
		in.Head = fmt.Sprintf("agent/replay-%d", i.Number)
	}
	invented, err := sc.head(r, headRepo, &in, i.Head.SHA)
	if err != nil {
		return err
	}
	how := "its commits come from the checkout"
	switch {
	case i.Head.Ref == "":
		how = "the payload names no branches"
	case invented:
		how = "its commit is invented"
	}
	sc.assume("pull request #%d merges %s into %s; %s", in.Number, in.Head, in.Base, how)
	return sc.Pull(r.FullName(), in)
}

// base makes sure of the base branch: the payload's commit where there is one, else the default branch's.
func (sc *scene) base(r *Repository, branch, sha string) error {
	if sc.s.git.fetchCommit(r, sc.checkout, sha) {
		return sc.s.git.setBranch(r, branch, sha)
	}
	if sc.s.git.branchSHA(r, branch) != "" {
		return nil
	}
	return sc.s.git.setBranch(r, branch, sc.s.git.branchSHA(r, r.DefaultBranch))
}

func (sc *scene) fork(r *Repository, f *eventRepository) (*Repository, error) {
	if fork, err := sc.s.world.named(f.FullName); err == nil {
		return fork, nil
	}
	owner, name, _ := strings.Cut(f.FullName, "/")
	fork, err := sc.s.world.addRepository(owner, name, r.DefaultBranch, f.Private)
	if err != nil {
		return nil, err
	}
	fork.Parent = r.ID
	return fork, sc.s.git.copyRefs(fork, sc.s.git.path(r))
}

// head makes sure of the head branch: the payload's commit where there is one, the checkout's branch, or an invented
// commit on the base that makes the diff which the comment is about.
func (sc *scene) head(r, headRepo *Repository, in *SeedPull, sha string) (invented bool, err error) {
	if sc.s.git.fetchCommit(headRepo, sc.checkout, sha) {
		return false, sc.s.git.setBranch(headRepo, in.Head, sha)
	}
	base := sc.s.git.branchSHA(r, in.Base)
	if at := sc.s.git.branchSHA(headRepo, in.Head); at != "" && !sc.s.git.isAncestor(headRepo, at, base) {
		return false, nil
	}
	files := map[string]string{fmt.Sprintf("docs/change-%d.md", in.Number): "# " + in.Title + "\n"}
	if c := sc.comment; c != nil && filepath.IsLocal(c.Path) && c.Path != "" {
		_, after := imagesOf(c.DiffHunk)
		files = map[string]string{c.Path: after}
	}
	if err := sc.s.git.setBranch(headRepo, in.Head, base); err != nil {
		return false, err
	}
	_, err = sc.s.git.commitFiles(headRepo, in.Head, "", files, in.Title, sc.at())
	return true, err
}

// said adds the comment or review of the payload, unless it tells of its deletion.
func (sc *scene) said() error {
	if sc.issue == nil || sc.issue.Number == 0 || sc.action == "deleted" && (sc.comment != nil || sc.review != nil) {
		return nil
	}
	isPull := sc.issue.PullRequest != nil
	switch c := sc.comment; {
	case c != nil && c.Path != "" && isPull:
		return sc.reviewComment(c)
	case c != nil && c.ID != 0:
		return sc.Comment(sc.repo.FullName, sc.issue.Number, sc.post(&c.eventPost))
	case sc.review != nil && isPull:
		in := SeedReview{sc.post(&sc.review.eventPost), strings.ToUpper(sc.review.State)}
		if in.CreatedAt.IsZero() {
			in.CreatedAt = sc.review.SubmittedAt.at
		}
		return sc.Review(sc.repo.FullName, sc.issue.Number, in)
	}
	return nil
}

func (sc *scene) post(p *eventPost) SeedComment {
	return SeedComment{ID: p.ID, Author: sc.login(p.User), Body: p.Body, CreatedAt: p.CreatedAt.at, UpdatedAt: p.UpdatedAt.at}
}

// reviewComment adds the payload's comment. The start of its thread is not in the payload of a reply: somebody without
// rights stands in for it, so that nobody answers.
func (sc *scene) reviewComment(c *eventComment) error {
	in := SeedReviewComment{
		SeedComment: sc.post(&c.eventPost), ReviewID: c.ReviewID, Path: c.Path, Side: c.Side, Line: c.Line, StartLine: c.StartLine,
		StartSide: c.StartSide, DiffHunk: c.DiffHunk, InReplyTo: c.InReplyTo, File: c.SubjectType == "file",
	}
	if c.InReplyTo != 0 {
		first := in
		first.SeedComment = SeedComment{ID: c.InReplyTo, Author: "ghost", Body: "The start of this thread is not in the payload.", CreatedAt: c.CreatedAt.at}
		first.ReviewID, first.InReplyTo = 0, 0
		if err := sc.ReviewComment(sc.repo.FullName, sc.issue.Number, first); err != nil {
			return err
		}
	}
	return sc.ReviewComment(sc.repo.FullName, sc.issue.Number, in)
}

// workflowRun adds the run and the pull requests that it is about.
func (sc *scene) workflowRun() error {
	r, err := sc.s.world.named(sc.repo.FullName)
	if err != nil {
		return err
	}
	for _, p := range sc.run.PullRequests {
		if p.Number <= 0 || r.Issues[p.Number] != nil || p.Base.Repo != nil && p.Base.Repo.ID != 0 && sc.repo.ID != 0 && p.Base.Repo.ID != sc.repo.ID {
			continue
		}
		i := &eventIssue{Number: p.Number, Title: fmt.Sprintf("Pull request %d", p.Number), Head: p.Head, Base: p.Base}
		i.User, i.Head.Repo, i.Base.Repo = sc.repo.Owner, nil, nil
		if err := sc.pull(i); err != nil {
			return err
		}
	}
	if !slices.Contains([]string{"queued", "in_progress", "completed"}, sc.run.Status) {
		sc.run.Status = "queued"
	}
	if sc.run.ID != 0 {
		r.Runs = append(r.Runs, &Run{
			ID: sc.run.ID, Name: sc.run.Name, Status: sc.run.Status, Conclusion: sc.run.Conclusion, Attempt: 1, Number: 1, Event: sc.run.Event,
			HeadSHA: sc.s.git.resolve(r, sc.run.HeadSHA), HeadBranch: sc.run.HeadBranch, Actor: r.Owner, CreatedAt: sc.s.world.now(), UpdatedAt: sc.s.world.now(),
		})
	}
	return nil
}
