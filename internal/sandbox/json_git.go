package sandbox

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
)

// signature is who wrote or committed, and when (RFC 3339, UTC).
type signature struct{ Name, Email, Date string }

// commitInfo is a commit as git has it. Message has no newline at its end.
type commitInfo struct {
	SHA, Tree         string
	Parents           []string
	Author, Committer signature
	Message           string
}

func (c *commitInfo) firstParent() string {
	if len(c.Parents) == 0 {
		return ""
	}
	return c.Parents[0]
}

const commitFormat = "--format=%H%x1f%T%x1f%P%x1f%an%x1f%ae%x1f%ad%x1f%cn%x1f%ce%x1f%cd%x1f%B"

// commitsOf reads commits, those that are not remembered with one call of git.
func (g gitStore) commitsOf(r *Repository, shas []string) ([]*commitInfo, error) {
	key := func(sha string) string { return fmt.Sprint("commit ", r.ID, sha) }
	known := map[string]*commitInfo{}
	var missing []string
	for _, sha := range shas {
		if c, ok := g.memos[key(sha)]; ok {
			known[sha] = c.(*commitInfo)
		} else {
			missing = append(missing, sha)
		}
	}
	if len(missing) > 0 {
		out, err := runGit(g.path(r), nil, []byte(strings.Join(missing, "\n")+"\n"), "log", "--no-walk=unsorted", "--stdin", "-z",
			"--date=format-local:%Y-%m-%dT%H:%M:%SZ", commitFormat)
		if err != nil {
			return nil, fmt.Errorf("read commits: %w", err)
		}
		for _, record := range strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00") {
			f := strings.SplitN(record, "\x1f", 10)
			if len(f) != 10 {
				return nil, fmt.Errorf("read commits: odd record %q", record)
			}
			c := &commitInfo{
				SHA: f[0], Tree: f[1], Parents: strings.Fields(f[2]), Author: signature{f[3], f[4], f[5]},
				Committer: signature{f[6], f[7], f[8]}, Message: strings.TrimRight(f[9], "\n"),
			}
			known[c.SHA] = c
			g.memos[key(c.SHA)] = c
		}
	}
	commits := make([]*commitInfo, 0, len(shas))
	for _, sha := range shas {
		if known[sha] == nil {
			return nil, fmt.Errorf("read commits: %s is not there", sha)
		}
		commits = append(commits, known[sha])
	}
	return commits, nil
}

// commitOf reads one commit by its full SHA.
func (g gitStore) commitOf(r *Repository, sha string) (*commitInfo, error) {
	cs, err := g.commitsOf(r, []string{sha})
	if err != nil {
		return nil, err
	}
	return cs[0], nil
}

var noreplyAddress = regexp.MustCompile(`^(?:\d+\+)?(.+)@(?:users\.noreply\.github\.com|example\.com)$`)

// loginOf finds whose address a signature carries. Here LOGIN@example.com belongs to LOGIN, as do GitHub's noreply addresses.
func (w world) loginOf(sig signature) string {
	if m := noreplyAddress.FindStringSubmatch(sig.Email); m != nil {
		if u := w.user(m[1]); u != nil {
			return u.Login
		}
	}
	return ""
}

func commitNodeID(r *Repository, sha string) string { return nodeID("C", r.ID) + sha }

func gitUser(sig signature) obj { return obj{"name": sig.Name, "email": sig.Email, "date": sig.Date} }

// unsigned is the verification of every commit here.
func unsigned() obj {
	return obj{"verified": false, "reason": "unsigned", "signature": nil, "payload": nil, "verified_at": nil}
}

// commit renders the schema commit, without stats and files.
func (js views) commit(r *Repository, c *commitInfo) obj {
	self := js.urls.repositoryAPI(r) + "/commits/" + c.SHA
	parents := []obj{}
	for _, p := range c.Parents {
		parents = append(parents, obj{"sha": p, "url": js.urls.repositoryAPI(r) + "/commits/" + p, "html_url": js.urls.repository(r) + "/commit/" + p})
	}
	return obj{
		"sha": c.SHA, "node_id": commitNodeID(r, c.SHA), "url": self, "html_url": js.urls.repository(r) + "/commit/" + c.SHA,
		"comments_url": self + "/comments",
		"commit": obj{
			"url": js.urls.repositoryAPI(r) + "/git/commits/" + c.SHA, "author": gitUser(c.Author), "committer": gitUser(c.Committer),
			"message": c.Message, "tree": obj{"sha": c.Tree, "url": js.urls.repositoryAPI(r) + "/git/trees/" + c.Tree},
			"comment_count": 0, "verification": unsigned(),
		},
		"author": js.userOrNil(js.world.loginOf(c.Author)), "committer": js.userOrNil(js.world.loginOf(c.Committer)), "parents": parents,
	}
}

// fullCommit renders the schema commit with stats and files against the first parent.
func (js views) fullCommit(r *Repository, c *commitInfo) (obj, error) {
	files, err := js.git.diff(r, c.firstParent(), c.SHA)
	if err != nil {
		return nil, err
	}
	o := js.commit(r, c)
	additions, deletions := 0, 0
	list := []obj{}
	for _, f := range files {
		additions += f.Additions
		deletions += f.Deletions
		list = append(list, js.file(r, c.SHA, f))
	}
	o["stats"] = obj{"additions": additions, "deletions": deletions, "total": additions + deletions}
	o["files"] = list
	return o, nil
}

// gitCommit renders the schema git-commit.
func (js views) gitCommit(r *Repository, c *commitInfo) obj {
	api := js.urls.repositoryAPI(r) + "/git/"
	parents := []obj{}
	for _, p := range c.Parents {
		parents = append(parents, obj{"sha": p, "url": api + "commits/" + p, "html_url": js.urls.repository(r) + "/commit/" + p})
	}
	return obj{
		"sha": c.SHA, "node_id": commitNodeID(r, c.SHA), "url": api + "commits/" + c.SHA, "html_url": js.urls.repository(r) + "/commit/" + c.SHA,
		"author": gitUser(c.Author), "committer": gitUser(c.Committer), "message": c.Message,
		"tree": obj{"sha": c.Tree, "url": api + "trees/" + c.Tree}, "parents": parents, "verification": unsigned(),
	}
}

// maxPatch is where GitHub leaves out a file's patch, in bytes. Its exact rule is its own; what matters is that patch may be absent.
const maxPatch = 1 << 20

// file renders the schema diff-entry of a file in the comparison that ends at sha.
func (js views) file(r *Repository, sha string, f *fileChange) obj {
	path := (&url.URL{Path: f.Path}).EscapedPath()
	html := js.urls.repository(r)
	o := obj{
		"sha": f.SHA, "filename": f.Path, "status": f.Status, "additions": f.Additions, "deletions": f.Deletions,
		"changes": f.Additions + f.Deletions, "blob_url": html + "/blob/" + sha + "/" + path, "raw_url": html + "/raw/" + sha + "/" + path,
		"contents_url": js.urls.repositoryAPI(r) + "/contents/" + path + "?ref=" + sha,
	}
	if f.Patch != "" && len(f.Patch) < maxPatch {
		o["patch"] = f.Patch
	}
	if f.OldPath != f.Path {
		o["previous_filename"] = f.OldPath
	}
	return o
}
