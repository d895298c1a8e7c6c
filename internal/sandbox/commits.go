package sandbox

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

var commitRoutes = []route{
	{"GET /repos/{owner}/{repo}/commits", needRead, "contents=read", listCommits},
	{"GET /repos/{owner}/{repo}/commits/{ref}", needRead, "contents=read", getCommit},
	{"GET /repos/{owner}/{repo}/commits/{ref}/pulls", needRead, "pull_requests=read", commitPulls},
	{"GET /repos/{owner}/{repo}/compare/{basehead...}", needRead, "contents=read", compareCommits},
}

// commitAt finds the commit that {ref} names.
func commitAt(q *request, rev string) (string, error) {
	sha := q.s.git.resolve(q.repo, rev)
	if sha == "" {
		return "", unprocessable("No commit found for SHA: " + rev)
	}
	return sha, nil
}

func listCommits(q *request) (any, error) {
	rev := q.query("sha")
	if rev == "" {
		rev = q.repo.DefaultBranch
	}
	sha := q.s.git.resolve(q.repo, rev)
	if sha == "" {
		return nil, errNotFound
	}
	args := []string{"rev-list", sha}
	for param, option := range map[string]string{"since": "--since=", "until": "--until="} {
		if v := q.query(param); v != "" {
			args = append(args, option+v)
		}
	}
	args = append(args, "--")
	if p := q.query("path"); p != "" {
		args = append(args, p)
	}
	out, err := q.s.git.run(q.repo, args...)
	if err != nil {
		return nil, fmt.Errorf("list commits: %w", err)
	}
	return commitPage(q, strings.Fields(out))
}

// commitPage reads only the commits of the page that is asked for.
func commitPage(q *request, shas []string) (any, error) {
	page, per := q.pageOf()
	if _, err := q.s.git.commitsOf(q.repo, shas[min((page-1)*per, len(shas)):min(page*per, len(shas))]); err != nil {
		return nil, err
	}
	var failed error
	list := paginate(q, shas, func(sha string) obj {
		c, err := q.s.git.commitOf(q.repo, sha)
		if err != nil {
			failed = err
			return nil
		}
		return q.s.json.commit(q.repo, c)
	})
	return list, failed
}

func getCommit(q *request) (any, error) {
	sha, err := commitAt(q, q.r.PathValue("ref"))
	if err != nil {
		return nil, err
	}
	if strings.Contains(q.r.Header.Get("Accept"), "sha") {
		return &raw{"application/vnd.github.sha; charset=utf-8", []byte(sha)}, nil
	}
	c, err := q.s.git.commitOf(q.repo, sha)
	if err != nil {
		return nil, err
	}
	return q.s.json.fullCommit(q.repo, c)
}

func commitPulls(q *request) (any, error) {
	sha, err := commitAt(q, q.r.PathValue("ref"))
	if err != nil {
		return nil, err
	}
	return paginate(q, q.s.pulls.with(q.repo, sha), q.s.json.simplePull), nil
}

// with are the merged pull requests that have a commit among theirs, or were merged as it, and, where the default branch
// does not have it, the open ones: https://docs.github.com/en/rest/commits/commits#list-pull-requests-associated-with-a-commit
func (pr pulls) with(r *Repository, sha string) []*Issue {
	var found []*Issue
	tip := pr.git.branchSHA(r, r.DefaultBranch)
	landed := tip != "" && pr.git.isAncestor(r, sha, tip)
	for _, i := range r.inOrder() {
		if i.Pull == nil || !i.Pull.merged() && (landed || i.State != "open") {
			continue
		}
		shas, err := pr.commits(i) // what git can no longer tell is not associated
		if err == nil && slices.Contains(shas, sha) || i.Pull.MergeCommitSHA == sha {
			found = append(found, i)
		}
	}
	return found
}

// compareCommits is https://docs.github.com/en/rest/commits/commits#compare-two-commits; ends may be "owner:branch" of a fork.
func compareCommits(q *request) (any, error) {
	left, right, ok := strings.Cut(q.r.PathValue("basehead"), "...")
	if !ok {
		return nil, errNotFound
	}
	base, head := comparedEnd(q, left), comparedEnd(q, right)
	if base == "" || head == "" {
		return nil, errNotFound
	}
	c, err := q.s.pulls.compare(q.repo, base, head)
	if err != nil {
		return nil, &failure{status: http.StatusNotFound, message: "No common ancestor between " + left + " and " + right + "."}
	}
	ends, err := q.s.git.commitsOf(q.repo, []string{base, c.MergeBase})
	if err != nil {
		return nil, err
	}
	commits, err := comparedPage(q, c.Commits)
	if err != nil {
		return nil, err
	}
	files := []obj{}
	if page, _ := q.pageOf(); page == 1 { // only the first page has files
		changes, err := q.s.git.diff(q.repo, c.MergeBase, head)
		if err != nil {
			return nil, err
		}
		for _, f := range changes[:min(len(changes), 300)] {
			files = append(files, q.s.json.file(q.repo, head, f))
		}
	}
	basehead := url.PathEscape(left) + "..." + url.PathEscape(right)
	html := q.s.urls.repository(q.repo) + "/compare/" + basehead
	permalink := fmt.Sprintf("%s/compare/%s:%s...%s:%s", q.s.urls.repository(q.repo), q.repo.Owner, base[:7], q.repo.Owner, head[:7])
	return obj{
		"url": q.s.urls.repositoryAPI(q.repo) + "/compare/" + basehead, "html_url": html, "permalink_url": permalink,
		"diff_url": html + ".diff", "patch_url": html + ".patch", "base_commit": q.s.json.commit(q.repo, ends[0]),
		"merge_base_commit": q.s.json.commit(q.repo, ends[1]), "status": c.Status, "ahead_by": c.AheadBy, "behind_by": c.BehindBy,
		"total_commits": len(c.Commits), "commits": commits, "files": files,
	}, nil
}

// comparedPage is the page that is asked for. Who asks for none gets the newest 250: "the last commit in the list is the
// most recent of the entire comparison".
func comparedPage(q *request, shas []string) (any, error) {
	if q.query("page") != "" || q.query("per_page") != "" {
		return commitPage(q, shas)
	}
	commits, err := q.s.git.commitsOf(q.repo, shas[max(0, len(shas)-250):])
	if err != nil {
		return nil, err
	}
	list := make([]obj, len(commits))
	for i, c := range commits {
		list[i] = q.s.json.commit(q.repo, c)
	}
	return list, nil
}

// comparedEnd finds one end of a comparison, in this repository or a fork of it.
func comparedEnd(q *request, rev string) string {
	owner, branch, ok := strings.Cut(rev, ":")
	if !ok {
		return q.s.git.resolve(q.repo, rev)
	}
	for _, r := range q.s.st.Repositories {
		related := r.ID == q.repo.ID || r.Parent == q.repo.ID || r.ID == q.repo.Parent
		if sha := q.s.git.resolve(r, branch); strings.EqualFold(r.Owner, owner) && related && sha != "" {
			if q.s.git.bring(q.repo, r, sha) == nil {
				return sha
			}
		}
	}
	return ""
}
