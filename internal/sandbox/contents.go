package sandbox

import (
	"fmt"
	"net/http"
	"net/url"
	"path"
	"strings"
)

var contentRoutes = []route{
	{"GET /repos/{owner}/{repo}/contents/{path...}", needRead, "contents=read", getContents},
	{"PUT /repos/{owner}/{repo}/contents/{path...}", needWrite, "contents=write", putContents},
	{"DELETE /repos/{owner}/{repo}/contents/{path...}", needWrite, "contents=write", deleteContents},
}

// getContents answers a file as content-file, a directory as a list of its entries.
func getContents(q *request) (any, error) {
	ref := q.query("ref")
	if ref == "" {
		ref = q.repo.DefaultBranch
	}
	rev := q.s.git.resolve(q.repo, ref)
	if rev == "" {
		return nil, &failure{status: http.StatusNotFound, message: "No commit found for the ref " + ref}
	}
	p := strings.Trim(q.r.PathValue("path"), "/")
	e, err := q.s.trees.at(q.repo, rev, p)
	switch {
	case err != nil:
		return nil, err
	case e == nil:
		return nil, errNotFound
	case e.kind == "blob":
		return contentFile(q, *e, ref)
	case e.kind == "commit":
		return q.s.json.entry(q.repo, *e, ref), nil
	}
	entries, err := q.s.trees.list(q.repo, e.sha, e.path)
	if err != nil {
		return nil, err
	}
	list := []obj{}
	for _, e := range entries {
		list = append(list, q.s.json.entry(q.repo, e, ref))
	}
	return list, nil
}

// entry renders an entry of content-directory.
func (js views) entry(r *Repository, e contentEntry, ref string) obj {
	kind, gitKind := "file", "blobs"
	switch {
	case e.kind == "tree":
		kind, gitKind = "dir", "trees"
	case e.kind == "commit":
		kind, gitKind = "submodule", "commits"
	case e.mode == "120000":
		kind = "symlink"
	}
	escaped := (&url.URL{Path: e.path}).EscapedPath()
	self := js.urls.repositoryAPI(r) + "/contents/" + escaped + "?ref=" + url.QueryEscape(ref)
	git := js.urls.repositoryAPI(r) + "/git/" + gitKind + "/" + e.sha
	html := js.urls.repository(r) + "/blob/" + ref + "/" + escaped
	o := obj{
		"type": kind, "size": 0, "name": path.Base(e.path), "path": e.path, "sha": e.sha, "url": self, "git_url": git, "html_url": html,
		"download_url": nil, "_links": obj{"self": self, "git": git, "html": html},
	}
	if e.kind == "blob" {
		o["size"], o["download_url"] = js.trees.size(r, e), js.origin+"/raw/"+r.FullName()+"/"+ref+"/"+escaped
	}
	return o
}

func contentFile(q *request, e contentEntry, ref string) (any, error) {
	_, data, err := q.s.git.objects(q.repo).read(e.sha)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", e.path, err)
	}
	if strings.Contains(q.r.Header.Get("Accept"), "raw") {
		return &raw{"application/vnd.github.raw+json; charset=utf-8", data}, nil
	}
	o := q.s.json.entry(q.repo, e, ref)
	o["encoding"], o["content"], o["size"] = "base64", wrap64(data), len(data)
	if e.mode == "120000" {
		o["target"] = string(data)
	}
	return o, nil
}

// contentInput is the body of PUT and DELETE contents.
type contentInput struct {
	Message, Content, SHA, Branch string
	Author, Committer             *signature
}

// contentTarget reads and checks what both writes have in common; old is the blob that is there, or "".
func contentTarget(q *request) (in contentInput, head, old string, err error) {
	if err := q.decode(&in); err != nil {
		return in, "", "", err
	}
	if in.Message == "" {
		return in, "", "", unprocessable("Invalid request.\n\n\"message\" wasn't supplied.")
	}
	if in.Branch == "" {
		in.Branch = q.repo.DefaultBranch
	}
	in.Branch = strings.TrimPrefix(in.Branch, "refs/heads/")
	head = q.s.git.branchSHA(q.repo, in.Branch)
	if head == "" && len(q.repo.Refs) > 0 {
		return in, "", "", &failure{status: http.StatusNotFound, message: "Branch " + in.Branch + " not found"}
	}
	p := q.r.PathValue("path")
	if p == "" || path.Clean(p) != p || strings.HasPrefix(p, "..") || strings.HasPrefix(p, "/") {
		return in, "", "", unprocessable("path contains a malformed path component")
	}
	if q.user.Login == actionsLogin && strings.HasPrefix(p, ".github/workflows/") {
		return in, "", "", &failure{status: http.StatusForbidden, message: "Resource not accessible by integration"}
	}
	old, _, _ = q.s.git.blob(q.repo, head, p)
	return in, head, old, nil
}

func putContents(q *request) (any, error) {
	in, head, old, err := contentTarget(q)
	if err != nil {
		return nil, err
	}
	data, err := decode64(in.Content)
	if err != nil {
		return nil, unprocessable("content is not valid Base64")
	}
	p := q.r.PathValue("path")
	switch {
	case old != "" && in.SHA == "":
		return nil, unprocessable("Invalid request.\n\n\"sha\" wasn't supplied.")
	case in.SHA != "" && in.SHA != old:
		return nil, &failure{status: http.StatusConflict, message: fmt.Sprintf("%s does not match %s", p, in.SHA)}
	}
	sha, err := q.s.git.writeObject(q.repo, "blob", data)
	if err != nil {
		return nil, err
	}
	commit, err := commitContent(q, &in, head, treeEntry{Path: p, Mode: "100644", SHA: &sha})
	if err != nil {
		return nil, err
	}
	status := http.StatusOK
	if old == "" {
		status = http.StatusCreated
	}
	return &reply{status, obj{"content": q.s.json.entry(q.repo, contentEntry{"100644", "blob", sha, p}, in.Branch), "commit": q.s.json.gitCommit(q.repo, commit)}}, nil
}

func deleteContents(q *request) (any, error) {
	in, head, old, err := contentTarget(q)
	if err != nil {
		return nil, err
	}
	p := q.r.PathValue("path")
	switch {
	case old == "":
		return nil, errNotFound
	case in.SHA == "":
		return nil, unprocessable("Invalid request.\n\n\"sha\" wasn't supplied.")
	case in.SHA != old:
		return nil, &failure{status: http.StatusConflict, message: fmt.Sprintf("%s does not match %s", p, in.SHA)}
	}
	commit, err := commitContent(q, &in, head, treeEntry{Path: p})
	if err != nil {
		return nil, err
	}
	return obj{"content": nil, "commit": q.s.json.gitCommit(q.repo, commit)}, nil
}

// commitContent puts one changed file onto a branch as the caller.
func commitContent(q *request, in *contentInput, head string, e treeEntry) (*commitInfo, error) {
	var parents []string
	if head != "" {
		parents = []string{head}
	}
	tree, err := q.s.trees.edit(q.repo, head, []treeEntry{e})
	if err != nil {
		return nil, err
	}
	author, committer := signers(q, in.Author, in.Committer)
	sha, err := q.s.git.commitTree(q.repo, tree, parents, in.Message, author, committer)
	if err != nil {
		return nil, err
	}
	if why := q.s.refs.protects(q.repo, refChange{"refs/heads/" + in.Branch, head, sha}, q.user); why != "" {
		return nil, &failure{status: http.StatusConflict, message: "Could not update file: " + why}
	}
	if err := moveRef(q, q.repo, refChange{"refs/heads/" + in.Branch, head, sha}); err != nil {
		return nil, err
	}
	return q.s.git.commitOf(q.repo, sha)
}
