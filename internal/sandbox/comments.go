package sandbox

import (
	"net/http"
	"slices"
	"time"
)

var commentRoutes = []route{
	{"GET /repos/{owner}/{repo}/issues/{number}/comments", needRead, readsIssue, listIssueComments},
	{"POST /repos/{owner}/{repo}/issues/{number}/comments", needComment, writesIssue, withBody(createComment)},
	{"GET /repos/{owner}/{repo}/issues/comments", needRead, readsIssue, listAllComments},
	{"GET /repos/{owner}/{repo}/issues/comments/{id}", needRead, readsIssue, withComment(func(q *request, c *Comment) (any, error) { return q.s.json.comment(c), nil })},
	{"PATCH /repos/{owner}/{repo}/issues/comments/{id}", needComment, writesIssue, withComment(andBody(patchComment))},
	{"DELETE /repos/{owner}/{repo}/issues/comments/{id}", needComment, writesIssue, withComment(deleteComment)},
}

var reactionRoutes = []route{
	{"GET /repos/{owner}/{repo}/issues/{number}/reactions", needRead, readsIssue, func(q *request) (any, error) { return listReactions(q, &q.issue.Post) }},
	{"POST /repos/{owner}/{repo}/issues/{number}/reactions", needComment, writesIssue, func(q *request) (any, error) { return addReaction(q, &q.issue.Post) }},
	{"GET /repos/{owner}/{repo}/issues/comments/{id}/reactions", needRead, readsIssue, withComment(func(q *request, c *Comment) (any, error) { return listReactions(q, &c.Post) })},
	{"POST /repos/{owner}/{repo}/issues/comments/{id}/reactions", needComment, writesIssue, withComment(func(q *request, c *Comment) (any, error) { return addReaction(q, &c.Post) })},
	{"GET /repos/{owner}/{repo}/pulls/comments/{id}/reactions", needRead, "pull_requests=read", withReviewComment(func(q *request, c *ReviewComment) (any, error) { return listReactions(q, &c.Post) })},
	{"POST /repos/{owner}/{repo}/pulls/comments/{id}/reactions", needComment, "pull_requests=write", withReviewComment(func(q *request, c *ReviewComment) (any, error) { return addReaction(q, &c.Post) })},
	{"DELETE /repos/{owner}/{repo}/issues/comments/{id}/reactions/{reaction}", needComment, writesIssue, withComment(func(q *request, c *Comment) (any, error) { return deleteReaction(q, &c.Post) })},
	{"DELETE /repos/{owner}/{repo}/pulls/comments/{id}/reactions/{reaction}", needComment, "pull_requests=write", withReviewComment(func(q *request, c *ReviewComment) (any, error) { return deleteReaction(q, &c.Post) })},
	{"DELETE /repos/{owner}/{repo}/issues/{number}/reactions/{reaction}", needComment, writesIssue, func(q *request) (any, error) { return deleteReaction(q, &q.issue.Post) }},
}

// withComment finds the issue comment of {id} in the repository.
func withComment(serve func(*request, *Comment) (any, error)) func(*request) (any, error) {
	return func(q *request) (any, error) {
		id, err := q.int64Value("id")
		if err != nil {
			return nil, err
		}
		c := q.s.comments[id]
		if c == nil || c.issue.repo != q.repo {
			return nil, errNotFound
		}
		return serve(q, c)
	}
}

// listIssueComments is in the order of creation, always:
// https://docs.github.com/en/rest/issues/comments#list-issue-comments
func listIssueComments(q *request) (any, error) {
	since, err := q.since()
	if err != nil {
		return nil, err
	}
	cs := q.issue.Comments
	if !since.IsZero() {
		cs = slices.DeleteFunc(slices.Clone(cs), func(c *Comment) bool { return c.UpdatedAt.Before(since) })
	}
	return paginate(q, cs, q.s.json.comment), nil
}

// listAllComments is in the order of ids unless sort is given; direction only counts with sort.
func listAllComments(q *request) (any, error) {
	since, err := q.since()
	if err != nil {
		return nil, err
	}
	var cs []*Comment
	for _, i := range q.repo.Issues {
		for _, c := range i.Comments {
			if !c.UpdatedAt.Before(since) {
				cs = append(cs, c)
			}
		}
	}
	slices.SortFunc(cs, func(a, b *Comment) int { return int(a.ID - b.ID) })
	if q.query("sort") != "" {
		sorted(q, cs, "desc", func(c *Comment) time.Time { return c.CreatedAt }, func(c *Comment) time.Time { return c.UpdatedAt })
	}
	return paginate(q, cs, q.s.json.comment), nil
}

func createComment(q *request, in struct{ Body string }) (any, error) {
	if err := checkBody("IssueComment", in.Body, false); err != nil {
		return nil, err
	}
	if err := mayComment(q, q.issue); err != nil {
		return nil, err
	}
	c := q.s.world.addComment(q.issue, q.s.world.nextID(), q.user.Login, in.Body, q.s.world.now())
	q.s.hooks.comment(c, "created", q.user, nil)
	return &reply{http.StatusCreated, q.s.json.comment(c)}, nil
}

func (w world) addComment(i *Issue, id int64, author, body string, at time.Time) *Comment {
	c := &Comment{Post: Post{ID: id, Author: author, Body: body, CreatedAt: at, UpdatedAt: at}, issue: i}
	i.Comments = append(i.Comments, c)
	i.UpdatedAt = at
	w.comments[c.ID] = c
	w.changed()
	return c
}

func patchComment(q *request, c *Comment, in struct{ Body string }) (any, error) {
	if err := mayEdit(q, &c.Post); err != nil {
		return nil, err
	}
	if err := checkBody("IssueComment", in.Body, false); err != nil {
		return nil, err
	}
	from := c.Body
	if q.s.world.edit(&c.Post, q.user, in.Body) {
		q.s.hooks.comment(c, "edited", q.user, bodyChange(from))
	}
	return q.s.json.comment(c), nil
}

func deleteComment(q *request, c *Comment) (any, error) {
	if err := mayEdit(q, &c.Post); err != nil {
		return nil, err
	}
	c.issue.Comments = slices.DeleteFunc(c.issue.Comments, func(o *Comment) bool { return o == c })
	delete(q.s.comments, c.ID)
	c.issue.UpdatedAt = q.s.world.now()
	if q.user.Login != c.Author { // who deletes a comment of their own leaves no trace
		c.issue.Deletions = append(c.issue.Deletions, &Deletion{q.s.world.nextID(), c.Author, q.user.Login, c.issue.UpdatedAt})
	}
	q.s.world.changed()
	q.s.hooks.comment(c, "deleted", q.user, nil)
	return &reply{status: http.StatusNoContent}, nil
}

func listReactions(q *request, p *Post) (any, error) {
	rs := p.Reactions
	if want := q.query("content"); want != "" {
		rs = slices.DeleteFunc(slices.Clone(rs), func(r *Reaction) bool { return r.Content != want })
	}
	return paginate(q, rs, q.s.json.reaction), nil
}

// addReaction is 201, or 200 when the caller has reacted so before. It sends no webhook, as on GitHub.
func addReaction(q *request, p *Post) (any, error) {
	var in struct{ Content string }
	if err := q.decode(&in); err != nil {
		return nil, err
	}
	if !slices.Contains(reactionContents, in.Content) {
		return nil, invalid("Reaction", "content", "invalid")
	}
	for _, r := range p.Reactions {
		if r.User == q.user.Login && r.Content == in.Content {
			return q.s.json.reaction(r), nil
		}
	}
	r := &Reaction{ID: q.s.world.nextID(), User: q.user.Login, Content: in.Content, CreatedAt: q.s.world.now()}
	p.Reactions = append(p.Reactions, r)
	q.s.world.changed()
	return &reply{http.StatusCreated, q.s.json.reaction(r)}, nil
}

func deleteReaction(q *request, p *Post) (any, error) {
	id, err := q.int64Value("reaction")
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(p.Reactions, func(r *Reaction) bool { return r.ID == id && r.User == q.user.Login })
	if at < 0 {
		return nil, errNotFound
	}
	p.Reactions = slices.Delete(p.Reactions, at, at+1)
	return q.changed()
}
