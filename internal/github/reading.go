package github

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/mergexo/internal/model"
)

// reading collects the comments of one pull request or issue page by page, newest first, until what is left is settled.
type reading struct {
	oldestReview int64
	lowest       model.Comment // of the conversation: nothing below it was updated later
	q            Query
	of           model.Snapshot // without what was said
	said         map[said]model.Comment
	mark         model.Mark // what was settled at the end
	// threads holds side and resolution by the id of a thread's first comment.
	threads map[int64]reviewThreadNode

	conversation, reviews, threadPages cursor
	// threadsDue is how many threads are still to be read by requests of their own, and hasLines says that comments on lines were read.
	threadsDue int
	hasLines   bool
	// long are reviews with more comments than were read.
	long []*saidNode
}

// said names one comment: ids of different kinds may coincide.
type said struct {
	kind model.Kind
	id   int64
}

// cursor is how far one connection has been read.
type cursor struct {
	more   bool
	at     string
	oldest time.Time // nothing beyond it is newer; the zero time where nothing was read
}

func newReading(q Query, of model.Snapshot) *reading {
	return &reading{q: q, of: of, said: map[said]model.Comment{}, threads: map[int64]reviewThreadNode{}}
}

// comments are all that were read, each once, oldest first, with what their threads say about them.
func (r *reading) comments() []model.Comment {
	out := make([]model.Comment, 0, len(r.said))
	for _, c := range r.said {
		if c.Kind == model.KindReview {
			if t, ok := r.threads[c.Thread()]; ok {
				c.Resolved, c.ThreadNode, c.ResolvedBy = t.IsResolved, t.ID, t.ResolvedBy.Login
				if t.DiffSide != "" {
					c.Side, c.StartSide = t.DiffSide, t.StartDiffSide
				}
			}
		}
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b model.Comment) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Kind, b.Kind))
	})
	return out
}

// tell puts what was read into the snapshot.
func (r *reading) tell(snap *model.Snapshot) {
	snap.Comments, snap.CommentsComplete = r.comments(), !r.conversation.more && !r.reviews.more && len(r.long) == 0
	if r.conversation.more {
		snap.Floor = r.lowest.UpdatedAt
	}
	snap.ReviewsComplete = !r.reviews.more && (!r.threadPages.more || !r.hasLines) && len(r.long) == 0
	if r.reviews.more {
		snap.ReviewFloor = r.oldestReview
	}
	for _, l := range r.long {
		snap.LongReviews = append(snap.LongReviews, l.id())
	}
}

// take adds a page. asked is nil for the first one, which asks for everything.
func (r *reading) take(n *threadNode, asked *pageRequest) {
	if asked == nil || asked.comments {
		r.conversation.next(n.Comments.PageInfo)
		for _, node := range n.Comments.Nodes {
			c := node.comment(model.KindIssue)
			r.add(c)
			r.lowest = c
		}
	}
	if asked == nil || asked.reviews {
		r.reviews.back(n.Reviews.PageInfo)
		for i, review := range n.Reviews.Nodes {
			if i == 0 {
				r.reviews.oldest, r.oldestReview = review.CreatedAt, review.id()
			}
			r.takeReview(&review)
		}
	}
	if asked == nil || asked.threads {
		r.threadPages.back(n.ReviewThreads.PageInfo)
		for _, t := range n.ReviewThreads.Nodes {
			if len(t.Comments.Nodes) > 0 {
				r.threads[t.Comments.Nodes[0].id()] = t
			}
		}
	}
}

// step notes where the next page begins. A cursor that stands still ends the paging: it would never end otherwise.
func (c *cursor) step(more bool, at string) bool {
	c.more = more && at != "" && at != c.at
	c.at = at
	return c.more
}

// next goes on behind a page, and reports whether there is more.
func (c *cursor) next(p pageInfo) bool { return c.step(p.HasNextPage, p.EndCursor) }

// back goes on before a page of a list that is read from its end.
func (c *cursor) back(p pageInfo) { c.step(p.HasPreviousPage, p.StartCursor) }

// page are the variables of a document whose only list goes on here.
func (c *cursor) page(step int) map[string]any {
	return map[string]any{"page": pageLimits[step], "after": orNull(c.at)}
}

// takeReview adds a review, and remembers one whose comments go on beyond the page.
func (r *reading) takeReview(review *saidNode) {
	r.add(review.comments()...)
	if p := review.Comments.PageInfo; p.HasNextPage && p.EndCursor != "" && review.ReviewState != "PENDING" {
		r.long = append(r.long, review)
	}
}

// add keeps the newer reading of a comment that was read twice.
func (r *reading) add(comments ...model.Comment) {
	for _, c := range comments {
		if c.ID == 0 { // null in a list: an error elsewhere in the answer says why
			continue
		}
		key := said{c.Kind, c.ID}
		if c.Kind == model.KindReview {
			r.hasLines = true
		}
		if old, ok := r.said[key]; !ok || c.UpdatedAt.After(old.UpdatedAt) {
			r.said[key] = c
		}
	}
}

// of reports whether a comment that was asked for by its id belongs to the number that q is about. Of a comment on an issue only the
// address says so: https://HOST/OWNER/NAME/issues/7#issuecomment-5. It has a field issue, too, of which nobody says what it is for a
// comment on a pull request, and which may not be null.
func (n *saidNode) of(q Query) bool {
	if n == nil || !n.isIn(q.Repo) {
		return false
	}
	if pull := cmp.Or(n.PullRequest, n.ConversationOf); pull != nil {
		return pull.Number == q.Number
	}
	return n.Typename == "IssueComment" && strings.Contains(n.URL, fmt.Sprintf("/issues/%d#", q.Number))
}

// takeNode adds a comment that was asked for by its id.
func (r *reading) takeNode(n *saidNode) {
	if !n.of(r.q) {
		return
	}
	switch n.Typename {
	case "IssueComment":
		r.add(n.comment(model.KindIssue))
	case "PullRequestReview":
		r.takeReview(n)
	case "PullRequestReviewComment":
		review := cmp.Or(n.PullRequestReview, &saidNode{})
		r.add(review.comments()...)
		if c, ok := n.onLines(review); ok {
			r.add(c)
		}
	}
}

// pageRequest is what the next request has to ask for.
type pageRequest struct {
	comments, reviews, threads bool
	review                     *saidNode // of which further comments are wanted
}

// unplaced reports whether a thread that was not read yet has a comment on several lines. Only threads tell the side of the first.
func (r *reading) unplaced() bool {
	for _, c := range r.said {
		if _, read := r.threads[c.Thread()]; !read && c.OriginalStartLine != 0 && !r.mark.Settles(c) {
			return r.threadPages.more
		}
	}
	return false
}

// next decides what is still wanted: what may hold something that was updated at or after the settled time. Threads only
// come along with reviews, since they add to what was read and hide nothing, and for comments on several lines.
func (r *reading) next() (pageRequest, bool) {
	r.mark = model.Mark{}
	if r.q.Settled != nil {
		if mark, ok := r.q.Settled(r.of, r.comments()); ok {
			r.mark = mark
		}
	}
	p := pageRequest{
		comments: r.conversation.more && !r.mark.Settles(r.lowest),
		reviews:  r.reviews.more && (r.q.Reviews || !r.reviews.oldest.Before(r.mark.At)),
	}
	p.threads = r.threadPages.more && (p.reviews || r.q.Reviews) || r.unplaced()
	for i, l := range r.long {
		if r.q.Reviews || !l.submitted().Before(r.mark.At) {
			p.review = l
			r.long = append(r.long[:i:i], r.long[i+1:]...)
			break
		}
	}
	return p, p.comments || p.reviews || p.threads || p.review != nil
}

// readOn reads page after page until the rest is settled, and then what changed beyond that and first texts.
func (c Threads) readOn(ctx context.Context, op string, r *reading) error {
	edited := false
	for {
		if err := c.readThreads(ctx, op, r); err != nil {
			return err
		}
		p, ok := r.next()
		if !ok && !edited {
			if err := readEdited(ctx, c, op, r); err != nil {
				return err
			}
			edited, ok = true, r.unplaced()
			p.threads = ok
		}
		if !ok {
			return readPosted(ctx, c, op, r)
		}
		asksThreads := p.threads
		if err := c.page(ctx, op, r, &p, "thread", func(step int) pageSize {
			p.threads = asksThreads && step == 0
			return pageSizes[step]
		}); err != nil {
			return err
		}
		if asksThreads && !p.threads {
			r.threadsDue = fullPage.page
		}
	}
}

// readThreads reads the review threads that are due, the newest first, by requests of their own. Without comments on lines
// there is none.
func (c Threads) readThreads(ctx context.Context, op string, r *reading) error {
	if !r.hasLines {
		return nil
	}
	for r.threadsDue > 0 && r.threadPages.more {
		size := pageSize{reviews: 1}
		if err := c.page(ctx, op, r, &pageRequest{threads: true}, "review threads", func(step int) pageSize {
			size.page = min(r.threadsDue, pageLimits[step])
			return size
		}); err != nil {
			return err
		}
		r.threadsDue -= size.page
	}
	r.threadsDue = 0
	return nil
}

// page reads one page of what the request names when sized has chosen its size.
func (c Threads) page(ctx context.Context, op string, r *reading, p *pageRequest, pages string, sized func(int) pageSize) error {
	ours := question{op, documents["page"], r.q.Repo, r.q.Number, pages, tolerated}
	review := cmp.Or(p.review, &saidNode{})
	data, err := c.ask(ctx, ours, func(step int) map[string]any {
		size := sized(step)
		return map[string]any{
			"page": size.page, "reviews": size.reviews, "posted": true,
			"moreComments": p.comments, "commentsAfter": orNull(r.conversation.at),
			"moreReviews": p.reviews, "reviewsBefore": orNull(r.reviews.at),
			"moreThreads": p.threads, "threadsBefore": orNull(r.threadPages.at),
			"moreOfReview": p.review != nil, "review": review.ID, "reviewAfter": orNull(review.Comments.PageInfo.EndCursor),
		}
	})
	if err != nil {
		return err
	}
	r.take(data.Repository.IssueOrPullRequest, p)
	if data.Node != nil {
		r.takeReview(data.Node) // only its further comments were asked for
	}
	return nil
}

// orNull is null for an empty cursor, which GitHub would refuse.
func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}
