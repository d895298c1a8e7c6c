package sandbox

import (
	"encoding/base64"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"
)

var objectRoutes = []route{
	{"GET /repos/{owner}/{repo}/git/commits/{sha}", needRead, "contents=read", getGitCommit},
	{"POST /repos/{owner}/{repo}/git/commits", needWrite, "contents=write", withBody(createGitCommit)},
	{"GET /repos/{owner}/{repo}/git/trees/{sha...}", needRead, "contents=read", getTree},
	{"POST /repos/{owner}/{repo}/git/trees", needWrite, "contents=write", withBody(createTree)},
	{"GET /repos/{owner}/{repo}/git/blobs/{sha}", needRead, "contents=read", getBlob},
	{"POST /repos/{owner}/{repo}/git/blobs", needWrite, "contents=write", createBlob},
}

func getGitCommit(q *request) (any, error) {
	sha := q.r.PathValue("sha")
	if !isHex(sha) || q.s.git.peel(q.repo, sha) != sha {
		return nil, errNotFound
	}
	c, err := q.s.git.commitOf(q.repo, sha)
	if err != nil {
		return nil, err
	}
	return q.s.json.gitCommit(q.repo, c), nil
}

func createGitCommit(q *request, in struct {
	Message, Tree     string
	Parents           []string
	Author, Committer *signature
}) (any, error) {
	if in.Message == "" || in.Tree == "" {
		return nil, unprocessable("Invalid request.\n\n\"message\", \"tree\" weren't supplied.")
	}
	if found, err := q.s.git.objects(q.repo).find(in.Tree); err != nil || found.kind != "tree" {
		return nil, unprocessable("Tree SHA does not exist")
	}
	for _, p := range in.Parents {
		if q.s.git.peel(q.repo, p) != p || p == "" {
			return nil, unprocessable("Parent SHA does not exist or is not a commit object")
		}
	}
	author, committer := signers(q, in.Author, in.Committer)
	sha, err := q.s.git.commitTree(q.repo, in.Tree, in.Parents, in.Message, author, committer)
	if err != nil {
		return nil, err
	}
	c, err := q.s.git.commitOf(q.repo, sha)
	if err != nil {
		return nil, err
	}
	return &reply{http.StatusCreated, q.s.json.gitCommit(q.repo, c)}, nil
}

// signers are the author and the committer of a commit made by API: the caller unless given; an author given alone commits too.
func signers(q *request, author, committer *signature) (by, with signature) {
	caller := signedAt(q.user.Login, noreply(q.user), q.s.world.now())
	if committer == nil {
		committer = author
	}
	given := func(s *signature) signature {
		if s == nil {
			return caller
		}
		if _, err := time.Parse(time.RFC3339, s.Date); err != nil {
			return signature{s.Name, s.Email, caller.Date}
		}
		return *s
	}
	return given(author), given(committer)
}

func createTree(q *request, in struct {
	BaseTree string `json:"base_tree"`
	Tree     []treeEntry
}) (any, error) {
	for n := range in.Tree {
		e := &in.Tree[n]
		if e.Path == "" || path.Clean(e.Path) != e.Path || strings.HasPrefix(e.Path, "/") || strings.HasPrefix(e.Path, "..") {
			return nil, unprocessable("tree.path contains a malformed path component")
		}
		if e.SHA == nil && e.Content != nil {
			sha, err := q.s.git.writeObject(q.repo, "blob", []byte(*e.Content))
			if err != nil {
				return nil, err
			}
			e.SHA = &sha
		}
		if e.SHA != nil && e.Mode != "160000" {
			if _, err := q.s.git.objects(q.repo).find(*e.SHA); err != nil {
				return nil, unprocessable("tree.sha " + *e.SHA + " is not a valid blob")
			}
		}
	}
	sha, err := q.s.trees.edit(q.repo, in.BaseTree, in.Tree)
	if err != nil {
		return nil, unprocessable("base_tree is not a valid tree oid")
	}
	tree, err := q.s.json.tree(q.repo, sha, false)
	if err != nil {
		return nil, err
	}
	return &reply{http.StatusCreated, tree}, nil
}

func getTree(q *request) (any, error) {
	rev := q.r.PathValue("sha")
	if sha := q.s.git.resolve(q.repo, rev); sha != "" {
		rev = sha
	} else if !isHex(rev) {
		return nil, errNotFound
	}
	tree, err := q.s.git.objects(q.repo).find(rev + "^{tree}")
	if err != nil {
		return nil, errNotFound
	}
	return q.s.json.tree(q.repo, tree.sha, q.query("recursive") != "")
}

// tree renders the schema git-tree.
func (js views) tree(r *Repository, sha string, recursive bool) (obj, error) {
	entries, api := []obj{}, js.urls.repositoryAPI(r)+"/git/"
	var list func(sha, dir string) error
	list = func(sha, dir string) error {
		here, err := js.trees.list(r, sha, dir)
		if err != nil {
			return err
		}
		for _, e := range here {
			o := obj{"path": e.path, "mode": e.mode, "type": e.kind, "sha": e.sha, "url": api + e.kind + "s/" + e.sha}
			if e.kind == "blob" {
				o["size"] = js.trees.size(r, e)
			}
			entries = append(entries, o)
			if recursive && e.kind == "tree" {
				if err := list(e.sha, e.path); err != nil {
					return err
				}
			}
		}
		return nil
	}
	if err := list(sha, ""); err != nil {
		return nil, err
	}
	return obj{"sha": sha, "url": api + "trees/" + sha, "truncated": false, "tree": entries}, nil
}

func getBlob(q *request) (any, error) {
	sha := q.r.PathValue("sha")
	if !isHex(sha) {
		return nil, errNotFound
	}
	found, data, err := q.s.git.objects(q.repo).read(sha)
	if err != nil || found.kind != "blob" {
		return nil, errNotFound
	}
	if strings.Contains(q.r.Header.Get("Accept"), "raw") {
		return &raw{"application/vnd.github.raw+json; charset=utf-8", data}, nil
	}
	return obj{
		"sha": sha, "node_id": nodeID("B", q.repo.ID) + sha, "size": len(data), "encoding": "base64", "content": wrap64(data),
		"url": q.s.urls.repositoryAPI(q.repo) + "/git/blobs/" + sha,
	}, nil
}

// wrap64 is base64 in lines of 60 characters, as GitHub writes it.
func wrap64(data []byte) string {
	var b strings.Builder
	for line := range slices.Chunk([]byte(base64.StdEncoding.EncodeToString(data)), 60) {
		b.WriteString(string(line) + "\n")
	}
	return b.String()
}

func createBlob(q *request) (any, error) {
	in := struct{ Content, Encoding string }{Encoding: "utf-8"}
	if err := q.decode(&in); err != nil {
		return nil, err
	}
	data := []byte(in.Content)
	if in.Encoding == "base64" {
		var err error
		if data, err = decode64(in.Content); err != nil {
			return nil, unprocessable("content is not valid Base64")
		}
	}
	sha, err := q.s.git.writeObject(q.repo, "blob", data)
	if err != nil {
		return nil, err
	}
	return &reply{http.StatusCreated, obj{"sha": sha, "url": q.s.urls.repositoryAPI(q.repo) + "/git/blobs/" + sha}}, nil
}

// decode64 reads base64 with or without line breaks.
func decode64(s string) ([]byte, error) {
	return base64.StdEncoding.DecodeString(strings.NewReplacer("\n", "", "\r", "").Replace(s))
}
