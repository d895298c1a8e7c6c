package sandbox

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"net/http"
	"path"
	"strconv"
	"strings"
	"time"
)

var objectRoutes = []route{
	{"GET /repos/{owner}/{repo}/git/commits/{sha}", needRead, getGitCommit},
	{"POST /repos/{owner}/{repo}/git/commits", needWrite, createGitCommit},
	{"GET /repos/{owner}/{repo}/git/trees/{sha...}", needRead, getTree},
	{"POST /repos/{owner}/{repo}/git/trees", needWrite, createTree},
	{"GET /repos/{owner}/{repo}/git/blobs/{sha}", needRead, getBlob},
	{"POST /repos/{owner}/{repo}/git/blobs", needWrite, createBlob},
	{"GET /repos/{owner}/{repo}/git/tags/{sha}", needRead, getTag},
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

func createGitCommit(q *request) (any, error) {
	var in struct {
		Message, Tree     string
		Parents           []string
		Author, Committer *signature
	}
	if err := q.decode(&in); err != nil {
		return nil, err
	}
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
	sha, err := q.s.git.commitTree(q.repo, in.Tree, in.Parents, in.Message, commitEnv(q, in.Author, in.Committer))
	if err != nil {
		return nil, err
	}
	c, err := q.s.git.commitOf(q.repo, sha)
	if err != nil {
		return nil, err
	}
	return &reply{http.StatusCreated, q.s.json.gitCommit(q.repo, c)}, nil
}

// commitEnv are the identities of a commit made by API: the caller's unless given; an author given alone commits too.
func commitEnv(q *request, author, committer *signature) []string {
	env := identity(q.user.Login, noreply(q.user), q.s.world.now())
	if committer == nil {
		committer = author
	}
	for role, sig := range map[string]*signature{"AUTHOR": author, "COMMITTER": committer} {
		if sig == nil {
			continue
		}
		env = append(env, "GIT_"+role+"_NAME="+sig.Name, "GIT_"+role+"_EMAIL="+sig.Email)
		if t, err := time.Parse(time.RFC3339, sig.Date); err == nil {
			env = append(env, fmt.Sprintf("GIT_%s_DATE=%d +0000", role, t.Unix()))
		}
	}
	return env
}

// treeEntry is one entry of POST git/trees; a null SHA without content removes the path.
type treeEntry struct {
	Path, Mode, Type string
	SHA, Content     *string
}

// editTree writes base with the entries set, by way of an index of its own.
func (g gitStore) editTree(r *Repository, base string, entries []treeEntry) (string, error) {
	index := []string{"GIT_INDEX_FILE=" + g.path(r) + "/index.sandbox"}
	args := []string{"read-tree", "--empty"}
	if base != "" {
		args = []string{"read-tree", base}
	}
	if _, err := runGit(g.path(r), index, nil, args...); err != nil {
		return "", fmt.Errorf("read tree: %w", err)
	}
	var info bytes.Buffer
	for _, e := range entries {
		mode, sha := e.Mode, zeroSHA
		if e.SHA != nil {
			sha = *e.SHA
		} else {
			mode = "0"
		}
		if e.Mode == "040000" {
			if _, err := runGit(g.path(r), index, nil, "read-tree", "--prefix="+e.Path, sha); err != nil {
				return "", fmt.Errorf("read tree: %w", err)
			}
			continue
		}
		fmt.Fprintf(&info, "%s %s\t%s\x00", mode, sha, e.Path)
	}
	if _, err := runGit(g.path(r), index, info.Bytes(), "update-index", "-z", "--index-info"); err != nil {
		return "", fmt.Errorf("change tree: %w", err)
	}
	out, err := runGit(g.path(r), index, nil, "write-tree")
	if err != nil {
		return "", fmt.Errorf("write tree: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}

// hashBlob writes a blob.
func (g gitStore) hashBlob(r *Repository, data []byte) (string, error) {
	out, err := runGit(g.path(r), nil, append([]byte{}, data...), "hash-object", "-w", "--stdin")
	if err != nil {
		return "", fmt.Errorf("write blob: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}

func createTree(q *request) (any, error) {
	var in struct {
		BaseTree string `json:"base_tree"`
		Tree     []treeEntry
	}
	if err := q.decode(&in); err != nil {
		return nil, err
	}
	for n := range in.Tree {
		e := &in.Tree[n]
		if e.Path == "" || path.Clean(e.Path) != e.Path || strings.HasPrefix(e.Path, "/") || strings.HasPrefix(e.Path, "..") {
			return nil, unprocessable("tree.path contains a malformed path component")
		}
		if e.SHA == nil && e.Content != nil {
			sha, err := q.s.git.hashBlob(q.repo, []byte(*e.Content))
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
	sha, err := q.s.git.editTree(q.repo, in.BaseTree, in.Tree)
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
	args := []string{"ls-tree", "-z", "-l"}
	if recursive {
		args = append(args, "-r", "-t")
	}
	out, err := js.git.run(r, append(args, sha)...)
	if err != nil {
		return nil, fmt.Errorf("list tree: %w", err)
	}
	entries, api := []obj{}, js.urls.repositoryAPI(r)+"/git/"
	for _, record := range strings.Split(strings.TrimSuffix(out, "\x00"), "\x00") {
		head, name, ok := strings.Cut(record, "\t")
		f := strings.Fields(head) // mode type sha size
		if !ok || len(f) != 4 {
			continue
		}
		e := obj{"path": name, "mode": f[0], "type": f[1], "sha": f[2], "url": api + f[1] + "s/" + f[2]}
		if size, err := strconv.Atoi(f[3]); err == nil {
			e["size"] = size
		}
		entries = append(entries, e)
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
	s := base64.StdEncoding.EncodeToString(data)
	var b strings.Builder
	for len(s) > 60 {
		b.WriteString(s[:60] + "\n")
		s = s[60:]
	}
	if s != "" {
		b.WriteString(s + "\n")
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
	sha, err := q.s.git.hashBlob(q.repo, data)
	if err != nil {
		return nil, err
	}
	return &reply{http.StatusCreated, obj{"sha": sha, "url": q.s.urls.repositoryAPI(q.repo) + "/git/blobs/" + sha}}, nil
}

// decode64 reads base64 with or without line breaks.
func decode64(s string) ([]byte, error) {
	return base64.StdEncoding.DecodeString(strings.NewReplacer("\n", "", "\r", "").Replace(s))
}

func getTag(q *request) (any, error) {
	sha := q.r.PathValue("sha")
	if !isHex(sha) {
		return nil, errNotFound
	}
	text, err := q.s.git.run(q.repo, "cat-file", "tag", sha)
	if err != nil {
		return nil, errNotFound
	}
	head, message, _ := strings.Cut(text, "\n\n")
	o := obj{
		"sha": sha, "node_id": nodeID("TA", q.repo.ID) + sha, "url": q.s.urls.repositoryAPI(q.repo) + "/git/tags/" + sha,
		"message": message, "verification": unsigned(), "tagger": obj{"name": "", "email": "", "date": stamp(inventedAt)},
	}
	object := obj{}
	for line := range strings.Lines(head) {
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch key {
		case "object":
			object["sha"] = value
		case "type":
			object["type"], object["url"] = value, fmt.Sprintf("%s/git/%ss/%v", q.s.urls.repositoryAPI(q.repo), value, object["sha"])
		case "tag":
			o["tag"] = value
		case "tagger":
			o["tagger"] = tagger(value)
		}
	}
	o["object"] = object
	return o, nil
}

// tagger reads "Name <address> seconds zone".
func tagger(s string) obj {
	name, rest, _ := strings.Cut(s, " <")
	email, when, _ := strings.Cut(rest, "> ")
	seconds, _, _ := strings.Cut(when, " ")
	n, _ := strconv.ParseInt(seconds, 10, 64)
	return gitUser(signature{name, email, stamp(time.Unix(n, 0))})
}
