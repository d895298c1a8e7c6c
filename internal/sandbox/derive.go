package sandbox

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// headSHA is the head commit that a pull request shows: the branch's tip while it is open and GitHub has seen it, else what
// it was last.
func (pr pulls) headSHA(i *Issue) string {
	if i.State == "open" && i.Pull.NewHead == nil {
		if r := pr.world.repositoryByID(i.Pull.HeadRepo); r != nil {
			if sha := pr.git.branchSHA(r, i.Pull.HeadRef); sha != "" {
				return sha
			}
		}
	}
	return i.Pull.HeadSHA
}

// baseSHA is the commit that a pull request would be merged into: the branch's tip while it is open, else the base that was
// recorded last.
func (pr pulls) baseSHA(i *Issue) string {
	if i.State == "open" {
		if sha := pr.git.branchSHA(i.repo, i.Pull.BaseRef); sha != "" {
			return sha
		}
	}
	return i.Pull.BaseSHA
}

// recordBase notes the base's tip as base.sha and baseRefOid show it from then on. GitHub documents neither. It is seen to
// stay where it was when the pull request was opened while the base moves on, and to be older or younger than that:
// https://github.com/jenkins-x/lighthouse/pull/1618, https://github.com/github/rest-api-description/issues/5978,
// https://github.com/spacedentist/spr/pull/69. Here it moves when the head, the choice of the base or the state changes, and
// never with the base: nobody may take it for the base's tip.
func (pr pulls) recordBase(i *Issue) {
	if sha := pr.git.branchSHA(i.repo, i.Pull.BaseRef); sha != "" {
		i.Pull.BaseSHA = sha
	}
}

// crossRepository tells whether the head is in a fork.
func (pr pulls) crossRepository(i *Issue) bool { return i.Pull.HeadRepo != i.repo.ID }

// files are the changed files of a pull request: from the merge base of base and head to the head.
func (pr pulls) files(i *Issue) ([]*fileChange, error) {
	return pr.git.threeDot(i.repo, pr.baseSHA(i), pr.headSHA(i))
}

// threeDot lists what head changed since it left base.
func (g gitStore) threeDot(r *Repository, base, head string) ([]*fileChange, error) {
	from, err := g.mergeBase(r, base, head)
	if err != nil {
		return nil, err
	}
	return g.diff(r, from, head)
}

// commits are the commits of a pull request that its base does not have, oldest first.
func (pr pulls) commits(i *Issue) ([]string, error) {
	return pr.git.revList(i.repo, pr.baseSHA(i), pr.headSHA(i))
}

// mergeTree is the tree of head merged into base; clean is false on conflicts.
func (g gitStore) mergeTree(r *Repository, base, head string) (tree string, clean bool, err error) {
	tree, err = memo(g.core, fmt.Sprint("merge-tree ", r.ID, base, head), func() (string, error) {
		out, err := g.run(r, "merge-tree", "--write-tree", "--allow-unrelated-histories", base, head)
		if exitCode(err) == 1 {
			return "", nil
		}
		if err != nil {
			return "", fmt.Errorf("merge trees: %w", err)
		}
		return out, nil
	})
	return tree, tree != "", err
}

// comparison is what GitHub's compare API says of two commits.
type comparison struct {
	Status            string // identical, ahead, behind or diverged: head as seen from base
	AheadBy, BehindBy int
	MergeBase         string
	Commits           []string // in head and not in base, oldest first
}

// compare relates two commits. Unrelated histories have no merge base: GitHub answers 404 for them, we an error.
func (pr pulls) compare(r *Repository, base, head string) (*comparison, error) {
	mb, err := pr.git.mergeBase(r, base, head)
	if err != nil {
		return nil, err
	}
	if mb == "" {
		return nil, fmt.Errorf("no common ancestor between %s and %s", base, head)
	}
	ahead, err := pr.git.revList(r, base, head)
	if err != nil {
		return nil, err
	}
	behind, err := pr.git.revList(r, head, base)
	if err != nil {
		return nil, err
	}
	c := &comparison{AheadBy: len(ahead), BehindBy: len(behind), MergeBase: mb, Commits: ahead}
	switch {
	case base == head:
		c.Status = "identical"
	case c.AheadBy > 0 && c.BehindBy > 0:
		c.Status = "diverged"
	case c.AheadBy > 0:
		c.Status = "ahead"
	default:
		c.Status = "behind"
	}
	return c, nil
}

// diffHunk is the hunk that a review comment stands on, down to its line, and the position of that line.
func (pr pulls) diffHunk(c *ReviewComment) (string, int) {
	if c.GivenHunk != "" {
		return c.GivenHunk, max(0, strings.Count(c.GivenHunk, "\n"))
	}
	files, err := pr.git.threeDot(c.issue.repo, c.OriginalBase, c.OriginalCommit)
	f := changeOf(files, c.Path)
	if err != nil || f == nil {
		return "", 0
	}
	if c.SubjectType == "file" {
		if len(f.hunks) == 0 {
			return "", 0
		}
		return f.hunks[0].header + "\n" + strings.Join(f.hunks[0].lines, "\n"), 0
	}
	spot, _ := f.spot(c.Side, c.OriginalLine)
	return spot.hunk, spot.position
}

// currentLine says where a review comment stands in the pull request's diff of today. A line or start of 0 means none;
// outdated is set when the line it was about is no longer in the diff.
func (pr pulls) currentLine(c *ReviewComment) (line, start, position int, outdated bool) {
	head := pr.headSHA(c.issue)
	files, err := pr.git.threeDot(c.issue.repo, pr.baseSHA(c.issue), head)
	if err != nil {
		return 0, 0, 0, true
	}
	if c.SubjectType == "file" {
		return 0, 0, 0, changeOf(files, c.Path) == nil
	}
	path, line, ok := pr.followLine(c, c.OriginalLine, c.Side)
	f := changeOf(files, path)
	if !ok || f == nil {
		return 0, 0, 0, true
	}
	spot, ok := f.spot(c.Side, line)
	if !ok {
		return 0, 0, 0, true
	}
	if c.OriginalStartLine > 0 {
		side := c.StartSide
		if side == "" {
			side = c.Side
		}
		if _, start, ok = pr.followLine(c, c.OriginalStartLine, side); !ok {
			return 0, 0, 0, true
		}
	}
	return line, start, spot.position, false
}

// followLine finds a line of the commented diff in the files of today.
func (pr pulls) followLine(c *ReviewComment, line int, side string) (path string, now int, ok bool) {
	r := c.issue.repo
	from, to := c.OriginalCommit, pr.headSHA(c.issue)
	if side == "LEFT" {
		var err1, err2 error
		from, err1 = pr.git.mergeBase(r, c.OriginalBase, c.OriginalCommit)
		to, err2 = pr.git.mergeBase(r, pr.baseSHA(c.issue), to)
		if err1 != nil || err2 != nil {
			return "", 0, false
		}
	}
	if from == to {
		return c.Path, line, true
	}
	files, err := pr.git.diff(r, from, to)
	if err != nil {
		return "", 0, false
	}
	for _, f := range files {
		if f.OldPath != c.Path {
			continue
		}
		if f.Status == "removed" || f.Binary {
			return "", 0, false
		}
		now, ok = f.follow(line)
		if side == "LEFT" { // the path of a comment is that of the new file, on either side
			return c.Path, now, ok
		}
		return f.Path, now, ok
	}
	return c.Path, line, true
}

// blob reads a file of a commit. ok is false when there is none.
func (g gitStore) blob(r *Repository, rev, path string) (sha string, data []byte, ok bool) {
	if rev == "" {
		return "", nil, false
	}
	sha, err := memo(g.core, fmt.Sprint("path ", r.ID, rev, ":", path), func() (string, error) {
		found, err := g.objects(r).find(rev + ":" + path)
		return found.sha, err
	})
	if err != nil {
		return "", nil, false
	}
	data, err = memo(g.core, fmt.Sprint("blob ", r.ID, sha), func() ([]byte, error) {
		found, data, err := g.objects(r).read(sha)
		if err == nil && found.kind != "blob" {
			err = errNoObject
		}
		return data, err
	})
	return sha, data, err == nil
}

// closing finds what GitHub takes for a link between a pull request and the issue it closes:
// https://docs.github.com/en/issues/tracking-your-work-with-issues/using-issues/linking-a-pull-request-to-an-issue
var closing = regexp.MustCompile(`(?i)\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):?\s+(?:([\w.-]+/[\w.-]+))?#(\d+)\b`)

// closingIssues are the issues of the same repository that merging the pull request closes. Only pull requests against the default branch close any.
func (pr pulls) closingIssues(i *Issue) []*Issue {
	if i.Pull == nil || i.Pull.BaseRef != i.repo.DefaultBranch {
		return nil
	}
	var found []*Issue
	seen := map[int]bool{}
	for _, m := range closing.FindAllStringSubmatch(i.Body, -1) {
		n, err := strconv.Atoi(m[2])
		if err != nil || seen[n] || m[1] != "" && !strings.EqualFold(m[1], i.repo.FullName()) {
			continue
		}
		if other := i.repo.Issues[n]; other != nil && other.Pull == nil {
			seen[n] = true
			found = append(found, other)
		}
	}
	return found
}

// reviewCommentsOf are the comments of one review, oldest first.
func (p *Pull) reviewCommentsOf(review int64) []*ReviewComment {
	var cs []*ReviewComment
	for _, c := range p.ReviewComments {
		if c.ReviewID == review {
			cs = append(cs, c)
		}
	}
	return cs
}

// The web addresses of things, as GitHub writes them. i may be an issue or a pull request.

func (a addresses) repository(r *Repository) string { return a.origin + "/" + r.FullName() }

func (a addresses) issue(i *Issue) string {
	kind := "issues"
	if i.Pull != nil {
		kind = "pull"
	}
	return fmt.Sprintf("%s/%s/%d", a.repository(i.repo), kind, i.Number)
}

func (a addresses) comment(c *Comment) string {
	return fmt.Sprintf("%s#issuecomment-%d", a.issue(c.issue), c.ID)
}

func (a addresses) review(r *Review) string {
	return fmt.Sprintf("%s#pullrequestreview-%d", a.issue(r.issue), r.ID)
}

func (a addresses) reviewComment(c *ReviewComment) string {
	return fmt.Sprintf("%s#discussion_r%d", a.issue(c.issue), c.ID)
}
