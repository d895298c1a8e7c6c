package pages

import (
	"cmp"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The parts of the API's answers that pages show.
type (
	user struct {
		Login string `json:"login"`
	}
	label struct {
		Name  string `json:"name"`
		Color string `json:"color"`
	}
	end struct {
		Ref  string `json:"ref"`
		SHA  string `json:"sha"`
		Repo *struct {
			FullName string `json:"full_name"`
		} `json:"repo"`
	}
	issueJSON struct {
		Number    int       `json:"number"`
		Title     string    `json:"title"`
		State     string    `json:"state"`
		Body      string    `json:"body"`
		User      user      `json:"user"`
		Labels    []label   `json:"labels"`
		Comments  int       `json:"comments"`
		CreatedAt time.Time `json:"created_at"`
		Draft     bool      `json:"draft"`
		Pull      *struct {
			MergedAt *time.Time `json:"merged_at"`
		} `json:"pull_request"`
	}
	pullJSON struct {
		Head           end        `json:"head"`
		Base           end        `json:"base"`
		MergedAt       *time.Time `json:"merged_at"`
		MergedBy       *user      `json:"merged_by"`
		MergeCommit    string     `json:"merge_commit_sha"`
		Mergeable      *bool      `json:"mergeable"`
		MergeableState string     `json:"mergeable_state"`
		Commits        int        `json:"commits"`
		ChangedFiles   int        `json:"changed_files"`
		Additions      int        `json:"additions"`
		Deletions      int        `json:"deletions"`
	}
	commentJSON struct {
		ID          int64     `json:"id"`
		Body        string    `json:"body"`
		User        user      `json:"user"`
		CreatedAt   time.Time `json:"created_at"`
		Association string    `json:"author_association"`
	}
	reviewJSON struct {
		commentJSON
		State       string    `json:"state"`
		SubmittedAt time.Time `json:"submitted_at"`
		CommitID    string    `json:"commit_id"`
	}
	reviewCommentJSON struct {
		commentJSON
		ReviewID     int64  `json:"pull_request_review_id"`
		ReplyTo      int64  `json:"in_reply_to_id"`
		Path         string `json:"path"`
		Side         string `json:"side"`
		Line         int    `json:"line"`
		StartLine    int    `json:"start_line"`
		OriginalLine int    `json:"original_line"`
		DiffHunk     string `json:"diff_hunk"`
	}
)

// post is something that somebody said.
type post struct {
	ID     string // of the element, as in html_url
	By     string
	At     time.Time
	What   string // "commented", "approved these changes"
	State  string // of a review, in lower case; empty: none
	Role   string // author_association, where it says something
	Text   template.HTML
	Bodies bool // there is a text
	Rounds []*discussion
	Reader bool // MergeXO acts on nothing of who wrote this
	Merge  *end // nobody said anything: this commit was merged

	made int64 // ids are given in the order of time
}

// discussion is a review thread.
type discussion struct {
	Number   int // of the pull request
	First    int64
	Path     string
	Line     int
	Side     string
	Outdated bool
	Resolved bool
	Hunk     []row
	Posts    []post
	Frame    *page // for the box to reply
}

// head is what the top of an issue or of a pull request shows.
type head struct {
	issueJSON
	Kind  string // issues or pull
	Look  string // open, closed, merged or draft
	Pull  *pullJSON
	Tab   string
	Posts []post
	Files []file
	List  []commitJSON
	Free  []label // that it does not have
	Mine  bool
	Frame *page
}

func (v *view) number() (int, error) {
	n, err := strconv.Atoi(v.r.PathValue("number"))
	if err != nil || n <= 0 {
		return 0, errMissing
	}
	return n, nil
}

func (v *view) post(id string, c commentJSON, what string) post {
	p := post{ID: id, By: c.User.Login, At: c.CreatedAt, What: what, Text: v.markdown(c.Body), Bodies: c.Body != "", Reader: v.readers[c.User.Login], made: c.ID}
	if c.Association != "NONE" {
		p.Role = words(c.Association)
	}
	return p
}

// head reads an issue or a pull request. The address of the other kind leads to it, as on GitHub.
func (v *view) head(kind string) (*head, error) {
	n, err := v.number()
	if err != nil {
		return nil, err
	}
	people, err := v.people()
	if err != nil {
		return nil, err
	}
	v.readers = map[string]bool{}
	for _, one := range people {
		v.readers[one.Login] = v.Events != nil && slices.Index(roles, one.Role) < slices.Index(roles, "write")
	}
	h := &head{Kind: "issues"}
	if err := v.get(fmt.Sprintf("/issues/%d", n), &h.issueJSON); err != nil {
		return nil, err
	}
	if h.issueJSON.Pull != nil {
		h.Kind = "pull"
	}
	if h.Kind != kind {
		to := url.URL{Path: fmt.Sprintf("/%s/%s/%d", v.repo, h.Kind, n), RawQuery: v.r.URL.RawQuery}
		return nil, &redirect{to.String()}
	}
	if h.Look = h.State; h.issueJSON.Pull != nil {
		h.Pull = &pullJSON{}
		if err := v.get(fmt.Sprintf("/pulls/%d", n), h.Pull); err != nil {
			return nil, err
		}
		h.Look = looks(h.issueJSON)
	}
	all, err := v.labels()
	h.Free = slices.DeleteFunc(all, func(l label) bool {
		return slices.ContainsFunc(h.Labels, func(has label) bool { return has.Name == l.Name })
	})
	return h, err
}

// labels are the repository's. Those of MergeXO's flows come first.
func (v *view) labels() ([]label, error) {
	all, err := list[label](v, "/labels")
	other := func(l label) int {
		if strings.HasPrefix(l.Name, "agent:") {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(all, func(a, b label) int { return other(a) - other(b) })
	return all, err
}

// looks is the state of an issue or of a pull request in one word.
func looks(i issueJSON) string {
	switch {
	case i.Pull != nil && i.Pull.MergedAt != nil:
		return "merged"
	case i.State == "open" && i.Draft:
		return "draft"
	}
	return i.State
}

func (v *view) page(h *head, tab string) *page {
	h.Tab = tab
	p := &page{Title: fmt.Sprintf("%s · #%d", h.Title, h.Number), Tab: "issues", Body: h}
	if h.Kind == "pull" {
		p.Tab = "pulls"
	}
	h.Frame = p
	for _, one := range h.Posts {
		for _, d := range one.Rounds {
			d.Frame = p
		}
	}
	return p
}

func issue(v *view) (*page, string, error) {
	h, err := v.head("issues")
	if err != nil {
		return nil, "", err
	}
	h.Posts, err = v.said(h)
	return v.page(h, "conversation"), "thread", err
}

func conversation(v *view) (*page, string, error) {
	h, err := v.head("pull")
	if err != nil {
		return nil, "", err
	}
	if h.Posts, err = v.said(h); err != nil {
		return nil, "", err
	}
	reviews, err := v.reviews(h.Number)
	if err != nil {
		return nil, "", err
	}
	h.Posts = append(h.Posts, reviews...)
	slices.SortStableFunc(h.Posts[1:], func(a, b post) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.made, b.made)) })
	if p := h.Pull; p.MergedAt != nil && p.MergedBy != nil {
		h.merged(post{By: p.MergedBy.Login, At: *p.MergedAt, Merge: &end{Ref: p.Base.Ref, SHA: p.MergeCommit}})
	}
	return v.page(h, "conversation"), "thread", nil
}

// merged puts the merge below what people said until then. Of the same second it is above what MergeXO said, who tells of it.
func (h *head) merged(by post) {
	at := len(h.Posts)
	for at > 1 && (h.Posts[at-1].At.After(by.At) || h.Posts[at-1].At.Equal(by.At) && h.Posts[at-1].By == by.By) {
		at--
	}
	h.Posts = slices.Insert(h.Posts, at, by)
}

// said are the opening text and the comments.
func (v *view) said(h *head) ([]post, error) {
	first := commentJSON{Body: h.Body, User: h.User, CreatedAt: h.CreatedAt, Association: "NONE"}
	posts := []post{v.post(fmt.Sprintf("issue-%d", h.Number), first, "opened this")}
	posts[0].Reader = false // who adds a label counts, not who wrote
	comments, err := list[commentJSON](v, fmt.Sprintf("/issues/%d/comments", h.Number))
	for _, c := range comments {
		posts = append(posts, v.post(fmt.Sprintf("issuecomment-%d", c.ID), c, "commented"))
	}
	return posts, err
}

// verdicts are what people do by a review.
var verdicts = map[string]string{"APPROVED": "approved these changes", "CHANGES_REQUESTED": "requested changes", "COMMENTED": "reviewed", "DISMISSED": "reviewed; this review was dismissed"}

// reviews are those with a word of their own, each with the threads that it began.
func (v *view) reviews(number int) ([]post, error) {
	all, err := list[reviewJSON](v, fmt.Sprintf("/pulls/%d/reviews", number))
	if err != nil {
		return nil, err
	}
	rounds, err := v.discussions(number)
	if err != nil {
		return nil, err
	}
	var posts []post
	for _, r := range all {
		r.CreatedAt = r.SubmittedAt
		one := v.post(fmt.Sprintf("pullrequestreview-%d", r.ID), r.commentJSON, verdicts[r.State])
		one.State, one.Rounds = words(r.State), rounds[r.ID]
		if one.Bodies || len(one.Rounds) > 0 || r.State != "COMMENTED" {
			posts = append(posts, one)
		}
	}
	return posts, nil
}

// discussions are the review threads of a pull request, by the review that began them.
func (v *view) discussions(number int) (map[int64][]*discussion, error) {
	comments, err := list[reviewCommentJSON](v, fmt.Sprintf("/pulls/%d/comments", number))
	if err != nil {
		return nil, err
	}
	resolved, err := v.resolved(number)
	if err != nil {
		return nil, err
	}
	byReview, byFirst := map[int64][]*discussion{}, map[int64]*discussion{}
	for _, c := range comments {
		d := byFirst[c.ReplyTo]
		if d == nil {
			d = &discussion{Number: number, First: c.ID, Path: c.Path, Line: cmp.Or(c.Line, c.OriginalLine), Side: c.Side, Outdated: c.Line == 0 && c.OriginalLine != 0, Resolved: resolved[c.ID]}
			if d.Hunk = patch(c.DiffHunk); len(d.Hunk) > 5 {
				d.Hunk = d.Hunk[len(d.Hunk)-5:]
			}
			byFirst[c.ID] = d
			byReview[c.ReviewID] = append(byReview[c.ReviewID], d)
		}
		d.Posts = append(d.Posts, v.post(fmt.Sprintf("discussion_r%d", c.ID), c.commentJSON, "commented"))
	}
	return byReview, nil
}

// resolved are the threads that are, by their first comments. Only GraphQL tells: https://docs.github.com/graphql/reference/objects#pullrequestreviewthread
func (v *view) resolved(number int) (map[int64]bool, error) {
	owner, name := v.r.PathValue("owner"), v.r.PathValue("repo")
	query := `query($o:String!,$r:String!,$n:Int!){repository(owner:$o,name:$r){pullRequest(number:$n){reviewThreads(first:100){nodes{isResolved comments(first:1){nodes{fullDatabaseId}}}}}}}`
	var out struct {
		Data struct {
			Repository struct {
				PullRequest struct {
					ReviewThreads struct {
						Nodes []struct {
							IsResolved bool
							Comments   struct {
								Nodes []struct{ FullDatabaseID json.Number }
							}
						}
					}
				}
			}
		}
	}
	in := map[string]any{"query": query, "variables": map[string]any{"o": owner, "r": name, "n": number}}
	if err := v.call(v.r.Context(), v.Reader, http.MethodPost, "/api/graphql", in, &out); err != nil {
		return nil, err
	}
	is := map[int64]bool{}
	for _, t := range out.Data.Repository.PullRequest.ReviewThreads.Nodes {
		for _, c := range t.Comments.Nodes {
			if id, err := c.FullDatabaseID.Int64(); err == nil {
				is[id] = t.IsResolved
			}
		}
	}
	return is, nil
}
