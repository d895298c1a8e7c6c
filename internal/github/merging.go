package github

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/mergexo/mergexo/internal/model"
)

const (
	// firstPause is how long Await waits before it asks again; it doubles up to longestPause.
	firstPause   = 250 * time.Millisecond
	longestPause = 5 * time.Second
	// mostLooks is how often Await asks at most, however long its limit is.
	mostLooks = 10
)

// Now reads how a pull request stands, and nothing else of it. A number that is not there is NotFound.
func (c Pulls) Now(ctx context.Context, repo model.Repo, number int) (model.PullNow, error) {
	now, _, err := c.Await(ctx, repo, number, 0, func(model.PullNow) bool { return true })
	return now, err
}

// AllNow is Now for several pull requests, 50 a request. A number that is not there is not in the map.
func (c Pulls) AllNow(ctx context.Context, repo model.Repo, numbers []int) (map[int]model.PullNow, error) {
	op := fmt.Sprintf("look at pull requests of %s", repo)
	if len(numbers) == 1 {
		op = fmt.Sprintf("look at %s#%d", repo, numbers[0])
	}
	out := map[int]model.PullNow{}
	err := askEach(ctx, c.conn, pullsNow, op, repo, numbers, func(number int, n *threadNode) {
		now := model.PullNow{State: model.PullState(n.State), HeadSHA: n.HeadRefOID, BaseRef: n.BaseRefName, Draft: n.IsDraft, Title: n.Title, Labels: names(n.Labels)}
		if now.State == model.PullMerged {
			now.MergeCommit = n.MergeCommit.OID
		}
		out[number] = now
	})
	return out, err
}

// Await is AwaitAll for one pull request. A number that is not there is NotFound.
func (c Pulls) Await(ctx context.Context, repo model.Repo, number int, limit time.Duration, done func(model.PullNow) bool) (now model.PullNow, ok bool, err error) {
	all, ok, err := c.AwaitAll(ctx, repo, []int{number}, limit, func(all map[int]model.PullNow) bool {
		now, there := all[number]
		return !there || done(now)
	})
	now, there := all[number]
	if err == nil && !there {
		err = question{op: fmt.Sprintf("look at %s#%d", repo, number), repo: repo, number: number}.absent()
	}
	return now, ok && err == nil, err
}

// AwaitAll looks at pull requests until done says so of all that there are, at once and then after pauses that double from
// 250 ms to 5 s, as long as their sum stays within limit and at most ten times. It gives what it saw last, and whether that is
// what was waited for.
func (c Pulls) AwaitAll(ctx context.Context, repo model.Repo, numbers []int, limit time.Duration, done func(map[int]model.PullNow) bool) (all map[int]model.PullNow, ok bool, err error) {
	pause := firstPause
	for looks := 1; ; looks++ {
		if all, err = c.AllNow(ctx, repo, numbers); err != nil {
			return all, false, err
		}
		if done(all) {
			return all, true, nil
		}
		if looks == mostLooks || pause > limit {
			return all, false, nil
		}
		if err := c.sleep(ctx, pause); err != nil {
			return all, false, &Error{Kind: Unavailable, Op: fmt.Sprintf("wait for pull requests of %s", repo), Message: c.line(err.Error()), Err: err}
		}
		limit -= pause
		pause = min(2*pause, longestPause)
	}
}

// MergeInput is how GitHub is to merge. SHA is the head that is meant; Method is merge, squash or rebase. An empty Title or
// Message leaves the words to GitHub.
type MergeInput struct {
	SHA     string `json:"sha"`
	Method  string `json:"merge_method,omitempty"`
	Title   string `json:"commit_title,omitempty"`
	Message string `json:"commit_message,omitempty"`
}

// Merge has GitHub merge a pull request, and gives the commit on the base. HeadMoved, BaseMoved and NotMergeable changed
// nothing; Unclear may have merged. https://docs.github.com/rest/pulls/pulls#merge-a-pull-request
func (c Pulls) Merge(ctx context.Context, repo model.Repo, number int, in MergeInput) (sha string, err error) {
	op := fmt.Sprintf("merge %s#%d", repo, number)
	if len(in.SHA) != 40 {
		return "", &Error{Kind: Invalid, Op: op, Message: "a merge needs all 40 digits of the head"}
	}
	var done struct{ SHA string }
	err = c.write(ctx, op, repo, http.MethodPut, fmt.Sprintf("pulls/%d/merge", number), in, &done)
	if err == nil && done.SHA == "" {
		err = unreadableWrite(op, "commit")
	}
	return done.SHA, explained(err, mergeRefusals...)
}

// mergeRefusals tell the meanings of the two statuses of the endpoint apart.
var mergeRefusals = []refusalRow{
	{status: http.StatusConflict, kind: HeadMoved},
	{status: http.StatusMethodNotAllowed, says: "base branch was modified", kind: BaseMoved},
	{status: http.StatusMethodNotAllowed, kind: NotMergeable},
}

// Close closes a pull request. One that is closed or merged stays as it is.
// https://docs.github.com/rest/pulls/pulls#update-a-pull-request
func (c Pulls) Close(ctx context.Context, repo model.Repo, number int) error {
	return c.edit(ctx, fmt.Sprintf("close %s#%d", repo, number), repo, number, "state", "closed")
}

// Retarget gives an open pull request another base.
// https://docs.github.com/rest/pulls/pulls#update-a-pull-request
func (c Pulls) Retarget(ctx context.Context, repo model.Repo, number int, base string) error {
	return c.edit(ctx, fmt.Sprintf("change the base of %s#%d to %s", repo, number, oneLine(base)), repo, number, "base", base)
}

func (c Pulls) edit(ctx context.Context, op string, repo model.Repo, number int, field, to string) error {
	return c.write(repeatable(ctx), op, repo, http.MethodPatch, fmt.Sprintf("pulls/%d", number), map[string]string{field: to}, nil)
}
