package sandbox

import (
	"net/http"
	"sort"
	"strings"
)

var refRoutes = []route{
	{"GET /repos/{owner}/{repo}/git/ref/{ref...}", needRead, "contents=read", getRef},
	{"GET /repos/{owner}/{repo}/git/matching-refs/{ref...}", needRead, "contents=read", matchingRefs},
	{"POST /repos/{owner}/{repo}/git/refs", needWrite, "contents=write", withBody(createRef)},
	{"PATCH /repos/{owner}/{repo}/git/refs/{ref...}", needWrite, "contents=write", withBody(patchRef)},
	{"DELETE /repos/{owner}/{repo}/git/refs/{ref...}", needWrite, "contents=write", deleteRef},
}

// ref renders the schema git-ref.
func (js views) ref(r *Repository, ref string) obj {
	sha, api := r.Refs[ref], js.urls.repositoryAPI(r)
	kind := "commit"
	if strings.HasPrefix(ref, "refs/tags/") {
		if found, err := js.git.objects(r).find(sha); err == nil {
			kind = found.kind
		}
	}
	return obj{
		"ref": ref, "node_id": nodeID("REF", r.ID) + ref, "url": api + "/git/" + ref,
		"object": obj{"sha": sha, "type": kind, "url": api + "/git/" + kind + "s/" + sha},
	}
}

func getRef(q *request) (any, error) {
	ref := "refs/" + q.r.PathValue("ref")
	if q.repo.Refs[ref] == "" {
		return nil, errNotFound
	}
	return q.s.json.ref(q.repo, ref), nil
}

func matchingRefs(q *request) (any, error) {
	var refs []string
	for ref := range q.repo.Refs {
		if strings.HasPrefix(ref, "refs/"+q.r.PathValue("ref")) {
			refs = append(refs, ref)
		}
	}
	sort.Strings(refs)
	return paginate(q, refs, func(ref string) obj { return q.s.json.ref(q.repo, ref) }), nil
}

// checkRefName refuses what is no ref that may be written: https://docs.github.com/en/rest/git/refs#create-a-reference
func checkRefName(q *request, ref string) error {
	var err error
	if branch, ok := strings.CutPrefix(ref, "refs/heads/"); !ok || !plainRef.MatchString(branch) {
		_, err = q.s.git.run(q.repo, "check-ref-format", ref)
	}
	if err != nil || !strings.HasPrefix(ref, "refs/") || strings.Count(ref, "/") < 2 {
		return unprocessable("Reference name is not valid")
	}
	if strings.HasPrefix(ref, "refs/pull/") {
		return unprocessable("Reference name cannot start with refs/pull")
	}
	return nil
}

func createRef(q *request, in struct{ Ref, SHA string }) (any, error) {
	if err := checkRefName(q, in.Ref); err != nil {
		return nil, err
	}
	if !isHex(in.SHA) || len(in.SHA) != 40 {
		return nil, unprocessable("The sha parameter must be exactly 40 characters and contain only [0-9a-f].")
	}
	if q.s.git.peel(q.repo, in.SHA) == "" {
		return nil, unprocessable("Object does not exist")
	}
	if q.repo.Refs[in.Ref] != "" {
		return nil, unprocessable(refThere(in.Ref))
	}
	if err := moveRef(q, q.repo, refChange{in.Ref, "", in.SHA}); err != nil {
		return nil, err
	}
	return &reply{http.StatusCreated, q.s.json.ref(q.repo, in.Ref)}, nil
}

// refThere are GitHub's words for a ref that exists. It has others, which say nothing, and nobody has written down when:
// here they are for what is neither a branch nor a tag. https://github.com/github/rest-api-description/issues/4887
func refThere(ref string) string {
	if strings.HasPrefix(ref, "refs/heads/") || strings.HasPrefix(ref, "refs/tags/") {
		return "Reference already exists"
	}
	return "Reference update failed"
}

func patchRef(q *request, in struct {
	SHA   string
	Force bool
}) (any, error) {
	ref := "refs/" + q.r.PathValue("ref")
	if err := checkRefName(q, ref); err != nil {
		return nil, err
	}
	old := q.repo.Refs[ref]
	switch {
	case old == "":
		return nil, unprocessable("Reference does not exist")
	case q.s.git.peel(q.repo, in.SHA) == "" || len(in.SHA) != 40:
		return nil, unprocessable("Object does not exist")
	case !in.Force && !q.s.git.isAncestor(q.repo, q.s.git.peel(q.repo, old), q.s.git.peel(q.repo, in.SHA)):
		return nil, unprocessable("Update is not a fast forward")
	}
	if err := moveRef(q, q.repo, refChange{ref, old, in.SHA}); err != nil {
		return nil, err
	}
	return q.s.json.ref(q.repo, ref), nil
}

func deleteRef(q *request) (any, error) {
	ref := "refs/" + q.r.PathValue("ref")
	if err := checkRefName(q, ref); err != nil {
		return nil, err
	}
	old := q.repo.Refs[ref]
	if old == "" {
		return nil, unprocessable("Reference does not exist")
	}
	if ref == "refs/heads/"+q.repo.DefaultBranch {
		return nil, unprocessable("Cannot delete the default branch")
	}
	if err := moveRef(q, q.repo, refChange{ref, old, ""}); err != nil {
		return nil, err
	}
	return &reply{status: http.StatusNoContent}, nil
}
