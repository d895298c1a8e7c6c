package sandbox

import (
	"fmt"
	"net/http"
	"os"
	"slices"
)

// deleteRepository deletes for good. https://docs.github.com/en/rest/repos/repos#delete-a-repository
func deleteRepository(q *request) (any, error) {
	if q.user.Type == "Bot" {
		return nil, &failure{status: http.StatusForbidden, message: "Resource not accessible by integration"}
	}
	return &reply{status: http.StatusNoContent}, q.s.world.dropRepository(q.repo, q.user, true)
}

// controlDrop deletes a repository as its owner. ?leave_open=true leaves the pull requests that it is the head of open.
func controlDrop(q *request) (any, error) {
	r := q.s.world.repository(q.r.PathValue("owner"), q.r.PathValue("repo"))
	if r == nil {
		return nil, errNotFound
	}
	return &reply{status: http.StatusNoContent}, q.s.world.dropRepository(r, q.s.world.author(r.Owner), q.query("leave_open") != "true")
}

// dropRepository takes a repository away. Of a fork's pull requests the base has everything but the branch: refs/pull/N/head
// stays, and head.repo is null from then on. Open ones are closed (https://github.com/refined-github/sandbox/pull/129, of
// 2026), which they were not always: https://github.com/octocat/Hello-World/pull/1037 stayed open in 2021, and so may others.
func (w world) dropRepository(r *Repository, actor *User, closes bool) error {
	for _, base := range w.st.Repositories {
		for _, i := range base.openPulls() {
			if base == r || i.Pull.HeadRepo != r.ID {
				continue
			}
			i.Pull.HeadSHA, i.Pull.NewHead = w.pulls.headSHA(i), nil
			i.Pull.HeadRepo = 0
			if closes {
				w.pulls.close(i, actor)
			}
		}
	}
	for _, i := range r.Issues {
		w.forget(i)
	}
	w.st.Repositories = slices.DeleteFunc(w.st.Repositories, func(o *Repository) bool { return o == r })
	w.changed()
	w.git.objects(r).close()
	if err := os.RemoveAll(w.git.path(r)); err != nil {
		return fmt.Errorf("delete repository %s: %w", r.FullName(), err)
	}
	return nil
}

// forget takes an issue or a pull request, and what was said in it, out of what is found by id.
func (w world) forget(i *Issue) {
	delete(w.issues, i.ID)
	for _, c := range i.Comments {
		delete(w.comments, c.ID)
	}
	if i.Pull == nil {
		return
	}
	delete(w.issues, i.Pull.ID)
	for _, v := range i.Pull.Reviews {
		delete(w.reviews, v.ID)
	}
	for _, c := range i.Pull.ReviewComments {
		delete(w.reviewComments, c.ID)
	}
}
