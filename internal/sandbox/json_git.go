package sandbox

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
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

// commitsOf reads commits by their full SHAs.
func (g gitStore) commitsOf(r *Repository, shas []string) ([]*commitInfo, error) {
	commits := make([]*commitInfo, len(shas))
	for n, sha := range shas {
		var err error
		if commits[n], err = g.commitOf(r, sha); err != nil {
			return nil, err
		}
	}
	return commits, nil
}

// commitOf reads one commit by its full SHA.
func (g gitStore) commitOf(r *Repository, sha string) (*commitInfo, error) {
	return memo(g.core, fmt.Sprint("commit ", r.ID, sha), func() (*commitInfo, error) {
		found, raw, err := g.objects(r).read(sha)
		if err != nil || found.kind != "commit" {
			return nil, fmt.Errorf("read commits: %s is not there", sha)
		}
		c := parseCommit(sha, raw)
		if cut, err := os.ReadFile(filepath.Join(g.path(r), "shallow")); err == nil && strings.Contains(string(cut), sha) {
			c.Parents = nil // they were not copied
		}
		return c, nil
	})
}

// parseCommit takes a commit object apart. Its text is UTF-8, or ISO-8859-1 if it says so.
func parseCommit(sha string, raw []byte) *commitInfo {
	head, message, _ := strings.Cut(string(raw), "\n\n")
	if _, rest, ok := strings.Cut(head, "\nencoding "); ok {
		name, _, _ := strings.Cut(rest, "\n")
		if strings.EqualFold(name, "ISO-8859-1") { // tables of all that git knows would be a thirtieth of our download
			text := make([]rune, len(raw))
			for i, b := range raw {
				text[i] = rune(b)
			}
			head, message, _ = strings.Cut(string(text), "\n\n")
		}
	}
	message, _, _ = strings.Cut(message, "\x00")
	c := &commitInfo{SHA: sha, Message: strings.TrimRight(message, "\n")}
	for line := range strings.SplitSeq(head, "\n") {
		key, value, _ := strings.Cut(line, " ")
		switch key {
		case "tree":
			c.Tree = value
		case "parent":
			c.Parents = append(c.Parents, value)
		case "author":
			c.Author = parseSignature(value)
		case "committer":
			c.Committer = parseSignature(value)
		}
	}
	return c
}

// parseSignature reads "Name <address> seconds zone".
func parseSignature(s string) signature {
	name, rest, _ := strings.Cut(s, "<")
	email, when, _ := strings.Cut(rest, ">")
	seconds, _, _ := strings.Cut(strings.TrimSpace(when), " ")
	n, _ := strconv.ParseInt(seconds, 10, 64)
	return signature{strings.TrimSpace(name), email, stamp(time.Unix(n, 0))}
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
	return obj{
		"sha": c.SHA, "node_id": commitNodeID(r, c.SHA), "url": self, "html_url": js.urls.repository(r) + "/commit/" + c.SHA,
		"comments_url": self + "/comments",
		"commit": obj{
			"url": js.urls.repositoryAPI(r) + "/git/commits/" + c.SHA, "author": gitUser(c.Author), "committer": gitUser(c.Committer),
			"message": c.Message, "tree": obj{"sha": c.Tree, "url": js.urls.repositoryAPI(r) + "/git/trees/" + c.Tree},
			"comment_count": 0, "verification": unsigned(),
		},
		"author": js.userOrNil(js.world.loginOf(c.Author)), "committer": js.userOrNil(js.world.loginOf(c.Committer)),
		"parents": parents(js, r, c, "/commits/"),
	}
}

// parents renders those of a commit, whose addresses begin with path.
func parents(js views, r *Repository, c *commitInfo, path string) []obj {
	list := []obj{}
	for _, p := range c.Parents {
		list = append(list, obj{"sha": p, "url": js.urls.repositoryAPI(r) + path + p, "html_url": js.urls.repository(r) + "/commit/" + p})
	}
	return list
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
	return obj{
		"sha": c.SHA, "node_id": commitNodeID(r, c.SHA), "url": api + "commits/" + c.SHA, "html_url": js.urls.repository(r) + "/commit/" + c.SHA,
		"author": gitUser(c.Author), "committer": gitUser(c.Committer), "message": c.Message,
		"tree": obj{"sha": c.Tree, "url": api + "trees/" + c.Tree}, "parents": parents(js, r, c, "/git/commits/"), "verification": unsigned(),
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
