package sandbox

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

var mergeRoutes = []route{
	{"GET /repos/{owner}/{repo}/pulls/{number}/merge", needRead, "contents=read", func(q *request) (any, error) {
		if !q.issue.Pull.merged() {
			return nil, errNotFound
		}
		return &reply{status: http.StatusNoContent}, nil
	}},
	{"PUT /repos/{owner}/{repo}/pulls/{number}/merge", needWrite, "contents=write", mergePull},
}

// mergeInput is the body of PUT merge: https://docs.github.com/en/rest/pulls/pulls#merge-a-pull-request
type mergeInput struct {
	SHA     string
	Title   string `json:"commit_title"`
	Message string `json:"commit_message"`
	Method  string `json:"merge_method"`
}

func mergePull(q *request) (any, error) {
	in := mergeInput{Method: "merge"}
	if err := q.decode(&in); err != nil {
		return nil, err
	}
	if !slices.Contains([]string{"merge", "squash", "rebase"}, in.Method) {
		return nil, unprocessable("Invalid request.\n\nFor 'properties/merge_method', " + in.Method + " is not one of: merge, squash, rebase.")
	}
	i, base, head := q.issue, q.s.pulls.baseSHA(q.issue), q.s.pulls.headSHA(q.issue)
	refuse := func(message string) error { return &failure{status: http.StatusMethodNotAllowed, message: message} }
	switch {
	case i.State != "open":
		return nil, refuse("Pull Request is not mergeable")
	case in.SHA != "" && in.SHA != head, i.Pull.NewHead != nil: // the branch is elsewhere already
		return nil, &failure{status: http.StatusConflict, message: "Head branch was modified. Review and try the merge again."}
	case i.Pull.Draft:
		return nil, refuse("Pull Request is still a draft")
	case q.s.git.isAncestor(q.repo, head, base): // landed already, which GitHub has not seen yet
		return nil, refuse("Pull Request is not mergeable")
	}
	if why := mergeRefusal(q, base, head, in.Method); why != "" {
		return nil, refuse(why)
	}
	token, _ := tokenOf(q.r)
	if touched, err := q.s.git.run(q.repo, "diff", "--name-only", base+"..."+head, "--", ".github/workflows"); err != nil || touched != "" && !q.s.tokens.changesWorkflows(token, q.user) {
		// https://github.com/paritytech/parity-processbot/issues/302
		return nil, cmp.Or(err, error(&failure{status: http.StatusForbidden, message: "Resource not accessible by integration"}))
	}
	tip, err := q.s.pulls.mergeTip(i, base, head, &in, q.user)
	if errors.Is(err, errConflict) {
		return nil, refuse("Pull Request is not mergeable")
	}
	if err != nil {
		return nil, err
	}
	ref := "refs/heads/" + i.Pull.BaseRef
	if err := q.s.git.setRef(q.repo, refChange{ref, base, tip}); err != nil {
		return nil, refuse("Base branch was modified. Review and try the merge again.")
	}
	q.s.pulls.markMerged(i, q.user, tip)
	if err := q.s.refs.sync(q.repo, q.user); err != nil {
		return nil, err
	}
	if err := q.s.refs.dropHead(i, q.user); err != nil {
		return nil, err
	}
	return obj{"sha": tip, "merged": true, "message": "Pull Request successfully merged"}, nil
}

// errConflict says that a merge has conflicts.
var errConflict = errors.New("merge conflict")

// mergeTip makes the commits that merging would put on the base.
func (pr pulls) mergeTip(i *Issue, base, head string, in *mergeInput, u *User) (string, error) {
	if in.Method == "rebase" {
		return pr.git.rebase(i.repo, base, head)
	}
	tree, clean, err := pr.git.mergeTree(i.repo, base, head)
	if err != nil {
		return "", err
	}
	if !clean {
		return "", errConflict
	}
	by, title, message, parents := u, in.Title, in.Message, []string{base}
	if in.Method == "squash" {
		by = pr.world.author(i.Author)
		if title == "" {
			title = fmt.Sprintf("%s (#%d)", i.Title, i.Number)
		}
		if message == "" {
			if message, err = pr.squashMessage(i, base, head); err != nil {
				return "", err
			}
		}
	} else {
		parents = append(parents, head)
		if title == "" {
			owner := i.repo.Owner
			if r := pr.world.repositoryByID(i.Pull.HeadRepo); r != nil {
				owner = r.Owner
			}
			title = fmt.Sprintf("Merge pull request #%d from %s/%s", i.Number, owner, i.Pull.HeadRef)
			if message == "" {
				message = i.Title
			}
		}
	}
	author := signedAt(by.Login, noreply(by), pr.world.now())
	return pr.git.commitTree(i.repo, tree, parents, strings.TrimSpace(title+"\n\n"+message), author, byGitHub(pr.world.now()))
}

// squashMessage lists the commits, as GitHub's default does when there are several.
func (pr pulls) squashMessage(i *Issue, base, head string) (string, error) {
	shas, err := pr.git.revList(i.repo, base, head)
	if err != nil {
		return "", err
	}
	cs, err := pr.git.commitsOf(i.repo, shas)
	if err != nil {
		return "", err
	}
	if len(cs) == 1 {
		_, body, _ := strings.Cut(cs[0].Message, "\n")
		return strings.TrimSpace(body), nil
	}
	var b strings.Builder
	for _, c := range cs {
		fmt.Fprintf(&b, "* %s\n\n", c.Message)
	}
	return b.String(), nil
}

// rebase puts head's own commits on base, with their authors; GitHub gives them new SHAs even when base has not moved.
// git 2.39's merge-tree takes no merge base, so a commit with base's tree and the picked commit's parent stands in for it.
func (g gitStore) rebase(r *Repository, base, head string) (string, error) {
	out, err := g.run(r, "rev-list", "--reverse", "--topo-order", "--no-merges", head, "^"+base)
	if err != nil {
		return "", fmt.Errorf("list commits to rebase: %w", err)
	}
	tip := base
	for _, sha := range strings.Fields(out) {
		c, err := g.commitOf(r, sha)
		if err != nil {
			return "", err
		}
		onto, err := g.commitOf(r, tip)
		if err != nil {
			return "", err
		}
		standIn, err := g.commitTree(r, onto.Tree, c.Parents, "stand-in", byGitHub(g.world.now()), byGitHub(g.world.now()))
		if err != nil {
			return "", err
		}
		tree, clean, err := g.mergeTree(r, standIn, sha)
		if err != nil {
			return "", err
		}
		if !clean {
			return "", errConflict
		}
		if tip, err = g.commitTree(r, tree, []string{tip}, c.Message, c.Author, byGitHub(g.world.now())); err != nil {
			return "", err
		}
	}
	return tip, nil
}

// moveRef sets, makes (no old) or deletes (no now) a ref as the caller, unless it is protected or has moved meanwhile.
func moveRef(q *request, r *Repository, c refChange) error {
	if why := q.s.refs.protects(r, c, q.user); why != "" {
		return unprocessable(why)
	}
	set := q.s.git.setRef
	if c.now == "" {
		set = q.s.git.dropRef
	}
	if err := set(r, c); err != nil {
		return unprocessable("Reference update failed")
	}
	return q.s.refs.sync(r, q.user)
}

// dropHead deletes the branch of a pull request that the endpoint has merged, where the repository's settings say so, and gives
// those on it its base: a push that merges one deletes nothing. https://docs.github.com/en/repositories/configuring-branches-and-merges-in-your-repository/configuring-pull-request-merges/managing-the-automatic-deletion-of-branches
func (f pushes) dropHead(i *Issue, actor *User) error {
	r, ref := i.repo, "refs/heads/"+i.Pull.HeadRef
	p := r.protection(i.Pull.HeadRef)
	if !r.DeletesHeads || f.pulls.crossRepository(i) || i.Pull.HeadRef == r.DefaultBranch || r.Refs[ref] != i.Pull.HeadSHA || p != nil && !p.Deletes {
		return nil
	}
	for _, other := range r.openPulls() {
		if other.Pull.BaseRef == i.Pull.HeadRef && !f.git.isAncestor(r, f.pulls.headSHA(other), f.git.branchSHA(r, i.Pull.BaseRef)) {
			f.retarget(other, i.Pull.BaseRef, actor)
		}
	}
	if err := f.git.dropRef(r, refChange{ref, r.Refs[ref], ""}); err != nil {
		return fmt.Errorf("delete the merged branch: %w", err)
	}
	return f.sync(r, actor)
}
