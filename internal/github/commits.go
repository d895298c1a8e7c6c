package github

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	gogithub "github.com/google/go-github/v60/github"

	"github.com/mergexo/mergexo/internal/model"
)

// Compare says how head stands to base, by GitHub's own history. Commits that it does not have are Unknown; commits
// without a common ancestor, which it also answers with 404, are Diverged.
// https://docs.github.com/rest/commits/commits#compare-two-commits
func (c Commits) Compare(ctx context.Context, repo model.Repo, base, head string) (model.Relation, error) {
	relation, _, err := c.compare(ctx, repo, base, head, "?per_page=1")
	return relation, err
}

// Lost says how later stands to earlier, as Compare does, and in the same request which commits earlier has and later
// does not: the newest of them, oldest first, at most most and never more than GitHub's 250, and whether there are more.
// Where GitHub does not know both commits nothing is known to be lost.
func (c Commits) Lost(ctx context.Context, repo model.Repo, earlier, later string, most int) (relation model.Relation, lost []model.Commit, more bool, err error) {
	// GitHub lists what the head of a comparison has over its base, and so earlier is the head here. Without a page size
	// it gives the newest 250.
	relation, compared, err := c.compare(ctx, repo, later, earlier, "")
	if err != nil || compared == nil {
		return relation, nil, relation == model.Diverged, err // with nothing in common all of it is lost
	}
	switch relation {
	case model.Ahead:
		relation = model.Behind
	case model.Behind:
		relation = model.Ahead
	}
	commits := compared.Commits[max(0, len(compared.Commits)-most):]
	more = compared.GetTotalCommits() > len(commits)
	for _, commit := range commits {
		subject, _, _ := strings.Cut(commit.GetCommit().GetMessage(), "\n")
		lost = append(lost, model.Commit{SHA: commit.GetSHA(), Subject: subject, Author: commit.GetCommit().GetAuthor().GetName()})
	}
	return relation, lost, more, nil
}

// compare asks for a comparison, which is nil where there is none.
func (c Commits) compare(ctx context.Context, repo model.Repo, base, head, query string) (model.Relation, *gogithub.CommitsComparison, error) {
	op := fmt.Sprintf("compare %s with %s in %s", short(base), short(head), repo)
	var compared gogithub.CommitsComparison
	err := c.read(ctx, op, repo, fmt.Sprintf("compare/%s...%s%s", url.QueryEscape(base), url.QueryEscape(head), query), &compared)
	switch {
	case KindOf(err) == NotFound && strings.Contains(strings.ToLower(err.Error()), "no common ancestor"):
		return model.Diverged, nil, nil
	case err != nil:
		return model.Unknown, nil, unless(err, NotFound)
	}
	switch r := model.Relation(compared.GetStatus()); r {
	case model.Identical, model.Ahead, model.Behind, model.Diverged:
		return r, &compared, nil
	}
	return model.Unknown, nil, nil
}

// Resolve is the full name of the commit that a name of 7 to 40 hexadecimal digits begins. NotFound means that
// GitHub finds none, or several: it looks in the forks too, and says 422 "No commit found for SHA" of either. Invalid is
// what no commit can be called, what GitHub itself calls ambiguous, and what names a branch or a tag instead.
// https://docs.github.com/rest/commits/commits#get-a-commit
func (c Commits) Resolve(ctx context.Context, repo model.Repo, prefix string) (string, error) {
	prefix = strings.ToLower(prefix)
	op := fmt.Sprintf("find commit %s in %s", short(prefix), repo)
	if err := c.check(op, repo); err != nil {
		return "", err
	}
	if len(prefix) < 7 || len(prefix) > 40 || strings.Trim(prefix, "0123456789abcdef") != "" {
		return "", &Error{Kind: Invalid, Op: op, Message: "want 7 to 40 hexadecimal digits"}
	}
	sha, err := c.commitSHA(ctx, repo, prefix)
	if err != nil {
		e := c.fail(op, err)
		empty := e.Status == http.StatusConflict // a repository without commits
		if empty || e.Status == http.StatusUnprocessableEntity && strings.Contains(e.Message, "No commit found") {
			e.Kind, e.Message, e.Fix = NotFound, "there is no such commit, or more than one", "give all 40 digits"
		}
		return "", e
	}
	if !strings.HasPrefix(sha, prefix) || len(sha) != 40 {
		return "", &Error{Kind: Invalid, Op: op, Message: prefix + " names a branch or a tag", Fix: "give all 40 digits"}
	}
	return sha, nil
}

// mostSays is how many characters the description of a status holds.
const mostSays = 140

// Report sets the status of a commit under a name. The newest of a name counts.
// https://docs.github.com/rest/commits/statuses#create-a-commit-status
func (c Commits) Report(ctx context.Context, repo model.Repo, sha, name string, passed bool, says string) error {
	op := fmt.Sprintf("report %s on %s of %s", oneLine(name), short(sha), repo)
	state := "success"
	if !passed {
		state = "failure"
	}
	if r := []rune(oneLine(says)); len(r) > mostSays {
		says = string(r[:mostSays-1]) + "…"
	}
	in := map[string]string{"state": state, "context": name, "description": oneLine(says)}
	return c.write(ctx, op, repo, http.MethodPost, "statuses/"+sha, in, nil)
}
