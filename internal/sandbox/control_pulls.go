package sandbox

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"
)

// maxPullsAtOnce bounds one request of setPulls.
const maxPullsAtOnce = 20_000

// pullsInput is the body of PUT /_sandbox/pulls.
type pullsInput struct {
	Repository, Base, Author, Label string
	Count                           int
	Branch                          string // of each; $NUMBER in it is replaced
	Body, Comment                   string // $NUMBER, $BRANCH and $HEAD in them are replaced; no Comment: none is made
	Commenter                       string
	Overlap                         int // every so manieth changes the same line of the same file; 0: none does
}

// setPulls opens many pull requests in one go, without telling webhooks: for trials of scale.
func setPulls(q *request) (any, error) {
	in := pullsInput{Author: actionsLogin, Commenter: actionsLogin, Branch: "agent/small/$NUMBER"}
	if err := q.decode(&in); err != nil {
		return nil, err
	}
	r, err := q.s.world.named(in.Repository)
	if err != nil {
		return nil, err
	}
	switch {
	case in.Count < 1 || in.Count > maxPullsAtOnce:
		return nil, unprocessable(fmt.Sprintf("count: want 1 to %d", maxPullsAtOnce))
	case in.Overlap < 0:
		return nil, unprocessable("overlap: want a number")
	case !strings.Contains(in.Branch, "$NUMBER"):
		return nil, unprocessable("branch: want $NUMBER in it")
	}
	d := &Seeder{s: q.s}
	first := r.LastNumber + 1
	if err := d.Pulls(r.FullName(), in.pulls(r, first)); err != nil {
		return nil, unprocessable(err.Error())
	}
	for n := first; n < first+in.Count; n++ { // the heads are known by now
		i := r.Issues[n]
		fill := strings.NewReplacer("$NUMBER", fmt.Sprint(n), "$BRANCH", i.Pull.HeadRef, "$HEAD", i.Pull.HeadSHA)
		i.Body = fill.Replace(i.Body)
		for _, c := range i.Comments {
			c.Body = fill.Replace(c.Body)
		}
	}
	q.s.world.changed()
	return &reply{http.StatusCreated, obj{"first": first, "last": first + in.Count - 1}}, nil
}

func (in *pullsInput) pulls(r *Repository, first int) []SeedPull {
	many := make([]SeedPull, 0, in.Count)
	for n := first; n < first+in.Count; n++ {
		p := SeedPull{
			Base: cmp.Or(in.Base, r.DefaultBranch), Head: strings.ReplaceAll(in.Branch, "$NUMBER", fmt.Sprint(n)),
			SeedIssue: SeedIssue{Number: n, Title: fmt.Sprintf("Change %d", n), Body: in.Body, Author: in.Author},
		}
		if in.Label != "" {
			p.Labels = []string{in.Label}
		}
		if in.Overlap > 0 && (n-first)%in.Overlap == 0 {
			p.Files = map[string]string{"changes/shared.txt": fmt.Sprintf("As %d has it.\n", n)}
		}
		if in.Comment != "" {
			p.Comments = []SeedComment{{Author: in.Commenter, Body: in.Comment}}
		}
		many = append(many, p)
	}
	return many
}

// resolveThreads has somebody, by default the owner, resolve the review threads that begin with these comments, for which REST has no call:
// https://docs.github.com/graphql/reference/mutations#resolvereviewthread
func resolveThreads(q *request, in struct {
	Comments []int64
	By       string
}) (any, error) {
	for _, id := range in.Comments {
		c := q.s.reviewComments[id]
		if c == nil || c.InReplyTo != 0 {
			return nil, unprocessable(fmt.Sprintf("comments: no thread begins with %d", id))
		}
		c.Resolved, c.ResolvedBy = true, cmp.Or(in.By, c.issue.repo.Owner)
	}
	return q.changed()
}
