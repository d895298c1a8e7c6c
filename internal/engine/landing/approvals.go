package landing

import (
	"context"
	"maps"

	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/flow"
	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/git/merging"
	"github.com/mergexo/mergexo/internal/merge"
)

// own says that MergeXO opened the pull request.
func own(p *Request) bool {
	author := p.Snap.Pull.Author
	return author.ID != 0 && author.ID == p.Snap.Viewer.ID || thread.IsTrusted(p.Thread, author)
}

// starters are who had the agent begin the pull request: the author of its issue, and who put a label on that starts the agent.
func starters(p *Request) (logins []string) {
	issue := p.Snap.Pull.Issue
	if issue == nil || !own(p) {
		return nil
	}
	for _, c := range issue.LabelChanges {
		if _, _, starts := flow.Of([]string{c.Label}, thread.LabelsOf(p.Settings.Labels)); starts && c.On {
			logins = append(logins, c.By.Login)
		}
	}
	return append(logins, issue.Author.Login)
}

// readApprovals reads what else decides which approvals count: who pushed, and whether older heads hold the same change. Either may be the
// reason to ask for the other.
func readApprovals(ctx context.Context, p *Request, c *merge.Case) error {
	c.Unchanged = map[string]bool{}
	for range 2 {
		if merge.AsksPushes(*c) {
			if err := thread.ReadPushes(ctx, p.Thread); err != nil {
				return err
			}
			c.Pushes = p.Memory.Pushes
		}
		if stale := merge.Stale(*c); len(stale) > 0 {
			same, err := sameChange(ctx, p, stale)
			if err != nil {
				return err
			}
			maps.Copy(c.Unchanged, same)
		}
	}
	return nil
}

// sameChange tells of older heads whether they were approved for the same change as that of the head now.
func sameChange(ctx context.Context, p *Request, heads []string) (map[string]bool, error) {
	if err := p.Open(ctx); err != nil {
		return nil, err
	}
	div, err := history.FetchMergeBase(ctx, p.Checkout, p.Snap.Pull.BaseRef, thread.HeadRef(p.Thread))
	if err != nil {
		return nil, failureOf(err, "")
	}
	same := map[string]bool{}
	for _, sha := range heads {
		if err := history.FetchCommits(ctx, p.Checkout, sha); err != nil {
			if git.IsNoRef(err) { // nobody can say what was approved
				continue
			}
			return nil, err
		}
		if same[sha], err = merging.SameMerge(ctx, p.Checkout, div.BaseSHA, sha, div.HeadSHA); err != nil {
			return nil, err
		}
	}
	return same, nil
}
